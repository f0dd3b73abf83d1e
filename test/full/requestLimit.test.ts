/** The limit of requests of the command, over sockets, before a service that would take ten a second. */
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Layer } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, generatePunches } from "../../src/testing/index.ts"
import { environmentOf, start, started } from "../cli/child.ts"
import { temporaryFolder } from "../cli/support.ts"
import { needs } from "../support/needs.ts"
import { hasPrograms, noPostgres } from "../support/postgres.ts"
import { inFleet, loaded, queried, serviceOf, sourceOf, within, worldOf } from "./fleetWorld.ts"

/** The most of these times in any second. */
const mostInSecond = (times: ReadonlyArray<number>) =>
  Math.max(...times.map((at) => times.filter((other) => other >= at && other < at + 1000).length))

/** By the clock of the service: pages asked for, tokens, and the most requests of a second. */
const figures = Effect.gen(function*() {
  const requests = yield* FakeService.use((service) => service.requests)
  const count = (name: string) => requests.filter(({ endpoint }) => endpoint === name).length
  return { pages: count("page"), tokens: count("token"), most: mostInSecond(requests.map(({ at }) => at)) }
})

/**
 * Notes the time of each place that the limit gives, by the clock of the database: that of its row for a place at once, a refill later
 * for each place that is owed. The service cannot see it where this process stands still, and then has several arrivals at once.
 */
const notesPlaces = [
  "CREATE TABLE places (at double precision)",
  `CREATE FUNCTION note_place() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN INSERT INTO places VALUES (NEW.at - NEW.tokens * 125); RETURN NEW; END $$`,
  "CREATE TRIGGER note_place AFTER UPDATE ON fleet_rate FOR EACH ROW EXECUTE FUNCTION note_place()"
]

/** The longest time for which this process, which is the service, stands still from now on, in seconds. */
const standing = Effect.sync(() => {
  const delays = monitorEventLoopDelay({ resolution: 5 })
  delays.enable()
  return Effect.sync(() => delays.max / 1e9)
})

/** What the service takes in a second; what comes while it stands still is counted in the next one. */
const takes = (stood: number) => 10 + Math.floor(16 * stood)

/** The settings of a process that has no limit but the usual one. */
const usual = (url: string, database: string) => {
  const { TIME_PUNCHES_REQUESTS_PER_SECOND: _, ...given } = environmentOf(url)
  return { ...given, TIME_PUNCHES_DATABASE_URL: database }
}

describe("the usual limit of requests", () => {
  it.live("copies 120 pages with ten requests a second at most", () =>
    Effect.gen(function*() {
      const stood = yield* standing
      const { url } = yield* FakeServer
      const { ended } = start(["copy", "sync"], usual(url, `${yield* temporaryFolder}/punches.db`))
      const { code, stderr } = yield* Effect.promise(() => ended)
      const { most, pages } = yield* figures
      yield* Console.log(`copy sync: ${pages} requests for 120 pages and a look, ${most} in a second`)

      assert.strictEqual(code, 0, stderr)
      assert.strictEqual(pages, 122, "the pages, and the look for deleted punches")
      assert.isAtMost(most, takes(yield* stood), "what the service takes")
    }).pipe(
      Effect.scoped,
      Effect.provide(
        FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({
          punches: generatePunches({ seed: 1, count: 24_000, companyId: defaultCompany.id }),
          latency: "60 millis"
        })))
      )
    ))

  const many = sourceOf(20, 2000)

  it.live(
    "loads a fleet of 20 companies of ten pages with ten requests a second at most",
    () =>
      Effect.gen(function*() {
        const stood = yield* standing
        const { url } = yield* FakeServer
        const database = `${yield* temporaryFolder}/punches.db`
        const env = usual(url, database)
        const ran = (...args: ReadonlyArray<string>) => Effect.promise(() => start(["fleet", ...args], env).ended)
        yield* ran("add", ...many.companies.map(({ guid, id }) => `${id}=${guid}`))
        const fleet = yield* started(["fleet", "run"], env)
        const list = Effect.map(
          ran("list", "--json"),
          ({ stdout }): ReadonlyArray<{ readonly lateSeconds: number; readonly phase: string }> => JSON.parse(stdout)
        )
        yield* within(
          "all are complete",
          Effect.map(list, (list) => list.length === 20 && list.every(({ phase }) => phase !== "first")),
          list
        )
        const { most, pages } = yield* figures
        const late = Math.max(...(yield* list).map(({ lateSeconds }) => lateSeconds))
        fleet.child.kill("SIGTERM")
        const { stderr } = yield* Effect.promise(() => fleet.ended)
        yield* Console.log(
          `fleet run: ${pages} requests for 200 pages, ${most} in a second, ${late} s late`
        )

        assert.notInclude(stderr, "429")
        assert.isAtLeast(pages, 200)
        assert.isAtMost(most, takes(yield* stood), "what the service takes")
        assert.strictEqual(late, 0)
      }).pipe(Effect.scoped, Effect.provide(serviceOf(many)))
  )

  const small = sourceOf(24, 20)

  it.live("is one for three processes, of which the third comes later and gets its token", (context) => {
    needs(context, hasPrograms, noPostgres)
    return Effect.gen(function*() {
      const world = yield* worldOf(small)
      const env = usual(world.service, world.url)
      const run = (name: string) => started(["fleet", "run", "--name", name], env)
      yield* Effect.forEach(notesPlaces, (statement) => queried(world, statement))
      yield* run("a")
      yield* run("b")
      yield* loaded(world, "1 second")
      yield* run("c")
      yield* within(
        "the third has worked",
        Effect.map(
          inFleet(world, (fleet) => Effect.forEach(small.companies, ({ id }) => fleet.turns(id))),
          (runs) => runs.flat().some(({ outcome, runner }) => runner === "c" && outcome === "Complete")
        ),
        figures
      )
      yield* FakeService.use((service) => service.clearRequests)
      const stood = yield* standing
      const began = performance.now()
      yield* Effect.sleep("20 seconds")
      const { most, pages } = yield* figures
      const seconds = (performance.now() - began) / 1000
      const rows = yield* queried<{ readonly at: number }>(world, "SELECT at FROM places")
      const places = rows.map(({ at }) => Number(at))
      yield* Console.log(
        `three processes: ${
          (pages / seconds).toFixed(2)
        } requests a second, ${most} in a second; the service stood still for ` +
          `${(yield* stood).toFixed(2)} s; ${places.length} places, ${mostInSecond(places)} in a second`
      )

      assert.isAtLeast(places.length, pages)
      assert.isAtMost(mostInSecond(places), 9, "what the limit gives")
      assert.isAtMost(most, takes(yield* stood), "what arrives, with what came while the service stood still")
      // Three limits for one token, or a third of one. A slow machine sends less, since nothing is sent late at once.
      assert.isAtLeast(pages, seconds * 8 / 3)
      assert.isAtMost(pages, seconds * 8 * 1.5)
    }).pipe(Effect.scoped, Effect.provide(serviceOf(small)))
  })
})
