/** Reads a long range in parallel windows, and resumes what a failure left unread. */
import { Console, DateTime, Effect, Schema, Stream } from "effect"
import { BackfillSegment, type Company, type TimePunch, TimePunches } from "effect-time-punches"

const march = {
  clockedIn: { gte: DateTime.makeUnsafe("2026-03-01T00:00:00Z"), lt: DateTime.makeUnsafe("2026-04-01T00:00:00Z") }
}

/** Writes a month, eight windows at a time. Returns the segments that are still unread: none on success. */
export const copyMarch = (
  company: Company,
  write: (punches: ReadonlyArray<TimePunch>) => Effect.Effect<void>,
  segments?: ReadonlyArray<BackfillSegment>
) =>
  TimePunches.backfill(company, march, { concurrency: 8, segments }).pipe(
    Stream.runForEachArray(write),
    Effect.as<ReadonlyArray<BackfillSegment>>([]),
    Effect.catchTag("BackfillError", (error) => Effect.as(Console.log(error.message), error.unfinished))
  )

/** Encodes unfinished segments as text, so that a file can keep them until the next run. */
export const Unfinished = Schema.fromJsonString(Schema.Array(BackfillSegment))
