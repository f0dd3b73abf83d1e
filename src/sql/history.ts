/** What changed in a period since an instant, from the versions that a history keeps; and how a history is pruned. */
import * as Arr from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Row } from "effect/sql/SqlConnection"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import type { InvalidRequest } from "../ApiError.ts"
import type { Company } from "../Company.ts"
import { Cents, type CompanyId, TimePunchId, UserId } from "../Ids.ts"
import { type Database, numberOf, orUndefined, raw } from "../internal/sql/dialect.ts"
import { inSnapshot, retried, transact } from "../internal/sql/transaction.ts"
import { openWord } from "../internal/wire/schema.ts"
import * as Amounts from "../payroll/Amounts.ts"
import {
  byLocation,
  type DayRule,
  type DayRules,
  type Interval,
  isDayRuleOrRules,
  type LocalPeriods
} from "../payroll/DayRule.ts"
import * as Labor from "../payroll/Labor.ts"
import { type Checks, isFunction, must, orFail, refusalOf } from "../payroll/options.ts"
import * as WorkedTime from "../payroll/WorkedTime.ts"
import type { SyncError } from "../sync/SyncError.ts"
import { TimePunch } from "../TimePunch.ts"
import { isOnlyTouched } from "./columns.ts"
import { companyIdOf, failedWith, opened } from "./connection.ts"
import type { Dialect } from "./Dialect.ts"
import { type HistoryUnavailable, requireKnown } from "./known.ts"
import { isAtInstant } from "./read.ts"
import { punchOf, type PunchState, rowColumns, rowOf } from "./row.ts"

/**
 * Of which period, and since when. `asOf` replaces the clock-out of an open punch, both in the copy of `since` and in the
 * copy of now.
 */
export interface ChangesOptions<out E = never> extends Labor.LaborOptions {
  /** The day rule of all locations, or `Period.dayRules`: each location by its own. */
  readonly dayRule: DayRule | DayRules<E>
  /** The period, by a day rule: `(dayRule) => Period.week(dayRule, date)`. */
  readonly period: (dayRule: DayRule) => Interval
  /** The instant to compare with, by the clock of the database, such as `history.last` of `status` at the close. */
  readonly since: DateTime.DateTime
}

const isInstant = must(DateTime.isDateTime, "a DateTime")

const changesChecks: Checks<ChangesOptions<unknown>> = {
  ...Labor.laborChecks,
  dayRule: isDayRuleOrRules,
  period: isFunction(),
  since: isInstant
}

/**
 * How a punch differs from what it was. A punch counts in a period if it is neither deleted nor missing, and was clocked in
 * during the period of its location.
 *
 * - `edited`: it counted then and counts now, and something other than `modified` differs.
 * - `added`: it counts now, and was not in the copy.
 * - `movedIn`, `movedOut`: its clock-in or location was moved into the period, or out of it.
 * - `deleted`, `undeleted`: it counted and is now deleted, or was deleted and now counts.
 * - `missing`, `back`: it counted and is now missing, or was missing and now counts. A punch that is also deleted is `deleted` or
 *   `undeleted` instead.
 */
export const ChangeKind = Schema.Literals([
  "edited",
  "added",
  "movedIn",
  "movedOut",
  "deleted",
  "undeleted",
  "missing",
  "back"
])

export type ChangeKind = typeof ChangeKind.Type

/** A punch of the period that is not what it was. */
export class PunchChange extends Schema.Opaque<PunchChange>()(Schema.Struct({
  /** The punch. */
  punchId: TimePunchId,
  /** The person of the punch now if it counts now, else the person then. */
  userId: UserId,
  /** How it differs. */
  kind: openWord(ChangeKind),
  /** The punch as it was; `None` if it was not in the copy, or was missing. */
  before: Schema.OptionFromNullOr(TimePunch.Wire),
  /** The punch as it is; `None` if it is missing. */
  after: Schema.OptionFromNullOr(TimePunch.Wire)
})) {}

/** The difference of a person in a period: the sums now minus the sums then. */
export class PersonChange extends Schema.Opaque<PersonChange>()(Schema.Struct({
  /** The person. */
  userId: UserId,
  /** Net time, in milliseconds when encoded; negative if it is less now. A punch of unknown length counts as none. */
  net: Schema.DurationFromMillis,
  /** Wages in cents, rounded punch by punch. Without tips. */
  cost: Cents,
  /** Tips in cents. */
  tips: Cents
})) {}

/** What changed in a period. */
export class Changes extends Schema.Opaque<Changes>()(Schema.Struct({
  /** Sorted by person, clock-in and id. A punch that counts neither then nor now is not among them. */
  punches: Schema.Array(PunchChange),
  /** Sorted by person. A person whose sums are the same is not among them. */
  people: Schema.Array(PersonChange)
})) {}

/**
 * What changed in a period since an instant, such as the one at which it was closed: each punch that is not what it was, and
 * for each person the sums now minus the sums then. Both are read in one state of the database.
 *
 * Law: the sums of the punches that counted at that instant, plus the differences, are the sums of those that count now, for
 * every person.
 *
 * Fails with `HistoryUnavailable` if the copy of that instant is not known; with the error of `dayRule` for a location without one;
 * with `Store` if the database fails, or a row is not a valid punch; with `SumOverflow` if a sum exceeds 2^53.
 *
 * **Example** (What changed since the week was closed)
 *
 * ```ts
 * import { DateTime } from "effect"
 * import { BusinessDate, CompanyId } from "effect-time-punches"
 * import { Period } from "effect-time-punches/payroll"
 * import { PunchCopy } from "effect-time-punches/sql"
 *
 * export const changes = PunchCopy.changes(CompanyId.make(7), {
 *   dayRule: DateTime.zoneMakeNamedUnsafe("America/New_York"),
 *   period: (dayRule) => Period.week(dayRule, BusinessDate.make("2026-03-09")),
 *   since: DateTime.makeUnsafe("2026-03-17T09:00:00Z"),
 *   rounding: "halfUp"
 * })
 * ```
 */
export const changes = <E = never>(
  of: CompanyId | Company,
  options: ChangesOptions<E>
): Effect.Effect<Changes, SyncError | HistoryUnavailable | InvalidRequest | E | Labor.SumOverflow, SqlClient> =>
  Effect.suspend(() => {
    const people = makePeople(options)
    return Effect.map(
      Stream.runCollect(readChanges(companyIdOf(of), comparisonOf(options), people)),
      (punches) => ({ punches, people: people.differences() })
    )
  }).pipe(
    retried,
    (read) => Effect.andThen(orFail(refusalOf(options, changesChecks, companyIdOf(of))), read),
    Effect.mapError((error) =>
      isSqlError(error) ? failedWith(companyIdOf(of), "the history cannot be read")(error) : error
    )
  )

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
  of: CompanyId | Company,
  options: PruneOptions
): Effect.Effect<number, SyncError | InvalidRequest, SqlClient> =>
  Effect.gen(function*() {
    const company = companyIdOf(of)
    yield* orFail(refusalOf(options, { before: isInstant }, company))
    const { before } = options
    const database = yield* opened(company)
    const { dialect: { bigint, deleteSelected, greatest, least, millisOf, tables, timestamp }, sql } = database
    const until = sql`${least}(${timestamp(before.epochMilliseconds)}, history_last)`
    const removeChunk = Effect.gen(function*() {
      const [known] = yield* sql`UPDATE ${tables.sync}
        SET known_since = CASE WHEN known_since IS NOT NULL THEN ${greatest}(known_since, ${until}) END
        WHERE company_id = ${bigint(company)} AND history_since IS NOT NULL
        RETURNING ${millisOf("known_since")} AS since, ${millisOf("history_last")} AS last`
      if (known === undefined) return 0
      // While the copy is not known, all that ended before may go.
      const since = orUndefined(known["since"]) ?? Math.min(before.epochMilliseconds, numberOf(known["last"]))
      // With the instant as a parameter and in the order of its index, or a database may read all versions for a few. A row
      // by its place, since those of one commit have one instant.
      const oldest = sql`WHERE company_id = ${bigint(company)} AND valid_to <= ${timestamp(since)}
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

/** What is compared with what it was: the punches of a period, by the day rule of each location. @internal */
export interface Comparison<out E = never> extends Pick<LocalPeriods<E>, "contains" | "widest"> {
  /** The instant to compare with, by the clock of the database. */
  readonly since: DateTime.DateTime
  /** Whether a punch outside the period is shown too, without a part in the sums. Default: none is. */
  readonly isShown?: (punch: TimePunch) => boolean
}

/** What `changes` compares. @internal */
export const comparisonOf = <E>(
  { dayRule, period, since }: Pick<ChangesOptions<E>, "dayRule" | "period" | "since">
): Comparison<E> => ({
  ...byLocation(dayRule, period),
  since
})

/**
 * The changes of `changes` in their order, and their sums into `people`. Rows are read as they are compared; in memory are the
 * changes of one person, and those whose person changed. @internal
 */
export const readChanges = <E>(
  company: CompanyId,
  comparison: Comparison<E>,
  people: People
): Stream.Stream<PunchChange, SyncError | HistoryUnavailable | SqlError | E | Labor.SumOverflow, SqlClient> =>
  Stream.unwrap(Effect.gen(function*() {
    const database = yield* opened(company)
    const { since, widest } = comparison
    const rows = statesOf(database, company, widest, since).stream
    const known = requireKnown(database, company, since)
    const { end, step } = makeComparer(company, comparison, people)
    const changes = Stream.unwrap(Effect.as(known, rows)).pipe(
      Stream.chunks,
      Stream.mapEffect((rows) => Effect.fromResult(step(rows))),
      Stream.concat(Stream.fromEffect(Effect.suspend(() => Effect.fromResult(end())))),
      Stream.filter(Arr.isReadonlyArrayNonEmpty),
      Stream.flattenArray
    )
    return inSnapshot(database, changes)
  }))

/**
 * The states of every row that a commit replaced since an instant and that lies in the window or did so: as it is, then as it
 * was. Ordered by the least id of its people, of then and of now, so that the changes of each person follow one another.
 */
const statesOf = (
  database: Database<Dialect>,
  company: CompanyId,
  { gte, lt }: Interval,
  since: DateTime.DateTime
) => {
  const { dialect: { bigint, tables, timestamp }, sql } = database
  const isOurs = sql`company_id = ${bigint(company)}`
  const isInWindow = sql`clocked_in >= ${timestamp(gte.epochMilliseconds)}
      AND clocked_in < ${timestamp(lt.epochMilliseconds)}`
  const then = isAtInstant(database, since)
  const columns = rowColumns(database.dialect)
  return sql<Row>`WITH changed AS (
    SELECT id
    FROM ${tables.rows}
    WHERE ${isOurs} AND ${isInWindow} AND valid_from > ${timestamp(since.epochMilliseconds)}
    UNION
    SELECT id
    FROM ${tables.history}
    WHERE ${isOurs} AND ${isInWindow} AND ${then.version}
  ), states AS (
    SELECT 1 AS is_now, ${columns}
    FROM ${tables.rows}
    WHERE ${isOurs} AND id IN (SELECT id FROM changed)
    UNION ALL
    SELECT 0, ${columns}
    FROM ${tables.history}
    WHERE ${isOurs} AND id IN (SELECT id FROM changed) AND ${then.version}
  )
  SELECT states.*, min(user_id) OVER (PARTITION BY id) AS first_user
  FROM states
  ORDER BY first_user, id, is_now DESC`
}

/** A change, and the version of the punch that gives it its place. */
interface Placed {
  readonly change: PunchChange
  readonly shown: TimePunch
}

/** Compares states in the order of `statesOf`. A row is never removed unless all others of its company are. */
const makeComparer = <E>(company: CompanyId, comparison: Comparison<E>, people: People) => {
  const counts = counter(comparison)
  const { isShown = Function.constFalse } = comparison
  const shows = (state: PunchState | undefined): TimePunch | undefined =>
    state !== undefined && isVisible(state) && isShown(state.punch) ? state.punch : undefined
  /** The changes of people that may have more. */
  const waiting = new Map<UserId, Array<Placed>>()
  let user: number | undefined
  let pair: { readonly after: PunchState; before: PunchState | undefined } | undefined

  const closePair = (): E | Labor.SumOverflow | undefined => {
    if (pair === undefined) return undefined
    const { after, before } = pair
    pair = undefined
    const [then, now] = [counts(before), counts(after)]
    if (Result.isFailure(then)) return then.failure
    if (Result.isFailure(now)) return now.failure
    const counted = kindOf(before, then.success, after, now.success)
    if (counted !== undefined) {
      const overflow = people.add(then.success, -1) ?? people.add(now.success, 1)
      if (overflow !== undefined) return overflow
    }
    const kind = counted ?? kindOf(before, shows(before), after, shows(after))
    if (kind === undefined) return undefined
    const shown = now.success ?? then.success ?? shows(after) ?? shows(before) ?? after.punch
    const { id, userId } = shown
    const change = { punchId: id, userId, kind, before: shownOf(before, kind), after: shownOf(after, kind) }
    const found = waiting.get(userId)
    if (found === undefined) waiting.set(userId, [{ change, shown }])
    else found.push({ change, shown })
    return undefined
  }

  /** The changes of the people before this one, who have no more. */
  const takeBefore = (user: number): ReadonlyArray<PunchChange> =>
    [...waiting.keys()].filter((each) => each < user).toSorted((one, other) => one - other).flatMap((each) => {
      const found = waiting.get(each) ?? []
      waiting.delete(each)
      return found.toSorted(({ shown: one }, { shown: other }) =>
        one.clockedIn.epochMilliseconds - other.clockedIn.epochMilliseconds || one.id - other.id
      ).map(({ change }) => change)
    })

  const step = (
    rows: ReadonlyArray<Row>
  ): Result.Result<ReadonlyArray<PunchChange>, SyncError | E | Labor.SumOverflow> => {
    const done: Array<PunchChange> = []
    for (const row of rows) {
      const stored = rowOf(row)
      const punch = punchOf(company, stored)
      if (Result.isFailure(punch)) return Result.fail(punch.failure)
      const state = { punch: punch.success, isMissing: stored.isMissing }
      if (numberOf(row["is_now"]) === 0) {
        if (pair !== undefined && pair.after.punch.id === state.punch.id) pair.before = state
        continue
      }
      const failure = closePair()
      if (failure !== undefined) return Result.fail(failure)
      const firstUser = numberOf(row["first_user"])
      if (firstUser !== user) done.push(...takeBefore(firstUser))
      user = firstUser
      pair = { after: state, before: undefined }
    }
    return Result.succeed(done)
  }

  const end = (): Result.Result<ReadonlyArray<PunchChange>, E | Labor.SumOverflow> => {
    const failure = closePair()
    return failure === undefined ? Result.succeed(takeBefore(Infinity)) : Result.fail(failure)
  }

  return { step, end }
}

/** The punch, if it counts in the period. */
const counter =
  <E>({ contains, widest }: Comparison<E>) =>
  (state: PunchState | undefined): Result.Result<TimePunch | undefined, E> => {
    if (state === undefined || !isVisible(state)) return Result.succeed(undefined)
    const { punch } = state
    const millis = punch.clockedIn.epochMilliseconds
    // Outside the widest window no zone can matter, so a missing one is not an error.
    if (millis < widest.gte.epochMilliseconds || millis >= widest.lt.epochMilliseconds) return Result.succeed(undefined)
    return Result.map(contains(punch), (isWithin) => isWithin ? punch : undefined)
  }

const isVisible = ({ isMissing, punch }: PunchState): boolean => !isMissing && !punch.deleted

/** How a punch changed for the period; `undefined`: it did not. */
const kindOf = (
  before: PunchState | undefined,
  then: TimePunch | undefined,
  after: PunchState,
  now: TimePunch | undefined
): ChangeKind | undefined => {
  if (then !== undefined && now !== undefined) return isOnlyTouched(then, now) ? undefined : "edited"
  if (now !== undefined) {
    return before === undefined
      ? "added"
      : before.punch.deleted
      ? "undeleted"
      : before.isMissing
      ? "back"
      : "movedIn"
  }
  if (then === undefined) return undefined
  return after.punch.deleted ? "deleted" : after.isMissing ? "missing" : "movedOut"
}

/** What the service no longer shows has no state. */
const shownOf = (state: PunchState | undefined, kind: ChangeKind): Option.Option<TimePunch> =>
  state === undefined || (state.isMissing && (kind === "missing" || kind === "back"))
    ? Option.none()
    : Option.some(state.punch)

/** Time in milliseconds, amounts in cents. */
interface ChangeSums {
  net: number
  cost: number
  tips: number
}

/** The differences of people. @internal */
export type People = ReturnType<typeof makePeople>

/** @internal */
export const makePeople = (options: Labor.LaborOptions) => {
  const people = new Map<UserId, ChangeSums>()
  return {
    /** Adds a punch or takes it away, or returns the sum that overflows. */
    add: (punch: TimePunch | undefined, sign: 1 | -1): Labor.SumOverflow | undefined => {
      if (punch === undefined) return undefined
      const sums = people.get(punch.userId) ?? { net: 0, cost: 0, tips: 0 }
      people.set(punch.userId, sums)
      // Unknown time adds nothing.
      const net = WorkedTime.measureMillis(punch, options).times?.net ?? 0
      const cost = Labor.amountOf(net, punch, options.rounding)
      sums.net += sign * net
      sums.cost += sign * (Number.isSafeInteger(cost) ? cost : Infinity)
      sums.tips += sign * punch.tips
      const field = Amounts.overflow(sums)
      return field === undefined ? undefined : new Labor.SumOverflow({ field, punchId: punch.id })
    },
    differences: (): ReadonlyArray<PersonChange> =>
      [...people].filter(([, { cost, net, tips }]) => net !== 0 || cost !== 0 || tips !== 0)
        .toSorted(([one], [other]) => one - other)
        .map(([userId, { cost, net, tips }]) => ({
          userId,
          net: Duration.millis(net),
          cost: Cents.make(cost),
          tips: Cents.make(tips)
        }))
  }
}
