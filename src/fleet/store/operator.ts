/** What an operator does with a fleet: single statements, attempted again for 5 seconds. */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { Company } from "../../Company.ts"
import type { CompanyId } from "../../Ids.ts"
import { numberOf, orUndefined, raw, textOrUndefined } from "../../internal/sql/dialect.ts"
import { retried } from "../../internal/sql/transaction.ts"
import type { CompanyStatus, FleetState } from "../CompanyState.ts"
import { insertPause } from "./ends.ts"
import { companyIdsOf, instantOf, statusOf } from "./rows.ts"
import type { FleetStatements } from "./statements.ts"

/** Who operates a fleet, as pauses and removals name them. Default: no name. The command says `user@host`. */
export const FleetOperator = Context.Reference<string | undefined>("effect-time-punches/fleet/FleetOperator", {
  defaultValue: () => undefined
})

/** A pause of the whole fleet. */
export interface Pause {
  /** `operator`, or the error that made it. */
  readonly reason: string
  /** When it ends by itself; `None`: when a probe succeeds, or an operator ends it. */
  readonly until: Option.Option<DateTime.Utc>
  /** Who paused the fleet, if an operator did: the `FleetOperator` of that call. */
  readonly by: Option.Option<string>
}

/** A pause as JSON. */
export const encodePause = ({ by, reason, until }: Pause) => ({
  reason,
  until: Option.getOrNull(Option.map(until, DateTime.formatIso)),
  by: Option.getOrNull(by)
})

/** That a company was removed. It stays known when the copy is erased and when the company is added again. */
export interface Removal {
  /** When, by the clock of the database. */
  readonly at: DateTime.Utc
  /** Who removed it: the `FleetOperator` of that call. */
  readonly by: Option.Option<string>
}

/** A turn that ended. */
export interface FleetTurn {
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
export interface ChangeResult {
  /** Companies that are changed now. */
  readonly changed: ReadonlyArray<CompanyId>
  /** Ids that are not in the fleet. */
  readonly unknown: ReadonlyArray<CompanyId>
  /** Companies whose state does not allow it. */
  readonly inactive: ReadonlyArray<CompanyId>
}

/** A company to add. */
export interface Addition extends Company {
  /** Milliseconds; `undefined` keeps that of a known company. */
  readonly every: number | undefined
}

const defaultEvery = 900_000

/** Companies of one statement. */
const companiesAtOnce = 5000

/** Sorted: two calls that change the same companies never wait for each other in a circle. */
const inChunks = <A>(all: ReadonlyArray<A>, idOf: (one: A) => number): ReadonlyArray<ReadonlyArray<A>> => {
  const sorted = all.toSorted((one, other) => idOf(one) - idOf(other))
  return Array.from(
    { length: Math.ceil(sorted.length / companiesAtOnce) },
    (_, at) => sorted.slice(at * companiesAtOnce, (at + 1) * companiesAtOnce)
  )
}

/** The companies that are not among these rows, and those that are. */
const parted = (companies: ReadonlyArray<Addition>, rows: ReadonlyArray<unknown>) => {
  const ids = new Set(companyIdsOf(rows))
  return [companies.filter(({ id }) => !ids.has(id)), companies.filter(({ id }) => ids.has(id))] as const
}

/** Companies as a table of a statement. A guid has no character that an array would have to quote. */
const given = ({ dialect }: FleetStatements, companies: ReadonlyArray<Addition>): Fragment =>
  dialect.table(
    ["id", "guid", "every", "given"],
    companies.map(({ every, guid, id }) => [id, guid ?? null, every ?? defaultEvery, every === undefined ? 0 : 1])
  )

const updateKnown = (statements: FleetStatements, known: ReadonlyArray<Addition>) =>
  statements.withNow((now) =>
    statements.query`
      UPDATE fleet_company AS f
      SET
        guid = coalesce(t.guid, f.guid),
        every_ms = CASE WHEN t.given = 1 THEN t.every ELSE f.every_ms END,
        next_at = CASE
          WHEN t.given = 1 AND t.every <> f.every_ms THEN ${statements.dialect.least}(f.next_at, ${now} + t.every)
          ELSE f.next_at
        END
      FROM ${given(statements, known)}
      WHERE f.company_id = t.id
        AND (t.guid <> coalesce(f.guid, '') OR (t.given = 1 AND t.every <> f.every_ms))
      RETURNING company_id`
  )

/** The first `epoch` is the time: with 0 a turn of a row that was removed would take the new one for its own. */
const insertNew = (statements: FleetStatements, news: ReadonlyArray<Addition>) =>
  statements.withNow((now) =>
    statements.query`
      INSERT INTO fleet_company (
        company_id, guid, state, phase, every_ms, added_at, next_at, epoch, starts, failures, tag_count, rows
      )
      SELECT id, guid, 'active', 'first', every, ${now}, ${now}, ${now}, 0, 0, 0, 0
      FROM ${given(statements, news)}
      WHERE true
      ON CONFLICT (company_id) DO NOTHING
      RETURNING company_id`
  )

const add = (statements: FleetStatements) =>
(
  additions: ReadonlyArray<Addition>
): Effect.Effect<
  { readonly added: ReadonlyArray<CompanyId>; readonly changed: ReadonlyArray<CompanyId> },
  SqlError
> =>
  statements.patiently(Effect.gen(function*() {
    const { dialect: { forUpdate, isIn }, query } = statements
    const added: Array<CompanyId> = []
    const changed: Array<CompanyId> = []
    for (const chunk of inChunks(additions, ({ id }) => id)) {
      let rest = chunk
      // What another call adds between the two statements is known the second time.
      while (rest.length > 0) {
        const locked = yield* query`
          SELECT company_id
          FROM fleet_company
          WHERE ${isIn("company_id", rest.map(({ id }) => id))}
          ORDER BY company_id
          ${forUpdate}`
        const [news, known] = parted(rest, locked)
        if (known.length > 0) changed.push(...companyIdsOf(yield* updateKnown(statements, known)))
        if (news.length === 0) break
        const inserted = yield* insertNew(statements, news)
        added.push(...companyIdsOf(inserted))
        rest = parted(news, inserted)[0]
      }
    }
    return { added, changed }
  }))

/** Applies a statement to companies, chunk by chunk, and says which of them it changed. */
const change = (
  statements: FleetStatements,
  statement: (now: Fragment, which: Fragment) => Effect.Effect<ReadonlyArray<unknown>, SqlError>
) =>
(ids: ReadonlyArray<CompanyId>): Effect.Effect<ChangeResult, SqlError> =>
  statements.patiently(Effect.gen(function*() {
    const found = new Set<number>()
    const changed = new Set<number>()
    const chunks = inChunks([...new Set(ids)], (id) => id)
    for (const chunk of chunks) {
      const which = statements.dialect.isIn("company_id", chunk)
      for (const row of yield* statements.query`SELECT company_id FROM fleet_company WHERE ${which}`) {
        found.add(numberOf(row.company_id))
      }
      for (const id of companyIdsOf(yield* statements.withNow((now) => statement(now, which)))) changed.add(id)
    }
    const sorted = chunks.flat()
    return {
      changed: sorted.filter((id) => changed.has(id)),
      unknown: sorted.filter((id) => !found.has(id)),
      inactive: sorted.filter((id) => found.has(id) && !changed.has(id))
    }
  }))

const remove = (statements: FleetStatements) => (ids: ReadonlyArray<CompanyId>) =>
  Effect.flatMap(FleetOperator, (by) =>
    change(statements, (now, which) =>
      Effect.gen(function*() {
        const { dialect: { table, text }, query } = statements
        const removed = yield* query`DELETE FROM fleet_company WHERE ${which} RETURNING company_id`
        yield* query`DELETE FROM fleet_run WHERE ${which}`
        yield* query`
          INSERT INTO fleet_removal (company_id, removed_at, removed_by)
          SELECT id, ${now}, ${text(by)}
          FROM ${table(["id"], companyIdsOf(removed).map((id) => [id]))}
          WHERE true
          ON CONFLICT (company_id) DO UPDATE SET removed_at = excluded.removed_at, removed_by = excluded.removed_by`
        return removed
      }))(ids))

const removal = ({ big, query }: FleetStatements) => (id: CompanyId): Effect.Effect<Option.Option<Removal>, SqlError> =>
  Effect.map(
    retried(query`SELECT removed_at, removed_by FROM fleet_removal WHERE company_id = ${big(id)}`),
    ([row]) =>
      Option.map(Option.fromUndefinedOr(row), ({ removed_at, removed_by }) => ({
        at: instantOf(removed_at),
        by: Option.fromUndefinedOr(textOrUndefined(removed_by))
      }))
  )

/** Sets columns of the companies that are in these states. */
const set = (
  statements: FleetStatements,
  columns: (now: Fragment) => Fragment,
  where: Fragment = statements.sql`state = 'active'`
) =>
  change(
    statements,
    (now, which) =>
      statements.query`UPDATE fleet_company SET ${columns(now)} WHERE ${where} AND ${which} RETURNING company_id`
  )

const resumed = ({ sql }: FleetStatements) => (now: Fragment): Fragment =>
  sql`
    state = 'active',
    reason = NULL,
    next_at = ${now},
    failures = 0,
    tag = NULL,
    tag_count = 0,
    tag_since = NULL,
    starts = CASE WHEN state = 'quarantined' THEN 2 ELSE starts END`

const resumeWhere = (statements: FleetStatements) =>
(
  state: FleetState,
  reason: string | undefined
): Effect.Effect<ReadonlyArray<CompanyId>, SqlError> => {
  const { dialect: { text }, query, sql, withNow } = statements
  const ofReason = reason === undefined ? raw("") : sql`AND reason = ${text(reason)}`
  return retried(withNow((now) =>
    Effect.map(
      query`
        UPDATE fleet_company
        SET ${resumed(statements)(now)}
        WHERE state = ${text(state)} AND state <> 'active' ${ofReason}
        RETURNING company_id`,
      companyIdsOf
    )
  ))
}

/** What `statusOf` reads. */
export const statusColumns = ({ lateness, sql }: FleetStatements) => (now: Fragment): Fragment =>
  sql`
    company_id, state, phase, reason, every_ms, next_at, last_ok_at, ${
    lateness(now)
  } AS late, failures, last_error, rows`

const list = (statements: FleetStatements) =>
(options: {
  readonly states: ReadonlyArray<FleetState> | undefined
  readonly isLate: boolean
  readonly id: CompanyId | undefined
}): Effect.Effect<ReadonlyArray<CompanyStatus>, SqlError> =>
  retried(statements.withNow((now) => {
    const { big, lateness, query, sql } = statements
    const states = options.states === undefined
      ? raw("")
      : sql`AND state IN (${raw(["''", ...options.states.map((state) => `'${state}'`)].join(", "))})`
    return Effect.map(
      query`
        SELECT ${statusColumns(statements)(now)}
        FROM fleet_company
        WHERE true
          ${states}
          ${options.isLate ? sql`AND ${lateness(now)} > every_ms` : raw("")}
          ${options.id === undefined ? raw("") : sql`AND company_id = ${big(options.id)}`}
        ORDER BY company_id`,
      (rows) => rows.map(statusOf)
    )
  }))

const runs = ({ big, query }: FleetStatements) => (id: CompanyId): Effect.Effect<ReadonlyArray<FleetTurn>, SqlError> =>
  Effect.map(
    retried(query`SELECT * FROM fleet_run WHERE company_id = ${big(id)} ORDER BY epoch DESC`),
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
  )

const pauses = ({ query, withNow }: FleetStatements): Effect.Effect<ReadonlyArray<Pause>, SqlError> =>
  retried(withNow((now) =>
    Effect.map(
      query`SELECT reason, until, paused_by FROM fleet_pause WHERE until IS NULL OR until > ${now} ORDER BY reason`,
      (rows) =>
        rows.map((row) => ({
          reason: textOrUndefined(row.reason) ?? "",
          until: Option.map(Option.fromUndefinedOr(orUndefined(row.until)), (at) => DateTime.makeUnsafe(at)),
          by: Option.fromUndefinedOr(textOrUndefined(row.paused_by))
        }))
    )
  ))

export const makeOperator = (statements: FleetStatements) => {
  const { dialect: { text }, query, sql, withNow } = statements
  return {
    add: add(statements),
    remove: remove(statements),
    removal: removal(statements),
    pause: (ids: ReadonlyArray<CompanyId>) =>
      Effect.flatMap(FleetOperator, (by) => set(statements, () => sql`state = 'paused', reason = ${text(by)}`)(ids)),
    resume: set(statements, resumed(statements), sql`state <> 'active'`),
    trigger: set(statements, (now) => sql`next_at = ${now}`),
    sweep: set(statements, (now) => sql`next_at = ${now}, sweep_at = ${now}`),
    resumeWhere: resumeWhere(statements),
    list: list(statements),
    runs: runs(statements),
    pauses: pauses(statements),
    pauseAll: Effect.flatMap(FleetOperator, (by) =>
      retried(
        withNow((now) => Effect.asVoid(insertPause(statements, now, { reason: "operator", millis: undefined, by })))
      )),
    resumeAll: retried(Effect.asVoid(query`DELETE FROM fleet_pause`))
  }
}
