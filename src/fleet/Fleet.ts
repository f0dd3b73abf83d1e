/** START HERE. What an operator does with a fleet: adds companies, pauses and resumes them, sees which are late. SQL alone. */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { RateLimiterStore } from "effect/persistence/RateLimiter"
import * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import type { InvalidRequest } from "../ApiError.ts"
import { type Company, CompanySchema } from "../Company.ts"
import { CompanyId } from "../Ids.ts"
import { checkOptions, invalidRequest } from "../listing/request.ts"
import { type CompanyStatus, FleetState } from "./CompanyState.ts"
import { type FleetError, translated } from "./FleetError.ts"
import { makeRateLimiterStore } from "./RateLimit.ts"
import { durationForm, readMillis } from "./Settings.ts"
import { type FleetStore, makeFleetStore } from "./store/FleetStore.ts"
import type { Addition, ChangeResult, FleetTurn, Pause, Removal } from "./store/operator.ts"
import type { FleetProcess, FleetRequests } from "./store/runners.ts"

/** A company to add to a fleet. */
export interface FleetCompany extends Company {
  /** How often it is synced, from 1 second to 36,525 days. Default: what it has, or 15 minutes if it is new. */
  readonly every?: Duration.Input | undefined
}

/** What `Fleet.add` did. */
export interface AddResult {
  /** Companies that were not in the fleet. */
  readonly added: ReadonlyArray<CompanyId>
  /** Known companies whose interval or guid changed. */
  readonly changed: ReadonlyArray<CompanyId>
}

/** Which companies `Fleet.list` lists. */
export interface FleetListOptions {
  /** Default: all states. */
  readonly states?: ReadonlyArray<FleetState> | undefined
  /** Whether only companies are listed that are later than their interval. Default `false`. */
  readonly late?: boolean | undefined
}

/** Which companies `Fleet.resumeWhere` resumes. */
export interface FleetSelection {
  /** The state that the companies have. */
  readonly state: Exclude<FleetState, "active">
  /** The reason of that state. Default: any. */
  readonly reason?: string | undefined
}

const verified = Effect.tap(makeFleetStore, ({ verify }) => verify)

/**
 * The operator's side of a fleet. It works while no process of the fleet runs. Every call is one transaction; what a call
 * changes, running processes see within a second. A sync that is in flight finishes.
 *
 * **Example** (Add a company that is synced every five minutes)
 *
 * ```ts
 * import { CompanyGuid, CompanyId } from "effect-time-punches"
 * import { Fleet } from "effect-time-punches/fleet"
 *
 * const guid = CompanyGuid.make("3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60")
 *
 * export const add = Fleet.add([{ id: CompanyId.make(4021), guid, every: "5 minutes" }])
 * ```
 */
export class Fleet extends Context.Service<Fleet, {
  /**
   * Adds companies, due at once. A known one gets the interval and the guid that are given, and keeps the rest. Fails if one is
   * given twice with different guids or intervals.
   */
  readonly add: (companies: Iterable<FleetCompany>) => Effect.Effect<AddResult, FleetError | InvalidRequest>
  /**
   * Removes companies and their turns, in the name of the `FleetOperator`. Punches and checkpoints stay in the copy:
   * `PunchCopy.purge` erases those.
   */
  readonly remove: (ids: Iterable<CompanyId>) => Effect.Effect<ChangeResult, FleetError | InvalidRequest>
  /** Pauses active companies. Their reason is the `FleetOperator`. */
  readonly pause: (ids: Iterable<CompanyId>) => Effect.Effect<ChangeResult, FleetError | InvalidRequest>
  /** Makes companies active again, due at once. A quarantined one is first synced while nothing else runs in its process. */
  readonly resume: (ids: Iterable<CompanyId>) => Effect.Effect<ChangeResult, FleetError | InvalidRequest>
  /** Makes active companies due at once. */
  readonly trigger: (ids: Iterable<CompanyId>) => Effect.Effect<ChangeResult, FleetError | InvalidRequest>
  /** Makes active companies due at once, for a sweep. */
  readonly sweep: (ids: Iterable<CompanyId>) => Effect.Effect<ChangeResult, FleetError | InvalidRequest>
  /** Resumes all companies in a state, or those of them with this reason. Gives the ids. */
  readonly resumeWhere: (
    where: FleetSelection
  ) => Effect.Effect<ReadonlyArray<CompanyId>, FleetError | InvalidRequest>
  /** Lists companies by id. */
  readonly list: (
    options?: FleetListOptions
  ) => Effect.Effect<ReadonlyArray<CompanyStatus>, FleetError | InvalidRequest>
  /** What is known of a company; `None` if it is not in the fleet. */
  readonly status: (id: CompanyId) => Effect.Effect<Option.Option<CompanyStatus>, FleetError | InvalidRequest>
  /** When a company was last removed, and by whom; `None` if it never was. It may have been added again. */
  readonly removal: (id: CompanyId) => Effect.Effect<Option.Option<Removal>, FleetError | InvalidRequest>
  /** The last turns of a company, the latest first. */
  readonly turns: (id: CompanyId) => Effect.Effect<ReadonlyArray<FleetTurn>, FleetError | InvalidRequest>
  /** The processes that were seen in the last hour, by name. */
  readonly processes: Effect.Effect<ReadonlyArray<FleetProcess>, FleetError>
  /** How many requests a second the intervals need, and how many the processes send at most. */
  readonly requests: Effect.Effect<FleetRequests, FleetError>
  /** The pauses that hold: while there is one, no sync begins. */
  readonly pauses: Effect.Effect<ReadonlyArray<Pause>, FleetError>
  /** Pauses the fleet until `resumeAll`, in the name of the `FleetOperator`. */
  readonly pauseAll: Effect.Effect<void, FleetError>
  /** Ends all pauses of the fleet. Companies that are paused or blocked stay so. */
  readonly resumeAll: Effect.Effect<void, FleetError>
}>()("effect-time-punches/fleet/Fleet") {
  /** The fleet in the database of the `SqlClient`: SQLite, or PostgreSQL. Fails with `NotMigrated` if its tables are older. */
  static readonly layer: Layer.Layer<Fleet, FleetError | InvalidRequest, SqlClient> = Layer.effect(
    Fleet,
    Effect.map(verified, (store) => operatorOf(store))
  )

  /**
   * A store for `RateLimiter` of `effect/persistence`, in the database of the fleet: one limit for all its processes. Give it to
   * `RateLimit.layerWithStore`, which goes under the client of `TimePunches`. The adaptive algorithms fail by name, so
   * `HttpClient.withRateLimiter` needs `disableAdaptiveLearning`.
   */
  static readonly layerRateLimiterStore: Layer.Layer<RateLimiterStore, FleetError | InvalidRequest, SqlClient> = Layer
    .unwrap(
      Effect.map(verified, makeRateLimiterStore)
    )

  /** Adds companies, due at once. A known one gets the interval and the guid that are given, and keeps the rest. */
  static readonly add = (
    companies: Iterable<FleetCompany>
  ): Effect.Effect<AddResult, FleetError | InvalidRequest, Fleet> => Fleet.use((fleet) => fleet.add(companies))

  /** Removes companies and their turns. The copy stays: `PunchCopy.purge` erases it. */
  static readonly remove = (
    ids: Iterable<CompanyId>
  ): Effect.Effect<ChangeResult, FleetError | InvalidRequest, Fleet> => Fleet.use((fleet) => fleet.remove(ids))

  /** Pauses active companies. */
  static readonly pause = (ids: Iterable<CompanyId>): Effect.Effect<ChangeResult, FleetError | InvalidRequest, Fleet> =>
    Fleet.use((fleet) => fleet.pause(ids))

  /** Makes companies active again, due at once. */
  static readonly resume = (
    ids: Iterable<CompanyId>
  ): Effect.Effect<ChangeResult, FleetError | InvalidRequest, Fleet> => Fleet.use((fleet) => fleet.resume(ids))

  /** Makes active companies due at once. */
  static readonly trigger = (
    ids: Iterable<CompanyId>
  ): Effect.Effect<ChangeResult, FleetError | InvalidRequest, Fleet> => Fleet.use((fleet) => fleet.trigger(ids))

  /** Makes active companies due at once, for a sweep. */
  static readonly sweep = (ids: Iterable<CompanyId>): Effect.Effect<ChangeResult, FleetError | InvalidRequest, Fleet> =>
    Fleet.use((fleet) => fleet.sweep(ids))

  /** Resumes all companies in a state, or those of them with a reason. Gives the ids. */
  static readonly resumeWhere = (
    where: FleetSelection
  ): Effect.Effect<ReadonlyArray<CompanyId>, FleetError | InvalidRequest, Fleet> =>
    Fleet.use((fleet) => fleet.resumeWhere(where))

  /** Lists companies by id. */
  static readonly list = (
    options?: FleetListOptions
  ): Effect.Effect<ReadonlyArray<CompanyStatus>, FleetError | InvalidRequest, Fleet> =>
    Fleet.use((fleet) => fleet.list(options))

  /** What is known of a company; `None` if it is not in the fleet. */
  static readonly status = (
    id: CompanyId
  ): Effect.Effect<Option.Option<CompanyStatus>, FleetError | InvalidRequest, Fleet> =>
    Fleet.use((fleet) => fleet.status(id))

  /** When a company was last removed, and by whom; `None` if it never was. */
  static readonly removal = (
    id: CompanyId
  ): Effect.Effect<Option.Option<Removal>, FleetError | InvalidRequest, Fleet> =>
    Fleet.use((fleet) => fleet.removal(id))

  /** The last turns of a company, the latest first. */
  static readonly turns = (
    id: CompanyId
  ): Effect.Effect<ReadonlyArray<FleetTurn>, FleetError | InvalidRequest, Fleet> =>
    Fleet.use((fleet) => fleet.turns(id))

  /** The processes that were seen in the last hour, by name. */
  static readonly processes: Effect.Effect<ReadonlyArray<FleetProcess>, FleetError, Fleet> = Fleet.use((fleet) =>
    fleet.processes
  )

  /** How many requests a second the intervals need, and how many the processes send at most. */
  static readonly requests: Effect.Effect<FleetRequests, FleetError, Fleet> = Fleet.use((fleet) => fleet.requests)

  /** The pauses that hold: while there is one, no sync begins. */
  static readonly pauses: Effect.Effect<ReadonlyArray<Pause>, FleetError, Fleet> = Fleet.use((fleet) => fleet.pauses)

  /** Pauses the fleet until `resumeAll`, in the name of the `FleetOperator`. */
  static readonly pauseAll: Effect.Effect<void, FleetError, Fleet> = Fleet.use((fleet) => fleet.pauseAll)

  /** Ends all pauses of the fleet. Companies that are paused or blocked stay so. */
  static readonly resumeAll: Effect.Effect<void, FleetError, Fleet> = Fleet.use((fleet) => fleet.resumeAll)
}

/** The operator's side over a store. @internal */
export const operatorOf = ({ operator, requests, runners }: FleetStore): Fleet["Service"] => {
  const failed = translated("the statement failed")
  const change = (what: "remove" | "pause" | "resume" | "trigger" | "sweep") =>
    Effect.fn(`Fleet.${what}`)(function*(ids: Iterable<CompanyId>) {
      const given = yield* Effect.forEach(ids, checked)
      return yield* failed(operator[what](given))
    })
  return Fleet.of({
    add: Effect.fn("Fleet.add")(function*(companies) {
      const additions = new Map<CompanyId, Addition>()
      for (const company of companies) {
        const one = yield* additionOf(company)
        const { id } = one
        const before = additions.get(id)
        const other = differs(before?.guid, one.guid)
          ? "guid"
          : differs(before?.every, one.every)
          ? "every"
          : undefined
        if (other !== undefined)
          return yield* invalidRequest(id, other, `must have one value: company ${id} is given twice`)
        additions.set(id, { id, guid: one.guid ?? before?.guid, every: one.every ?? before?.every })
      }
      return yield* failed(operator.add([...additions.values()]))
    }),
    remove: change("remove"),
    pause: change("pause"),
    resume: change("resume"),
    trigger: change("trigger"),
    sweep: change("sweep"),
    resumeWhere: Effect.fn("Fleet.resumeWhere")(function*(where) {
      yield* Effect.fromResult(checkOptions(undefined, where, { state: true, reason: true }))
      const { reason, state } = where
      if (!isState(state))
        return yield* invalidRequest(undefined, "state", `must be one of ${FleetState.literals.join(", ")}`)
      return yield* failed(operator.resumeWhere(state, reason))
    }),
    list: Effect.fn("Fleet.list")(function*(options = {}) {
      yield* Effect.fromResult(checkOptions(undefined, options, { states: true, late: true }))
      const { late = false, states } = options
      if (states !== undefined && !areStates(states))
        return yield* invalidRequest(undefined, "states", `must be some of ${FleetState.literals.join(", ")}`)
      return yield* failed(operator.list({ states, isLate: late, id: undefined }))
    }),
    status: Effect.fn("Fleet.status")(function*(id) {
      const [status] = yield* failed(operator.list({ states: undefined, isLate: false, id: yield* checked(id) }))
      return Option.fromUndefinedOr(status)
    }),
    removal: Effect.fn("Fleet.removal")((id) => Effect.flatMap(checked(id), (id) => failed(operator.removal(id)))),
    turns: Effect.fn("Fleet.turns")((id) => Effect.flatMap(checked(id), (id) => failed(operator.runs(id)))),
    processes: failed(runners),
    requests: failed(requests),
    pauses: failed(operator.pauses),
    pauseAll: failed(operator.pauseAll),
    resumeAll: failed(operator.resumeAll)
  })
}

const isId = Schema.is(CompanyId)

/** The id of a caller whom no compiler has checked. */
const checked = (id: CompanyId): Effect.Effect<CompanyId, InvalidRequest> =>
  isId(id) ? Effect.succeed(id) : Effect.fail(invalidRequest(undefined, "id", `must be the id of a company`))

const differs = <A>(one: A | undefined, other: A | undefined): boolean =>
  one !== undefined && other !== undefined && one !== other

const isState = Schema.is(FleetState)
const areStates = Schema.is(Schema.Array(FleetState))
const isCompany = Schema.is(CompanySchema)

const additionOf = Effect.fnUntraced(function*(
  company: FleetCompany
): Effect.fn.Return<Addition, InvalidRequest> {
  const { every, guid, id } = company
  yield* checked(id)
  yield* Effect.fromResult(checkOptions(id, company, { id: true, guid: true, every: true }))
  const named = { id, guid }
  if (!isCompany(named)) return yield* invalidRequest(id, "guid", "must be a UUID")
  if (every === undefined) return { ...named, every }
  const millis = readMillis(every, 1000)
  if (millis === undefined) return yield* invalidRequest(id, "every", `must be ${durationForm("1 second")}`)
  return { ...named, every: millis }
})
