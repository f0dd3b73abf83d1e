/** Reads the pages of a plan side by side: workers, a buffer that is bounded in pages, and one stream out. */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import type { ListError } from "../ApiError.ts"
import { BackfillError, type Segment } from "../Backfill.ts"
import type { CompanyId } from "../Ids.ts"
import { type Fetch, follow } from "../listing/walk.ts"
import type { TimePunch } from "../TimePunch.ts"
import { makePlan } from "./plan.ts"
import { makeCondition } from "./waiting.ts"
import type { Task } from "./window.ts"

/** What a backfill reads with. */
export interface Reader {
  readonly companyId: CompanyId
  /** How the pages of a task's query are fetched. */
  readonly open: (task: Task) => Fetch<TimePunch>
  /** What the whole range looks like from its two ends. */
  readonly survey: Effect.Effect<Survey, ListError>
}

export interface Survey {
  /** Whether it is a page at most, which nobody can share. */
  readonly isSmall: boolean
  /** Whether the service keeps the order that it is asked for. */
  readonly ordered: boolean
}

interface Landed {
  readonly gte: number
  readonly rows: Arr.NonEmptyReadonlyArray<TimePunch>
}

/** How many pages may be held for each worker: those on their way, and for windows those that earlier ones hold up. */
const pagesAWorker = { asCompleted: 1, byTime: 20 } as const

const done = "done" as const

export const backfill = (
  reader: Reader,
  segments: ReadonlyArray<Segment>,
  options: { readonly workers: number; readonly pageSize: number; readonly order: "asCompleted" | "byTime" }
): Stream.Stream<TimePunch, BackfillError> => {
  const { order, pageSize } = options
  const { companyId } = reader
  const fail = (cause: ListError, unfinished: ReadonlyArray<Segment>) => new BackfillError({ cause, unfinished })

  return Stream.unwrap(Effect.gen(function*() {
    // A segment that was cut after it had begun can only stop at its end where order is kept.
    const needsSurvey = segments.some(({ queriedUntil }) => options.workers > 1 || queriedUntil !== undefined)
    const { isSmall, ordered } = needsSurvey
      ? yield* Effect.mapError(reader.survey, (cause) => fail(cause, segments))
      : { isSmall: true, ordered: false }
    const workers = isSmall ? 1 : options.workers
    const plan = makePlan(segments, { workers, pageSize, order, ordered, capacity: workers * pagesAWorker[order] })
    const condition = makeCondition()
    const readers = new WeakMap<Task, ReturnType<typeof follow<TimePunch>>>()
    const landed: Array<Landed> = []
    /** Pages on their way or landed and not emitted. */
    let held = 0
    let exit: Exit.Exit<void, BackfillError> | undefined

    /** The page to emit now; in order of time not while rows that come before it are still to be read. */
    const next = (): Landed | undefined => {
      const [page] = landed
      const isHeldUp = order === "byTime" && exit === undefined && page !== undefined && page.gte > plan.frontier()
      return isHeldUp ? undefined : page
    }

    const take = (): Task | typeof done | undefined => {
      if (plan.isDone()) return done
      const task = plan.take(held, next() !== undefined)
      if (task !== undefined) held++
      return task
    }

    const readerOf = (task: Task) => {
      const known = readers.get(task)
      if (known !== undefined) return known
      const made = follow({ companyId, from: task.cursor, maxPages: Infinity, fetch: reader.open(task) })
      readers.set(task, made)
      return made
    }

    /** In order of time the earliest comes first, and pages of one task as they landed. */
    const put = (page: Landed) => {
      const later = order === "byTime" ? landed.findIndex(({ gte }) => gte > page.gte) : -1
      landed.splice(later === -1 ? landed.length : later, 0, page)
    }

    const work = Effect.gen(function*() {
      while (true) {
        const task = yield* condition.waitUntil(take)
        if (task === done) return
        const page = yield* readerOf(task)(task.cursor)
        // From here to the notification nothing can interrupt: a page is landed whole, or its task is unfinished.
        const rows = plan.land(task, page)
        if (Arr.isReadonlyArrayNonEmpty(rows)) put({ gte: task.gte, rows })
        else held--
        condition.notifyAll()
      }
    })

    const run = Effect.all(Arr.makeBy(workers, () => work), { concurrency: "unbounded", discard: true }).pipe(
      // By now every worker has stopped, so what they have not landed is what is unfinished.
      Effect.mapError((cause) => fail(cause, plan.unfinished())),
      Effect.exit,
      Effect.map((ended) => {
        exit = ended
        condition.notifyAll()
      })
    )
    yield* Effect.forkScoped(run)

    const pull: Pull.Pull<Arr.NonEmptyReadonlyArray<TimePunch>, BackfillError> = Effect.flatMap(
      condition.waitUntil(() => next() ?? exit),
      () => {
        const page = next()
        if (page !== undefined) {
          landed.shift()
          held--
          condition.notifyAll()
          return Effect.succeed(page.rows)
        }
        return exit === undefined ? pull : Exit.isSuccess(exit) ? Cause.done() : Effect.failCause(exit.cause)
      }
    )
    return Stream.fromPull(Effect.succeed(pull))
  }))
}
