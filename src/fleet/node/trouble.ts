/**
 * What a process does that the service refuses, or that does not reach it: it leaves the companies to the other processes, says so
 * once a minute, and asks the service once a minute whether it is over. It asks for a listing without a claim, which nothing stores.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import type { Company } from "../../Company.ts"
import { CompanyId } from "../../Ids.ts"
import type { TimePunches } from "../../TimePunches.ts"
import { type Outcome, outcomeOf } from "../CompanyState.ts"
import type { Claim } from "../store/claims.ts"
import type { Trouble } from "../store/keeping.ts"
import { elapsed } from "./loop.ts"
import type { RunnerState, TurnBase } from "./state.ts"

/** Turns in a row that did not reach the service, from which on it is the process that does not reach it. */
const sickAfter = 5

/** How long no page may come while turns wait for one, in milliseconds, if other processes are answered. */
const longestSilence = 25_000

/** How long the service may take to answer, and how long the process then waits before it asks again: together a minute. */
const answerWithin = 20_000
export const askEvery = 40_000

/** What a turn that ended shows of its process. Pure. `failedInRow` counts the turns before it that did not reach the service. */
export const decideTrouble = (
  outcome: Outcome,
  { failedInRow, trouble }: { readonly failedInRow: number; readonly trouble: Trouble | undefined },
  credentials: "shared" | "perCompany"
): { readonly failedInRow: number; readonly trouble: Trouble | undefined } => {
  switch (outcome._tag) {
    case "NoCredential":
      return {
        failedInRow: 0,
        trouble: credentials === "shared" ? { kind: "refused", text: outcome.failure.text } : trouble
      }
    case "Transient": {
      const isSick = trouble?.kind !== "refused" && failedInRow + 1 >= sickAfter
      return {
        failedInRow: failedInRow + 1,
        trouble: isSick ? { kind: "sick", text: outcome.failure.text } : trouble
      }
    }
    // Of the database or of this process: it says nothing about the service.
    case "StoreFailed":
    case "Defect":
      return { failedInRow, trouble }
    default:
      // A turn that began before the refusal may end after it: only a token that is granted ends that.
      return { failedInRow: 0, trouble: trouble?.kind === "sick" ? undefined : trouble }
  }
}

export const companyOf = ({ company, guid }: Claim): Company => ({ id: CompanyId.make(company), ...(guid && { guid }) })

/** Notes what a turn shows, before its end is written: the end of a refused turn asks which other processes are refused. */
export const noteOutcome = (base: TurnBase, claim: Claim, outcome: Outcome): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { settings: { credentials }, state } = base
    const before = state.trouble
    const after = decideTrouble(outcome, state, credentials)
    state.failedInRow = after.failedInRow
    state.trouble = after.trouble
    if (outcome._tag === "Transient" || outcome._tag === "NoCredential") state.askFor = companyOf(claim)
    if (before?.kind === after.trouble?.kind) return Effect.void
    state.isTroubleNew = after.trouble !== undefined
    return before !== undefined && after.trouble === undefined ? over(base, before) : Effect.ignore(note(base))
  })

const note = ({ name, state, store }: TurnBase): Effect.Effect<void, SqlError> => store.noteTrouble(name, state.trouble)

const over = (base: TurnBase, { kind }: Trouble): Effect.Effect<void> =>
  Effect.gen(function*() {
    base.state.trouble = undefined
    base.state.failedInRow = 0
    yield* Effect.logInfo(
      kind === "refused" ? "the service grants this process a token again" : "this process reaches the service again"
    )
    yield* Effect.ignore(note(base))
  })

const lines: { readonly [K in Trouble["kind"]]: string } = {
  refused: "the service refuses this process, which claims no company until it is granted a token",
  sick: "this process does not reach the service, and leaves the companies to other processes"
}

/**
 * The client of a runner, which notes that the service answers. A throttled listing fails at once: its company waits on its
 * schedule, where it holds up no other one.
 */
export const listening = (state: RunnerState, punches: TimePunches["Service"]): TimePunches["Service"] => ({
  ...punches,
  pages: (company, filter, options) =>
    Stream.tap(
      punches.pages(company, filter, { ...options, retry: { ...options?.retry, throttleDelay: Duration.infinity } }),
      () =>
        Effect.map(elapsed, (now) => {
          state.heardAt = now
        })
    )
})

/**
 * Gives back every turn of a process that no page has reached for a while, if another process completes turns meanwhile: a service
 * that does not answer would hold them for minutes.
 */
export const findSilence = (base: TurnBase, wakeAsks: Effect.Effect<void>): Effect.Effect<void, SqlError> =>
  Effect.gen(function*() {
    const { name, state, store } = base
    const turns = [...state.turns.values()].filter(({ isEnding }) => !isEnding)
    const since = Math.max(state.heardAt, Math.min(...turns.map(({ beganAt }) => beganAt)))
    if (state.trouble !== undefined || (yield* elapsed) - since < longestSilence) return
    const [turn] = turns
    if (turn === undefined || !(yield* store.isServedElsewhere(name, longestSilence))) return
    state.trouble = { kind: "sick", text: `it has not answered for ${longestSilence / 1000} seconds` }
    state.askFor = companyOf(turn.claim)
    for (const turn of turns) {
      turn.isGivenBack = true
      if (turn.fiber !== undefined) yield* Effect.forkDetach(Fiber.interrupt(turn.fiber))
    }
    yield* wakeAsks
  })

/** Says what the trouble is, and asks the service whether it is over. */
export const ask = (base: TurnBase): Effect.Effect<void, SqlError> =>
  Effect.gen(function*() {
    const { punches, state, store } = base
    const { askFor, trouble } = state
    if (trouble === undefined || askFor === undefined) return
    yield* Effect.logWarning(`${lines[trouble.kind]}: ${trouble.text}`)
    yield* note(base)
    const listed = Stream.runHead(punches.pages(askFor, {}, { pageSize: 1, retry: { attempts: 1 } }))
    const asked = yield* Effect.timeoutOption(Effect.result(listed), answerWithin)
    if (Option.isNone(asked) || state.trouble?.kind !== trouble.kind) return
    if (Result.isFailure(asked.value)) {
      const error = asked.value.failure
      if (trouble.kind === "refused" ? error._tag === "TokenError" : outcomeOf(error)._tag === "Transient") return
    }
    yield* over(base, trouble)
    if (trouble.kind === "refused") yield* store.probeSoon
  })
