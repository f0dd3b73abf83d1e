/**
 * A fleet of 300 companies over PostgreSQL: a storm of faults from a seed, and what its issue wants to be shown, with a line for
 * each figure. `npx vitest run --config vitest.soak.config.ts test/soak/fleet.test.ts` after a build; `-t "shows"` for the figures alone.
 */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Console, Effect, Fiber } from "effect"
import { CompanyId } from "../../src/index.ts"
import { type Prng, prng } from "../../src/testing/base/prng.ts"
import { FakeService, Fault } from "../../src/testing/index.ts"
import { environmentOf, started } from "../cli/child.ts"
import {
  assertChains,
  assertEqual,
  gapOf,
  held,
  inFile,
  inFleet,
  linksOf,
  loaded,
  noted,
  queried,
  running,
  serviceOf,
  source,
  sourceOf,
  within,
  type World,
  worldOf
} from "../full/fleetWorld.ts"
import { until } from "../full/kills.ts"
import { type DatabaseDoor, type Door, doorTo, doorToDatabase } from "../full/serviceDoor.ts"
import { needs } from "../support/needs.ts"
import { hasPrograms, noPostgres } from "../support/postgres.ts"
import { atMost, companies as count, isBounded, seed } from "./bounds.ts"

const large = sourceOf(count, 250)
const every = "10 seconds"
const interval = 10

const secondsSince = (from: number) => Effect.map(Clock.currentTimeMillis, (now) => (now - from) / 1000)

/** One line for each figure. A machine that is busy, or a run that is bounded, says nothing about the wanted ones. */
const figures = () => {
  const missed: Array<string> = []
  const tell = (what: string, seconds: number, most?: number) => {
    const wanted = most === undefined ? "" : `, wanted at most ${most} s`
    const line = `${what}: ${seconds.toFixed(2)} s${wanted}`
    if (most !== undefined && !(seconds <= most)) missed.push(line)
    return Console.log(line)
  }
  return { tell, judge: () => isBounded || assert.deepStrictEqual(missed, []) }
}

/** Seconds until no active company is later than its interval. */
const untilInTime = (world: World) =>
  Effect.gen(function*() {
    const from = yield* Clock.currentTimeMillis
    const late = inFleet(world, (fleet) => fleet.list({ states: ["active"], late: true }))
    yield* within(
      "no company is late",
      Effect.map(late, ({ length }) => length === 0),
      queried(
        world,
        "SELECT to_json(f) AS row FROM fleet_company AS f WHERE state = 'active' ORDER BY last_ok_at LIMIT 5"
      ),
      "5 minutes"
    )
    return yield* secondsSince(from)
  })

/** The companies of each process, by their latest turns. */
const owned = (world: World, runner: string) =>
  Effect.map(
    queried(world, "SELECT DISTINCT ON (company_id) company_id, runner FROM fleet_run ORDER BY company_id, epoch DESC"),
    (rows) => new Set(rows.flatMap((row) => row["runner"] === runner ? [Number(row["company_id"])] : []))
  )

const bothOwn = (world: World) =>
  within(
    "both processes own companies",
    Effect.map(
      Effect.all([owned(world, "a"), owned(world, "b")]),
      (sets) => sets.every(({ size }) => size > count / 4)
    )
  )

/** The processes of a fleet that are started again whenever they end, until the scope closes. */
const supervised = (
  worldOf: (name: string) => World,
  names: ReadonlyArray<string>,
  random: Prng,
  secretOf: (name: string) => string | undefined
) =>
  Effect.gen(function*() {
    const children = new Map<string, Effect.Success<ReturnType<typeof running>>>()
    /** Those that a fault has ended: any other end is a defect. */
    const ended = new WeakSet<object>()
    const wrong: Array<string> = []
    const supervise = (name: string) =>
      Effect.forever(Effect.scoped(Effect.gen(function*() {
        const process = yield* running(worldOf(name), name, { secret: secretOf(name) })
        children.set(name, process)
        const code = yield* Effect.promise(() => process.ended)
        children.delete(name)
        // Without a database none starts: that is not its own fault.
        const isOurs = ended.has(process.child) ? code === null || code === 0 : !process.output().startsWith("runs")
        if (!isOurs) wrong.push(`${name} ended with ${code}: ${process.output().slice(-500)}`)
        yield* Effect.sleep(random.between(0, 12_000))
      })))
    for (const name of names) yield* Effect.forkScoped(supervise(name))
    const signal = (name: string, what: NodeJS.Signals) =>
      Effect.sync(() => {
        const child = children.get(name)?.child
        if (child === undefined) return false
        if (what === "SIGKILL" || what === "SIGTERM") ended.add(child)
        return child.kill(what)
      })
    return { signal, wrong, areRunning: Effect.sync(() => children.size === names.length) }
  })

/** Each second the largest lateness of an active company, by the fault that began last. */
const worstByFault = (world: World, latest: () => string) =>
  Effect.gen(function*() {
    const worst = new Map<string, number>()
    const watch = Effect.forever(Effect.gen(function*() {
      const [row] = yield* queried(
        world,
        `SELECT max((extract(epoch from now()) * 1000)::bigint - coalesce(last_ok_at, added_at) - every_ms)::float8 / 1000 AS late
        FROM fleet_company
        WHERE state = 'active'`
      )
      worst.set(latest(), Math.max(worst.get(latest()) ?? 0, Number(row?.["late"] ?? 0)))
      yield* Effect.sleep("1 second")
    }))
    yield* Effect.forkScoped(watch)
    return worst
  })

describe("a fleet in a storm of faults", () => {
  it.live.each([
    { what: "", isCutOff: false },
    {
      what: ", also cut off from the service",
      isCutOff: true
    }
  ])(`is in time, whole and unbroken after ten minutes$what (SOAK_SEED=${seed})`, ({ isCutOff }, context) => {
    needs(context, hasPrograms, noPostgres)
    return Effect.gen(function*() {
      const world = yield* worldOf(large)
      const fake = yield* FakeService
      const random = prng(seed)
      const names = ["a", "b", "c"] as const
      const doors = isCutOff
        ? new Map(
          yield* Effect.forEach(names, (name) => Effect.map(doorTo(world.service), (door) => [name, door] as const))
        )
        : new Map<string, Door>()
      const databases = isCutOff
        ? new Map(
          yield* Effect.forEach(
            names,
            (name) => Effect.map(doorToDatabase(world.url), (door) => [name, door] as const)
          )
        )
        : new Map<string, DatabaseDoor>()
      const secrets = new Map<string, string>()
      const { areRunning, signal, wrong } = yield* supervised(
        (name) => ({
          ...world,
          service: doors.get(name)?.url ?? world.service,
          url: databases.get(name)?.url ?? world.url
        }),
        names,
        random,
        (name) => secrets.get(name)
      )
      yield* loaded(world, every)
      yield* Console.log(`${count} companies are loaded`)
      const some = (most: number) =>
        Array.from({ length: random.between(1, most) }, () => large.companies[random.between(0, count - 1)]).flatMap(
          (company) => company ?? []
        )
      const done = new Map<string, number>()
      const lasting: Array<Fiber.Fiber<unknown>> = []
      /** What ends by itself, during the storm. */
      const later = <E>(self: Effect.Effect<unknown, E>) =>
        Effect.gen(function*() {
          lasting.push(yield* Effect.forkDetach(Effect.orDie(self)))
        })
      const failing = (fault: Fault, from: number, to: number) =>
        Effect.gen(function*() {
          yield* fake.inject(fault, { probability: { chance: random.next(), seed: random.between(1, 1e6) }, times: 60 })
          yield* later(Effect.andThen(Effect.sleep(random.between(from, to)), fake.clearFaults))
        })
      const faults = {
        kill: Effect.suspend(() => signal(random.pick(names), "SIGKILL")),
        end: Effect.suspend(() => signal(random.pick(names), "SIGTERM")),
        freeze: Effect.gen(function*() {
          const name = random.pick(names)
          yield* signal(name, "SIGSTOP")
          const length = random.pick([() => random.between(50, 3000), () => random.between(3000, 40_000)])()
          yield* later(Effect.andThen(Effect.sleep(length), signal(name, "SIGCONT")))
        }),
        database: Effect.gen(function*() {
          yield* Effect.promise(() => world.server.stop(random.pick(["SIGINT", "SIGQUIT"])))
          yield* Effect.sleep(random.pick([0, 0, random.between(0, 6000)]))
          yield* Effect.promise(() => world.server.start())
        }),
        unavailable: failing(Fault.status(503), 500, 6000),
        throttled: failing(Fault.retryAfter("1"), 500, 4000),
        reset: failing(Fault.reset, 500, 4000),
        hang: failing(Fault.stallBeforeHeaders, 200, 1500),
        pause: Effect.gen(function*() {
          const ids = some(20).map(({ id }) => id)
          yield* inFleet(world, (fleet) => fleet.pause(ids))
          yield* later(
            Effect.andThen(Effect.sleep(random.between(0, 8000)), inFleet(world, (fleet) => fleet.resume(ids)))
          )
        }),
        remove: Effect.gen(function*() {
          const given = some(10)
          yield* inFleet(world, (fleet) => fleet.remove(given.map(({ id }) => id)))
          const add = inFleet(world, (fleet) => fleet.add(given.map(({ guid, id }) => ({ id, guid, every }))))
          yield* later(Effect.andThen(Effect.sleep(random.between(0, 8000)), add))
        }),
        trigger: inFleet(world, (fleet) => fleet.trigger(some(30).map(({ id }) => id))),
        sweep: inFleet(world, (fleet) => fleet.sweep(some(10).map(({ id }) => id))),
        "resume all": inFleet(world, (fleet) => fleet.resumeAll),
        "sync beside it": Effect.gen(function*() {
          const [company] = some(1)
          const synced = Effect.flatMap(
            running(world, "operator", { sync: company }),
            (process) => Effect.promise(() => process.ended)
          )
          yield* later(Effect.scoped(synced))
        })
      }
      /** One process at a time has a trouble with the service: the others are to do its work. */
      let troubled: string | undefined
      const inTrouble = (begin: (name: (typeof names)[number]) => Effect.Effect<unknown>, over: typeof begin) =>
        Effect.suspend(() => {
          if (troubled !== undefined) return Effect.void
          const name = random.pick(names)
          troubled = name
          const ended = Effect.andThen(
            over(name),
            Effect.sync(() => {
              troubled = undefined
            })
          )
          return Effect.andThen(begin(name), later(Effect.andThen(Effect.sleep(random.between(20_000, 90_000)), ended)))
        })
      const door = (state: Parameters<Door["set"]>[0]) => (name: string) => doors.get(name)?.set(state) ?? Effect.void
      const restarted = (name: (typeof names)[number], secret: string | undefined) =>
        Effect.suspend(() => {
          if (secret === undefined) secrets.delete(name)
          else secrets.set(name, secret)
          return signal(name, "SIGTERM")
        })
      const troubles = {
        "cut off": inTrouble(door("refused"), door("open")),
        "reset for one": inTrouble(door("reset"), door("open")),
        "hang for one": inTrouble(door("hangs"), door("open")),
        "wrong secret": inTrouble((name) => restarted(name, "wrong"), (name) => restarted(name, undefined)),
        "three throttled": Effect.suspend(() => {
          const three = some(3).map(({ id }) => Number(id))
          const throttled = (ids: ReadonlyArray<number>) =>
            Effect.forEach(doors.values(), (each) => each.throttle(ids), { discard: true })
          return Effect.andThen(
            throttled(three),
            later(Effect.andThen(Effect.sleep(random.between(10_000, 60_000)), throttled([])))
          )
        }),
        // What stands between forgets the connections of a process, and closes none.
        silent: Effect.suspend(() => {
          const name = random.pick(names)
          for (const [of, { forget }] of databases) if (of === name) forget()
          return Effect.void
        }),
        "silent for all": Effect.sync(() => {
          for (const { forget } of databases.values()) forget()
        }),
        clock: Effect.suspend(() => {
          const ahead = random.between(600, 80_000) * 1000
          return Effect.andThen(
            queried(world, `UPDATE fleet_company SET next_at = next_at + ${ahead}`),
            queried(world, `UPDATE fleet_run SET ended_at = ended_at + ${ahead}`)
          )
        })
      }
      const kinds = [
        "kill",
        "end",
        "freeze",
        "freeze",
        "database",
        "unavailable",
        "throttled",
        "reset",
        "hang",
        "pause",
        "remove",
        "trigger",
        "sweep",
        "resume all",
        "sync beside it"
      ] as const
      const cutOffKinds = [
        "cut off",
        "reset for one",
        "hang for one",
        "wrong secret",
        "three throttled",
        "silent",
        "silent for all",
        "clock"
      ] as const
      let latest = "none"
      const worst = yield* worstByFault(world, () => latest)
      const pick = () => isCutOff && random.chance(0.4) ? random.pick(cutOffKinds) : random.pick(kinds)
      const end = performance.now() + atMost("10 minutes")
      while (performance.now() < end) {
        const what = pick()
        done.set(what, (done.get(what) ?? 0) + 1)
        latest = what
        yield* { ...faults, ...troubles }[what]
        yield* Effect.sleep(random.between(100, 5000))
        yield* fake.clearRequests
      }
      yield* Console.log(`seed ${seed}: ${[...done].map(([what, times]) => `${what} ${times}`).join(", ")}`)
      yield* Console.log(
        `largest lateness after each: ${
          [...worst].map(([what, seconds]) => `${what} ${seconds.toFixed(0)} s`).join(", ")
        }`
      )
      // Each fault ends: the processes run, the service answers, the operator has put back what he took away.
      const all = Effect.forEach(lasting, Fiber.await, { concurrency: "unbounded" })
      yield* Effect.timeout(all, "3 minutes")
      yield* fake.clearFaults
      yield* within("the processes run", areRunning, Effect.sync(() => wrong))
      yield* inFleet(world, (fleet) =>
        Effect.gen(function*() {
          yield* fleet.resumeAll
          const paused = yield* fleet.list({ states: ["paused"] })
          yield* fleet.resume(paused.map(({ companyId: company }) => company))
          // What waits after errors of the service does so for up to six hours.
          const waiting = (yield* fleet.list()).filter(({ failures }) => failures > 0)
          yield* fleet.trigger(waiting.map(({ companyId: company }) => company))
        }))
      const suspects = (yield* queried(world, "SELECT 1 FROM fleet_company WHERE starts >= 2")).length
      const { judge, tell } = figures()
      yield* tell(
        `from the end of the faults until no company is late (${suspects} suspects)`,
        yield* untilInTime(world),
        // The last fault may be a database that forgets every connection, which alone costs half a minute.
        isCutOff ? 45 : 30
      )
      assert.deepStrictEqual(wrong, [])
      const states = yield* queried(world, "SELECT state, count(*)::int AS count FROM fleet_company GROUP BY 1")
      assert.deepStrictEqual(states, [{ state: "active", count }])
      const links = yield* assertChains(world)
      yield* assertEqual(world)
      const refused = links.filter(({ kind }) => kind === "Superseded").length
      yield* Console.log(
        `${
          links.filter(({ kind }) => kind === "done").length
        } commits, ${refused} refused: every table equals the source, every chain is whole`
      )
      judge()
    }).pipe(Effect.scoped, Effect.provide(serviceOf(large)))
  })
})

describe("a fleet", () => {
  it.live("shows what it does when a process is killed, frozen and ended, and when the database crashes", (context) => {
    needs(context, hasPrograms, noPostgres)
    return Effect.gen(function*() {
      const world = yield* worldOf(large)
      const { judge, tell } = figures()
      const started = (name: string) => running(world, name)
      const now = Clock.currentTimeMillis
      /** Seconds until the first commit of a process that began after `from`. */
      const firstOf = (runner: string, from: number) =>
        Effect.map(
          Effect.andThen(
            noted(world, `a commit of ${runner}`, ({ at = 0, kind, runner: by }) =>
              kind === "done" && by === runner && at > from),
            Effect.sync(() =>
              Math.min(
                ...linksOf(world).flatMap(({ at = 0, kind, runner: by }) =>
                  kind === "done" && by === runner && at > from ? [at] : []
                )
              )
            )
          ),
          (at) =>
            (at - from) / 1000
        )
      const a = yield* started("a")
      const b = yield* started("b")
      let from = yield* now
      yield* loaded(world, every)
      yield* tell(`first loads of ${count} companies`, yield* secondsSince(from))
      yield* bothOwn(world)

      a.child.kill("SIGKILL")
      yield* Effect.promise(() => a.ended)
      from = yield* now
      const again = yield* started("a")
      yield* tell("kill -9: until the same name has its first commit", yield* firstOf("a", from))
      yield* tell("kill -9: until no company is late", yield* untilInTime(world), 30)
      yield* bothOwn(world)

      const own = yield* owned(world, "a")
      // One of them is due at any time: a gap is then a gap, and not the time between two slots. What any session waits for is
      // looked at beside it: a lock of the frozen one would show there.
      const ids = [...own].map((id) => CompanyId.make(id))
      let waited = 0
      let round = 0
      const waits = Effect.forever(Effect.gen(function*() {
        const [row] = yield* queried(
          world,
          "SELECT extract(epoch from max(now() - query_start))::float8 AS waited FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        )
        waited = Math.max(waited, Number(row?.["waited"] ?? 0))
        yield* inFleet(world, (fleet) => fleet.trigger(ids.slice(round % ids.length, round % ids.length + 1)))
        round++
        yield* Effect.sleep("250 millis")
      }))
      const freeze = atMost("5 minutes")
      from = yield* now
      b.child.kill("SIGSTOP")
      yield* Effect.timeoutOption(waits, freeze)
      const links = linksOf(world)
      const stalled = Math.max(
        0,
        ...links.flatMap(({ at = 0, kind, millis = 0, runner }) =>
          kind === "stalled" && runner === "a" && at > from ? [millis] : []
        )
      )
      const over = yield* now
      yield* tell(
        `frozen for ${freeze / 1000} s: largest gap between two commits of the other process`,
        gapOf(links, "a", from) / 1000,
        2
      )
      yield* tell(
        "frozen: longest wait of one of its companies, beyond the interval",
        Math.max(...ids.map((company) => gapOf(links, "a", from, (id) => id === company))) / 1000 - interval
      )
      yield* tell("frozen: longest time in which the other process could do nothing", stalled / 1000)
      yield* tell("frozen: longest wait of any session for a lock", waited)
      const [lag] = yield* queried(
        world,
        `SELECT max(${over} - last_ok_at - every_ms)::float8 / 1000 AS late FROM fleet_company`
      )
      yield* tell("frozen: largest lateness at its end", Number(lag?.["late"]))
      b.child.kill("SIGCONT")
      yield* tell("thawed: until its first commit", yield* firstOf("b", over))
      yield* bothOwn(world)

      for (const [what, signal] of [["crashed", "SIGQUIT"], ["ended", "SIGINT"]] as const) {
        yield* Effect.promise(() => world.server.stop(signal))
        yield* Effect.promise(() => world.server.start())
        from = yield* now
        yield* inFleet(world, (fleet) => fleet.trigger(large.companies.map(({ id }) => id)))
        for (const name of ["a", "b"])
          yield* tell(`database ${what} and started: first commit of ${name}`, yield* firstOf(name, from), 2)
        yield* tell(`database ${what}: until no company is late`, yield* untilInTime(world), 30)
      }

      yield* inFleet(world, (fleet) => fleet.trigger(large.companies.map(({ id }) => id)))
      yield* within("turns are in work", Effect.map(held(world, "a"), (turns) => turns > 0))
      from = yield* now
      again.child.kill("SIGTERM")
      assert.strictEqual(yield* Effect.promise(() => again.ended), 0, again.output())
      yield* tell("SIGTERM with turns in flight: until the process ends", yield* secondsSince(from), 3)
      assert.strictEqual(yield* held(world, "a"), 0)

      yield* assertChains(world)
      yield* assertEqual(world)
      yield* Console.log("every table equals the source, every chain of checkpoints is whole")
      judge()
    }).pipe(Effect.scoped, Effect.provide(serviceOf(large)))
  })

  it.live("shows that one limit of requests holds for two processes, within 5 %", (context) => {
    needs(context, hasPrograms, noPostgres)
    return Effect.gen(function*() {
      const small = sourceOf(24, 20)
      const world = yield* worldOf(small)
      const perSecond = 2
      const doors = yield* Effect.forEach(["a", "b"], (name) =>
        Effect.gen(function*() {
          const door = yield* doorTo(world.service)
          const given = { ...environmentOf(door.url), TIME_PUNCHES_DATABASE_URL: world.url }
          const flags = ["--requests-per-second", `${perSecond}`, "--concurrency", "8"]
          yield* started(["fleet", "run", "--name", name, ...flags], given)
          return door
        }))
      yield* loaded(world, every)
      yield* Effect.sleep("20 seconds")
      const sent = () => doors.reduce((sum, door) => sum + door.requests(), 0)
      const before = sent()
      const from = performance.now()
      yield* Effect.sleep(atMost("10 minutes"))
      const seconds = (performance.now() - from) / 1000
      const rate = (sent() - before) / seconds
      yield* Console.log(
        `${seconds.toFixed(0)} s, two processes with a limit of ${perSecond}: ${rate.toFixed(3)} requests a second`
      )
      assert.approximately(rate, perSecond, perSecond * 0.05)
    }).pipe(Effect.scoped, Effect.provide(serviceOf(sourceOf(24, 20))))
  })

  it.live("shows that the one process of a file continues after kill -9, and that a second one is refused", () =>
    Effect.gen(function*() {
      const { judge, tell } = figures()
      const { assertWhole, ran, rows, run } = yield* inFile(source.companies)
      const killed = yield* run()
      const stored = Effect.map(rows("SELECT count(*) AS count FROM time_punches"), ([row]) => Number(row?.["count"]))
      yield* within("pages are stored", Effect.map(stored, (count) => count >= 2000))
      killed.child.kill("SIGKILL")
      yield* Effect.promise(() => killed.ended)
      const before = yield* stored
      const from = yield* Clock.currentTimeMillis
      yield* run()
      yield* until(Effect.map(stored, (count) => count > before), "20 millis")
      yield* tell("fleet run --database FILE after kill -9: until more rows are stored", yield* secondsSince(from), 3)
      const second = yield* ran("run")
      assert.strictEqual(second.code, 8)
      assert.include(second.stderr, "another process runs the fleet of")
      yield* assertWhole
      judge()
    }).pipe(Effect.scoped, Effect.provide(serviceOf(source))))
})
