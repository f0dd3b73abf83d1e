/**
 * The turns of a runner: it claims companies that are due, syncs each in a fiber, holds their leases, and writes how they ended.
 * With them, since none of the three may begin while another's answer is on its way: suspects, which are synced alone, and
 * probes, which try one company while the fleet is paused.
 */
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import type { ListError } from "../../ApiError.ts"
import type { Company } from "../../Company.ts"
import { CompanyId } from "../../Ids.ts"
import * as Sync from "../../sync/Sync.ts"
import { storeFailed, SyncError } from "../../sync/SyncError.ts"
import type { RunOptions, SyncSummary } from "../../sync/SyncOptions.ts"
import { SyncStore } from "../../sync/SyncStore.ts"
import { TimePunches } from "../../TimePunches.ts"
import { deadline, defectOf, type Outcome, outcomeName, outcomeOf, phaseAfter } from "../CompanyState.ts"
import type { Settings } from "../Settings.ts"
import type { Claim } from "../store/claims.ts"
import type { End, Ended } from "../store/ends.ts"
import type { FleetStore } from "../store/FleetStore.ts"
import { shards, suspectStarts } from "../store/statements.ts"
import { elapsed, makeLoop, reasonOf } from "./loop.ts"
import * as metrics from "./metrics.ts"

/** What a runner stands on. */
interface RunnerBase {
  readonly store: FleetStore
  readonly settings: Settings
  /** The name of the runner in the rows that it holds. */
  readonly name: string
  /** The shards that are its own now; `undefined` if the fleet has one process. */
  readonly mine: () => ReadonlyArray<number> | undefined
}

/** What brought a company into work: its schedule, a suspicion, or a pause that is tried. */
type Kind = "ordinary" | "suspect" | "probe"

/** A company in work. */
interface Turn {
  readonly claim: Claim
  readonly kind: Kind
  /** Nothing else may run in this process. */
  readonly isAlone: boolean
  isPaged: boolean
  /** Its end is being written, so a heartbeat that misses it means nothing. */
  isEnding: boolean
  /** Another turn holds the company: nothing may be written. */
  isLost: boolean
  fiber: Fiber.Fiber<void> | undefined
  pages: number
  rows: number
  /** The pass that it was at last. */
  at: SyncSummary["kind"] | undefined
}

/** The longest time between two claims, in milliseconds. */
const tickEvery = 1000
const probeEvery = 5000
const retryEvery = 500
/** How long the end of a turn is tried to be written while the runner closes, in milliseconds. */
const closingPatience = 4000
/** After the deadline at which it should let others go first, a turn is ended. */
const grace = 180_000
/** Calls of a turn whose company was written by someone else meanwhile. */
const mostCalls = 3

/** What the loop of the claims does next. Pure. */
export const decideTick = (at: {
  readonly isClosing: boolean
  readonly isAlone: boolean
  readonly isDraining: boolean
  readonly inWork: number
  readonly mostInWork: number
  /** Milliseconds since the last probe; 0 if no pause holds that one may end. */
  readonly sinceProbe: number
}): { readonly suspect: boolean; readonly probe: boolean; readonly room: number } => {
  const isIdle = at.inWork === 0
  if (at.isClosing || at.isAlone) return { suspect: false, probe: false, room: 0 }
  if (at.isDraining) return { suspect: isIdle, probe: false, room: 0 }
  return { suspect: false, probe: isIdle && at.sinceProbe >= probeEvery, room: Math.max(0, at.mostInWork - at.inWork) }
}

/** Which call of the sync a turn makes. Pure. */
export const planOf = (
  { began, fullSweepAt, phase, sweepAt }: Pick<Claim, "began" | "fullSweepAt" | "phase" | "sweepAt">,
  { fullSweepEvery, sweepWindow }: Pick<Settings, "fullSweepEvery" | "sweepWindow">
): { readonly _tag: "Run" } | { readonly _tag: "Sweep"; readonly from: number | undefined } => {
  const isDue = (at: number | undefined) => at !== undefined && at <= began
  const isFull = fullSweepEvery > 0 && isDue(fullSweepAt)
  if (phase === "first" || !(isDue(sweepAt) || isFull)) return { _tag: "Run" }
  // Without an end: a sweep that is running must contain the window, or another one would begin behind it.
  return { _tag: "Sweep", from: isFull ? undefined : began - sweepWindow }
}

/** What a runner does, for its loops and for tests. */
export interface Runner {
  /** Claims, once. */
  readonly tick: Effect.Effect<void, SqlError>
  /** Holds the leases, once. */
  readonly beat: Effect.Effect<void, SqlError>
  /** Looks for suspects, once. */
  readonly drain: Effect.Effect<void, SqlError>
  /** Does all three for ever, in the scope. */
  readonly start: Effect.Effect<void, never, Scope.Scope>
  /** Ends every turn as not mine, and claims nothing any more: another process has this name. */
  readonly lose: Effect.Effect<void>
  /** Interrupts every turn and writes that, within 4 seconds. */
  readonly close: Effect.Effect<void>
  /** Companies in work. */
  readonly inWork: () => ReadonlyArray<number>
  readonly isDraining: () => boolean
  /** When the leases were held last, by `elapsed`; `undefined`: not yet. */
  readonly lastBeat: () => number | undefined
}

export const makeRunner = Effect.fnUntraced(function*({ mine, name, settings, store }: RunnerBase) {
  const syncStore = yield* SyncStore
  const punches = yield* TimePunches
  /** The copy, of which the first commit of a company is made only while its lease is held. */
  const storeOf = ({ claim }: Turn): SyncStore["Service"] => ({
    ...syncStore,
    commit: (batch, previous) =>
      Option.isSome(previous)
        ? syncStore.commit(batch, previous)
        : store.whileHeld(claim, syncStore.commit(batch, previous)).pipe(
          Effect.catchTag("SqlError", ({ message }) => unread(claim, message)),
          Effect.flatMap(Option.match({
            onNone: () => Effect.fail(new SyncError({ reason: "Superseded", companyId: batch.company })),
            onSome: Effect.succeed
          }))
        )
  })

  const turns = new Map<number, Turn>()
  let isDraining = false
  /** Whether a pause holds that a probe may end. The search for suspects reads it too: a statement less for an idle fleet. */
  let isPaused = false
  /** One ordinary claim comes between two suspects. */
  let mustClaim = false
  /** Whether the last claim found as many as it could take. The next one then begins when there is room for half of the most. */
  let isFull = false
  let isClosing = false
  let closingSince = -Infinity
  let probedAt = -Infinity
  let beatenAt: number | undefined

  const isAlone = () => [...turns.values()].some((turn) => turn.isAlone)

  // The sync of a company.

  /** One call of the sync; `undefined`: the company is another turn's. */
  const call = Effect.fnUntraced(function*(turn: Turn, plan: ReturnType<typeof planOf>) {
    const { claim, pages, rows } = turn
    const company: Company = { id: CompanyId.make(claim.company), ...(claim.guid && { guid: claim.guid }) }
    const stored = yield* syncStore.load(company.id)
    const restarts = Option.match(Option.flatMap(stored, ({ running }) => running), {
      onNone: () => 0,
      onSome: ({ restarts }) => restarts
    })
    let isRead = false
    let failure: string | undefined
    const options: RunOptions = {
      claim: true,
      // Cursors that died while the company waited would die again: then it continues to the end.
      stopAfter: { duration: settings.turnDeadline, ...(restarts > 0 ? {} : { pages: settings.pagesPerTurn }) },
      onCommit: Effect.fnUntraced(function*(soFar) {
        turn.pages = pages + soFar.pages
        turn.rows = rows + soFar.written
        turn.at = soFar.kind
        if (soFar.pages > 0) turn.isPaged = true
        if (!isRead) {
          // The claim's own commit has cut off every older turn.
          const held = yield* Effect.exit(store.isHeld(claim))
          if (Exit.isFailure(held)) {
            failure = reasonOf(held.cause)
            return false
          }
          isRead = true
          if (!held.value) {
            turn.isLost = true
            return false
          }
        }
        // A long turn would keep the suspect waiting. The suspect itself would end after a page, as no suspect, and kill others
        // on its second.
        return !(isDraining && !turn.isAlone && soFar.pages > 0)
      })
    }
    const window = plan._tag === "Sweep" && plan.from !== undefined ? { gte: DateTime.makeUnsafe(plan.from) } : {}
    const summary =
      yield* (plan._tag === "Run" ? Sync.run(company, options) : Sync.sweep(company, { ...options, window }))
        .pipe(Effect.provideService(SyncStore, storeOf(turn)), Effect.provideService(TimePunches, punches))
    if (failure !== undefined) return yield* unread(claim, failure)
    return turn.isLost ? undefined : summary
  })

  /** Everything that a turn does before its end is written. */
  const work = Effect.fnUntraced(function*(turn: Turn) {
    const plan = planOf(turn.claim, settings)
    for (let calls = 1;; calls++) {
      const called: Result.Result<SyncSummary | undefined, ListError | SyncError> = yield* Effect.result(
        call(turn, plan)
      )
      if (Result.isSuccess(called)) {
        if (called.success === undefined) return undefined
        const { complete, resumed } = called.success
        const outcome: Outcome = complete ? { _tag: "Complete", isResumed: resumed } : { _tag: "TurnOver" }
        return { outcome, plan }
      }
      const error = called.failure
      if (error._tag !== "SyncError" || error.reason !== "Superseded") return { outcome: outcomeOf(error), plan }
      yield* metrics.refused
      // Someone else wrote: a sync of the operator's, or the next owner of the company.
      const held = yield* Effect.exit(store.isHeld(turn.claim))
      if (Exit.isFailure(held)) return { outcome: outcomeOf(unread(turn.claim, reasonOf(held.cause))), plan }
      if (!held.value) return undefined
      if (calls === mostCalls) return { outcome: outcomeOf(error), plan }
    }
  })

  // The end of a turn.

  const endOf = Effect.fnUntraced(function*(turn: Turn, { outcome, plan }: Worked) {
    const { claim, pages, rows } = turn
    return {
      claim,
      outcome,
      phase: phaseAfter(claim.phase, outcome, turn.at),
      isFullSweep: claim.phase === "first" || (plan?._tag === "Sweep" && plan.from === undefined),
      proven: outcome._tag !== "Complete" ? undefined : outcome.isResumed ? yield* provenBy(claim) : "began",
      isProbe: turn.kind === "probe",
      pages,
      rows
    } satisfies End
  })

  /** A resumed pass proves only what was there when it began. */
  const provenBy = ({ company }: Claim): Effect.Effect<number | undefined> =>
    syncStore.load(CompanyId.make(company)).pipe(
      Effect.map((stored) => Option.flatMap(stored, ({ at }) => at)),
      Effect.catchCause(() => Effect.succeedNone),
      Effect.map((at) => Option.match(at, { onNone: () => undefined, onSome: (at) => at.epochMilliseconds }))
    )

  /** Tries until it is written; while the runner closes, for 4 seconds, after which the lease expires by itself. */
  const persist = Effect.fnUntraced(function*<A>(what: string, write: Effect.Effect<A, SqlError>) {
    for (let failures = 0;; failures++) {
      const exit = yield* Effect.exit(write)
      if (Exit.isSuccess(exit)) return Option.some(exit.value)
      if (failures % (60_000 / retryEvery) === 0)
        yield* Effect.logWarning(`${what} cannot be written yet: ${reasonOf(exit.cause)}`)
      if (isClosing && (yield* elapsed) - closingSince >= closingPatience) return Option.none<A>()
      yield* Effect.sleep(retryEvery)
    }
  })

  const writeEnd = Effect.fnUntraced(function*(turn: Turn, exit: Exit.Exit<Worked | undefined>) {
    const { company } = turn.claim
    if (turn.isLost) return
    // Else something in the sync interrupted itself: a turn that is put back without a word would begin again at once, for ever.
    if (isClosing && Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)) {
      yield* persist(`that company ${company} was interrupted`, store.release(turn.claim))
      return
    }
    const worked = Exit.isFailure(exit) ? { outcome: defectOf(reasonOf(exit.cause)) } : exit.value
    if (worked === undefined) return
    const end = yield* endOf(turn, worked)
    const ended = Option.getOrUndefined(
      yield* persist(`the end of company ${company}`, store.end(name, end, settings))
    )
    if (ended === undefined) return
    yield* metrics.ended(outcomeName(end.outcome), end)
    yield* report(end, ended)
  })

  /** Runs in an uninterruptible region, except the work itself. */
  const runTurn = (turn: Turn) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function*() {
        const worked: Effect.Effect<Worked | undefined> = Effect.timeoutOrElse(work(turn), {
          duration: settings.turnDeadline + grace,
          orElse: () => Effect.succeed({ outcome: deadline })
        })
        const exit = yield* Effect.exit(restore(worked))
        turn.isEnding = true
        yield* writeEnd(turn, exit)
        // After a freeze this runner may have claimed the company again.
        if (turns.get(turn.claim.company) === turn) turns.delete(turn.claim.company)
        yield* metrics.inWork(turns.size)
        if (isFull && turns.size <= settings.maxConcurrentSyncs / 2) yield* claims.wake
        if (!turn.isAlone) return
        mustClaim = true
        isDraining = false
        yield* Effect.ignore(store.giveSoloBack(name))
        yield* claims.wake
      })
    ).pipe(
      Effect.withSpan("Fleet.turn", {
        attributes: { company: turn.claim.company, epoch: turn.claim.epoch, kind: turn.kind, phase: turn.claim.phase }
      })
    )

  const begin = Effect.fnUntraced(function*(claim: Claim, kind: Kind) {
    const turn: Turn = {
      claim,
      kind,
      isAlone: claim.starts > suspectStarts,
      isPaged: false,
      isEnding: false,
      isLost: false,
      fiber: undefined,
      pages: 0,
      rows: 0,
      at: undefined
    }
    if (isClosing)
      return yield* Effect.asVoid(persist(`that company ${claim.company} was not begun`, store.release(claim)))
    const before = turns.get(claim.company)
    if (before !== undefined) yield* notMine(before)
    turns.set(claim.company, turn)
    const ours = mine()
    yield* metrics.began(claim, ours !== undefined && kind === "ordinary" && !ours.includes(claim.company % shards))
    yield* metrics.inWork(turns.size)
    turn.fiber = yield* Effect.forkDetach(runTurn(turn))
  })

  // What the loops do once.

  /** Claim and start are one region: an interruption between them would leave a lease without a turn. */
  const tick: Effect.Effect<void, SqlError> = Effect.uninterruptible(Effect.gen(function*() {
    const now = yield* elapsed
    const decided = decideTick({
      isClosing,
      isAlone: isAlone(),
      isDraining,
      inWork: turns.size,
      mostInWork: settings.maxConcurrentSyncs,
      sinceProbe: isPaused ? now - probedAt : 0
    })
    if (decided.suspect) {
      const suspect = yield* store.claimSuspect(name, settings.takeover)
      if (suspect !== undefined) return yield* begin(suspect, "suspect")
      isDraining = false
      return yield* store.giveSoloBack(name)
    }
    if (decided.probe) {
      probedAt = now
      const probe = yield* store.probe(name, settings.takeover)
      if (probe !== undefined) return yield* begin(probe, "probe")
    }
    if (decided.room === 0) return
    const claimed = yield* store.claim({
      runner: name,
      takeover: settings.takeover,
      helpAfter: settings.helpAfter,
      mine: mine(),
      room: decided.room
    })
    isFull = claimed.length === decided.room
    for (const claim of claimed) yield* begin(claim, "ordinary")
    if (!mustClaim) return
    mustClaim = false
    yield* drains.wake
  }))

  const beat: Effect.Effect<void, SqlError> = Effect.gen(function*() {
    const held = [...turns.values()]
    if (held.length === 0) return
    const ours = yield* store.heartbeat(held.map(({ claim, isPaged }) => ({
      company: claim.company,
      epoch: claim.epoch,
      isPaged
    })))
    const lost = held.filter((turn) =>
      turns.get(turn.claim.company) === turn && !turn.isEnding && !ours.has(turn.claim.company)
    )
    yield* Effect.forEach(lost, notMine, { discard: true })
  })

  /** The turn ends without a word. The loop does not wait for it: a sync that cannot be interrupted must not hold up heartbeats. */
  const notMine = (turn: Turn) =>
    Effect.gen(function*() {
      turn.isLost = true
      // Its end may be written, and the answer on its way.
      if (!turn.isEnding) yield* metrics.lost
      if (turn.fiber !== undefined) yield* Effect.forkDetach(Fiber.interrupt(turn.fiber))
    })

  const drain: Effect.Effect<void, SqlError> = Effect.gen(function*() {
    if (isClosing) return
    if (isAlone()) return yield* store.extendSolo(name, settings.takeover)
    if (mustClaim) return
    const drained = yield* store.drain(name, settings.takeover)
    // A suspect that began while the answer was on its way is alone already.
    isDraining = drained.isDraining && !isAlone()
    isPaused = drained.isPaused
    for (const company of drained.quarantined) {
      yield* Effect.logWarning(`company ${company} is quarantined: five turns of it began, and none ended`)
    }
  })

  const beaten = Effect.map(elapsed, (now) => {
    beatenAt = now
  })

  const claims = makeLoop("the claim", tickEvery, tick)
  const beats = makeLoop("the heartbeat", settings.takeover / 5, Effect.andThen(beat, beaten))
  const drains = makeLoop("the search for suspects", settings.takeover / 5, drain)

  let loops: ReadonlyArray<Fiber.Fiber<never>> = []

  /** A database that does not answer must not hold up the end of the process. */
  const atMost = <A>(duration: Duration.Input, self: Effect.Effect<A>) =>
    Effect.interruptible(Effect.timeoutOption(Effect.flatMap(Effect.forkDetach(self), Fiber.await), duration))

  const close = Effect.gen(function*() {
    isClosing = true
    closingSince = yield* elapsed
    const fibers = [...turns.values()].flatMap(({ fiber }) => fiber === undefined ? [] : [fiber])
    yield* atMost("5 seconds", Fiber.interruptAll([...loops, ...fibers]))
    yield* atMost("500 millis", Effect.ignore(store.giveSoloBack(name)))
  })

  return {
    tick,
    beat,
    drain,
    start: Effect.gen(function*() {
      loops = yield* Effect.forEach([claims, beats, drains], (loop) => Effect.forkDetach(loop.run))
      yield* Effect.addFinalizer(() => close)
    }),
    lose: Effect.gen(function*() {
      isClosing = true
      yield* Effect.forEach([...turns.values()], notMine, { discard: true })
    }),
    close,
    inWork: () => [...turns.keys()],
    isDraining: () => isDraining,
    lastBeat: () => beatenAt
  } satisfies Runner
})

const unread = ({ company }: Claim, reason: string) =>
  storeFailed(CompanyId.make(company), `the lease cannot be read: ${reason}`, undefined)

/** What a turn did before its end is written. */
interface Worked {
  readonly outcome: Outcome
  readonly plan?: ReturnType<typeof planOf>
}

/** One line for each change of state: what an operator acts on. */
const report = (
  { claim, outcome }: End,
  { isLifted, pause, reason, state }: Ended
): Effect.Effect<void> => {
  const why = "failure" in outcome ? `: ${outcome.failure.text}` : ""
  const lines: Array<Effect.Effect<void>> = []
  if (reason !== undefined && (state === "blocked" || state === "quarantined")) {
    lines.push(Effect.logWarning(`company ${claim.company} is ${state} (${reason})${why}`))
  }
  if (pause !== undefined) lines.push(Effect.logWarning(`the fleet is paused (${pause.reason})${why}`))
  if (isLifted) lines.push(Effect.logInfo("the fleet is no longer paused"))
  return lines.length === 0
    ? Effect.logDebug(`company ${claim.company}: ${outcomeName(outcome)}${why}`)
    : Effect.all(lines, { discard: true })
}
