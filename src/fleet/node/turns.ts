/**
 * The turns of a runner: it claims companies that are due, syncs each in a fiber, holds their leases, and writes how they ended.
 * With them, since none of the three may begin while another's answer is on its way: suspects, which are synced alone, and
 * probes, which try one company while the fleet is paused.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { SqlError } from "effect/sql/SqlError"
import { version } from "../../internal/wire/userAgent.ts"
import { SyncStore } from "../../sync/SyncStore.ts"
import { TimePunches } from "../../TimePunches.ts"
import { deadline } from "../CompanyState.ts"
import type { Claim } from "../store/claims.ts"
import type { Trouble } from "../store/keeping.ts"
import { presentEvery } from "../store/runners.ts"
import { shards, suspectStarts } from "../store/statements.ts"
import { elapsed, type Loop, makeLoop } from "./loop.ts"
import * as metrics from "./metrics.ts"
import { initialState, isAlone, type Kind, type RunnerBase, type Turn, type TurnBase } from "./state.ts"
import { ask, askEvery, findSilence, listening } from "./trouble.ts"
import { work, type Worked } from "./work.ts"
import { persist, writeEnd } from "./writeEnd.ts"

/** How long a runner with nothing in work waits between two looks for a probe, in milliseconds. */
const probeEvery = 5000

/** What the loop of the claims does next. Pure. */
export const decideTick = (at: {
  readonly isClosing: boolean
  readonly isAlone: boolean
  readonly isDraining: boolean
  readonly inWork: number
  readonly mostInWork: number
  /** Milliseconds since the last probe; 0 if no pause holds that one may end. */
  readonly sinceProbe: number
  /** The trouble of the process, if any: refused it claims nothing, and sick one company at a time, so that it fails few. */
  readonly trouble: Trouble["kind"] | undefined
}): { readonly suspect: boolean; readonly probe: boolean; readonly room: number } => {
  const isIdle = at.inWork === 0
  if (at.isClosing || at.isAlone || at.trouble === "refused") return { suspect: false, probe: false, room: 0 }
  if (at.isDraining) return { suspect: isIdle, probe: false, room: 0 }
  if (at.trouble === "sick") return { suspect: false, probe: false, room: isIdle ? 1 : 0 }
  return { suspect: false, probe: isIdle && at.sinceProbe >= probeEvery, room: Math.max(0, at.mostInWork - at.inWork) }
}

/** The longest time between two claims, in milliseconds. */
const tickEvery = 1000
/** Another process that has completed a turn in the last minute is served, in milliseconds. */
const servedWithin = 60_000
/** After the deadline at which it should let others go first, a turn is ended. */
const grace = 180_000
/** A claim ends within half a minute, at the latest when its connection does. After this time its loop stands still. */
const longestTick = 60_000

/** A runner with what wakes two of its loops. */
interface WakingBase extends TurnBase {
  readonly wakeClaims: Effect.Effect<void>
  readonly wakeDrains: Effect.Effect<void>
  readonly wakeAsks: Effect.Effect<void>
}

/** What a runner does, for its loops and for tests. */
export type Runner = Effect.Success<ReturnType<typeof makeRunner>>

export const makeRunner = Effect.fnUntraced(function*(given: RunnerBase) {
  const { settings } = given
  const state = initialState()
  const base: WakingBase = {
    ...given,
    state,
    syncStore: yield* SyncStore,
    punches: listening(state, yield* TimePunches),
    wakeClaims: Effect.suspend(() => claims.wake),
    wakeDrains: Effect.suspend(() => drains.wake),
    wakeAsks: Effect.suspend(() => asks.wake)
  }
  /** What its loops do, once. */
  const runner = {
    tick: tick(base),
    beat: beat(base),
    drain: drain(base),
    listen: findSilence(base, base.wakeAsks),
    ask: ask(base),
    present: present(base)
  }
  const note = (what: "beatenAt" | "claimedAt" | "triedAt") =>
    Effect.map(elapsed, (now) => {
      state[what] = now
    })
  const claims: Loop = makeLoop(
    "the claim",
    tickEvery,
    Effect.ensuring(Effect.andThen(runner.tick, note("claimedAt")), note("triedAt"))
  )
  const beats = makeLoop("the heartbeat", settings.takeover / 5, Effect.andThen(runner.beat, note("beatenAt")))
  const silences = makeLoop("the search for silence", settings.takeover / 5, runner.listen)
  const drains: Loop = makeLoop("the search for suspects", settings.takeover / 5, runner.drain)
  const asks: Loop = makeLoop("the question whether the service answers", askEvery, runner.ask)

  const notes = makeLoop("the note that this process lives", presentEvery, runner.present)

  let loops: ReadonlyArray<Fiber.Fiber<never>> = []
  const closing = Effect.suspend(() => close(base, loops))
  return {
    ...runner,
    /** Does all of them for ever, in the scope. */
    start: Effect.gen(function*() {
      loops = yield* Effect.forEach(
        [claims, beats, drains, silences, asks, notes],
        (loop) => Effect.forkDetach(loop.run)
      )
      yield* Effect.addFinalizer(() => closing)
      yield* metrics.watchClaims(() => state.claimedAt)
    }),
    /** Ends every turn as not mine, and claims nothing any more: another process has this name. */
    lose: Effect.gen(function*() {
      state.isClosing = true
      state.hasLostName = true
      yield* Effect.forEach([...state.turns.values()], notMine, { discard: true })
    }),
    /** Interrupts every turn and writes that, within 4 seconds. */
    close: closing,
    /** Companies in work. */
    inWork: (): ReadonlyArray<number> => [...state.turns.keys()],
    isDraining: () => state.isDraining,
    /** Why it leaves companies to other processes; `undefined`: it does not. */
    trouble: () => state.trouble,
    /** Up to when the leases were held and companies claimed, by `elapsed`; `-Infinity`: not yet. */
    workedAt: () => Math.min(state.beatenAt, state.claimedAt),
    /** Whether its loop goes round, whatever the database does. */
    isTurning: Effect.map(elapsed, (now) => now - state.triedAt < longestTick)
  }
})

/** Claim and start are one region: an interruption between them would leave a lease without a turn. */
const tick = (base: WakingBase): Effect.Effect<void, SqlError> =>
  Effect.uninterruptible(Effect.gen(function*() {
    const { mine, name, settings: { helpAfter, maxConcurrentSyncs, takeover }, state, store } = base
    const now = yield* elapsed
    const decided = decideTick({
      isClosing: state.isClosing,
      isAlone: isAlone(state),
      isDraining: state.isDraining,
      inWork: state.turns.size,
      mostInWork: maxConcurrentSyncs,
      trouble: state.trouble?.kind,
      sinceProbe: state.isPaused ? now - state.probedAt : 0
    })
    if (decided.suspect) {
      const suspect = yield* store.claimSuspect(name, takeover)
      if (suspect !== undefined) return yield* begin(base, suspect, "suspect")
      state.isDraining = false
      return yield* store.giveSoloBack(name)
    }
    if (decided.probe) {
      state.probedAt = now
      const probe = yield* store.probe(name, takeover)
      if (probe !== undefined) return yield* begin(base, probe, "probe")
    }
    if (decided.room === 0) return
    const ours = mine()
    const isSick = state.trouble !== undefined
    // A process that does not reach the service owns nothing. While others complete turns, it would only keep companies from them.
    if (isSick && (yield* store.isServedElsewhere(name, servedWithin))) return
    const shares = isSick && ours !== undefined
      ? { mine: [], helpAfter: Math.max(helpAfter, takeover) }
      : { mine: ours, helpAfter }
    const claimed = yield* store.claim({ runner: name, takeover, ...shares, room: decided.room })
    state.isFull = !isSick && claimed.length === decided.room
    for (const claim of claimed) yield* begin(base, claim, "ordinary")
    if (!state.mustClaim) return
    state.mustClaim = false
    yield* base.wakeDrains
  }))

const begin = Effect.fnUntraced(function*(base: WakingBase, claim: Claim, kind: Kind) {
  const { mine, state, store } = base
  const { turns } = state
  if (state.isClosing) {
    const release = store.release(claim)
    return yield* Effect.asVoid(persist(state, `that company ${claim.company} was not begun`, release))
  }
  const turn: Turn = {
    claim,
    kind,
    isAlone: claim.starts > suspectStarts,
    isPaged: false,
    isEnding: false,
    isLost: false,
    isGivenBack: false,
    beganAt: yield* elapsed,
    fiber: undefined,
    pages: 0,
    rows: 0,
    at: undefined
  }
  const previous = turns.get(claim.company)
  if (previous !== undefined) yield* notMine(previous)
  turns.set(claim.company, turn)
  const ours = mine()
  yield* metrics.began(claim, ours !== undefined && kind === "ordinary" && !ours.includes(claim.company % shards))
  yield* metrics.inWork(turns.size)
  turn.fiber = yield* Effect.forkDetach(runTurn(base, turn))
})

/** Runs in an uninterruptible region, except the work itself. */
const runTurn = (base: WakingBase, turn: Turn) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const { name, settings: { maxConcurrentSyncs, turnDeadline }, state, store, wakeClaims } = base
      const { turns } = state
      const worked: Effect.Effect<Worked | undefined> = Effect.timeoutOrElse(work(base, turn), {
        duration: turnDeadline + grace,
        orElse: () => Effect.succeed({ outcome: deadline })
      })
      const exit = yield* Effect.exit(restore(worked))
      turn.isEnding = true
      yield* writeEnd(base, turn, exit)
      // Said at once, and from then on once a minute.
      if (state.isTroubleNew) {
        state.isTroubleNew = false
        yield* base.wakeAsks
      }
      // After a freeze this runner may have claimed the company again.
      if (turns.get(turn.claim.company) === turn) turns.delete(turn.claim.company)
      yield* metrics.inWork(turns.size)
      if (state.isFull && turns.size <= maxConcurrentSyncs / 2) yield* wakeClaims
      if (!turn.isAlone) return
      state.mustClaim = true
      state.isDraining = false
      yield* Effect.ignore(store.giveSoloBack(name))
      yield* wakeClaims
    })
  ).pipe(
    Effect.withSpan("Fleet.turn", {
      attributes: { company: turn.claim.company, epoch: turn.claim.epoch, kind: turn.kind, phase: turn.claim.phase }
    })
  )

const beat = ({ state: { turns }, store }: TurnBase): Effect.Effect<void, SqlError> =>
  Effect.gen(function*() {
    const held = [...turns.values()]
    if (held.length === 0) return
    const ours = yield* store.heartbeat(held.map(({ claim: { company, epoch }, isPaged }) => ({
      company,
      epoch,
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

const drain = ({ name, settings: { takeover }, state, store }: TurnBase): Effect.Effect<void, SqlError> =>
  Effect.gen(function*() {
    if (state.isClosing) return
    if (isAlone(state)) return yield* store.extendSolo(name, takeover)
    // A suspect that fails for the process is one no longer.
    if (state.trouble !== undefined) {
      state.isDraining = false
      return
    }
    if (state.mustClaim) return
    const drained = yield* store.drain(name, takeover)
    // A suspect that began while the answer was on its way is alone already.
    state.isDraining = drained.isDraining && !isAlone(state)
    state.isPaused = drained.isPaused
    for (const company of drained.quarantined) {
      yield* Effect.logWarning(`company ${company} is quarantined: five turns of it began, and none ended`)
    }
  })

const present = (base: TurnBase): Effect.Effect<void, SqlError> =>
  Effect.suspend(() => {
    const { name, shared, state, store } = base
    if (state.isClosing) return Effect.void
    const isStart = !state.isNoted
    return Effect.tap(store.notePresence(name, { isStart, release: version, settings: shared }), () =>
      Effect.sync(() => {
        state.isNoted = true
      }))
  })

/** A database that does not answer must not hold up the end of the process. */
const atMost = <A>(duration: Duration.Input, self: Effect.Effect<A>) =>
  Effect.interruptible(Effect.timeoutOption(Effect.flatMap(Effect.forkDetach(self), Fiber.await), duration))

const close = Effect.fnUntraced(function*(
  { name, state, store }: TurnBase,
  loops: ReadonlyArray<Fiber.Fiber<never>>
) {
  state.isClosing = true
  state.closingSince = yield* elapsed
  const fibers = [...state.turns.values()].flatMap(({ fiber }) => fiber === undefined ? [] : [fiber])
  yield* atMost("5 seconds", Fiber.interruptAll([...loops, ...fibers]))
  if (state.hasLostName) return
  yield* atMost("500 millis", Effect.ignore(Effect.andThen(store.giveSoloBack(name), store.noteEnd(name))))
})
