/** Pages, cursors, and resuming a run that failed. */
import { Console, Effect, FileSystem, Option, Result, Schema, Stream } from "effect"
import {
  type Company,
  Cursor,
  type ListError,
  type PunchFilter,
  type TimePunch,
  TimePunches
} from "effect-time-punches"

/** The first punches only: one request, however many there are. */
export const firstTwenty = (company: Company) =>
  TimePunches.list(company, {}, { pageSize: 20 }).pipe(Stream.take(20), Stream.runCollect)

/** Reads forward and back: `next` is the cursor of the following page, `prev` of the preceding one. */
export const thereAndBack = Effect.fn("thereAndBack")(function*(company: Company) {
  const first = yield* TimePunches.page(company)
  if (Option.isNone(first.cursor.next)) return first
  const second = yield* TimePunches.page(company, {}, { cursor: first.cursor.next.value })
  return yield* TimePunches.page(company, {}, { cursor: Option.getOrElse(second.cursor.prev, () => "start" as const) })
})

/** Requests the next page while `work` processes the current one. */
export const ahead = <E, R>(company: Company, work: (punches: ReadonlyArray<TimePunch>) => Effect.Effect<void, E, R>) =>
  TimePunches.list(company, {}, { prefetchPages: 1 }).pipe(Stream.runForEachArray(work))

/** Resumes a failed run at its cursor, at most `rounds` times, without loss or repeat. */
export const resuming = (
  company: Company,
  filter: PunchFilter,
  rounds: number,
  cursor: Option.Option<Cursor> = Option.none()
): Stream.Stream<TimePunch, ListError, TimePunches> =>
  TimePunches.list(company, filter, { cursor }).pipe(
    Stream.catchTag(["ServerError", "ServiceUnavailable", "TransportError"], (error) =>
      rounds === 0
        ? Stream.fail(error)
        : Stream.unwrap(Effect.as(Effect.sleep("1 minute"), resuming(company, filter, rounds - 1, error.resumeFrom))))
  )

/** What the cursor file holds: the page to request next, or `null` once the listing has ended. */
const Progress = Schema.fromJsonString(Schema.Struct({ next: Schema.OptionFromNullOr(Cursor) }))

/** Resumes across processes, with the cursor in a file. At most one page is written twice. */
export const copy = Effect.fn("copy")(function*<E, R>(
  company: Company,
  filter: PunchFilter,
  file: string,
  write: (punches: ReadonlyArray<TimePunch>) => Effect.Effect<void, E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const text = (yield* fs.exists(file)) ? yield* fs.readFileString(file) : undefined
  const progress = text === undefined ? undefined : yield* Schema.decodeEffect(Progress)(text)
  if (progress !== undefined && Option.isNone(progress.next)) return

  // A rename is whole or not at all: a kill leaves the file as it was before the page or as it is after it.
  const save = Effect.fnUntraced(function*(next: Option.Option<Cursor>) {
    yield* fs.writeFileString(`${file}.new`, yield* Schema.encodeEffect(Progress)({ next }))
    yield* fs.rename(`${file}.new`, file)
  })
  yield* TimePunches.pages(company, filter, { cursor: progress?.next }).pipe(
    Stream.runForEach((page) => Effect.andThen(write(page.items), save(page.cursor.next)))
  )
})

/** A deadline on the whole run fails it, so that some rows never pass for all rows. */
export const countInTime = (company: Company) =>
  TimePunches.list(company, {}, { deadline: "10 minutes" }).pipe(Stream.runCount)

/** A deadline between two chunks: it fails the stream, it never ends it. */
export const neverSilent = (company: Company) =>
  TimePunches.list(company).pipe(
    Stream.timeoutOrElse({ duration: "1 minute", orElse: () => Stream.fail("too slow") })
  )

/** Keeps the rows that can be decoded, and prints the others. */
export const salvage = (company: Company) =>
  TimePunches.listResults(company).pipe(
    Stream.tap((row) => Result.isFailure(row) ? Console.log(row.failure.message) : Effect.void),
    Stream.filter(Result.isSuccess),
    Stream.map((row) => row.success)
  )
