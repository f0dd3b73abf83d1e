/** A service whose answers are of another version of the interface than the one that was requested, through the commands. */
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect } from "effect"
import { TestClock } from "effect/testing"
import { FakeService, Fault } from "../../src/testing/index.ts"
import { shift } from "./payroll/checkSupport.ts"
import { cli, copyStart, environment, inFakeOf, onCopy, temporaryFolder } from "./support.ts"

const punches = [1, 2, 3].map((id) => shift(id, "2026-03-02"))
const week = ["--week", "2026-03-02", "--zone", "America/New_York"]
const old = "version 2022-05-01 of the interface answered, and 2026-06-01 was requested"
const inFake = inFakeOf(punches)

/** What the log of a run has, with its result. */
const logged = Effect.fnUntraced(function*<A, E, R>(run: Effect.Effect<A, E, R>) {
  const lines: Array<string> = []
  const error = (...line: ReadonlyArray<unknown>) => lines.push(line.join(" "))
  const result = yield* Effect.provideService(run, Console.Console, Object.assign(Object.create(console), { error }))
  return { result, log: lines.join("\n") }
})

/** How often a text has another one. */
const count = (text: string, part: string): number => text.split(part).length - 1

const sync = Effect.fnUntraced(function*(file: string, ...flags: ReadonlyArray<string>) {
  const { log, result } = yield* logged(cli(["copy", "sync", "--history", "--database", file, ...flags]))
  assert.strictEqual(result.code, 0, result.stderr)
  return log
})

const versionOf = (file: string) =>
  Effect.map(onCopy(file)("copy", "status", "--json"), ({ stdout }): unknown => JSON.parse(stdout).version)

const newCopy = Effect.gen(function*() {
  yield* TestClock.setTime(copyStart)
  return `${yield* temporaryFolder}/punches.db`
})

describe("another version than the one that was requested", () => {
  it.effect("is said once a run, however many pages it answers", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      assert.strictEqual((yield* logged(cli(["list", "--page-size", "1"]))).log, "")
      yield* service.inject(Fault.apiVersion())
      for (const format of ["lines", "json"]) {
        const { log, result } = yield* logged(cli(["list", "--page-size", "1", "--log-format", format]))
        assert.deepStrictEqual([result.code, count(log, old)], [0, 1], log)
      }
      const newer = yield* inAnswerOf("2031-01-01", logged(cli(["list"])))
      assert.include(newer.log, "version 2031-01-01 of the interface answered")
      assert.notInclude(newer.log, "whole units")
    }).pipe(inFake))

  it.effect("is not looked for in an error, which may be of what stands in front of the service", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* service.inject(Fault.status(403, { headers: { "x-api-version": "2022-05-01" } }))
      const { log, result } = yield* logged(cli(["list"]))
      assert.notInclude(log + result.stderr, "2022-05-01")
    }).pipe(inFake))

  it.effect.each<readonly [string | null, string, RegExp]>([
    ["2022-05-01", "FAIL", /2022-05-01 of the interface answered, and 2026-06-01 .* in whole units/],
    ["2024-05-01", "FAIL", /2024-05-01 of the interface answered, and 2026-06-01 was requested$/],
    ["v2.2026.0201", "FAIL", /2026-02-01 of the interface answered/],
    ["2031-01-01", "warn", /2031-01-01 of the interface answered/],
    ["2026-06-01, 2026-06-01", "ok", /^2026-06-01$/],
    ["2026-06-01, 2022-05-01", "ok", /does not name it/],
    ["2026-02-30", "ok", /does not name it/],
    ["latest", "ok", /does not name it/],
    [null, "ok", /does not name it/]
  ])("%s is compared by doctor", ([version, status, detail]) =>
    Effect.gen(function*() {
      const { stdout } = yield* inAnswerOf(version, cli(["doctor", "--json"]))
      const { checks } = JSON.parse(stdout)
      const found = checks.find(({ check }: { readonly check: string }) => check === "version of the answer")
      assert.strictEqual(found.status, status, stdout)
      assert.match(found.detail, detail)
    }).pipe(inFake))

  it.effect("is refused by a check of the service where money may be in whole units, unless it is accepted", () =>
    Effect.gen(function*() {
      const check = (...flags: ReadonlyArray<string>) => cli(["payroll", "check", ...week, ...flags])
      assert.strictEqual((yield* check()).code, 0)
      const refused = yield* inAnswerOf("2022-05-01", check())
      assert.strictEqual(refused.code, 9)
      assert.match(refused.stderr, /version: an old version of the interface answered/)
      assert.strictEqual((yield* inAnswerOf("2022-05-01", check("--accept", "version"))).code, 0)
      assert.strictEqual((yield* inAnswerOf("2024-05-01", check())).code, 0, "it has cents")
      const asked = { ...environment, TIME_PUNCHES_API_VERSION: "2022-05-01" }
      assert.strictEqual((yield* cli(["payroll", "check", ...week], { env: asked })).code, 0, "it was requested")
    }).pipe(inFake))

  it.effect("is refused of a copy until every row was read again, by a check and a close", () =>
    Effect.gen(function*() {
      const file = yield* newCopy
      const ran = onCopy(file)
      const check = (...flags: ReadonlyArray<string>) => ran("payroll", "check", ...week, ...flags)
      const close = (...flags: ReadonlyArray<string>) =>
        ran("payroll", "close", ...week, "--rounding", "halfUp", ...flags)
      const said = yield* inAnswerOf("2022-05-01", sync(file))
      assert.strictEqual(count(said, old), 1, JSON.stringify(said))
      const kept = { oldest: "2022-05-01", asked: "2026-06-01" }
      assert.deepStrictEqual(yield* versionOf(file), kept)
      assert.include((yield* ran("copy", "status")).stdout, `the copy: ${old}`)
      const checked = yield* check()
      assert.strictEqual(checked.code, 9)
      assert.match(checked.stderr, /version: an old version/)
      assert.strictEqual((yield* check("--accept", "version")).code, 0)
      const refused = yield* close()
      assert.strictEqual(refused.code, 9)
      assert.match(refused.stderr, /not closed: .*version[^]*in whole units/)

      yield* TestClock.adjust("1 hour")
      yield* sync(file)
      assert.deepStrictEqual(yield* versionOf(file), kept, "an increment reads some rows")
      yield* sync(file, "--sweep", "30d")
      assert.strictEqual((yield* check()).code, 9, "a window is not all")
      yield* sync(file, "--sweep", "all")
      assert.deepStrictEqual(yield* versionOf(file), { oldest: "2026-06-01", asked: "2026-06-01" })
      const clean = yield* check()
      assert.deepStrictEqual([clean.code, count(clean.stderr, "interface")], [0, 0])
      assert.strictEqual((yield* close()).code, 0)
    }).pipe(Effect.scoped, inFake))

  it.effect("closes where it is accepted, and the record has the kind", () =>
    Effect.gen(function*() {
      const file = yield* newCopy
      yield* inAnswerOf("2022-05-01", sync(file))
      const closed = yield* onCopy(file)(
        "payroll",
        "close",
        ...week,
        "--rounding",
        "halfUp",
        "--accept",
        "version"
      )
      assert.strictEqual(closed.code, 0, closed.stderr)
      assert.include(closed.stderr, `the copy: ${old}`)
      const shown = yield* onCopy(file)("payroll", "show", "1", "--json")
      assert.match(shown.stdout, /"accepted":\{"version":1\}/, shown.stderr)
    }).pipe(Effect.scoped, inFake))

  it.effect("of later years, and none at all, are warnings of a copy", () =>
    Effect.gen(function*() {
      const file = yield* newCopy
      yield* inAnswerOf("2024-05-01", sync(file))
      const later = yield* onCopy(file)("payroll", "check", ...week)
      assert.strictEqual(later.code, 0, later.stderr)
      assert.include(later.stderr, "the copy: version 2024-05-01 of the interface answered")
      yield* TestClock.adjust("1 hour")
      yield* inAnswerOf(null, sync(file, "--sweep", "all"))
      assert.deepStrictEqual(yield* versionOf(file), { oldest: null, asked: "2026-06-01" })
      const closed = yield* onCopy(file)("payroll", "close", ...week, "--rounding", "halfUp")
      assert.strictEqual(closed.code, 0, closed.stderr)
      assert.include(closed.stderr, "it is unknown which version of the interface")
    }).pipe(Effect.scoped, inFake))
})

/** A service that knows one old version, answers with it whatever is requested, and has these tips in cents. */
const inOldService = (...tips: ReadonlyArray<number>) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(Effect.provide(FakeService.layer({
    punches: tips.map((each, at) => Object.assign({}, shift(1 + at, "2026-03-02"), { tips: each })),
    apiVersions: ["2022-05-01"],
    ignores: ["x-api-version"]
  })))

describe("a service that falls back to an old version", () => {
  it.effect("sends whole dollars, which are read as cents: each list warns, and a check refuses", () =>
    Effect.gen(function*() {
      const { log, result } = yield* logged(cli(["list", "--format", "ndjson"]))
      assert.deepStrictEqual([result.code, count(log, old)], [0, 1], log)
      assert.deepStrictEqual(result.stdout.trim().split("\n").map((line): unknown => JSON.parse(line).tips), [48, 0])
      assert.strictEqual((yield* cli(["payroll", "check", ...week])).code, 9)
      const { code, stdout } = yield* cli(["doctor"])
      assert.strictEqual(code, 7)
      assert.match(stdout, /^FAIL {2}version of the answer .*whole units$/m)
    }).pipe(inOldService(4800, 0)))

  it.effect("sends decimals, which no listing reads, and doctor says that the version may be old", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* cli(["list"])).code, 7)
      const { code, stdout } = yield* cli(["doctor"])
      assert.strictEqual(code, 7)
      assert.match(stdout, /^FAIL {2}version .*tips/m)
      assert.include(stdout, "An old version may answer")
    }).pipe(inOldService(4850, 0)))
})

/** With a service that names this version in each answer. */
const inAnswerOf = <A, E, R>(version: string | null, use: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const service = yield* FakeService
    yield* service.clearFaults
    yield* service.inject(Fault.apiVersion(version))
    return yield* Effect.ensuring(use, service.clearFaults)
  })
