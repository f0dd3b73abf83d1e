/** Reads the windows of a plan side by side: workers, a buffer that is bounded in pages, and one stream out. */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { identity } from "effect/Function"
import type * as Option from "effect/Option"
import type * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import type { ListError } from "../ApiError.ts"
import { BackfillError, type Segment } from "../Backfill.ts"
import type { CompanyId, Cursor } from "../Ids.ts"
import type { TimePunch } from "../TimePunch.ts"
import type { Rows } from "./rows.ts"
import { makeSignal } from "./signal.ts"
import { walk } from "./walk.ts"
import { makePlan, type Task } from "./windows.ts"

/** Reads the page at a cursor. */
export type Fetch = (cursor: Option.Option<Cursor>, index: number) => Effect.Effect<Rows<TimePunch>, ListError>

/** What a backfill reads with. */
export interface Reader {
  readonly companyId: CompanyId
  /** How the pages of a task's query are fetched. */
  readonly open: (task: Task) => Effect.Effect<Fetch, ListError>
  /** Whether the service keeps the order that it is asked for. */
  readonly keepsOrder: Effect.Effect<boolean, ListError>
}

interface Landed {
  readonly gte: number
  readonly rows: Arr.NonEmptyReadonlyArray<TimePunch>
}

/** How many pages may wait for the consumer, for each worker: a window each where windows wait for earlier ones. */
const pagesAWorker = { asLanded: 1, windows: 4 } as const

export const backfill = (
  reader: Reader,
  segments: ReadonlyArray<Segment>,
  options: { readonly workers: number; readonly pageSize: number; readonly order: "asLanded" | "windows" }
): Stream.Stream<TimePunch, BackfillError> => {
  const { order, pageSize, workers } = options
  return Stream.unwrap(Effect.gen(function*() {
    const plan = makePlan(segments, workers, pageSize)
    const signal = makeSignal()
    const capacity = workers * pagesAWorker[order]
    const landed: Array<Landed> = []
    let held = 0
    let exit: Exit.Exit<void, BackfillError> | undefined

    /** The earliest task never waits: others may wait for its rows. */
    const hasRoom = (task: Task) => held < capacity || (order === "windows" && plan.isFirst(task))

    /** Takes in a page at once or not at all, so that an interruption finds it either emitted or unfinished. */
    const land = (task: Task, page: Rows<TimePunch>): boolean => {
      const { done, own } = plan.land(task, page)
      if (Arr.isReadonlyArrayNonEmpty(own)) landed.push({ gte: task.gte, rows: own })
      else held--
      signal.notify()
      return done
    }

    const read = Effect.fnUntraced(function*(task: Task) {
      const fetch = yield* reader.open(task)
      const pages = walk({
        companyId: reader.companyId,
        from: task.cursor,
        maxPages: Infinity,
        prefetchPages: 0,
        fetch: (cursor, index) =>
          Effect.andThen(
            signal.until(() => hasRoom(task)),
            Effect.suspend(() => {
              held++
              return fetch(cursor, index)
            })
          ),
        select: (page) => [land(task, page)]
      })
      yield* Stream.runDrain(Stream.takeUntil(pages, identity))
    })

    const work = Effect.gen(function*() {
      while (!plan.isDone()) {
        const task = plan.take()
        yield* (task === undefined ? signal.next : read(task))
      }
    })

    const learnOrder = Effect.map(reader.keepsOrder, (kept) => {
      if (kept) plan.trust()
      signal.notify()
    })

    const team = workers === 1 ? [work] : [learnOrder, ...Arr.makeBy(workers, () => work)]
    const run = Effect.all(team, { concurrency: "unbounded", discard: true }).pipe(
      // By now every worker has stopped, so what they have not landed is what is unfinished.
      Effect.mapError((cause) => new BackfillError({ cause, unfinished: plan.unfinished() })),
      Effect.exit,
      Effect.map((ended) => {
        exit = ended
        signal.notify()
      })
    )
    yield* Effect.forkScoped(run)

    /** The page that is to be emitted now: the earliest, unless rows that may come before it are still to be read. */
    const next = (): Landed | undefined => {
      if (order === "asLanded") return landed[0]
      const earliest = landed.reduce<Landed | undefined>(
        (best, page) => best === undefined || page.gte < best.gte ? page : best,
        undefined
      )
      return earliest === undefined || exit !== undefined || earliest.gte <= plan.frontier() ? earliest : undefined
    }

    const pull: Pull.Pull<Arr.NonEmptyReadonlyArray<TimePunch>, BackfillError> = Effect.suspend(() => {
      const page = next()
      if (page !== undefined) {
        landed.splice(landed.indexOf(page), 1)
        held--
        signal.notify()
        return Effect.succeed(page.rows)
      }
      if (exit !== undefined) return Exit.isSuccess(exit) ? Cause.done() : Effect.failCause(exit.cause)
      return Effect.andThen(signal.until(() => next() !== undefined || exit !== undefined), pull)
    })
    return Stream.fromPull(Effect.succeed(pull))
  }))
}
