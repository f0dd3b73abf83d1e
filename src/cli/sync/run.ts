/** What `time-punches sync` does: carries passes into the copy, or says how old it is. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Stdio from "effect/Stdio"
import type { ListError } from "../../ApiError.ts"
import type { Company } from "../../Company.ts"
import type { CompanyId } from "../../Ids.ts"
import { escaped } from "../../internal/wire/issue.ts"
import * as SqlStore from "../../sql/SqlStore.ts"
import type { Window } from "../../sync/Checkpoint.ts"
import * as Sync from "../../sync/Sync.ts"
import type { SyncError } from "../../sync/SyncError.ts"
import type { RunOptions, SyncSummary } from "../../sync/SyncOptions.ts"
import { layerCopy, requireAge } from "../copy/copy.ts"
import { layerDatabase, targetOf } from "../copy/database.ts"
import { commandFailureOf, exitCode, usage } from "../failure.ts"
import { companyOf, layerClient } from "../flags/connection.ts"
import { counted, countedPunches, formatAge, formatNumber } from "../terminal/format.ts"
import { printFailure, startReport } from "../terminal/messages.ts"
import { printLines, screen } from "../terminal/output.ts"
import { paceFields, paceText } from "../terminal/progress.ts"
import { makeTable, type Screen } from "../terminal/table.ts"
import type { SweepRange, SyncInput } from "./flags.ts"

export const run = Effect.fnUntraced(function*(input: SyncInput) {
  const { acceptGone, history, historyDays, sortById, sweep } = input
  const company = yield* companyOf(input)
  const target = yield* targetOf(input.database, "sync")
  if (Option.isSome(input.maxAge) && !input.status) return yield* usage("--max-age goes with --status")
  if (Option.isSome(historyDays) && !history) return yield* usage("--history-days goes with --history")
  if (acceptGone && Option.isNone(sweep)) return yield* usage("--accept-gone goes with --sweep")
  const passFlag = Option.isSome(input.every)
    ? "--every"
    : Option.isSome(sweep)
    ? "--sweep"
    : history
    ? "--history"
    : sortById
    ? "--sort-by-id"
    : undefined
  if (input.status && passFlag !== undefined) {
    return yield* usage(`--status runs no pass, so ${passFlag} would be ignored`, "Give one or the other.")
  }
  if (input.status) {
    return yield* Effect.provide(printStatus(company.id, target.shown, input), layerCopy(company.id, target))
  }
  const { json } = input
  const task = { company, sweep, acceptGone, sortById, historyDays, json }
  const passes = Option.match(input.every, { onNone: () => once(task), onSome: (every) => forever(task, every) })
  yield* Effect.provide(
    passes,
    Layer.merge(layerClient, Layer.provideMerge(SqlStore.layer({ history }), layerDatabase(target)))
  )
}, Effect.scoped)

/** What the passes of a run share. */
interface SyncTask {
  readonly company: Company
  readonly sweep: Option.Option<SweepRange>
  readonly acceptGone: boolean
  /** Whether each pass asks for the order of ids. */
  readonly sortById: boolean
  /** How long the versions of a history are kept, in days. `None` keeps them for ever. */
  readonly historyDays: Option.Option<number>
  /** Whether each pass is printed as one JSON object. */
  readonly json: boolean
}

type PassError = SyncError | ListError

/** One sweep, or one pass. A resumed pass only proves what was there when it began, so another follows it. */
const once = (task: SyncTask) =>
  Effect.gen(function*() {
    const first = yield* Option.isSome(task.sweep) ? sweepNow(task, task.sweep.value) : passNow(task)
    if (first.resumed) yield* passNow(task)
  })

/**
 * A pass for each slot of a grid, and a sweep after the first pass of each UTC day. A pass that takes longer than a slot
 * skips slots. Ends only with an error that no later slot can cure.
 */
const forever = (task: SyncTask, every: Duration.Duration) =>
  Effect.suspend(() => {
    let sweptOn: string | undefined
    const slot = Effect.gen(function*() {
      yield* passNow(task)
      const today = DateTime.formatIsoDateUtc(yield* DateTime.now)
      if (Option.isNone(task.sweep) || sweptOn === today) return
      yield* sweepNow(task, task.sweep.value).pipe(
        // Refused marks do not cure themselves: the next sweep is tomorrow's.
        Effect.tapError((error) =>
          Effect.sync(() => {
            if (error._tag === "SyncError" && error.reason === "TooManyGone") sweptOn = today
          })
        )
      )
      sweptOn = today
    })
    return Effect.repeat(
      Effect.catchIf(
        slot,
        (error): error is PassError =>
          error._tag !== "OutputClosed" && error._tag !== "PlatformError" && !isFinal(error),
        (error) => printFailure(commandFailureOf(error))
      ),
      Schedule.windowed(every)
    )
  })

/** Whether an error ends a command that repeats: no later slot can cure it. */
const isFinal = (error: PassError): boolean => {
  const { code } = commandFailureOf(error)
  return code === exitCode.usage || code === exitCode.configuration || code === exitCode.credential ||
    code === exitCode.forbidden
}

const passNow = (task: SyncTask) => {
  const { company, sortById } = task
  return finished(task, (onCommit) => Sync.run(company, { onCommit, sortById, prefetchPages: 1 }))
}

const sweepNow = (task: SyncTask, range: SweepRange) =>
  Effect.gen(function*() {
    const { acceptGone, company, sortById } = task
    const window = windowOf(range, DateTime.toUtc(yield* DateTime.now))
    return yield* finished(
      task,
      (onCommit) => Sync.sweep(company, { window, acceptGone, onCommit, sortById, prefetchPages: 1 })
    )
  })

/** The clock-ins of a range that ends now. Its end is open, so that punches of a clock that is ahead are inside. */
export const windowOf = (range: SweepRange, now: DateTime.Utc): Window =>
  range === "all" ? {} : { gte: DateTime.subtractDuration(now, range) }

/** Runs a pass, prints its summary, then prunes the history. */
const finished = <R>(
  { company, historyDays, json }: SyncTask,
  pass: (onCommit: RunOptions["onCommit"]) => Effect.Effect<SyncSummary, PassError, R>
) =>
  Effect.gen(function*() {
    const { clear, onCommit } = yield* startPass
    const summary = yield* Effect.ensuring(keepingError(company, pass(onCommit)), clear)
    const printPass = (removed: number | null) => printLines([JSON.stringify(passFields(company.id, summary, removed))])
    if (!json) yield* printLines([describePass(summary)])
    if (Option.isNone(historyDays)) {
      if (json) yield* printPass(null)
      return summary
    }
    const before = DateTime.subtract(yield* DateTime.now, { days: historyDays.value })
    const removed = yield* keepingError(company, SqlStore.pruneHistory(company.id, { before })).pipe(
      // The pass is complete, also if the pruning after it fails.
      Effect.tapError(() => json ? printPass(null) : Effect.void)
    )
    if (json) yield* printPass(removed)
    else if (removed > 0) yield* printLines([describePruning(removed, historyDays.value)])
    return summary
  })

/** Keeps the error of a pass in the database until a pass is complete, for `--status` and `doctor`. */
const keepingError = <A, R>(company: Company, pass: Effect.Effect<A, PassError, R>) =>
  Effect.tapError(pass, (error) => {
    const note = SqlStore.noteError(company.id, error)
    // A database that failed was attempted for 5 seconds already: the note does not wait for it again.
    const isStore = error._tag === "SyncError" && error.reason === "Store"
    return Effect.ignore(isStore ? Effect.timeoutOption(note, "200 millis") : note)
  })

/** Shows the counts of a pass. `clear` erases them, before a result is printed where they stand. */
const startPass = Effect.gen(function*() {
  const stdio = yield* Stdio.Stdio
  const { clear, show } = yield* startReport({ printsResults: false })
  const onCommit: RunOptions["onCommit"] = ({ pages, punches, unchanged, written }) =>
    show((elapsed) => {
      const pace = { elapsed, received: punches }
      return {
        text: [
          countedPunches(punches),
          `${formatNumber(written)} written`,
          `${formatNumber(unchanged)} unchanged`,
          ...paceText(pace)
        ].join(", "),
        fields: { pages, punches, written, unchanged, ...paceFields(pace) }
      }
    }).pipe(Effect.as(true), Effect.provideService(Stdio.Stdio, stdio))
  return { onCommit, clear }
})

const printStatus = Effect.fnUntraced(function*(
  company: CompanyId,
  shown: string,
  { json, maxAge }: Pick<SyncInput, "json" | "maxAge">
) {
  const status = yield* SqlStore.status(company)
  const fields = statusFields(company, status, DateTime.toUtc(yield* DateTime.now))
  yield* printLines(json ? [JSON.stringify(fields)] : statusLines(fields, yield* screen))
  const completedAt = Option.flatMap(status.checkpoint, ({ completedAt }) => completedAt)
  yield* requireAge(company, shown, completedAt, maxAge)
})

const passNames = { first: "first load", increment: "increment", sweep: "sweep" } as const

/** One line for a pass. */
export const describePass = (summary: SyncSummary): string => {
  const { complete, gone, kind, lateness, pages, punches, resumed, restarts, unchanged, watermark, written } = summary
  return [
    `${passNames[kind]}${resumed ? ", resumed" : ""}${complete ? "" : ", not complete"}: ` +
    `${countedPunches(punches)}, ${counted(pages, "page")}`,
    `${formatNumber(written)} written`,
    `${formatNumber(unchanged)} unchanged`,
    ...(gone > 0 ? [`${formatNumber(gone)} gone`] : []),
    ...(restarts > 0 ? [counted(restarts, "restart")] : []),
    ...Option.match(lateness, {
      onNone: () => [],
      onSome: (late) => [`changes showed up to ${formatAge(late)} late`]
    }),
    `watermark ${formatInstant(watermark)}`
  ].join(", ")
}

/** A pass as the members of its JSON. `removed`: the versions that its pruning removed, null without one. */
export const passFields = (company: CompanyId, summary: SyncSummary, removed: number | null) => {
  const { complete, gone, kind, lateness, pages, punches, resumed, restarts, unchanged, watermark, written } = summary
  return {
    company,
    kind,
    resumed,
    complete,
    punches,
    pages,
    written,
    unchanged,
    gone,
    restarts,
    latenessSeconds: Option.getOrNull(Option.map(lateness, Duration.toSeconds)),
    watermark: Option.getOrNull(Option.map(watermark, DateTime.formatIso)),
    removed
  }
}

/** One line for the versions that a history no longer has. */
export const describePruning = (removed: number, days: number): string =>
  `history: ${counted(removed, "version")} removed, replaced more than ${counted(days, "day")} ago`

const formatInstant = (at: Option.Option<DateTime.Utc>) =>
  Option.match(at, { onNone: () => "none", onSome: (at) => DateTime.formatIso(at) })

/** The copy of a company, as the columns of a table and the members of its JSON. */
export const statusFields = (company: CompanyId, status: SqlStore.CopyStatus, now: DateTime.Utc) => {
  const { checkpoint, deleted, gone, history, lastError, rows, unknown } = status
  const completedAt = Option.flatMap(checkpoint, ({ completedAt }) => completedAt)
  return {
    company,
    watermark: Option.getOrNull(
      Option.map(Option.flatMap(checkpoint, ({ watermark }) => watermark), DateTime.formatIso)
    ),
    completedAt: Option.getOrNull(Option.map(completedAt, DateTime.formatIso)),
    ageSeconds: Option.getOrNull(
      Option.map(completedAt, (at) => Math.max(0, Math.round(Duration.toSeconds(DateTime.distance(at, now)))))
    ),
    rows,
    deleted,
    gone,
    running: Option.getOrNull(
      Option.map(Option.flatMap(checkpoint, ({ running }) => running), ({ kind }) => kind)
    ),
    history: Option.getOrNull(
      Option.map(history, ({ last, since }) => ({ since: DateTime.formatIso(since), last: DateTime.formatIso(last) }))
    ),
    lastError: Option.getOrNull(
      Option.map(lastError, ({ at, tag, text }) => ({ at: DateTime.formatIso(at), tag, text }))
    ),
    unknown
  }
}

type StatusFields = ReturnType<typeof statusFields>

/** An instant of the status to the minute, for a narrow terminal. */
const toMinute = (instant: string): string => instant.replace(/T(\d\d:\d\d).*$/, " $1Z")

/** The status as a table of one row; below it the last error, and fields that are not known. */
export const statusLines = (fields: StatusFields, screen: Screen): ReadonlyArray<string> => {
  const table = makeTable<StatusFields>([
    { title: "company", cell: ({ company }) => `${company}` },
    {
      title: "watermark",
      cell: ({ watermark }) => watermark ?? "none",
      short: ({ watermark }) => toMinute(watermark ?? "none")
    },
    {
      title: "age",
      cell: ({ ageSeconds }) => ageSeconds === null ? "never" : formatAge(Duration.seconds(ageSeconds)),
      align: "right",
      warns: ({ ageSeconds }) => ageSeconds === null
    },
    { title: "rows", cell: ({ rows }) => formatNumber(rows), align: "right" },
    { title: "deleted", cell: ({ deleted }) => formatNumber(deleted), align: "right", leaves: 1 },
    { title: "gone", cell: ({ gone }) => formatNumber(gone), align: "right" },
    { title: "running", cell: ({ running }) => running ?? "-" },
    {
      title: "history since",
      cell: ({ history }) => history?.since ?? "none",
      short: ({ history }) => toMinute(history?.since ?? "none")
    }
  ], screen)
  const { yellow } = screen.styles
  return [
    ...table.lines([fields]),
    ...(fields.lastError === null
      ? []
      : [yellow(`last error, ${fields.lastError.at}: ${fields.lastError.tag}: ${escaped(fields.lastError.text)}`)]),
    ...(fields.unknown.length === 0
      ? []
      : [yellow(`fields that this release does not know: ${escaped(fields.unknown.join(", "))}`)])
  ]
}
