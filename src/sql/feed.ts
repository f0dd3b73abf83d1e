/** A feed of a copy: its state, then each change in the order of the commits, from any position on and without a gap. */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { SqlClient } from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import { InvalidRequest } from "../ApiError.ts"
import type { Company } from "../Company.ts"
import type { CompanyId } from "../Ids.ts"
import { type Database, numberOf, raw } from "../internal/sql/dialect.ts"
import { isTransient, messageOf, sqlErrorOf } from "../internal/sql/failure.ts"
import { inSnapshot, retried } from "../internal/sql/transaction.ts"
import { checkOptions } from "../listing/request.ts"
import type { SyncError } from "../sync/SyncError.ts"
import type { TimePunch } from "../TimePunch.ts"
import { isOnlyTouched } from "./columns.ts"
import { companyIdOf, failedWith, opened } from "./connection.ts"
import type { Dialect } from "./Dialect.ts"
import type { FeedEvent } from "./feedEvent.ts"
import {
  beforeAll,
  type FeedKind,
  type FeedPosition,
  type Place,
  placeOf,
  type StatePlace,
  textOf,
  type Version,
  wholeInstant
} from "./feedPosition.ts"
import { type HistoryUnavailable, readKnown, unavailable } from "./known.ts"
import { isAtInstant } from "./read.ts"
import { missingPlace, punchesOf, type PunchState, punchStatesOf, rowColumns } from "./row.ts"

/** Where a feed begins, and whether it ends. */
export interface FeedOptions {
  /** Begins with the event after this position. Default: with the state of the copy as `present`, then what changes. */
  readonly after?: FeedPosition | undefined
  /**
   * Begins with the first change after this instant, by the clock of the database; one after the last commit is that commit. Without
   * `after`, and without a state.
   */
  readonly since?: DateTime.DateTime | undefined
  /** Looks for new events at this interval, at least 100 ms, and never ends. Default: ends after the last event. */
  readonly follow?: Duration.Input | undefined
}

/** Events of one snapshot. */
const batchSize = 1000

const leastInterval = Duration.millis(100)

/**
 * Tells what changes in the copy of a company, one event for each punch that a commit changed, in the order of the commits, then of
 * the ids. Needs a copy with a history.
 *
 * Laws: the punches after the event at a position, with the later events applied to them (`after` replaces, `None` removes), are
 * the rows of the copy that are not missing. Each version that was committed while the history was kept is one event. A
 * consumer that keeps the position of an event after it has handled it gets each event at least once.
 *
 * It reads up to a thousand events in a short snapshot, and holds up neither a sync nor a vacuum. With `follow` it waits for a
 * database that is locked or away, for the end of a first load, and for a replica that does not have the commit of the position
 * yet, and logs a warning once a minute.
 *
 * Fails with `HistoryUnavailable` if the copy of the position is not known: no history is kept, changes after it were pruned, the
 * copy was erased, rows were removed by hand, or the position is of another database. Fails with `InvalidRequest` for a position of
 * another company or an interval that is too short, and with `Store` if the database fails or a row is not a valid punch.
 *
 * **Example** (Alert when an approved punch is edited)
 *
 * ```ts
 * import { Console, Option, Stream } from "effect"
 * import { CompanyId } from "effect-time-punches"
 * import { PunchCopy } from "effect-time-punches/sql"
 *
 * export const alerts = PunchCopy.feed(CompanyId.make(7), { follow: "1 second" }).pipe(
 *   Stream.filter(({ before, kind }) => kind === "edited" && Option.exists(before, ({ approved }) => approved)),
 *   Stream.runForEach(({ punchId, userId }) => Console.log(`approved punch ${punchId} of person ${userId} was edited`))
 * )
 * ```
 */
export const feed = (
  company: CompanyId | Company,
  options: FeedOptions = {}
): Stream.Stream<FeedEvent, SyncError | HistoryUnavailable | InvalidRequest, SqlClient> =>
  feedInBatches(companyIdOf(company), options, batchSize)

/** `feed` with at most `size` events of one snapshot. @internal */
export const feedInBatches = (
  company: CompanyId,
  options: FeedOptions,
  size: number
): Stream.Stream<FeedEvent, SyncError | HistoryUnavailable | InvalidRequest, SqlClient> =>
  Stream.unwrap(Effect.gen(function*() {
    const { after, since } = options
    const begin = after === undefined ? undefined : placeOf(after)
    const refused = (field: string, detail: string) => new InvalidRequest({ companyId: company, field, detail })
    if (begin !== undefined && begin.company !== company) {
      return yield* refused("after", `is a position of company ${begin.company}`)
    }
    if (begin !== undefined && since !== undefined) return yield* refused("since", "goes without after")
    const asked = yield* ask(company, options)
    const { database, interval, look, patient, say } = asked
    const first = begin ?? (since === undefined
      ? yield* Effect.flatMap(
        knownNow(asked),
        ({ last }) => patient(placeAt(database, { company, phase: "state", at: last, id: beforeAll }))
      )
      : yield* placeBehind(asked, upTo(since)))
    /** Waits for a commit after the one that was seen, or for the end of the history. A commit that changed no punch is one too. */
    const nextCommit = (interval: Duration.Duration, { at }: Place) =>
      Effect.sleep(interval).pipe(
        Effect.andThen(look),
        Effect.repeat({ until: ({ last, since }) => since === undefined || last !== at })
      )
    return Stream.paginate(
      first,
      Effect.fnUntraced(function*(place: Place) {
        const { events, isBehind, next, reached } = yield* patient(readBatch(asked, place, size))
        if (next !== undefined) return [events, Option.some(next)] as const
        if (interval === undefined) return [events, Option.none()] as const
        if (isBehind) {
          yield* say(`the feed of company ${company} waits: its database does not have the commit of the position yet`)
        }
        if (events.length === 0) yield* nextCommit(interval, reached)
        return [events, Option.some(reached)] as const
      })
    )
  })).pipe(
    Stream.mapError((error) => isSqlError(error) ? failedWith(company, "the changes cannot be read")(error) : error)
  )

/**
 * The position of now, or of `since`: a feed after it begins with what the next commit changes. A program that may stop before its
 * first event stores this position when it starts. Waits and fails as `feed` does.
 */
export const feedPosition = (
  company: CompanyId | Company,
  options: Omit<FeedOptions, "after"> = {}
): Effect.Effect<FeedPosition, SyncError | HistoryUnavailable | InvalidRequest, SqlClient> =>
  positionAt(companyIdOf(company), upTo(options.since), options)

/** The position behind all changes up to an instant, which `choose` takes from what is known. @internal */
export const positionAt = (
  company: CompanyId,
  choose: Choose,
  options: Omit<FeedOptions, "after"> = {}
): Effect.Effect<FeedPosition, SyncError | HistoryUnavailable | InvalidRequest, SqlClient> =>
  ask(company, options).pipe(
    Effect.flatMap((asked) => placeBehind(asked, choose)),
    Effect.map(textOf),
    Effect.mapError((error) => isSqlError(error) ? failedWith(company, "the status cannot be read")(error) : error)
  )

/** An instant of a history that is known since one and ends with another. */
type Choose = (known: { readonly since: number; readonly last: number }) => number

const upTo = (since: DateTime.DateTime | undefined): Choose => ({ last }) =>
  Math.min(since?.epochMilliseconds ?? last, last)

type Asked = Effect.Success<ReturnType<typeof ask>>

/** The database of a company, and how long a feed with these options waits for it. */
const ask = Effect.fnUntraced(function*(company: CompanyId, options: FeedOptions) {
  yield* Effect.fromResult(checkOptions(company, options, { after: true, since: true, follow: true }))
  const { follow, since } = options
  const refused = (field: string, detail: string) => new InvalidRequest({ companyId: company, field, detail })
  if (since !== undefined && !DateTime.isDateTime(since)) return yield* refused("since", "must be a DateTime")
  const interval = follow === undefined
    ? undefined
    : Option.getOrElse(Duration.fromInput(follow), () => Duration.zero)
  if (interval !== undefined && Duration.isLessThan(interval, leastInterval)) {
    return yield* refused("follow", "is at least 100 ms")
  }
  const say = makeSayer()
  const patient = interval === undefined ? retried : waiting(interval, company, say)
  const database = yield* patient(Effect.suspend(() => opened(company)))
  return { company, database, interval, look: patient(readKnown(database, company)), patient, say }
})

/** What is known once there is a history. With an interval it waits for a first load to end. */
const knownNow = Effect.fnUntraced(function*({ company, interval, look, say }: Asked) {
  while (true) {
    const known = yield* look
    const { last, since } = known
    if (since !== undefined) return { since, last }
    if (interval === undefined || !known.mayBegin) return yield* unavailable(company, known)
    yield* say(`the feed of company ${company} waits: its first load with a history has not ended`)
    yield* Effect.sleep(interval)
  }
})

/** The place behind all changes up to an instant. */
const placeBehind = (asked: Asked, choose: Choose) =>
  Effect.flatMap(knownNow(asked), (known) => {
    const { company, database, patient } = asked
    return patient(placeAt(database, { company, phase: "instant", at: choose(known), id: wholeInstant }))
  })

/** Logs a text as a warning, unless one was logged in the last minute. */
const makeSayer = () => {
  let saidAt = -Infinity
  return (text: string) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (now - saidAt < 60_000) return Effect.void
      saidAt = now
      return Effect.logWarning(text)
    })
}

/** Attempts as long as the database is locked or away. */
const waiting =
  (interval: Duration.Duration, company: CompanyId, say: (text: string) => Effect.Effect<void>) =>
  <A, E, R>(self: Effect.Effect<A, E | SqlError, R>): Effect.Effect<A, E | SqlError, R> => {
    const attempt: Effect.Effect<A, E | SqlError, R> = Effect.catch(retried(self), (error) => {
      const found = sqlErrorOf(error)
      return found === undefined || !isTransient(found)
        ? Effect.fail(error)
        : say(`the feed of company ${company} waits for its database: ${messageOf(found)}`).pipe(
          Effect.andThen(Effect.sleep(interval)),
          Effect.andThen(attempt)
        )
    })
    return attempt
  }

/**
 * The events of one snapshot after a place, and the place of the next batch; without a `next` there are no more. The copy may be
 * another one since the place was given out, or since the last batch.
 */
const readBatch = ({ company, database, interval }: Asked, place: Place, size: number) =>
  Stream.runHead(inSnapshot(
    database,
    Stream.fromEffect(Effect.gen(function*() {
      const known = yield* readKnown(database, company)
      const { last, since, unbroken } = known
      const isBehind = place.at > last
      if (since !== undefined && isBehind && interval !== undefined) {
        // A feed that follows waits for a replica.
        return { events: [], next: undefined, reached: place, isBehind }
      }
      if (since === undefined || isBehind || place.at < unbroken || !(yield* isOfThisCopy(database, place, since))) {
        return yield* unavailable(company, known, DateTime.makeUnsafe(place.at))
      }
      const batch = place.phase === "state"
        ? yield* readState(database, company, place, size)
        : yield* readChanges(database, company, place, size)
      const end = batch.events.at(-1)
      // Without events the next one begins at the last commit: a history may be pruned up to there, although no punch has changed
      // for long.
      const quiet: Place = { company, phase: "instant", at: last, id: wholeInstant, newest: newestIn(place) }
      return { ...batch, reached: end === undefined ? quiet : placeOf(end.position) ?? quiet, isBehind }
    }))
  )).pipe(
    Effect.map(Option.getOrThrow)
  )

/** A place that names the last change up to its instant. */
const placeAt = (database: Database<Dialect>, place: Omit<StatePlace, "newest">): Effect.Effect<StatePlace, SqlError> =>
  Effect.map(newestOf(database, place), (newest) => ({ ...place, newest }))

/** The last change up to the instant of a place, which no pruning removes; 0 for a copy in which nothing has changed. */
const newestOf = (
  { dialect: { bigint, millisOf, tables, timestamp }, sql }: Database<Dialect>,
  { at, company }: Pick<Place, "at" | "company">
): Effect.Effect<Version, SqlError> => {
  const isOurs = sql`company_id = ${bigint(company)}`
  const lastOf = (table: Fragment) =>
    sql`SELECT * FROM (SELECT valid_from, id FROM ${table}
      WHERE ${isOurs} AND valid_from IS NOT NULL AND valid_from <= ${timestamp(at)}
      ORDER BY valid_from DESC, id DESC LIMIT 1) AS last`
  return Effect.map(
    sql`SELECT ${millisOf("valid_from")} AS at, id FROM (
      ${lastOf(tables.rows)} UNION ALL ${lastOf(tables.history)}
    ) AS versions ORDER BY valid_from DESC, id DESC LIMIT 1`,
    ([row]) => ({ at: numberOf(row?.["at"] ?? 0), id: numberOf(row?.["id"] ?? 0) })
  )
}

/** The last change that a place has. */
const newestIn = (place: Place): Version => place.phase === "change" ? { at: place.at, id: place.id } : place.newest

/**
 * Whether the copy has what a place names, and all that came after it. One that was restored from a backup, or erased, does not. If
 * the newest version of an instant is in a backup, all before it are too, and later commits up to the instant changed nothing. A
 * pruned history, known since a later instant, keeps the newest version of each punch: if the last change before is that of the
 * place, nothing between was missed. That holds within the commit of that instant too, whose punches have lost what they were.
 */
const isOfThisCopy = Effect.fnUntraced(function*(database: Database<Dialect>, place: Place, since: number) {
  if (place.phase !== "change" || place.at <= since) {
    const { at, id } = yield* newestOf(database, { company: place.company, at: Math.max(place.at, since) })
    const own = newestIn(place)
    return own.at === at && own.id === id
  }
  const { dialect: { bigint, tables, timestamp }, sql } = database
  const is = sql`company_id = ${bigint(place.company)} AND id = ${bigint(place.id)} AND valid_from = ${
    timestamp(place.at)
  }`
  const found = yield* sql`SELECT 1 FROM ${tables.rows} WHERE ${is}
    UNION ALL SELECT 1 FROM ${tables.history} WHERE ${is}`
  return found.length > 0
})

/** The rows of an instant by id: of a range of ids, each as it was then. A row is never removed. */
const readState = Effect.fnUntraced(
  function*(database: Database<Dialect>, company: CompanyId, place: StatePlace, size: number) {
    const { dialect, sql } = database
    const { bigint, tables } = dialect
    const isOurs = sql`company_id = ${bigint(company)} AND id > ${bigint(place.id)}`
    const [end] = yield* sql`SELECT id FROM ${tables.rows} WHERE ${isOurs}
    ORDER BY id LIMIT 1 OFFSET ${raw(String(size - 1))}`
    const lastId = end === undefined ? undefined : numberOf(end["id"])
    const isInBatch = lastId === undefined ? isOurs : sql`${isOurs} AND id <= ${bigint(lastId)}`
    const then = isAtInstant(database, DateTime.makeUnsafe(place.at))
    const selected = rowColumns(dialect)
    const rows = yield* sql`SELECT ${selected} FROM ${tables.rows}
      WHERE ${isInBatch} AND missing_at IS NULL AND ${then.row}
    UNION ALL SELECT ${selected} FROM ${tables.history}
      WHERE ${isInBatch} AND missing_at IS NULL AND ${then.version}
    ORDER BY id`.values
    const punches = yield* Effect.fromResult(punchesOf(company, rows))
    const at = DateTime.makeUnsafe(place.at)
    const events = punches.map((punch): FeedEvent => ({
      companyId: company,
      position: textOf({ ...place, id: punch.id }),
      at,
      kind: "present",
      punchId: punch.id,
      userId: punch.userId,
      before: Option.none(),
      after: Option.some(punch)
    }))
    const next: Place = lastId === undefined
      ? { ...place, phase: "instant", id: wholeInstant }
      : { ...place, id: lastId }
    return { events, next }
  }
)

const atPlace = missingPlace + 1
const isAfterPlace = missingPlace + 2

/** The versions that began after a place, each behind the one that it replaced. */
const readChanges = Effect.fnUntraced(
  function*(database: Database<Dialect>, company: CompanyId, place: Place, size: number) {
    const { dialect, sql } = database
    const { bigint, millisOf, tables, timestamp } = dialect
    const isOurs = sql`company_id = ${bigint(company)}`
    // `IS NOT NULL`: with it a database finds that the index has all of these rows.
    const isLater = sql`${isOurs} AND valid_from IS NOT NULL
      AND (valid_from, id) > (${timestamp(place.at)}, ${bigint(place.id)})`
    const inOrder = raw(`ORDER BY valid_from, id LIMIT ${size}`)
    const selected = rowColumns(dialect)
    const rows = yield* sql`WITH begun AS (
      SELECT * FROM (
        SELECT * FROM (SELECT id, valid_from, 1 AS is_now FROM ${tables.rows} WHERE ${isLater} ${inOrder}) AS now
        UNION ALL
        SELECT * FROM (SELECT id, valid_from, 0 FROM ${tables.history} WHERE ${isLater} ${inOrder}) AS past
      ) AS versions ${inOrder}
    )
    SELECT ${selected}, ${millisOf("valid_from")} AS at, 1 AS is_after
      FROM ${tables.rows} WHERE ${isOurs} AND id IN (SELECT id FROM begun WHERE is_now = 1)
    UNION ALL
    SELECT ${selected}, ${millisOf("valid_from")}, 1
      FROM ${tables.history} WHERE ${isOurs} AND (id, valid_from) IN (SELECT id, valid_from FROM begun WHERE is_now = 0)
    UNION ALL
    SELECT ${selected}, ${millisOf("valid_to")}, 0
      FROM ${tables.history} WHERE ${isOurs} AND (id, valid_to) IN (SELECT id, valid_from FROM begun)
    ORDER BY at, id, is_after`.values
    const events: Array<FeedEvent> = []
    let before: PunchState | undefined
    for (const [place, state] of (yield* Effect.fromResult(punchStatesOf(company, rows))).entries()) {
      const row = rows[place] ?? []
      if (numberOf(row[isAfterPlace]) === 0) {
        before = state
        continue
      }
      events.push(eventOf(company, numberOf(row[atPlace]), before, state))
      before = undefined
    }
    const end = events.at(-1)
    return { events, next: events.length < size || end === undefined ? undefined : placeOf(end.position) }
  }
)

const eventOf = (company: CompanyId, at: number, before: PunchState | undefined, after: PunchState): FeedEvent => {
  const { id, userId } = after.punch
  return {
    companyId: company,
    position: textOf({ company, phase: "change", at, id }),
    at: DateTime.makeUnsafe(at),
    kind: kindOf(before, after),
    punchId: id,
    userId,
    before: shownOf(before),
    after: shownOf(after)
  }
}

const shownOf = (state: PunchState | undefined): Option.Option<TimePunch> =>
  state === undefined || state.isMissing ? Option.none() : Option.some(state.punch)

const kindOf = (before: PunchState | undefined, after: PunchState): FeedKind => {
  if (after.isMissing) return "missing"
  if (before === undefined) return "added"
  if (before.isMissing) return "back"
  if (before.punch.deleted !== after.punch.deleted) return after.punch.deleted ? "deleted" : "undeleted"
  return isOnlyTouched(before.punch, after.punch) ? "touched" : "edited"
}
