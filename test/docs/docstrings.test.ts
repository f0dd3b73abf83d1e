/** The examples in docstrings are whole programs that compile, and the names used most have one. */
import { assert, describe, it } from "@effect/vitest"
import { announced, compileErrors, type DocExample, examplesIn, sources } from "./support/docstrings.ts"

/** The names that a caller hovers over first. */
const required = [
  "TimePunches",
  "TimePunches.list",
  "TimePunches.pages",
  "TimePunches.layer",
  "TimePunches.layerFromConfig",
  "TimePunches.backfill",
  "Credentials.layerAccessToken",
  "Labor.rollup",
  "Labor.hoursOverThreshold",
  "Labor.toCsv",
  "DayRule.byLocation",
  "PeriodCheck.check",
  "Period.week",
  "WorkedTime.measure"
]

const examples = sources.flatMap(({ path, text }) => examplesIn(path, text))

const planted = examplesIn(
  "src/Planted.ts",
  `/**
 * Two examples.
 *
 * **Example** (A company)
 *
 * \`\`\`ts
 * import { CompanyId } from "effect-time-punches"
 *
 * const company = CompanyId.make(4021)
 * \`\`\`
 *
 * @since 0.1.0
 */
export class Planted {
  /**
   * **Example** (A location where a company belongs)
   * \`\`\`ts
   * import { LocationId, TimePunches } from "effect-time-punches"
   *
   * const listing = TimePunches.list(LocationId.make(301))
   * \`\`\`
   */
  static readonly wrong = 1
}
`
)

describe("the finder of examples", () => {
  it("finds each with its name, its line and its code", () => {
    assert.deepStrictEqual(planted.map(({ line, name }) => [name, line]), [["Planted", 7], ["Planted.wrong", 18]])
    assert.strictEqual(
      planted[0]?.code,
      `import { CompanyId } from "effect-time-punches"\n\nconst company = CompanyId.make(4021)\n`
    )
  })
})

describe("the examples in docstrings", () => {
  it("are all found, each under its title in a ts fence", () => {
    for (const { path, text } of sources) {
      assert.strictEqual(examplesIn(path, text).length, announced(text), `${path} has an example without a ts fence`)
    }
  })

  it.each(required)("exist for %s", (name) => {
    assert.include(examples.map((example) => example.name), name)
  })

  it("compile, each as a program of a reader", () => {
    const errors = compileErrors([...examples, ...planted])
    const isPlanted = (example: DocExample) => planted.includes(example)

    assert.strictEqual([...errors].filter(([example]) => !isPlanted(example)).map(([, said]) => said).join(""), "")
    assert.deepStrictEqual([...errors.keys()].map(({ name }) => name), ["Planted.wrong"])
    assert.match([...errors.values()].join(""), /^src\/Planted\.ts:20 \(Planted\.wrong\): error TS\d+/)
  })
})
