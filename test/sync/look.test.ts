import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Logger, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { RetryPolicy, TimePunches } from "../../src/index.ts"
import { Sync } from "../../src/sync/index.ts"
import { FakeService, type FakeServiceOptions, Fault } from "../../src/testing/index.ts"
import { app, company, inject, pageRequests } from "../support/client.ts"
import { generatePlain } from "../support/densities.ts"
import { makeCopy, noon, type TestCopy } from "./support.ts"

const twice = "deleted=false, then deleted=true"

/** A service of strict booleans, which has never had the deprecated parameter. */
const refusing = { nulls: 422, refuses: ["include_deleted"] } as const

const all = generatePlain({ count: 6, companyId: company.id })
  .map((punch, at) => Object.assign(punch, { deleted: at === 2, modified: "2026-04-01T08:00:00Z" }))
const deletedId = all[2]?.id ?? 0

/** Each request: what it asks of deleted punches, with its window, its change time and its cursor. */
const requests = Effect.map(pageRequests, (all) =>
  all.map(({ query }) => {
    const asks = query["deleted"] ?? (query["include_deleted"] === "true" ? "other" : "none")
    const window = query["clocked_in[gte]"] === undefined ? "" : "@"
    return asks + window + (query["modified_since"] === undefined ? "" : "~") +
      (query["sort_by"] === undefined ? "" : "^")
  }).join(" "))

/** What a checkpoint keeps. */
const kept = (copy: TestCopy) => {
  const { deletions, looked, spelling } = copy.checkpoint()
  return [spelling ?? "usual", deletions ?? "none", looked === undefined ? "unlooked" : "looked"].join(" ")
}

const layerOf = (copy: TestCopy, options: FakeServiceOptions) =>
  Layer.merge(app({ punches: all, ...options }).pipe(Layer.provide(RetryPolicy.layerNone)), copy.layer)

/** A first load, and the change of the data before a request of it. */
const looking = (
  title: string,
  options: FakeServiceOptions,
  expected: { readonly requests: string; readonly kept: string; readonly warns?: RegExp },
  before: Effect.Effect<void, never, FakeService> = Effect.void
) =>
  it.effect(title, () => {
    const copy = makeCopy()
    const lines: Array<string> = []
    const logger = Logger.layer([Logger.make(({ logLevel, message }) => {
      if (logLevel === "Warn") lines.push(String(message))
    })])
    return Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      yield* before
      const { complete, pages } = yield* Sync.run(company)

      assert.deepStrictEqual({ complete, pages }, { complete: true, pages: 1 })
      assert.strictEqual(yield* requests, expected.requests)
      assert.strictEqual(kept(copy), expected.kept)
      if (expected.warns === undefined) assert.deepStrictEqual(lines, [])
      else assert.match(lines.join(), expected.warns)
    }).pipe(Effect.provide(logger), Effect.provide(layerOf(copy, options)))
  })

describe("the look for deleted punches", () => {
  looking("sees them by two requests where the service is honest", {}, {
    requests: "null true null@",
    kept: "usual none looked"
  })
  looking("finds that null is read as false, and keeps the other spelling", { nulls: "false" }, {
    requests: "null true null@ true@ other@",
    kept: "include_deleted=true unswept looked",
    warns: /leaves deleted punches out of its answers to deleted=null. From now on include_deleted=true is sent/
  })
  for (const way of ["ignores", "refuses"] as const) {
    looking(`continues with two listings where null is read as false and a service ${way} the other spelling`, {
      nulls: "false",
      [way]: ["include_deleted"]
    }, {
      requests: "null true null@ true@ other@",
      kept: `${twice} unswept looked`,
      warns: /From now on deleted=false, then deleted=true is sent/
    })
  }
  looking("looks in the spelling that a load had to change to", { nulls: 422 }, {
    requests: "null other null true other@",
    kept: "include_deleted=true none looked"
  })
  looking("sees that a changed spelling is ignored", { nulls: 400, ignores: ["include_deleted"] }, {
    requests: "null other null true other@ true@ null@",
    kept: `${twice} unswept looked`,
    warns: /to include_deleted=true. From now on deleted=false, then/
  })
  looking("is unclear where deleted=true is refused", { refuses: ["deleted=true"] }, {
    requests: "null true",
    kept: "usual none looked"
  })
  looking("is unclear where deleted=true is ignored", { ignores: ["deleted"] }, {
    requests: "null true",
    kept: "usual none looked"
  })
  looking("has nothing to look for in an empty company", { punches: [] }, {
    requests: "null true",
    kept: "usual none looked"
  })
  looking(
    "is unclear where a request of it fails, and fails no pass",
    { nulls: "false" },
    { requests: "null true null@", kept: "usual none looked" },
    inject(Fault.status(503), { requests: 3 })
  )

  it.effect.each(
    [
      ["was purged", (service: FakeService["Service"]) => service.remove([deletedId])],
      ["was restored", (service: FakeService["Service"]) => service.edit([deletedId], { deleted: false })],
      [
        "was moved",
        (service: FakeService["Service"]) => service.edit([deletedId], { clocked_in: "2020-01-01T08:00:00Z" })
      ]
    ] as const
  )("is unclear where its punch %s meanwhile", ([, change]) => {
    const copy = makeCopy()
    return Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      const service = yield* FakeService
      const punches = yield* TimePunches
      const changing = {
        ...punches,
        page: (...args: Parameters<typeof punches.page>) =>
          Effect.tap(punches.page(...args), () => args[1]?.clockedIn === undefined ? change(service) : Effect.void)
      }
      yield* Effect.provideService(Sync.run(company), TimePunches, changing)

      assert.strictEqual(kept(copy), "usual none looked")
    }).pipe(Effect.provide(layerOf(copy, {})))
  })

  it.effect("is unclear where the window has more than one page and the punch is not on the first", () => {
    const copy = makeCopy()
    return Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      yield* Sync.run(company)

      assert.strictEqual(yield* requests, "null null null null null null true null@")
      assert.strictEqual(kept(copy), "usual none looked")
    }).pipe(Effect.provide(layerOf(copy, {
      // All at one instant, one a page: the deleted one is the third.
      punches: all.map((punch) =>
        Object.assign({}, punch, { clocked_in: "2026-03-02T08:00:00Z", clocked_out: null, breaks: [] })
      ),
      ignores: ["limit"],
      defaultLimit: 1
    })))
  })

  it.effect("comes once a day, with each sweep, and not with the other passes", () => {
    const copy = makeCopy()
    return Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      const looks = Effect.map(requests, (text) => text.split(" ").filter((each) => each === "true").length)
      yield* Sync.run(company)
      assert.strictEqual(yield* looks, 1)
      for (let run = 0; run < 5; run++) {
        yield* TestClock.adjust("1 hour")
        yield* Sync.run(company)
      }
      assert.strictEqual(yield* looks, 1)
      yield* Sync.sweep(company, { window: { gte: DateTime.makeUnsafe(noon) } })
      assert.strictEqual(yield* looks, 2)
      yield* TestClock.adjust("8 hours")
      yield* Sync.run(company)
      yield* Sync.run(company)
      assert.strictEqual(yield* looks, 3)
    }).pipe(Effect.provide(layerOf(copy, {})))
  })

  it.effect("counts what was deleted before as missed until a sweep without a window, which the copy then has", () => {
    const copy = makeCopy()
    return Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      const service = yield* FakeService
      yield* Sync.run(company)
      assert.strictEqual(kept(copy), "usual none looked", "nothing is deleted yet")
      yield* service.edit([deletedId], { deleted: true })
      yield* TestClock.adjust("1 hour")
      yield* Sync.run(company)
      assert.isFalse(copy.row(deletedId)?.punch.deleted, "null is read as false")
      yield* TestClock.adjust("1 day")
      yield* Sync.run(company)
      assert.strictEqual(kept(copy), "include_deleted=true unswept looked")
      yield* Sync.sweep(company, { window: { gte: DateTime.makeUnsafe(noon) } })
      assert.strictEqual(kept(copy), "include_deleted=true unswept looked", "a window is not all")
      assert.isFalse(copy.row(deletedId)?.punch.deleted)

      yield* Sync.sweep(company)
      assert.strictEqual(kept(copy), "include_deleted=true none looked")
      assert.isTrue(copy.row(deletedId)?.punch.deleted)
    }).pipe(
      Effect.provide(layerOf(copy, {
        nulls: "false",
        punches: all.map((punch) => Object.assign({}, punch, { deleted: false }))
      }))
    )
  })

  it.effect("leaves a later pass with one request, in the spelling that is kept, at a cursor too", () => {
    const copy = makeCopy()
    return Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      yield* Sync.run(company, { stopAfter: { pages: 1 } })
      assert.strictEqual(kept(copy), "include_deleted=true none unlooked")
      assert.isTrue(Option.isSome(copy.checkpoint().running))
      yield* Sync.run(company)
      assert.strictEqual(yield* requests, "null other null other other true other@")
      yield* Sync.run(company)
      assert.strictEqual(yield* requests, "null other null other other true other@ other~")
      const rows = yield* Stream.runCollect(TimePunches.list(company, { deleted: "include" }))
      assert.deepStrictEqual(copy.present().map(({ id }) => id), rows.map(({ id }) => id).toSorted((a, b) => a - b))
    }).pipe(Effect.provide(layerOf(copy, { nulls: 422, ignores: ["limit"], defaultLimit: 2 })))
  })

  it.effect.each(
    [
      ["the order", { refuses: ["sort_by"] }, "null^ other^ null", "null^ other^ null~"],
      [
        "the order and null",
        { refuses: ["sort_by"], nulls: 422 },
        "null^ other^ null other null",
        "other^ null^ other~"
      ],
      ["null", { nulls: 400 }, "null^ other^ null^", "other^~"]
    ] as const
  )("follows the attempts of a pass by ids over a service that refuses %s", ([, options, first, later]) => {
    const copy = makeCopy()
    return Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      const without = { ...(yield* TimePunches), page: () => Effect.die("no look") }
      const run = Effect.provideService(Sync.run(company, { sortById: true }), TimePunches, without)
      yield* run
      assert.strictEqual(yield* requests, first)
      yield* run
      const tried = (yield* requests).slice(first.length + 1).replaceAll("^~", "^")
      assert.strictEqual(tried.replaceAll("~", ""), later.replaceAll("~", ""))
    }).pipe(Effect.provide(layerOf(copy, options)))
  })

  it.effect.each([[refusing], [{ ...refusing, nulls: 400 }]] as const)(
    "reads two listings as one pass over a service that refuses every spelling: %o",
    ([options]) => {
      const copy = makeCopy()
      return Effect.gen(function*() {
        yield* TestClock.setTime(noon)
        const service = yield* FakeService
        const { complete, pages } = yield* Sync.run(company)
        assert.deepStrictEqual({ complete, pages }, { complete: true, pages: 2 })
        assert.strictEqual(yield* requests, "null other none true true null@")
        assert.strictEqual(kept(copy), `${twice} none looked`)
        assert.strictEqual(copy.present().length, 6)
        assert.isTrue(copy.row(deletedId)?.punch.deleted)

        yield* service.edit([deletedId], { deleted: false })
        yield* service.edit([all[0]?.id ?? 0], { deleted: true })
        yield* TestClock.adjust("1 hour")
        yield* Sync.run(company)
        assert.strictEqual((yield* requests).split(" ").slice(6).join(" "), "none~ true~")
        assert.deepStrictEqual(copy.present().filter(({ deleted }) => deleted).map(({ id }) => id), [all[0]?.id])
      }).pipe(Effect.provide(layerOf(copy, options)))
    }
  )

  it.effect("stops and continues in each of two listings, with the horizon of the first request", () => {
    const copy = makeCopy()
    return Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      const service = yield* FakeService
      const states: Array<string> = []
      for (let complete = false; !complete;) {
        ;({ complete } = yield* Sync.run(company, { stopAfter: { pages: 1 } }))
        const running = Option.getOrUndefined(copy.checkpoint().running)
        const cursor = running !== undefined && Option.isSome(running.cursor) ? "+" : ""
        states.push(`${running?.deleted ?? "done"}${cursor}`)
        // In neither listing: undeleted after the first one.
        if (states.at(-1) === "only") yield* service.edit([deletedId], { deleted: false })
        yield* TestClock.adjust("1 hour")
      }
      assert.deepStrictEqual(states, ["exclude+", "exclude+", "only", "done"])
      assert.isUndefined(copy.row(deletedId))
      assert.strictEqual(Option.getOrThrow(copy.checkpoint().watermark).epochMilliseconds, noon)

      yield* Sync.run(company)
      assert.isFalse(copy.row(deletedId)?.punch.deleted)
    }).pipe(Effect.provide(layerOf(copy, { ...refusing, ignores: ["limit"], defaultLimit: 2 })))
  })

  it.effect("marks no row that changes sides between the listings of a sweep, and again between those of its confirm", () => {
    const copy = makeCopy()
    return Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      const service = yield* FakeService
      yield* Sync.run(company)
      const before = (yield* requests).length
      const read: Array<string> = []
      const hasRow = () => copy.row(deletedId)?.isMissing === false
      for (let complete = false; !complete;) {
        yield* TestClock.adjust("1 minute")
        ;({ complete } = yield* Sync.sweep(company, { stopAfter: { pages: 1 } }))
        const running = Option.getOrUndefined(copy.checkpoint().running)
        read.push(`${running?.kind ?? "done"} ${running?.deleted ?? ""}`)
        // Deleted while the first listing is read, not while the second one is.
        yield* service.edit([deletedId], { deleted: running?.deleted === "exclude" })
        if (running?.deleted === "again") yield* service.edit([deletedId], { deleted: false })
        assert.isTrue(hasRow(), read.join())
      }
      assert.deepStrictEqual(read, ["sweep only", "confirm exclude", "confirm only", "confirm again", "done "])
      assert.strictEqual((yield* requests).slice(before + 1), "none true none~ true~ none~ true")
      assert.isFalse(copy.row(deletedId)?.punch.deleted)
    }).pipe(Effect.provide(layerOf(copy, refusing)))
  })

  it.effect("goes back to one listing once a look shows deleted punches in it", () => {
    const copy = makeCopy()
    return Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      yield* Sync.run(company).pipe(Effect.provide(app({ punches: all, ...refusing }), { local: true }))
      assert.strictEqual(kept(copy), `${twice} none looked`)
      yield* TestClock.adjust("1 day")
      yield* Sync.run(company)
      assert.strictEqual(yield* requests, "none~ true~ true null@")
      assert.strictEqual(kept(copy), "usual none unlooked")
      yield* Sync.run(company)
      assert.strictEqual(yield* requests, "none~ true~ true null@ null~ true null@")
    }).pipe(Effect.provide(layerOf(copy, {})))
  })

  it.effect.each<[string, FakeServiceOptions, string]>([
    ["refuses every listing", { ...refusing, refuses: ["include_deleted", "limit"] }, "null other none"],
    [
      "refuses every listing, and the order",
      { ...refusing, refuses: ["include_deleted", "limit"] },
      "null^ other^ null other none^ none"
    ],
    [
      "refuses deleted=true alone",
      { ...refusing, refuses: ["include_deleted", "deleted=true"] },
      "null other none true"
    ]
  ])("fails with a refusal over a service that %s", ([title, options, expected]) => {
    const copy = makeCopy()
    return Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      const error = yield* Effect.flip(Sync.run(company, { sortById: title.includes("order") }))
      assert.strictEqual(error._tag, "UnprocessableEntity")
      assert.strictEqual(yield* requests, expected)
    }).pipe(Effect.provide(layerOf(copy, options)))
  })
})
