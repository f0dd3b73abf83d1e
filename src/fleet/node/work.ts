/** What a turn does with its company: one call of the sync, or a few if someone else writes meanwhile. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { ListError } from "../../ApiError.ts"
import { CompanyId } from "../../Ids.ts"
import { RunVersions } from "../../listing/version.ts"
import * as Sync from "../../sync/Sync.ts"
import { storeFailed, superseded, type SyncError } from "../../sync/SyncError.ts"
import type { SyncOptions, SyncSummary } from "../../sync/SyncOptions.ts"
import { SyncStore } from "../../sync/SyncStore.ts"
import { TimePunches } from "../../TimePunches.ts"
import { type Outcome, outcomeOf } from "../CompanyState.ts"
import type { Settings } from "../Settings.ts"
import type { Claim } from "../store/claims.ts"
import { reasonOf } from "./loop.ts"
import * as metrics from "./metrics.ts"
import type { Turn, TurnBase } from "./state.ts"
import { companyOf } from "./trouble.ts"

/** Calls of a turn whose company was written by someone else meanwhile. */
const mostCalls = 3

/** What a turn did before its end is written. */
export interface Worked {
  readonly outcome: Outcome
  readonly plan?: ReturnType<typeof planOf>
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

/** The copy, of which the first commit of a company is made only while its lease is held. */
const storeOf = ({ store, syncStore }: TurnBase, { claim }: Turn): SyncStore["Service"] => ({
  ...syncStore,
  commit: (batch, previous) =>
    Option.isSome(previous)
      ? syncStore.commit(batch, previous)
      : store.whileHeld(claim, syncStore.commit(batch, previous)).pipe(
        Effect.catchTag("SqlError", ({ message }) => unread(claim, message)),
        Effect.flatMap(Option.match({
          onNone: () => Effect.fail(superseded(batch.companyId)),
          onSome: Effect.succeed
        }))
      )
})

/** One call of the sync; `undefined`: the company is another turn's. */
const call = Effect.fnUntraced(function*(base: TurnBase, turn: Turn, plan: ReturnType<typeof planOf>) {
  const { punches, settings, state, store, syncStore } = base
  const { claim, pages, rows } = turn
  const company = companyOf(claim)
  const stored = yield* syncStore.load(company.id)
  const restarts = Option.match(Option.flatMap(stored, ({ running }) => running), {
    onNone: () => 0,
    onSome: ({ restarts }) => restarts
  })
  let isRead = false
  let failure: string | undefined
  const options: SyncOptions = {
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
      return !(state.isDraining && !turn.isAlone && soFar.pages > 0)
    })
  }
  const window = plan._tag === "Sweep" && plan.from !== undefined ? { gte: DateTime.makeUnsafe(plan.from) } : {}
  const summary =
    yield* (plan._tag === "Run" ? Sync.run(company, options) : Sync.sweep(company, { ...options, window }))
      .pipe(
        Effect.provideService(SyncStore, storeOf(base, turn)),
        Effect.provideService(TimePunches, punches),
        Effect.provideService(RunVersions, state.versions)
      )
  if (failure !== undefined) return yield* unread(claim, failure)
  return turn.isLost ? undefined : summary
})

/** Everything that a turn does before its end is written. */
export const work = Effect.fnUntraced(function*(base: TurnBase, turn: Turn) {
  const { settings, store } = base
  const plan = planOf(turn.claim, settings)
  for (let calls = 1;; calls++) {
    const called: Result.Result<SyncSummary | undefined, ListError | SyncError> = yield* Effect.result(
      call(base, turn, plan)
    )
    if (Result.isSuccess(called)) {
      if (called.success === undefined) return undefined
      const { complete, pages, punches, resumed } = called.success
      const outcome: Outcome = complete
        ? { _tag: "Complete", isResumed: resumed }
        : { _tag: "TurnOver", isEmpty: punches === 0 && pages >= settings.pagesPerTurn }
      return { outcome, plan }
    }
    const error = called.failure
    if (error._tag !== "SyncError" || error.reason._tag !== "Superseded") return { outcome: outcomeOf(error), plan }
    yield* metrics.refused
    // Someone else wrote: a sync of the operator's, or the next owner of the company.
    const held = yield* Effect.exit(store.isHeld(turn.claim))
    if (Exit.isFailure(held)) return { outcome: outcomeOf(unread(turn.claim, reasonOf(held.cause))), plan }
    if (!held.value) return undefined
    if (calls === mostCalls) return { outcome: outcomeOf(error), plan }
  }
})

const unread = ({ company }: Claim, reason: string) =>
  storeFailed(CompanyId.make(company), `the lease cannot be read: ${reason}`)
