/** The settings that every process of a fleet must share. Those of the process that has lived longest hold. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import * as Struct from "effect/Struct"
import type { Settings } from "../Settings.ts"
import type { FleetStore } from "../store/FleetStore.ts"

/** As a process notes them. What it does not know, such as a program its limit of requests, is left out, and compared with nothing. */
const Shared = Schema.Struct({
  sweepEvery: Schema.optionalKey(Schema.Finite),
  sweepWindow: Schema.optionalKey(Schema.Finite),
  fullSweepEvery: Schema.optionalKey(Schema.Finite),
  credentials: Schema.optionalKey(Schema.Literals(["shared", "perCompany"])),
  keepTurns: Schema.optionalKey(Schema.Finite),
  historyDays: Schema.optionalKey(Schema.NullOr(Schema.Finite)),
  history: Schema.optionalKey(Schema.Boolean),
  requestsPerSecond: Schema.optionalKey(Schema.NullOr(Schema.Finite))
})

export type Shared = typeof Shared.Type

const text = Schema.fromJsonString(Shared)
const decode = Schema.decodeUnknownOption(text)

/** As the database keeps them. */
export const encodeShared = Schema.encodeSync(text)

export const sharedOf = (settings: Settings) => ({
  ...Struct.pick(settings, ["sweepEvery", "sweepWindow", "fullSweepEvery", "credentials", "keepTurns"]),
  historyDays: settings.historyDays ?? null
})

/** The settings with those that hold. */
export const withShared = (
  settings: Settings,
  { history: _, historyDays, requestsPerSecond: __, ...held }: Shared
): Settings => ({
  ...settings,
  ...held,
  historyDays: historyDays ?? undefined
})

const durations: ReadonlySet<string> = new Set(["sweepEvery", "sweepWindow", "fullSweepEvery"])

const shown = (name: string, value: unknown): string =>
  value === null
    ? "not set"
    : typeof value === "number" && durations.has(name)
    ? value === 0 ? "never" : Duration.format(Duration.millis(value))
    : String(value)

/** What holds, and what the log says of settings of this process that do not. Pure. */
export const decideShared = (own: Shared, held: Shared, runner: string) => {
  const other = new Map<string, unknown>(Object.entries(held))
  const differing = Object.entries(own).filter(([name, value]) => other.has(name) && other.get(name) !== value)
  return {
    shared: { ...own, ...held },
    warnings: differing.map(([name, value]) =>
      `${name} is ${shown(name, value)} here and ${
        shown(name, other.get(name))
      } in the process ${runner}, which started before: ` +
      `${shown(name, other.get(name))} holds until all processes of the fleet have ended`
    )
  }
}

/** The settings that hold; the log says which of this process do not. */
export const agree = (store: FleetStore, name: string, own: Shared): Effect.Effect<Shared, SqlError> =>
  Effect.gen(function*() {
    const elsewhere = yield* store.settingsElsewhere(name)
    if (elsewhere === undefined) return own
    const held = Option.getOrElse(decode(elsewhere.settings), () => own)
    const { shared, warnings } = decideShared(own, held, elsewhere.runner)
    yield* Effect.forEach(warnings, (line) => Effect.logWarning(line), { discard: true })
    return shared
  })
