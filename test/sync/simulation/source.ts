/** The rows of a service that changes while it is read, its clock and the local one. Knows nothing of a sync. */
import { DateTime, Option } from "effect"
import { CompanyId, type TimePunch, TimePunchId } from "../../../src/index.ts"
import { punch, rest } from "../../support/arbitraryPunch.ts"
import { type Order, type Plan, second } from "./plan.ts"

export const company = CompanyId.make(4021)

/** A state of a row, from the true time at which all but lagging replicas show it. */
interface Version {
  readonly from: number
  /** `undefined`: the row does not exist. */
  readonly punch: TimePunch | undefined
  /** Whether no stamp tells that the row came to this state. */
  readonly isSilent: boolean
}

export interface Row {
  readonly id: TimePunchId
  readonly versions: Array<Version>
  /** Spans of true time in which the account may not see the row. */
  readonly hidden: Array<{ readonly from: number; until: number }>
  /** Whether an increment need not have heard of the last change. */
  needsSweep: boolean
}

export interface Query {
  readonly since: number | undefined
  readonly gte: number | undefined
  readonly lte: number | undefined
  readonly deleted: "exclude" | "only" | "include"
  readonly order: Order
}

export interface Change {
  /** How `modified` is stamped: with the service's time, or else. */
  readonly stamp: "now" | "none" | "kept" | "null" | "future" | "old"
  readonly moves?: boolean
  readonly deleted?: boolean
  readonly lag: number
  /** By which the clock of the host that writes differs. */
  readonly skew: number
  /** For a stamp of the future or the past. */
  readonly by?: number
  /** The clock-in of a moved or a new row. */
  readonly clockedIn: number
}

export const epoch = Date.UTC(2026, 9, 1, 12)

const at = (millis: number): DateTime.Utc => DateTime.makeUnsafe(millis)

const template = punch({ companyId: company, clockedOut: Option.none(), approved: false })

/** A state of a row: its notes, and whether its break is deleted. */
export const stateOf = ({ breaks, notes }: TimePunch): string =>
  `${notes}${breaks.some(({ deleted }) => deleted) ? " without its break" : ""}`

export type Source = ReturnType<typeof makeSource>

export const makeSource = (plan: Plan) => {
  let stepsForward: ReadonlyArray<{ readonly at: number; readonly by: number }> = []
  let edits = 0
  const rows: Array<Row> = []

  const addRow = (): Row => {
    const row: Row = { id: TimePunchId.make(100 + rows.length), versions: [], hidden: [], needsSweep: false }
    rows.push(row)
    return row
  }

  const source = {
    rows,
    /** The true time. */
    now: epoch,
    /** The service's clock less the true time. */
    serviceOffset: 0,
    /** The local clock less the true time. */
    localOffset: plan.localOffset,
    /** No replica is older than this: what was on its way when the service's clock was set forward, was let arrive. */
    freshSince: 0,

    get service(): number {
      return source.now + source.serviceOffset
    },

    get local(): number {
      return source.now + source.localOffset
    },

    /** Adds a row, or changes one. */
    change(row: Row | undefined, change: Change): void {
      const changed = row ?? addRow()
      const last = changed.versions.at(-1)
      const before = changed.versions.findLast(({ punch }) => punch !== undefined)?.punch
      const now = source.service + change.skew
      const stamp = plan.wholeSeconds ? Math.floor(now / second) * second : now
      const modified = change.stamp === "kept"
        ? before?.modified ?? Option.none()
        : change.stamp === "null"
        ? Option.none()
        : Option.some(at(stamp + (change.stamp === "now" ? 0 : change.by ?? 0)))
      const clockedIn = before === undefined || change.moves === true ? at(change.clockedIn) : before.clockedIn
      const isSilent = change.stamp === "kept" || change.stamp === "null" || change.stamp === "old"
      // An edited break moves no stamp: it is deleted, or is there again, and nothing else changes.
      const isBreakOnly = change.stamp === "kept" && before !== undefined
      const isBreakDeleted = before?.breaks[0]?.deleted ?? false
      changed.versions.push({
        from: Math.max(last?.from ?? 0, source.now + change.lag),
        punch: change.stamp === "none" ? undefined : {
          ...template,
          id: changed.id,
          clockedIn,
          notes: isBreakOnly ? before.notes : `v${++edits}`,
          breaks: [rest({ in: 60, out: 90, paid: false, deleted: isBreakOnly ? !isBreakDeleted : isBreakDeleted })],
          modified,
          deleted: change.deleted ?? before?.deleted ?? false
        },
        isSilent: isSilent || change.stamp === "none"
      })
      changed.needsSweep = isSilent || change.stamp === "none" || source.isHidden(changed, Infinity)
    },

    /** Puts a row back as it was, without a word: a backup, or a hand in the database. */
    restore(row: Row): void {
      const before = row.versions.findLast(({ punch }) => punch !== undefined)
      if (before === undefined) return
      row.versions.push({ ...before, from: Math.max(row.versions.at(-1)?.from ?? 0, source.now), isSilent: true })
      row.needsSweep = true
    },

    hide(row: Row): void {
      row.hidden.push({ from: source.now, until: Infinity })
      row.needsSweep = true
    },

    show(row: Row): void {
      for (const span of row.hidden) span.until = Math.min(span.until, source.now)
    },

    /** Lets everything that is on its way arrive. */
    settle(): void {
      for (const { versions } of source.rows) {
        for (const [index, version] of versions.entries()) {
          if (version.from > source.now) versions[index] = { ...version, from: source.now }
        }
      }
      source.freshSince = source.now
      stepsForward = []
    },

    /** How far the clock was set forward, with this step too, while what is on its way now may have been on its way. */
    setForward(by: number): number {
      const longest = plan.lateness + plan.replicaLag
      stepsForward = [...stepsForward.filter(({ at }) => source.now - at <= longest), { at: source.now, by }]
      return stepsForward.reduce((sum, { by }) => sum + Math.max(0, by), 0)
    },

    exists(row: Row): boolean {
      return row.versions.at(-1)?.punch !== undefined
    },

    isHidden({ hidden }: Row, when: number): boolean {
      return hidden.some(({ from, until }) =>
        from <= when && (when < until || (when === Infinity && until === Infinity))
      )
    },

    /** What the account sees of a row at a true time, on a replica that lags. */
    seen(row: Row, lag = 0): TimePunch | undefined {
      const when = Math.max(source.now - lag, Math.min(source.freshSince, source.now))
      return source.isHidden(row, when) ? undefined : row.versions.findLast(({ from }) => from <= when)?.punch
    },

    /** Whether a row was there, in a window of clock-ins, without a break since a true time, and every move was stamped. */
    wasThroughout(row: Row, since: number, gte: number, lt: number): boolean {
      if (row.hidden.some(({ from, until }) => until >= since && from <= source.now)) return false
      const first = row.versions.findLastIndex(({ from }) => from <= since)
      return first >= 0 &&
        row.versions.slice(first).every(({ isSilent, punch }, index) =>
          (index === 0 || !isSilent) && punch !== undefined && punch.clockedIn.epochMilliseconds >= gte &&
          punch.clockedIn.epochMilliseconds < lt
        )
    },

    /** The rows of a query, in its order. */
    list({ deleted, gte, lte, order, since }: Query, lag: number): Array<TimePunch> {
      const found = source.rows.flatMap((row) => source.seen(row, lag) ?? []).filter((punch) => {
        const clockedIn = punch.clockedIn.epochMilliseconds
        if (gte !== undefined && clockedIn < gte) return false
        if (lte !== undefined && clockedIn > lte) return false
        if (deleted !== "include" && punch.deleted !== (deleted === "only")) return false
        if (since === undefined) return true
        const modified = Option.match(punch.modified, {
          onNone: () => -Infinity,
          onSome: ({ epochMilliseconds }) => epochMilliseconds
        })
        return plan.sinceIsInclusive ? modified >= since : modified > since
      })
      return found.toSorted((one, other) => compare(keyOf(one, order), keyOf(other, order)))
    }
  }
  return source
}

/** The place of a row in an order. */
export type Key = readonly [number, number]

export const keyOf = (punch: TimePunch, order: Order): Key => {
  switch (order) {
    case "id":
      return [punch.id, 0]
    case "idDown":
      return [-punch.id, 0]
    case "clockedIn":
      return [punch.clockedIn.epochMilliseconds, punch.id]
    case "modified":
      return [
        Option.match(punch.modified, { onNone: () => 0, onSome: ({ epochMilliseconds }) => epochMilliseconds }),
        punch.id
      ]
  }
}

export const compare = (one: Key, other: Key): number => one[0] - other[0] || one[1] - other[1]
