/** Drives a plan: lets the processes continue one step at a time, changes what they read, and judges what they leave. */
import { Cause, Clock, DateTime, Effect, Exit, Fiber, Option, Predicate, Scheduler } from "effect"
import { TimePunches } from "../../../src/index.ts"
import { type Checkpoint, type SweepWindow, SyncStore, type SyncSummary } from "../../../src/sync/index.ts"
import { prng } from "../../../src/testing/base/prng.ts"
import { addRow, changeRow, clockIns } from "./edits.ts"
import { Broken, type Caller, makeJudge } from "./judge.ts"
import { hour, minute, pickAny, type Plan, second } from "./plan.ts"
import { makeService } from "./service.ts"
import { company, epoch, makeSource, type Source } from "./source.ts"
import { type Copies, CurrentGate, memoryCopies, type Subject } from "./stores.ts"

/** What a plan did, to show that it did something. */
export interface Outcome {
  readonly calls: number
  readonly requests: number
  readonly commits: number
  /** Calls by how they ended. */
  readonly ends: ReadonlyMap<string, number>
}

/** A call that runs, or waits at a gate. */
interface Process extends Caller {
  readonly kind: "run" | "sweep"
  fiber: Fiber.Fiber<SyncSummary, { readonly _tag: string }> | undefined
  /** Where it waits; at two of them where it reads ahead. */
  readonly waits: Array<Wait>
  /** The driver leaves it alone until then. */
  asleepUntil: number
}

interface Wait {
  readonly at: "request" | "commit" | "pause"
  /** lets it continue. */
  readonly resume: () => void
  readonly torn: (() => void) | undefined
}

interface CallOptions {
  readonly pages?: number | undefined
  readonly claim?: boolean
  readonly allowMissing?: boolean
  readonly window?: SweepWindow
}

/** The most calls that it may take to end what is running. */
const mostCalls = 400

/** A plan that can be run once. */
export const makeRun = (plan: Plan, subject: Subject, given?: Copies) => {
  const random = prng(plan.seed ^ 0x5bd1e995)
  const source = makeSource(plan)
  const service = makeService(source, plan, random)
  const copies = given ?? memoryCopies(subject)
  const judge = makeJudge(plan, source, copies)
  const clock = clockOf(source)
  const log: Array<string> = []
  const tasks: Array<() => void> = []
  const scheduler = new Scheduler.MixedScheduler("sync", (task) => {
    tasks.push(task)
    return () => {
      const index = tasks.indexOf(task)
      if (index >= 0) tasks.splice(index, 1)
    }
  })
  const ends = new Map<string, number>()
  const history: Array<{ readonly checkpoint: Checkpoint; readonly clockChanges: number }> = []
  let processes: Array<Process> = []
  let calls = 0
  /** Seconds by which the local clock was set back. */
  let setBack = 0
  let failed: Broken | undefined
  let lastEnd: Exit.Exit<SyncSummary, { readonly _tag: string }> | undefined
  service.mayChangeClock = () => mayChangeClock(true)
  copies.losesCommit = () => plan.faults.has("lostCommit") && !service.isQuiet && random.chance(0.1)

  const run = (): Outcome => {
    for (let count = 0; count < plan.rows; count++) addRow(plan, random, source, "initial")
    source.now += plan.replicaLag + minute
    for (let count = 0; count < plan.steps; count++) step()
    rest()
    return { calls, requests: service.requests, commits: judge.commits, ends }
  }

  // What happens

  const step = (): void => {
    source.now += random.between(0, random.chance(0.2) ? 5 * minute : 2 * second)
    if (random.chance(0.45)) changeRow(plan, random, source)
    if (random.chance(0.25)) misfortune()
    const awake = processes.filter(({ asleepUntil }) => asleepUntil <= source.now)
    const process = pickAny(random, awake)
    const most = plan.faults.has("concurrent") ? 3 : 1
    if (process === undefined || (awake.length < most && random.chance(0.15))) {
      if (awake.length < most) call()
      return
    }
    if (plan.faults.has("kill") && random.chance(0.12)) {
      kill(process)
      return
    }
    if (plan.faults.has("sleeper") && random.chance(0.06)) {
      process.asleepUntil = source.now + random.between(1, 40) * 20 * minute
      return
    }
    goOn(process)
    // Most of the time a process does several steps while nothing else happens.
    for (let more = random.between(0, 5); more > 0 && processes.includes(process); more--) {
      source.now += random.between(20, 1500)
      goOn(process)
    }
  }

  const call = (): void => {
    const { faults } = plan
    if (processes.length === 0 && faults.has("gap") && random.chance(0.5)) {
      source.now += random.between(1, 30) * (random.chance(0.3) ? hour : minute)
    }
    const pages = faults.has("stop") && random.chance(0.6) ? random.between(1, 4) : undefined
    const claim = faults.has("claim") && random.chance(0.4)
    if (faults.has("sweep") && random.chance(0.4)) {
      const window = faults.has("window") && random.chance(0.6) ? drawWindow() : {}
      start("sweep", { pages, claim, window, allowMissing: random.chance(0.2) })
    } else start("run", { pages, claim })
  }

  const drawWindow = (): SweepWindow => {
    const from = epoch - random.between(0, clockIns.recent)
    const gte = DateTime.makeUnsafe(from)
    const lt = DateTime.makeUnsafe(from + random.between(hour, clockIns.recent))
    return random.pick<SweepWindow>([{ gte, lt }, { gte }, { lt }])
  }

  const misfortune = (): void => {
    const { faults } = plan
    const acts: Array<() => void> = []
    const when = (fault: Parameters<typeof faults.has>[0], act: () => void) => faults.has(fault) && acts.push(act)
    when("hide", () => {
      const share = random.pick([0.3, 0.6, 1, 1] as const)
      for (const row of source.rows) {
        if (source.isHidden(row, source.now)) source.show(row)
        else if (random.chance(share)) source.hide(row)
      }
    })
    when("forbid", () => {
      service.forbiddenUntil = source.now + random.between(1, 20) * second
    })
    when("unavailable", () => {
      service.unavailableUntil = source.now + random.between(1, 20) * second
    })
    when(
      "serviceBack",
      () => mayChangeClock(true) && stepService(-random.between(1, random.chance(0.3) ? 120 : 18_000))
    )
    when(
      "serviceForward",
      () => mayChangeClock(false) && stepService(random.between(1, random.chance(0.5) ? 120 : 7200))
    )
    when("localStep", () => stepLocal(random.between(-7200, 7200)))
    when("lostCursors", () => {
      service.aliveSince = source.now
    })
    when("cycle", () => {
      service.cycle = service.cycle > 0 ? 0 : random.between(1, 6)
    })
    when("badRow", () => {
      service.badRowUntil = source.now + random.between(1, 20) * second
    })
    when("wrongCount", () => {
      service.wrongCountUntil = source.now + random.between(1, 20) * second
    })
    when("frozenDate", () => {
      service.frozenAt = Option.isNone(service.frozenAt) ? Option.some(source.service) : Option.none()
    })
    when("checkpointLost", () => loseCheckpoint())
    when("checkpointPutBack", () => putBack())
    pickAny(random, acts)?.()
  }

  const stepService = (by: number): void => {
    // What is on its way when the clock is set forward counts the step as lateness: beyond the overlap it is a limit.
    if (source.setForward(by * second) > plan.slack) {
      source.settle()
      // Where stamps of the future have lifted a watermark without a Date, all that is not read yet is on its way.
      const watermark = Option.flatMap(Option.fromUndefinedOr(copies.checkpoint()), ({ watermark }) => watermark)
      if (Option.exists(watermark, ({ epochMilliseconds }) => epochMilliseconds > source.service)) return
      // Its late pages would lift such a watermark by the step.
      if (mayBusyLackDate()) return
    }
    service.clockChanges++
    source.serviceOffset += by * second
    log.push(`service clock ${by} s`)
  }

  const stepLocal = (by: number): void => {
    const checkpoint = copies.checkpoint()
    // Two clock changes between the same two horizons are a limit.
    if (checkpoint !== undefined && Option.isSome(checkpoint.at) && !mayChangeClock(false)) return
    // Set back by more than a day in a pass without a `Date`: a limit.
    if (by < 0 && (setBack -= by) > 20 * 3600) return
    if (Math.abs(source.localOffset + by * second - source.serviceOffset) > 20 * hour) return
    service.clockChanges++
    source.localOffset += by * second
    log.push(`local clock ${by} s`)
  }

  /** Whether a pass is running whose first page may have no `Date`. */
  const mayBusyLackDate = (): boolean => {
    const { dates, faults } = plan
    return (processes.length > 0 || isRunning()) && (dates !== "always" || faults.has("wildDate"))
  }

  /** Whether a clock may change: not twice between two horizons. Set back, it needs a first page with a `Date`, or a sweep. */
  const mayChangeClock = (needsHorizon: boolean): boolean => {
    const { dates } = plan
    if (needsHorizon && (dates === "never" || dates === "laterOnly")) return false
    const checkpoint = copies.checkpoint()
    if (checkpoint === undefined) return !needsHorizon
    return Option.match(checkpoint.at, {
      onNone: () => !needsHorizon,
      onSome: ({ epochMilliseconds }) => service.changesSince(epochMilliseconds) === 0
    })
  }

  const loseCheckpoint = (): void => {
    copies.replace(undefined)
    judge.replaced()
    forgetSweeps(0)
    log.push("checkpoint lost")
  }

  const putBack = (): void => {
    const older = pickAny(
      random,
      history.filter(({ checkpoint, clockChanges }) =>
        Option.match(checkpoint.at, {
          onNone: () => clockChanges === service.clockChanges,
          onSome: ({ epochMilliseconds }) => service.changesSince(epochMilliseconds) <= 1
        })
      )
    )
    if (older === undefined) return
    copies.replace(older.checkpoint)
    judge.replaced()
    forgetSweeps(older.checkpoint.pass)
    log.push(`checkpoint of pass ${older.checkpoint.pass} put back`)
  }

  /**
   * What is read after a checkpoint was lost or put back may stamp rows with a lower number. A sweep of a higher one that is
   * put back after it would miss them: a limit, of two checkpoints that are changed by hand, the second the newer one.
   */
  const forgetSweeps = (from: number): void => {
    for (let index = history.length - 1; index >= 0; index--) {
      const running = Option.flatMap(
        Option.fromUndefinedOr(history[index]),
        ({ checkpoint }) => checkpoint.running
      )
      const isSweep = Option.exists(running, ({ kind }) => kind === "sweep" || kind === "confirm")
      if (isSweep && Option.exists(running, ({ pass }) => pass >= from)) history.splice(index, 1)
    }
  }

  // The processes

  const start = (
    kind: "run" | "sweep",
    { allowMissing = false, claim = false, pages, window = {} }: CallOptions
  ): Process => {
    const process: Process = {
      id: ++calls,
      kind,
      loadedAt: judge.commits,
      commits: 0,
      attemptsBegan: [source.now],
      fiber: undefined,
      waits: [],
      asleepUntil: 0
    }
    const wait = (at: Wait["at"], torn?: () => void) =>
      Effect.callback<void>((resume) => {
        process.waits.push({ at, torn, resume: () => resume(Effect.void) })
      })
    let isClaim = claim
    const met = service.for({
      wait: wait("request"),
      asks: (isFirst) => {
        if (isClaim) judge.claimed(process)
        isClaim = false
        if (isFirst) process.attemptsBegan.push(source.now)
        guard(() => judge.asked(process))
      }
    })
    const options = {
      overlap: plan.overlap,
      sortById: plan.sortById,
      prefetchPages: plan.prefetchPages,
      claim,
      ...(pages === undefined ? {} : { stopAfter: { pages } })
    }
    log.push(`call ${process.id}: ${kind} ${JSON.stringify({ pages, claim, allowMissing, window })}`)
    const call = kind === "run"
      ? subject.run(company, options)
      : subject.sweep(company, { ...options, allowMissing, window })
    const effect = call.pipe(
      Effect.provideService(TimePunches, met),
      Effect.provideService(SyncStore, judged(process, copies.open())),
      Effect.provideService(CurrentGate, (torn) => wait("commit", torn)),
      // A store over SQL waits before it tries a commit again; else a call waits behind empty pages.
      Effect.provideService(Clock.Clock, {
        ...clock,
        sleep: () => plan.store === "sqlite" ? Effect.void : wait("pause")
      })
    )
    processes.push(process)
    process.fiber = Effect.runFork(effect, { scheduler })
    process.fiber.addObserver((exit) => ended(process, exit))
    flush()
    return process
  }

  const judged = (process: Process, store: SyncStore["Service"]): SyncStore["Service"] => ({
    ...store,
    commit: (batch, previous) =>
      Effect.tap(store.commit(batch, previous), () =>
        Effect.sync(() => {
          const rows = batch.punches.map(({ id, notes }) => `${id}${notes}`).join(" ")
          const missing = Option.isSome(batch.missing) ? " missing" : ""
          log.push(`call ${process.id} committed ${batch.kind} ${batch.pass}: ${rows}${missing}`)
          history.push({ checkpoint: batch.checkpoint, clockChanges: service.clockChanges })
          if (history.length > 12) history.splice(random.between(0, 11), 1)
          guard(() => judge.committed(process, batch, previous))
        }))
  })

  /** Keeps the first promise that is broken: to throw within a fiber would only end that fiber. */
  const guard = (check: () => void): void => {
    try {
      check()
    } catch (error) {
      if (!(error instanceof Broken)) throw error
      failed ??= error
    }
  }

  const ended = (process: Process, exit: Exit.Exit<SyncSummary, { readonly _tag: string }>): void => {
    processes = processes.filter((other) => other !== process)
    lastEnd = exit
    const end = Exit.isSuccess(exit) ? exit.value.complete ? "complete" : "stopped" : nameOf(exit.cause)
    log.push(`call ${process.id} ended: ${end}`)
    ends.set(end, (ends.get(end) ?? 0) + 1)
    if (
      Exit.isFailure(exit) && (Cause.hasDies(exit.cause) || ["Checkpoint", "Store", "InvalidRequest"].includes(end))
    ) {
      failed ??= new Broken(`call ${process.id} ended with ${Cause.pretty(exit.cause)}`)
    }
  }

  const goOn = (process: Process): void => {
    const [wait] = process.waits.splice(random.between(0, process.waits.length - 1), 1)
    wait?.resume()
    flush()
  }

  const kill = (process: Process): void => {
    for (const { torn } of process.waits) if (random.chance(0.5)) torn?.()
    log.push(`call ${process.id} killed at its ${process.waits.map(({ at }) => at).join(" and ")}`)
    process.fiber?.interruptUnsafe()
    flush()
  }

  const flush = (): void => {
    for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) task()
    if (failed !== undefined) throw failed
  }

  // The quiet at the end

  const rest = (): void => {
    service.isQuiet = true
    service.cycle = 0
    service.forbiddenUntil = 0
    service.unavailableUntil = 0
    service.badRowUntil = 0
    service.wrongCountUntil = 0
    source.now += plan.lateness + plan.replicaLag + minute
    if (random.chance(0.5)) { for (const row of source.rows) source.show(row) }
    log.push("quiet")
    const sleepers = processes.filter(() => random.chance(0.5))
    finish(processes.filter((process) => !sleepers.includes(process)))
    // What runs, also what a sleeper is about to store, proves nothing of the quiet: one more pass.
    for (let passes = isRunning() || sleepers.length > 0 ? 2 : 1; passes > 0; passes--) complete("run")
    judge.atRest("after a pass", false)
    finish(sleepers)
    judge.atRest("after the sleepers", false)
    if (isRunning()) complete("run")
    complete("sweep")
    const checkpoint = copies.checkpoint()
    // An emptied company without a `Date` never gets a watermark: no sweep starts, a limit.
    const isSwept = checkpoint !== undefined && lastKind() === "sweep"
    judge.atRest("after a sweep", isSwept)
    if (!isSwept && checkpoint !== undefined && Option.isSome(checkpoint.watermark)) {
      complete("sweep")
      judge.atRest("after a second sweep", true)
    }
  }

  const isRunning = (): boolean => {
    return Option.isSome(Option.flatMap(Option.fromUndefinedOr(copies.checkpoint()), ({ running }) => running))
  }

  const lastKind = (): string | undefined =>
    lastEnd !== undefined && Exit.isSuccess(lastEnd) ? lastEnd.value.kind : undefined

  const finish = (some: ReadonlyArray<Process>): void => {
    for (const process of some) {
      for (let steps = 0; processes.includes(process); steps++) {
        if (steps > 4000) throw new Broken(`call ${process.id} does not end`)
        source.now += 100
        if (process.waits.length === 0) {
          // It waits for another one, which has the lock.
          const other = processes.find(({ waits }) => waits.length > 0)
          if (other === undefined) throw new Broken(`call ${process.id} hangs`)
          goOn(other)
        } else goOn(process)
      }
    }
  }

  /** Calls until one is complete. */
  const complete = (kind: "run" | "sweep"): void => {
    for (let calls = 0; calls < mostCalls; calls++) {
      source.now += random.between(second, 20 * minute)
      finish([start(kind, { pages: plan.quietPages, allowMissing: true })])
      const exit = lastEnd
      if (exit === undefined) throw new Broken("a call did not end")
      if (Exit.isSuccess(exit)) {
        if (exit.value.complete) return
        if (plan.quietPages === undefined) throw new Broken("a call without a limit stopped")
        continue
      }
      const end = nameOf(exit.cause)
      if (!["CursorLost", "TooManyMissing", "Superseded"].includes(end))
        throw new Broken(`in the quiet a call ended with ${end}`)
    }
    throw new Broken("what is running does not end")
  }

  return { log, run }
}

const tagOf = (reason: unknown): string => Predicate.hasProperty(reason, "_tag") ? `${reason._tag}` : `${reason}`

const nameOf = (cause: Cause.Cause<{ readonly _tag: string; readonly reason?: unknown }>): string => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (error === undefined) return Cause.hasInterruptsOnly(cause) ? "killed" : "defect"
  return error._tag === "SyncError" ? tagOf(error.reason) : error._tag
}

/** A clock that the driver moves; no time passes by itself. */
const clockOf = (source: Source): Omit<Clock.Clock, "sleep"> => ({
  currentTimeMillisUnsafe: () => source.local,
  currentTimeMillis: Effect.sync(() => source.local),
  currentTimeNanosUnsafe: () => BigInt(source.local) * 1_000_000n,
  currentTimeNanos: Effect.sync(() => BigInt(source.local) * 1_000_000n),
  monotonicTimeNanosUnsafe: () => BigInt(source.now) * 1_000_000n,
  monotonicTimeNanos: Effect.sync(() => BigInt(source.now) * 1_000_000n)
})
