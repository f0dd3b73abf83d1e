/** Doctor reports no failure of a service that is right, whatever its data are and however they change. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Prng, prng } from "../../../src/testing/base/prng.ts"
import { defaultCompany, FakeService, generatePunches, type StoredPunch } from "../../../src/testing/index.ts"
import { examine } from "./support.ts"

const generate = (seed: number, count: number, shares: { openShare?: number; deletedShare?: number } = {}) =>
  generatePunches({ seed, count, companyId: defaultCompany.id, users: 1 + seed % 12, ...shares })

/** The data of a seed: every kind recurs. */
const kinds: ReadonlyArray<readonly [name: string, punches: (seed: number) => ReadonlyArray<StoredPunch>]> = [
  ["a few", (seed) => generate(seed, 2 + seed % 9)],
  ["some", (seed) => generate(seed, 20 + seed % 60)],
  ["more than a page", (seed) => generate(seed, 195 + seed % 30)],
  ["only open ones", (seed) => generate(seed, 1 + seed % 40, { openShare: 1 })],
  ["only deleted ones", (seed) => generate(seed, 1 + seed % 40, { deletedShare: 1 })],
  ["as many deleted ones as others", (seed) => generate(seed, 2 + seed % 50, { deletedShare: 0.5 })],
  ["one", (seed) => generate(seed, 1)],
  ["none", () => []]
]

const flags: ReadonlyArray<ReadonlyArray<string>> = [
  [],
  [],
  ["--deleted", "include"],
  ["--deleted", "only", "--page-size", "3"],
  ["--approved", "false"],
  ["--clocked-in-gte", "2026-03-10T00:00:00Z", "--clocked-in-lt", "2026-03-20T00:00:00Z"],
  ["--business-date-start", "2026-03-05", "--page-size", "200"],
  ["--flags", "late,missed_break", "--employee-approval-statuses", "pending"],
  ["--sort-by", "clocked_in.desc", "--localize-search-time"]
]

const start = Date.parse("2026-05-01T00:00:00Z")

/** Before each request some punches are edited, deleted, restored, removed or added; each change is a new `modified`. */
const makeChanges = (random: Prng, punches: ReadonlyArray<StoredPunch>) => {
  const current = new Map(punches.map((punch) => [punch.id, punch]))
  let number = 0
  const edit = (punch: StoredPunch): StoredPunch => {
    const other = random.pick(["approved", "disputed", "pending"] as const)
    return {
      ...punch,
      modified: new Date(start + 1000 * ++number).toISOString(),
      approved: random.chance(0.5),
      deleted: random.chance(0.3),
      user_id: 500 + random.between(1, 5),
      clocked_in: random.chance(0.5) ? punch.clocked_in : "2026-03-15T12:00:00Z",
      employeeApprovalStatus: other
    }
  }
  return FakeService.use(Effect.fnUntraced(function*(service) {
    const all = [...current.values()]
    const [first] = all
    if (first === undefined || random.chance(0.4)) return
    const chosen = all[random.between(0, all.length - 1)] ?? first
    const draw = random.next()
    if (draw < 0.2) {
      current.delete(chosen.id)
      return yield* service.remove([chosen.id])
    }
    const changed = edit(draw < 0.4 ? { ...chosen, id: 1_000_000 + ++number } : chosen)
    current.set(changed.id, changed)
    yield* service.seed([changed])
  }))
}

const seeds = 208

const inspect = (seed: number) => {
  const [name, punchesOf] = kinds[seed % kinds.length] ?? ["none", () => []]
  const punches = punchesOf(seed)
  const random = prng(seed)
  const changing = seed % 3 !== 0
  const given = random.pick([flags[0] ?? [], ...flags])
  const label = `seed ${seed}: ${name}${changing ? ", changing" : ""}, ${given.join(" ")}`
  return Effect.gen(function*() {
    yield* TestClock.setTime(start)
    const lie = changing ? { before: makeChanges(random, punches) } : {}
    const { advice, bad, code, failed, stdout } = yield* examine({ lie, flags: given })

    assert.deepStrictEqual([code, failed], [0, []], `${label}\n${stdout}`)
    const isQuiet = bad.every((check) => check === "rows")
    assert.isTrue(changing || isQuiet, `${label}\n${stdout}`)
    assert.match(advice, /^Advice: /)
  }).pipe(Effect.provide(FakeService.layer({ punches, order: seed % 5 === 0 ? "id" : "asked" })))
}

describe("time-punches doctor", () => {
  const parts = [0, 1, 2, 3] as const

  it.effect.each(parts.map((part) => [part] as const))(
    "fails no check of a service that is right, over 52 seeds (part %i of 4)",
    ([part]) =>
      Effect.forEach(
        Array.from({ length: seeds / parts.length }, (_, index) => part * (seeds / parts.length) + index),
        inspect,
        { discard: true }
      ),
    120_000
  )
})
