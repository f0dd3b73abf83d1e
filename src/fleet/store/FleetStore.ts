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

const storeOf = (on: FleetStatements) => ({
  sql: on.sql,
  query: on.query,
  dialect: on.dialect,
  withNow: on.withNow,
  claim: claim(on),
  claimSuspect: claimSuspect(on),
  heartbeat: heartbeat(on),
  isHeld: isHeld(on),
  whileHeld: whileHeld(on),
  end: end(on),
  release: release(on),
  isServedElsewhere: isServedElsewhere(on),
  drain: drain(on),
  extendSolo: extendSolo(on),
  giveSoloBack: giveSoloBack(on),
  probe: probe(on),
  probeSoon: probeSoon(on),
  begin: begin(on),
  schema: schemaOf(on),
  takeoverOf: takeoverOf(on),
  rate: makeRate(on),
  noteTrouble: noteTrouble(on),
  notePresence: notePresence(on),
  noteEnd: noteEnd(on),
  settingsElsewhere: settingsElsewhere(on),
  runners: runners(on),
  requests: requests(on),
  trim: trim(on),
  correctTimes: correctTimes(on),
  gauges: gauges(on),
  companies: companies(on),
  statusColumns: statusColumns(on),
  operator: makeOperator(on),
  migrate: migrateTables(on),
  verify: verifyTables(on)
})

export const makeFleetStore = Effect.map(makeStatements, storeOf)
