/** What doctor says of services that lie, and what it cannot see. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Fs from "node:fs"
import { defaultCompany, FakeService, generatePunches } from "../../src/testing/index.ts"
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
  const named = ["reads modified_since as created", "reads deleted=null as false", "ends after the first page"]
  const cases = [...filterLies, ...pageLies].filter(({ name }) => named.includes(name))
  const data = [[1, 300], [2, 90], [3, 40], [4, 25], [5, 230]] as const

  it.effect.each(rows(cases))(
    "%s",
    ([, lie]) =>
      Effect.forEach(data, ([seed, count]) => judge(lie).pipe(Effect.provide(serving(seed, count, 0.2))), {
        discard: true
      })
  )

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
