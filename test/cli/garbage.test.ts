/** The young space of V8 in a call that lists: it stays small, whatever survives its collections. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { promisify } from "node:util"

const module = new URL("../../src/cli/garbage.ts", import.meta.url).href

/** Makes garbage of which a tenth survives, in turns, and prints the largest size of the young space in MiB. */
const survive = `
import { getHeapSpaceStatistics } from "node:v8"
let largest = 0
let kept = []
for (let turn = 0; turn < 250; turn++) {
  for (let i = 0; i < 20_000; i++) {
    const made = { turn, i, list: [i] }
    if (i % 10 === 0) kept.push(made)
  }
  if (turn % 20 === 0) kept = []
  largest = Math.max(largest, getHeapSpaceStatistics().find((space) => space.space_name === "new_space").space_size)
  await new Promise((resolve) => setImmediate(resolve))
}
console.log(Math.round(largest / 2 ** 20))
`

const largestYoungSpace = (before: string) =>
  Effect.promise(async () => {
    // The most that V8 takes by itself differs by version.
    const most = ["--max-semi-space-size=64", "--disable-warning=ExperimentalWarning"]
    const args = [...most, "--input-type=module", "--eval", before + survive]
    const { stderr, stdout } = await promisify(execFile)(process.execPath, args)
    assert.strictEqual(stderr, "")
    return Number(stdout)
  })

describe("collectSteadily", () => {
  it.live(
    "keeps the young space at about 32 MiB where V8 would take all that it may, and lets the process end",
    () =>
      Effect.gen(function*() {
        const steady = `import { collectSteadily } from ${JSON.stringify(module)}\ncollectSteadily()\n`
        assert.isAtMost(yield* largestYoungSpace(steady), 40)
        assert.isAtLeast(yield* largestYoungSpace(""), 100)
      })
  )
})
