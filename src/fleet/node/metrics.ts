/** What an operator of a fleet counts: turns by outcome, pages and rows, refused writes, and how late companies are. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Claim, End, Gauges } from "../FleetStore.ts"

const late = Metric.gauge("time_punches_fleet_late_seconds", {
  description: "Largest lateness of an active company: the one metric to alert on",
  attributes: { unit: "s" }
})

const due = Metric.gauge("time_punches_fleet_due", {
  description: "Active companies that are due, with those in work",
  attributes: { unit: "{company}" }
})

const suspects = Metric.gauge("time_punches_fleet_suspects", {
  description: "Active companies with more than one start without an end",
  attributes: { unit: "{company}" }
})

const inFlight = Metric.gauge("time_punches_fleet_in_work", {
  description: "Companies in work in this process",
  attributes: { unit: "{company}" }
})

const turns = Metric.counter("time_punches_fleet_turns", {
  description: "Turns that ended, by outcome",
  incremental: true,
  attributes: { unit: "{turn}" }
})

const pages = Metric.counter("time_punches_fleet_pages", {
  description: "Pages of those turns",
  incremental: true,
  attributes: { unit: "{page}" }
})

const rows = Metric.counter("time_punches_fleet_rows", {
  description: "Rows that they wrote",
  incremental: true,
  attributes: { unit: "{row}" }
})

const refusals = Metric.counter("time_punches_fleet_refused_writes", {
  description: "Commits that were refused, since another sync of the company wrote meanwhile",
  incremental: true,
  attributes: { unit: "{write}" }
})

const losses = Metric.counter("time_punches_fleet_lost_turns", {
  description: "Turns whose company was taken over by another process",
  incremental: true,
  attributes: { unit: "{turn}" }
})

const helped = Metric.counter("time_punches_fleet_helped_claims", {
  description: "Companies that were claimed for another process",
  incremental: true,
  attributes: { unit: "{claim}" }
})

const restarts = Metric.counter("time_punches_fleet_repeated_starts", {
  description: "Turns that began after one that wrote no end",
  incremental: true,
  attributes: { unit: "{turn}" }
})

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

/** What the keeper reads of the whole fleet. */
export const watched = (gauges: Gauges): Effect.Effect<void> =>
  Metric.update(late, gauges.late / 1000).pipe(
    Effect.andThen(Metric.update(due, gauges.due)),
    Effect.andThen(Metric.update(suspects, gauges.suspects))
  )
