/**
 * Every statement of a fleet, for SQLite and PostgreSQL: the claim, the heartbeat and the end of turns, suspects, pauses, what an
 * operator does, the tables. A company is held by the turn with its `epoch`, as long as its `heartbeat_at` is not older than
 * `takeover`. All times are milliseconds of the database's clock; SQLite has none and takes Effect's.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type { Row } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import { type Fragment, fragment, literal, parameter } from "effect/sql/Statement"
import type { Company } from "../../Company.ts"
import { CompanyGuid, CompanyId } from "../../Ids.ts"
import {
  type DialectName,
  dialectOf,
  numberOf,
  orUndefined,
  raw,
  type SqlDialect,
  textOrUndefined
} from "../../internal/sql/dialect.ts"
import * as Migrate from "../../internal/sql/migrate.ts"
import { attempted, retried, transact } from "../../internal/sql/transaction.ts"
import {
  CompanyError,
  type CompanyStatus,
  decide,
  type Failure,
  type NewPause,
  type Next,
  type Outcome,
  outcomeName,
  Phase,
  type PhaseAtEnd,
  type RowAtEnd,
  State,
  type Surroundings,
  throttledTags
} from "../CompanyState.ts"
import { FleetError, invalidInput, translated } from "../FleetError.ts"
import { longestWait, slotOf } from "../Schedule.ts"
import type { Settings } from "../Settings.ts"

/** A company with the turn that holds it. */
interface Lease {
  readonly company: number
  readonly epoch: number
}

/** What a turn knows of its company. */
export interface Claim extends Lease {
  readonly guid: CompanyGuid | undefined
  /** The `next_at` that was claimed. */
  readonly claimed: number
  /** When the turn began. */
  readonly began: number
  readonly every: number
  readonly phase: Phase
  readonly sweepAt: number | undefined
  readonly fullSweepAt: number | undefined
  /** Turns in a row that began and wrote no end, with this one. */
  readonly starts: number
}

/** How a turn ended. */
export interface End {
  readonly claim: Claim
  readonly outcome: Outcome
  readonly phase: PhaseAtEnd
  /** Whether what was swept is everything: the next full sweep is a whole interval away too. */
  readonly isFullSweep: boolean
  /** Up to when the copy is proven: the start of the turn, an instant of the past, or not at all. */
  readonly proven: "began" | number | undefined
  readonly isProbe: boolean
  readonly pages: number
  readonly rows: number
}

/** What the end of a turn changed. */
export interface Ended {
  readonly state: State
  readonly reason: string | undefined
  readonly pause: NewPause | undefined
  /** Whether pauses were lifted, since this was their probe. */
  readonly isLifted: boolean
}

/** A pause of the whole fleet. */
export interface Pause {
  /** `operator`, or the error that made it. */
  readonly reason: string
  /** When it ends by itself; `None`: when a probe succeeds, or an operator ends it. */
  readonly until: Option.Option<DateTime.Utc>
}

/** A turn that ended. */
export interface Run {
  /** The number of the turn. A later turn of the company has a higher one. */
  readonly epoch: number
  /** The name of the process that ran it. */
  readonly runner: string
  /** When it was claimed, by the clock of the database. */
  readonly beganAt: DateTime.Utc
  /** When its end was written, by the clock of the database. */
  readonly endedAt: DateTime.Utc
  /** Pages of the service. */
  readonly pages: number
  /** Rows that were inserted or changed. */
  readonly rows: number
  /** `Complete`, `TurnOver`, or the tag of the error. */
  readonly outcome: string
}

/** What changed, and what did not. */
export interface Changed {
  /** Companies that are changed now. */
  readonly changed: ReadonlyArray<CompanyId>
  /** Ids that are not in the fleet. */
  readonly unknown: ReadonlyArray<CompanyId>
  /** Companies whose state does not allow it. */
  readonly inactive: ReadonlyArray<CompanyId>
}

/** What the end of a turn knows of its row and of the fleet. */
interface Known {
  readonly row: RowAtEnd
  readonly around: Omit<Surroundings, "credentials">
}

/** A company to add. */
export interface Addition extends Company {
  /** Milliseconds; `undefined` keeps that of a known company. */
  readonly every: number | undefined
}

/** The shards of the fleet, for ever. A company is in `company_id % shards`. */
export const shards = 300

/** Starts without an end from which a company is a suspect, and from which it is quarantined. */
export const suspectStarts = 2
const quarantineStarts = 5

/** How long a pause without an end holds before a company is tried, in milliseconds. */
const probeEvery = 3_600_000

const defaultEvery = 900_000

export type FleetStore = Effect.Success<typeof makeFleetStore>

export const makeFleetStore = Effect.gen(function*() {
  const sql = (yield* SqlClient.SqlClient).withoutTransforms()
  const dialect = yield* Effect.fromResult(Result.mapError(
    dialectOf(sql),
    (name) => invalidInput(`the database is ${name}; a fleet is kept in SQLite or PostgreSQL`)
  ))
  const words = dialects[dialect.name]
  const { double, isIn, materialized, skipLocked, text } = words
  const { forUpdate, greatest, least } = dialect
  const big = (value: number | undefined): Fragment => value === undefined ? raw("NULL") : dialect.bigint(value)

  const withNow = <A, E, R>(use: (now: Fragment) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => use(words.now(Math.floor(now))))
  /** One attempt: the loops of a runner repeat what fails. */
  const transaction = <A, E>(body: Effect.Effect<A, E | SqlError>): Effect.Effect<A, E | SqlError> =>
    attempted({ sql, dialect }, body)
  /** Attempts for 5 seconds, for an operator. */
  const patiently = <A, E>(body: Effect.Effect<A, E | SqlError>): Effect.Effect<A, E | SqlError> =>
    transact({ sql, dialect }, body)

  const oneRate = Semaphore.makeUnsafe(1)

  const isFree = (now: Fragment, takeover: number): Fragment =>
    sql`(heartbeat_at IS NULL OR heartbeat_at < ${now} - ${big(takeover)})`
  const lateness = (now: Fragment): Fragment => sql`(${now} - coalesce(last_ok_at, added_at) - every_ms)`
  const isOf = ({ company, epoch }: Lease): Fragment => sql`company_id = ${big(company)} AND epoch = ${big(epoch)}`
  const isHeldBy = (turn: Lease): Fragment => sql`${isOf(turn)} AND heartbeat_at IS NOT NULL`
  const isPaused = (now: Fragment): Fragment =>
    sql`EXISTS (SELECT 1 FROM fleet_pause WHERE until IS NULL OR until > ${now})`
  const isSuspect = sql`starts >= ${big(suspectStarts)} AND starts < ${big(quarantineStarts)}`

  /** Takes the active companies that are free and are these: conditions, an order and a limit. */
  const take = (
    now: Fragment,
    by: { readonly runner: string; readonly takeover: number },
    these: Fragment,
    { also = raw(""), onlyIf = raw("") }: { readonly also?: Fragment; readonly onlyIf?: Fragment } = {}
  ): Effect.Effect<ReadonlyArray<Claim>, SqlError> =>
    Effect.map(
      sql<
        Row
      >`WITH d AS ${materialized} (SELECT company_id AS id FROM fleet_company WHERE state = 'active' AND ${
        isFree(now, by.takeover)
      } AND ${these} ${skipLocked}) UPDATE fleet_company AS f SET epoch = f.epoch + 1, starts = f.starts + 1, runner = ${
        text(by.runner)
      }, heartbeat_at = ${now} ${also} FROM d WHERE f.company_id = d.id ${onlyIf} RETURNING company_id, guid, epoch, next_at, heartbeat_at, every_ms, phase, sweep_at, full_sweep_at, starts`,
      (rows) => rows.map(claimOf)
    )

  /** Step 4: companies that are due, of these shards (`undefined`: of all), or of any that have waited for `helpAfter`. */
  const claim = (options: {
    readonly runner: string
    readonly takeover: number
    readonly helpAfter: number
    readonly mine: ReadonlyArray<number> | undefined
    readonly room: number
  }): Effect.Effect<ReadonlyArray<Claim>, SqlError> =>
    withNow((now) => {
      const ours = options.mine === undefined
        ? raw("")
        : sql`AND (${isIn(`company_id % ${shards}`, options.mine)} OR next_at <= ${now} - ${big(options.helpAfter)})`
      // The condition on shards stands inside: rows of a frozen runner would fill the limit.
      return take(
        now,
        options,
        sql`next_at <= ${now} AND starts < ${big(suspectStarts)} AND NOT ${
          isPaused(now)
        } ${ours} ORDER BY next_at, company_id LIMIT ${big(options.room)}`
      )
    })

  /** Step 15: one suspect, for a runner in which nothing else runs; `undefined` if there is none, or the turn to drain is lost. */
  const claimSuspect = (
    runner: string,
    takeover: number
  ): Effect.Effect<Claim | undefined, SqlError> =>
    withNow((now) =>
      Effect.map(
        take(
          now,
          { runner, takeover },
          sql`next_at <= ${now} AND ${isSuspect} AND NOT ${isPaused(now)} ORDER BY next_at, company_id LIMIT 1`,
          { onlyIf: sql`AND EXISTS (SELECT 1 FROM fleet_solo WHERE runner = ${text(runner)} AND until > ${now})` }
        ),
        ([claimed]) => claimed
      )
    )

  /** Step 9: holds the leases of all turns in work, and says which of them are still ours. */
  const heartbeat = (
    turns: ReadonlyArray<Lease & { readonly isPaged: boolean }>
  ): Effect.Effect<ReadonlySet<number>, SqlError> =>
    withNow((now) => {
      const given = words.table(
        ["id", "epoch", "paged"],
        turns.map(({ company, epoch, isPaged }) => [company, epoch, isPaged ? 1 : 0])
      )
      return Effect.map(
        sql<
          Row
        >`UPDATE fleet_company AS f SET heartbeat_at = ${now}, starts = CASE WHEN t.paged = 1 THEN ${least}(f.starts, 1) ELSE f.starts END FROM ${given} WHERE f.company_id = t.id AND f.epoch = t.epoch AND f.heartbeat_at IS NOT NULL RETURNING company_id`,
        (rows) => new Set(rows.map(({ company_id }) => numberOf(company_id)))
      )
    })

  /** Steps 6 and 8: whether the company is still held by this turn. */
  const isHeld = (turn: Lease): Effect.Effect<boolean, SqlError> =>
    Effect.map(sql`SELECT 1 FROM fleet_company WHERE ${isOf(turn)}`, (rows) => rows.length > 0)

  /**
   * Step 6, for the first commit of a copy, which compares with nothing: runs it in one transaction with the row, or not at all.
   * `remove --purge` waits for it, or has removed the row: it would be written after what erases it.
   */
  const whileHeld = <A, E>(turn: Lease, body: Effect.Effect<A, E>): Effect.Effect<Option.Option<A>, E | SqlError> =>
    transaction(Effect.gen(function*() {
      const rows = yield* sql`SELECT 1 FROM fleet_company WHERE ${isOf(turn)} ${words.forKeyShare}`
      return rows.length === 0 ? Option.none() : Option.some(yield* body)
    }))

  /** The next slot of the company after now: `Schedule.nextSlot` by the clock of the database. */
  const slotAfter = (now: Fragment, company: number, every: number): Fragment =>
    sql`(${now} + ${big(every)} - (${now} - ${big(slotOf(company, every))}) % ${big(every)})`

  const nextOf = (now: Fragment, company: number, every: number, next: Next): Fragment => {
    switch (next._tag) {
      case "Now":
        return now
      case "In":
        return sql`(${now} + ${big(next.millis)})`
      case "Slot":
        return slotAfter(now, company, every)
    }
  }

  /**
   * Steps 10 and 11. `undefined`: the company is no longer held by this turn, and nothing was written. `at` and `around` are known
   * within the transaction of a turn that failed; the end of any other turn is one statement.
   */
  const end = (
    runner: string,
    given: End,
    settings: Pick<Settings, "credentials" | "sweepEvery" | "fullSweepEvery">
  ): Effect.Effect<Ended | undefined, SqlError> =>
    "failure" in given.outcome
      ? transaction(Effect.gen(function*() {
        const known = yield* surroundingsOf(given)
        return known === undefined ? undefined : yield* write(runner, given, settings, known)
      }))
      : write(runner, given, settings, unfailed(given))

  /** An end without a failure needs nothing of the row: a stored page clears the count, else it stays as the column has it. */
  const unfailed = ({ claim: { began, every }, pages }: End): Known => ({
    row: { state: "active", every, failures: 0, tag: undefined, tagCount: 0, tagSince: undefined },
    around: {
      now: began,
      random: 0,
      isPaged: pages > 0,
      isPaused: false,
      throttledOthers: 0,
      unauthorized: 0,
      active: 0
    }
  })

  /** A process that is frozen between the row of a pause and the commit holds up throttled turns of all others for a second only. */
  const surroundingsOf = Effect.fnUntraced(function*({ claim, pages }: End) {
    const { company, every } = claim
    const [row] = yield* withNow((now) =>
      sql<
        Row
      >`SELECT state, every_ms, failures, tag, tag_count, tag_since, ${now} AS now ${words.endsIfIdle} FROM fleet_company WHERE ${
        isHeldBy(claim)
      } ${forUpdate}`
    )
    if (row === undefined) return undefined
    const now = numberOf(row.now)
    const throttled = raw(throttledTags.map((tag) => `'${tag}'`).join(", "))
    const span = Math.max(60_000, every)
    const [fleet] = yield* sql<
      Row
    >`SELECT EXISTS (SELECT 1 FROM fleet_pause WHERE reason <> 'operator' AND (until IS NULL OR until > ${
      big(now)
    })) AS paused, (SELECT count(DISTINCT company_id) FROM fleet_run WHERE ended_at > ${
      big(now - 60_000)
    } AND outcome IN (${throttled}) AND company_id <> ${
      big(company)
    }) AS throttled, (SELECT count(DISTINCT company_id) FROM fleet_run WHERE outcome = 'Unauthorized' AND company_id <> ${
      big(company)
    } AND ended_at > coalesce((SELECT max(ended_at) FROM fleet_run WHERE ended_at > ${
      big(now - span)
    } AND outcome IN ('Complete', 'TurnOver')), ${
      big(now - span)
    })) AS unauthorized, (SELECT count(*) FROM (SELECT 1 FROM fleet_company WHERE state = 'active' LIMIT 10) AS few) AS active`
    return {
      row: {
        state: stateOf(row.state),
        every: numberOf(row.every_ms),
        failures: numberOf(row.failures),
        tag: textOrUndefined(row.tag),
        tagCount: numberOf(row.tag_count),
        tagSince: orUndefined(row.tag_since)
      },
      around: {
        now,
        random: yield* Random.next,
        isPaged: pages > 0,
        isPaused: truthy(fleet?.paused),
        throttledOthers: numberOf(fleet?.throttled),
        unauthorized: numberOf(fleet?.unauthorized) + 1,
        active: numberOf(fleet?.active)
      }
    } satisfies Known
  })

  const write = Effect.fnUntraced(function*(
    runner: string,
    given: End,
    { credentials, fullSweepEvery, sweepEvery }: Parameters<typeof end>[2],
    { around, row }: Known
  ) {
    const { claim, isFullSweep, isProbe, outcome, pages, phase, proven, rows } = given
    const { company, epoch } = claim
    const decision = decide(outcome, row, { ...around, credentials })
    const isQuiet = outcome._tag === "TurnOver"
    const isGood = outcome._tag === "Complete" || isQuiet
    return yield* withNow((now) => {
      const swept = (column: string, claimed: number | undefined, every: number): Fragment =>
        sql`${raw(column)} = CASE WHEN ${raw(column)} IS NOT DISTINCT FROM ${big(claimed)} THEN ${
          every === 0 ? big(undefined) : slotAfter(now, company, every)
        } ELSE ${raw(column)} END,`
      const sweeps = phase.isSwept
        ? sql`${swept("sweep_at", claim.sweepAt, sweepEvery)} ${
          // None: full sweeps were switched off when the last one ended.
          isFullSweep || claim.fullSweepAt === undefined
            ? swept("full_sweep_at", claim.fullSweepAt, fullSweepEvery)
            : raw("")}`
        : raw("")
      const error = typeof decision.error === "string"
        ? decision.error === "keep"
          ? raw("last_error")
          // What a sweep found stays until a sweep has ended.
          : phase.isSwept
          ? raw("NULL")
          : sql`CASE WHEN last_error LIKE ${text(`%"tag":"SyncError.TooManyGone"%`)} THEN last_error END`
        : text(errorText(decision.error, around.now))
      const provenAt = proven === "began" ? big(claim.began) : sql`${least}(${big(proven)}, ${now})`
      const ok = proven === undefined
        ? raw("last_ok_at")
        : sql`${greatest}(coalesce(last_ok_at, ${provenAt}), ${provenAt})`
      const strike = decision.strike
      const update = sql<Row>`UPDATE fleet_company SET heartbeat_at = NULL, starts = 0, phase = ${
        text(phase.phase)
      }, ${sweeps} next_at = CASE WHEN next_at = ${big(claim.claimed)} AND every_ms = ${big(claim.every)} THEN ${
        nextOf(now, company, claim.every, decision.next)
      } ELSE next_at END, reason = CASE WHEN state = 'active' THEN ${
        text(decision.reason)
      } ELSE reason END, state = CASE WHEN state = 'active' THEN ${text(decision.state)} ELSE state END, failures = ${
        isQuiet && pages === 0 ? raw("failures") : big(decision.failures)
      }, tag = ${text(strike?.tag)}, tag_count = ${big(strike?.count ?? 0)}, tag_since = ${
        big(strike?.since)
      }, last_error = ${error}, last_ok_at = ${ok}, rows = rows + ${big(rows)} WHERE ${
        isHeldBy(claim)
      } RETURNING company_id, state, reason`
      const minute = sql`CAST(${now} / 60000 AS bigint)`
      const values = sql`${big(company)}, ${big(epoch)}, ${text(runner)}, ${big(claim.began)}, ${now}, ${big(pages)}, ${
        big(rows)
      }, ${text(outcomeName(outcome))}`
      // SQLite reads `ON` after a SELECT without WHERE as that of a join.
      const ofEnded = words.isOneStatement ? raw("FROM ended") : raw("WHERE true")
      const insertRun =
        sql`INSERT INTO fleet_run (company_id, epoch, runner, began_at, ended_at, pages, rows, outcome) SELECT ${values} ${ofEnded} ON CONFLICT (company_id, epoch) DO NOTHING`
      const countMinute =
        sql`INSERT INTO fleet_minute AS m (minute, runner, runs, pages, rows, failures) SELECT ${minute}, ${
          text(runner)
        }, ${big(1)}, ${big(pages)}, ${big(rows)}, ${
          big("failure" in outcome ? 1 : 0)
        } ${ofEnded} ON CONFLICT (minute, runner) DO UPDATE SET runs = m.runs + 1, pages = m.pages + excluded.pages, rows = m.rows + excluded.rows, failures = m.failures + excluded.failures`
      const isLifting = isProbe && isGood
      const lift = sql`DELETE FROM fleet_pause WHERE until IS NULL AND reason <> 'operator'`
      const all = Effect.gen(function*() {
        const [ended] = words.isOneStatement
          ? yield* sql<Row>`WITH ended AS (${update}), run AS (${insertRun}), counted AS (${countMinute})${
            isLifting ? sql`, lifted AS (${lift} AND EXISTS (SELECT 1 FROM ended))` : raw("")
          } SELECT state, reason FROM ended`
          : yield* update
        if (ended === undefined) return undefined
        if (!words.isOneStatement) {
          yield* insertRun
          yield* countMinute
          if (isLifting) yield* lift
        }
        if (decision.pause !== undefined) yield* insertPause(now, decision.pause)
        return {
          state: stateOf(ended.state),
          reason: textOrUndefined(ended.reason),
          pause: decision.pause,
          isLifted: isLifting
        }
      })
      return words.isOneStatement ? all : transaction(all)
    })
  })

  const insertPause = (
    now: Fragment,
    { millis, reason }: { readonly reason: string; readonly millis: number | undefined }
  ) =>
    // With DO NOTHING the row of a pause that has ended would stop the next one.
    sql`INSERT INTO fleet_pause AS p (reason, until, probed_at) VALUES (${text(reason)}, ${
      millis === undefined ? big(undefined) : sql`${now} + ${big(millis)}`
    }, ${now}) ON CONFLICT (reason) DO UPDATE SET until = ${greatest}(coalesce(p.until, excluded.until), coalesce(excluded.until, p.until))`

  /** Step 12: the turn was interrupted with its runner, and begins again at the front. */
  const release = (turn: Lease): Effect.Effect<void, SqlError> =>
    transaction(Effect.gen(function*() {
      const released =
        yield* sql`UPDATE fleet_company SET heartbeat_at = NULL, starts = ${greatest}(starts - 1, 0) WHERE ${
          isHeldBy(turn)
        } RETURNING company_id`
      if (released.length === 0) return
      yield* sql`UPDATE fleet_pause SET probed_at = 0 WHERE probe_company = ${big(turn.company)} AND probe_epoch = ${
        big(turn.epoch)
      }`
    }))

  /** Steps 13 and 14: quarantines, then asks for the turn to drain, if a suspect waits. */
  const drain = (runner: string, takeover: number): Effect.Effect<Draining, SqlError> =>
    withNow((now): Effect.Effect<Draining, SqlError> => {
      const free = isFree(now, takeover)
      const quarantine =
        sql`UPDATE fleet_company SET state = 'quarantined', reason = 'starts', heartbeat_at = NULL WHERE state = 'active' AND starts >= ${
          big(quarantineStarts)
        } AND ${free} RETURNING company_id`
      const ask = sql`UPDATE fleet_solo SET runner = ${text(runner)}, until = ${now} + ${
        big(takeover)
      } WHERE (runner = ${text(runner)} OR until < ${now}) AND NOT ${
        isPaused(now)
      } AND EXISTS (SELECT 1 FROM fleet_company WHERE state = 'active' AND next_at <= ${now} AND ${free} AND ${isSuspect}) RETURNING 1 AS mine`
      const endless = sql`SELECT 1 FROM fleet_pause WHERE until IS NULL AND reason <> 'operator'`
      if (words.isOneStatement) {
        return Effect.map(
          sql<
            Row
          >`WITH q AS (${quarantine}), s AS (${ask}) SELECT company_id, 0 AS kind FROM q UNION ALL SELECT NULL, 1 FROM s UNION ALL SELECT NULL, 2 WHERE EXISTS (${endless})`,
          (rows) => ({
            isDraining: rows.some(({ kind }) => numberOf(kind) === 1),
            isPaused: rows.some(({ kind }) => numberOf(kind) === 2),
            quarantined: rows.flatMap(({ company_id, kind }) => numberOf(kind) === 0 ? [numberOf(company_id)] : [])
          })
        )
      }
      return transaction(Effect.gen(function*() {
        const quarantined = yield* quarantine
        const asked = yield* ask
        return {
          isDraining: asked.length > 0,
          isPaused: (yield* endless).length > 0,
          quarantined: companyIdsOf(quarantined)
        }
      }))
    })

  /** Step 14 while a suspect is in work here. */
  const extendSolo = (runner: string, takeover: number): Effect.Effect<void, SqlError> =>
    withNow((now) =>
      Effect.asVoid(sql`UPDATE fleet_solo SET until = ${now} + ${big(takeover)} WHERE runner = ${text(runner)}`)
    )

  const giveSoloBack = (runner: string): Effect.Effect<void, SqlError> =>
    Effect.asVoid(sql`UPDATE fleet_solo SET runner = NULL, until = 0 WHERE runner = ${text(runner)}`)

  /** Step 16: tries one company, if the pauses that hold have no end and the last attempt is an hour old. */
  const probe = (runner: string, takeover: number): Effect.Effect<Claim | undefined, SqlError> =>
    Effect.catchTag(
      transaction(withNow((now) =>
        Effect.gen(function*() {
          const due =
            yield* sql`UPDATE fleet_pause SET probed_at = ${now} WHERE until IS NULL AND reason <> 'operator' AND NOT EXISTS (SELECT 1 FROM fleet_pause AS o WHERE o.reason = 'operator' OR o.until > ${now}) AND (probed_at <= ${now} - ${
              big(probeEvery)
            } OR EXISTS (SELECT 1 FROM fleet_company AS c WHERE c.company_id = probe_company AND c.epoch = probe_epoch AND c.heartbeat_at < ${now} - ${
              big(takeover)
            })) RETURNING reason`
          if (due.length === 0) return undefined
          const [claimed] = yield* take(
            now,
            { runner, takeover },
            sql`starts < ${big(quarantineStarts)} ORDER BY starts >= ${
              big(suspectStarts)
            }, coalesce(probed_at, 0), next_at LIMIT 1`,
            { also: sql`, probed_at = ${now}` }
          )
          // Rolled back: else an hour would pass without a probe.
          if (claimed === undefined) return yield* Effect.fail(noCompany)
          yield* sql`UPDATE fleet_pause SET probe_company = ${big(claimed.company)}, probe_epoch = ${
            big(claimed.epoch)
          } WHERE until IS NULL AND reason <> 'operator'`
          return claimed
        })
      )),
      "NoCompany",
      () => Effect.succeed(undefined)
    )

  /** Step 1: frees what a dead predecessor of this name held; `undefined`: what anyone held. */
  const begin = (runner: string, isAlone: boolean): Effect.Effect<void, SqlError> =>
    transaction(Effect.gen(function*() {
      const whose = isAlone ? raw("") : sql`AND runner = ${text(runner)}`
      yield* sql`UPDATE fleet_company SET heartbeat_at = NULL WHERE heartbeat_at IS NOT NULL ${whose}`
      yield* isAlone ? sql`UPDATE fleet_solo SET runner = NULL, until = 0` : giveSoloBack(runner)
      yield* sql`UPDATE fleet_pause SET probed_at = 0 WHERE until IS NULL`
    }))

  /** Stores `takeover` if none is stored; the one that then holds. */
  const takeoverOf = (takeover: number): Effect.Effect<number, SqlError> =>
    retried(Effect.gen(function*() {
      yield* sql`INSERT INTO fleet_setting (name, value) VALUES ('takeover', ${
        text(String(takeover))
      }) ON CONFLICT (name) DO NOTHING`
      const [row] = yield* sql<Row>`SELECT value FROM fleet_setting WHERE name = 'takeover'`
      return numberOf(row?.value)
    }))

  /**
   * Changes the state of a rate limit; who asks for the same key waits. That is every request of every process: a session that
   * is frozen here is ended after a second, since a takeover would outlast all leases. Of a process one session at a time waits:
   * each of those that wait for a frozen process would get the row, and keep it for a second.
   */
  const rate = <A>(
    key: string,
    step: (now: number, state: RateState | undefined) => readonly [A, RateState]
  ): Effect.Effect<A, SqlError> =>
    oneRate.withPermits(1)(patiently(withNow((now) =>
      Effect.gen(function*() {
        // A row that another process is about to insert is waited for here.
        yield* sql`INSERT INTO fleet_rate (key) VALUES (${text(key)}) ON CONFLICT (key) DO NOTHING`
        const [row] = yield* sql<
          Row
        >`SELECT tokens, at, ${now} AS now ${words.endsIfIdle} FROM fleet_rate WHERE key = ${text(key)} ${forUpdate}`
        const known = typeof row?.tokens === "number" && typeof row.at === "number"
          ? { tokens: row.tokens, at: row.at }
          : undefined
        const [result, { at, tokens }] = step(numberOf(row?.now), known)
        yield* sql`UPDATE fleet_rate SET tokens = ${double(tokens)}, at = ${double(at)} WHERE key = ${text(key)}`
        return result
      })
    )))

  /** What the keeper removes. `since` is the end of the last run that it has seen, 0 at first. */
  const trim = (keepRuns: number, since: number): Effect.Effect<number, SqlError> =>
    withNow((now) =>
      Effect.gen(function*() {
        const [row] = yield* sql<Row>`SELECT ${now} AS now`
        // Only companies that ran since: all runs of all companies would be read each minute.
        yield* sql`DELETE FROM fleet_run WHERE (company_id, epoch) IN (SELECT r.company_id, r.epoch FROM (SELECT DISTINCT company_id FROM fleet_run WHERE ended_at >= ${
          big(since)
        }) AS n JOIN fleet_run AS r ON r.company_id = n.company_id WHERE (SELECT count(*) FROM fleet_run AS l WHERE l.company_id = r.company_id AND l.epoch > r.epoch) >= ${
          big(keepRuns)
        })`
        yield* sql`DELETE FROM fleet_minute WHERE minute < ${now} / 60000 - 1440`
        yield* sql`DELETE FROM fleet_pause WHERE until < ${now} - 3600000`
        return numberOf(row?.now)
      })
    )

  /**
   * Corrects times that lie too far in the future: the clock of the database was ahead when they were written, and has been set
   * back. Until they come, companies would not be synced and would not count as late, and pauses would not end.
   */
  const correctTimes = (
    { fullSweepEvery, sweepEvery, takeover }: Pick<Settings, "takeover" | "sweepEvery" | "fullSweepEvery">
  ): Effect.Effect<void, SqlError> =>
    withNow((now) => {
      const after = (millis: number) => sql`${now} + ${big(millis)}`
      /** Spread, as the slots are: a sweep of all at once would be a burst. */
      const spread = (every: number) => sql`${now} + (company_id % ${shards} + 1) * ${big(Math.floor(every / shards))}`
      /** Columns, the latest that each can be, and what it becomes if it is later. */
      const corrected = (table: string, ...columns: ReadonlyArray<readonly [string, Fragment, Fragment]>) =>
        sql`UPDATE ${raw(table)} SET ${
          parts(...columns.flatMap(([name, most, otherwise], at) => [
            `${at === 0 ? "" : ", "}${name} = CASE WHEN ${name} > `,
            most,
            " THEN ",
            otherwise,
            ` ELSE ${name} END`
          ]))
        } WHERE ${parts(...columns.flatMap(([name, most], at) => [`${at === 0 ? "" : " OR "}${name} > `, most]))}`
      return Effect.all([
        corrected(
          "fleet_company",
          ["next_at", sql`${now} + ${greatest}(every_ms, ${big(longestWait)})`, now],
          ["heartbeat_at", after(takeover), big(undefined)],
          ["last_ok_at", now, now],
          ["added_at", now, now],
          ["sweep_at", after(sweepEvery), spread(sweepEvery)],
          ...(fullSweepEvery === 0 ? [] : [["full_sweep_at", after(fullSweepEvery), spread(fullSweepEvery)] as const])
        ),
        // No pause and no lease lasts this long.
        corrected("fleet_pause", ["until", after(3_600_000), now], ["probed_at", after(60_000), big(0)]),
        corrected("fleet_solo", ["until", after(takeover + 60_000), big(0)]),
        sql`DELETE FROM fleet_run WHERE ended_at > ${after(60_000)}`
      ], { discard: true })
    })

  /** What an operator watches: see the metrics of a runner. */
  const gauges: Effect.Effect<Gauges, SqlError> = withNow((now) =>
    Effect.map(
      sql<
        Row
      >`SELECT coalesce(sum(CASE WHEN next_at <= ${now} THEN 1 ELSE 0 END), 0) AS due, coalesce(sum(CASE WHEN starts > 1 THEN 1 ELSE 0 END), 0) AS suspects, coalesce(max(${
        lateness(now)
      }), 0) AS late FROM fleet_company WHERE state = 'active'`,
      ([row]) => ({
        due: numberOf(row?.due),
        suspects: numberOf(row?.suspects),
        late: Math.max(0, numberOf(row?.late))
      })
    )
  )

  /** The history of a company may be pruned once a day: the companies, in turn. */
  const companies: Effect.Effect<ReadonlyArray<CompanyId>, SqlError> = Effect.map(
    sql<Row>`SELECT company_id FROM fleet_company ORDER BY company_id`,
    (rows) => rows.map(({ company_id }) => idOf(company_id))
  )

  // What an operator does.

  const add = (
    additions: ReadonlyArray<Addition>
  ): Effect.Effect<
    { readonly added: ReadonlyArray<CompanyId>; readonly changed: ReadonlyArray<CompanyId> },
    SqlError
  > =>
    patiently(Effect.gen(function*() {
      const added: Array<CompanyId> = []
      const changed: Array<CompanyId> = []
      // Sorted: two calls that add the same companies never wait for each other in a circle.
      const sorted = additions.toSorted((one, other) => one.id - other.id)
      for (let start = 0; start < sorted.length; start += chunkSize) {
        let rest = sorted.slice(start, start + chunkSize)
        // What another call adds between the two statements is known the second time.
        while (rest.length > 0) {
          const locked = yield* sql`SELECT company_id FROM fleet_company WHERE ${
            isIn("company_id", rest.map(({ id }) => id))
          } ORDER BY company_id ${forUpdate}`
          const [news, known] = parted(rest, locked)
          if (known.length > 0) {
            const updated = yield* withNow((now) =>
              sql`UPDATE fleet_company AS f SET guid = coalesce(t.guid, f.guid), every_ms = CASE WHEN t.given = 1 THEN t.every ELSE f.every_ms END, next_at = CASE WHEN t.given = 1 AND t.every <> f.every_ms THEN ${least}(f.next_at, ${now} + t.every) ELSE f.next_at END FROM ${
                given(known)
              } WHERE f.company_id = t.id AND (t.guid <> coalesce(f.guid, '') OR (t.given = 1 AND t.every <> f.every_ms)) RETURNING company_id`
            )
            changed.push(...companyIdsOf(updated))
          }
          if (news.length === 0) break
          const inserted = yield* withNow((now) =>
            sql`INSERT INTO fleet_company (company_id, guid, state, phase, every_ms, added_at, next_at, epoch, starts, failures, tag_count, rows) SELECT id, guid, 'active', 'first', every, ${now}, ${now}, ${now}, 0, 0, 0, 0 FROM ${
              given(news)
            } WHERE true ON CONFLICT (company_id) DO NOTHING RETURNING company_id`
          )
          added.push(...companyIdsOf(inserted))
          rest = parted(news, inserted)[0]
        }
      }
      return { added, changed }
    }))

  /** The companies that are not among these rows, and those that are. */
  const parted = (companies: ReadonlyArray<Addition>, rows: ReadonlyArray<unknown>) => {
    const ids = new Set(companyIdsOf(rows))
    return [companies.filter(({ id }) => !ids.has(id)), companies.filter(({ id }) => ids.has(id))] as const
  }

  /** Companies as a table of a statement. A guid has no character that an array would have to quote. */
  const given = (chunk: ReadonlyArray<Addition>): Fragment =>
    words.table(
      ["id", "guid", "every", "given"],
      chunk.map(({ every, guid, id }) => [id, guid ?? null, every ?? defaultEvery, every === undefined ? 0 : 1])
    )

  /** Applies a statement to companies, chunk by chunk, and says which of them it changed. */
  const change = (
    statement: (now: Fragment, which: Fragment) => Effect.Effect<ReadonlyArray<unknown>, SqlError>
  ) =>
  (ids: ReadonlyArray<CompanyId>): Effect.Effect<Changed, SqlError> =>
    patiently(Effect.gen(function*() {
      const found = new Set<number>()
      const changed = new Set<number>()
      const sorted = [...new Set(ids)].toSorted((one, other) => one - other)
      for (let start = 0; start < sorted.length; start += chunkSize) {
        const which = isIn("company_id", sorted.slice(start, start + chunkSize))
        for (const row of yield* sql<Row>`SELECT company_id FROM fleet_company WHERE ${which}`) {
          found.add(numberOf(row.company_id))
        }
        for (const id of companyIdsOf(yield* withNow((now) => statement(now, which)))) changed.add(id)
      }
      return {
        changed: sorted.filter((id) => changed.has(id)),
        unknown: sorted.filter((id) => !found.has(id)),
        inactive: sorted.filter((id) => found.has(id) && !changed.has(id))
      }
    }))

  /** Sets columns of the companies that are in these states. */
  const set = (columns: (now: Fragment) => Fragment, where: Fragment = sql`state = 'active'`) =>
    change((now, which) =>
      sql`UPDATE fleet_company SET ${columns(now)} WHERE ${where} AND ${which} RETURNING company_id`
    )

  const resumed = (now: Fragment): Fragment =>
    sql`state = 'active', reason = NULL, next_at = ${now}, failures = 0, tag = NULL, tag_count = 0, tag_since = NULL, starts = CASE WHEN state = 'quarantined' THEN 2 ELSE starts END`

  /** What `statusOf` reads. */
  const statusColumns = (now: Fragment): Fragment =>
    sql`company_id, state, phase, reason, every_ms, next_at, last_ok_at, ${
      lateness(now)
    } AS late, failures, last_error, rows`

  const operator = {
    add,
    remove: change((_, which) =>
      Effect.gen(function*() {
        const removed = yield* sql`DELETE FROM fleet_company WHERE ${which} RETURNING company_id`
        yield* sql`DELETE FROM fleet_run WHERE ${which}`
        return removed
      })
    ),
    pause: set(() => sql`state = 'paused', reason = NULL`),
    resume: set(resumed, sql`state <> 'active'`),
    trigger: set((now) => sql`next_at = ${now}`),
    sweep: set((now) => sql`next_at = ${now}, sweep_at = ${now}`),
    resumeWhere: (
      state: State,
      reason: string | undefined
    ): Effect.Effect<ReadonlyArray<CompanyId>, SqlError> =>
      retried(withNow((now) =>
        Effect.map(
          sql`UPDATE fleet_company SET ${resumed(now)} WHERE state = ${text(state)} AND state <> 'active' ${
            reason === undefined ? raw("") : sql`AND reason = ${text(reason)}`
          } RETURNING company_id`,
          companyIdsOf
        )
      )),
    list: (options: {
      readonly states: ReadonlyArray<State> | undefined
      readonly isLate: boolean
      readonly id: CompanyId | undefined
    }): Effect.Effect<ReadonlyArray<CompanyStatus>, SqlError> =>
      retried(withNow((now) => {
        const states = options.states === undefined
          ? raw("")
          : sql`AND state IN (${raw(["''", ...options.states.map((state) => `'${state}'`)].join(", "))})`
        return Effect.map(
          sql<
            Row
          >`SELECT ${statusColumns(now)} FROM fleet_company WHERE true ${states} ${
            options.isLate ? sql`AND ${lateness(now)} > every_ms` : raw("")
          } ${options.id === undefined ? raw("") : sql`AND company_id = ${big(options.id)}`} ORDER BY company_id`,
          (rows) => rows.map(statusOf)
        )
      })),
    runs: (id: CompanyId): Effect.Effect<ReadonlyArray<Run>, SqlError> =>
      Effect.map(
        retried(sql<Row>`SELECT * FROM fleet_run WHERE company_id = ${big(id)} ORDER BY epoch DESC`),
        (rows) =>
          rows.map((row) => ({
            epoch: numberOf(row.epoch),
            runner: textOrUndefined(row.runner) ?? "",
            beganAt: instantOf(row.began_at),
            endedAt: instantOf(row.ended_at),
            pages: numberOf(row.pages),
            rows: numberOf(row.rows),
            outcome: textOrUndefined(row.outcome) ?? ""
          }))
      ),
    pauses: retried(withNow((now) =>
      Effect.map(
        sql<Row>`SELECT reason, until FROM fleet_pause WHERE until IS NULL OR until > ${now} ORDER BY reason`,
        (rows): ReadonlyArray<Pause> =>
          rows.map((row) => ({
            reason: textOrUndefined(row.reason) ?? "",
            until: Option.map(Option.fromUndefinedOr(orUndefined(row.until)), (at) => DateTime.makeUnsafe(at))
          }))
      )
    )),
    pauseAll: retried(withNow((now) => Effect.asVoid(insertPause(now, { reason: "operator", millis: undefined })))),
    resumeAll: retried(Effect.asVoid(sql`DELETE FROM fleet_pause`))
  }

  const migrations: Migrate.Migrations = {
    title: "the fleet",
    table: { name: "fleet_migrations", quoted: "fleet_migrations" },
    // "fleet_mi", as a number: any other lock of the database is as good.
    lock: 7378705536486387049n,
    steps: stepsOf(dialect)
  }

  /** Brings the tables to the schema of this release; a newer one is left as it is. */
  const migrate: Effect.Effect<void, FleetError> = Migrate.migrate({ sql, dialect }, migrations).pipe(
    translated("the tables cannot be made")
  )

  /** Fails if the schema is older than the one of this release. */
  const verify: Effect.Effect<void, FleetError> = Migrate.verify({ sql, dialect }, migrations).pipe(
    Effect.catchTag("OldSchema", ({ needed, version }) => Effect.fail(notMigrated("the fleet", version, needed))),
    translated("the schema cannot be read")
  )

  return {
    sql,
    dialect,
    isShared: words.isShared,
    withNow,
    claim,
    claimSuspect,
    heartbeat,
    isHeld,
    whileHeld,
    end,
    release,
    drain,
    extendSolo,
    giveSoloBack,
    probe,
    begin,
    takeoverOf,
    rate,
    trim,
    correctTimes,
    gauges,
    companies,
    statusColumns,
    operator,
    migrate,
    verify
  }
})

/** Whether a suspect waits for this runner, and who was quarantined. */
interface Draining {
  readonly isDraining: boolean
  /** Whether a pause holds that a probe may end. */
  readonly isPaused: boolean
  readonly quarantined: ReadonlyArray<number>
}

/** How much of a rate limit is used; what the numbers mean is the algorithm's. */
export interface RateState {
  readonly tokens: number
  readonly at: number
}

/** What an operator watches. `late` is the largest lateness of an active company, in milliseconds. */
export interface Gauges {
  readonly due: number
  readonly suspects: number
  readonly late: number
}

/** Companies of one statement. */
const chunkSize = 5000

const noCompany = { _tag: "NoCompany" } as const

/** Tables that are older than this release needs. */
export const notMigrated = (what: string, version: number, needed: number): FleetError =>
  new FleetError({
    reason: "NotMigrated",
    detail:
      `${what} has schema ${version} (0: no tables), and this release needs ${needed}: run FleetRunner.migrate, or time-punches fleet migrate`
  })

/** What the two databases say differently about a fleet. */
interface Words {
  /** The clock of the database in milliseconds; SQLite has none that a test could set, and takes this one. */
  readonly now: (millis: number) => Fragment
  readonly text: (value: string | undefined) => Fragment
  readonly double: (value: number) => Fragment
  readonly isIn: (column: string, values: ReadonlyArray<number>) => Fragment
  /** Rows as a table `t` of a statement. The second column is a text where it is named `guid`. */
  readonly table: (
    columns: ReadonlyArray<string>,
    rows: ReadonlyArray<ReadonlyArray<number | string | null>>
  ) => Fragment
  readonly skipLocked: Fragment
  /** Keeps a row from being removed, and lets others change it. */
  readonly forKeyShare: Fragment
  /** A column: from here the server ends this transaction if its process says nothing for a second. */
  readonly endsIfIdle: Fragment
  readonly materialized: Fragment
  /** Whether a statement may have others that write within it. */
  readonly isOneStatement: boolean
  /** Whether many processes run the fleet; otherwise there is one, without the engine. */
  readonly isShared: boolean
}

const parts = (...all: ReadonlyArray<string | Fragment>): Fragment =>
  fragment(all.flatMap((part) => typeof part === "string" ? [literal(part)] : part.segments))

const bound = (value: unknown, cast = ""): Fragment => fragment([parameter(value), literal(cast)])

const dialects: { readonly [Name in DialectName]: Words } = {
  pg: {
    // `clock_timestamp()` is volatile: each claim would compare it with every row.
    now: () => raw("(extract(epoch from statement_timestamp()) * 1000)::bigint"),
    // A parameter is a text with a cast: by its value, a statement would be prepared for each mixture of types.
    text: (value) => value === undefined ? raw("NULL::text") : bound(value, "::text"),
    double: (value) => bound(String(value), "::double precision"),
    isIn: (column, values) => parts(`${column} = ANY(`, bound(`{${values.join(",")}}`, "::bigint[]"), ")"),
    table: (columns, rows) =>
      parts(
        "unnest(",
        ...columns.flatMap((name, at) => [
          at === 0 ? "" : ", ",
          bound(`{${rows.map((row) => row[at] ?? "NULL").join(",")}}`, name === "guid" ? "::text[]" : "::bigint[]")
        ]),
        `) AS t(${columns.join(", ")})`
      ),
    skipLocked: raw("FOR UPDATE SKIP LOCKED"),
    forKeyShare: raw("FOR KEY SHARE"),
    endsIfIdle: raw(", set_config('idle_in_transaction_session_timeout', '1000', true)"),
    materialized: raw("MATERIALIZED"),
    isOneStatement: true,
    isShared: true
  },
  sqlite: {
    now: (millis) => bound(millis),
    text: (value) => value === undefined ? raw("NULL") : bound(value),
    double: (value) => bound(value),
    isIn: (column, values) => parts(`${column} IN (SELECT value FROM json_each(`, bound(JSON.stringify(values)), "))"),
    table: (columns, rows) =>
      parts(
        `(SELECT ${columns.map((name, at) => `value ->> ${at} AS ${name}`).join(", ")} FROM json_each(`,
        bound(JSON.stringify(rows)),
        ")) AS t"
      ),
    skipLocked: raw(""),
    forKeyShare: raw(""),
    endsIfIdle: raw(""),
    materialized: raw(""),
    isOneStatement: false,
    isShared: false
  }
}

/** The tables of a fleet. A migration that was published is never changed: the next one adds. */
const stepsOf = (dialect: SqlDialect): ReadonlyArray<Migrate.Migration> => [{
  id: 1,
  name: "fleet",
  statements: [
    dialect.createMigrations("fleet_migrations"),
    `CREATE TABLE fleet_company (
  company_id bigint NOT NULL PRIMARY KEY,
  guid text,
  state text NOT NULL,
  phase text NOT NULL,
  reason text,
  every_ms bigint NOT NULL,
  added_at bigint NOT NULL,
  next_at bigint NOT NULL,
  sweep_at bigint,
  full_sweep_at bigint,
  heartbeat_at bigint,
  runner text,
  epoch bigint NOT NULL,
  starts integer NOT NULL,
  failures integer NOT NULL,
  tag text,
  tag_count integer NOT NULL,
  tag_since bigint,
  probed_at bigint,
  last_ok_at bigint,
  last_error text,
  rows bigint NOT NULL
)`,
    "CREATE INDEX fleet_company_due ON fleet_company (next_at, company_id) WHERE state = 'active'",
    "CREATE INDEX fleet_company_suspects ON fleet_company (next_at, company_id) WHERE state = 'active' AND starts >= 2",
    `CREATE TABLE fleet_run (
  company_id bigint NOT NULL,
  epoch bigint NOT NULL,
  runner text NOT NULL,
  began_at bigint NOT NULL,
  ended_at bigint NOT NULL,
  pages bigint NOT NULL,
  rows bigint NOT NULL,
  outcome text NOT NULL,
  PRIMARY KEY (company_id, epoch)
)`,
    "CREATE INDEX fleet_run_ended ON fleet_run (ended_at)",
    `CREATE TABLE fleet_minute (
  minute bigint NOT NULL,
  runner text NOT NULL,
  runs bigint NOT NULL,
  pages bigint NOT NULL,
  rows bigint NOT NULL,
  failures bigint NOT NULL,
  PRIMARY KEY (minute, runner)
)`,
    `CREATE TABLE fleet_pause (
  reason text NOT NULL PRIMARY KEY,
  until bigint,
  probed_at bigint NOT NULL,
  probe_company bigint,
  probe_epoch bigint
)`,
    "CREATE TABLE fleet_solo (id integer NOT NULL PRIMARY KEY, runner text, until bigint NOT NULL)",
    "INSERT INTO fleet_solo (id, runner, until) VALUES (1, NULL, 0)",
    "CREATE TABLE fleet_setting (name text NOT NULL PRIMARY KEY, value text NOT NULL)",
    `CREATE TABLE fleet_rate (
  key text NOT NULL PRIMARY KEY,
  tokens double precision,
  at double precision
)`
  ]
}]

const isState = Schema.is(State)
const isPhase = Schema.is(Phase)
const isGuid = Schema.is(CompanyGuid)

/** A state of a newer release is one in which nothing is done. */
const stateOf = (value: unknown): State => isState(value) ? value : "blocked"
const phaseOf = (value: unknown): Phase => isPhase(value) ? value : "increment"
const idOf = (value: unknown): CompanyId => CompanyId.make(numberOf(value))
const instantOf = (value: unknown): DateTime.Utc => DateTime.makeUnsafe(numberOf(value))

/** PostgreSQL has booleans, SQLite 0 and 1. */
const truthy = (value: unknown): boolean => value === true || numberOf(value) === 1

const companyIdsOf = (rows: ReadonlyArray<unknown>): ReadonlyArray<CompanyId> =>
  rows.flatMap((row) => typeof row === "object" && row !== null && "company_id" in row ? [idOf(row.company_id)] : [])

const claimOf = (row: Row): Claim => ({
  company: numberOf(row.company_id),
  epoch: numberOf(row.epoch),
  guid: isGuid(row.guid) ? row.guid : undefined,
  claimed: numberOf(row.next_at),
  began: numberOf(row.heartbeat_at),
  every: numberOf(row.every_ms),
  phase: phaseOf(row.phase),
  sweepAt: orUndefined(row.sweep_at),
  fullSweepAt: orUndefined(row.full_sweep_at),
  starts: numberOf(row.starts)
})

const errorJson = Schema.fromJsonString(CompanyError)
const encodeError = Schema.encodeSync(errorJson)
const decodeError = Schema.decodeUnknownOption(errorJson)

const errorText = ({ tag, text }: Failure, at: number): string =>
  encodeError({ at: DateTime.makeUnsafe(at), tag, text })

/** A row of `fleet_company` with its lateness, as a page and a list show it. */
export const statusOf = (row: Row): CompanyStatus => ({
  company: idOf(row.company_id),
  state: stateOf(row.state),
  phase: phaseOf(row.phase),
  reason: Option.fromUndefinedOr(textOrUndefined(row.reason)),
  everySeconds: numberOf(row.every_ms) / 1000,
  nextAt: instantOf(row.next_at),
  lastOkAt: Option.map(Option.fromUndefinedOr(orUndefined(row.last_ok_at)), instantOf),
  lateSeconds: Math.max(0, numberOf(row.late)) / 1000,
  failures: numberOf(row.failures),
  lastError: decodeError(row.last_error),
  rows: numberOf(row.rows)
})
