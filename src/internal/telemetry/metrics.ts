/**
 * START HERE. Spans, metrics and log lines. What an operator counts: pages, punches, retries and token renewals, without ids;
 * and a log line for each retry.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

const counter = (name: string, description: string, unit: string) =>
  Metric.counter(name, { description, incremental: true, attributes: { unit } })

const pages = counter("time_punches_pages", "Pages read whole", "{page}")
const punches = counter("time_punches_punches", "Punches in those pages", "{punch}")
const retries = counter("time_punches_retries", "Retries of pages and tokens, by reason", "{retry}")
const resumptions = counter(
  "time_punches_resumptions",
  "Runs that resumed by themselves, by the tag of the error",
  "{resumption}"
)
const retryWait = counter("time_punches_retry_wait_seconds", "Time spent waiting before retries", "s")
const renewals = counter("time_punches_token_renewals", "Token requests that ended, by outcome", "{renewal}")

const pageDuration = Metric.histogram("time_punches_page_duration_seconds", {
  description: "From the first request of a page to its rows, waits included",
  attributes: { unit: "s" },
  boundaries: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]
})

/** Counts a page and its rows, and records its duration since `started`, in nanoseconds of the monotonic clock. */
export const pageRead = (rows: number, started: bigint): Effect.Effect<void> =>
  Effect.flatMap(Clock.monotonicTimeNanos, (now) =>
    // One effect for three metrics: this runs for every page.
    Effect.withFiber(({ context }) => {
      pages.updateUnsafe(1, context)
      punches.updateUnsafe(rows, context)
      pageDuration.updateUnsafe(Number(now - started) / 1e9, context)
      return Effect.void
    }))

/** A retry before its wait. */
export interface RetryNotice {
  readonly what: "page" | "token"
  /** The status, the platform's code, or the kind of failure. */
  readonly reason: string
  /** The wait, in milliseconds. */
  readonly delay: number
  /** Which attempt comes after the wait; the first one is 1. */
  readonly attempt: number
  /** How many attempts may be made. */
  readonly attempts: number
}

/** Takes each retry in place of the log. Default: retries are logged. */
export class OnRetry extends Context.Reference<((notice: RetryNotice) => Effect.Effect<void>) | undefined>(
  "effect-time-punches/telemetry/OnRetry",
  { defaultValue: () => undefined }
) {}

/** Counts a retry and logs it: debug below one second of wait, warning above. */
export const retrying = (notice: RetryNotice): Effect.Effect<void> => {
  const { delay, reason, what } = notice
  const log = Effect.suspend(() => {
    const message = `${what} failed (${reason}), next attempt in ${Duration.format(Duration.millis(Math.round(delay)))}`
    return delay < longWait ? Effect.logDebug(message) : Effect.logWarning(message)
  })
  return Metric.update(Metric.withAttributes(retries, { what, reason }), 1).pipe(
    Effect.andThen(Metric.update(retryWait, delay / 1000)),
    Effect.andThen(Effect.flatMap(OnRetry, (onRetry) => onRetry === undefined ? log : onRetry(notice)))
  )
}

/** Counts a run that resumes by itself, and logs it as a warning: all attempts of a page have failed. */
export const resumed = (
  error: { readonly _tag: string; readonly pagesCompleted: number },
  wait: Duration.Duration
): Effect.Effect<void> =>
  Effect.andThen(
    Metric.update(Metric.withAttributes(resumptions, { reason: error._tag }), 1),
    Effect.logWarning(
      `page ${error.pagesCompleted + 1} failed (${error._tag}), the run resumes there in ${Duration.format(wait)}`
    )
  )

/** A wait that an operator should see, in milliseconds. */
const longWait = 1000

/** Counts the end of a token renewal. */
export const renewed = (outcome: string): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(renewals, { outcome }), 1)
