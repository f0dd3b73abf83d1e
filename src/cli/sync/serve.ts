/** What `time-punches sync` does: connects, and carries passes into the copy or says how old it is. */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stdio from "effect/Stdio"
import type { ListError } from "../../ApiError.ts"
import type { Company } from "../../Company.ts"
import type { CompanyId } from "../../Ids.ts"
import * as SqlStore from "../../sql/SqlStore.ts"
import * as Sync from "../../sync/Sync.ts"
import type { SyncError } from "../../sync/SyncError.ts"
import type { RunOptions, SyncSummary } from "../../sync/SyncOptions.ts"
import { layerCopy } from "../copy/complete.ts"
import { layerDatabase, targetOf } from "../copy/database.ts"
import type { SyncInput } from "../copy/flags.ts"
import { describePass, describePruning, statusFields, statusLines } from "../copy/report.ts"
import { commandFailureOf, exitCode, usage } from "../failure.ts"
import { companyOf, layerClient } from "../flags/connection.ts"
import { type SweepRange, untilNextSlot, windowOf } from "../flags/values.ts"
import { counted, formatNumber } from "../terminal/format.ts"
import { eraseLine, printError, printLines, writeStderr } from "../terminal/output.ts"

// MERGED passProgress.ts: Shows the counts of a pass on one line of a terminal's standard error while it runs.

/** The line is erased when the scope closes. */
export const makePassProgress = Effect.gen(function*() {
  const stdio = yield* Stdio.Stdio
  const isShown = yield* stdio.stderrIsTerminal
  if (isShown) yield* Effect.addFinalizer(() => writeStderr(eraseLine))
  const onCommit: RunOptions["onCommit"] = ({ pages, unchanged, written }) =>
    Effect.as(
      isShown
        ? writeStderr(
          `${eraseLine}${counted(pages, "page")}, ${formatNumber(written)} written, ${
            formatNumber(unchanged)
          } unchanged`
        )
        : Effect.void,
      true
    ).pipe(Effect.provideService(Stdio.Stdio, stdio))
  return onCommit
})

// MERGED repeat.ts: Carries passes into the copy: one now, or one for each slot with a sweep a day, on through errors that may pass.

/** What a command keeps up. */
export interface Upkeep {
  readonly company: Company
  readonly sweep: Option.Option<SweepRange>
  readonly acceptGone: boolean
  /** How long the versions of a history are kept, in days; `None`: for ever, or there is no history. */
  readonly historyDays: Option.Option<number>
  /** Shows the counts of a pass while it runs. */
  readonly onCommit: RunOptions["onCommit"]
}

type PassError = SyncError | ListError

const report = (summary: SyncSummary) => printLines([describePass(summary)])

/** The last error stands in the database until a pass is complete, for `--status` and `doctor`. */
const noting = <A, R>(company: Company, pass: Effect.Effect<A, PassError, R>) =>
  Effect.tapError(pass, (error) => Effect.ignore(SqlStore.noteError(company.id, error)))

const sweepNow = (upkeep: Upkeep, range: SweepRange) =>
  Effect.gen(function*() {
    const { acceptGone, company, onCommit } = upkeep
    const window = windowOf(range, DateTime.toUtc(yield* DateTime.now))
    const summary = yield* noting(company, Sync.sweep(company, { window, acceptGone, onCommit, prefetchPages: 1 }))
    yield* report(summary)
    yield* prune(upkeep)
    return summary
  })

const passNow = (upkeep: Upkeep) =>
  Effect.gen(function*() {
    const { company, onCommit } = upkeep
    const summary = yield* noting(company, Sync.run(company, { onCommit, prefetchPages: 1 }))
    yield* report(summary)
    yield* prune(upkeep)
    return summary
  })

/** Removes what was replaced longer ago than the history is kept. */
const prune = ({ company, historyDays }: Upkeep) =>
  Effect.gen(function*() {
    if (Option.isNone(historyDays)) return
    const before = DateTime.subtract(yield* DateTime.now, { days: historyDays.value })
    const removed = yield* noting(company, SqlStore.pruneHistory(company.id, { before }))
    if (removed > 0) yield* printLines([describePruning(removed, historyDays.value)])
  })

/** One sweep, or one pass. A resumed pass only proves what was there when it began, so another follows it. */
export const once = (upkeep: Upkeep) =>
  Effect.gen(function*() {
    const first = yield* Option.isSome(upkeep.sweep) ? sweepNow(upkeep, upkeep.sweep.value) : passNow(upkeep)
    if (first.resumed) yield* passNow(upkeep)
  })

/** What ends a command that repeats: no later slot can cure it. */
const isFinal = (error: PassError): boolean => {
  const { code } = commandFailureOf(error)
  return code === exitCode.usage || code === exitCode.configuration || code === exitCode.credential ||
    code === exitCode.forbidden
}

/** A pass for each slot, and a sweep after the first pass of each UTC day. Ends only with an error that cannot pass. */
export const forever = (upkeep: Upkeep, every: Duration.Duration) =>
  Effect.gen(function*() {
    const start = yield* Clock.currentTimeMillis
    let sweptOn: string | undefined
    const slot = Effect.gen(function*() {
      yield* passNow(upkeep)
      const today = DateTime.formatIsoDateUtc(yield* DateTime.now)
      if (Option.isNone(upkeep.sweep) || sweptOn === today) return
      yield* sweepNow(upkeep, upkeep.sweep.value).pipe(
        // Refused marks do not cure themselves: the next sweep is tomorrow's.
        Effect.tapError((error) =>
          Effect.sync(() => {
            if (error._tag === "SyncError" && error.reason === "TooManyGone") sweptOn = today
          })
        )
      )
      sweptOn = today
    })
    while (true) {
      yield* Effect.catchIf(
        slot,
        (error): error is PassError =>
          error._tag !== "OutputClosed" && error._tag !== "PlatformError" && !isFinal(error),
        printFailure
      )
      yield* Effect.sleep(untilNextSlot(start, every, yield* Clock.currentTimeMillis))
    }
  })

const printFailure = (error: PassError) => {
  const { advice, message } = commandFailureOf(error)
  return printError(`time-punches: ${message}`, ...advice.map((line) => `  ${line}`))
}

export const serve = Effect.fnUntraced(function*(input: SyncInput) {
  const company = yield* companyOf(input)
  const target = yield* targetOf(input.database)
  if (input.json && !input.status) return yield* usage("--json goes with --status")
  if (Option.isSome(input.historyDays) && !input.history) return yield* usage("--history-days goes with --history")
  if (input.status) {
    return yield* Effect.provide(printStatus(company.id, input.json), layerCopy(company.id, target))
  }
  const onCommit = yield* makePassProgress
  const { acceptGone, history, historyDays, sweep } = input
  const upkeep = { company, sweep, acceptGone, historyDays, onCommit }
  const work = Option.match(input.every, { onNone: () => once(upkeep), onSome: (every) => forever(upkeep, every) })
  yield* Effect.provide(
    work,
    Layer.merge(layerClient, Layer.provideMerge(SqlStore.layer({ history }), layerDatabase(target)))
  )
}, Effect.scoped)

const printStatus = Effect.fnUntraced(function*(company: CompanyId, json: boolean) {
  const fields = statusFields(company, yield* SqlStore.status(company), DateTime.toUtc(yield* DateTime.now))
  yield* printLines(json ? [JSON.stringify(fields)] : statusLines(fields))
})
