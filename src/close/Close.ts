/** START HERE for closes. A period of a copy that is closed, corrected and voided, as a record of states that is only added to. */
import * as Arr from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Row } from "effect/sql/SqlConnection"
import { isSqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import { BusinessDate, Cents, CompanyId, DepartmentId, LocationId, RoleId, UserId } from "../Ids.ts"
import { type Database, numberOf, orUndefined, raw } from "../internal/sql/dialect.ts"
import { inSnapshot, retried, transact } from "../internal/sql/transaction.ts"
import { firstIssue } from "../internal/wire/issue.ts"
import { Instant } from "../internal/wire/schema.ts"
import type * as Labor from "../payroll/Labor.ts"
import * as Period from "../payroll/Period.ts"
import * as PeriodCheck from "../payroll/PeriodCheck.ts"
import type { MissingZone } from "../payroll/Zones.ts"
import { storable } from "../sql/columns.ts"
import { failedWith, opened, type TableOptions } from "../sql/connection.ts"
import type { Dialect } from "../sql/Dialect.ts"
import { HistoryUnknown, list as listPunches, type ListOptions, punchOf, rowColumns, rowOf } from "../sql/read.ts"
import { Count } from "../sync/Checkpoint.ts"
import { storeFailed, type SyncError } from "../sync/SyncError.ts"
import * as CloseRecord from "./CloseRecord.ts"

/** The number of the rules by which a state is summed. It changes with a release that sums in another way. */
const sumRules = 1

/** One state of a close: all its sums at an instant of the copy, never a difference. */
export const CloseState = Schema.Struct({
  /** The number of the close, counted from 1 for each company. */
  close: Count,
  /** The state as a text, such as `7.2`: what `voidState` takes. */
  state: Schema.String,
  /** The state that it follows, or that it voids; `None` for the first one. */
  before: Schema.OptionFromNullOr(Schema.String),
  /** What wrote it. */
  kind: Schema.Literals(["close", "correct", "void"]),
  /** The first date of the period. */
  first: BusinessDate,
  /** The last date of the period. */
  last: BusinessDate,
  /** The instant of the copy that is summed, by the clock of the database. */
  at: Instant,
  /** When it was written, by the clock of the database. */
  closedAt: Instant,
  /** Who wrote it; `unknown` if the machine does not say. */
  user: Schema.String,
  /** A note of the person who wrote it. */
  note: Schema.String,
  /** What was accepted, and how often it was found. */
  accepted: Schema.Record(Schema.String, Count),
  /** The sums, sorted by person, location, department and role. A void has none. */
  rows: Schema.Array(CloseRecord.CloseRow),
  /** The time of each person over the thresholds. A void has none. */
  people: Schema.Array(CloseRecord.ClosePerson)
})

/** One state of a close, as `CloseState` decodes it. */
export type CloseState = typeof CloseState.Type

/** A state with what its sums depend on. */
export const RecordedState = Schema.Struct({
  ...CloseState.fields,
  /** The release that summed it. */
  release: Schema.String,
  /** The number of the rules by which it was summed. */
  rules: Count,
  /** The clocks and locations that it adds to the terms of its close. */
  added: Schema.Struct({
    clocks: Schema.Array(CloseRecord.CloseClock),
    locations: Schema.Array(CloseRecord.CloseLocation)
  })
})

/** A state with what its sums depend on, as `RecordedState` decodes it. */
export type RecordedState = typeof RecordedState.Type

/** A whole close: enough to write each of its files again after the copy is erased. */
export const Close = Schema.Struct({
  /** The number of the close. */
  close: Count,
  /** What all its states share. */
  terms: CloseRecord.CloseTerms,
  /** Its states, voids too, in the order in which they were written. */
  states: Schema.Array(RecordedState)
})

/** A whole close, as `Close` decodes it. */
export type Close = typeof Close.Type

/** The period is not ready: something is to be looked at, or to be accepted by name. Nothing was written. */
export class NotReady extends Schema.TaggedError<NotReady>("effect-time-punches/close/NotReady")("NotReady", {
  /** The company. */
  companyId: CompanyId,
  /** How often each kind was found that was not accepted. */
  found: Schema.Record(Schema.String, Count),
  /** The punches to look at. */
  issues: Schema.Array(PeriodCheck.Issue),
  /** Gaps and the age of the copy, a sentence each. */
  details: Schema.Array(Schema.String)
}) {
  /** The kinds, with their numbers. */
  override get message(): string {
    const found = Object.entries(this.found).map(([kind, count]) => `${kind} ${count}`).join(", ")
    return `the period is not ready to be closed: ${[found, ...this.details].join("; ")} [company ${this.companyId}]`
  }
}

/** Instants of the period are in another close that stands. Nothing was written. */
export class PeriodClosed
  extends Schema.TaggedError<PeriodClosed>("effect-time-punches/close/PeriodClosed")("PeriodClosed", {
    /** The company. */
    companyId: CompanyId,
    /** The other close. */
    close: Count,
    /** The instants that both have, and where. */
    detail: Schema.String
  })
{
  /** The other close, and the instants that both have. */
  override get message(): string {
    return `close ${this.close} has ${this.detail} [company ${this.companyId}]`
  }
}

/** No close or state of that name can be meant. Nothing was written. */
export class UnknownClose
  extends Schema.TaggedError<UnknownClose>("effect-time-punches/close/UnknownClose")("UnknownClose", {
    /** The company. */
    companyId: CompanyId,
    /** What was named. */
    name: Schema.String,
    /** Why it cannot be meant. */
    detail: Schema.String
  })
{
  /** What was named, and why it cannot be meant. */
  override get message(): string {
    return `${this.name}: ${this.detail} [company ${this.companyId}]`
  }
}

/** The copy or the closes are not what was read: the copy was erased or pruned, or another process wrote a state. */
export class CloseChanged
  extends Schema.TaggedError<CloseChanged>("effect-time-punches/close/CloseChanged")("CloseChanged", {
    /** The company. */
    companyId: CompanyId,
    /** What changed. */
    detail: Schema.String
  })
{
  /** What changed. */
  override get message(): string {
    return `${this.detail} [company ${this.companyId}]`
  }
}

/** A state that is computed again from the history is not what was recorded. Nothing was written. */
export class RecordDiffers
  extends Schema.TaggedError<RecordDiffers>("effect-time-punches/close/RecordDiffers")("RecordDiffers", {
    /** The company. */
    companyId: CompanyId,
    /** The states that differ, with the people whose sums do; without people if the history does not reach the state. */
    states: Schema.Array(Schema.Struct({ state: Schema.String, people: Schema.Array(UserId), cause: Schema.String }))
  })
{
  /** The states, the people and the cause. */
  override get message(): string {
    const states = this.states.map(({ cause, people, state }) =>
      `${state}: ${cause}${people.length === 0 ? "" : `, users ${people.join(", ")}`}`
    )
    return `the record is not what the history gives: ${states.join("; ")} [company ${this.companyId}]`
  }
}

type ReadError = SyncError | MissingZone | Labor.SumOverflow | HistoryUnknown

/** What stands beside a state when it is written. */
export interface WriteOptions {
  /** A note that is kept with it. */
  readonly note?: string | undefined
  /** Who writes it. Default: `unknown`. */
  readonly user?: string | undefined
  /** The release that writes it, for the record. */
  readonly release?: string | undefined
}

/** What is closed. */
export interface CloseOptions extends Omit<CloseRecord.CloseTermsOptions, "companyId">, WriteOptions {
  /** A punch that is longer than this is `tooLong`. Default: 16 hours. */
  readonly maxDuration?: Duration.Input | undefined
  /** What does not keep the period from being closed. It is recorded with its number. */
  readonly accept?: ReadonlyArray<CloseRecord.Obstacle> | undefined
}

/**
 * Closes a period of a copy with a history: finds what must be looked at, sums the period, and records the sums as its first
 * state, all of one state of the copy. All of it is due. The time of an open punch is due when it has ended.
 *
 * Fails with `NotReady` while `PeriodCheck` finds something, or with a gap, a stale copy or an empty period, unless the kind is
 * accepted; with `PeriodClosed` if another close that stands has an instant of it; with `CloseChanged` if the copy was erased
 * meanwhile; with `HistoryUnknown` if the copy has no history. Nothing is written then.
 */
export const make = (
  company: CompanyId,
  options: CloseOptions,
  tableOptions: TableOptions = {}
): Effect.Effect<CloseState, ReadError | NotReady | PeriodClosed | CloseChanged, SqlClient> =>
  Effect.gen(function*() {
    const accept = new Set<string>(options.accept ?? [])
    const read = yield* inOneState(
      company,
      tableOptions,
      Effect.fnUntraced(function*(database: Db) {
        const copy = yield* readCopy(database, company)
        const standing = standingOf(yield* readCloses(database, company))
        const own = CloseRecord.makeTerms({ ...options, companyId: company })
        const terms = accept.has("edge") ? CloseRecord.alignEdges(own, standing.map(({ terms }) => terms)) : own
        const issues = yield* checkOf(company, terms, options, tableOptions)
        const sums = yield* sumsOf(company, terms, tableOptions)
        return { database, copy, standing, terms, issues, sums }
      })
    )
    yield* refuseOverlap(company, read.terms, read.standing)
    const gaps = CloseRecord.gaps(read.terms, read.standing)
    const found: Record<string, number> = {}
    for (const { kind } of read.issues) found[kind] = (found[kind] ?? 0) + 1
    const isStale = staleAt(read.terms, read.copy)
    if (gaps.length > 0) found["gap"] = gaps.length
    if (isStale !== undefined) found["stale"] = 1
    if (read.sums.rows.length === 0) found["empty"] = 1
    const open = Object.entries(found).filter(([kind]) => !accept.has(kind))
    if (open.length > 0) {
      return yield* new NotReady({
        companyId: company,
        found: Object.fromEntries(open),
        issues: read.issues.filter(({ kind }) => !accept.has(kind)),
        details: [
          ...accept.has("gap") ? [] : gaps.map((gap) => `no close has ${describe(gap)}`),
          ...isStale === undefined || accept.has("stale") ? [] : [isStale]
        ]
      })
    }
    const edges = read.terms.locations.filter(({ begins }) => Option.isSome(begins)).length
    const states = yield* write(read.database, company, read.copy.at, (closes) =>
      Effect.map(refuseOverlap(company, read.terms, standingOf(closes)), (): ReadonlyArray<Planned> => [{
        close: closes.reduce((last, { close }) =>
          Math.max(last, close), 0) + 1,
        number: 1,
        before: undefined,
        kind: "close",
        terms: read.terms,
        added: nothingAdded,
        accepted: edges > 0 ? { ...found, edge: edges } : found,
        sums: read.sums,
        options
      }]))
    return yield* first(states)
  })

/** What is corrected. */
export interface CorrectOptions extends WriteOptions {
  /** The closes. Default: all that stand. */
  readonly closes?: ReadonlyArray<number> | undefined
  /** Clocks of locations that a record lacks. A location that it has keeps its clock. */
  readonly clocks?: ReadonlyMap<LocationId, Period.LocalClock> | undefined
  /**
   * `rules`: a state that was summed by other rules is corrected although it cannot be computed again. `gap`: an added location
   * may leave time in no close.
   */
  readonly accept?: ReadonlyArray<"rules" | "gap"> | undefined
}

/** What a correction wrote. */
export interface Correction {
  /** The new states. Empty: nothing differs. */
  readonly states: ReadonlyArray<CloseState>
  /** States that were corrected although the history does not reach their instant. */
  readonly unverified: ReadonlyArray<string>
  /** Closes that were not named and differ too. */
  readonly others: ReadonlyArray<number>
  /** Locations whose given clock was not used, since the record has another one. */
  readonly kept: ReadonlyArray<LocationId>
  /** The people who had hours in the state before and have none in the new one, with the reasons. */
  readonly lost: ReadonlyArray<LostHours>
}

/**
 * What became of a punch that counted in a state:
 *
 * - `gone`: the service does not list it any more. A permission that was withdrawn looks like that too.
 * - `deleted`: it is deleted.
 * - `moved`: it was moved out of the close, or to another person.
 * - `edited`: it counts, and has no hours any more: it is open, or its clock-out was moved.
 */
export const LossCause = Schema.Literals(["gone", "deleted", "moved", "edited"])

/** What became of a punch, as `LossCause` decodes it. */
export type LossCause = typeof LossCause.Type

/** A person who had hours in a state, and has none in the next one. */
export interface LostHours {
  /** The number of the close. */
  readonly close: number
  /** The person. */
  readonly userId: UserId
  /**
   * How many punches of the person had each cause. If the history does not reach the state before, only `gone` and
   * `deleted` are known.
   */
  readonly causes: Readonly<Partial<Record<LossCause, number>>>
}

/**
 * Sums closes again, and records the next state of each whose sums differ: the difference to the one before is due. All
 * of them are read in one state of the copy, and written in one transaction: a punch that was moved between two closes leaves
 * one and enters the other.
 *
 * The state before is computed again from the history first. Fails with `RecordDiffers` if that is not what was recorded: the
 * history was edited, or the rules of the sums are others. If the history does not reach its instant, the rules alone are
 * compared. Fails with `MissingZone` for a location that a record lacks and `clocks` too, with `PeriodClosed` and `NotReady`
 * as `make` does for an added location, with `UnknownClose` for a close that does not exist or is over, and with
 * `CloseChanged` if another process wrote a state meanwhile. Nothing is written then.
 */
export const correct = (
  company: CompanyId,
  options: CorrectOptions = {},
  tableOptions: TableOptions = {}
): Effect.Effect<
  Correction,
  ReadError | NotReady | PeriodClosed | UnknownClose | RecordDiffers | CloseChanged,
  SqlClient
> =>
  Effect.gen(function*() {
    const accept = new Set<string>(options.accept ?? [])
    const { clocks = new Map() } = options
    const read = yield* inOneState(
      company,
      tableOptions,
      Effect.fnUntraced(function*(database: Db) {
        const copy = yield* readCopy(database, company)
        const all = yield* readCloses(database, company)
        const standing = standingOf(all)
        const named = yield* namedOf(company, all, standing, options.closes)
        const corrected: Array<Corrected> = []
        for (const close of named) {
          const stored = yield* readSums(database, company, close.newest)
          const now = yield* sumsWith(company, close.terms, clocks, tableOptions)
          if (!CloseRecord.isSame(stored, now.sums)) corrected.push({ close, stored, ...now })
        }
        const others: Array<number> = []
        for (const close of standing.filter((each) => !named.includes(each))) {
          const stored = yield* readSums(database, company, close.newest)
          // A close that cannot be summed any more differs too; its own correction says why.
          const isSame = yield* sumsOf(company, close.terms, tableOptions).pipe(
            Effect.map((sums) => CloseRecord.isSame(stored, sums)),
            Effect.catchTags({ MissingZone: () => Effect.succeed(false), SumOverflow: () => Effect.succeed(false) })
          )
          if (!isSame) others.push(close.close)
        }
        const unverified: Array<string> = []
        const differing: Array<Differing> = []
        for (const { close, stored } of corrected) {
          const verdict = yield* verdictOf(company, close, stored, copy, tableOptions)
          const hasOtherRules = close.newest.rules !== sumRules
          if (verdict === undefined && hasOtherRules && !accept.has("rules")) {
            differing.push({
              state: close.newest.state,
              people: [],
              cause: "its rules are others, and the history does not reach it"
            })
          } else if (verdict === undefined) unverified.push(close.newest.state)
          else if (verdict.people.length > 0 && !(hasOtherRules && accept.has("rules"))) differing.push(verdict)
        }
        const lost = yield* Effect.forEach(corrected, (each) => lossesOf(database, company, each, copy, tableOptions))
        return { database, copy, standing, named, corrected, others, unverified, differing, lost: lost.flat() }
      })
    )
    if (read.differing.length > 0) return yield* new RecordDiffers({ companyId: company, states: read.differing })
    yield* refuseAdded(company, read.standing, read.corrected, accept.has("gap"))
    const kept = [...clocks].flatMap(([locationId, clock]) =>
      read.named.some(({ terms }) => CloseRecord.hasOtherClock(terms, locationId, clock)) ? [locationId] : []
    )
    const states = read.corrected.length === 0 ?
      [] :
      yield* write(read.database, company, read.copy.at, (closes) =>
        Effect.forEach(read.corrected, ({ added, close, sums, terms }) => {
          const known = standingOf(closes).find((each) =>
            each.close === close.close
          )
          if (known?.newest.number !== close.newest.number || known.count !== close.count) {
            return new CloseChanged({
              companyId: company,
              detail: `another process wrote a state of close ${close.close}`
            })
          }
          return Effect.succeed<Planned>({
            close: close.close,
            number: close.count + 1,
            before: close.newest.number,
            kind: "correct",
            terms,
            added,
            accepted: accept.has("rules") && close.newest.rules !== sumRules ? { rules: 1 } : {},
            sums,
            options
          })
        }))
    return { states, unverified: read.unverified, others: read.others, kept, lost: read.lost }
  })

/** What is due of a close: what its sums now have more than its newest state that stands. */
export interface Due {
  /** The state that is compared with, such as `7.2`. */
  readonly state: string
  /** The differences, none of them zero. */
  readonly difference: CloseRecord.CloseSums
}

/** What is due of each close that stands, or of one, in one state of the copy. Writes nothing. A close with nothing due is left out. */
export const changed = (
  company: CompanyId,
  close?: number,
  tableOptions: TableOptions = {}
): Effect.Effect<ReadonlyArray<Due>, ReadError | UnknownClose, SqlClient> =>
  inOneState(
    company,
    tableOptions,
    Effect.fnUntraced(function*(database: Db) {
      const all = yield* readCloses(database, company)
      const named = yield* namedOf(company, all, standingOf(all), close === undefined ? undefined : [close])
      const due = yield* Effect.forEach(
        named,
        Effect.fnUntraced(function*({ newest, terms }) {
          const stored = yield* readSums(database, company, newest)
          const difference = CloseRecord.difference(yield* sumsOf(company, terms, tableOptions), stored)
          return { state: newest.state, difference }
        })
      )
      return due.filter(({ difference }) => !CloseRecord.isSame(difference, CloseRecord.nothing))
    })
  )

/** Which state is voided. */
export interface VoidOptions extends WriteOptions {
  /** The state in full, such as `7.2`. */
  readonly state: string
  /** Why. */
  readonly note: string
}

/**
 * Records that the newest state of a close was not paid: its amounts are due again, with the next state. The close is over if
 * no state stands then. Fails with `UnknownClose` unless the state is the newest that stands.
 */
export const voidState = (
  company: CompanyId,
  options: VoidOptions,
  tableOptions: TableOptions = {}
): Effect.Effect<CloseState, SyncError | UnknownClose | CloseChanged, SqlClient> =>
  Effect.gen(function*() {
    const database = yield* opened(company, tableOptions)
    const refuse = (detail: string) => new UnknownClose({ companyId: company, name: options.state, detail })
    const [, close] = /^([1-9]\d{0,8})\.[1-9]\d{0,8}$/.exec(options.state) ?? []
    if (close === undefined) return yield* refuse("a state is a close and its number, such as 7.2")
    const states = yield* write(database, company, undefined, (closes) => {
      const known = closes.find((each) => each.close === Number(close))
      const state = known?.states.find((each) => each.state === options.state)
      if (known === undefined || state === undefined) return refuse("there is no such state")
      if (state.kind === "void") return refuse(`it is itself a void, of ${Option.getOrElse(state.before, () => "")}`)
      const voided = known.states.find((each) => each.kind === "void" && Option.contains(each.before, state.state))
      if (voided !== undefined) return refuse(`it was voided already, by ${voided.state}`)
      const newest = Option.map(CloseRecord.newestOf(known.states), ({ state }) => state)
      if (!Option.contains(newest, state.state)) {
        return refuse(
          `the newest state that stands is ${Option.getOrElse(newest, () => "none")}; a state in the middle that was ` +
            "not paid needs no void: print its file again"
        )
      }
      return Effect.succeed<ReadonlyArray<Planned>>([{
        close: known.close,
        number: known.states.length + 1,
        before: state.number,
        kind: "void",
        terms: known.terms,
        added: nothingAdded,
        accepted: {},
        sums: CloseRecord.nothing,
        options
      }])
    })
    return yield* first(states)
  })

/** The closes of a company, each with all its states and sums; with a number, that one alone. */
export const list = (
  company: CompanyId,
  close?: number,
  tableOptions: TableOptions = {}
): Effect.Effect<ReadonlyArray<Close>, SyncError, SqlClient> =>
  inOneState(
    company,
    tableOptions,
    Effect.fnUntraced(function*(database: Db) {
      const closes = yield* readCloses(database, company)
      return yield* Effect.forEach(
        closes.filter((each) => close === undefined || each.close === close),
        Effect.fnUntraced(function*(each) {
          const states = yield* Effect.forEach(each.states, (state) => recorded(database, company, each, state))
          return { close: each.close, terms: each.terms, states }
        })
      )
    })
  )

/** A state that stands, and the state that it follows. */
export interface StandingState {
  /** The state. */
  readonly state: RecordedState
  /** The state before it; `undefined` for the first one. */
  readonly before: RecordedState | undefined
}

/**
 * A state by its name, such as `7.2`, with the state that it follows: what `PayrollFile.encode` takes. `7` alone is `7.1` while
 * that is the only state of close 7. Fails with `UnknownClose` for a state that does not stand: a void, or one that was voided.
 */
export const find = (
  company: CompanyId,
  name: string,
  tableOptions: TableOptions = {}
): Effect.Effect<StandingState, SyncError | UnknownClose, SqlClient> =>
  Effect.gen(function*() {
    const refuse = (detail: string) => new UnknownClose({ companyId: company, name, detail })
    const [, close, number] = /^([1-9]\d{0,8})(?:\.([1-9]\d{0,8}))?$/.exec(name) ?? []
    if (close === undefined) return yield* refuse("a state is a close and its number, such as 7.2")
    const [found] = yield* list(company, Number(close), tableOptions)
    if (found === undefined) return yield* refuse("there is no such close")
    const { states } = found
    if (number === undefined && states.length > 1) {
      return yield* refuse(`the close has several states, so name one: ${states.map(({ state }) => state).join(", ")}`)
    }
    const state = states.find((each) => each.state === `${close}.${number ?? 1}`)
    if (state === undefined) return yield* refuse("there is no such state")
    const before = states.find((each) => Option.contains(state.before, each.state))
    if (state.kind === "void") return yield* refuse(`it is itself a void, of ${before?.state}`)
    const voided = states.find((each) => each.kind === "void" && Option.contains(each.before, state.state))
    if (voided !== undefined) return yield* refuse(`it was voided by ${voided.state}, so there is nothing to pay of it`)
    return { state, before }
  })

/** What `verify` found in order. */
export interface Verified {
  /** States that the history gives again. */
  readonly states: number
  /** States that the history does not reach. */
  readonly outOfReach: number
}

/**
 * Computes every state again from the history, at its instant; with a number, those of that close. Fails with `RecordDiffers`
 * if one is not what was recorded, or if the history reaches none, and with `UnknownClose` for a number that no close has.
 */
export const verify = (
  company: CompanyId,
  close?: number,
  tableOptions: TableOptions = {}
): Effect.Effect<Verified, ReadError | UnknownClose | RecordDiffers, SqlClient> =>
  inOneState(
    company,
    tableOptions,
    Effect.fnUntraced(function*(database: Db) {
      const copy = yield* readCopy(database, company)
      const differing: Array<Differing> = []
      let [states, outOfReach] = [0, 0]
      const all = yield* readCloses(database, company)
      const verified = close === undefined ? all : all.filter((each) => each.close === close)
      if (close !== undefined && verified.length === 0) {
        return yield* new UnknownClose({ companyId: company, name: `${close}`, detail: "there is no such close" })
      }
      for (const each of verified) {
        for (const newest of each.states.filter(({ kind }) => kind !== "void")) {
          const stored = yield* readSums(database, company, newest)
          const at = { newest, terms: CloseRecord.termsAt(each, newest) }
          const verdict = yield* verdictOf(company, at, stored, copy, tableOptions)
          if (verdict === undefined) outOfReach++
          else if (verdict.people.length > 0) differing.push(verdict)
          else states++
        }
      }
      if (states === 0 && outOfReach > 0) {
        differing.push({ state: `all ${outOfReach} states`, people: [], cause: "the history does not reach them" })
      }
      if (differing.length > 0) return yield* new RecordDiffers({ companyId: company, states: differing })
      return { states, outOfReach }
    })
  )

/** A state as it is stored, without its sums. */
interface StoredState extends Omit<RecordedState, "first" | "last" | "rows" | "people"> {
  readonly number: number
  /** Random, one for each write. */
  readonly token: string
}

interface StoredClose {
  readonly close: number
  readonly terms: CloseRecord.CloseTerms
  readonly states: ReadonlyArray<StoredState>
}

/** A close with a state that stands. */
interface Standing {
  readonly close: number
  readonly newest: StoredState
  /** How many states it has. */
  readonly count: number
  /** The terms of the newest state, with the locations that were added. */
  readonly terms: CloseRecord.CloseTerms
}

interface Corrected extends SumsWith {
  readonly close: Standing
  readonly stored: CloseRecord.CloseSums
}

type Differing = RecordDiffers["states"][number]

type Added = RecordedState["added"]

const nothingAdded: Added = { clocks: [], locations: [] }

/** A state to write. */
interface Planned {
  readonly close: number
  readonly number: number
  readonly before: number | undefined
  readonly kind: CloseState["kind"]
  readonly terms: CloseRecord.CloseTerms
  readonly added: Added
  readonly accepted: Readonly<Record<string, number>>
  readonly sums: CloseRecord.CloseSums
  readonly options: WriteOptions
}

const first = <A>(states: ReadonlyArray<A>): Effect.Effect<A> => {
  const [state] = states
  return state === undefined ? Effect.die("a write of no state") : Effect.succeed(state)
}

const standingOf = (closes: ReadonlyArray<StoredClose>): ReadonlyArray<Standing> =>
  closes.flatMap((close) =>
    Option.toArray(CloseRecord.newestOf(close.states)).map((newest) => ({
      close: close.close,
      newest,
      count: close.states.length,
      terms: CloseRecord.termsAt(close, newest)
    }))
  )

const namedOf = (
  company: CompanyId,
  all: ReadonlyArray<StoredClose>,
  standing: ReadonlyArray<Standing>,
  names: ReadonlyArray<number> | undefined
): Effect.Effect<ReadonlyArray<Standing>, UnknownClose> =>
  names === undefined ? Effect.succeed(standing) : Effect.forEach([...new Set(names)], (name) => {
    const found = standing.find(({ close }) => close === name)
    if (found !== undefined) return Effect.succeed(found)
    const detail = all.some(({ close }) => close === name)
      ? "the close is over: each of its states is voided"
      : "there is no such close"
    return new UnknownClose({ companyId: company, name: String(name), detail })
  })

const describe = ({ locationId, span }: CloseRecord.Neighbour<unknown>): string => {
  const [from, to] = [span.from, span.to].map((millis) => DateTime.formatIso(DateTime.makeUnsafe(millis)))
  return `${from} to ${to}${locationId === undefined ? "" : ` at location ${locationId}`}`
}

const refuseOverlap = (
  company: CompanyId,
  terms: CloseRecord.CloseTerms,
  standing: ReadonlyArray<Standing>,
  isCompared: (each: CloseRecord.Neighbour<unknown>) => boolean = () => true
): Effect.Effect<void, PeriodClosed> => {
  const overlap = CloseRecord.overlaps(terms, standing).find(isCompared)
  return overlap === undefined
    ? Effect.void
    : new PeriodClosed({ companyId: company, close: overlap.other.close, detail: describe(overlap) })
}

/** An added location is compared with the other closes as a new close is. */
const refuseAdded = Effect.fnUntraced(function*(
  company: CompanyId,
  standing: ReadonlyArray<Standing>,
  corrected: ReadonlyArray<Corrected>,
  acceptsGaps: boolean
) {
  const termsNow = standing.map((each) => {
    const own = corrected.find(({ close }) => close.close === each.close)
    return { ...each, terms: own?.terms ?? each.terms }
  })
  for (const { added, close, terms } of corrected) {
    const isAdded = ({ locationId }: CloseRecord.Neighbour<unknown>) =>
      added.locations.some((each) => Option.getOrUndefined(each.locationId) === locationId)
    const others = termsNow.filter((each) => each.close !== close.close)
    yield* refuseOverlap(company, terms, others, isAdded)
    const gaps = CloseRecord.gaps(terms, others).filter(isAdded)
    if (gaps.length > 0 && !acceptsGaps) {
      return yield* new NotReady({
        companyId: company,
        found: { gap: gaps.length },
        issues: [],
        details: gaps.map((gap) => `no close has ${describe(gap)}`)
      })
    }
  }
})

interface SumsWith {
  readonly terms: CloseRecord.CloseTerms
  readonly added: Added
  readonly sums: CloseRecord.CloseSums
}

/** The sums of now, with the locations that they need and the terms lack. */
const sumsWith = (
  company: CompanyId,
  terms: CloseRecord.CloseTerms,
  clocks: ReadonlyMap<LocationId, Period.LocalClock>,
  tableOptions: TableOptions,
  added: Added = nothingAdded
): Effect.Effect<SumsWith, ReadError, SqlClient> =>
  sumsOf(company, terms, tableOptions).pipe(
    Effect.map((sums) => ({ terms, added, sums })),
    Effect.catchTag("MissingZone", (error) => {
      const clock = clocks.get(error.locationId)
      if (clock === undefined) return Effect.fail(error)
      const wider = CloseRecord.withLocation(terms, error.locationId, clock)
      return sumsWith(company, wider, clocks, tableOptions, {
        clocks: [...added.clocks, ...wider.clocks.slice(terms.clocks.length)],
        locations: [...added.locations, ...wider.locations.slice(terms.locations.length)]
      })
    })
  )

const sumsOf = (company: CompanyId, terms: CloseRecord.CloseTerms, tableOptions: TableOptions, at?: DateTime.Utc) =>
  Stream.run(punchesIn(company, CloseRecord.window(terms), { ...tableOptions, at }), CloseRecord.sums(terms))

const punchesIn = (company: CompanyId, clockedIn: Period.Interval, options: ListOptions) =>
  Stream.catchTag(listPunches(company, { clockedIn }, options), "InvalidRequest", Stream.die)

/**
 * Whether the history gives a state again: the people whose sums differ. `undefined` if it does not reach the instant of the
 * state.
 */
const verdictOf = Effect.fnUntraced(function*(
  company: CompanyId,
  { newest, terms }: Pick<Standing, "newest" | "terms">,
  stored: CloseRecord.CloseSums,
  copy: Copy,
  tableOptions: TableOptions
) {
  if (newest.at.epochMilliseconds < copy.since.epochMilliseconds) return undefined
  const again = yield* sumsOf(company, terms, tableOptions, newest.at)
  const { people, rows } = CloseRecord.difference(again, stored)
  const userIds = new Set([...rows, ...people].map(({ userId }) => userId))
  const cause = newest.rules === sumRules ? "its history was edited" : "the rules of its sums are others"
  return {
    state: newest.state,
    people: [...userIds].toSorted((one, other) => one - other),
    cause
  } satisfies Differing
})

/** The people of a correction who lost all their hours, and what became of their punches. */
const lossesOf = Effect.fnUntraced(function*(
  { dialect, sql }: Db,
  company: CompanyId,
  { close, stored, sums, terms }: Corrected,
  copy: Copy,
  tableOptions: TableOptions
) {
  const hoursOf = ({ rows }: CloseRecord.CloseSums) =>
    new Set(rows.flatMap(({ net, userId }) => Duration.toMillis(net) === 0 ? [] : [userId]))
  const now = hoursOf(sums)
  const losses = new Map(
    [...hoursOf(stored)].filter((userId) => !now.has(userId)).map((userId) =>
      [userId, new Map<LossCause, number>()] as const
    )
  )
  if (losses.size === 0) return []
  const isWithin = CloseRecord.contains(terms)
  const count = (userId: UserId, cause: LossCause) => {
    const causes = losses.get(userId)
    causes?.set(cause, (causes.get(cause) ?? 0) + 1)
  }
  const { bigint, tables, timestamp } = dialect
  const select = sql`SELECT ${rowColumns(dialect)} FROM ${tables.rows} WHERE company_id = ${bigint(company)}`
  const read = (statement: Statement.Statement<Row>) =>
    statement.pipe(
      Effect.mapError(failedWith(company, "the rows cannot be read")),
      Effect.flatMap(Effect.forEach((row) => {
        const stored = rowOf(row)
        return Effect.map(Effect.fromResult(punchOf(company, stored)), (punch) => ({ isGone: stored.isGone, punch }))
      }))
    )
  const window = CloseRecord.window(terms)
  if (close.newest.at.epochMilliseconds < copy.since.epochMilliseconds) {
    const rows = yield* read(
      sql`${select} AND clocked_in >= ${timestamp(window.gte.epochMilliseconds)} AND clocked_in < ${
        timestamp(window.lt.epochMilliseconds)
      } AND (deleted OR gone_at IS NOT NULL)`
    )
    for (const { isGone, punch } of rows) if (isWithin(punch)) count(punch.userId, isGone ? "gone" : "deleted")
  } else {
    const then = yield* punchesIn(company, window, { ...tableOptions, at: close.newest.at }).pipe(
      Stream.filter((punch) => losses.has(punch.userId) && isWithin(punch)),
      Stream.runCollect
    )
    for (const chunk of Arr.chunksOf(then, chunkSize)) {
      const rows = yield* read(sql`${select} AND id IN (${sql.csv(chunk.map(({ id }) => bigint(id)))})`)
      const byId = new Map(rows.map((row) => [row.punch.id, row]))
      for (const { id, userId } of chunk) {
        const row = byId.get(id)
        count(
          userId,
          row === undefined || row.isGone
            ? "gone"
            : row.punch.deleted
            ? "deleted"
            : isWithin(row.punch) && row.punch.userId === userId
            ? "edited"
            : "moved"
        )
      }
    }
  }
  return Array.from(losses, ([userId, causes]): LostHours => ({
    close: close.close,
    userId,
    causes: Object.fromEntries(causes)
  })).toSorted((one, other) => one.userId - other.userId)
})

/** What `PeriodCheck` finds in the close, with what it reads around it. */
const checkOf = (
  company: CompanyId,
  terms: CloseRecord.CloseTerms,
  { clock, maxDuration }: CloseOptions,
  tableOptions: TableOptions
) => {
  const checked: PeriodCheck.PeriodCheckOptions<MissingZone> = {
    clock: CloseRecord.isByLocation(clock) ? Period.zones(clock) : clock,
    // A beginning may be moved by less than 48 hours.
    period: (clock) => Period.localDays(clock, terms.daysFrom, terms.last),
    isChecked: CloseRecord.contains(terms),
    maxDuration
  }
  return Stream.run(punchesIn(company, PeriodCheck.window(checked), tableOptions), PeriodCheck.check(checked))
}

/** What is read of the copy. */
interface Copy {
  /** Since when its history is known. */
  readonly since: DateTime.Utc
  /** The instant of its last commit. */
  readonly at: DateTime.Utc
  /** When the last complete pass began, by the service's clock. */
  readonly passBegan: DateTime.Utc | undefined
}

/** Why the copy is too old for the close, or `undefined`. */
const staleAt = (terms: CloseRecord.CloseTerms, { passBegan }: Copy): string | undefined => {
  const end = Math.max(...terms.clocks.map(({ starts }) => starts.at(-1)?.epochMilliseconds ?? 0))
  if (passBegan !== undefined && passBegan.epochMilliseconds >= end) return undefined
  const ends = `the period ends ${DateTime.formatIso(DateTime.makeUnsafe(end))}`
  return passBegan === undefined
    ? `no pass is complete, and ${ends}`
    : `the last complete pass began ${DateTime.formatIso(passBegan)}, and ${ends}: run a sync`
}

/** Runs an effect whose statements all see one state of the database. */
const inOneState = <A, E, R>(
  company: CompanyId,
  tableOptions: TableOptions,
  use: (database: Db) => Effect.Effect<A, E, R>
) =>
  Effect.flatMap(
    opened(company, tableOptions),
    (database) =>
      inSnapshot(database, Stream.fromEffect(use(database))).pipe(
        Stream.catchIf(isSqlError, (error) => Stream.fail(failedWith(company, "the copy cannot be read")(error))),
        Stream.runHead,
        Effect.flatMap(Option.match({ onNone: () => Effect.die("an effect without a value"), onSome: Effect.succeed }))
      )
  )

type Db = Database<Dialect>

const optional = (value: unknown): Option.Option<number> => Option.fromUndefinedOr(orUndefined(value))

const readCopy = Effect.fnUntraced(function*({ dialect, sql }: Db, company: CompanyId) {
  const { bigint, millisOf, tables } = dialect
  const [row] = yield* retried(
    sql<Row>`SELECT ${millisOf("known_since")} AS known_since, ${millisOf("history_last")} AS history_last, ${
      millisOf("pass_began")
    } AS pass_began FROM ${tables.sync} WHERE company_id = ${bigint(company)}`
  )
    .pipe(Effect.mapError(failedWith(company, "the copy cannot be read")))
  const [since, at, passBegan] = ["known_since", "history_last", "pass_began"].map((name) => orUndefined(row?.[name]))
  if (since === undefined || at === undefined) {
    return yield* new HistoryUnknown({ companyId: company, since: Option.none(), asked: yield* DateTime.now })
  }
  return {
    since: DateTime.makeUnsafe(since),
    at: DateTime.makeUnsafe(at),
    passBegan: passBegan === undefined ? undefined : DateTime.makeUnsafe(passBegan)
  } satisfies Copy
})

const TermsText = Schema.fromJsonString(CloseRecord.CloseTerms)
const AddedText = Schema.fromJsonString(RecordedState.fields.added)
const AcceptedText = Schema.fromJsonString(CloseState.fields.accepted)

/** The row of a state, as a driver returns it. */
const StateRow = Schema.Struct({
  kind: CloseState.fields.kind,
  user_name: Schema.String,
  note: Schema.String,
  release: Schema.String,
  accepted: AcceptedText,
  added: AddedText,
  token: Schema.String
})

/** The closes of a company, in turn, with their states but without sums. */
const readCloses = Effect.fnUntraced(function*({ dialect, sql }: Db, company: CompanyId) {
  const { bigint, millisOf, tables } = dialect
  const failed = failedWith(company, "the closes cannot be read")
  const closes = yield* Effect.mapError(
    sql<Row>`SELECT close_id, terms FROM ${tables.close} WHERE company_id = ${bigint(company)} ORDER BY close_id`,
    failed
  )
  const states = yield* Effect.mapError(
    sql<Row>`SELECT close_id, number, before, kind, ${millisOf("at")} AS at, ${
      millisOf("closed_at")
    } AS closed_at, user_name, note, accepted, added, release, rules, token FROM ${tables.closeState} WHERE company_id = ${
      bigint(company)
    } ORDER BY close_id, number`,
    failed
  )
  const decoded = yield* Effect.forEach(
    states,
    Effect.fnUntraced(function*(row) {
      const { user_name: user, ...texts } = yield* decodeStored(company, StateRow, row)
      const [close, number] = [numberOf(row["close_id"]), numberOf(row["number"])]
      return {
        ...texts,
        user,
        close,
        number,
        state: `${close}.${number}`,
        before: Option.map(optional(row["before"]), (before) => `${close}.${before}`),
        at: DateTime.makeUnsafe(numberOf(row["at"])),
        closedAt: DateTime.makeUnsafe(numberOf(row["closed_at"])),
        rules: numberOf(row["rules"])
      }
    })
  )
  return yield* Effect.forEach(
    closes,
    Effect.fnUntraced(function*(row) {
      const close = numberOf(row["close_id"])
      const terms = yield* decodeStored(company, TermsText, row["terms"])
      return { close, terms, states: decoded.filter((state) => state.close === close) } satisfies StoredClose
    })
  )
})

const decodeStored = <S extends Schema.Constraint & { readonly DecodingServices: never }>(
  company: CompanyId,
  schema: S,
  value: unknown
): Effect.Effect<S["Type"], SyncError> =>
  Effect.mapError(
    Schema.decodeUnknownEffect(schema)(value),
    (error) => storeFailed(company, `a close cannot be read at ${firstIssue(error).path}`, error)
  )

/** The sums of a state. */
const readSums = Effect.fnUntraced(function*(
  { dialect, sql }: Db,
  company: CompanyId,
  { close, number }: { readonly close: number; readonly number: number }
) {
  const { bigint, tables } = dialect
  const isOurs = sql`company_id = ${bigint(company)} AND close_id = ${bigint(close)} AND number = ${bigint(number)}`
  const failed = failedWith(company, "the sums of a close cannot be read")
  const rows = yield* Effect.mapError(
    sql<
      Row
    >`SELECT user_id, location_id, department_id, role_id, punches, incomplete, net_ms, cost_cents, tips_cents FROM ${tables.closeRow} WHERE ${isOurs} ORDER BY place`,
    failed
  )
  const people = yield* Effect.mapError(
    sql<Row>`SELECT user_id, above_ms, above_day_ms FROM ${tables.closePerson} WHERE ${isOurs} ORDER BY user_id`,
    failed
  )
  const time = (value: unknown) => Option.map(optional(value), Duration.millis)
  return {
    rows: rows.map((row): CloseRecord.CloseRow => ({
      userId: UserId.make(numberOf(row["user_id"])),
      locationId: LocationId.make(numberOf(row["location_id"])),
      departmentId: Option.map(optional(row["department_id"]), (id) => DepartmentId.make(id)),
      roleId: RoleId.make(numberOf(row["role_id"])),
      punches: numberOf(row["punches"]),
      incomplete: numberOf(row["incomplete"]),
      net: Duration.millis(numberOf(row["net_ms"])),
      cost: Cents.make(numberOf(row["cost_cents"])),
      tips: Cents.make(numberOf(row["tips_cents"]))
    })),
    people: people.map((row): CloseRecord.ClosePerson => ({
      userId: UserId.make(numberOf(row["user_id"])),
      above: time(row["above_ms"]),
      aboveDay: time(row["above_day_ms"])
    }))
  } satisfies CloseRecord.CloseSums
})

/** A state with its sums, as it is shown. */
const recorded = (database: Db, company: CompanyId, { terms: { first, last } }: StoredClose, stored: StoredState) =>
  Effect.map(readSums(database, company, stored), (sums): RecordedState => {
    const { number: _number, token: _token, ...state } = stored
    return { ...state, ...sums, first, last }
  })

/**
 * Writes states in one transaction, which holds up every commit of the company: `plan` sees the closes as they are then. The
 * history must still be known at the instant that was summed. A COMMIT without an answer is looked up by a random token.
 */
const write = <E>(
  database: Db,
  company: CompanyId,
  at: DateTime.Utc | undefined,
  plan: (closes: ReadonlyArray<StoredClose>) => Effect.Effect<ReadonlyArray<Planned>, E>
) =>
  Effect.suspend(() => {
    const { dialect, sql } = database
    const { bigint, millisOf, tables } = dialect
    const token = globalThis.crypto.randomUUID()
    let isOpen = false
    const written = (closes: ReadonlyArray<StoredClose>) =>
      Effect.forEach(
        closes.flatMap((close) =>
          close.states.filter((state) => state.token === token).map((state) => ({ close, state }))
        ),
        ({ close, state }) => recorded(database, company, close, state)
      )
    const body = Effect.gen(function*() {
      const [row] = yield* sql<Row>`SELECT ${millisOf("known_since")} AS known_since, ${
        millisOf("history_last")
      } AS history_last FROM ${tables.sync} WHERE company_id = ${bigint(company)} ${dialect.forUpdate}`
      const before = yield* readCloses(database, company)
      if (isOpen) {
        const done = yield* written(before)
        if (done.length > 0) return done
      }
      const changed = (detail: string) => new CloseChanged({ companyId: company, detail })
      const [since, last] = ["known_since", "history_last"].map((name) => orUndefined(row?.[name]))
      if (row === undefined || last === undefined) return yield* changed("the copy was erased")
      if (at !== undefined && (since === undefined || since > at.epochMilliseconds)) {
        return yield* changed("the history of the instant that was summed is gone")
      }
      for (const each of yield* plan(before)) yield* insert(database, company, each, at, last, token)
      const after = yield* readCloses(database, company)
      isOpen = true
      return yield* written(after)
    })
    return transact(database, body, () => isOpen).pipe(
      Effect.catchIf(isSqlError, (error) => Effect.fail(failedWith(company, "the close cannot be written")(error)))
    )
  })

/** Rows of one statement. */
const chunkSize = 200

const insert = Effect.fnUntraced(function*(
  { dialect, sql }: Db,
  company: CompanyId,
  { accepted, added, before, close, kind, number, options, sums, terms }: Planned,
  at: DateTime.Utc | undefined,
  last: number,
  token: string
) {
  const { bigint, clock, tables, timestamp } = dialect
  const orNull = (value: Option.Option<number>) => Option.match(value, { onNone: () => raw("NULL"), onSome: bigint })
  if (kind === "close") {
    const text = yield* Effect.orDie(Schema.encodeEffect(TermsText)(terms))
    yield* sql`INSERT INTO ${tables.close} (company_id, close_id, terms) VALUES (${bigint(company)}, ${
      bigint(close)
    }, ${text})`
  }
  const key = [bigint(company), bigint(close), bigint(number)]
  const acceptedText = yield* Effect.orDie(Schema.encodeEffect(AcceptedText)(accepted))
  const addedText = yield* Effect.orDie(Schema.encodeEffect(AddedText)(added))
  const { note = "", release = "", user = "unknown" } = options
  yield* sql`INSERT INTO ${tables.closeState} (company_id, close_id, number, before, kind, at, closed_at, user_name, note, accepted, added, release, rules, token) VALUES (${
    listed(key)
  }, ${orNull(Option.fromUndefinedOr(before))}, ${kind}, ${timestamp(at?.epochMilliseconds ?? last)}, ${clock}, ${
    storable(user)
  }, ${storable(note)}, ${acceptedText}, ${addedText}, ${release}, ${bigint(sumRules)}, ${token})`
  const rows = sums.rows.map((row, place) => [
    ...key,
    bigint(place),
    bigint(row.userId),
    bigint(row.locationId),
    orNull(row.departmentId),
    bigint(row.roleId),
    bigint(row.punches),
    bigint(row.incomplete),
    bigint(Duration.toMillis(row.net)),
    bigint(row.cost),
    bigint(row.tips)
  ])
  const people = sums.people.map(({ above, aboveDay, userId }) => [
    ...key,
    bigint(userId),
    orNull(Option.map(above, Duration.toMillis)),
    orNull(Option.map(aboveDay, Duration.toMillis))
  ])
  for (const chunk of Arr.chunksOf(rows, chunkSize)) {
    yield* sql`INSERT INTO ${tables.closeRow} (company_id, close_id, number, place, user_id, location_id, department_id, role_id, punches, incomplete, net_ms, cost_cents, tips_cents) VALUES ${
      tuples(chunk)
    }`
  }
  for (const chunk of Arr.chunksOf(people, chunkSize)) {
    yield* sql`INSERT INTO ${tables.closePerson} (company_id, close_id, number, user_id, above_ms, above_day_ms) VALUES ${
      tuples(chunk)
    }`
  }
})

const comma = Statement.literal(", ")

const listed = (parts: ReadonlyArray<Statement.Fragment>): Statement.Fragment =>
  Statement.fragment(parts.flatMap(({ segments }, at) => at === 0 ? segments : [comma, ...segments]))

const tuples = (rows: ReadonlyArray<ReadonlyArray<Statement.Fragment>>): Statement.Fragment =>
  listed(
    rows.map((row) => Statement.fragment([Statement.literal("("), ...listed(row).segments, Statement.literal(")")]))
  )
