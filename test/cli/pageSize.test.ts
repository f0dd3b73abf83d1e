/** A service that refuses pages of 200: every command that reads pages, by the flag and by the variable, over sockets. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, generatePunches } from "../../src/testing/index.ts"
import { type Ended, ended, environmentOf, started } from "./child.ts"
import { temporaryFolder } from "./support.ts"

const punches = generatePunches({ seed: 41, count: 130, companyId: defaultCompany.id, deletedShare: 0 })

/** A service of at most so many punches a page. */
const inServiceOf = (maxLimit: number) => <A, E>(effect: Effect.Effect<A, E, FakeServer | FakeService>) =>
  effect.pipe(
    Effect.provide(FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ punches, maxLimit }))))
  )

const call = (args: ReadonlyArray<string>, variable?: number): Effect.Effect<Ended, never, FakeServer> =>
  Effect.scoped(Effect.flatMap(FakeServer, ({ url }) => {
    const env = environmentOf(url)
    return Effect.flatMap(
      started(args, variable === undefined ? env : { ...env, TIME_PUNCHES_PAGE_SIZE: `${variable}` }),
      ended
    )
  }))

const limits = FakeService.use((service) =>
  Effect.map(service.requests, (all) => all.flatMap(({ query }) => query["limit"] ?? []))
)

const timeout = 60_000

const month = ["--business-date-start", "2026-01-01", "--business-date-end", "2026-01-31"]

describe("a service that refuses pages of 200", () => {
  it.live("says which size it is, and how to set it", () =>
    Effect.gen(function*() {
      const file = `${yield* temporaryFolder}/punches.db`
      for (const args of [["copy", "sync", "--database", file], ["list"], ["list", "--page-size", "101"]]) {
        const { code, stderr } = yield* call(args)
        assert.notStrictEqual(code, 0)
        assert.match(stderr, /param limit/)
        assert.match(stderr, /Ask for smaller pages: .*--page-size or TIME_PUNCHES_PAGE_SIZE\./)
      }
    }).pipe(Effect.scoped, inServiceOf(100)), timeout)

  it.live.each([100, 50, 20])(
    "is copied by the flag and by the variable, at most %d a page",
    (most) =>
      Effect.gen(function*() {
        const folder = yield* temporaryFolder
        const byFlag = yield* call(["copy", "sync", "--page-size", `${most}`, "--database", `${folder}/flag.db`])
        assert.strictEqual(byFlag.code, 0, byFlag.stderr)
        const byVariable = yield* call(["copy", "sync", "--database", `${folder}/variable.db`], most)
        assert.strictEqual(byVariable.code, 0, byVariable.stderr)
        for (const name of ["flag", "variable"]) {
          const { stdout } = yield* call(["copy", "status", "--json", "--database", `${folder}/${name}.db`])
          assert.match(stdout, /"rows":130,/)
        }
        assert.deepStrictEqual(new Set(yield* limits), new Set([`${most}`, "1"]))
      }).pipe(Effect.scoped, inServiceOf(most)),
    timeout
  )

  it.live("is read by every other command under the variable, and the flag comes first", () =>
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const listed = yield* call(["list", "--source", "service", "--limit", "3"], 50)
      assert.strictEqual(listed.code, 0, listed.stderr)
      assert.deepStrictEqual(yield* limits, ["3"])
      for (
        const args of [
          ["summary", ...month],
          ["export", "--output", `${folder}/rows.csv`, ...month],
          ["payroll", "check", "--week", "2026-01-05", "--zone", "America/New_York"],
          ["report", "--output", `${folder}/report.html`, "--week", "2026-01-05", "--zone", "America/New_York"]
        ]
      ) {
        const { code, stderr } = yield* call(args, 50)
        assert.include([0, 9], code, stderr)
      }
      assert.deepStrictEqual(new Set(yield* limits), new Set(["3", "50"]))
      yield* call(["summary", "--page-size", "40", ...month], 50)
      assert.strictEqual((yield* limits).at(-1), "40")
      const wrong = yield* call(["summary", ...month], 201)
      assert.match(wrong.stderr, /TIME_PUNCHES_PAGE_SIZE must be a whole number from 1 to 200/)
    }).pipe(Effect.scoped, inServiceOf(50)), timeout)

  it.live.each([[100, 100], [99, 50], [49, 20]] as const)(
    "is found by doctor: at most %d, so %d",
    ([most, size]) =>
      Effect.gen(function*() {
        const { stdout } = yield* call(["doctor"])
        assert.match(stdout, new RegExp(`warn {2}page size +pages of 200 are refused, of ${size} taken\n`))
        assert.include(stdout, `TIME_PUNCHES_PAGE_SIZE=${size}`)
        const set = yield* call(["doctor"], size)
        assert.match(
          set.stdout,
          new RegExp(`ok {4}page size +pages of 200 are refused, of ${size} taken; ${size} is set\n`)
        )
        assert.strictEqual(set.code, 0, set.stdout)
      }).pipe(Effect.scoped, inServiceOf(most)),
    timeout
  )

  it.live("is synced by a fleet, in turns of as many punches as with pages of 200", () =>
    Effect.gen(function*() {
      const file = `${yield* temporaryFolder}/fleet.db`
      const company = `${defaultCompany.id}=${defaultCompany.guid}`
      const added = yield* call(["fleet", "add", company, "--database", file])
      assert.strictEqual(added.code, 0, added.stderr)
      const { url } = yield* FakeServer
      const running = yield* started(
        ["fleet", "run", "--page-size", "2", "--database", file],
        environmentOf(url)
      )
      const first = yield* call(["fleet", "status", `${defaultCompany.id}`, "--database", file, "--json"]).pipe(
        Effect.map(({ stdout }): { readonly turns: ReadonlyArray<{ readonly pages: number }> } => JSON.parse(stdout)),
        Effect.map(({ turns }) => turns.at(-1)),
        Effect.filterOrFail((turn) => turn !== undefined),
        Effect.retry(Schedule.spaced("500 millis"))
      )
      running.child.kill("SIGTERM")
      const { code, stderr } = yield* ended(running)
      assert.strictEqual(code, 0, stderr)
      assert.notInclude(yield* limits, "200")
      // The first load: not ended after the 50 pages of 200 that are the default.
      assert.strictEqual(first.pages, punches.length / 2)
    }).pipe(Effect.scoped, inServiceOf(50)), timeout)
})

describe("a service that sends at most 50 punches, whatever is requested", () => {
  it.live("is read whole by a list, an export and a copy, and doctor warns", () =>
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const listed = yield* call(["list", "--format", "ndjson"])
      assert.strictEqual(listed.stdout.trim().split("\n").length, 130)
      const exported = yield* call(["export", "--output", `${folder}/rows.ndjson`])
      assert.match(exported.stderr, /130/)
      const synced = yield* call(["copy", "sync", "--database", `${folder}/punches.db`])
      assert.strictEqual(synced.code, 0, synced.stderr)
      assert.match(
        (yield* call(["copy", "status", "--json", "--database", `${folder}/punches.db`])).stdout,
        /"rows":130,/
      )
      const { code, stdout } = yield* call(["doctor"])
      assert.strictEqual(code, 0)
      assert.match(stdout, /warn {2}page size +50 punches for a page size of 200, and more follow\n/)
    }).pipe(
      Effect.scoped,
      Effect.provide(FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ punches, pageCap: 50 }))))
    ), timeout)
})
