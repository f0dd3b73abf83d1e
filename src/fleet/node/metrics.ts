/** What an operator of a fleet counts: turns by outcome, pages and rows, refused writes, and how late companies are. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import type { Claim } from "../store/claims.ts"
import type { End } from "../store/ends.ts"
import type { Gauges } from "../store/keeping.ts"

const gauge = (name: string, description: string, unit = "{company}") =>
  Metric.gauge(`time_punches_fleet_${name}`, { description, attributes: { unit } })

const counter = (name: string, description: string, unit: string) =>
  Metric.counter(`time_punches_fleet_${name}`, { description, incremental: true, attributes: { unit } })

const late = gauge("late_seconds", "Largest lateness of an active company: the one metric to alert on", "s")
const due = gauge("due", "Active companies that are due, with those in work")
const suspects = gauge("suspects", "Active companies with more than one start without an end")
const age = gauge(
  "age_seconds",
  "Largest age of a copy of an active company: since its last complete sync run began",
  "s"
)
const sinceClaim = gauge("claim_age_seconds", "Since this process claimed companies, or found none due", "s")
const inFlight = gauge("in_work", "Companies in work in this process")

const turns = counter("turns", "Turns that ended, by outcome", "{turn}")
const pages = counter("pages", "Pages of those turns", "{page}")
const rows = counter("rows", "Rows that they wrote", "{row}")
const refusals = counter(
  "refused_writes",
  "Commits that were refused, since another sync of the company wrote meanwhile",
  "{write}"
)
const losses = counter("lost_turns", "Turns whose company was taken over by another process", "{turn}")
const helped = counter("helped_claims", "Companies that were claimed for another process", "{claim}")
const restarts = counter("repeated_starts", "Turns that began after one that wrote no end", "{turn}")

const failures = counter("failed_statements", "Statements that failed, by what they were for", "{statement}")

const duration = Metric.histogram("time_punches_fleet_turn_duration_seconds", {
  description: "From the claim of a company to the end of its turn",
  attributes: { unit: "s" },
  boundaries: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]
})

/** Counts the start of a turn. */
export const began = ({ starts }: Claim, isHelped: boolean): Effect.Effect<void> =>
  Effect.andThen(
    starts > 1 ? Metric.update(restarts, 1) : Effect.void,
    isHelped ? Metric.update(helped, 1) : Effect.void
  )

/** Counts the end of a turn. `took`: in milliseconds. */
export const ended = (outcome: string, end: Pick<End, "pages" | "rows">, took: number): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(turns, { outcome }), 1).pipe(
    Effect.andThen(Metric.update(duration, took / 1000)),
    Effect.andThen(Metric.update(pages, end.pages)),
    Effect.andThen(Metric.update(rows, end.rows))
  )

/** Companies in work in this process. */
export const inWork = (count: number): Effect.Effect<void> => Metric.update(inFlight, count)

/** Counts a statement that failed, or a transaction. */
export const failed = (what: string): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(failures, { what: what.replace(/^the /, "") }), 1)

/**
 * The time since companies were claimed last, or since now, as it is when it is exported. `claimedAt`: by `elapsed`.
 * The series ends with the scope.
 */
export const watchClaims = (claimedAt: () => number): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Clock.Clock
    const now = () => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)
    const began = now()
    const get = () => ({ value: (now() - Math.max(began, claimedAt())) / 1000 })
    const series = Metric.registerUnsafe(sinceClaim, yield* Effect.context(), {
      get,
      update: constVoid,
      modify: constVoid
    })
    yield* Effect.addFinalizer(() => Effect.sync(series.remove))
  })

/** Counts a commit that was refused. */
export const refused: Effect.Effect<void> = Metric.update(refusals, 1)

/** Counts a turn that lost its company. */
export const lost: Effect.Effect<void> = Metric.update(losses, 1)

/** Removes the values of the whole fleet: an old value would look like a current one. */
export const unknown: Effect.Effect<void> = Effect.forEach([late, age, due, suspects], Metric.remove, { discard: true })

/** How old the copies of the fleet are. */
export const watchedAges = (gauges: Pick<Gauges, "late" | "age">): Effect.Effect<void> =>
  Effect.andThen(Metric.update(late, gauges.late / 1000), Metric.update(age, gauges.age / 1000))

/** What the keeper, and a page of a runner, read of the whole fleet. */
export const watched = (gauges: Gauges): Effect.Effect<void> =>
  watchedAges(gauges).pipe(
    Effect.andThen(Metric.update(due, gauges.due)),
    Effect.andThen(Metric.update(suspects, gauges.suspects))
  )
