/** What changed in a period since an instant, from the versions that a history keeps; and how a history is pruned. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Row } from "effect/sql/SqlConnection"
import { CompanyId, TimePunchId, UserId } from "../Ids.ts"
import { type Database, numberOf, orUndefined, raw } from "../internal/sql/dialect.ts"
import { retried, transact } from "../internal/sql/transaction.ts"
import { Instant } from "../internal/wire/schema.ts"
import * as Labor from "../payroll/Labor.ts"
import * as WorkedTime from "../payroll/WorkedTime.ts"
import { byLocation, type Interval, type LocalPeriods, type Zones } from "../payroll/Zones.ts"
import type { SyncError } from "../sync/SyncError.ts"
import { TimePunch } from "../TimePunch.ts"
import { failedWith, opened, type TableOptions } from "./connection.ts"
import type { Dialect } from "./Dialect.ts"
import { punchOf, rowColumns, rowOf } from "./read.ts"

/**
 * Of which period, and since when. `asOf` replaces the clock-out of an open punch, both in the copy of `since` and in the
 * copy of now.
 */
export interface ChangesOptions<out E = never> extends Labor.LaborOptions {
  /** The zone of all locations, or `Period.zones`: each location by its own clock. */
  readonly zone: DateTime.TimeZone | Zones<E>
  /** The period, in a zone: `(zone) => Period.week(zone, date)`. */
  readonly period: (zone: DateTime.TimeZone) => Interval
  /** The instant to compare with, by the clock of the database, such as `history.last` of `status` at the close. */
  readonly since: DateTime.DateTime
}

/**
 * How a punch differs from what it was. A punch counts in a period if it is neither deleted nor gone, and was clocked in
 * during the period of its location.
 *
 * - `edited`: it counted then and counts now, and something other than `modified` differs.
 * - `added`: it counts now, and was not in the copy.
 * - `movedIn`, `movedOut`: its clock-in or location was moved into the period, or out of it.
 * - `deleted`, `undeleted`: it counted and is now deleted, or was deleted and now counts.
 * - `gone`, `back`: it counted and is now gone, or was gone and now counts. A punch that is also deleted is `deleted` or
 *   `undeleted` instead.
 */
export const ChangeKind = Schema.Literals([
  "edited",
  "added",
  "movedIn",
  "movedOut",
  "deleted",
  "undeleted",
  "gone",
  "back"
])

/** How a punch differs from what it was, as `ChangeKind` decodes it. */
export type ChangeKind = typeof ChangeKind.Type

/** A punch of the period that is not what it was. */
export class PunchChange extends Schema.Opaque<PunchChange>()(Schema.Struct({
  /** The punch. */
  id: TimePunchId,
  /** The person of the punch now if it counts now, else the person then. */
  userId: UserId,
  /** How it differs. */
  kind: ChangeKind,
  /** The punch as it was; `None` if it was not in the copy, or was gone. */
  before: Schema.OptionFromNullOr(TimePunch.fromWire),
  /** The punch as it is; `None` if it is gone. */
  after: Schema.OptionFromNullOr(TimePunch.fromWire)
})) {}

/** The difference of a person in a period: the sums now minus the sums then. */
export class PersonChange extends Schema.Opaque<PersonChange>()(Schema.Struct({
  /** The person. */
  userId: UserId,
  /** Net time in minutes, with a fraction if there are seconds. A punch of unknown length counts as none. */
  minutes: Schema.Finite,
  /** Wages in cents, rounded punch by punch. Without tips. */
  cents: Schema.Int,
  /** Tips in cents. */
  tips: Schema.Int
})) {}

/** What changed in a period. */
export class Changes extends Schema.Opaque<Changes>()(Schema.Struct({
  /** Sorted by person, clock-in and id. A punch that counts neither then nor now is not among them. */
  punches: Schema.Array(PunchChange),
  /** Sorted by person. A person whose sums are the same is not among them. */
  people: Schema.Array(PersonChange)
})) {}

/** The copy at that instant is not known: no history was kept, it began later, or its older part was pruned. */
export class HistoryUnknown
  extends Schema.TaggedError<HistoryUnknown>("effect-time-punches/sql/HistoryUnknown")("HistoryUnknown", {
    /** The company of the copy. */
    companyId: CompanyId,
    /** The first instant at which the copy is known; `None`: no history was kept. */
    since: Schema.OptionFromNullOr(Instant),
    /** The `since` that was requested. */
    asked: Instant
  })
{
  /** Since when the copy is known, and how to begin a history. */
  override get message(): string {
    const known = Option.match(this.since, {
      onNone: () => "no history was kept: begin one with SqlStore.layer({ history: true })",
      onSome: (since) => `its history is known since ${DateTime.formatIso(since)}`
    })
    return `the copy of ${DateTime.formatIso(this.asked)} is not known; ${known} [company ${this.companyId}]`
  }
}

/**
 * What changed in a period since an instant, such as the one at which it was closed: each punch that is not what it was, and
 * for each person the sums now minus the sums then. Both are read in one state of the database.
 *
 * Law: the sums of the punches that counted at that instant, plus the differences, are the sums of those that count now, for
 * every person.
 *
 * Fails with `HistoryUnknown` if the copy of that instant is not known; with the error of `zone` for a location without one;
 * with `Store` if the database fails, or a row is not a valid punch; with `SumOverflow` if a sum exceeds 2^53.
 *
 * **Example** (What changed since the week was closed)
 *
 * ```ts
 * import { DateTime } from "effect"
 * import { BusinessDate, CompanyId } from "effect-time-punches"
 * import { Period } from "effect-time-punches/payroll"
 * import { SqlStore } from "effect-time-punches/sql"
 *
 * export const changes = SqlStore.changes(CompanyId.make(7), {
 *   zone: DateTime.zoneMakeNamedUnsafe("America/New_York"),
 *   period: (zone) => Period.week(zone, BusinessDate.make("2026-03-09")),
 *   since: DateTime.makeUnsafe("2026-03-17T09:00:00Z"),
 *   rounding: "halfUp"
 * })
 * ```
 */
export const changes = <E = never>(
  company: CompanyId,
  options: ChangesOptions<E>,
  tableOptions: TableOptions = {}
): Effect.Effect<Changes, SyncError | HistoryUnknown | E | Labor.SumOverflow, SqlClient> =>
  Effect.gen(function*() {
    const database = yield* opened(company, tableOptions)
    const { widest } = byLocation(options.zone, options.period)
    const rows = yield* retried(changedRows(database, company, widest, options.since)).pipe(
      Effect.mapError(failedWith(company, "the history cannot be read"))
    )
    const since = orUndefined(rows[0]?.["known_since"])
    if (since === undefined || options.since.epochMilliseconds < since) {
      return yield* new HistoryUnknown({
        companyId: company,
        since: Option.map(Option.fromUndefinedOr(since), (millis) => DateTime.makeUnsafe(millis)),
        asked: DateTime.toUtc(options.since)
      })
    }
    const pairs = yield* Effect.fromResult(pairsOf(company, rows))
    return yield* Effect.fromResult(compare(pairs, options))
  })

/** Up to which instant a history is forgotten. */
export interface PruneOptions {
  /** The first instant that stays known: at most the instant of the last commit. */
  readonly before: DateTime.DateTime
}

/** Versions that one transaction removes, so that no sync waits for long. */
const chunkSize = 5000

/**
 * Removes the versions of a company that ended before an instant, and returns their number. The copy is then known since
 * that instant. This is stored together with the first removal: if the call is interrupted, the next call removes the rest.
 * It changes no row of the copy, and nothing of a company without a history.
 */
export const pruneHistory = (
  company: CompanyId,
  { before }: PruneOptions,
  tableOptions: TableOptions = {}
): Effect.Effect<number, SyncError, SqlClient> =>
  Effect.gen(function*() {
    const database = yield* opened(company, tableOptions)
    const { dialect: { bigint, deleteSelected, greatest, least, millisOf, tables, timestamp }, sql } = database
    const removeChunk = Effect.gen(function*() {
      const [known] = yield* sql`UPDATE ${tables.sync}
        SET history_since = ${greatest}(history_since, ${least}(${timestamp(before.epochMilliseconds)}, history_last))
        WHERE company_id = ${bigint(company)} AND history_since IS NOT NULL
        RETURNING ${millisOf("history_since")} AS since`
      if (known === undefined) return 0
      // With the instant as a parameter and in the order of its index, or a database may read all versions for a few. A row
      // by its place, since those of one commit have one instant.
      const oldest = sql`WHERE company_id = ${bigint(company)} AND valid_to <= ${timestamp(numberOf(known["since"]))}
        ORDER BY valid_to LIMIT ${raw(String(chunkSize))}`
      const removed = yield* sql`${deleteSelected(tables.history, oldest)} RETURNING id`
      return removed.length
    })
    let removed = 0
    while (true) {
      const count = yield* transact(database, removeChunk).pipe(
        Effect.mapError(failedWith(company, "the history cannot be pruned"))
      )
      removed += count
      if (count < chunkSize) return removed
    }
  })

/**
 * One statement, which sees one state of the database: since when the history is known, and every row that a commit replaced
 * since then and that lies in the window or did so, with its version of then.
 */
const changedRows = (
  { dialect, sql }: Database<Dialect>,
  company: CompanyId,
  { gte, lt }: Interval,
  since: DateTime.DateTime
) => {
  const { bigint, millisOf, tables, timestamp } = dialect
  const then = timestamp(since.epochMilliseconds)
  const isOurs = sql`company_id = ${bigint(company)}`
  const isInWindow = sql`clocked_in >= ${timestamp(gte.epochMilliseconds)} AND clocked_in < ${
    timestamp(lt.epochMilliseconds)
  }`
  const wasThen = sql`valid_to > ${then} AND (valid_from IS NULL OR valid_from <= ${then})`
  const columns = rowColumns(dialect)
  return sql`WITH changed AS (
    SELECT id FROM ${tables.rows} WHERE ${isOurs} AND ${isInWindow} AND valid_from > ${then}
    UNION SELECT id FROM ${tables.history} WHERE ${isOurs} AND ${isInWindow} AND ${wasThen}
  )
  SELECT ${millisOf("s.history_since")} AS known_since, states.* FROM ${tables.sync} AS s LEFT JOIN (
    SELECT 1 AS is_now, ${columns} FROM ${tables.rows} WHERE ${isOurs} AND id IN (SELECT id FROM changed)
    UNION ALL
    SELECT 0, ${columns} FROM ${tables.history} WHERE ${isOurs} AND id IN (SELECT id FROM changed) AND ${wasThen}
  ) AS states ON true WHERE s.company_id = ${bigint(company)}`
}

/** The states of each row, by id. A row is never removed but with all others of its company. */
const pairsOf = (company: CompanyId, rows: ReadonlyArray<Row>): Result.Result<ReadonlyArray<Pair>, SyncError> => {
  const then = new Map<number, State>()
  const now = new Map<number, State>()
  for (const row of rows) {
    if (row["id"] === null) continue
    const stored = rowOf(row)
    const punch = punchOf(company, stored)
    if (Result.isFailure(punch)) return Result.fail(punch.failure)
    const states = numberOf(row["is_now"]) === 1 ? now : then
    states.set(stored.id, { punch: punch.success, isGone: stored.isGone })
  }
  const byId = [...now].toSorted(([one], [other]) => one - other)
  return Result.succeed(byId.map(([id, after]) => ({ before: then.get(id), after })))
}

/** A punch of a copy, at one time. */
interface State {
  readonly punch: TimePunch
  readonly isGone: boolean
}

/** A punch of the copy, then and now. */
interface Pair {
  /** `undefined`: it was not in the copy. */
  readonly before: State | undefined
  readonly after: State
}

/** The changes that the pairs make, with their sums. */
const compare = <E>(
  pairs: Iterable<Pair>,
  options: ChangesOptions<E>
): Result.Result<Changes, E | Labor.SumOverflow> => {
  const counts = counter(byLocation(options.zone, options.period))
  const punches: Array<PunchChange & { readonly shown: TimePunch }> = []
  const sums = new Map<UserId, Sums>()
  for (const { after, before } of pairs) {
    const [then, now] = [counts(before), counts(after)]
    if (Result.isFailure(then)) return Result.fail(then.failure)
    if (Result.isFailure(now)) return Result.fail(now.failure)
    const kind = kindOf(before, then.success, after, now.success)
    if (kind === undefined) continue
    for (const [punch, sign] of [[then.success, -1], [now.success, 1]] as const) {
      const overflow = punch === undefined ? undefined : add(sums, punch, sign, options)
      if (overflow !== undefined) return Result.fail(overflow)
    }
    const shown = now.success ?? then.success ?? after.punch
    const { id, userId } = shown
    punches.push({ id, userId, kind, before: shownOf(before, kind), after: shownOf(after, kind), shown })
  }
  return Result.succeed({
    punches: punches
      .toSorted(({ shown: one }, { shown: other }) =>
        one.userId - other.userId || one.clockedIn.epochMilliseconds - other.clockedIn.epochMilliseconds ||
        one.id - other.id
      )
      .map(({ shown: _, ...change }) => change),
    people: [...sums].map(differenceOf).filter(isSome).toSorted((one, other) => one.userId - other.userId)
  })
}

/** The punch, if it counts in the period. */
const counter =
  <E>({ contains, widest }: LocalPeriods<E>) => (state: State | undefined): Result.Result<TimePunch | undefined, E> => {
    if (state === undefined || !isVisible(state)) return Result.succeed(undefined)
    const { punch } = state
    const millis = punch.clockedIn.epochMilliseconds
    // Outside the widest window no zone can matter, so a missing one is not an error.
    if (millis < widest.gte.epochMilliseconds || millis >= widest.lt.epochMilliseconds) return Result.succeed(undefined)
    return Result.map(contains(punch), (isWithin) => isWithin ? punch : undefined)
  }

const isVisible = ({ isGone, punch }: State): boolean => !isGone && !punch.deleted

/** How a punch changed for the period; `undefined`: it did not. */
const kindOf = (
  before: State | undefined,
  then: TimePunch | undefined,
  after: State,
  now: TimePunch | undefined
): ChangeKind | undefined => {
  if (then !== undefined && now !== undefined) return isSame(then, now) ? undefined : "edited"
  if (now !== undefined) {
    return before === undefined
      ? "added"
      : before.punch.deleted
      ? "undeleted"
      : before.isGone
      ? "back"
      : "movedIn"
  }
  if (then === undefined) return undefined
  return after.punch.deleted ? "deleted" : after.isGone ? "gone" : "movedOut"
}

/** A punch of which only `modified` differs was touched: nothing that is paid or printed changed. */
const isSame = (one: TimePunch, other: TimePunch): boolean => Equal.equals({ ...one, modified: other.modified }, other)

/** What the service no longer shows has no state. */
const shownOf = (state: State | undefined, kind: ChangeKind): Option.Option<TimePunch> =>
  state === undefined || (state.isGone && (kind === "gone" || kind === "back"))
    ? Option.none()
    : Option.some(state.punch)

/** Time in milliseconds, amounts in cents. */
interface Sums {
  net: number
  cost: number
  tips: number
}

/** Adds a punch or takes it away, or returns the sum that overflows. */
const add = (
  people: Map<UserId, Sums>,
  punch: TimePunch,
  sign: 1 | -1,
  options: Labor.LaborOptions
): Labor.SumOverflow | undefined => {
  const sums = people.get(punch.userId) ?? { net: 0, cost: 0, tips: 0 }
  people.set(punch.userId, sums)
  const { durations } = WorkedTime.measure(punch, options)
  const net = Option.match(durations, { onNone: () => 0, onSome: ({ net }) => Duration.toMillis(net) })
  // Unknown without durations; with them, no safe integer.
  const cost = Option.getOrElse(Labor.cost(punch, options), () => Option.isNone(durations) ? 0 : Infinity)
  sums.net += sign * net
  sums.cost += sign * cost
  sums.tips += sign * punch.tips
  const field = (["net", "cost", "tips"] as const).find((name) => !Number.isSafeInteger(sums[name]))
  return field === undefined ? undefined : new Labor.SumOverflow({ field, punchId: punch.id })
}

const differenceOf = ([userId, { cost, net, tips }]: readonly [UserId, Sums]): PersonChange => ({
  userId,
  minutes: net / 60_000,
  cents: cost,
  tips
})

const isSome = ({ cents, minutes, tips }: PersonChange): boolean => minutes !== 0 || cents !== 0 || tips !== 0
