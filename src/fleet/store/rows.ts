/** What drivers return of the tables of a fleet, as values of this library. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Row } from "effect/sql/SqlConnection"
import { CompanyGuid, CompanyId } from "../../Ids.ts"
import { numberOf, orUndefined, textOrUndefined } from "../../internal/sql/dialect.ts"
import { CompanyError, type CompanyStatus, type Failure, FleetPhase, FleetState } from "../CompanyState.ts"

const isState = Schema.is(FleetState)
const isPhase = Schema.is(FleetPhase)
export const isGuid = Schema.is(CompanyGuid)

/** A state of a newer release is one in which nothing is done. */
export const stateOf = (value: unknown): FleetState => isState(value) ? value : "blocked"
export const phaseOf = (value: unknown): FleetPhase => isPhase(value) ? value : "increment"
export const idOf = (value: unknown): CompanyId => CompanyId.make(numberOf(value))
export const instantOf = (value: unknown): DateTime.Utc => DateTime.makeUnsafe(numberOf(value))

/** PostgreSQL has booleans, SQLite 0 and 1. */
export const truthy = (value: unknown): boolean => value === true || numberOf(value) === 1

export const companyIdsOf = (rows: ReadonlyArray<unknown>): ReadonlyArray<CompanyId> =>
  rows.flatMap((row) => typeof row === "object" && row !== null && "company_id" in row ? [idOf(row.company_id)] : [])

const errorJson = Schema.fromJsonString(CompanyError)
const encodeError = Schema.encodeSync(errorJson)
const decodeError = Schema.decodeUnknownOption(errorJson)

export const errorText = ({ tag, text }: Failure, at: number): string =>
  encodeError({ at: DateTime.makeUnsafe(at), tag, text })

/** A row of `fleet_company` with its lateness, as a page and a list show it. */
export const statusOf = (row: Row): CompanyStatus => ({
  companyId: idOf(row.company_id),
  state: stateOf(row.state),
  phase: phaseOf(row.phase),
  reason: Option.fromUndefinedOr(textOrUndefined(row.reason)),
  every: Duration.millis(numberOf(row.every_ms)),
  nextAt: instantOf(row.next_at),
  lastOkAt: Option.map(Option.fromUndefinedOr(orUndefined(row.last_ok_at)), instantOf),
  late: Duration.millis(Math.max(0, numberOf(row.late))),
  failures: numberOf(row.failures),
  lastError: decodeError(row.last_error),
  rows: numberOf(row.rows)
})
