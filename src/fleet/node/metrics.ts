/** What an operator of a fleet counts: turns by outcome, pages and rows, refused writes, and how late companies are. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
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

/** Counts the start of a turn. */
export const began = ({ starts }: Claim, isHelped: boolean): Effect.Effect<void> =>
  Effect.andThen(
    starts > 1 ? Metric.update(restarts, 1) : Effect.void,
    isHelped ? Metric.update(helped, 1) : Effect.void
  )

/** Counts the end of a turn. */
export const ended = (outcome: string, end: Pick<End, "pages" | "rows">): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(turns, { outcome }), 1).pipe(
    Effect.andThen(Metric.update(pages, end.pages)),
    Effect.andThen(Metric.update(rows, end.rows))
  )

/** Companies in work in this process. */
export const inWork = (count: number): Effect.Effect<void> => Metric.update(inFlight, count)

/** Counts a commit that was refused. */
export const refused: Effect.Effect<void> = Metric.update(refusals, 1)

/** Counts a turn that lost its company. */
export const lost: Effect.Effect<void> = Metric.update(losses, 1)

/** What the database does not say now, which is never an old value. `late`: in milliseconds, if it is known. */
export const unknown = (late = NaN): Effect.Effect<void> => watched({ late, due: NaN, suspects: NaN })

/** What the keeper, and a page of a runner, read of the whole fleet. */
export const watched = (gauges: Gauges): Effect.Effect<void> =>
  Metric.update(late, gauges.late / 1000).pipe(
    Effect.andThen(Metric.update(due, gauges.due)),
    Effect.andThen(Metric.update(suspects, gauges.suspects))
  )
