/** The processes of a fleet: each notes every few seconds that it lives, and an operator sees them. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import type { CompanyId } from "../../Ids.ts"
import { numberOf, textOrUndefined } from "../../internal/sql/dialect.ts"
import { retried } from "../../internal/sql/transaction.ts"
import { idOf, instantOf } from "./rows.ts"
import type { FleetStatements } from "./statements.ts"

/** How often a process notes that it lives, and from when on one that does not is silent, in milliseconds. */
export const presentEvery = 5000
const silentAfter = 15_000

/** A company that a process has in work. */
export interface FleetHold {
  /** The company. */
  readonly companyId: CompanyId
  /** How long the process has had it. */
  readonly for: Duration.Duration
}

/** A process of a fleet, by what it last noted in the database. */
export interface FleetProcess {
  /** Its name. */
  readonly runner: string
  /**
   * `working`, or why it leaves companies to others: the service refuses its credential (`refused`), or it does not reach the
   * service (`sick`). `silent`: it has noted nothing for 15 seconds, since it was killed or frozen, or does not reach the database.
   */
  readonly state: "working" | "refused" | "sick" | "silent"
  /** The message of the error, while it is `refused` or `sick`. */
  readonly error: Option.Option<string>
  /** The release of this library that it runs. */
  readonly release: string
  /** When it started, by the clock of the database. */
  readonly startedAt: DateTime.Utc
  /** When it last noted that it lives. */
  readonly seenAt: DateTime.Utc
  /** The companies that it has in work, and for how long; the longest first. */
  readonly holds: ReadonlyArray<FleetHold>
}

/** A process as JSON, without the text of an error, which may quote what the service sent. */
export const encodeProcess = ({ holds, release, runner, seenAt, startedAt, state }: FleetProcess) => ({
  runner,
  state,
  release,
  startedAt: DateTime.formatIso(startedAt),
  seenAt: DateTime.formatIso(seenAt),
  inWork: holds.length,
  holds: holds.map((hold) => ({ companyId: hold.companyId, forSeconds: Duration.toSeconds(hold.for) }))
})

/** Notes that a process lives. At its start, when it started too. */
export const notePresence = ({ dialect: { least, text }, query, withNow }: FleetStatements) =>
(
  runner: string,
  { isStart, release, settings }: { readonly isStart: boolean; readonly release: string; readonly settings: string }
): Effect.Effect<void, SqlError> =>
  withNow((now) =>
    Effect.asVoid(query`
      INSERT INTO fleet_runner AS r (runner, release, started_at, seen_at, settings)
      VALUES (${text(runner)}, ${text(release)}, ${now}, ${now}, ${text(settings)})
      ON CONFLICT (runner) DO UPDATE SET
        release = excluded.release,
        started_at = CASE WHEN ${isStart ? 1 : 0} = 1 THEN excluded.started_at
          ELSE ${least}(r.started_at, excluded.started_at) END,
        seen_at = excluded.seen_at,
        settings = excluded.settings`)
  )

/** Notes that a process ends. */
export const noteEnd =
  ({ dialect: { text }, query }: FleetStatements) => (runner: string): Effect.Effect<void, SqlError> =>
    Effect.asVoid(query`DELETE FROM fleet_runner WHERE runner = ${text(runner)}`)

/** The settings of the other process that has lived longest; `undefined`: no other one lives. */
export const settingsElsewhere = ({ big, dialect: { text }, query, withNow }: FleetStatements) =>
(
  runner: string
): Effect.Effect<{ readonly runner: string; readonly settings: string } | undefined, SqlError> =>
  retried(withNow((now) =>
    Effect.map(
      query`
        SELECT runner, settings
        FROM fleet_runner
        WHERE runner <> ${text(runner)} AND seen_at >= ${now} - ${big(silentAfter)}
        ORDER BY started_at, runner
        LIMIT 1`,
      ([row]) => row && { runner: textOrUndefined(row.runner) ?? "", settings: textOrUndefined(row.settings) ?? "{}" }
    )
  ))

/** What the companies of a fleet need of the service, and what its processes send at most. */
export interface FleetRequests {
  /** Requests a second that the intervals of the active companies need at least: one for each sync run. */
  readonly needed: number
  /** The limit of the processes that run; `None` without a limit, and if none runs or says it. */
  readonly limit: Option.Option<number>
}

const Limit = Schema.fromJsonString(Schema.Struct({ requestsPerSecond: Schema.Finite }))
const decodeLimit = Schema.decodeUnknownOption(Limit)

export const requests = (on: FleetStatements): Effect.Effect<FleetRequests, SqlError> =>
  Effect.gen(function*() {
    const [row] = yield* retried(
      on.query`
        SELECT CAST(coalesce(sum(1000.0 / every_ms), 0) AS double precision) AS needed
        FROM fleet_company
        WHERE state = 'active'`
    )
    // Of all processes: none has an empty name.
    const oldest = yield* settingsElsewhere(on)("")
    return {
      needed: numberOf(row?.needed),
      limit: Option.map(decodeLimit(oldest?.settings), ({ requestsPerSecond }) => requestsPerSecond)
    }
  })

/** Says both numbers if the intervals need more than the limit gives. */
export const overloadText = ({ limit, needed }: FleetRequests): string | undefined =>
  Option.isSome(limit) && needed > limit.value
    ? `the intervals of the companies need ${
      needed.toFixed(1)
    } requests a second or more, and the limit is ${limit.value}`
    : undefined

/** Every process that was seen in the last hour, by name. A lease that is not given back yet counts as held. */
export const runners = (
  { big, query, withNow }: FleetStatements
): Effect.Effect<ReadonlyArray<FleetProcess>, SqlError> =>
  retried(withNow((now) =>
    Effect.gen(function*() {
      const held = yield* query`
        SELECT runner, company_id, ${now} - coalesce(claimed_at, heartbeat_at) AS held
        FROM fleet_company
        WHERE heartbeat_at IS NOT NULL
        ORDER BY held DESC, company_id`
      const rows = yield* query`
        SELECT
          r.runner, release, started_at, seen_at, kind, text,
          CASE WHEN seen_at < ${now} - ${big(silentAfter)} THEN 1 ELSE 0 END AS silent
        FROM fleet_runner AS r LEFT JOIN fleet_trouble AS t ON t.runner = r.runner
        ORDER BY r.runner`
      return rows.map((row): FleetProcess => {
        const trouble = row.kind === "refused" || row.kind === "sick" ? row.kind : undefined
        return {
          runner: textOrUndefined(row.runner) ?? "",
          state: numberOf(row.silent) === 1 ? "silent" : trouble ?? "working",
          error: trouble === undefined ? Option.none() : Option.fromUndefinedOr(textOrUndefined(row.text)),
          release: textOrUndefined(row.release) ?? "",
          startedAt: instantOf(row.started_at),
          seenAt: instantOf(row.seen_at),
          holds: held.flatMap(({ company_id, held, runner }) =>
            runner === row.runner
              ? [{ companyId: idOf(company_id), for: Duration.millis(Math.max(0, numberOf(held))) }]
              : []
          )
        }
      })
    })
  ))
