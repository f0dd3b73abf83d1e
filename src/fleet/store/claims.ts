/** How a turn gets its company and holds it: the claim, the heartbeat, suspects and probes. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Row } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { numberOf, orUndefined, raw } from "../../internal/sql/dialect.ts"
import { companyIdsOf, isGuid, phaseOf } from "./rows.ts"
import { type FleetStatements, type Lease, quarantineStarts, shards, suspectStarts } from "./statements.ts"

/** What a turn knows of its company. */
export type Claim = ReturnType<typeof claimOf>

/** Who claims, and the age in milliseconds from which a heartbeat holds nothing. */
export interface Claimer {
  readonly runner: string
  readonly takeover: number
}

/** How long a pause without an end holds before a company is tried, in milliseconds. */
const probeEvery = 3_600_000

/** Takes the active companies that are free and are these: conditions, an order and a limit. */
const take = (
  { dialect: { materialized, skipLocked, text }, isFree, query }: FleetStatements,
  now: Fragment,
  { runner, takeover }: Claimer,
  these: Fragment,
  { also = raw(""), onlyIf = raw("") }: { readonly also?: Fragment; readonly onlyIf?: Fragment } = {}
): Effect.Effect<ReadonlyArray<Claim>, SqlError> =>
  Effect.map(
    query`
      WITH due AS ${materialized} (
        SELECT company_id AS id
        FROM fleet_company
        WHERE state = 'active'
          AND ${isFree(now, takeover)}
          AND ${these}
        ${skipLocked}
      )
      UPDATE fleet_company AS f
      SET epoch = f.epoch + 1, starts = f.starts + 1, runner = ${
      text(runner)
    }, heartbeat_at = ${now}, claimed_at = ${now}
        ${also}
      FROM due
      WHERE f.company_id = due.id ${onlyIf}
      RETURNING company_id, guid, epoch, next_at, heartbeat_at, every_ms, phase, sweep_at, full_sweep_at, starts`,
    (rows) => rows.map(claimOf)
  )

/** Claims companies that are due, of these shards (`undefined`: of all), or of any that have waited for `helpAfter`. */
export const claim = (statements: FleetStatements) =>
(
  { helpAfter, mine, room, ...claimer }: Claimer & {
    readonly helpAfter: number
    readonly mine: ReadonlyArray<number> | undefined
    readonly room: number
  }
): Effect.Effect<ReadonlyArray<Claim>, SqlError> =>
  statements.withNow((now) => {
    const { big, dialect, isPaused, sql } = statements
    // The condition on shards stands inside: rows of a frozen runner would fill the limit.
    const ours = mine === undefined
      ? raw("")
      : sql`AND (${dialect.isIn(`company_id % ${shards}`, mine)} OR next_at <= ${now} - ${big(helpAfter)})`
    return take(
      statements,
      now,
      claimer,
      sql`next_at <= ${now}
          AND starts < ${big(suspectStarts)}
          AND NOT ${isPaused(now)} ${ours}
        ORDER BY next_at, company_id
        LIMIT ${big(room)}`
    )
  })

/** Claims one suspect, for a runner in which nothing else runs; `undefined` if there is none, or the right to drain is lost. */
export const claimSuspect =
  (statements: FleetStatements) => (runner: string, takeover: number): Effect.Effect<Claim | undefined, SqlError> =>
    statements.withNow((now) => {
      const { dialect: { text }, isPaused, isSuspect, sql } = statements
      const these = sql`next_at <= ${now} AND ${isSuspect} AND NOT ${isPaused(now)}
        ORDER BY next_at, company_id
        LIMIT 1`
      const onlyIf = sql`AND EXISTS (SELECT 1 FROM fleet_solo WHERE runner = ${text(runner)} AND until > ${now})`
      return Effect.map(take(statements, now, { runner, takeover }, these, { onlyIf }), ([claimed]) => claimed)
    })

/** Holds the leases of all turns in work, and says which of them are still ours. */
export const heartbeat = ({ dialect: { least, table }, query, withNow }: FleetStatements) =>
(
  turns: ReadonlyArray<Lease & { readonly isPaged: boolean }>
): Effect.Effect<ReadonlySet<number>, SqlError> =>
  withNow((now) => {
    const inWork = table(
      ["id", "epoch", "paged"],
      turns.map(({ company, epoch, isPaged }) => [company, epoch, isPaged ? 1 : 0])
    )
    return Effect.map(
      query`
        UPDATE fleet_company AS f
        SET heartbeat_at = ${now}, starts = CASE WHEN t.paged = 1 THEN ${least}(f.starts, 1) ELSE f.starts END
        FROM ${inWork}
        WHERE f.company_id = t.id AND f.epoch = t.epoch AND f.heartbeat_at IS NOT NULL
        RETURNING company_id`,
      (rows) => new Set(rows.map(({ company_id }) => numberOf(company_id)))
    )
  })

/** Whether the company is still held by this turn. */
export const isHeld = ({ isOf, query }: FleetStatements) => (turn: Lease): Effect.Effect<boolean, SqlError> =>
  Effect.map(query`SELECT 1 FROM fleet_company WHERE ${isOf(turn)}`, (rows) => rows.length > 0)

/**
 * For the first commit of a copy, which compares with nothing: runs it in one transaction with the row, or not at all.
 * `remove --purge` waits for it, or has removed the row: it would be written after what erases it.
 */
export const whileHeld = ({ dialect: { forKeyShare }, isOf, query, transaction }: FleetStatements) =>
<A, E>(
  turn: Lease,
  body: Effect.Effect<A, E>
): Effect.Effect<Option.Option<A>, E | SqlError> =>
  transaction(Effect.gen(function*() {
    const rows = yield* query`SELECT 1 FROM fleet_company WHERE ${isOf(turn)} ${forKeyShare}`
    return rows.length === 0 ? Option.none() : Option.some(yield* body)
  }))

/** Quarantines who ended its process too often, then asks for the right to drain, if a suspect waits. */
export const drain = (statements: FleetStatements) => (runner: string, takeover: number) =>
  statements.withNow((now) => {
    const { big, dialect: { isOneStatement, text }, isPaused, isSuspect, query, transaction } = statements
    const free = statements.isFree(now, takeover)
    const quarantine = query`
      UPDATE fleet_company
      SET state = 'quarantined', reason = 'starts', heartbeat_at = NULL
      WHERE state = 'active' AND starts >= ${big(quarantineStarts)} AND ${free}
      RETURNING company_id`
    const ask = query`
      UPDATE fleet_solo
      SET runner = ${text(runner)}, until = ${now} + ${big(takeover)}
      WHERE (runner = ${text(runner)} OR until < ${now})
        AND NOT ${isPaused(now)}
        AND EXISTS (
          SELECT 1
          FROM fleet_company
          WHERE state = 'active' AND next_at <= ${now} AND ${free} AND ${isSuspect}
        )
      RETURNING 1 AS mine`
    const endless = query`SELECT 1 FROM fleet_pause WHERE until IS NULL AND reason <> 'operator'`
    if (isOneStatement) {
      return Effect.map(
        query`
          WITH quarantined AS (${quarantine}), asked AS (${ask})
          SELECT company_id, 0 AS kind FROM quarantined
          UNION ALL
          SELECT NULL, 1 FROM asked
          UNION ALL
          SELECT NULL, 2 WHERE EXISTS (${endless})`,
        (rows) => ({
          /** Whether a suspect waits for this runner. */
          isDraining: rows.some(({ kind }) => numberOf(kind) === 1),
          /** Whether a pause holds that a probe may end. */
          isPaused: rows.some(({ kind }) => numberOf(kind) === 2),
          quarantined: companyIdsOf(rows.filter(({ kind }) => numberOf(kind) === 0))
        })
      )
    }
    return transaction(Effect.gen(function*() {
      return {
        quarantined: companyIdsOf(yield* quarantine),
        isDraining: (yield* ask).length > 0,
        isPaused: (yield* endless).length > 0
      }
    }))
  })

/** Keeps the right to run alone while a suspect is in work here. */
export const extendSolo = ({ big, dialect: { text }, query, withNow }: FleetStatements) =>
(
  runner: string,
  takeover: number
): Effect.Effect<void, SqlError> =>
  withNow((now) =>
    Effect.asVoid(query`UPDATE fleet_solo SET until = ${now} + ${big(takeover)} WHERE runner = ${text(runner)}`)
  )

export const giveSoloBack =
  ({ dialect: { text }, query }: FleetStatements) => (runner: string): Effect.Effect<void, SqlError> =>
    Effect.asVoid(query`UPDATE fleet_solo SET runner = NULL, until = 0 WHERE runner = ${text(runner)}`)

/** Tries one company, if the pauses that hold have no end and the last attempt is an hour old. */
export const probe =
  (statements: FleetStatements) => (runner: string, takeover: number): Effect.Effect<Claim | undefined, SqlError> => {
    const { big, query, sql, transaction, withNow } = statements
    const attempt = (now: Fragment) =>
      Effect.gen(function*() {
        const due = yield* query`
        UPDATE fleet_pause
        SET probed_at = ${now}
        WHERE until IS NULL
          AND reason <> 'operator'
          AND NOT EXISTS (SELECT 1 FROM fleet_pause AS o WHERE o.reason = 'operator' OR o.until > ${now})
          AND (
            probed_at <= ${now} - ${big(probeEvery)}
            OR EXISTS (
              SELECT 1
              FROM fleet_company AS c
              WHERE c.company_id = probe_company
                AND c.epoch = probe_epoch
                AND c.heartbeat_at < ${now} - ${big(takeover)}
            )
          )
        RETURNING reason`
        if (due.length === 0) return undefined
        const these = sql`starts < ${big(quarantineStarts)}
        ORDER BY starts >= ${big(suspectStarts)}, coalesce(probed_at, 0), next_at
        LIMIT 1`
        const [claimed] = yield* take(statements, now, { runner, takeover }, these, { also: sql`, probed_at = ${now}` })
        // Rolled back: else an hour would pass without a probe.
        if (claimed === undefined) return yield* Effect.fail(noCompany)
        yield* query`
        UPDATE fleet_pause
        SET probe_company = ${big(claimed.company)}, probe_epoch = ${big(claimed.epoch)}
        WHERE until IS NULL AND reason <> 'operator'`
        return claimed
      })
    return Effect.catchTag(transaction(withNow(attempt)), "NoCompany", () => Effect.undefined)
  }

const noCompany = { _tag: "NoCompany" } as const

/** The pauses without an end are tried at once. */
export const probeSoon = ({ query }: FleetStatements): Effect.Effect<void, SqlError> =>
  Effect.asVoid(query`UPDATE fleet_pause SET probed_at = 0 WHERE until IS NULL`)

/** Frees what a dead predecessor of this name held; where a process is alone, what anyone held. */
export const begin =
  (statements: FleetStatements) => (runner: string, isAlone: boolean): Effect.Effect<void, SqlError> =>
    statements.transaction(Effect.gen(function*() {
      const { dialect: { text }, query, sql } = statements
      const whose = isAlone ? raw("") : sql`AND runner = ${text(runner)}`
      yield* query`UPDATE fleet_company SET heartbeat_at = NULL WHERE heartbeat_at IS NOT NULL ${whose}`
      yield* isAlone ? query`UPDATE fleet_solo SET runner = NULL, until = 0` : giveSoloBack(statements)(runner)
      yield* probeSoon(statements)
      yield* query`DELETE FROM fleet_trouble WHERE true ${whose}`
    }))

const claimOf = (row: Row) => ({
  company: numberOf(row.company_id),
  epoch: numberOf(row.epoch),
  guid: isGuid(row.guid) ? row.guid : undefined,
  /** The `next_at` that was claimed. */
  claimed: numberOf(row.next_at),
  /** When the turn began. */
  began: numberOf(row.heartbeat_at),
  every: numberOf(row.every_ms),
  phase: phaseOf(row.phase),
  sweepAt: orUndefined(row.sweep_at),
  fullSweepAt: orUndefined(row.full_sweep_at),
  /** Turns in a row that began and wrote no end, with this one. */
  starts: numberOf(row.starts)
})
