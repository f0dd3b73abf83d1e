/** Spans, only if a tracer is installed; a tracer that records no credential; the names whose values are redacted. */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Headers from "effect/http/Headers"
import * as UrlParams from "effect/http/UrlParams"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"

/** Whether a tracer is installed: the one that ships with the core only keeps spans in memory. */
export const isTraced = (context: Context.Context<never>): boolean =>
  Context.get(context, Tracer.Tracer) !== Tracer.nativeTracer

/** Runs `self` in a span if a tracer is installed. */
export const span = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  name: string,
  attributes: Record<string, unknown>
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => isTraced(fiber.context) ? Effect.withSpan(self, name, { attributes }) : self)

/** Runs a stream in a span if a tracer is installed. */
export const streamSpan = <A, E, R>(self: Stream.Stream<A, E, R>, name: string): Stream.Stream<A, E, R> =>
  Stream.unwrap(
    Effect.withFiber((fiber) => Effect.succeed(isTraced(fiber.context) ? Stream.withSpan(self, name) : self))
  )

/**
 * A tracer whose spans record how a request ended, but not the exit itself: that holds the request with its credentials
 * in clear, and the address with its cursor and filters. `describe` gives what a span may record of an error.
 */
export const redactingTracer = (tracer: Tracer.Tracer, describe: (error: unknown) => string): Tracer.Tracer =>
  redacting in tracer ? tracer : Object.assign(makeRedacting(tracer, describe), { [redacting]: true })

/** Marks a tracer that redacts: a second one around it would describe a description. */
const redacting = Symbol("redacting")

const makeRedacting = (tracer: Tracer.Tracer, describe: (error: unknown) => string): Tracer.Tracer =>
  Tracer.make({
    ...(tracer.context === undefined ? undefined : { context: tracer.context }),
    span: (options) => {
      const span = tracer.span(options)
      return new Proxy(span, {
        get: (target, key) => {
          if (key === "end") {
            return (at: bigint, exit: Exit.Exit<unknown, unknown>) => target.end(at, redactExit(exit, describe))
          }
          const value: unknown = Reflect.get(target, key)
          return Predicate.isFunction(value) ? value.bind(target) : value
        }
      })
    }
  })

const redactExit = (
  exit: Exit.Exit<unknown, unknown>,
  describe: (error: unknown) => string
): Exit.Exit<void, string> =>
  Exit.isSuccess(exit)
    ? Exit.void
    : Exit.failCause(Cause.fromReasons(exit.cause.reasons.map((reason) => redactReason(reason, describe))))

/** New reasons without the annotations of the old ones. A defect can hold the request as well as a failure can. */
const redactReason = (
  reason: Cause.Reason<unknown>,
  describe: (error: unknown) => string
): Cause.Reason<string> =>
  Cause.isFailReason(reason)
    ? Cause.makeFailReason(describe(reason.error))
    : Cause.isDieReason(reason)
    ? Cause.makeDieReason(describe(reason.defect))
    : Cause.makeInterruptReason(reason.fiberId)

/** Headers that hold a credential, a company's guid, or an address with its query. */
const privateHeaders = ["authorization", "cookie", "set-cookie", "x-company-guid", "location"]

/** Adds the private names to the list of the application: neither must replace the other. */
export const redactPrivateNames = (
  context: Context.Context<never>,
  privateParameters: ReadonlyArray<string>
): Context.Context<never> =>
  context.pipe(
    Context.add(Headers.CurrentRedactedNames, [
      ...Context.get(context, Headers.CurrentRedactedNames),
      ...privateHeaders
    ]),
    Context.add(UrlParams.CurrentRedactedNames, [
      ...Context.get(context, UrlParams.CurrentRedactedNames),
      ...privateParameters
    ])
  )
