/** How a turn gives its company back: with what it ended with, or interrupted. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { numberOf, orUndefined, raw, textOrUndefined } from "../../internal/sql/dialect.ts"
import {
  decide,
  type Decision,
  type EndContext,
  type Next,
  type Outcome,
  outcomeName,
  type OutcomeTag,
  type PhaseAtEnd,
  type RowAtEnd,
  throttledTags
} from "../CompanyState.ts"
import { slotOf } from "../Schedule.ts"
import type { Settings } from "../Settings.ts"
import type { Claim } from "./claims.ts"
import { errorText, stateOf, truthy } from "./rows.ts"
import type { FleetStatements, Lease } from "./statements.ts"

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
export type Ended = NonNullable<Effect.Success<ReturnType<typeof write>>>

/** The settings that the end of a turn needs. */
export type EndSettings = Pick<Settings, "credentials" | "sweepEvery" | "fullSweepEvery" | "keepTurns">

/** What the end of a turn knows of its row and of the fleet. */
interface EndFacts {
  readonly row: RowAtEnd
  readonly context: Omit<EndContext, "credentials">
}

/**
 * Writes the end of a turn. `undefined`: the company is no longer held by this turn, and nothing was written. Of a turn that
 * failed, the row and the fleet are read first, in the same transaction; the end of any other turn is one statement.
 */
export const end =
  (statements: FleetStatements) =>
  (runner: string, given: End, settings: EndSettings): Effect.Effect<Ended | undefined, SqlError> =>
    "failure" in given.outcome
      ? statements.transaction(Effect.gen(function*() {
        const facts = yield* readFacts(statements, runner, given)
        return facts === undefined ? undefined : yield* write(statements, runner, given, settings, facts)
      }))
      : write(statements, runner, given, settings, unfailed(given))

/** An end without a failure needs nothing of the row: a stored page clears the count, else it stays as the column has it. */
const unfailed = ({ claim: { began, every }, pages }: End): EndFacts => ({
  row: { state: "active", every, failures: 0, tag: undefined, tagCount: 0, tagSince: undefined },
  context: {
    now: began,
    random: 0,
    isPaged: pages > 0,
    isPaused: false,
    throttledOthers: 0,
    unauthorized: 0,
    isServedElsewhere: false,
    active: 0
  }
})

/** How far in the future an end may lie: ends are written at the same time, and clocks are set back. In milliseconds. */
const clockTolerance = 60_000

/**
 * Companies that are always throttled return together after a pause, before any other one has succeeded again. They are not new,
 * and another company was served before the longest pause: they make no second one. In milliseconds.
 */
const servedBefore = 30 * 60_000

/** Of runs: an end that a clock has written before it was set back is not one of the last minutes. */
const endedWithin = ({ big, sql }: FleetStatements, now: Fragment, millis: number): Fragment =>
  sql`ended_at > ${now} - ${big(millis)} AND ended_at <= ${now} + ${big(clockTolerance)}`

const success = raw("outcome IN ('Complete', 'TurnOver')")

/** Whether another process, which is not refused, has completed a turn in the last `millis`. */
const servedElsewhere = (statements: FleetStatements, now: Fragment, runner: string, millis: number): Fragment =>
  statements.sql`
    EXISTS (
      SELECT 1
      FROM fleet_run
      WHERE ${success}
        AND ${endedWithin(statements, now, millis)}
        AND runner <> ${statements.dialect.text(runner)}
        AND runner NOT IN (SELECT runner FROM fleet_trouble WHERE kind = 'refused')
    )`

export const isServedElsewhere =
  (statements: FleetStatements) => (runner: string, millis: number): Effect.Effect<boolean, SqlError> =>
    statements.withNow((now) =>
      Effect.map(
        statements.query`SELECT ${servedElsewhere(statements, now, runner, millis)} AS served`,
        ([row]) => truthy(row?.served)
      )
    )

/** A process that is frozen between the row of a pause and the commit holds up throttled turns of all others for a second only. */
const readFacts = Effect.fnUntraced(
  function*(statements: FleetStatements, runner: string, { claim: turn, outcome, pages }: End) {
    const { big, dialect: { endsIfIdle, forUpdate }, isHeldBy, query, sql, withNow } = statements
    const [row] = yield* withNow((now) =>
      query`
      SELECT state, every_ms, failures, tag, tag_count, tag_since, ${now} AS now ${endsIfIdle}
      FROM fleet_company
      WHERE ${isHeldBy(turn)}
      ${forUpdate}`
    )
    if (row === undefined) return undefined
    const now = numberOf(row.now)
    const throttled = raw(throttledTags.map((tag) => `'${tag}'`).join(", "))
    const within = (millis: number) => endedWithin(statements, big(now), millis)
    const window = Math.max(60_000, turn.every)
    const lastSuccess = sql`(SELECT max(ended_at) FROM fleet_run WHERE ${success} AND ${within(window)})`
    /** Only the end that needs a fact of the last runs has them read. */
    const ifEnded = (tag: OutcomeTag, fact: Fragment) => outcome._tag === tag ? fact : raw("0")
    const throttledOthers = sql`
    (
      SELECT count(DISTINCT company_id)
      FROM fleet_run
      WHERE outcome IN (${throttled})
        AND ${within(60_000)}
        AND company_id <> ${big(turn.company)}
        AND ended_at > coalesce(${lastSuccess}, 0)
        AND (
          (SELECT failures FROM fleet_company AS c WHERE c.company_id = fleet_run.company_id) < 2
          OR NOT EXISTS (SELECT 1 FROM fleet_run WHERE ${success} AND ${within(servedBefore)})
        )
    )`
    const unauthorizedOthers = sql`
    (
      SELECT count(DISTINCT company_id)
      FROM fleet_run
      WHERE outcome = 'Unauthorized'
        AND ${within(window)}
        AND company_id <> ${big(turn.company)}
        AND ended_at > coalesce(${lastSuccess}, 0)
    )`
    const [fleet] = yield* query`
    SELECT
      EXISTS (
        SELECT 1
        FROM fleet_pause
        WHERE reason <> 'operator' AND (until IS NULL OR until > ${big(now)})
      ) AS paused,
      ${ifEnded("Throttled", throttledOthers)} AS throttled,
      ${ifEnded("Refused", unauthorizedOthers)} AS unauthorized,
      ${ifEnded("NoCredential", servedElsewhere(statements, big(now), runner, window))} AS elsewhere,
      (SELECT count(*) FROM (SELECT 1 FROM fleet_company WHERE state = 'active' LIMIT 10) AS few) AS active`
    return {
      row: {
        state: stateOf(row.state),
        every: numberOf(row.every_ms),
        failures: numberOf(row.failures),
        tag: textOrUndefined(row.tag),
        tagCount: numberOf(row.tag_count),
        tagSince: orUndefined(row.tag_since)
      },
      context: {
        now,
        random: yield* Random.next,
        isPaged: pages > 0,
        isPaused: truthy(fleet?.paused),
        throttledOthers: numberOf(fleet?.throttled),
        unauthorized: numberOf(fleet?.unauthorized) + 1,
        isServedElsewhere: truthy(fleet?.elsewhere),
        active: numberOf(fleet?.active)
      }
    } satisfies EndFacts
  }
)

/** Decides, and writes the row, the run and its minute: in one statement where the dialect has that, else in one transaction. */
const write = (
  statements: FleetStatements,
  runner: string,
  given: End,
  settings: EndSettings,
  { context, row }: EndFacts
) => {
  const { dialect: { isOneStatement }, query, sql, transaction, withNow } = statements
  const { isProbe, outcome } = given
  const decision = decide(outcome, row, { ...context, credentials: settings.credentials })
  const isLifted = isProbe && (outcome._tag === "Complete" || outcome._tag === "TurnOver")
  return withNow((now) => {
    const update = query`
      UPDATE fleet_company
      SET ${columnsAtEnd(statements, now, given, settings, decision, context.now)}
      WHERE ${statements.isHeldBy(given.claim)}
      RETURNING company_id, state, reason`
    const insertRun = insertRunOf(statements, now, runner, given)
    const trimRuns = trimRunsOf(statements, given.claim, settings.keepTurns)
    const countMinute = countMinuteOf(statements, now, runner, given)
    const lift = query`DELETE FROM fleet_pause WHERE until IS NULL AND reason <> 'operator'`
    const inOneStatement = query`
      WITH ended AS (${update}), run AS (${insertRun}), trimmed AS (${trimRuns}), counted AS (${countMinute})${
      isLifted ? sql`, lifted AS (${lift} AND EXISTS (SELECT 1 FROM ended))` : raw("")
    }
      SELECT state, reason FROM ended`
    const all = Effect.gen(function*() {
      const [ended] = yield* isOneStatement ? inOneStatement : update
      if (ended === undefined) return undefined
      if (!isOneStatement) {
        yield* Effect.all([insertRun, trimRuns, countMinute], { discard: true })
        if (isLifted) yield* lift
      }
      const pause = decision.pause
      const isPauseNew = pause !== undefined && !(yield* isPausedFor(statements, now, pause.reason))
      if (pause !== undefined) yield* insertPause(statements, now, pause)
      return {
        state: stateOf(ended.state),
        reason: textOrUndefined(ended.reason),
        pause,
        /** Whether no pause of this reason held before. */
        isPauseNew,
        /** Whether pauses were lifted, since this was their probe. */
        isLifted,
        /** When the company is due again. */
        next: decision.next
      }
    })
    return isOneStatement ? all : transaction(all)
  })
}

/** What the end of a turn sets. A `next_at` or an interval that changed since the claim means: due again as it is. */
const columnsAtEnd = (
  statements: FleetStatements,
  now: Fragment,
  given: End,
  settings: EndSettings,
  decision: Decision,
  failedAt: number
): Fragment => {
  const { big, dialect: { text }, sql } = statements
  const { claim: { claimed, company, every }, outcome, pages, phase, rows } = given
  const { failures, next, reason, state, strike } = decision
  return sql`
    heartbeat_at = NULL,
    starts = 0,
    phase = ${text(phase.phase)},
    ${sweepsAtEnd(statements, now, given, settings)}
    next_at = CASE
      WHEN next_at = ${big(claimed)} AND every_ms = ${big(every)} THEN ${nextOf(statements, now, company, every, next)}
      ELSE next_at
    END,
    reason = CASE WHEN state = 'active' THEN ${text(reason)} ELSE reason END,
    state = CASE WHEN state = 'active' THEN ${text(state)} ELSE state END,
    failures = ${outcome._tag === "TurnOver" && pages === 0 ? raw("failures") : big(failures)},
    tag = ${text(strike?.tag)},
    tag_count = ${big(strike?.count ?? 0)},
    tag_since = ${big(strike?.since)},
    last_error = ${lastErrorAtEnd(statements, phase, decision.error, failedAt)},
    last_ok_at = ${lastOkAtEnd(statements, now, given)},
    rows = rows + ${big(rows)}`
}

/** The sweeps that were completed are due at their next slots. */
const sweepsAtEnd = (
  statements: FleetStatements,
  now: Fragment,
  { claim: { company, fullSweepAt, sweepAt }, isFullSweep, phase }: End,
  { fullSweepEvery, sweepEvery }: EndSettings
): Fragment => {
  const { big, sql } = statements
  if (!phase.isSwept) return raw("")
  const swept = (name: "sweep_at" | "full_sweep_at", claimed: number | undefined, every: number): Fragment => {
    const column = raw(name)
    const next = every === 0 ? raw("NULL") : slotAfter(statements, now, company, every)
    return sql`${column} = CASE WHEN ${column} IS NOT DISTINCT FROM ${big(claimed)} THEN ${next} ELSE ${column} END,`
  }
  // No `full_sweep_at`: full sweeps were switched off when the last one ended.
  return isFullSweep || fullSweepAt === undefined
    ? sql`${swept("sweep_at", sweepAt, sweepEvery)} ${swept("full_sweep_at", fullSweepAt, fullSweepEvery)}`
    : swept("sweep_at", sweepAt, sweepEvery)
}

const lastErrorAtEnd = (
  { dialect: { text }, sql }: FleetStatements,
  { isSwept }: PhaseAtEnd,
  error: Decision["error"],
  failedAt: number
): Fragment => {
  if (error === "keep") return raw("last_error")
  if (error !== "clear") return text(errorText(error, failedAt))
  // What a sweep found stays until a sweep has ended.
  return isSwept
    ? raw("NULL")
    : sql`CASE WHEN last_error LIKE ${text(`%"tag":"SyncError.TooManyMissing"%`)} THEN last_error END`
}

const lastOkAtEnd = (
  { big, dialect: { greatest, least }, sql }: FleetStatements,
  now: Fragment,
  { claim: { began }, proven }: End
): Fragment => {
  if (proven === undefined) return raw("last_ok_at")
  const provenAt = proven === "began" ? big(began) : sql`${least}(${big(proven)}, ${now})`
  return sql`${greatest}(coalesce(last_ok_at, ${provenAt}), ${provenAt})`
}

/** The next slot of the company after now: `Schedule.nextSlot` by the clock of the database. */
const slotAfter = ({ big, sql }: FleetStatements, now: Fragment, company: number, every: number): Fragment =>
  sql`(${now} + ${big(every)} - (${now} - ${big(slotOf(company, every))}) % ${big(every)})`

const nextOf = (statements: FleetStatements, now: Fragment, company: number, every: number, next: Next): Fragment => {
  switch (next._tag) {
    case "Now":
      return now
    case "In":
      return statements.sql`(${now} + ${statements.big(next.millis)})`
    case "Slot":
      return slotAfter(statements, now, company, every)
  }
}

/** Nothing is counted of a turn whose row was not written. SQLite reads `ON` after a SELECT without WHERE as that of a join. */
const ofEnded = ({ dialect }: FleetStatements): Fragment =>
  dialect.isOneStatement ? raw("FROM ended") : raw("WHERE true")

const insertRunOf = (
  statements: FleetStatements,
  now: Fragment,
  runner: string,
  { claim: { began, company, epoch }, outcome, pages, rows }: End
) => {
  const { big, dialect: { text }, query } = statements
  return query`
    INSERT INTO fleet_run (company_id, epoch, runner, began_at, ended_at, pages, rows, outcome)
    SELECT ${big(company)}, ${big(epoch)}, ${text(runner)}, ${big(began)}, ${now}, ${big(pages)}, ${big(rows)}, ${
    text(outcomeName(outcome))
  }
    ${ofEnded(statements)}
    ON CONFLICT (company_id, epoch) DO NOTHING`
}

/** Deletes the runs of the company that are too many with the one that ends. */
const trimRunsOf = ({ big, query }: FleetStatements, { company, epoch }: Lease, keepTurns: number) =>
  query`
    DELETE FROM fleet_run
    WHERE company_id = ${big(company)}
      AND epoch <= (
        SELECT epoch
        FROM fleet_run
        WHERE company_id = ${big(company)} AND epoch < ${big(epoch)}
        ORDER BY epoch DESC
        LIMIT 1 OFFSET ${big(keepTurns - 1)}
      )`

const countMinuteOf = (statements: FleetStatements, now: Fragment, runner: string, { outcome, pages, rows }: End) => {
  const { big, dialect: { text }, query } = statements
  return query`
    INSERT INTO fleet_minute AS m (minute, runner, runs, pages, rows, failures)
    SELECT CAST(${now} / 60000 AS bigint), ${text(runner)}, ${big(1)}, ${big(pages)}, ${big(rows)}, ${
    big("failure" in outcome ? 1 : 0)
  }
    ${ofEnded(statements)}
    ON CONFLICT (minute, runner) DO UPDATE SET
      runs = m.runs + 1,
      pages = m.pages + excluded.pages,
      rows = m.rows + excluded.rows,
      failures = m.failures + excluded.failures`
}

const isPausedFor = ({ dialect: { text }, query }: FleetStatements, now: Fragment, reason: string) =>
  Effect.map(
    query`SELECT 1 FROM fleet_pause WHERE reason = ${text(reason)} AND (until IS NULL OR until > ${now})`,
    (rows) => rows.length > 0
  )

/** Pauses the whole fleet, or lengthens the pause of this reason. */
export const insertPause = (
  { big, dialect: { greatest, text }, query, sql }: FleetStatements,
  now: Fragment,
  { by, millis, reason }: {
    readonly reason: string
    readonly millis: number | undefined
    /** The person who pauses. */
    readonly by?: string | undefined
  }
) => {
  const until = millis === undefined ? raw("NULL") : sql`${now} + ${big(millis)}`
  // With DO NOTHING the row of a pause that has ended would stop the next one.
  return query`
    INSERT INTO fleet_pause AS p (reason, until, probed_at, paused_by)
    VALUES (${text(reason)}, ${until}, ${now}, ${text(by)})
    ON CONFLICT (reason) DO UPDATE SET
      paused_by = coalesce(p.paused_by, excluded.paused_by),
      until = ${greatest}(coalesce(p.until, excluded.until), coalesce(excluded.until, p.until))`
}

/** The turn was interrupted with its runner, and begins again at the front. If it was a probe, another one is due at once. */
export const release = (statements: FleetStatements) => (turn: Lease): Effect.Effect<void, SqlError> =>
  statements.transaction(Effect.gen(function*() {
    const { big, dialect: { greatest }, query } = statements
    const released = yield* query`
      UPDATE fleet_company
      SET heartbeat_at = NULL, starts = ${greatest}(starts - 1, 0)
      WHERE ${statements.isHeldBy(turn)}
      RETURNING company_id`
    if (released.length === 0) return
    yield* query`
      UPDATE fleet_pause
      SET probed_at = 0
      WHERE probe_company = ${big(turn.company)} AND probe_epoch = ${big(turn.epoch)}`
  }))
