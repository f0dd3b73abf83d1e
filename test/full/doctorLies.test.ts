/** What doctor says of services that lie, and what it cannot see. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Fs from "node:fs"
import { defaultCompany, FakeService, generatePunches, type StoredPunch } from "../../src/testing/index.ts"
import { type Case, filterLies, pageLies, serviceLies, unseenLies } from "../cli/doctor/lies.ts"
import { examine } from "../cli/doctor/support.ts"
import { queries } from "../cli/support.ts"

const page = Fs.readFileSync(new URL("../../docs/09-command-line.md", import.meta.url), "utf8")

const now = Date.parse("2026-05-01T00:00:00Z")

const serving = (seed: number, count: number, deletedShare?: number) =>
  FakeService.layer({ punches: generatePunches({ seed, count, companyId: defaultCompany.id, deletedShare }) }).pipe(
    Layer.provideMerge(Layer.effectDiscard(TestClock.setTime(now)))
  )

const fake = serving(8, 400)

const modifiedAt = (punch: StoredPunch, millis: number): StoredPunch => ({
  ...punch,
  modified: new Date(millis).toISOString()
})

const rows = (cases: ReadonlyArray<Case>) => cases.map((each) => [each.name, each] as const)

const judge = ({ check, code, make, status, waits = false }: Case) =>
  Effect.gen(function*() {
    const examined = yield* examine({ lie: make(), waits })

    assert.strictEqual(examined.found.get(check)?.[0], status, examined.stdout)
    assert.strictEqual(examined.code, code, examined.stdout)
    assert.strictEqual(examined.failed.length > 0, status === "FAIL", examined.stdout)
    assert.match(examined.advice, status === "ok" ? /^Advice: nothing to fix\.$/ : /^Advice: .+ \[.+\]/)
    assert.isAtMost((yield* queries).length, 105)
    assert.notMatch(examined.stdout + examined.stderr, /time-punches doctor|→/)
  })

describe("time-punches doctor detects a service that", () => {
  it.effect.each(rows(filterLies))("%s", ([, lie]) => judge(lie).pipe(Effect.provide(fake)))

  it.effect.each(rows(pageLies))("%s", ([, lie]) => judge(lie).pipe(Effect.provide(fake)))

  it.effect.each(rows(serviceLies))("%s", ([, lie]) => judge(lie).pipe(Effect.provide(fake)))
})

describe("time-punches doctor exits with 7, whatever the data are, for a service that", () => {
  const named = ["drops modified_since", "reads deleted=null as false", "ends after the first page"]
  const cases = [...filterLies, ...pageLies].filter(({ name }) => named.includes(name))
  const data = [[1, 300], [2, 90], [3, 40], [4, 25], [5, 230]] as const

  it.effect.each(rows(cases))(
    "%s",
    ([, lie]) =>
      Effect.forEach(data, ([seed, count]) => judge(lie).pipe(Effect.provide(serving(seed, count, 0.2))), {
        discard: true
      })
  )

  it.effect("drops modified_since, where changes rise with the ids", () => {
    const punches = generatePunches({ seed: 6, count: 60, companyId: defaultCompany.id })
      .map((punch, at) => modifiedAt(punch, now - 86_400_000 + at * 60_000))
    const lies = filterLies.filter(({ name }) => name === "drops modified_since")
    return Effect.forEach(lies, (lie) => judge(lie).pipe(Effect.provide(FakeService.layer({ punches }))))
  })

  it("are three", () => {
    assert.lengthOf(cases, 3)
  })
})

describe("time-punches doctor cannot see a service that", () => {
  it.effect.each(rows(unseenLies))("%s", ([name, lie]) =>
    Effect.gen(function*() {
      yield* judge(lie)

      assert.include(page.replaceAll("`", "").replaceAll(/\s+/g, " "), `- The service ${name}:`)
    }).pipe(Effect.provide(fake)))

  it("are two, and the docs name no other as ok", () => {
    assert.lengthOf(unseenLies, 2)
    assert.lengthOf([...page.matchAll(/^- The service /gm)], 2)
  })
})
