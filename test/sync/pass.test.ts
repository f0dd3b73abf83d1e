/** How a page moves the checkpoint: each rule of a pass as a table, without a service. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Option } from "effect"
import type { Checkpoint, RunningPass, SweepWindow } from "../../src/sync/index.ts"
import { begin, contains, type Facts, type PageStep, type Reads, restart, stepPage } from "../../src/sync/pass.ts"
import { type Answer, atNoon, blank, noon, page, utc } from "./support.ts"

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

const some = (millis: number) => Option.some(utc(millis))
const millisOf = (at: Option.Option<DateTime.Utc>) => Option.getOrUndefined(at)?.epochMilliseconds

const reads: Reads = { overlap: 15 * minute, sortById: false }

/** Each page is judged by the call that began its attempt, whose monotonic clock stands still. */
const facts: Facts = { ...reads, now: noon + 2 * hour, writer: "me", elapsed: Option.some(0) }

/** The step of a page that is kept. */
const kept = (judged: PageStep) => {
  if (judged._tag !== "Kept") return assert.fail(`the page is discarded: ${judged._tag}`)
  return judged
}

/** A page, and how long the attempt takes by the monotonic clock. */
interface Judged extends Answer {
  readonly elapsed?: Option.Option<number>
}

const judge = (
  checkpoint: Checkpoint,
  { elapsed, ...answer }: Judged,
  running: RunningPass = begin(checkpoint, "increment", reads)
) => stepPage(checkpoint, running, page(answer), elapsed === undefined ? facts : { ...facts, elapsed })

/** Reads pages one after another, and returns the last checkpoint. */
const read = (checkpoint: Checkpoint, answers: ReadonlyArray<Judged>): Checkpoint =>
  answers.reduce<Checkpoint>((now, answer) => {
    const running = Option.getOrElse(
      now.running,
      () => begin(now, Option.isNone(now.watermark) ? "first" : "increment", reads)
    )
    return kept(judge(now, answer, running)).checkpoint
  }, checkpoint)

describe("a pass", () => {
  it.each(
    [
      ["first", undefined],
      ["sweep", undefined],
      ["increment", noon - 15 * minute],
      ["confirm", noon - day - 15 * minute]
    ] as const
  )(
    "begins without a horizon, and asks for changes since the watermark less the overlap, in a confirm less a day too: %s",
    (kind, since) => {
      const running = begin(atNoon, kind, reads)

      assert.strictEqual(millisOf(running.since), since)
      assert.deepInclude(running, {
        kind,
        pass: noon,
        horizon: Option.none(),
        at: Option.none(),
        cursor: Option.none(),
        restarts: 0,
        pages: 0
      })
    }
  )

  it.each([[0, 0], [1, 0], [999, 0], [1000, 1000], [1999, 1000]])(
    "asks for whole seconds, never for a later one: %d ms after noon",
    (after, expected) => {
      const running = begin({ ...atNoon, watermark: some(noon + after) }, "increment", reads)

      assert.strictEqual(millisOf(running.since), noon + expected - 15 * minute)
    }
  )

  it.each([
    ["summer time", "2026-03-29T01:05:00.000Z", "2026-03-29T00:50:00.000Z"],
    ["winter time", "2026-10-25T01:05:00.000Z", "2026-10-25T00:50:00.000Z"],
    ["a leap second", "2017-01-01T00:00:00.000Z", "2016-12-31T23:45:00.000Z"],
    ["the end of a year", "2027-01-01T00:00:30.500Z", "2026-12-31T23:45:30.000Z"],
    ["29 February", "2028-03-01T00:00:00.000Z", "2028-02-29T23:45:00.000Z"]
  ])("[Y65] counts in UTC over %s", (_, watermark, since) => {
    const running = begin({ ...atNoon, watermark: some(Date.parse(watermark)) }, "increment", reads)

    assert.strictEqual(millisOf(running.since), Date.parse(since))
  })

  it("takes horizon, at and number from its first page, and moves no watermark before its last", () => {
    const { checkpoint, missing, passId } = kept(judge(atNoon, { asOf: noon + hour - 300, next: "2" }))
    const running = Option.getOrThrow(checkpoint.running)

    assert.deepStrictEqual(missing, Option.none())
    assert.strictEqual(passId, noon + hour - 300)
    assert.include(checkpoint, { pass: passId, writer: "me", watermark: atNoon.watermark, at: atNoon.at })
    assert.deepInclude(running, { pass: passId, horizon: some(noon + hour - 300), at: some(noon + hour), pages: 1 })
    assert.deepStrictEqual([running.cursor, running.cycleGuard], [Option.some("2"), Option.some("2")])
  })

  it("keeps horizon, at and number on later pages, whatever their Date, and moves the watermark with the last", () => {
    const checkpoint = read(atNoon, [
      { asOf: noon + hour, next: "2" },
      { asOf: noon + 20 * hour, sentAt: noon + 20 * hour, next: "3" },
      { asOf: undefined, sentAt: noon + 30 * hour }
    ])

    assert.deepStrictEqual(checkpoint, {
      ...atNoon,
      pass: noon + hour,
      writer: "me",
      watermark: some(noon + hour),
      at: some(noon + hour),
      horizon: DateTime.makeUnsafe(noon + hour),
      completedAt: some(noon + 2 * hour)
    })
  })

  it.each([
    ["the horizon, where it is higher", noon, noon + hour],
    ["one more than the highest, where that is not", noon + 5 * hour, noon + 5 * hour + 1]
  ])("is numbered by %s", (_, pass, passId) => {
    assert.strictEqual(kept(judge({ ...atNoon, pass }, { asOf: noon + hour })).passId, passId)
  })

  it("is numbered by the local clock where the first page has no Date", () => {
    assert.strictEqual(read(atNoon, [{ sentAt: noon + hour + 5 }]).pass, noon + hour + 5)
  })

  it.each([
    ["[Y33] from a cache, an hour older than the watermark", noon - hour],
    ["in the year 1, of a local clock that stands there", Date.parse("0001-01-01T00:00:10Z")]
  ])("moves the watermark to a horizon that is earlier: %s", (_, asOf) => {
    const running: RunningPass = { ...begin(atNoon, "increment", reads), since: Option.none() }

    assert.strictEqual(
      millisOf(kept(judge(atNoon, { asOf, sentAt: asOf + minute }, running)).checkpoint.watermark),
      asOf
    )
  })
})

describe("without a Date on the first page, the watermark", () => {
  const sentAt = noon + hour

  it.each([
    ["[Y31] stays, where no row was changed since", [], noon],
    ["is the latest modified", [noon + 10 * minute, noon + 20 * minute, undefined], noon + 20 * minute],
    ["does not go back to an earlier modified", [noon - day], noon],
    ["is the local clock at most", [noon + 3 * day], sentAt]
  ])("%s", (_, modified, expected) => {
    const checkpoint = read(atNoon, [{ sentAt, modified }])

    assert.strictEqual(millisOf(checkpoint.watermark), expected)
    assert.deepStrictEqual(checkpoint.at, atNoon.at)
    assert.deepStrictEqual(checkpoint.completedAt, some(noon + 2 * hour))
  })

  it("[Y29] is compared from the first request of a first load on, which leaves no change behind", () => {
    const checkpoint = read(blank, [{ sentAt, modified: [noon] }])

    assert.deepStrictEqual([checkpoint.watermark, checkpoint.at], [some(noon), some(sentAt)])
  })

  it("[Y31] is not taken from later pages that have one", () => {
    const checkpoint = read(atNoon, [
      { sentAt, next: "2", modified: [noon + minute] },
      { sentAt, asOf: sentAt, modified: [] }
    ])

    assert.strictEqual(millisOf(checkpoint.watermark), noon + minute)
    assert.deepStrictEqual(checkpoint.at, atNoon.at)
  })

  it("is not lifted by the late pages of a long pass", () => {
    const checkpoint = read(atNoon, [
      { sentAt, next: "2", modified: [noon + minute] },
      { sentAt: sentAt + 40 * minute, modified: [noon + 41 * minute + second] }
    ])

    assert.strictEqual(millisOf(checkpoint.watermark), noon + minute + second)
  })

  it.each<readonly [string, Option.Option<number>, number, number]>([
    ["by the monotonic clock in one call", Option.some(10 * minute), -10 * hour, noon + 2 * minute],
    ["by the local clock, where that runs faster", Option.some(0), 10 * minute, noon + 2 * minute],
    ["by a day more in a later call", Option.none(), -10 * hour, noon + 2 * minute - 14 * hour + 10 * minute],
    ["by nothing, where a later call's clock is more than a day behind", Option.none(), -25 * hour, noon + 12 * minute]
  ])("[Y28] is not lifted where the local clock is set back within the pass: %s", (_, elapsed, step, latest) => {
    const checkpoint = read({ ...atNoon, watermark: some(noon - day) }, [
      { sentAt, next: "2", modified: [noon - day] },
      { sentAt: sentAt + step, modified: [noon + 12 * minute], elapsed }
    ])

    assert.strictEqual(millisOf(checkpoint.watermark), latest)
  })

  it("is the local clock, where that is behind the watermark before", () => {
    assert.strictEqual(millisOf(read(atNoon, [{ sentAt: noon - 5 * hour }]).watermark), noon - 5 * hour)
  })

  it("is none for a company without a row, and the next pass is a first load again", () => {
    const checkpoint = read(blank, [{ sentAt }])

    assert.deepStrictEqual(checkpoint.watermark, Option.none())
    assert.deepStrictEqual(checkpoint.completedAt, some(noon + 2 * hour))
  })
})

describe("a Date", () => {
  it.each([
    ["[Y32] of 1970", noon, 0, false],
    ["[Y32] of 9999", noon, Date.UTC(9999, 0), false],
    ["[Y27] a day from the local clock", noon, noon + day, true],
    ["more than a day from the local clock, and from where the service's should stand", noon, noon + day + 1, false],
    [
      "[Y27] [Y28] where the service's clock should stand, of a local clock that is days off",
      noon + 9 * day,
      noon + hour,
      false
    ]
  ])("counts as missing where it cannot be the service's clock: %s", (_, sentAt, asOf, isTaken) => {
    const checkpoint = read(atNoon, [{ sentAt: sentAt + 1, asOf: asOf + 1 }])

    assert.strictEqual(Option.contains(checkpoint.watermark, utc(asOf + 1)), isTaken)
    assert.strictEqual(Option.contains(checkpoint.at, utc(sentAt + 1)), isTaken)
  })

  it("[Y27] is taken where it fits the last pass, however far the local clock is off", () => {
    const off = 400 * day
    const checkpoint = { ...atNoon, watermark: some(noon), at: some(noon + off) }
    const after = read(checkpoint, [{ sentAt: noon + off + hour, asOf: noon + hour }])

    assert.deepStrictEqual(after.watermark, some(noon + hour))
  })

  it("[Y32] counts as missing in a first load too, where there is no pass to compare with", () => {
    assert.deepStrictEqual(read(blank, [{ sentAt: noon, asOf: noon + 2 * day }]).watermark, Option.none())
  })
})

describe("the check of the service's clock", () => {
  const overlap = 15 * minute

  it.each([
    ["a minute, which the overlap covers", minute, undefined],
    ["a minute and a second", minute + second, noon - minute - second - overlap],
    ["[Y29] two hours", 2 * hour, noon - 2 * hour - overlap]
  ])("begins again from an earlier since where it was set back by %s", (_, by, since) => {
    const judged = judge(atNoon, { asOf: noon + hour - by })

    assert.strictEqual(judged._tag, since === undefined ? "Kept" : "Earlier")
    if (judged._tag !== "Earlier") return
    assert.deepStrictEqual(judged.running, {
      ...begin(atNoon, "increment", reads),
      since: some(since ?? Number.NaN),
      at: some(noon + hour)
    })
    // The new first page is checked again, and kept.
    assert.strictEqual(judge(atNoon, { asOf: noon + hour - by }, judged.running)._tag, "Kept")
  })

  it("begins again once more where the clock was set back between the two first pages", () => {
    const judged = judge(atNoon, { asOf: noon + hour - 2 * hour })
    const running = judged._tag === "Earlier" ? judged.running : assert.fail("the page is kept")

    assert.strictEqual(judge(atNoon, { asOf: noon + hour - 4 * hour }, running)._tag, "Earlier")
  })

  it("[Y82] keeps the second first page where a Date stands still, however long the first one took", () => {
    const stuck = noon - hour
    const first = judge(atNoon, { asOf: stuck, sentAt: noon + hour })
    const running = first._tag === "Earlier" ? first.running : assert.fail("the page is kept")

    for (const after of [second, minute, 5 * minute, hour]) {
      assert.strictEqual(judge(atNoon, { asOf: stuck, sentAt: noon + hour + after }, running)._tag, "Kept")
    }
  })

  it("[Y82] discards another one where the Date is behind by more than that took", () => {
    const first = judge(atNoon, { asOf: noon - hour, sentAt: noon + hour })
    const running = first._tag === "Earlier" ? first.running : assert.fail("the page is kept")
    // By the first page: the service's clock stood at noon - 2 hours when that of the checkpoint was asked.
    const of = (since: number) => judge(atNoon, { asOf: noon - hour - since, sentAt: noon + hour }, running)

    assert.deepStrictEqual([hour, hour + minute, hour + minute + second].map((since) => of(since)._tag), [
      "Kept",
      "Kept",
      "Earlier"
    ])
  })

  it("compares with the last pass again after a restart, which forgets the page that was discarded", () => {
    const judged = judge(atNoon, { asOf: noon - hour })
    const running = judged._tag === "Earlier" ? judged.running : assert.fail("the page is kept")

    assert.deepStrictEqual(restart(running, true).at, Option.none())
  })

  it.each(["first", "sweep"] as const)("has nothing to do in a pass that asks for everything: %s", (kind) => {
    const judged = judge(atNoon, { asOf: noon - 5 * hour }, begin(atNoon, kind, reads, { window: {} }))

    assert.strictEqual(judged._tag, "Kept")
  })

  it("is made of a confirm too, which has read a day more already", () => {
    const running = begin(atNoon, "confirm", reads, { window: {}, sweepPass: noon })

    assert.strictEqual(judge(atNoon, { asOf: noon - 5 * hour }, running)._tag, "Kept")
    assert.strictEqual(judge(atNoon, { asOf: noon - 30 * hour, sentAt: noon - 30 * hour }, running)._tag, "Earlier")
  })

  it("[Y28] reads more at most, where the local clock jumped and the service's did not", () => {
    assert.strictEqual(judge(atNoon, { asOf: noon + hour, sentAt: noon + 9 * hour })._tag, "Earlier")
    assert.strictEqual(judge(atNoon, { asOf: noon + hour, sentAt: noon - 9 * hour })._tag, "Kept")
  })

  describe("after passes without a Date have lifted the watermark, as stamps of the future do,", () => {
    /** The last Date came at noon; a pass an hour later had none, and read a stamp of three hours later. */
    const lifted: Checkpoint = { ...atNoon, horizon: utc(noon), watermark: some(noon + hour) }
    const sinceOf = (answer: Judged, from: Checkpoint = lifted) => {
      const judged = judge(from, answer)
      return judged._tag === "Earlier" ? millisOf(judged.running.since) : assert.fail("the page is kept")
    }

    it("begins again from the last Date", () => {
      assert.strictEqual(sinceOf({ asOf: noon + 2 * hour, sentAt: noon + 2 * hour }), noon - overlap)
    })

    it.each([
      ["a little", noon + hour],
      ["to before the last Date", noon - hour],
      ["to where nothing seems set back", noon - 10 * hour]
    ])("begins again no later, where the local clock was set back %s", (_, sentAt) => {
      assert.strictEqual(sinceOf({ asOf: noon + 2 * hour, sentAt }), noon - overlap)
    })

    it("begins again from before, where the service's clock was set back", () => {
      assert.strictEqual(
        sinceOf({ asOf: noon - hour, sentAt: noon + 2 * hour }),
        noon - 3 * hour - overlap
      )
    })

    it("begins no later than its own Date, where no pass had one and the local clock was set back", () => {
      const { horizon: _, ...first } = lifted
      assert.strictEqual(sinceOf({ asOf: noon - hour, sentAt: noon - 10 * hour }, first), noon - hour - overlap)
    })

    it("begins again from a first load without one, where the local clock was ahead and is set right", () => {
      const blankly = read(blank, [{ sentAt: noon + 2 * hour, modified: [noon - hour] }])
      assert.deepInclude(blankly, {
        watermark: some(noon - hour),
        at: some(noon + 2 * hour),
        horizon: utc(noon - hour)
      })
      const ahead = read(blankly, [{ sentAt: noon + 2 * hour + minute, modified: [noon + day] }])
      assert.deepInclude(ahead, { watermark: some(noon + 2 * hour + minute), horizon: utc(noon - hour) })

      // The service's clock stood at noon then; what it stamped from there on may not have shown yet.
      assert.strictEqual(
        sinceOf({ asOf: noon + 2 * hour, sentAt: noon + 2 * hour }, ahead),
        noon - hour - overlap
      )
    })

    it("keeps the Date over passes without one, and takes that of the next pass with one", () => {
      assert.deepStrictEqual(read(lifted, [{ sentAt: noon + 2 * hour }]).horizon, utc(noon))
      const judged = judge(lifted, { asOf: noon + 2 * hour, sentAt: noon + 2 * hour })
      const running = judged._tag === "Earlier" ? judged.running : assert.fail("the page is kept")
      const { checkpoint } = kept(judge(lifted, { asOf: noon + 2 * hour + minute, sentAt: noon + 2 * hour }, running))
      assert.deepInclude(checkpoint, {
        horizon: utc(noon + 2 * hour + minute),
        watermark: some(noon + 2 * hour + minute)
      })
    })
  })
})

describe("a sweep", () => {
  const window: SweepWindow = { gte: utc(noon - day), lt: utc(noon) }
  const swept = () => kept(judge(atNoon, { asOf: noon + hour }, begin(atNoon, "sweep", reads, { window })))

  it("ends in a confirm from the watermark that stood before it, and marks nothing", () => {
    const { checkpoint, missing } = swept()

    assert.deepStrictEqual(missing, Option.none())
    assert.deepStrictEqual([checkpoint.watermark, checkpoint.at, checkpoint.pass], [
      some(noon),
      some(noon),
      noon + hour
    ])
    assert.deepStrictEqual(
      checkpoint.running,
      Option.some({
        ...begin({ ...atNoon, pass: noon + hour }, "confirm", reads),
        window: Option.some(window),
        before: Option.some(noon + hour)
      })
    )
  })

  it("marks with the last page of its confirm, and only there moves the watermark", () => {
    const { checkpoint } = swept()
    const running = Option.getOrThrow(checkpoint.running)
    const first = kept(judge(checkpoint, { asOf: noon + hour + minute, next: "2" }, running))
    assert.deepStrictEqual([first.missing, first.checkpoint.watermark], [Option.none(), some(noon)])
    const last = kept(judge(first.checkpoint, {}, Option.getOrThrow(first.checkpoint.running)))

    assert.deepStrictEqual(last.missing, Option.some(window))
    assert.deepStrictEqual(last.checkpoint.watermark, some(noon + hour + minute))
    assert.deepStrictEqual(last.checkpoint.running, Option.none())
  })

  it.each<[string, SweepWindow, Checkpoint["swept"]]>([
    ["with its beginning", { gte: utc(noon - day) }, { at: utc(facts.now), gte: utc(noon - day) }],
    ["of all", {}, { at: utc(facts.now) }],
    ["unless it ends before now", window, { at: utc(noon) }]
  ])("is kept with the end of its confirm, and by every later pass: %s", (_, window, expected) => {
    const before = { ...atNoon, swept: { at: utc(noon) } }
    const confirm = kept(judge(before, {}, begin(before, "sweep", reads, { window }))).checkpoint
    const after = kept(judge(confirm, {}, Option.getOrThrow(confirm.running))).checkpoint
    const later = kept(judge(after, {}, begin(after, "increment", reads))).checkpoint

    assert.deepStrictEqual([confirm.swept, after.swept, later.swept], [before.swept, expected, expected])
  })

  it("keeps window and before over a restart of its confirm, and begins all else again", () => {
    const { checkpoint } = swept()
    const running = Option.getOrThrow(checkpoint.running)
    const first = kept(judge(checkpoint, { asOf: noon + hour + minute, next: "2" }, running))
    const again = restart(Option.getOrThrow(first.checkpoint.running), true)

    assert.deepStrictEqual(again, { ...running, pass: again.pass, restarts: 1 })
  })
})

describe("a pass that asks for the order of ids", () => {
  const sorting: Reads = { ...reads, sortById: true }

  it.each(["first", "increment", "sweep", "confirm"] as const)("begins so: %s", (kind) => {
    assert.isTrue(begin(atNoon, kind, sorting).sorted)
    assert.notProperty(begin(atNoon, kind, reads), "sorted")
  })

  it.each([
    [1, true, false],
    [2, true, true],
    [9, true, true],
    [1, false, true]
  ])("keeps it over a restart, unless after %d page of this call (%s): %s", (pages, isFresh, isKept) => {
    assert.strictEqual(restart({ ...begin(atNoon, "increment", sorting), pages }, isFresh).sorted === true, isKept)
  })

  it("has a confirm that does, whatever became of the sweep", () => {
    const sweep = begin(atNoon, "sweep", reads, { window: {} })
    const judged = stepPage(atNoon, sweep, page({ asOf: noon + hour }), { ...facts, sortById: true })

    assert.isTrue(Option.getOrThrow(kept(judged).checkpoint.running).sorted)
  })
})

describe("a cycle guard", () => {
  it("is replaced at pages 1, 2, 4, 8 and so on, and met again only in a cycle", () => {
    let now = atNoon
    const marks: Array<string> = []
    for (let number = 1; number <= 17; number++) {
      now = read(now, [{ asOf: noon + hour, next: `after ${number}` }])
      marks.push(Option.getOrThrow(Option.getOrThrow(now.running).cycleGuard))
    }
    assert.deepStrictEqual(
      marks,
      [1, 2, 2, 4, 4, 4, 4, 8, 8, 8, 8, 8, 8, 8, 8, 16, 16].map((number) => `after ${number}`)
    )
    const running = Option.getOrThrow(now.running)
    assert.strictEqual(judge(now, { next: "after 16" }, running)._tag, "Cycle")
    assert.strictEqual(judge(now, { next: "after 15" }, running)._tag, "Kept")
  })

  it.each([1, 2, 3, 5, 7, 8, 12, 40])("finds every cycle in the end: of %d pages", (length) => {
    let now = atNoon
    for (let number = 1; number <= 5 * length + 4; number++) {
      const running = Option.getOrElse(now.running, () => begin(now, "increment", reads))
      const judged = judge(now, { asOf: noon + hour, next: `after ${number % length}` }, running)
      if (judged._tag === "Cycle") return
      now = kept(judged).checkpoint
    }
    assert.fail("the cycle is not found")
  })
})

describe("a window", () => {
  const [one, two, three] = [utc(noon), utc(noon + hour), utc(noon + 2 * hour)]

  it.each([
    [{}, {}, true],
    [{}, { gte: one, lt: two }, true],
    [{ gte: one }, {}, false],
    [{ lt: two }, {}, false],
    [{ gte: one, lt: three }, { gte: one, lt: three }, true],
    [{ gte: one, lt: three }, { gte: one, lt: two }, true],
    [{ gte: two, lt: three }, { gte: one, lt: three }, false],
    [{ gte: one, lt: two }, { gte: one, lt: three }, false],
    [{ gte: one }, { gte: two }, true],
    [{ gte: two }, { gte: one }, false],
    [{ lt: two }, { gte: one, lt: two }, true],
    [{ gte: one, lt: two }, { gte: one }, false]
  ])("%j contains %j: %s", (window, other, expected) => {
    assert.strictEqual(contains(window, other), expected)
  })
})
