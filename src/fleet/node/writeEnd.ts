/** How a turn writes its end. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type { SqlError } from "effect/sql/SqlError"
import { CompanyId } from "../../Ids.ts"
import type { SyncStore } from "../../sync/SyncStore.ts"
import { defectOf, type Next, outcomeName, phaseAfter } from "../CompanyState.ts"
import type { Claim } from "../store/claims.ts"
import type { End, Ended } from "../store/ends.ts"
import { elapsed, reasonOf } from "./loop.ts"
import * as metrics from "./metrics.ts"
import type { RunnerState, Turn, TurnBase } from "./state.ts"
import { noteOutcome } from "./trouble.ts"
import type { Worked } from "./work.ts"

const retryEvery = 500
/** How long the end of a turn is tried to be written while the runner closes, in milliseconds. */
const closingPatience = 4000

const endOf = Effect.fnUntraced(function*(syncStore: SyncStore["Service"], turn: Turn, { outcome, plan }: Worked) {
  const { claim, pages, rows } = turn
  return {
    claim,
    outcome,
    phase: phaseAfter(claim.phase, outcome, turn.at),
    isFullSweep: claim.phase === "first" || (plan?._tag === "Sweep" && plan.from === undefined),
    proven: outcome._tag !== "Complete" ? undefined : outcome.isResumed ? yield* provenBy(syncStore, claim) : "began",
    isProbe: turn.kind === "probe",
    pages,
    rows
  } satisfies End
})

/** A resumed pass proves only what was there when it began. */
const provenBy = (syncStore: SyncStore["Service"], { company }: Claim): Effect.Effect<number | undefined> =>
  syncStore.load(CompanyId.make(company)).pipe(
    Effect.map((stored) => Option.flatMap(stored, ({ at }) => at)),
    Effect.catchCause(() => Effect.succeedNone),
    Effect.map((at) => Option.match(at, { onNone: () => undefined, onSome: (at) => at.epochMilliseconds }))
  )

/** Tries until it is written; while the runner closes, for 4 seconds, after which the lease expires by itself. */
export const persist = <A>(
  state: RunnerState,
  what: string,
  write: Effect.Effect<A, SqlError>
): Effect.Effect<Option.Option<A>> =>
  Effect.suspend(() => {
    let failures = 0
    return Effect.sandbox(write).pipe(
      Effect.tapError(() => metrics.failed("the end of a turn")),
      Effect.tapError((cause) =>
        failures++ % (60_000 / retryEvery) === 0
          ? Effect.logWarning(`${what} cannot be written yet: ${reasonOf(cause)}`)
          : Effect.void
      ),
      Effect.retry({
        schedule: Schedule.spaced(retryEvery),
        while: () => Effect.map(elapsed, (now) => !state.isClosing || now - state.closingSince < closingPatience)
      }),
      Effect.option
    )
  })

/** Writes how a turn ended, or that it was interrupted, and says what an operator acts on. */
export const writeEnd = Effect.fnUntraced(function*(base: TurnBase, turn: Turn, exit: Exit.Exit<Worked | undefined>) {
  const { name, settings, state, store, syncStore } = base
  const { company } = turn.claim
  if (turn.isLost) return
  // Else something in the sync interrupted itself: a turn that is put back without a word would begin again at once, for ever.
  if ((state.isClosing || turn.isGivenBack) && Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)) {
    yield* persist(state, `that company ${company} was interrupted`, store.release(turn.claim))
    return
  }
  const worked = Exit.isFailure(exit) ? { outcome: defectOf(reasonOf(exit.cause)) } : exit.value
  if (worked === undefined) return
  const end = yield* endOf(syncStore, turn, worked)
  yield* noteOutcome(base, turn.claim, worked.outcome)
  const ended = Option.getOrUndefined(
    yield* persist(state, `the end of company ${company}`, store.end(name, end, settings))
  )
  if (ended === undefined) return
  yield* metrics.ended(outcomeName(end.outcome), end, (yield* elapsed) - turn.beganAt)
  yield* report(state, end, ended)
})

/** How often the log repeats that a company, or the process, fails, in milliseconds. */
const sayEvery = 60_000

/** From this number of failed turns in a row on, the log says that all turns of the process fail. */
const manyFailures = 5

/** Logs each change of state, on which an operator acts; and at most once a minute, why the turns of a company fail. */
const report = Effect.fnUntraced(function*(
  state: RunnerState,
  { claim, outcome }: End,
  { isLifted, isPauseNew, next, pause, reason, state: after }: Ended
) {
  const { company } = claim
  const why = "failure" in outcome ? `: ${outcome.failure.text}` : ""
  const isStopped = reason !== undefined && (after === "blocked" || after === "quarantined")
  if (isStopped) yield* Effect.logWarning(`company ${company} is ${after} (${reason})${why}`)
  // Each turn in flight that is refused too lengthens the pause.
  if (pause !== undefined && isPauseNew) yield* Effect.logWarning(`the fleet is paused (${pause.reason})${why}`)
  if (isLifted) yield* Effect.logInfo("the fleet is no longer paused")
  if (!("failure" in outcome)) {
    state.failedTurns = 0
    state.saidOf.delete(company)
    return yield* Effect.logDebug(`company ${company}: ${outcomeName(outcome)}`)
  }
  const now = yield* elapsed
  state.failedTurns += 1
  // Not only this one: another process may serve a company by now, or none.
  for (const [each, at] of state.saidOf) if (now - at >= sayEvery) state.saidOf.delete(each)
  if (!isStopped) {
    const log = state.saidOf.has(company) ? Effect.logDebug : Effect.logInfo
    if (!state.saidOf.has(company)) state.saidOf.set(company, now)
    yield* log(`company ${company}: ${outcomeName(outcome)}${why}; ${attemptText(next)}`)
  }
  // A process in trouble says so once a minute already.
  if (state.trouble !== undefined || state.failedTurns < manyFailures || now - state.saidOfAllAt < sayEvery) return
  state.saidOfAllAt = now
  yield* Effect.logWarning(
    `the last ${state.failedTurns} turns of this process failed, the last one with ${outcomeName(outcome)}${why}`
  )
})

const attemptText = (next: Next): string => {
  switch (next._tag) {
    case "Now":
      return "the next attempt is due now"
    case "In":
      return `the next attempt is in ${Math.round(next.millis / 1000)} s`
    case "Slot":
      return "the next attempt is at its next slot"
  }
}
