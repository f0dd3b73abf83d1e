/** Searches every surface of a value, a log or a span for secrets, in any encoding. */
import { Cause, Context, Effect, Exit, Layer, Logger, References, Schema, Tracer } from "effect"
import { format, inspect } from "node:util"
import { ListError } from "../../../src/index.ts"
import { recorder } from "../../support/recorder.ts"

/**
 * A secret, and the part of it that only base64 and hex change. The rest are characters that percent-encoding, JSON and
 * HTML escape.
 */
export interface Canary {
  readonly value: string
  readonly core: string
}

export const canary = (core: string, before: string, after: string): Canary => ({
  value: `${before}${core}${after}`,
  core
})

/** The base64 of a text inside another text, for each of the three offsets in a group of bytes. */
const base64Of = (core: string): ReadonlyArray<string> =>
  [0, 1, 2].map((shift) => {
    const coded = Buffer.from("\0".repeat(shift) + core).toString("base64").replace(/=+$/, "")
    return coded.slice([0, 2, 3][shift], -1)
  })

const formsOf = ({ core }: Canary) =>
  [core, ...base64Of(core), Buffer.from(core).toString("hex")].flatMap((form) => [
    form,
    form.replaceAll("+", "-").replaceAll("/", "_")
  ])

/** Where a canary occurs, with some of the text around it. */
export const leaks = (
  surfaces: Readonly<Record<string, string>>,
  canaries: ReadonlyArray<Canary>
): ReadonlyArray<string> =>
  Object.entries(surfaces).flatMap(([surface, text]) =>
    canaries.flatMap(formsOf).flatMap((form) => {
      const at = text.indexOf(form)
      return at < 0 ? [] : [`${surface}: …${text.slice(Math.max(0, at - 60), at + form.length + 20)}…`]
    })
  )

const attempt = (print: () => string): string => {
  try {
    return print()
  } catch (thrown) {
    return String(thrown)
  }
}

/** Every member of an object and of its prototypes, private state of the platform included. */
const naked = (value: unknown) =>
  inspect(value, { depth: Infinity, customInspect: false, showHidden: true, getters: true })

/** All that a log, a reporter, a debugger or another process shows of a value. */
export const surfacesOf = (value: unknown): Readonly<Record<string, string>> => {
  const exit = Exit.fail(value)
  const cause = Cause.fail(value)
  return {
    string: String(value),
    message: value instanceof Error ? value.message : "",
    stack: value instanceof Error ? `${value.stack}` : "",
    json: attempt(() => JSON.stringify(value) ?? ""),
    inspect: inspect(value, { depth: Infinity }),
    naked: naked(value),
    format: format("%s %o %O %j", value, value, value, value),
    members: attempt(() => JSON.stringify(value instanceof Object ? { ...value } : value) ?? ""),
    clone: attempt(() => naked(structuredClone(value))),
    encoded: attempt(() => JSON.stringify(Schema.encodeUnknownSync(ListError)(value))),
    cause: `${Cause.pretty(cause)} ${String(cause)} ${naked(cause)} ${naked(Cause.prettyErrors(cause))}`,
    exit: `${String(exit)} ${inspect(exit, { depth: Infinity })} ${naked(exit)} ${attempt(() => JSON.stringify(exit))}`
  }
}

/** What a program recorded: its log at every level, and its spans with their exits. */
export class Recorded extends Context.Service<Recorded, {
  readonly logs: Array<string>
  readonly spans: Array<Tracer.NativeSpan>
}>()("test/Recorded") {}

const spanSurfaces = ({ attributes, events, links, name, status }: Tracer.NativeSpan, index: number) => ({
  [`span ${index} ${name}`]: `${name} ${naked([...attributes])} ${naked(events)} ${naked(links)}`,
  [`span ${index} ${name} exit`]: `${naked(status)} ${inspect(status, { depth: Infinity })} ${
    status._tag === "Ended" ? attempt(() => `${String(status.exit)} ${JSON.stringify(status.exit)}`) : ""
  }`
})

/** The surfaces of all that was recorded so far. */
export const recordedSurfaces = Effect.map(
  Recorded,
  ({ logs, spans }): Readonly<Record<string, string>> =>
    Object.assign(
      Object.fromEntries(logs.map((line, index) => [`log ${index}`, line])),
      ...spans.map(spanSurfaces)
    )
)

/** Records every log and every span. */
export const recording: Layer.Layer<Recorded> = Layer.unwrap(Effect.sync(() => {
  const logs: Array<string> = []
  const { spans, tracer } = recorder()
  const logger = Logger.make(({ cause, fiber, logLevel, message }) => {
    const annotations = fiber.getRef(References.CurrentLogAnnotations)
    logs.push(`${logLevel} ${naked(message)} ${Cause.pretty(cause)} ${naked(cause)} ${naked(annotations)}`)
  })
  const printed = Logger.make((options) => {
    logs.push(Logger.formatJson.log(options), Logger.formatLogFmt.log(options), Logger.formatSimple.log(options))
  })
  return Layer.mergeAll(
    Layer.succeed(Recorded, { logs, spans }),
    Layer.succeed(Tracer.Tracer, tracer),
    Logger.layer([logger, printed]),
    Layer.succeed(References.MinimumLogLevel, "Trace")
  )
}))
