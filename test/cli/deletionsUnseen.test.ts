/** A copy that may have punches that were deleted, through the commands that read it: of a service that reads null as false. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { FakeService, type FakeServiceOptions } from "../../src/testing/index.ts"
import { shift } from "./payroll/checkSupport.ts"
import { cli, copyStart, onCopy, temporaryFolder } from "./support.ts"

const punches = [1, 2, 3].map((id) => shift(id, "2026-03-02"))
const week = ["--week", "2026-03-02", "--zone", "America/New_York"]

const inService = (options: FakeServiceOptions) =>
  Effect.provide(FakeService.layer({ punches, nulls: "false", ...options }), { local: true })

const sync = Effect.fnUntraced(function*(file: string, ...flags: ReadonlyArray<string>) {
  const { code, stderr } = yield* cli(["copy", "sync", "--history", "--database", file, ...flags])
  assert.strictEqual(code, 0, stderr)
})

/** A copy that has a deleted punch as one that is not, until the next sync says what it missed. */
const misled = Effect.gen(function*() {
  const file = `${yield* temporaryFolder}/punches.db`
  yield* TestClock.setTime(copyStart)
  yield* sync(file)
  const service = yield* FakeService
  yield* service.edit([2], { deleted: true })
  yield* TestClock.adjust("1 hour")
  yield* sync(file)
  return file
})

/** What `copy status --json` says of deletions, and what the text says below its table. */
const statusOf = Effect.fnUntraced(function*(file: string) {
  const json = yield* onCopy(file)("copy", "status", "--json")
  const text = yield* onCopy(file)("copy", "status")
  assert.deepStrictEqual([json.code, text.code], [0, 0], json.stderr + text.stderr)
  const { deletions, deleted }: { readonly deletions: object; readonly deleted: number } = JSON.parse(json.stdout)
  return { deletions, deleted, lines: text.stdout.trimEnd().split("\n").slice(2) }
})

describe("a copy that may have punches that were deleted", () => {
  it.effect("is refused by a check and a close, and no longer after a sweep without a window", () =>
    Effect.gen(function*() {
      const file = yield* misled
      const ran = onCopy(file)
      const check = (...flags: ReadonlyArray<string>) => ran("payroll", "check", ...week, ...flags)
      const close = (...flags: ReadonlyArray<string>) =>
        ran("payroll", "close", ...week, "--rounding", "halfUp", ...flags)
      const people = Effect.suspend(() =>
        Effect.map(ran("summary", "--by", "user", "--json", ...week), ({ stdout }) => stdout.match(/"userId":\d+/g))
      )
      const before = yield* people
      assert.strictEqual((yield* check()).code, 0, "no look has seen it")
      yield* TestClock.adjust("1 day")
      yield* sync(file)

      const status = yield* statusOf(file)
      assert.deepStrictEqual(status, {
        deletions: {
          requestedWith: "include_deleted=true",
          lookedAt: "2026-07-02T13:00:00.000Z",
          missed: "unswept"
        },
        deleted: 0,
        lines: [
          "deleted punches are requested with include_deleted=true",
          "the copy may have punches that were deleted: it did not hear of deletions for a while. Run a sweep without a window"
        ]
      })
      const checked = yield* check()
      assert.strictEqual(checked.code, 9)
      assert.match(checked.stderr, /deletionsUnseen: the copy may have punches that were deleted, and they count here/)
      assert.strictEqual((yield* check("--accept", "empty")).code, 9)
      const accepted = yield* check("--accept", "deletionsUnseen")
      assert.strictEqual(accepted.code, 0, accepted.stderr)
      assert.notInclude(accepted.stderr, "deletionsUnseen")
      const refused = yield* close()
      assert.strictEqual(refused.code, 9, refused.stderr)
      assert.match(refused.stderr, /deletionsUnseen[^]*the copy may have punches that were deleted/)
      assert.strictEqual((yield* close("--accept", "empty,stale")).code, 9)
      assert.strictEqual(
        (yield* ran("payroll", "list", "--json")).stdout.trim(),
        "[]",
        "a refused close writes nothing"
      )
      for (const verb of ["summary", "report"]) {
        const { code, stderr } = yield* ran(verb, ...week)
        assert.strictEqual(code, 0, stderr)
        assert.include(stderr, "the copy may have punches that were deleted")
      }

      yield* sync(file, "--sweep", "30d")
      assert.strictEqual((yield* check()).code, 9, "a window is not all")
      yield* sync(file, "--sweep", "all")
      const clean = yield* check()
      assert.strictEqual(clean.code, 0, clean.stderr)
      assert.notInclude(clean.stderr, "deleted")
      const closed = yield* close()
      assert.strictEqual(closed.code, 0, closed.stderr)
      assert.notInclude(closed.stderr, "deleted")
      const after = yield* statusOf(file)
      assert.deepInclude(after, { deleted: 1, lines: status.lines.slice(0, 1) })
      assert.deepInclude(after.deletions, { requestedWith: "include_deleted=true", missed: null })
      assert.deepStrictEqual([before?.length, (yield* people)?.length], [3, 2])
    }).pipe(Effect.scoped, inService({})))

  it.effect("closes where it is accepted, and the record has the kind", () =>
    Effect.gen(function*() {
      const file = yield* misled
      yield* TestClock.adjust("1 day")
      yield* sync(file)
      const closed = yield* onCopy(file)(
        "payroll",
        "close",
        ...week,
        "--rounding",
        "halfUp",
        "--accept",
        "deletionsUnseen"
      )
      assert.strictEqual(closed.code, 0, closed.stderr)
      const shown = yield* onCopy(file)("payroll", "show", "1", "--json")
      assert.match(shown.stdout, /"accepted":\{"deletionsUnseen":1\}/, shown.stderr)
    }).pipe(Effect.scoped, inService({})))

  it.effect("is refused until a sweep by two listings, where no spelling shows them", () =>
    Effect.gen(function*() {
      const file = yield* misled
      const check = onCopy(file)("payroll", "check", ...week)
      yield* TestClock.adjust("1 day")
      yield* sync(file)
      const requestedWith = "deleted=false, then deleted=true"
      assert.deepStrictEqual(yield* statusOf(file), {
        deletions: { requestedWith, lookedAt: "2026-07-02T13:00:00.000Z", missed: "unswept" },
        deleted: 0,
        lines: [
          `deleted punches are requested with ${requestedWith}`,
          "the copy may have punches that were deleted: it did not hear of deletions for a while. Run a sweep without a window"
        ]
      })
      assert.strictEqual((yield* check).code, 9)
      yield* sync(file, "--sweep", "all")
      assert.strictEqual((yield* check).code, 0)
      assert.deepInclude(yield* statusOf(file), {
        deleted: 1,
        lines: [`deleted punches are requested with ${requestedWith}`]
      })
    }).pipe(Effect.scoped, inService({ ignores: ["include_deleted"] })))

  it.effect("never is one where every spelling is refused: list says so, and doctor compares it by two listings", () =>
    Effect.gen(function*() {
      const file = yield* misled
      const { deleted, deletions, lines } = yield* statusOf(file)
      assert.deepInclude(deletions, { missed: null, requestedWith: "deleted=false, then deleted=true" })
      assert.deepStrictEqual([deleted, lines.length], [1, 1])
      const listed = yield* cli(["list", "--deleted", "include"])
      assert.strictEqual(listed.code, 7)
      assert.match(listed.stderr, /Ask for those that are not deleted, then for the deleted ones: .*\(--deleted\)/)
      assert.strictEqual((yield* cli(["list", "--deleted", "only"])).code, 0)
      const { stdout } = yield* cli(["doctor", "--database", file, "--full"])
      assert.match(stdout, /3 punches compared, all are equal/)
      assert.match(
        stdout,
        /warn {2}deleted punches +no way to ask for them with others is taken, deleted=false, then deleted=true is\n/
      )
    }).pipe(Effect.scoped, inService({ nulls: 422, refuses: ["include_deleted"] })))
})
