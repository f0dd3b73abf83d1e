/** Pages, cursors, and what to do when a run breaks off. */
import { Console, Effect, Option, Ref, Result, Stream } from "effect"
import {
  type Company,
  type Cursor,
  type ListError,
  type PunchFilter,
  type TimePunch,
  TimePunches
} from "effect-time-punches"

/** The first punches only: one page is asked for, however many there are. */
export const firstTwenty = (company: Company) =>
  TimePunches.list(company, {}, { pageSize: 20 }).pipe(Stream.take(20), Stream.runCollect)

/** There and back: `next` leads to the page after, `prev` to the page before. */
export const thereAndBack = Effect.fn("thereAndBack")(function*(company: Company) {
  const first = yield* TimePunches.page(company)
  const second = yield* TimePunches.page(company, {}, { cursor: first.cursor.next })
  return yield* TimePunches.page(company, {}, { cursor: second.cursor.prev })
})

/** While one page is worked on, the next one is on its way. */
export const ahead = <E, R>(company: Company, work: (punches: ReadonlyArray<TimePunch>) => Effect.Effect<void, E, R>) =>
  TimePunches.list(company, {}, { prefetchPages: 1 }).pipe(Stream.runForEachArray(work))

/** Goes on where a run broke off, at most `rounds` times, without loss or repeat. */
export const resuming = (
  company: Company,
  filter: PunchFilter,
  rounds: number,
  from: Option.Option<Cursor> = Option.none()
): Stream.Stream<TimePunch, ListError, TimePunches> =>
  TimePunches.list(company, filter, { from }).pipe(
    Stream.catchTag(["ServerError", "ServiceUnavailable", "TransportError"], (error) =>
      rounds === 0
        ? Stream.fail(error)
        : Stream.unwrap(Effect.as(Effect.sleep("1 minute"), resuming(company, filter, rounds - 1, error.resumeFrom))))
  )

/** Survives the end of the process, if `checkpoint` does: what is written is kept, and one page at most comes again. */
export const copy = <E, R>(
  company: Company,
  filter: PunchFilter,
  checkpoint: Ref.Ref<Option.Option<Cursor>>,
  write: (punches: ReadonlyArray<TimePunch>) => Effect.Effect<void, E, R>
) =>
  Effect.flatMap(Ref.get(checkpoint), (from) =>
    TimePunches.pages(company, filter, { from }).pipe(
      Stream.runForEach((page) => Effect.andThen(write(page.items), Ref.set(checkpoint, page.cursor.next)))
    ))

/** A deadline on the whole run is a failure, and no rows pass for all rows. */
export const countInTime = (company: Company) =>
  TimePunches.list(company).pipe(Stream.runCount, Effect.timeout("10 minutes"))

/** A deadline between two chunks of a stream that goes on elsewhere: with a failure, never with an end. */
export const neverSilent = (company: Company) =>
  TimePunches.list(company).pipe(
    Stream.timeoutOrElse({ duration: "1 minute", orElse: () => Stream.fail("too slow") })
  )

/** Takes the rows that can be read, and says which could not. */
export const salvage = (company: Company) =>
  TimePunches.listResults(company).pipe(
    Stream.tap((row) => Result.isFailure(row) ? Console.log(row.failure.message) : Effect.void),
    Stream.filter(Result.isSuccess),
    Stream.map((row) => row.success)
  )
