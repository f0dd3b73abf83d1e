/** Effect for people who know promises: what runs, what fails, and where the client comes from. */
import { Effect, Stream } from "effect"
import { Company, TimePunches } from "effect-time-punches"
import { app } from "./app.ts"

/** A description of a program. `yield*` stands where an async function has `await`. */
const program = Effect.gen(function*() {
  const company = yield* Company.config
  return yield* Stream.runCount(TimePunches.list(company))
})

/** `provide` gives it the client that it needs, and `runPromise` runs it. */
export const count = (signal?: AbortSignal): Promise<number> =>
  Effect.runPromise(Effect.provide(program, app), signal === undefined ? {} : { signal })

/** Handles one failure, which the type then no longer has. */
export const countIfAllowed = program.pipe(
  Effect.catchTag("Forbidden", () => Effect.succeed(0))
)

/** A failure as a value, where a promise has `try` and `catch`. */
export const outcome = Effect.map(
  Effect.result(program),
  (result) => result._tag === "Success" ? `${result.success} punches` : result.failure.message
)
