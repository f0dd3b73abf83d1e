/** `time-punches copy sync`, and `sync` for short: keeps a copy of the punches of a company in a database. */
import type * as Command from "effect/cli/Command"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import * as Schedule from "effect/Schedule"
import * as Stdio from "effect/Stdio"
import { type ListError, retryAfterOf } from "../../ApiError.ts"
import type { Company } from "../../Company.ts"
import type { CompanyId } from "../../Ids.ts"
import { isLocked, mayPass } from "../../internal/sql/failure.ts"
import * as PunchCopy from "../../sql/PunchCopy.ts"
import * as SqlStore from "../../sql/SqlStore.ts"
import type { SweepWindow } from "../../sync/Checkpoint.ts"
import * as Sync from "../../sync/Sync.ts"
import type { SyncError } from "../../sync/SyncError.ts"
import type { SyncOptions, SyncSummary } from "../../sync/SyncOptions.ts"
import { SyncStore } from "../../sync/SyncStore.ts"
import { databaseFlag, keepHistory, layerDatabase, targetOfCopy } from "../database/database.ts"
import { layerClient } from "../database/source.ts"
import { commandFailureOf, isFinal } from "../describe.ts"
import { CommandFailure, type ExitCode, exitCode, type ExpectedError, type OutputClosed, usage } from "../failure.ts"
import type { DatabaseTarget } from "../flags/address.ts"
import { limitFlags } from "../flags/connection.ts"
import { isJson, makeJsonFlags } from "../flags/form.ts"
import { makePageSizeFlag } from "../flags/paging.ts"
import { interval, intervalForm, onFlag, readInterval, text } from "../flags/values.ts"
import { counted, countedPunches, formatAge, formatNumber } from "../print/format.ts"
import { isoOf } from "../print/machine.ts"
import { isQuiet, printFailure, printWarning, startReport } from "../print/messages.ts"
import { printDone } from "../print/output.ts"
import { paceFields, paceText } from "../print/progress.ts"
import { hasCollector, layerTelemetry } from "../telemetry/telemetry.ts"
import { makeVerb } from "../verb.ts"
import { companiesFlags, companiesOf, nameOf, withName } from "./companies.ts"

/** What a sweep compares: the clock-ins of the time up to now, or all punches. */
export type SweepRange = Duration.Duration | "all"

/** Reads `35d`, or `all`. */
export const readSweepRange = (text: string): Option.Option<SweepRange> =>
  text === "all" ? Option.some("all") : readInterval(text)

const syncFlags = {
  ...companiesFlags,
  ...limitFlags,
  pageSize: makePageSizeFlag(),
  database: databaseFlag,
  every: interval("every", "Repeat: one sync run in each period of this length, such as 5s, 15m or 2h", "15m"),
  sweep: text(
    "sweep",
    "TIME|all",
    "Re-read the clock-ins of this period (35d, or all) and mark missing rows; with --every, once a day",
    `${intervalForm("35d")}, or all`,
    readSweepRange
  ),
  stopAfter: interval(
    "stop-after",
    "Read no further page after this time; the same command continues there. Not with --every",
    "50s"
  ),
  history: onFlag("history", "Keep each version that a sync run replaces, for time-punches payroll diff"),
  keepHistory: keepHistory(
    "With --history: after each sync run, remove versions that were replaced longer ago than this (default: keep all)"
  ),
  allowMissing: onFlag("allow-missing", "With --sweep: let it mark more than 20 % of its window as missing"),
  sortById: onFlag("sort-by-id", "Read in the order of ids, if doctor says that the service keeps it with a cursor"),
  ...makeJsonFlags("One JSON object for each sync run, a line each")
}

type SyncInput = Command.Command.Config.Infer<typeof syncFlags>

export const verb = makeVerb("sync", syncFlags, (input) => syncCopies(input), {
  text: `Keep a copy of the punches of a company in a database.

  It does one sync run: the first reads everything, a later one what has
  changed since. Rows and progress are stored together, page by page: after an
  interruption the same command continues at the page where it stopped. --sweep
  finds rows that the service no longer shows, and marks them as missing.

  Set a password in PGPASSWORD, or in the URL of TIME_PUNCHES_DATABASE_URL;
  --database refuses one. time-punches sync is the same command.`,
  examples: [
    ["copy sync --database punches.db", "One sync run, into a file of SQLite"],
    ["copy sync --database punches.db --every 15m --sweep 35d", "A sync run each quarter of an hour, a sweep each day"],
    ["copy sync --database punches.db --history", "Keep what a sync run replaces, for time-punches payroll"]
  ]
})

const syncCopies = Effect.fnUntraced(
  function*(input: SyncInput) {
    const { allowMissing, every, history, keepHistory, stopAfter, sweep } = input
    const json = yield* isJson(input)
    const companies = yield* companiesOf(input)
    const target = yield* targetOfCopy(input.database, "sync")
    if (Option.isSome(keepHistory) && !history) return yield* usage("--keep-history goes with --history")
    if (Option.isSome(stopAfter) && Option.isSome(every)) {
      return yield* usage("--stop-after and --every exclude each other", "A command that repeats ends by a signal.")
    }
    if (allowMissing && Option.isNone(sweep)) return yield* usage("--allow-missing goes with --sweep")
    const readAge = (yield* hasCollector) ? yield* watchAges : undefined
    const print = !json && (yield* isQuiet)
      ? () => Effect.void
      : Option.isNone(every)
      ? printDone
      : yield* makeLastingPrint
    const begin = yield* Clock.currentTimeMillis
    const taskOf = (company: Company): SyncTask => ({
      ...input,
      company,
      json,
      print,
      stop: Effect.map(Clock.currentTimeMillis, (now) =>
        Option.getOrUndefined(Option.map(stopAfter, (limit) => ({
          // It reads one page at least, so that each company comes nearer to its end.
          duration: Duration.millis(Math.max(1, Duration.toMillis(limit) - (now - begin)))
        })))),
      named: nameOf(company.id, companies),
      readAge: readAge === undefined ? Effect.void : Effect.ignore(readAge(company.id), { log: "Debug" })
    })
    const tasks = companies.map(taskOf)
    const passes = Option.match(every, { onNone: () => once(tasks), onSome: (every) => forever(tasks, every) })
    const store = SqlStore.layer({ history })
    const layerCopy = Option.isNone(every)
      ? Layer.provideMerge(store, layerDatabase(target))
      : layerWaiting(store, target)
    yield* Effect.provide(passes, Layer.merge(layerClient(input), layerCopy))
  },
  Effect.provide(layerTelemetry()),
  Effect.scoped
)

/** A store over its database, which waits while the database is locked or away. A wrong name of a file never passes. */
const layerWaiting = <A, E extends ExpectedError, R>(store: Layer.Layer<A, E, R>, target: DatabaseTarget) =>
  // Around both, each failed attempt would keep its connection.
  Layer.provideMerge(waiting(store, mayPass), waiting(layerDatabase(target), isLocked))

/** A layer that is built again each second after an error that is waited for; says so once a minute. */
const waiting = <A, E extends ExpectedError | CommandFailure, R>(
  layer: Layer.Layer<A, E, R>,
  isWaitedFor: (error: unknown) => boolean
) =>
  Layer.effectContext(Effect.suspend(() => {
    let saidAt = -Infinity
    const say = Effect.fnUntraced(function*(error: ExpectedError | CommandFailure) {
      const now = yield* Clock.currentTimeMillis
      if (error._tag === "CommandFailure" || !isWaitedFor(error) || now - saidAt < 60_000) return
      saidAt = now
      yield* printWarning(`sync waits for its database: ${commandFailureOf(error).message}`)
    })
    return Layer.build(Layer.fresh(layer)).pipe(
      Effect.tapError(say),
      Effect.retry({ while: isWaitedFor, schedule: Schedule.spaced("1 second") })
    )
  }))

/** The passes of a company. Those of a run differ in the company alone. */
interface SyncTask extends Omit<SyncInput, "company" | "format" | "json"> {
  readonly company: Company
  readonly json: boolean
  readonly print: typeof printDone
  /** When a pass that begins now stops. */
  readonly stop: Effect.Effect<SyncOptions["stopAfter"]>
  /** What stands before the lines of the company. */
  readonly named: string
  /** After a pass, whether it was complete or not. Reads the store only for a collector. */
  readonly readAge: Effect.Effect<void, never, SyncStore>
}

/** Prints the passes of a command that repeats. What cannot be printed does not end the copy: the first time is a warning. */
const makeLastingPrint = Effect.sync((): typeof printDone => {
  let isWarned = false
  return (sentence, json) =>
    printDone(sentence, json).pipe(
      Effect.tap(() => Effect.sync(() => void (isWarned = false))),
      Effect.catchTag("PlatformError", (error) => {
        if (isWarned) return Effect.void
        isWarned = true
        const { advice, message } = commandFailureOf(error)
        return printWarning(message, ...advice, "The sync runs continue.")
      })
    )
})

type PassError = SyncError | ListError

/** The error of a company whose passes failed. */
interface Failed {
  readonly company: Company
  readonly error: PassError
}

/** Runs the passes of each company, one after the other, and returns the errors: none of them stops another company. */
const runTasks = <R>(
  tasks: ReadonlyArray<SyncTask>,
  passes: (task: SyncTask) => Effect.Effect<void, PassError | OutputClosed | PlatformError.PlatformError, R>,
  isPrinted: (error: PassError) => boolean
) =>
  Effect.gen(function*() {
    const failed: Array<Failed> = []
    for (const task of tasks) {
      yield* Effect.catchIf(
        passes(task),
        (error): error is PassError => error._tag !== "OutputClosed" && error._tag !== "PlatformError",
        (error) => {
          failed.push({ company: task.company, error })
          return isPrinted(error) ? printFailure(withName(task.named, commandFailureOf(error))) : Effect.void
        }
      )
    }
    return failed
  })

/** From the worst: what no later run cures goes before what may pass. */
const worst: ReadonlyArray<ExitCode> = [
  exitCode.usage,
  exitCode.configuration,
  exitCode.credential,
  exitCode.forbidden,
  exitCode.data,
  exitCode.system
]

/** The end of a run after these errors; those of several companies were printed. */
const endOf = (
  tasks: ReadonlyArray<SyncTask>,
  failed: ReadonlyArray<Failed>
): Effect.Effect<void, PassError | CommandFailure> => {
  const [first] = failed
  if (first === undefined) return Effect.void
  if (tasks.length === 1) return Effect.fail(first.error)
  const codes = failed.map(({ error }) => commandFailureOf(error).code)
  const ids = failed.map(({ company }) => company.id).join(", ")
  return new CommandFailure({
    message: `${failed.length} of ${tasks.length} companies failed: ${ids}`,
    advice: [],
    code: worst.find((code) => codes.includes(code)) ?? exitCode.later
  })
}

/** One sweep, or one pass, of each company. A resumed pass only proves what was there when it began, so another follows it. */
const once = (tasks: ReadonlyArray<SyncTask>) =>
  runTasks(
    tasks,
    Effect.fnUntraced(function*(task) {
      const first = yield* Option.isSome(task.sweep) ? sweepNow(task, task.sweep.value) : passNow(task)
      if (first.resumed && first.complete) yield* passNow(task)
    }),
    () => tasks.length > 1
  ).pipe(Effect.flatMap((failed) => endOf(tasks, failed)))

/**
 * A pass of each company for each slot of a grid, and a sweep after its first pass of each UTC day. Passes that take longer
 * than a slot skip slots, and so does a company whose service asks for a longer wait. Ends only with errors that no later slot can cure, of all companies in one slot.
 */
const forever = (tasks: ReadonlyArray<SyncTask>, every: Duration.Duration) =>
  Effect.suspend(() => {
    const sweptOn = new Map<CompanyId, string>()
    /** Until when the service asks to wait, in nanoseconds of the monotonic clock. */
    const waits = new Map<CompanyId, bigint>()
    const unlessWaiting = Effect.fnUntraced(function*(task: SyncTask) {
      const { id } = task.company
      if ((yield* Clock.monotonicTimeNanos) < (waits.get(id) ?? 0)) return
      yield* Effect.tapError(passes(task), (error) =>
        Effect.map(Clock.monotonicTimeNanos, (at) => {
          if ("retryAfter" in error) waits.set(id, at + Duration.toNanosUnsafe(retryAfterOf(error)))
        }))
    })
    const passes = Effect.fnUntraced(function*(task: SyncTask) {
      const { id } = task.company
      yield* passNow(task)
      const today = DateTime.formatIsoDateUtc(yield* DateTime.now)
      if (Option.isNone(task.sweep) || sweptOn.get(id) === today)
        return
      yield* sweepNow(task, task.sweep.value).pipe(
        // Refused marks do not cure themselves: the next sweep is tomorrow's.
        Effect.tapError((error) =>
          Effect.sync(() => {
            if (error._tag === "SyncError" && error.reason._tag === "TooManyMissing") sweptOn.set(id, today)
          })
        )
      )
      sweptOn.set(id, today)
    })
    let isWaiting = false
    const slot = Effect.gen(function*() {
      isWaiting = false
      const failed = yield* runTasks(tasks, unlessWaiting, (error) => tasks.length > 1 || !isFinal(error))
      if (failed.length === tasks.length && failed.every(({ error }) => isFinal(error))) {
        return yield* endOf(tasks, failed)
      }
      isWaiting = true
    })
    return Effect.repeat(slot, Schedule.windowed(every)).pipe(
      Effect.onInterrupt(() => isWaiting ? printWarning("interrupted: no sync run was in progress") : Effect.void)
    )
  })

const passNow = (task: SyncTask) => {
  const { company, sortById } = task
  return finished(task, (options) => Sync.run(company, { ...options, sortById, prefetchPages: 1 }))
}

const sweepNow = (task: SyncTask, range: SweepRange) =>
  Effect.gen(function*() {
    const { allowMissing, company, sortById } = task
    const window = windowOf(range, DateTime.toUtc(yield* DateTime.now))
    return yield* finished(
      task,
      (options) => Sync.sweep(company, { ...options, window, allowMissing, sortById, prefetchPages: 1 })
    )
  })

/** The clock-ins of a range that ends now. Its end is open, so that punches of a clock that is ahead are inside. */
export const windowOf = (range: SweepRange, now: DateTime.Utc): SweepWindow =>
  range === "all" ? {} : { gte: DateTime.subtractDuration(now, range) }

/** Runs a pass, prints its summary, then prunes the history. */
const finished = <R>(
  task: SyncTask,
  pass: (options: Pick<SyncOptions, "onCommit" | "stopAfter">) => Effect.Effect<SyncSummary, PassError, R>
) =>
  Effect.gen(function*() {
    const { company, json, keepHistory, named, print, readAge } = task
    const { clear, onCommit, stored } = yield* startPass(task)
    const summary = yield* keepingError(company, pass({ onCommit, stopAfter: yield* task.stop })).pipe(
      Effect.ensuring(clear),
      Effect.onInterrupt(() =>
        printWarning(`${named}interrupted: ${stored()} stored; the same command continues there`)
      ),
      Effect.tap(readAge),
      Effect.tapError((error) => isOfStore(error) ? Effect.void : readAge)
    )
    const sentence = named + describePass(summary)
    const printPass = (removed: number | null) =>
      print(sentence, JSON.stringify(passFields(company.id, summary, removed)))
    if (!json) yield* print(sentence)
    if (Option.isNone(keepHistory)) {
      if (json) yield* printPass(null)
      return summary
    }
    const before = DateTime.subtract(yield* DateTime.now, { days: keepHistory.value })
    const removed = yield* keepingError(company, PunchCopy.pruneHistory(company.id, { before })).pipe(
      // The pass is complete, also if the pruning after it fails.
      Effect.tapError(() => json ? printPass(null) : Effect.void)
    )
    if (json) yield* printPass(removed)
    else if (removed > 0) {
      const age = counted(keepHistory.value, "day")
      yield* print(`${named}history: ${counted(removed, "version")} removed, replaced more than ${age} ago`)
    }
    return summary
  })

/** Keeps the error of a pass in the database until a pass is complete, for `copy status` and `doctor`. */
const keepingError = <A, R>(company: Company, pass: Effect.Effect<A, PassError, R>) =>
  Effect.tapError(pass, (error) => {
    const note = PunchCopy.recordError(company.id, error)
    // A database that failed was attempted for 5 seconds already: the note does not wait for it again.
    return Effect.ignore(isOfStore(error) ? Effect.timeoutOption(note, "200 millis") : note)
  })

const isOfStore = (error: PassError) => error._tag === "SyncError" && error.reason._tag === "Store"

/** Shows the counts of a pass. `clear` erases them before a result stands there; `stored` has the counts of the last commit. */
const startPass = Effect.fnUntraced(function*({ company, named }: SyncTask) {
  const stdio = yield* Stdio.Stdio
  const { clear, show } = yield* startReport({ printsResults: false })
  let last = { pages: 0, punches: 0 }
  const onCommit: SyncOptions["onCommit"] = ({ pages, punches, unchanged, written }) => {
    last = { pages, punches }
    return show((elapsed) => {
      const pace = { elapsed, received: punches }
      return {
        text: named + [
          countedPunches(punches),
          `${formatNumber(written)} written`,
          `${formatNumber(unchanged)} unchanged`,
          ...paceText(pace)
        ].join(", "),
        fields: { company: company.id, pages, punches, written, unchanged, ...paceFields(pace) }
      }
    }).pipe(Effect.as(true), Effect.provideService(Stdio.Stdio, stdio))
  }
  return { onCommit, clear, stored: () => `${countedPunches(last.punches)}, ${counted(last.pages, "page")}` }
})

const passNames = { first: "first load", increment: "increment", sweep: "sweep" } as const

/** One line for a pass. */
const describePass = (summary: SyncSummary): string => {
  const { complete, kind, lateness, missing, pages, punches, resumed, restarts, unchanged, watermark, written } =
    summary
  return [
    `${passNames[kind]}${resumed ? ", resumed" : ""}${complete ? "" : ", not complete"}: ` +
    `${countedPunches(punches)}, ${counted(pages, "page")}`,
    `${formatNumber(written)} written`,
    `${formatNumber(unchanged)} unchanged`,
    ...(missing > 0 ? [`${formatNumber(missing)} missing`] : []),
    ...(restarts > 0 ? [counted(restarts, "restart")] : []),
    ...Option.match(lateness, {
      onNone: () => [],
      onSome: (late) => [`changes showed up to ${formatAge(late)} late`]
    }),
    `watermark ${isoOf(watermark) ?? "none"}`
  ].join(", ")
}

/** A pass as the members of its JSON. `removed`: the versions that its pruning removed, null without one. */
const passFields = (company: CompanyId, summary: SyncSummary, removed: number | null) => {
  const { complete, kind, lateness, missing, pages, punches, resumed, restarts, unchanged, watermark, written } =
    summary
  return {
    company,
    kind,
    resumed,
    complete,
    punches,
    pages,
    written,
    unchanged,
    missing,
    restarts,
    latenessSeconds: Option.getOrNull(Option.map(lateness, Duration.toSeconds)),
    watermark: isoOf(watermark),
    removed
  }
}

const age = Metric.gauge("time_punches_copy_age_seconds", {
  description: "Since the last complete sync run of the copies that this process keeps; of several the oldest one",
  attributes: { unit: "s" }
})

/** Gives what reads the age of the copy of a company: as it is when the metric is exported. The series ends with the scope. */
export const watchAges = Effect.gen(function*() {
  const clock = yield* Clock.Clock
  const context = yield* Effect.context()
  const completed = new Map<CompanyId, number>()
  let series: Metric.Registration | undefined
  yield* Effect.addFinalizer(() => Effect.sync(() => series?.remove()))
  return Effect.fnUntraced(function*(company: CompanyId) {
    const store = yield* SyncStore
    const stored = yield* store.load(company)
    const completedAt = Option.getOrUndefined(Option.flatMap(stored, ({ completedAt }) => completedAt))
    if (completedAt === undefined) return
    completed.set(company, completedAt.epochMilliseconds)
    series ??= Metric.registerUnsafe(age, context, {
      get: () => ({ value: (clock.currentTimeMillisUnsafe() - Math.min(...completed.values())) / 1000 }),
      update: constVoid,
      modify: constVoid
    })
  })
})
