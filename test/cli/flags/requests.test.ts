/** `--requests-per-second`, its variable and its default, in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { defaultCompany, FakeService, generatePunches } from "../../../src/testing/index.ts"
import { letTimePass } from "../../support/time.ts"
import { cli, type Environment, environment, without } from "../support.ts"

const variable = "TIME_PUNCHES_REQUESTS_PER_SECOND"

const fake = FakeService.layer({ punches: generatePunches({ seed: 2, count: 40, companyId: defaultCompany.id }) })

/** Runs the command, and returns it with the time between the first two pages. */
const paced = (args: ReadonlyArray<string>, env: Environment) =>
  Effect.gen(function*() {
    const ran = yield* letTimePass(cli(args, { env }))
    const requests = yield* FakeService.use((service) => service.requests)
    const [first = 0, second = 0] = requests.filter(({ endpoint }) => endpoint === "page").map(({ at }) => at)
    return { ...ran, gap: second - first }
  }).pipe(Effect.provide(Layer.fresh(fake)))

describe("the limit of requests", () => {
  it.effect("is 8 a second without a word", () =>
    Effect.gen(function*() {
      const { code, gap, stderr } = yield* paced(["list", "--page-size", "10", "--json"], without(variable))

      assert.strictEqual(code, 0, stderr)
      assert.strictEqual(gap, 125)
    }))

  const given: ReadonlyArray<readonly [flags: ReadonlyArray<string>, set: Environment, gap: number]> = [
    [["--requests-per-second", "4"], {}, 250],
    [["--requests-per-second", "4"], { [variable]: "none" }, 250],
    [["--requests-per-second", "none"], { [variable]: "2" }, 0],
    [[], { [variable]: "2" }, 500],
    [[], { [variable]: " 2 " }, 500],
    [[], { [variable]: "none" }, 0],
    [[], { [variable]: "" }, 125]
  ]

  it.effect.each(given)(
    "is that of the flag, then of the variable: %j %j",
    ([flags, set, gap]) =>
      Effect.gen(function*() {
        const ran = yield* paced(["list", "--page-size", "10", "--json", ...flags], { ...without(variable), ...set })

        assert.strictEqual(ran.code, 0, ran.stderr)
        assert.strictEqual(ran.gap, gap)
      })
  )

  it.effect.each([
    "0",
    "-1",
    "1.5",
    "1e3",
    "None",
    "NONE",
    "no",
    "off",
    "unlimited",
    "8/s",
    "100001",
    "0x8",
    "Infinity"
  ])(
    "is refused by name if it is %s",
    (text) =>
      Effect.gen(function*() {
        for (
          const verb of [["list"], ["copy", "sync"], ["fleet", "run"], ["doctor"], ["export", "--output", "x.csv"]]
        ) {
          const flag = yield* cli([...verb, "--requests-per-second", text])
          assert.strictEqual(flag.code, 2, verb.join(" "))
          assert.match(flag.stderr, /--requests-per-second.*a whole number from 1 to 100000, or none/)
        }
        const set = yield* cli(["list"], { env: { ...environment, [variable]: text } })
        assert.strictEqual(set.code, 3)
        assert.include(set.stderr, `${variable} must be a whole number from 1 to 100000, or none`)
        const checked = yield* cli(["doctor"], { env: { ...environment, [variable]: text } })
        assert.match(checked.stdout, /^FAIL +limit +TIME_PUNCHES_REQUESTS_PER_SECOND must be/m)
      }).pipe(Effect.provide(fake))
  )

  it.effect("is not for a copy", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* cli(["summary", "--database", "x.db", "--requests-per-second", "5"])

      assert.strictEqual(code, 2)
      assert.include(stderr, "--requests-per-second limits requests, and a copy needs none")
    }).pipe(Effect.provide(fake)))
})
