/** Handling errors by tag and by policy. */
import { Duration, Effect, Layer, Option, Schedule, Stream } from "effect"
import { type Company, getAdvice, type ListError, RetryPolicy, type TimePunch, TimePunches } from "effect-time-punches"

/** Handles recoverable errors; the rest propagate. */
export const count = (company: Company) =>
  TimePunches.list(company).pipe(
    Stream.runCount,
    Effect.map((punches) => `${punches} punches`),
    Effect.catchTags({
      Forbidden: (error) => Effect.succeed(`ask the customer: ${error.problem.detail ?? "no reason given"}`),
      RateLimited: (error) =>
        Effect.succeed(
          Option.match(error.retryAfter, {
            onNone: () => "retry later",
            onSome: (wait) => `retry after ${Duration.format(wait)}`
          })
        )
    })
  )

/** Runs again later, from where it stopped, if time alone may cure the error. */
export const worthAnotherRun = (error: ListError) =>
  error.isRetryable ? Option.some({ cursor: error.resumeFrom }) : Option.none()

/** More attempts, for a nightly job: the policy of the client. */
export const patient = TimePunches.layerFromConfig.pipe(
  Layer.provide(RetryPolicy.layer({ attempts: 6, maxDelay: "1 minute", pageTimeout: "10 minutes" }))
)

/** One listing that is not retried, of another version, and no longer than five minutes. The client stays as it is. */
export const quick = (company: Company) =>
  TimePunches.list(company, {}, { retry: { attempts: 1 }, apiVersion: "2026-01-15", deadline: "5 minutes" }).pipe(
    Stream.runCount
  )

/** The same policy for all runs of a part of a program. */
export const atOnce = <A, E, R>(part: Effect.Effect<A, E, R>) => Effect.provide(part, RetryPolicy.layerNone)

/** Resumes by itself for up to two hours of each outage, and says what a person may do about any other failure. */
export const overnight = (company: Company, save: (punch: TimePunch) => Effect.Effect<void>) =>
  TimePunches.list(company, {}, {
    resumeSchedule: Schedule.upTo(Schedule.spaced("5 minutes"), { duration: "2 hours" })
  }).pipe(
    Stream.runForEach(save),
    Effect.tapError((error) => Effect.logError(`${error.message}. ${getAdvice(error)}`))
  )
