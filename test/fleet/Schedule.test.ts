import { assert, describe, it } from "@effect/vitest"
import { Duration, Option, Result } from "effect"
import { backoff, nextSlot, slotOf } from "../../src/fleet/Schedule.ts"
import { defaultSettings, readSettings } from "../../src/fleet/Settings.ts"

const every = 900_000

describe("nextSlot", () => {
  it("is the same place of each interval, later than now by at most one", () => {
    for (const company of [0, 1, 4021, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
      for (const now of [0, 1, 1_789_000_000_123, slotOf(company, every), slotOf(company, every) + 7 * every]) {
        const next = nextSlot(company, every, now)

        assert.isAbove(next, now)
        assert.isAtMost(next, now + every)
        assert.strictEqual(next % every, slotOf(company, every))
        assert.strictEqual(nextSlot(company, every, next), next + every)
      }
    }
  })

  it("spreads neighbours evenly over the interval", () => {
    const tenths = Array.from({ length: 10 }, () => 0)
    for (let company = 1; company <= 10_000; company++) {
      const tenth = Math.floor(slotOf(company, every) / every * 10)
      tenths[tenth] = (tenths[tenth] ?? 0) + 1
    }

    for (const count of tenths) assert.approximately(count, 1000, 120)
  })
})

describe("backoff", () => {
  it("draws from the whole range, which doubles up to six hours", () => {
    assert.deepStrictEqual([0, 0.5, 1].map((random) => backoff(every, 0, random)), [0, 450_000, 900_000])
    assert.deepStrictEqual([0, 1, 2, 3].map((failures) => backoff(every, failures, 1) / every), [1, 2, 4, 8])
    assert.deepStrictEqual([5, 40, 5000].map((failures) => backoff(every, failures, 1)), [
      21_600_000,
      21_600_000,
      21_600_000
    ])
  })
})

describe("readSettings", () => {
  it("has the defaults in milliseconds, also where a setting is undefined", () => {
    const settings = Result.getOrThrow(readSettings({ takeover: undefined, pagesPerTurn: undefined }))

    assert.deepStrictEqual(settings, {
      maxConcurrentSyncs: 32,
      pagesPerTurn: 50,
      turnDeadline: 600_000,
      takeover: 10_000,
      helpAfter: 2000,
      keepTurns: 50,
      historyDays: undefined,
      sweepEvery: 86_400_000,
      sweepWindow: 35 * 86_400_000,
      fullSweepEvery: 30 * 86_400_000,
      credentials: "shared"
    })
    assert.strictEqual(Duration.toMillis(defaultSettings.takeover), settings.takeover)
  })

  it.each(
    [
      [{ takeover: "9 seconds" }, "takeover must be a duration from 10 seconds to 36525 days"],
      [{ maxConcurrentSyncs: 0 }, "maxConcurrentSyncs must be a whole number of at least 1"],
      [{ pagesPerTurn: 1.5 }, "pagesPerTurn must be a whole number of at least 1"],
      [{ keepTurns: NaN }, "keepTurns must be a whole number of at least 1"],
      [{ historyDays: 0 }, "historyDays must be a whole number from 1 to 36525"],
      [{ historyDays: 1e9 }, "historyDays must be a whole number from 1 to 36525"],
      [{ sweepEvery: Infinity }, "sweepEvery must be a duration from 1 second to 36525 days"],
      [{ sweepWindow: "1000000000 days" }, "sweepWindow must be a duration from 1 second to 36525 days"],
      [{ turnDeadline: "36526 days" }, "turnDeadline must be a duration from 1 second to 36525 days"],
      [{ fullSweepEvery: 1e300 }, "fullSweepEvery must be a duration from 0 to 36525 days"],
      [{ fullSweepEvery: NaN }, "fullSweepEvery must be a duration from 0 to 36525 days"],
      [{ helpAfter: -1 }, "helpAfter must be a duration from 0 to 36525 days"]
    ] as const
  )("names the first setting that is invalid: %o", (given, why) => {
    const refused = Option.getOrThrow(Result.getFailure(readSettings(given)))
    assert.strictEqual(refused.message, `invalid ${why.replace(" ", ": ")}`)
  })

  it("allows a short takeover to a test", () => {
    assert.strictEqual(Result.getOrThrow(readSettings({ takeover: "1 second" }, 100)).takeover, 1000)
  })
})
