/** The service of a plan: answers requests from the source, with cursors, a `Date`, and what goes wrong with them. */
import { DateTime, Effect, Layer, Option, Stream } from "effect"
import {
  Cursor,
  DecodeError,
  Forbidden,
  type ListError,
  type Page,
  PaginationError,
  type PunchFilter,
  ServiceUnavailable,
  TimePunches,
  UnexpectedStatus,
  UnprocessableEntity
} from "../../../src/index.ts"
import type { Prng } from "../../../src/testing/base/prng.ts"
import { pageOf } from "../../support/page.ts"
import { minute, type Order, type Plan, second } from "./plan.ts"
import { company, compare, type Key, keyOf, type Query, type Source } from "./source.ts"

/** What the driver does with a request: it waits until the driver lets it be answered. */
export interface Traffic {
  /** Suspends the process that asks, and returns when it is let continue. */
  readonly wait: Effect.Effect<void>
  /** A request is about to be sent, for the first page of an attempt or a later one. */
  readonly asks: (isFirst: boolean) => void
}

const queryOf = (filter: PunchFilter, { ignores, order }: Plan): Query => ({
  since: ignores.has("since") ? undefined : filter.modifiedSince?.epochMilliseconds,
  gte: ignores.has("window") ? undefined : filter.clockedIn?.gte?.epochMilliseconds,
  lte: ignores.has("window") ? undefined : filter.clockedIn?.lte?.epochMilliseconds,
  deleted: filter.deleted ?? "exclude",
  order: orderOf(filter, order)
})

/** The most empty pages in a row that the listing of a plan reads: few, so that some plans have more. */
const mostEmptyPages = 3

/** A listing that a process reads. */
interface Walk {
  index: number
  /** Empty pages since the last row. */
  empty: number
  readonly seen: Set<Cursor>
  /** Cursors of the call that reads it. */
  readonly own: Set<Cursor>
}

export type Service = ReturnType<typeof makeService>

export const makeService = (source: Source, plan: Plan, random: Prng) => {
  const changesAt = new Map<number, number>()
  const issued = new Map<Cursor, { at: number; life: number }>()
  const cycles = new Map<string, number>()
  let walks = 0

  const page = (
    traffic: Traffic,
    filter: PunchFilter,
    sent: Option.Option<Cursor>,
    walk: Walk
  ): Effect.Effect<Page, ListError> =>
    Effect.gen(function*() {
      let at = source.now
      let local = source.local
      let changes = service.clockChanges
      // The second of two listings continues the attempt of the first.
      const isFirst = Option.isNone(sent) && filter.deleted !== "only"
      traffic.asks(isFirst)
      yield* traffic.wait
      service.requests++
      if (source.now - at > 30 * second) {
        // The attempt timed out while the process slept, and was repeated.
        at = source.now - random.between(10, 2000)
        local = at + source.localOffset
        changes = service.clockChanges
      }
      const { index, seen } = walk
      const where = { companyId: company, resumeFrom: sent, pagesCompleted: index, attempts: 1 }
      if (walk.empty >= mostEmptyPages) return yield* new PaginationError({ ...where, reason: "EmptyPages" })
      if (source.now < service.forbiddenUntil) return yield* new Forbidden(where)
      if (source.now < service.unavailableUntil) return yield* new ServiceUnavailable(where)
      if (source.now < service.badRowUntil) return yield* new DecodeError({ ...where, reason: "Schema" })
      if (source.now < service.wrongCountUntil) {
        return yield* new PaginationError({ ...where, reason: "CountMismatch" })
      }
      const isRefusedOrder = plan.refusesOrder && filter.sortBy !== undefined
      if (Option.isNone(sent) && (isRefusedOrder || (plan.refusesBoth && filter.deleted === "include"))) {
        return yield* plan.refusal === 400
          ? new UnexpectedStatus({ ...where, status: 400 })
          : new UnprocessableEntity(where)
      }
      const isDead = isRefused(sent, walk)
      if (isDead) {
        if (plan.refusal === 422) return yield* new UnprocessableEntity(where)
        if (plan.refusal !== "first page") return yield* new UnexpectedStatus({ ...where, status: plan.refusal })
      }
      const page = read(filter, isDead ? Option.none() : sent)
      if (page === undefined) {
        return yield* plan.refusal === 422 || plan.refusal === "first page"
          ? new UnprocessableEntity(where)
          : new UnexpectedStatus({ ...where, status: plan.refusal })
      }
      const { items, next } = page
      if (next !== undefined) {
        if (seen.has(next)) return yield* new PaginationError({ ...where, reason: "CursorCycle" })
        seen.add(next)
        walk.own.add(next)
      }
      walk.empty = items.length === 0 ? walk.empty + 1 : 0
      walk.index++
      const date = asOf(at, isFirst)
      if (isFirst) changesAt.set(local, changes + (date.isWrong ? 1 : 0))
      return pageOf(DateTime.makeUnsafe(local), {
        asOf: date.value,
        items,
        index,
        sent,
        next: Option.fromUndefinedOr(next),
        count: Option.some(items.length)
      })
    })

  /** The `Date` less the time of the request, as the client reports it. */
  const asOf = (sentAt: number, isFirst: boolean): {
    readonly value: Option.Option<DateTime.Utc>
    readonly isWrong: boolean
  } => {
    const { dates, faults } = plan
    const shown = service.isQuiet ? source.service : Option.getOrElse(service.frozenAt, () => source.service)
    const honest = Math.floor(shown / second) * second - (source.now - sentAt)
    const none = { value: Option.none<DateTime.Utc>(), isWrong: false }
    if (dates === "never" || (dates === "laterOnly" && isFirst)) return none
    if (service.isQuiet) return { value: Option.some(DateTime.makeUnsafe(honest)), isWrong: false }
    if ((dates === "sometimes" && random.chance(0.5)) || (dates === "firstOnly" && !isFirst)) return none
    if (faults.has("wildDate") && random.chance(0.1)) {
      if (random.chance(0.4)) {
        const far = random.pick([0, Date.UTC(9999, 0), source.now + 40 * 24 * 60 * minute] as const)
        return { value: Option.some(DateTime.makeUnsafe(far)), isWrong: false }
      }
      if (isFirst && service.mayChangeClock()) {
        service.clockChanges += 2
        const by = random.between(1, 600) * minute * (random.chance(0.5) ? 1 : -1)
        return { value: Option.some(DateTime.makeUnsafe(honest + by)), isWrong: true }
      }
    }
    const age = faults.has("cachedDate") && random.chance(0.2) ? random.between(1, 600) * second : 0
    return { value: Option.some(DateTime.makeUnsafe(honest - age)), isWrong: false }
  }

  const isRefused = (sent: Option.Option<Cursor>, { own }: Walk): boolean => {
    if (Option.isNone(sent) || (plan.outlivesCalls && own.has(sent.value))) return false
    const cursor = issued.get(sent.value)
    return cursor === undefined || cursor.at < service.aliveSince || source.now - cursor.at > cursor.life
  }

  const read = (filter: PunchFilter, sent: Option.Option<Cursor>) => {
    const query = queryOf(filter, plan)
    const lag = service.isQuiet || plan.replicaLag === 0 || random.chance(0.5) ? 0 : random.between(0, plan.replicaLag)
    const list = source.list(query, lag)
    let walk = ""
    let from = 0
    if (Option.isSome(sent)) {
      const [name = "", first = "", then = "", id = ""] = sent.value.split("|")
      walk = name
      let key: Key = [Number(first), Number(then)]
      // In a given order of ids, an id is a place, whether its record is still there or not.
      if (plan.cursors === "record" && id !== "" && filter.sortBy === undefined) {
        const row = source.rows.find((row) => `${row.id}` === id)
        const punch = row === undefined ? undefined : source.seen(row, lag)
        if (punch === undefined) return undefined
        key = keyOf(punch, query.order)
      }
      from = list.findIndex((punch) => compare(keyOf(punch, query.order), key) > 0)
      if (from === -1) from = list.length
    } else {
      walk = plan.namesWalks ? `w${++walks}` : ""
      if (plan.namesWalks && service.cycle > 0) cycles.set(walk, service.cycle)
    }
    if (!service.isQuiet && list.length > 0 && random.chance(plan.faults.has("emptyPages") ? 0.5 : 0.03)) {
      const last = list[from - 1]
      const empty: Array<(typeof list)[number]> = []
      return { items: empty, next: issue(walk, last && keyOf(last, query.order), last?.id, `${service.requests}`) }
    }
    const until = from + plan.pageSize
    const again = !service.isQuiet && plan.faults.has("duplicateRow") && random.chance(0.3)
      ? list.slice(Math.max(0, from - 1), from + 1)
      : []
    const items = [...again, ...list.slice(from, until)]
    const cycle = plan.namesWalks ? cycles.get(walk) ?? 0 : service.cycle
    const reach = Math.min(cycle * plan.pageSize, list.length)
    if (cycle > 0 && list.length > 0 && until >= reach) {
      const last = list[until - cycle * plan.pageSize - 1]
      return { items, next: issue(walk, last && keyOf(last, query.order), last?.id) }
    }
    const last = list[until - 1]
    const next = until < list.length && last !== undefined
      ? issue(walk, keyOf(last, query.order), last.id)
      : undefined
    return { items, next }
  }

  const issue = (walk: string, [first, then]: Key = [-Infinity, 0], id?: number, nonce = ""): Cursor => {
    const text = Cursor.make(`${walk}|${first}|${then}|${id ?? ""}|${nonce}`)
    issued.set(text, { at: source.now, life: service.isQuiet ? Infinity : plan.cursorLife })
    return text
  }

  const service = {
    /** How many pages a cycle has; 0 where cursors lead on. */
    cycle: 0,
    forbiddenUntil: 0,
    unavailableUntil: 0,
    /** A row of each page is no punch until then. */
    badRowUntil: 0,
    /** Each page counts other rows than it has until then. */
    wrongCountUntil: 0,
    /** Where the `Date` stands still. */
    frozenAt: Option.none<number>(),
    /** Cursors that were issued before are refused. */
    aliveSince: 0,
    /** Whether new cursors live, dates come as they should, and no page is empty without a reason. */
    isQuiet: false,
    requests: 0,
    /** Changes of a clock so far; a request remembers how many there were. */
    clockChanges: 0,
    /** Whether a clock may change now, or seem to. */
    mayChangeClock: (): boolean => false,

    /** The service as one process meets it. */
    for(traffic: Traffic): TimePunches["Service"] {
      const own = new Set<Cursor>()
      const mock = Layer.mock(TimePunches)({
        pages: (_, filter = {}, options = {}) => {
          const from = Option.isOption(options.cursor) ? options.cursor : Option.fromUndefinedOr(options.cursor)
          return Stream.suspend(() => {
            const walk: Walk = { index: 0, empty: 0, seen: new Set(Option.toArray(from)), own }
            return Stream.paginate(
              from,
              (sent) =>
                Effect.map(
                  page(traffic, filter, sent, walk),
                  (page) => [[page], Option.map(page.cursor.next, Option.some)] as const
                )
            )
          })
        }
      })
      return Effect.runSync(Effect.provide(TimePunches, mock))
    },

    /** How many clocks have changed since the request that was sent at this local time. */
    changesSince(sentAt: number): number {
      return service.clockChanges - (changesAt.get(sentAt) ?? 0)
    }
  }
  return service
}

const orderOf = ({ sortBy }: PunchFilter, usual: Order): Order => {
  const field = sortBy?.[0]?.[0]
  return field === "clockedIn" || field === "modified" || field === "id" ? field : usual
}
