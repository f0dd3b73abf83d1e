/** Drives a plan: lets the processes continue one step at a time, changes what they read, and judges what they leave. */
import { Cause, Clock, DateTime, Effect, Exit, Fiber, Option, Scheduler } from "effect"
import { TimePunches } from "../../../src/index.ts"
import { type Checkpoint, SyncStore, type SyncSummary, type Window } from "../../../src/sync/index.ts"
import { addRow, changeRow, clockIns } from "./edits.ts"
import { Broken, type Caller, Judge } from "./judge.ts"
import { hour, minute, type Plan, second } from "./plan.ts"
import { type Random, randomFrom } from "./random.ts"
import { Service } from "./service.ts"
import { company, epoch, Source } from "./source.ts"
import { type Copies, CurrentGate, keyCopies, memoryCopies, type Subject } from "./stores.ts"

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
  readonly at: "request" | "commit"
  /** lets it continue. */
  readonly resume: () => void
  readonly torn: (() => void) | undefined
}

interface CallOptions {
  readonly pages?: number | undefined
  readonly claim?: boolean
  readonly acceptGone?: boolean
  readonly window?: Window
}

/** The most calls that it may take to end what is running. */
const mostCalls = 400

export class Run {
  readonly log: Array<string> = []
  private readonly plan: Plan
  private readonly subject: Subject
  private readonly random: Random
  private readonly source: Source
  private readonly service: Service
  private readonly copies: Copies
  private readonly judge: Judge
  private readonly clock: Clock.Clock
  private readonly tasks: Array<() => void> = []
  private readonly scheduler: Scheduler.MixedScheduler
  private readonly ends = new Map<string, number>()
  private readonly history: Array<{ readonly checkpoint: Checkpoint; readonly clockChanges: number }> = []
  private processes: Array<Process> = []
  private calls = 0
  private failed: Broken | undefined
  private lastEnd: Exit.Exit<SyncSummary, { readonly _tag: string }> | undefined

  constructor(plan: Plan, subject: Subject, copies?: Copies) {
    this.plan = plan
    this.subject = subject
    this.random = randomFrom(plan.seed ^ 0x5bd1e995)
    this.source = new Source(plan)
    this.service = new Service(this.source, plan, this.random)
    this.service.mayChangeClock = () => this.mayChangeClock(true)
    this.copies = copies ??
      (plan.store === "memory" || plan.store === "sqlite"
        ? memoryCopies(subject)
        : keyCopies(subject, plan.store === "keys"))
    this.judge = new Judge(plan, this.source, this.copies)
    this.clock = clockOf(this.source)
    this.scheduler = new Scheduler.MixedScheduler("sync", (task) => {
      this.tasks.push(task)
      return () => {
        const index = this.tasks.indexOf(task)
        if (index >= 0) this.tasks.splice(index, 1)
      }
    })
  }

  run(): Outcome {
    const { plan, random } = this
    for (let count = 0; count < plan.rows; count++) addRow(plan, random, this.source, "initial")
    this.source.now += plan.replicaLag + minute
    for (let step = 0; step < plan.steps; step++) this.step()
    this.rest()
    return { calls: this.calls, requests: this.service.requests, commits: this.judge.commits, ends: this.ends }
  }

  // What happens

  private step(): void {
    const { plan, random, source } = this
    source.now += random.int(0, random.chance(0.2) ? 5 * minute : 2 * second)
    if (random.chance(0.45)) changeRow(plan, random, source)
    if (random.chance(0.25)) this.misfortune()
    const awake = this.processes.filter(({ asleepUntil }) => asleepUntil <= source.now)
    const process = random.any(awake)
    const most = plan.faults.has("concurrent") ? 3 : 1
    if (process === undefined || (awake.length < most && random.chance(0.15))) {
      if (awake.length < most) this.call()
      return
    }
    if (plan.faults.has("kill") && random.chance(0.12)) {
      this.kill(process)
      return
    }
    if (plan.faults.has("sleeper") && random.chance(0.06)) {
      process.asleepUntil = source.now + random.int(1, 40) * 20 * minute
      return
    }
    this.goOn(process)
    // Most of the time a process does several steps while nothing else happens.
    for (let more = random.int(0, 5); more > 0 && this.processes.includes(process); more--) {
      source.now += random.int(20, 1500)
      this.goOn(process)
    }
  }

  private call(): void {
    const { plan, random } = this
    const { faults } = plan
    if (this.processes.length === 0 && faults.has("gap") && random.chance(0.5)) {
      this.source.now += random.int(1, 30) * (random.chance(0.3) ? hour : minute)
    }
    const pages = faults.has("stop") && random.chance(0.6) ? random.int(1, 4) : undefined
    const claim = faults.has("claim") && random.chance(0.4)
    if (this.isSweepAlone()) return
    const mayBeSweep = faults.has("sweep") && (plan.store !== "processes" || this.processes.length === 0)
    if (mayBeSweep && random.chance(0.4)) {
      const window = faults.has("window") && random.chance(0.6) ? this.drawWindow() : {}
      this.start("sweep", { pages, claim, window, acceptGone: random.chance(0.2) })
    } else this.start("run", { pages, claim })
  }

  /** Where processes share no lock, a sweep must run alone, also one that `run` continues with. */
  private isSweepAlone(): boolean {
    if (this.plan.store !== "processes" || this.processes.length === 0) return false
    const running = Option.flatMap(Option.fromUndefinedOr(this.copies.checkpoint()), ({ running }) => running)
    return this.processes.some(({ kind }) => kind === "sweep") ||
      Option.exists(running, ({ kind }) => kind === "sweep" || kind === "confirm")
  }

  private drawWindow(): Window {
    const { random } = this
    const from = epoch - random.int(0, clockIns.recent)
    const gte = DateTime.makeUnsafe(from)
    const lt = DateTime.makeUnsafe(from + random.int(hour, clockIns.recent))
    return random.pick<Window>([{ gte, lt }, { gte }, { lt }])
  }

  private misfortune(): void {
    const { plan: { faults }, random, service, source } = this
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
      service.forbiddenUntil = source.now + random.int(1, 20) * second
    })
    when("unavailable", () => {
      service.unavailableUntil = source.now + random.int(1, 20) * second
    })
    when(
      "serviceBack",
      () => this.mayChangeClock(true) && this.stepService(-random.int(1, random.chance(0.3) ? 120 : 18_000))
    )
    when(
      "serviceForward",
      () => this.mayChangeClock(false) && this.stepService(random.int(1, random.chance(0.5) ? 120 : 7200))
    )
    when("localStep", () => this.stepLocal(random.int(-7200, 7200)))
    when("lostCursors", () => {
      service.aliveSince = source.now
    })
    when("cycle", () => {
      service.cycle = service.cycle > 0 ? 0 : random.int(1, 6)
    })
    when("checkpointLost", () => this.loseCheckpoint())
    when("checkpointPutBack", () => this.putBack())
    random.any(acts)?.()
  }

  private stepService(by: number): void {
    const { plan, service, source } = this
    // What is on its way when the clock is set forward counts the step as lateness: beyond the overlap it is a limit.
    if (source.setForward(by * second) > plan.slack) {
      source.settle()
      // Where stamps of the future have lifted a watermark without a Date, all that is not read yet is on its way.
      const watermark = Option.flatMap(Option.fromUndefinedOr(this.copies.checkpoint()), ({ watermark }) => watermark)
      if (Option.exists(watermark, ({ epochMilliseconds }) => epochMilliseconds > source.service)) return
      // Its late pages would lift such a watermark by the step.
      if (this.mayBusyLackDate()) return
    }
    service.clockChanges++
    source.serviceOffset += by * second
    this.log.push(`service clock ${by} s`)
  }

  private stepLocal(by: number): void {
    const { service, source } = this
    const checkpoint = this.copies.checkpoint()
    // Two clock changes between the same two horizons are a limit.
    if (checkpoint !== undefined && Option.isSome(checkpoint.at) && !this.mayChangeClock(false)) return
    // Without a `Date`, the local clock measures how long a pass takes.
    if (by < 0 && this.mayBusyLackDate()) return
    if (Math.abs(source.localOffset + by * second - source.serviceOffset) > 20 * hour) return
    service.clockChanges++
    source.localOffset += by * second
    this.log.push(`local clock ${by} s`)
  }

  /** Whether a pass is running whose first page may have no `Date`. */
  private mayBusyLackDate(): boolean {
    const { dates, faults } = this.plan
    return (this.processes.length > 0 || this.isRunning()) && (dates !== "always" || faults.has("wildDate"))
  }

  /** Whether a clock may change: not twice between two horizons. Set back, it needs a first page with a `Date`, or a sweep. */
  private mayChangeClock(needsHorizon: boolean): boolean {
    const { dates, store } = this.plan
    if (needsHorizon && (store === "processes" || dates === "never" || dates === "laterOnly")) return false
    const checkpoint = this.copies.checkpoint()
    if (checkpoint === undefined) return !needsHorizon
    return Option.match(checkpoint.at, {
      onNone: () => !needsHorizon,
      onSome: ({ epochMilliseconds }) => this.service.changesSince(epochMilliseconds) === 0
    })
  }

  private loseCheckpoint(): void {
    if (this.isWithoutTransaction() && !this.mayTouchKeys()) return
    this.copies.replace(undefined)
    this.judge.replaced()
    this.forgetSweeps(0)
    this.log.push("checkpoint lost")
  }

  private putBack(): void {
    const { random, service } = this
    if (this.isWithoutTransaction() && !this.mayTouchKeys()) return
    // The stamps of a sweep are set to 0 with all others: without a transaction, none may run in what is put back.
    const isUsable = ({ running }: Checkpoint) =>
      !this.isWithoutTransaction() || !Option.exists(running, ({ kind }) => kind === "sweep" || kind === "confirm")
    const older = random.any(
      this.history.filter(({ checkpoint, clockChanges }) =>
        isUsable(checkpoint) && Option.match(checkpoint.at, {
          onNone: () => clockChanges === service.clockChanges,
          onSome: ({ epochMilliseconds }) => service.changesSince(epochMilliseconds) <= 1
        })
      )
    )
    if (older === undefined) return
    this.copies.replace(older.checkpoint)
    this.judge.replaced()
    this.forgetSweeps(older.checkpoint.pass)
    this.log.push(`checkpoint of pass ${older.checkpoint.pass} put back`)
  }

  /**
   * What is read after a checkpoint was lost or put back may stamp rows with a lower number. A sweep of a higher one that is
   * put back after it would miss them: a limit, of two checkpoints that are changed by hand, the second the newer one.
   */
  private forgetSweeps(from: number): void {
    for (let index = this.history.length - 1; index >= 0; index--) {
      const running = Option.flatMap(
        Option.fromUndefinedOr(this.history[index]),
        ({ checkpoint }) => checkpoint.running
      )
      const isSweep = Option.exists(running, ({ kind }) => kind === "sweep" || kind === "confirm")
      if (isSweep && Option.exists(running, ({ pass }) => pass >= from)) this.history.splice(index, 1)
    }
  }

  /** Not with a clock set back, which is a limit, and not while a commit is between two of its steps. */
  private mayTouchKeys(): boolean {
    return this.service.clockChanges === 0 && this.processes.length === 0
  }

  private isWithoutTransaction(): boolean {
    return this.plan.store === "keys" || this.plan.store === "processes"
  }

  // The processes

  private start(
    kind: "run" | "sweep",
    { acceptGone = false, claim = false, pages, window = {} }: CallOptions
  ): Process {
    const { plan, source, subject } = this
    const process: Process = {
      id: ++this.calls,
      kind,
      loadedAt: this.judge.commits,
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
    let isClaim = claim && this.copies.checkpoint() !== undefined
    const service = this.service.for({
      wait: wait("request"),
      asks: (isFirst) => {
        if (isClaim) this.judge.claimed(process)
        isClaim = false
        if (isFirst) process.attemptsBegan.push(source.now)
      }
    })
    const options = {
      overlap: plan.overlap,
      prefetchPages: plan.prefetchPages,
      claim,
      ...(pages === undefined ? {} : { stopAfter: { pages } })
    }
    this.log.push(`call ${process.id}: ${kind} ${JSON.stringify({ pages, claim, acceptGone, window })}`)
    const call = kind === "run"
      ? subject.run(company, options)
      : subject.sweep(company, { ...options, acceptGone, window })
    const effect = call.pipe(
      Effect.provideService(TimePunches, service),
      Effect.provideService(SyncStore, this.judged(process, this.copies.open())),
      Effect.provideService(CurrentGate, (torn) => wait("commit", torn)),
      Effect.provideService(Clock.Clock, this.clock)
    )
    this.processes.push(process)
    process.fiber = Effect.runFork(effect, { scheduler: this.scheduler })
    process.fiber.addObserver((exit) => this.ended(process, exit))
    this.flush()
    return process
  }

  private judged(process: Process, store: SyncStore["Service"]): SyncStore["Service"] {
    return {
      ...store,
      commit: (batch, previous) =>
        Effect.tap(store.commit(batch, previous), () =>
          Effect.sync(() => {
            const rows = batch.punches.map(({ id, notes }) => `${id}${notes}`).join(" ")
            const gone = Option.isSome(batch.gone) ? " gone" : ""
            this.log.push(`call ${process.id} committed ${batch.kind} ${batch.pass}: ${rows}${gone}`)
            this.history.push({ checkpoint: batch.checkpoint, clockChanges: this.service.clockChanges })
            if (this.history.length > 12) this.history.splice(this.random.int(0, 11), 1)
            this.guard(() => this.judge.committed(process, batch, previous))
          }))
    }
  }

  /** Keeps the first promise that is broken: to throw within a fiber would only end that fiber. */
  private guard(check: () => void): void {
    try {
      check()
    } catch (error) {
      if (!(error instanceof Broken)) throw error
      this.failed ??= error
    }
  }

  private ended(process: Process, exit: Exit.Exit<SyncSummary, { readonly _tag: string }>): void {
    this.processes = this.processes.filter((other) => other !== process)
    this.lastEnd = exit
    const end = Exit.isSuccess(exit) ? exit.value.complete ? "complete" : "stopped" : nameOf(exit.cause)
    this.log.push(`call ${process.id} ended: ${end}`)
    this.ends.set(end, (this.ends.get(end) ?? 0) + 1)
    if (
      Exit.isFailure(exit) && (Cause.hasDies(exit.cause) || ["Checkpoint", "Store", "InvalidRequest"].includes(end))
    ) {
      this.failed ??= new Broken(`call ${process.id} ended with ${Cause.pretty(exit.cause)}`)
    }
  }

  private goOn(process: Process): void {
    const [wait] = process.waits.splice(this.random.int(0, process.waits.length - 1), 1)
    wait?.resume()
    this.flush()
  }

  private kill(process: Process): void {
    for (const { torn } of process.waits) if (this.random.chance(0.5)) torn?.()
    this.log.push(`call ${process.id} killed at its ${process.waits.map(({ at }) => at).join(" and ")}`)
    process.fiber?.interruptUnsafe()
    this.flush()
  }

  private flush(): void {
    for (let task = this.tasks.shift(); task !== undefined; task = this.tasks.shift()) task()
    if (this.failed !== undefined) throw this.failed
  }

  // The quiet at the end

  private rest(): void {
    const { judge, plan, random, service, source } = this
    const calm = () => {
      service.isQuiet = true
      service.cycle = 0
      service.forbiddenUntil = 0
      service.unavailableUntil = 0
    }
    calm()
    source.now += plan.lateness + plan.replicaLag + minute
    if (random.chance(0.5)) { for (const row of source.rows) source.show(row) }
    this.log.push("quiet")
    const sleepers = this.isSweepAlone() ? [] : this.processes.filter(() => random.chance(0.5))
    this.finish(this.processes.filter((process) => !sleepers.includes(process)))
    // What runs, also what a sleeper is about to store, proves nothing of the quiet: one more pass.
    for (let passes = this.isRunning() || sleepers.length > 0 ? 2 : 1; passes > 0; passes--) this.complete("run")
    judge.atRest("after a pass", false)
    this.finish(sleepers)
    judge.atRest("after the sleepers", false)
    if (this.isRunning()) this.complete("run")
    this.complete("sweep")
    const checkpoint = this.copies.checkpoint()
    // An emptied company without a `Date` never gets a watermark: no sweep starts, a limit.
    const isSwept = checkpoint !== undefined && this.lastKind() === "sweep"
    judge.atRest("after a sweep", isSwept)
    if (!isSwept && checkpoint !== undefined && Option.isSome(checkpoint.watermark)) {
      this.complete("sweep")
      judge.atRest("after a second sweep", true)
    }
  }

  private isRunning(): boolean {
    return Option.isSome(Option.flatMap(Option.fromUndefinedOr(this.copies.checkpoint()), ({ running }) => running))
  }

  private lastKind(): string | undefined {
    return this.lastEnd !== undefined && Exit.isSuccess(this.lastEnd) ? this.lastEnd.value.kind : undefined
  }

  private finish(processes: ReadonlyArray<Process>): void {
    for (const process of processes) {
      for (let steps = 0; this.processes.includes(process); steps++) {
        if (steps > 4000) throw new Broken(`call ${process.id} does not end`)
        this.source.now += 100
        if (process.waits.length === 0) {
          // It waits for another one, which has the lock.
          const other = this.processes.find(({ waits }) => waits.length > 0)
          if (other === undefined) throw new Broken(`call ${process.id} hangs`)
          this.goOn(other)
        } else this.goOn(process)
      }
    }
  }

  /** Calls until one is complete. */
  private complete(kind: "run" | "sweep"): void {
    const { plan, random, source } = this
    for (let calls = 0; calls < mostCalls; calls++) {
      source.now += random.int(second, 20 * minute)
      this.finish([this.start(kind, { pages: plan.quietPages, acceptGone: true })])
      const exit = this.lastEnd
      if (exit === undefined) throw new Broken("a call did not end")
      if (Exit.isSuccess(exit)) {
        if (exit.value.complete) return
        if (plan.quietPages === undefined) throw new Broken("a call without a limit stopped")
        continue
      }
      const end = nameOf(exit.cause)
      if (!["CursorLost", "TooManyGone", "Superseded"].includes(end))
        throw new Broken(`in the quiet a call ended with ${end}`)
    }
    throw new Broken("what is running does not end")
  }
}

const nameOf = (cause: Cause.Cause<{ readonly _tag: string; readonly reason?: unknown }>): string => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (error === undefined) return Cause.hasInterruptsOnly(cause) ? "killed" : "defect"
  return error._tag === "SyncError" ? `${error.reason}` : error._tag
}

/** A clock that the driver moves; no time passes by itself. */
const clockOf = (source: Source): Clock.Clock => ({
  currentTimeMillisUnsafe: () => source.local,
  currentTimeMillis: Effect.sync(() => source.local),
  currentTimeNanosUnsafe: () => BigInt(source.local) * 1_000_000n,
  currentTimeNanos: Effect.sync(() => BigInt(source.local) * 1_000_000n),
  monotonicTimeNanosUnsafe: () => BigInt(source.now) * 1_000_000n,
  monotonicTimeNanos: Effect.sync(() => BigInt(source.now) * 1_000_000n),
  sleep: () => Effect.die(new Error("nothing sleeps here"))
})
