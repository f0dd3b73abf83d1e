/**
 * START HERE. The tables and statements of a fleet, for SQLite and PostgreSQL. They are for the claim, the heartbeat and the
 * end of turns, suspects, pauses, and what an operator does. A company is held by the turn with its `epoch`, as long as its
 * `heartbeat_at` is not older than `takeover`. All times are milliseconds of the database's clock; SQLite has none and takes
 * Effect's.
 */
import * as Effect from "effect/Effect"
import {
  begin,
  claim,
  claimSuspect,
  drain,
  extendSolo,
  giveSoloBack,
  heartbeat,
  isHeld,
  probe,
  probeSoon,
  whileHeld
} from "./claims.ts"
import { end, isServedElsewhere, release } from "./ends.ts"
import { companies, correctTimes, gauges, makeRate, noteTrouble, schemaOf, takeoverOf, trim } from "./keeping.ts"
import { makeOperator, statusColumns } from "./operator.ts"
import { noteEnd, notePresence, requests, runners, settingsElsewhere } from "./runners.ts"
import { type FleetStatements, makeStatements } from "./statements.ts"
import { migrateTables, verifyTables } from "./tables.ts"

export type FleetStore = ReturnType<typeof storeOf>

const storeOf = (statements: FleetStatements) => ({
  sql: statements.sql,
  query: statements.query,
  dialect: statements.dialect,
  withNow: statements.withNow,
  claim: claim(statements),
  claimSuspect: claimSuspect(statements),
  heartbeat: heartbeat(statements),
  isHeld: isHeld(statements),
  whileHeld: whileHeld(statements),
  end: end(statements),
  release: release(statements),
  isServedElsewhere: isServedElsewhere(statements),
  drain: drain(statements),
  extendSolo: extendSolo(statements),
  giveSoloBack: giveSoloBack(statements),
  probe: probe(statements),
  probeSoon: probeSoon(statements),
  begin: begin(statements),
  schema: schemaOf(statements),
  takeoverOf: takeoverOf(statements),
  rate: makeRate(statements),
  noteTrouble: noteTrouble(statements),
  notePresence: notePresence(statements),
  noteEnd: noteEnd(statements),
  settingsElsewhere: settingsElsewhere(statements),
  runners: runners(statements),
  requests: requests(statements),
  trim: trim(statements),
  correctTimes: correctTimes(statements),
  gauges: gauges(statements),
  companies: companies(statements),
  statusColumns: statusColumns(statements),
  operator: makeOperator(statements),
  migrate: migrateTables(statements),
  verify: verifyTables(statements)
})

export const makeFleetStore = Effect.map(makeStatements, storeOf)
