/** A long range in windows side by side, and what a failure left of it taken up again. */
import { Console, DateTime, Effect, Schema, Stream } from "effect"
import { type Company, Segment, type TimePunch, TimePunches } from "effect-time-punches"

const march = {
  clockedIn: { gte: DateTime.makeUnsafe("2026-03-01T00:00:00Z"), lt: DateTime.makeUnsafe("2026-04-01T00:00:00Z") }
}

/** Writes a month, eight windows at a time. Answers with what is left to be read: nothing, if all went well. */
export const copyMarch = (
  company: Company,
  write: (punches: ReadonlyArray<TimePunch>) => Effect.Effect<void>,
  resume?: ReadonlyArray<Segment>
) =>
  TimePunches.backfill(company, march, { concurrency: 8, resume }).pipe(
    Stream.runForEachArray(write),
    Effect.as<ReadonlyArray<Segment>>([]),
    Effect.catchTag("BackfillError", (error) => Effect.as(Console.log(error.message), error.unfinished))
  )

/** What is unfinished is a value: as text it can wait in a file until the service is back. */
export const Unfinished = Schema.fromJsonString(Schema.toCodecJson(Schema.Array(Segment)))
