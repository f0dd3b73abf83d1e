/** A field that this release does not know, and that takes punches or breaks away by its name: from the service to a close. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { FakeService, Fault } from "../../src/testing/index.ts"
import { rest, shift } from "./payroll/checkSupport.ts"
import { cli, copyStart, environment, inFakeOf, temporaryFolder } from "./support.ts"

const punches = Array.from({ length: 205 }, (_, at) => shift(at + 1, "2026-03-03", { user_id: 501 + at }))
const week = ["--week", "2026-03-02", "--zone", "America/New_York"]
const inFake = inFakeOf(punches)

const known = (...paths: ReadonlyArray<string>) => ({
  env: { ...environment, TIME_PUNCHES_KNOWN_KEYS: paths.join(", ") }
})

const newCopy = Effect.gen(function*() {
  yield* TestClock.setTime(copyStart)
  return `${yield* temporaryFolder}/punches.db`
})

const sync = Effect.fnUntraced(function*(file: string, ...flags: ReadonlyArray<string>) {
  yield* TestClock.adjust("1 hour")
  const { code, stderr } = yield* cli(["copy", "sync", "--history", "--database", file, ...flags])
  assert.strictEqual(code, 0, stderr)
})

const check = (file: string, options?: Parameters<typeof cli>[1], ...flags: ReadonlyArray<string>) =>
  cli(["payroll", "check", ...week, "--database", file, ...flags], options)

const close = (file: string, options?: Parameters<typeof cli>[1], ...flags: ReadonlyArray<string>) =>
  cli(["payroll", "close", ...week, "--database", file, "--json", ...flags], options)

/** The second page of the first load has them. */
const marked = FakeService.use((service) =>
  service.inject(Fault.badRow(3, { voided: true, paid_out: true }), { requests: 2 })
)

const line =
  "unknownMark: data[].voided may take away a punch or a break, first of punch 204, and this release does not read it"

describe("a field that takes away by its name", () => {
  it.effect("keeps a copy from being checked and closed, until its path is known or it is accepted", () =>
    inFake(Effect.gen(function*() {
      const file = yield* newCopy
      yield* marked
      yield* sync(file)
      const [checked, closed] = [yield* check(file), yield* close(file)]
      const other = yield* check(file, known("data[].voided_at", "data[].breaks[].voided"))
      const accepted = yield* check(file, undefined, "--accept", "unknownMark")
      const told = yield* check(file, known("data[].other", "data[].voided"))
      const recorded = yield* close(file, undefined, "--accept", "unknownMark")

      assert.deepStrictEqual([checked.code, closed.code, other.code, accepted.code, told.code], [9, 9, 9, 0, 0])
      assert.include(checked.stderr, `${line}; --accept unknownMark lets it pass`)
      assert.include(closed.stderr, line)
      assert.match(closed.stderr, /\bunknownMark 1\b/)
      for (const { stderr } of [checked, closed]) assert.notInclude(stderr, "paid_out")
      for (const { stderr } of [accepted, told]) assert.notInclude(stderr, "unknownMark")
      assert.strictEqual(recorded.code, 0, recorded.stderr)
      assert.include(recorded.stdout, `"accepted":{"unknownMark":1}`)
    })))

  it.effect("is closed over with a path that is known, and nothing is recorded of it", () =>
    inFake(Effect.gen(function*() {
      const file = yield* newCopy
      yield* marked
      yield* sync(file)
      const closed = yield* close(file, known("data[].voided"))

      assert.strictEqual(closed.code, 0, closed.stderr)
      assert.include(closed.stdout, `"accepted":{}`)
    })))

  it.effect("stays through increments and sweeps of a window, and goes with a sweep of all without it", () =>
    inFake(Effect.gen(function*() {
      const file = yield* newCopy
      const service = yield* FakeService
      yield* marked
      yield* sync(file)
      yield* sync(file)
      yield* sync(file, "--sweep", "7d")
      const kept = yield* check(file)
      yield* sync(file, "--sweep", "all")
      const gone = yield* check(file)
      // An increment finds one too, of a break.
      yield* service.edit([9], { breaks: [rest("2026-03-03T15:00:00Z", "2026-03-03T15:30:00Z")] })
      yield* service.edit([9], { notes: "x" })
      yield* service.inject(Fault.badRow(0, { breaks: [{ ...rest("2026-03-03T15:00:00Z", null), is_cancelled: 1 }] }))
      yield* sync(file)
      const again = yield* check(file)

      assert.deepStrictEqual([kept.code, gone.code, again.code], [9, 0, 9])
      assert.include(kept.stderr, line)
      assert.include(again.stderr, "unknownMark: data[].breaks[].is_cancelled ")
    })))

  it.effect("is said beside what is due, and a correction", () =>
    inFake(Effect.gen(function*() {
      const file = yield* newCopy
      yield* sync(file)
      yield* close(file)
      const [broken] = [rest("2026-03-03T15:00:00Z", "2026-03-03T15:30:00Z")]
      const service = yield* FakeService
      yield* service.edit([9], { notes: "x" })
      yield* service.inject(Fault.badRow(0, { breaks: [{ ...broken, state: { isDeleted: true } }] }))
      yield* sync(file)
      const path = "data[].breaks[].state.isDeleted"
      const verbs = [["due"], ["correct", "--dry-run"], ["correct"]]
      const run = (env?: Parameters<typeof cli>[1]) =>
        Effect.forEach(verbs, (verb) => cli(["payroll", ...verb, "--database", file], env))

      for (const { code, stderr } of yield* run()) {
        assert.strictEqual(code, 0, stderr)
        assert.include(stderr, `unknownMark: ${path} may take away a punch or a break, first of punch `)
      }
      for (const { stderr } of yield* run(known(path))) assert.notInclude(stderr, "unknownMark")
    })))

  it.effect("is found by a check of the service too", () =>
    inFake(Effect.gen(function*() {
      yield* FakeService.use((service) => service.inject(Fault.badRow(3, { voided: true })))
      const checked = yield* cli(["payroll", "check", ...week])
      const told = yield* cli(["payroll", "check", ...week], known("data[].voided"))

      assert.deepStrictEqual([checked.code, told.code], [9, 0])
      assert.match(checked.stderr, /^unknownMark: data\[\]\.voided may take away /m)
    })))
})
