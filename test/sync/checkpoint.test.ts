/** The checkpoint as text, its refusals, and the options: what is wrong is said before anything is sent. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Layer, Option, Result, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Cursor } from "../../src/index.ts"
import { checkpointText, missedDeletions, readCheckpoint } from "../../src/sync/Checkpoint.ts"
import { Checkpoint, Sync, SyncError, type SyncOptions, SyncStore } from "../../src/sync/index.ts"
import { Fault } from "../../src/testing/index.ts"
import { company, inject, pageRequests, stranger } from "../support/client.ts"
import { assertEqual, itWithCopy, loaded, makeCopy, noon, over, punches, seeded, watermarkOf } from "./support.ts"

const at = Option.some(DateTime.makeUnsafe(noon))

const running: Checkpoint = {
  v: 1,
  companyId: company.id,
  pass: noon,
  watermark: at,
  at,
  completedAt: Option.none(),
  writer: "w",
  running: Option.some({
    kind: "confirm",
    pass: noon,
    since: at,
    horizon: Option.none(),
    at,
    latest: at,
    cursor: Option.some(Cursor.make("next")),
    cycleGuard: Option.some(Cursor.make("mark")),
    pages: 3,
    restarts: 1,
    window: Option.some({ gte: DateTime.makeUnsafe(noon) }),
    before: Option.some(7),
    sorted: true
  })
}

const text = checkpointText(running)

const newer: ReadonlyArray<readonly [string, string]> = [
  ["[Y15] of a later version", text.replace(`"v":1`, `"v":2`)],
  ["[Y15] with a key that is not known", text.replace(/\}$/, `,"later":"x"}`)],
  ["[Y15] with such a key in its pass", text.replace(`"sorted":true`, `"sorted":true,"later":"x"`)],
  ["[Y15] with such a key in its window", text.replace(`"window":{`, `"window":{"later":1,`)]
]

describe("Checkpoint.Json", () => {
  it("is one line of JSON with its keys in order, the version first, and reads back equal", () => {
    assert.strictEqual(
      text,
      `{"v":1,"company":${company.id},"pass":${noon},"watermark":"2026-04-05T12:00:00Z","at":"2026-04-05T12:00:00Z",` +
        `"completedAt":null,"writer":"w","running":{"kind":"confirm","pass":${noon},"since":"2026-04-05T12:00:00Z",` +
        `"horizon":null,"at":"2026-04-05T12:00:00Z","latest":"2026-04-05T12:00:00Z","cursor":"next","cycleGuard":"mark",` +
        `"pages":3,"restarts":1,"window":{"gte":"2026-04-05T12:00:00Z"},"before":7,"sorted":true}}`
    )
    assert.deepStrictEqual(Schema.decodeSync(Checkpoint.Json)(text), running)
    assert.strictEqual(Schema.encodeSync(Checkpoint.Json)(Schema.decodeSync(Checkpoint.Json)(text)), text)
  })

  it.prop("is what the codec writes, for any checkpoint, and is refused where the codec refuses it", [Checkpoint], (
    [checkpoint]
  ) => {
    const own = Result.try(() => checkpointText(checkpoint))
    const codec = Result.try(() => Schema.encodeSync(Checkpoint.Json)(checkpoint))

    assert.strictEqual(Option.getOrNull(Result.getSuccess(own)), Option.getOrNull(Result.getSuccess(codec)))
  })

  it.each<[string, string, string]>([
    ["[Y14] empty", "", "the text is not JSON"],
    ["[Y14] cut", text.slice(0, 40), "the text is not JSON"],
    ["[Y14] of another kind", "[]", "Expected"],
    ["[Y14] without a version", text.replace(`"v":1,`, ""), "v: "],
    ["[Y14] with a version that is no number", text.replace(`"v":1`, `"v":"1"`), "v: "],
    ["[Y14] written otherwise, by hand", text.replace(`"v":1,`, `"v":1, `), "its text was edited"],
    ["[Y15] of an earlier version", text.replace(`"v":1`, `"v":0`), "it has version 0; this release reads version 1"],
    ["[Y14] with a pass that is no count", text.replace(`"pass":${noon}`, `"pass":-1`), "pass: "],
    ["[Y13] of another company", text.replace(`:${company.id},`, `:${stranger.id},`), `it is of company ${stranger.id}`]
  ])("is refused by name: %s", (_, broken, why) => {
    const { detail, reason } = Option.getOrThrow(Result.getFailure(readCheckpoint(broken, company.id)))

    assert.strictEqual(reason, "Checkpoint")
    assert.isTrue(detail.startsWith(why), detail)
  })

  it.each(newer)("says that a newer release wrote it: %s", (_, written) => {
    const { detail, reason } = Option.getOrThrow(Result.getFailure(readCheckpoint(written, company.id)))

    assert.strictEqual(reason, "NewerCheckpoint")
    assert.match(detail, /^it was written by a newer release: it has /)
    assert.notInclude(detail, "later")
  })

  const unreadable: ReadonlyArray<readonly [string, string]> = [
    ["[Y14] empty", ""],
    ["[Y14] cut", text.slice(0, 40)],
    ...newer,
    ["[Y13] of another company", text.replace(`:${company.id},`, `:${stranger.id},`)]
  ]

  it.effect.each(unreadable)(
    "of a store that cannot be read fails the call, and is never a silent first load: %s",
    ([, broken]) => {
      const copy = makeCopy()
      copy.replaceText(broken)
      return Effect.gen(function*() {
        const errors = yield* Effect.all([
          Effect.flip(Sync.run(company)),
          Effect.flip(Sync.sweep(company)),
          Effect.flip(Sync.run(company, { claim: true }))
        ])

        for (const error of errors) {
          assert.instanceOf(error, SyncError)
          const reason = newer.some(([, written]) => written === broken) ? "NewerCheckpoint" : "Checkpoint"
          assert.deepStrictEqual([error.reason._tag, error.companyId], [reason, company.id])
        }
        assert.isEmpty(yield* pageRequests)
      }).pipe(Effect.provide(over(copy)))
    }
  )

  it.effect("[Y13] of another company is refused before anything is sent, also by a store that has no such rule", () => {
    const copy = makeCopy()
    const foreign = { ...running, companyId: stranger.id }
    const store = Layer.succeed(SyncStore, { ...copy.store, load: () => Effect.succeedSome(foreign) })
    return Effect.gen(function*() {
      const errors = yield* Effect.all([
        Effect.flip(Effect.provide(Sync.run(company), store)),
        Effect.flip(Stream.runDrain(Sync.batches(company, Option.some(foreign)))),
        Effect.flip(Stream.runDrain(Sync.sweepBatches(company, foreign)))
      ])

      assert.deepStrictEqual(
        errors.map((error) => error._tag === "SyncError" && error.reason._tag),
        Array(3).fill("Checkpoint")
      )
      assert.isEmpty(yield* pageRequests)
    }).pipe(Effect.provide(over(copy)))
  })
})

describe("missedDeletions", () => {
  it.each(
    [
      [undefined, undefined],
      ["hidden", /the copy may have punches that were deleted: the service leaves deleted ones out/],
      ["unswept", /the copy may have punches that were deleted: .*Run a sweep without a window/]
    ] as const
  )("says what a reader must know: %s", (deletions, said) => {
    const told = missedDeletions({ deletions })

    if (said === undefined) assert.isUndefined(told)
    else assert.match(told ?? "", said)
  })
})

describe("a copy", () => {
  itWithCopy(
    "[Y16] whose checkpoint was lost is loaded again, with a higher number, and no row is refused",
    (copy) =>
      Effect.gen(function*() {
        const service = yield* loaded
        const { pass } = copy.checkpoint()
        copy.replace(undefined)
        yield* service.edit(punches.map(({ id }) => id), { notes: "edited" })
        yield* TestClock.adjust("1 second")
        const summary = yield* Sync.run(company)

        assert.include(summary, { kind: "first", complete: true, written: 450 })
        assert.isAbove(copy.checkpoint().pass, pass)
        yield* assertEqual(copy)
      })
  )

  itWithCopy("[Y17] whose checkpoint was put back reads more, and loses nothing", (copy) =>
    Effect.gen(function*() {
      const service = yield* loaded
      const older = copy.checkpoint()
      for (const { id } of punches.slice(0, 3)) {
        yield* TestClock.adjust("1 hour")
        yield* service.edit([id], { notes: `edited ${id}` })
        yield* Sync.run(company)
      }
      copy.replace(older)

      assert.include(yield* Sync.run(company), { kind: "increment", punches: 3, written: 0, unchanged: 3 })
      assert.strictEqual(watermarkOf(copy), noon + 3 * 3_600_000)
      yield* assertEqual(copy)
    }))
})

describe("an option of a sync", () => {
  const instants = { gte: DateTime.makeUnsafe(noon), lt: DateTime.makeUnsafe(noon) }
  const refused: ReadonlyArray<readonly [string, SyncOptions]> = [
    ["[Y64] overlap", { overlap: "59 seconds" }],
    ["[Y64] overlap", { overlap: 0 }],
    ["[Y64] overlap", { overlap: -900_000 }],
    ["[Y64] overlap", { overlap: Number.NaN }],
    ["[Y64] overlap", { overlap: Duration.infinity }],
    ["prefetchPages", { prefetchPages: -1 }],
    ["prefetchPages", { prefetchPages: 1.5 }],
    ["prefetchPages", { prefetchPages: 101 }],
    ["stopAfter.pages", { stopAfter: { pages: 0 } }],
    ["stopAfter.duration", { stopAfter: { duration: 0 } }],
    ["stopAfter.page", JSON.parse(`{ "stopAfter": { "page": 1 } }`)],
    ["stopAfter", JSON.parse(`{ "stopAfter": null }`)],
    ["options", JSON.parse("null")]
  ]

  it.effect.each(refused)("is refused before anything is sent or loaded: %s %j", ([name, options]) => {
    const copy = makeCopy()
    copy.replaceText("not read")
    const field = name.replace(/^\[\w+\] /, "")
    return Effect.gen(function*() {
      const errors = yield* Effect.all([
        Effect.flip(Sync.run(company, options)),
        Effect.flip(Sync.sweep(company, options)),
        Effect.flip(Stream.runDrain(Sync.batches(company, Option.none(), options)))
      ])

      for (const error of errors)
        assert.deepInclude({ ...error }, { _tag: "InvalidRequest", field, companyId: company.id })
      assert.isEmpty(yield* pageRequests)
    }).pipe(Effect.provide(over(copy)))
  })

  itWithCopy("is refused in a window that is empty", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Sync.sweep(company, { window: instants }))

      assert.deepInclude({ ...error }, { _tag: "InvalidRequest", field: "window.lt" })
      assert.isEmpty(yield* pageRequests)
    }))

  itWithCopy("is refused in a window that has another end, or is none", () =>
    Effect.gen(function*() {
      const errors = [
        yield* Effect.flip(Sync.sweep(company, JSON.parse(`{ "window": { "lte": "2026-03-01" } }`))),
        yield* Effect.flip(Sync.sweep(company, JSON.parse(`{ "window": null }`)))
      ]

      assert.deepStrictEqual(
        errors.map((error) => error._tag === "InvalidRequest" && error.field),
        ["window.lte", "window"]
      )
      assert.isEmpty(yield* pageRequests)
    }))

  itWithCopy("may be an overlap of a minute", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      yield* Sync.run(company, { overlap: "1 minute" })
      yield* Sync.run(company, { overlap: "1 minute" })

      assert.strictEqual((yield* pageRequests).at(-1)?.query["modified_since"], "2026-04-05T11:59:00Z")
    }))
})

describe("a failure of a sync", () => {
  itWithCopy("[Y68] shows no cursor, in none of its texts", () =>
    Effect.gen(function*() {
      yield* seeded
      yield* inject(Fault.status(422, { problem: { param: "cursor" } }), { requests: [2, 4, 6, 8] })
      const error = yield* Effect.flip(Sync.run(company))
      const cursors = (yield* pageRequests).flatMap(({ query }) => query["cursor"] ?? [])

      assert.lengthOf(cursors, 4)
      assert.instanceOf(error, SyncError)
      for (const shown of [String(error), error.message, error.stack ?? "", JSON.stringify(error)]) {
        for (const cursor of cursors) assert.notInclude(shown, cursor)
      }
    }))
})
