/** What keeps a fleet in order: its settings, rate limits, what the keeper removes and corrects, and what is measured. */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { CompanyId } from "../../Ids.ts"
import { fragmentOf, numberOf, raw, textOrUndefined } from "../../internal/sql/dialect.ts"
import { retried } from "../../internal/sql/transaction.ts"
import { longestWait } from "../Schedule.ts"
import type { Settings } from "../Settings.ts"
import { companyIdsOf } from "./rows.ts"
import { type FleetStatements, shards } from "./statements.ts"

/** How much of a rate limit is used; what the numbers mean is the algorithm's. */
export interface RateState {
  readonly tokens: number
  readonly at: number
}

/** What an operator watches. `late` is the largest lateness of an active company, and `age` the largest age of its copy, in milliseconds. */
export type Gauges = Effect.Success<ReturnType<typeof gauges>>

/** Stores `takeover` if none is stored; the one that then holds. */
export const takeoverOf =
  ({ dialect: { text }, query }: FleetStatements) => (takeover: number): Effect.Effect<number, SqlError> =>
    retried(Effect.gen(function*() {
      yield* query`
        INSERT INTO fleet_setting (name, value)
        VALUES ('takeover', ${text(String(takeover))})
        ON CONFLICT (name) DO NOTHING`
      const [row] = yield* query`SELECT value FROM fleet_setting WHERE name = 'takeover'`
      return numberOf(row?.value)
    }))

/** The schema that has the tables, which need not be the first one of the session's search path. Only PostgreSQL has one. */
export const schemaOf = ({ query }: FleetStatements): Effect.Effect<string, SqlError> =>
  Effect.map(
    retried(query`
      SELECT nspname AS name
      FROM pg_class AS t JOIN pg_namespace AS s ON s.oid = t.relnamespace
      WHERE t.oid = to_regclass('fleet_company')`),
    ([row]) => textOrUndefined(row?.name) ?? ""
  )

/**
 * Changes the state of a rate limit; who asks for the same key waits. That is every request of every process: a session that
 * is frozen here is ended after a second, since a takeover would outlast all leases. Of a process one session at a time waits:
 * each of those that wait for a frozen process would get the row, and keep it for a second.
 */
export const makeRate = ({ dialect, patiently, query, withNow }: FleetStatements) => {
  const { double, endsIfIdle, forUpdate, text } = dialect
  const oneSession = Semaphore.makeUnsafe(1)
  return <A>(
    key: string,
    step: (now: number, state: RateState | undefined) => readonly [A, RateState]
  ): Effect.Effect<A, SqlError> =>
    oneSession.withPermits(1)(patiently(withNow((now) =>
      Effect.gen(function*() {
        // A row that another process is about to insert is waited for here.
        yield* query`INSERT INTO fleet_rate (key) VALUES (${text(key)}) ON CONFLICT (key) DO NOTHING`
        const [row] = yield* query`
          SELECT tokens, at, ${now} AS now ${endsIfIdle}
          FROM fleet_rate
          WHERE key = ${text(key)}
          ${forUpdate}`
        const known = typeof row?.tokens === "number" && typeof row.at === "number"
          ? { tokens: row.tokens, at: row.at }
          : undefined
        const [result, { at, tokens }] = step(numberOf(row?.now), known)
        yield* query`UPDATE fleet_rate SET tokens = ${double(tokens)}, at = ${double(at)} WHERE key = ${text(key)}`
        return result
      })
    )))
}

/** Why a process leaves companies to others: the service refuses its credential, or it does not reach the service. */
export interface Trouble {
  readonly kind: "refused" | "sick"
  /** The message of the error that showed it. */
  readonly text: string
}

/** Writes, for the other processes and for an operator, that a process is in trouble still, or (`undefined`) no longer. */
export const noteTrouble = ({ dialect: { text }, query, withNow }: FleetStatements) =>
(
  runner: string,
  trouble: Trouble | undefined
): Effect.Effect<void, SqlError> =>
  withNow((now) =>
    Effect.asVoid(
      trouble === undefined ? query`DELETE FROM fleet_trouble WHERE runner = ${text(runner)}` : query`
        INSERT INTO fleet_trouble AS t (runner, kind, since, noted_at, text)
        VALUES (${text(runner)}, ${text(trouble.kind)}, ${now}, ${now}, ${text(trouble.text)})
        ON CONFLICT (runner) DO UPDATE SET
          since = CASE WHEN t.kind = excluded.kind THEN t.since ELSE excluded.since END,
          kind = excluded.kind,
          noted_at = excluded.noted_at,
          text = excluded.text`
    )
  )

/** Removes the minutes of more than a day ago, pauses that ended an hour ago, and processes that are gone. */
export const trim = ({ query, withNow }: FleetStatements): Effect.Effect<void, SqlError> =>
  withNow((now) =>
    Effect.all([
      query`DELETE FROM fleet_minute WHERE minute < ${now} / 60000 - 1440`,
      query`DELETE FROM fleet_pause WHERE until < ${now} - 3600000`,
      query`DELETE FROM fleet_trouble WHERE noted_at < ${now} - 3600000`,
      query`DELETE FROM fleet_runner WHERE seen_at < ${now} - 3600000`
    ], { discard: true })
  )

/** A column, the latest that it can be, and what it becomes if it is later. */
type Corrected = readonly [name: string, latest: Fragment, otherwise: Fragment]

const corrected = ({ query }: FleetStatements, table: string, ...columns: ReadonlyArray<Corrected>) => {
  const columnsOf = columns.flatMap(([name, latest, otherwise], at) => [
    `${at === 0 ? "" : ", "}${name} = CASE WHEN ${name} > `,
    latest,
    " THEN ",
    otherwise,
    ` ELSE ${name} END`
  ])
  const isLater = columns.flatMap(([name, latest], at) => [`${at === 0 ? "" : " OR "}${name} > `, latest])
  return query`UPDATE ${raw(table)} SET ${fragmentOf(...columnsOf)} WHERE ${fragmentOf(...isLater)}`
}

/**
 * Corrects times that lie too far in the future: the clock of the database was ahead when they were written, and has been set
 * back. Until they come, companies would not be synced and would not count as late, and pauses would not end.
 */
export const correctTimes = (statements: FleetStatements) =>
(
  { fullSweepEvery, sweepEvery, takeover }: Pick<Settings, "takeover" | "sweepEvery" | "fullSweepEvery">
): Effect.Effect<void, SqlError> =>
  statements.withNow((now) => {
    const { big, dialect: { greatest }, query, sql } = statements
    const after = (millis: number) => sql`${now} + ${big(millis)}`
    /** Spread, as the slots are: a sweep of all at once would be a burst. */
    const spread = (every: number) => sql`${now} + (company_id % ${shards} + 1) * ${big(Math.floor(every / shards))}`
    // A company that has failed may wait for longer than its interval, but not if a run of the future shows that the clock was set back.
    const isOrdinary = sql`(failures = 0 OR EXISTS (SELECT 1 FROM fleet_run WHERE ended_at > ${after(60_000)}))`
    const fullSweep: ReadonlyArray<Corrected> = fullSweepEvery === 0
      ? []
      : [["full_sweep_at", after(fullSweepEvery), spread(fullSweepEvery)]]
    return Effect.all([
      corrected(
        statements,
        "fleet_company",
        [
          "next_at",
          sql`${now} + CASE WHEN ${isOrdinary} THEN every_ms ELSE ${greatest}(every_ms, ${big(longestWait)}) END`,
          now
        ],
        ["heartbeat_at", after(takeover), raw("NULL")],
        ["last_ok_at", now, now],
        ["added_at", now, now],
        ["sweep_at", after(sweepEvery), spread(sweepEvery)],
        ...fullSweep
      ),
      // No pause and no lease lasts this long.
      corrected(statements, "fleet_pause", ["until", after(3_600_000), now], ["probed_at", after(60_000), big(0)]),
      corrected(statements, "fleet_runner", ["seen_at", after(60_000), now], ["started_at", now, now]),
      corrected(statements, "fleet_solo", ["until", after(takeover + 60_000), big(0)]),
      query`DELETE FROM fleet_run WHERE ended_at > ${after(60_000)}`
    ], { discard: true })
  })

/** What an operator watches: see the metrics of a runner. */
export const gauges = ({ age, lateness, query, withNow }: FleetStatements) =>
  withNow((now) =>
    Effect.map(
      query`
        SELECT
          count(*) FILTER (WHERE next_at <= ${now}) AS due,
          count(*) FILTER (WHERE starts > 1) AS suspects,
          coalesce(max(${lateness(now)}), 0) AS late,
          coalesce(max(${age(now)}), 0) AS age
        FROM fleet_company
        WHERE state = 'active'`,
      ([row]) => ({
        due: numberOf(row?.due),
        suspects: numberOf(row?.suspects),
        late: Math.max(0, numberOf(row?.late)),
        age: Math.max(0, numberOf(row?.age))
      })
    )
  )

/** All companies by id. */
export const companies = ({ query }: FleetStatements): Effect.Effect<ReadonlyArray<CompanyId>, SqlError> =>
  Effect.map(query`SELECT company_id FROM fleet_company ORDER BY company_id`, companyIdsOf)
