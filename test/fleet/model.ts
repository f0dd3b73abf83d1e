/**
 * A model of a fleet: the real runner, several times over one database in memory, with the clock of the test. Its processes are
 * killed, frozen and cut off from the database; one is refused or does not reach the service; companies kill their process, or are
 * throttled; credentials are refused; the clock of the database is set back; operators pause. What they
 * say to each other goes through gates, so that a killed process neither reads nor writes anything any more.
 */
import { assert } from "@effect/vitest"
import { DateTime, Deferred, Duration, Effect, Exit, Fiber, Layer, Option, Random, Result, Scope, Stream } from "effect"
import { SqlError, UnknownError } from "effect/sql/SqlError"
import { TestClock } from "effect/testing"
import { makeRunner, type Runner } from "../../src/fleet/node/turns.ts"
import { readSettings } from "../../src/fleet/Settings.ts"
import type { Claim } from "../../src/fleet/store/claims.ts"
import type { FleetStore } from "../../src/fleet/store/FleetStore.ts"
import {
  CompanyId,
  Cursor,
  type ListError,
  RateLimited,
  TimePunches,
  TokenError,
  TransportError
} from "../../src/index.ts"
import { type Batch, type Checkpoint, SyncError, SyncReason, SyncStore } from "../../src/sync/index.ts"
import { makeStoreOf } from "../../src/sync/memoryStore.ts"
import { type Prng, prng } from "../../src/testing/base/prng.ts"
import { punch } from "../../src/testing/TestClient.ts"
import { pageOf } from "../support/page.ts"
import { runSeries } from "../support/series.ts"
import { sqliteStore } from "./support.ts"

export const noon = Date.UTC(2026, 3, 5, 12)

const every = 20_000
const pagesOf = 3
const pageTime = 700

/** Everything that a plan may do. */
export const storm = [
  "kill",
  "freeze",
  "outage",
  "operator",
  "credential",
  "service",
  "cut",
  "hang",
  "secret"
] as const

/** A plan without faults. */
export const calm: Plan = { seed: 1, processes: 3, companies: 6, poison: 0, seconds: 60, faults: [] }

/** What a plan does to the fleet, and what is wrong with the fleet of a planting. */
export interface Plan {
  readonly seed: number
  readonly processes: number
  readonly companies: number
  /** Companies that kill their process when they are listed. */
  readonly poison: number
  /** Seconds of faults; after them the fleet has time to settle. */
  readonly seconds: number
  readonly faults: ReadonlyArray<
    "kill" | "freeze" | "outage" | "operator" | "credential" | "service" | "again" | "cut" | "hang" | "secret" | "clock"
  >
  /** Companies that the service always throttles, the last ones. */
  readonly throttled?: number
  /** Whether the engine gives the processes no companies. */
  readonly isEngineDead?: boolean
  /** How long a page takes. Default 0.7. */
  readonly pageSeconds?: number
}

/** A change of the statements, as a bug would make it; with `claimless`, turns do not claim the copy. */
export type Planting = (store: FleetStore) => Partial<FleetStore> & { readonly claimless?: true }

/** What is wrong at the end. */
export interface Verdict {
  readonly faults: ReadonlyArray<string>
  /** Turns that ended. */
  readonly runs: number
  /** Commits that were refused. */
  readonly refused: number
  /** The largest lateness of an active company that nothing is wrong with, in seconds. */
  readonly worst: number
}

/** The database does not answer. */
export const lost = () =>
  new SqlError({
    reason: new UnknownError({ cause: new Error("the database is away"), message: "away", operation: "execute" })
  })

const pick = <A>(random: Prng, items: ReadonlyArray<A>): A => {
  const [first, ...rest] = items
  if (first === undefined) throw new Error("nothing to pick from")
  return random.pick([first, ...rest])
}

/** A process, between its start and its death. */
class Process {
  state: "running" | "frozen" | "dead" = "running"
  private thaw = Deferred.makeUnsafe<void>()
  /** The end of the plan, which alone wakes what a death has stopped. */
  private readonly over = Deferred.makeUnsafe<never, SqlError>()
  readonly epochs = new Map<number, number>()
  runner: Runner | undefined
  /** How it meets the service: its connections fail or hang, or its credential is refused. */
  service: "open" | "cut" | "hang" | "secret" = "open"
  readonly name: string
  constructor(name: string) {
    this.name = name
  }

  freeze() {
    if (this.state !== "running") return
    this.state = "frozen"
    this.thaw = Deferred.makeUnsafe<void>()
  }

  awake() {
    if (this.state !== "frozen") return Effect.void
    this.state = "running"
    return Deferred.succeed(this.thaw, undefined)
  }

  kill() {
    const isFrozen = this.state === "frozen"
    this.state = "dead"
    return isFrozen ? Effect.asVoid(Deferred.succeed(this.thaw, undefined)) : Effect.void
  }

  end = Effect.suspend(() => Deferred.fail(this.over, lost()))

  private readonly here: Effect.Effect<void, SqlError> = Effect.suspend(() =>
    this.state === "dead"
      ? Deferred.await(this.over)
      : this.state === "frozen"
      ? Effect.andThen(Deferred.await(this.thaw), Effect.suspend(() => this.here))
      : Effect.void
  )

  /** An answer is lost if the process dies while it is on its way. */
  gate<A, E>(self: Effect.Effect<A, E>): Effect.Effect<A, E | SqlError> {
    return Effect.andThen(this.here, Effect.tap(self, () => this.here))
  }
}

/** Runs a plan to its end and judges it. */
export const run = (plan: Plan, planting: Planting = () => ({})) =>
  Effect.gen(function*() {
    yield* TestClock.setTime(noon)
    const test = yield* sqliteStore
    const { sql } = test
    const { claimless = false, ...planted } = planting(test.store)
    const real: FleetStore = { ...test.store, ...planted }
    const random = prng(plan.seed)
    /** Seconds after which the lateness is looked at. */
    const everybodyLoaded = 15
    const copies = makeStoreOf(new Map())
    const settings = Result.getOrThrow(readSettings({ maxConcurrentSyncs: 4, pagesPerTurn: 2 }))
    const ids = Array.from({ length: plan.companies }, (_, at) => CompanyId.make(at + 1))
    const poison = new Set<number>(ids.slice(0, plan.poison))
    const throttled = new Set<number>(ids.slice(ids.length - (plan.throttled ?? 0)))
    let isAway = false
    let error: ListError | undefined
    let refused = 0
    /** The latest epoch that has committed, by company. */
    const latest = new Map<number, number>()
    const faults: Array<string> = []
    const epochs = new Set<string>()
    /** Each claim has an epoch that no turn of the company had before, also of a row that was removed. */
    const begun = (process: Process, { company, epoch }: Claim) => {
      const key = `${company}, ${epoch}`
      if (epochs.has(key)) faults.push(`company ${company} has two turns of one epoch`)
      epochs.add(key)
      process.epochs.set(company, epoch)
    }
    /** What was stored before a claim that was left out, by the checkpoint of the claim. */
    const unclaimed = new Map<Checkpoint, Option.Option<Checkpoint>>()

    const dead: Array<Process> = []
    const living = new Map<string, Process>()

    const gated = (process: Process): FleetStore => {
      const over = <A, E>(self: Effect.Effect<A, E>) =>
        process.gate(Effect.suspend((): Effect.Effect<A, E | SqlError> => isAway ? Effect.fail(lost()) : self))
      return {
        ...real,
        claim: (options) =>
          Effect.tap(over(real.claim(options)), (claims) =>
            Effect.sync(() => {
              const others = process.runner?.inWork().length ?? 0
              for (const claim of claims) {
                begun(process, claim)
                if (claim.starts > 2 && others + claims.length > 1) faults.push(`a suspect began beside others`)
              }
            })),
        claimSuspect: (name, takeover) =>
          Effect.tap(over(real.claimSuspect(name, takeover)), (claim) =>
            Effect.sync(() => {
              if (claim === undefined) return
              begun(process, claim)
              const others = process.runner?.inWork().length ?? 0
              if (others > 0) faults.push(`a suspect began beside others`)
            })),
        probe: (name, takeover) =>
          Effect.tap(over(real.probe(name, takeover)), (claim) =>
            Effect.sync(() => {
              if (claim !== undefined) begun(process, claim)
            })),
        heartbeat: (turns) => over(real.heartbeat(turns)),
        isHeld: (lease) => over(real.isHeld(lease)),
        whileHeld: (lease, body) => over(real.whileHeld(lease, body)),
        end: (name, end, options) => over(real.end(name, end, options)),
        release: (lease) => over(real.release(lease)),
        drain: (name, takeover) => over(real.drain(name, takeover)),
        extendSolo: (name, takeover) => over(real.extendSolo(name, takeover)),
        giveSoloBack: (name) => over(real.giveSoloBack(name)),
        begin: (name, isAlone) => over(real.begin(name, isAlone))
      }
    }

    /** A claim has a checkpoint that differs from the stored one by its writer alone. */
    const isClaim = ({ checkpoint }: Batch, previous: Option.Option<Checkpoint>) =>
      Option.match(previous, {
        onNone: () => checkpoint.pass === 0,
        onSome: (before) => before.pass === checkpoint.pass && before.running === checkpoint.running
      })

    const commit = (batch: Batch, previous: Option.Option<Checkpoint>) =>
      Effect.suspend(() => {
        if (claimless && isClaim(batch, previous)) {
          unclaimed.set(batch.checkpoint, previous)
          return Effect.succeed({ written: 0, unchanged: 0, missing: 0, oldestModified: Option.none() })
        }
        const known = Option.flatMap(previous, (before) => Option.fromUndefinedOr(unclaimed.get(before)))
        return copies.commit(batch, Option.getOrElse(known, () => previous))
      })

    const storeOf = (process: Process) => {
      const over = <A>(company: CompanyId, self: Effect.Effect<A, SyncError>) =>
        Effect.catchTag(
          process.gate(
            Effect.suspend((): Effect.Effect<A, SyncError | SqlError> => isAway ? Effect.fail(lost()) : self)
          ),
          "SqlError",
          () => Effect.fail(new SyncError({ companyId: company, reason: new SyncReason.Store({}) }))
        )
      return SyncStore.of({
        pagesPerCommit: 1,
        load: (company) => over(company, copies.load(company)),
        commit: (batch, previous) =>
          over(
            batch.companyId,
            commit(batch, previous).pipe(
              Effect.tap(() =>
                Effect.sync(() => {
                  const epoch = process.epochs.get(batch.companyId) ?? 0
                  const before = latest.get(batch.companyId) ?? 0
                  if (epoch < before)
                    faults.push(`company ${batch.companyId} was written by epoch ${epoch} after ${before}`)
                  latest.set(batch.companyId, Math.max(epoch, before))
                })
              ),
              Effect.tapError(() => Effect.sync(() => (refused += 1)))
            )
          )
      })
    }

    const pages = (process: Process, company: CompanyId) =>
      Stream.unfold(0, (index) =>
        Effect.gen(function*() {
          if (index === pagesOf) return undefined
          if (poison.has(company)) {
            yield* process.kill()
            dead.push(process)
          }
          yield* Effect.catchTag(
            process.gate(Effect.void),
            "SqlError",
            () => Effect.fail(new TransportError({ reason: "Connect" }))
          )
          if (process.service === "secret") return yield* new TokenError({ reason: "InvalidClient" })
          // Four attempts of half a minute each.
          for (let attempt = 0; attempt < 4 && process.service === "hang"; attempt++) yield* Effect.sleep("30 seconds")
          if (process.service !== "open") return yield* new TransportError({ reason: "Connect" })
          if (throttled.has(company) && (yield* DateTime.now).epochMilliseconds > noon + everybodyLoaded * 1000)
            return yield* new RateLimited({})
          const sentAt = DateTime.toUtc(yield* DateTime.now)
          yield* Effect.sleep(plan.pageSeconds === undefined ? pageTime : plan.pageSeconds * 1000)
          if (error !== undefined) return yield* error
          const page = pageOf(sentAt, {
            index,
            items: [punch({ id: index + 1, companyId: company })],
            sent: index === 0 ? Option.none() : Option.some(Cursor.make(`${index}`)),
            next: index === pagesOf - 1 ? Option.none() : Option.some(Cursor.make(`${index + 1}`))
          })
          return [page, index + 1] as const
        }))

    const scope = yield* Scope.make("parallel")

    const started = (name: string, place: number) =>
      Effect.gen(function*() {
        const process = new Process(name)
        living.set(name, process)
        const layer = Layer.merge(
          Layer.succeed(SyncStore, storeOf(process)),
          Layer.mock(TimePunches)({
            pages: (company) => pages(process, typeof company === "number" ? company : company.id)
          })
        )
        const mine = Array.from({ length: 300 }, (_, shard) => shard).filter((shard) =>
          shard % plan.processes === place
        )
        const runner = yield* makeRunner({
          store: gated(process),
          settings,
          name,
          mine: () => plan.isEngineDead === true ? [] : mine,
          shared: "{}"
        }).pipe(Effect.provide(layer))
        process.runner = runner
        // A process that starts frees what its predecessor held, until it can.
        yield* Effect.forkIn(
          Effect.andThen(
            Effect.retry(Effect.suspend(() => gated(process).begin(name, false)), {
              while: () => Effect.as(Effect.sleep("1 second"), true)
            }),
            Scope.provide(runner.start, scope)
          ),
          scope
        )
        return process
      })

    const names = Array.from({ length: plan.processes }, (_, place) => `p${place}`)
    for (const [place, name] of names.entries()) yield* started(name, place)
    yield* Effect.orDie(real.operator.add(ids.map((id) => ({ id, every }))))

    /** A process that is dead is started again after some seconds, as by a supervisor. */
    const due = new Map<string, number>()
    const supervise = (second: number) =>
      Effect.forEach([...living.values()], (process) => {
        if (process.state !== "dead") return Effect.void
        const at = due.get(process.name) ?? second + random.between(1, 4)
        due.set(process.name, at)
        if (second < at) return Effect.void
        due.delete(process.name)
        return started(process.name, names.indexOf(process.name))
      }, { discard: true })

    const until = new Map<string, number>()
    const fault = (kind: Plan["faults"][number], second: number, random: Prng) =>
      Effect.gen(function*() {
        const process = living.get(pick(random, names))
        const id = pick(random, ids)
        switch (kind) {
          case "kill":
            if (process === undefined || process.state === "dead") return
            dead.push(process)
            return yield* process.kill()
          case "freeze":
            process?.freeze()
            return void until.set(`freeze ${process?.name}`, second + random.between(2, 25))
          case "outage":
            isAway = true
            return void until.set("outage", second + random.between(1, 15))
          case "credential":
            error = new TokenError({ reason: "InvalidClient" })
            return void until.set("error", second + random.between(2, 6))
          case "service":
            error = new TransportError({ reason: "Connect" })
            return void until.set("error", second + random.between(2, 10))
          case "cut":
          case "hang":
          case "secret":
            // Nothing is promised while none reaches the service, nor before a first success.
            if (process === undefined || second < everybodyLoaded) return
            if ([...living.values()].some(({ service }) => service !== "open")) return
            process.service = kind
            return void until.set(`reach ${process.name}`, second + random.between(30, 60))
          case "clock": {
            // As if the clock had been ahead until now: the clock of the test cannot be set back.
            const ahead = random.between(600, 80_000) * 1000
            yield* Effect.orDie(sql.unsafe(`UPDATE fleet_company SET next_at = next_at + ${ahead}`))
            return void (yield* Effect.orDie(sql.unsafe(`UPDATE fleet_run SET ended_at = ended_at + ${ahead}`)))
          }
          case "again":
            yield* Effect.orDie(real.operator.remove([id]))
            return void (yield* Effect.orDie(real.operator.add([{ id, every }])))
          case "operator": {
            const { operator } = real
            const what = pick(random, [operator.pause, operator.trigger, operator.sweep, operator.resume])
            yield* Effect.orDie(what([id]))
            return void until.set(`operator ${id}`, second + random.between(1, 10))
          }
        }
      })

    const ended = (second: number) =>
      Effect.forEach([...until], ([what, at]) =>
        Effect.gen(function*() {
          if (second < at) return
          until.delete(what)
          const [kind, which] = what.split(" ")
          if (kind === "outage") isAway = false
          if (kind === "error") error = undefined
          const reaching = living.get(which ?? "")
          if (kind === "reach" && reaching !== undefined) reaching.service = "open"
          if (kind === "freeze") yield* living.get(which ?? "")?.awake() ?? Effect.void
          if (kind === "operator") yield* Effect.orDie(real.operator.resume([CompanyId.make(Number(which))]))
        }), { discard: true })

    const settling = 120
    let worst = 0
    const listed = Effect.orDie(real.operator.list({ states: undefined, isLate: false, id: undefined }))
    for (let second = 0; second < plan.seconds + settling; second++) {
      if (second < plan.seconds && plan.faults.length > 0 && random.chance(0.25)) {
        yield* fault(pick(random, plan.faults), second, random)
      }
      yield* ended(second)
      yield* supervise(second)
      // Pauses are tried once an hour, also with the company that kills its process: a plan has minutes.
      if (second >= plan.seconds + 30 && (second - plan.seconds) % 15 === 0)
        yield* Effect.orDie(sql`UPDATE fleet_pause SET probed_at = 0`)
      yield* TestClock.adjust("1 second")
      if (second % 60 === 59)
        yield* Effect.orDie(real.correctTimes(settings))
      if (second < everybodyLoaded || second % 3 > 0) continue
      for (const { companyId: company, late, state } of yield* listed) {
        if (state === "active" && !poison.has(company) && !throttled.has(company))
          worst = Math.max(worst, Duration.toSeconds(late))
      }
    }

    const now = noon + (plan.seconds + settling) * 1000
    const companies = yield* listed
    for (const { companyId: company, every, failures, late, state } of companies) {
      const lateSeconds = Duration.toSeconds(late)
      // A company whose turns have failed is next due at random within its backoff.
      const backoff = failures === 0 ? 0 : Duration.toSeconds(every) * 2 ** failures
      if (poison.has(company)) {
        if (state !== "quarantined")
          faults.push(`company ${company} kills its process and is ${state}`)
      } else if (throttled.has(company))
        continue
      else if (state !== "active") faults.push(`company ${company} did nothing and is ${state}`)
      else if (lateSeconds > 60 + backoff) {
        faults.push(`company ${company} is ${Math.round(lateSeconds)} s late at ${now}, after ${failures} failures`)
      }
    }
    const pauses = yield* Effect.orDie(real.operator.pauses)
    if (pauses.length > 0) faults.push(`the fleet is still paused: ${pauses.map(({ reason }) => reason).join()}`)
    const [counted] = yield* Effect.orDie(
      sql<{ readonly runs: number }>`SELECT coalesce(sum(runs), 0) AS runs FROM fleet_minute`
    )

    for (const process of [...dead, ...living.values()]) {
      yield* process.awake()
      yield* process.kill()
      yield* process.end
    }
    const closed = yield* Effect.forkDetach(Scope.close(scope, Exit.void))
    while (closed.pollUnsafe() === undefined) yield* TestClock.adjust("1 second")
    yield* Fiber.join(closed)
    return { faults: [...new Set(faults)], runs: Number(counted?.runs), refused, worst } satisfies Verdict
  }).pipe(Effect.scoped, Random.withSeed(plan.seed))

/** Kinds of plans, each with what is drawn for all of its seeds. */
export const kinds = {
  "no faults": {},
  kills: { faults: ["kill"] },
  freezes: { faults: ["freeze"] },
  "freezes while pages are long": { pageSeconds: 8, processes: 2, faults: ["freeze"] },
  outages: { faults: ["outage"] },
  "companies that are removed and added again": { faults: ["again"] },
  "companies that kill their process": { poison: 1, companies: 8 },
  "two of them, and freezes": { poison: 2, faults: ["freeze"] },
  "two of them, and kills": { poison: 2, faults: ["kill"] },
  "operators, refused credentials and a service that fails": { faults: ["operator", "credential", "service"] },
  "a process that is refused or does not reach the service": { seconds: 120, faults: ["cut", "hang", "secret"] },
  "that, throttled companies and kills": { throttled: 2, companies: 9, faults: ["cut", "secret", "kill"] },
  "a clock that is set back": { faults: ["clock", "kill", "service"] },
  everything: { poison: 1, faults: storm },
  "everything, and no engine": { poison: 1, faults: storm, isEngineDead: true },
  "one process": { processes: 1, poison: 1, faults: storm }
} satisfies Readonly<Record<string, Partial<Plan>>>

export type Kind = keyof typeof kinds

/** Runs plans of one kind, whose companies must all be whole in the end, and each of which must have had more turns than this. */
export const keepsWhole = (
  kind: Kind,
  seeds: Iterable<number>,
  { file, seconds, turns }: { readonly file: string; readonly seconds?: number; readonly turns: number }
): Effect.Effect<void> =>
  runSeries(seeds, {
    file: `${file} -t "${kind}"`,
    draw: (seed): Plan => ({ ...calm, ...seconds && { seconds }, ...kinds[kind], seed }),
    run: (plan) =>
      Effect.map(run(plan), ({ faults, runs }) => {
        assert.strictEqual(faults.join("; "), "")
        assert.isAbove(runs, turns)
      })
  })
