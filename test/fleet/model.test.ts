import { describe, it } from "@effect/vitest"
import { seedsFrom } from "../support/series.ts"
import { keepsWhole } from "./model.ts"

describe("the model of a fleet", () => {
  // `npm run test:full` draws more of each kind, and of others, and plants bugs.
  it.effect.each(
    [
      ["two of them, and freezes", 6, 30],
      ["companies that are removed and added again", 3, 30],
      ["freezes while pages are long", 2, 60],
      ["everything", 8, 30],
      ["everything, and no engine", 9, 30]
    ] as const
  )(
    "is whole after %s",
    ([kind, seed, seconds]) =>
      keepsWhole(kind, seedsFrom(seed, 1), { file: "test/fleet/model.test.ts", seconds, turns: 25 })
  )
})
