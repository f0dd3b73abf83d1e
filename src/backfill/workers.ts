/** Reads the windows of a plan concurrently: workers fill a buffer that is bounded in pages, and a pull empties it. */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { memoize } from "effect/Function"
import type * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import type { ListError } from "../ApiError.ts"
import { BackfillError, type BackfillSegment } from "../Backfill.ts"
import type { CompanyId } from "../Ids.ts"
import type { DecodedPage } from "../listing/rows.ts"
import { type Fetch, follow } from "../listing/walk.ts"
import type { Segment } from "../Segment.ts"
import type { TimePunch } from "../TimePunch.ts"
import { makeOrderedList, makePlan } from "./plan.ts"
import type { Window } from "./window.ts"

/** How a backfill reads from the service. */
export interface Reader {
  readonly companyId: CompanyId
  /** Fetches the pages of a window's query. */
  readonly fetch: (window: Window) => Fetch<TimePunch>
  /** The text of a segment, for a later run. */
  readonly textOf: (segment: Segment) => BackfillSegment
  /** Reads both ends of the whole range. */
  readonly survey: Effect.Effect<Survey, ListError>
}

export interface Survey {
  /** Whether one page holds the whole range. */
  readonly isSmall: boolean
  /** Whether the service returns rows in the requested order. */
  readonly ordered: boolean
  /**
   * What can be used of the pages: the first as the first page of the only segment, and the rows of the last, in the order
   * of time. Absent if the segments are other parts of the range, or if rows are unordered and more than the page holds.
   */
  readonly pages: { readonly first: DecodedPage<TimePunch>; readonly last: ReadonlyArray<TimePunch> } | undefined
}

type PageRows = Arr.NonEmptyReadonlyArray<TimePunch>

/** Pages that each worker may have in flight or buffered; in the order of time, pages wait for those before them. */
const pagesPerWorker = { asCompleted: 1, byTime: 20 } as const

const done = "done" as const

export const backfill = (
  reader: Reader,
  segments: ReadonlyArray<Segment>,
  options: { readonly workers: number; readonly pageSize: number; readonly order: "asCompleted" | "byTime" }
): Stream.Stream<TimePunch, BackfillError> => {
  const { order, pageSize } = options
  const { companyId } = reader
  const fail = (cause: ListError, unfinished: ReadonlyArray<Segment>) =>
    new BackfillError({ cause, unfinished: unfinished.map(reader.textOf) })

  return Stream.unwrap(Effect.gen(function*() {
    const isKnown = options.workers > 1 && segments.some(({ windowLength }) => windowLength !== undefined)
    // A segment that was cut after it had begun can stop at its end only if rows are ordered.
    const needsSurvey = segments.some(({ queriedUntil }) => options.workers > 1 || queriedUntil !== undefined)
    const { isSmall, ordered, pages } = needsSurvey && !isKnown
      ? yield* Effect.mapError(reader.survey, (cause) => fail(cause, segments))
      : { isSmall: !isKnown, ordered: false, pages: undefined }
    const workers = isSmall ? 1 : options.workers
    const plan = makePlan(segments, { workers, pageSize, order, ordered, capacity: workers * pagesPerWorker[order] })
    const buffer = makeReorderBuffer<PageRows>()
    const condition = makeCondition()
    let failure: ListError | undefined
    let exit: Exit.Exit<void, BackfillError> | undefined

    const isByTime = order === "byTime"
    /** As pages complete, they all have the same position: the buffer keeps the order of completion. */
    const positionOf = ({ gte }: Window): number => isByTime ? gte : 0
    /** After the run no page is waited for: what is in the buffer can be emitted. */
    const frontier = (): number => isByTime && exit === undefined ? plan.frontier() : Infinity
    const isReady = (): boolean => buffer.isReady(frontier())

    const nextWindow = (): Window | typeof done | undefined =>
      plan.isDone() || failure !== undefined ? done : plan.next(buffer.size(), isReady())

    const readerOf = memoize((window: Window) =>
      follow({ companyId, from: window.cursor, maxPages: Infinity, fetch: reader.fetch(window) })
    )

    /** Synchronous, so that interruption finds a page either complete and buffered, or its window unfinished. */
    const complete = (window: Window, page: DecodedPage<TimePunch>, last?: ReadonlyArray<TimePunch>): void => {
      const rows = plan.complete(window, page, last)
      if (Arr.isReadonlyArrayNonEmpty(rows)) buffer.put(positionOf(window), rows)
      condition.notifyAll()
    }

    const first = pages && plan.next(0, true)
    if (pages !== undefined && first !== undefined) complete(first, pages.first, pages.last)

    /** The first failure ends the run, but not the pages in flight: when many fail, those that succeed would be lost as well. */
    const worker = Effect.gen(function*() {
      while (true) {
        const window = yield* condition.waitUntil(nextWindow)
        if (window === done) return
        complete(window, yield* readerOf(window)(window.cursor))
      }
    }).pipe(
      Effect.catch((error) =>
        Effect.sync(() => {
          failure ??= error
          condition.notifyAll()
        })
      )
    )

    const run = Effect.all(Arr.makeBy(workers, () => worker), { concurrency: "unbounded", discard: true }).pipe(
      // Every worker has stopped by now: what they have not completed is unfinished.
      Effect.andThen(
        Effect.suspend(() => failure === undefined ? Effect.void : Effect.fail(fail(failure, plan.unfinished())))
      ),
      Effect.exit,
      Effect.map((ended) => {
        exit = ended
        condition.notifyAll()
      })
    )
    yield* Effect.forkScoped(run)

    const pull: Pull.Pull<PageRows, BackfillError> = Effect.flatMap(
      condition.waitUntil(() => isReady() || exit !== undefined ? true : undefined),
      () => {
        // Removed here and not in the wait: a pull that is interrupted while it waits takes no page with it.
        const rows = buffer.next(frontier())
        if (rows !== undefined) {
          condition.notifyAll()
          return Effect.succeed(rows)
        }
        return exit === undefined ? pull : Exit.isSuccess(exit) ? Cause.done() : Effect.failCause(exit.cause)
      }
    )
    return Stream.fromPull(Effect.succeed(pull))
  }))
}

/** Holds completed pages until no unread page can come before them. */
export const makeReorderBuffer = <A>() => {
  const pages = makeOrderedList<{ readonly gte: number; readonly page: A }>()
  /** Whether `next` returns a page for this frontier. */
  const isReady = (frontier: number): boolean => {
    const first = pages.first()
    return first !== undefined && first.gte <= frontier
  }
  return {
    /** Adds a page at a position; pages at the same position stay in the order in which they were added. */
    put: (position: number, page: A): void => pages.add({ gte: position, page }),
    isReady,
    /** Removes the first page and returns it, unless its position is beyond `frontier`, the first unread one. */
    next: (frontier: number): A | undefined => isReady(frontier) ? pages.removeFirst()?.page : undefined,
    /** Number of pages in the buffer. */
    size: () => pages.items.length
  }
}

/** Waits on state that only changes synchronously, so that no change falls between a look at the state and the wait. */
export const makeCondition = () => {
  const waiters = new Set<() => void>()
  return {
    /** Calls `find` now and after every `notifyAll`, until it returns a value. The longest waiter is served first. */
    waitUntil: <A>(find: () => A | undefined) =>
      Effect.callback<A>((resume) => {
        const check = () => {
          const found = find()
          if (found === undefined) return
          // Removed first: the fiber resumes within this call, and may notify the others.
          waiters.delete(check)
          resume(Effect.succeed(found))
        }
        waiters.add(check)
        check()
        return Effect.sync(() => {
          waiters.delete(check)
        })
      }),
    /** Calls the `find` of every waiter again. */
    notifyAll: () => {
      for (const check of waiters) check()
    }
  }
}
