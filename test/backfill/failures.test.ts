import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schema, Stream } from "effect"
import { filterOf, toText } from "../../src/backfill/request.ts"
import { BackfillError, type BackfillFilter, CompanyId, Cursor, type ListError, TimePunches } from "../../src/index.ts"
import { prng } from "../../src/testing/base/prng.ts"
import { defaultCompany, FakeService, Fault, generatePunches, toWire } from "../../src/testing/index.ts"
import { app, company, inject, pageRequests } from "../support/client.ts"
import { expected } from "../support/oracle.ts"
import { says, scripted } from "../support/scripted.ts"
import { letTimePass } from "../support/time.ts"
import { untyped } from "../support/untyped.ts"
import { wirePage } from "../support/wire.ts"
import { at, byId, drawOptions, gte, held, jostled, lt, runBackfill, spring, stored, whole } from "./support.ts"

const punches = generatePunches({ seed: 8, count: 1200, companyId: defaultCompany.id, deletedShare: 0 })

/** Every fault that a retry does not resolve, and the error that it becomes. */
const faults: ReadonlyArray<readonly [name: string, Fault, tag: ListError["_tag"]]> = [
  ["401", Fault.status(401), "Unauthorized"],
  ["403", Fault.status(403), "Forbidden"],
  ["422", Fault.status(422), "UnprocessableEntity"],
  ["429", Fault.retryAfter("86400"), "RateLimited"],
  ["500", Fault.status(500), "ServerError"],
  ["503", Fault.status(503), "ServiceUnavailable"],
  ["404", Fault.status(404), "UnexpectedStatus"],
  ["a redirect", Fault.redirect(302, "https://elsewhere.test/"), "UnexpectedStatus"],
  ["a reset", Fault.reset, "TransportError"],
  ["a cut body", Fault.cutBody(0.5), "TransportError"],
  ["a body too large", Fault.oversizedBody(9 * 1024 * 1024), "TransportError"],
  ["HTML", Fault.html200, "DecodeError"],
  ["no body", Fault.emptyBody, "DecodeError"],
  ["broken JSON", Fault.invalidJson(), "DecodeError"],
  ["a bad row", Fault.badRow(0, { clocked_in: "soon" }), "DecodeError"],
  ["another company's row", Fault.wrongCompany(), "DecodeError"],
  ["no next cursor", Fault.missingCursorKey("next"), "DecodeError"],
  ["another object", Fault.wrongObject(), "PaginationError"],
  ["another count", Fault.countMismatch(), "PaginationError"],
  ["a repeated cursor", Fault.repeatedCursor, "PaginationError"],
  ["pages without end or row", Fault.endlessEmptyPages, "PaginationError"]
]

describe("a backfill that fails", () => {
  it.effect.each(faults)(
    "reports %s, and is resumed to the last row",
    ([, fault, tag]) =>
      Effect.forEach(["asCompleted", "byTime"] as const, (order) =>
        Effect.gen(function*() {
          const service = yield* FakeService
          yield* service.inject(fault, { requests: Array.from({ length: 1000 }, (_, index) => 20 + index) })
          const first = yield* runBackfill(spring, { concurrency: 6, pageSize: 20, order })
          yield* service.clearFaults
          const second = yield* runBackfill(spring, {
            concurrency: 3,
            pageSize: 20,
            segments: first.error?.unfinished ?? []
          })

          assert.instanceOf(first.error, BackfillError)
          assert.strictEqual(first.error?.cause._tag, tag)
          assert.strictEqual(first.error?.cause.companyId, company.id)
          assert.include(first.error?.message, first.error?.cause.message ?? "no message")
          assert.isNotEmpty(first.emitted)
          assert.deepStrictEqual(byId([...first.emitted, ...second.emitted]), expected(punches, spring))
        }).pipe(Effect.provide(jostled(prng(1), { punches }))), { discard: true })
  )

  it.effect.each(faults.slice(0, 16))(
    "reports %s in its survey, with the whole range unfinished",
    ([, fault, tag]) =>
      Effect.gen(function*() {
        yield* inject(fault)
        const { emitted, error } = yield* runBackfill(spring, { concurrency: 4, pageSize: 20 })

        assert.strictEqual(error?.cause._tag, tag)
        assert.deepStrictEqual(error?.unfinished.map((text) => held(text)), [whole])
        assert.isEmpty(emitted)
      }).pipe(Effect.provide(jostled(prng(2), { punches })))
  )

  it.effect("returns the segments of resume unchanged if its survey fails", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(422), { requests: 30 })
      const first = yield* runBackfill(spring, { concurrency: 4, pageSize: 20 })
      yield* inject(Fault.status(403))
      const resume = first.error?.unfinished ?? []
      const second = yield* runBackfill(spring, { concurrency: 4, pageSize: 20, segments: resume })

      assert.isAbove(resume.length, 1)
      assert.deepStrictEqual(second.error?.unfinished, resume)
    }).pipe(Effect.provide(jostled(prng(3), { punches }))))

  it.effect("fails with one error, however many requests fail at once", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(403), { requests: Array.from({ length: 100 }, (_, index) => 9 + index) })
      const stream = TimePunches.backfill(company, spring, { concurrency: 8, pageSize: 20 })
      const cause = yield* Effect.flip(Effect.sandbox(letTimePass(Stream.runDrain(stream))))

      assert.lengthOf(cause.reasons, 1)
    }).pipe(Effect.provide(app({ punches, latency: "50 millis" }))))

  it.effect("fails with an error that has a JSON form", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(422), { requests: 30 })
      const { error } = yield* runBackfill(spring, { concurrency: 4, pageSize: 20 })
      const codec = Schema.fromJsonString(Schema.toCodecJson(BackfillError))
      const read = yield* Schema.decodeEffect(codec)(
        yield* Schema.encodeEffect(codec)(error ?? assert.fail("no error"))
      )

      assert.deepStrictEqual(read.unfinished, error?.unfinished)
      assert.strictEqual(read.message, error?.message)
    }).pipe(Effect.provide(jostled(prng(4), { punches }))))
})

describe("a backfill of a faulty service", () => {
  it.effect("emits every punch once over faults that a retry resolves", () =>
    Effect.forEach(Array.from({ length: 10 }, (_, index) => index + 1), (seed) => {
      const chance = prng(seed)
      return Effect.gen(function*() {
        const transient = [Fault.status(503), Fault.reset, Fault.cutBody(0.6), Fault.stallBody(0.3), Fault.emptyPage]
        for (const [index, fault] of transient.entries()) {
          yield* inject(fault, { probability: { chance: 0.02, seed: seed * 10 + index } })
        }
        const { emitted, error } = yield* letTimePass(runBackfill(spring, { ...drawOptions(chance), pageSize: 20 }))

        assert.isUndefined(error)
        assert.deepStrictEqual(byId(emitted), expected(punches, spring))
      }).pipe(Effect.provide(app({ punches, latency: "50 millis" })))
    }, { discard: true }))

  it.effect("emits every punch once from a service whose rows are ordered only up to an instant", () =>
    Effect.gen(function*() {
      const times = new Map(punches.map((punch) => [punch.id, Date.parse(punch.clocked_in)]))
      const timeOf = ({ id }: { readonly id: number }) => times.get(id) ?? 0
      const turn = Date.parse("2026-03-20T00:00:00Z")
      const requests: Array<string> = []
      const service = scripted(({ cursor, url }) => {
        requests.push(url.search)
        const bound = (name: string) => Date.parse(url.searchParams.get(`clocked_in[${name}]`) ?? "")
        const matched = punches.filter((row) => timeOf(row) >= bound("gte") && timeOf(row) <= bound("lte"))
        const rising = matched.toSorted((a, b) => timeOf(a) - timeOf(b))
        const kept = rising.filter((row) => timeOf(row) < turn)
        const rows = url.searchParams.get("sort_by") === "clocked_in.desc"
          ? rising.toReversed()
          : [...kept, ...matched.filter((row) => timeOf(row) >= turn)]
        const [from, size] = [Number(cursor ?? 0), Number(url.searchParams.get("limit"))]
        const next = from + size < rows.length ? `${from + size}` : null
        return says(wirePage(rows.slice(from, from + size).map(toWire), { next }))
      })
      for (const order of ["asCompleted", "byTime"] as const) {
        const { emitted } = yield* Effect.provide(
          runBackfill(spring, { concurrency: 4, pageSize: 20, order }),
          service
        )

        assert.deepStrictEqual(byId(emitted), expected(punches, spring))
      }
      // The survey of both ends, of which the first is a window too, and three more windows.
      assert.isAtLeast(new Set(requests.map((search) => search.split("&cursor")[0])).size, 5, "the range was split")
    }))
})

describe("an invalid backfill", () => {
  const run = (filter: unknown, options: unknown) =>
    runBackfill(untyped(filter), untyped(options)).pipe(
      Effect.map(({ error }) => error ?? assert.fail("it succeeded")),
      Effect.tap(() => Effect.map(pageRequests, (requests) => assert.isEmpty(requests))),
      Effect.provide(app({ punches }))
    )

  const resumed = (options: object | null | undefined) =>
    options && "segments" in options && Array.isArray(options.segments) ? options.segments.length : 0

  const part = { ...whole, until: at("2026-03-01T00:00:00Z"), cursor: Option.some(Cursor.make("c")) }
  const rest = { ...whole, gte: at("2026-03-01T00:00:00Z") }

  it.effect.each<[string, unknown, object | null | undefined, string]>([
    ["no workers", spring, { concurrency: 0 }, "concurrency"],
    ["half a worker", spring, { concurrency: 1.5 }, "concurrency"],
    ["65 workers", spring, { concurrency: 65 }, "concurrency"],
    ["no number of workers", spring, {}, "concurrency"],
    ["no options", spring, undefined, "concurrency"],
    ["null for options", spring, null, "concurrency"],
    ["an unknown order", spring, { concurrency: 2, order: "backwards" }, "order"],
    ["a page too large", spring, { concurrency: 2, pageSize: 201 }, "pageSize"],
    ["a sort order", { ...spring, sortBy: [["id", "asc"]] }, { concurrency: 2 }, "sortBy"],
    ["local time", { clockedIn: { gte, lte: lt }, localizeSearchTime: true }, { concurrency: 2 }, "localizeSearchTime"],
    ["another window", { ...spring, clockedOut: { lte: lt } }, { concurrency: 2 }, "clockedOut"],
    ["business dates", { ...spring, businessDate: { first: "2026-03-01" } }, { concurrency: 2 }, "businessDate"],
    ["a filter that does not exist", { ...spring, locationID: 1 }, { concurrency: 2 }, "locationID"],
    ["both ends at once", { clockedIn: { gte, lt, lte: lt } }, { concurrency: 2 }, "clockedIn"],
    ["an end before its start", { clockedIn: { gte: lt, lte: gte } }, { concurrency: 2 }, "clockedIn"],
    [
      "a part outside the range",
      { clockedIn: { gte, lt: rest.gte } },
      { concurrency: 2, segments: [stored(rest)] },
      "segments"
    ],
    [
      "an end beyond the range",
      spring,
      { concurrency: 2, segments: [stored({ ...rest, inclusive: true })] },
      "segments"
    ],
    ["parts that overlap", spring, { concurrency: 2, segments: [stored(whole), stored(rest)] }, "segments"],
    [
      "parts that share an instant",
      spring,
      { concurrency: 2, segments: [stored({ ...part, inclusive: true }), stored(rest)] },
      "segments"
    ],
    [
      "a part that ends before it starts",
      spring,
      { concurrency: 2, segments: [stored({ ...rest, until: gte })] },
      "segments"
    ]
  ])(
    "is refused with %s, with nothing sent and everything unfinished",
    ([, filter, options, field]) =>
      Effect.gen(function*() {
        const { cause, unfinished } = yield* run(filter, options)

        assert.deepInclude(cause, { _tag: "InvalidRequest", companyId: company.id, field })
        assert.strictEqual(unfinished.length, field === "segments" ? resumed(options) : 1)
      })
  )

  it.effect.each([
    ["no filter", undefined],
    ["null for a filter", null],
    ["no range", {}],
    ["null for a range", { clockedIn: null }],
    ["no start", { clockedIn: { lte: lt } }],
    ["no end", { clockedIn: { gte } }],
    ["texts for instants", { clockedIn: { gte: "2026-02-01", lte: "2026-05-01" } }]
  ])("is refused with %s", ([, filter]) =>
    Effect.gen(function*() {
      const { cause, unfinished } = yield* run(filter, { concurrency: 2 })

      assert.strictEqual(cause._tag, "InvalidRequest")
      assert.isEmpty(unfinished)
    }))

  it.effect.each([
    ["a text", "all"],
    ["parts of another kind", [{ gte: 1, until: 2 }]],
    ["null", [null]],
    ["text that is none", ["{}", "", "4021"]]
  ])("is refused with %s for segments, without a defect", ([, segments]) =>
    Effect.gen(function*() {
      const { cause, unfinished } = yield* run(spring, { concurrency: 2, segments })

      assert.deepInclude(cause, { _tag: "InvalidRequest", field: "segments" })
      assert.deepStrictEqual(unfinished, [stored(whole)], "nothing is lost")
    }))

  it.effect.each<[string, (text: string) => string]>([
    ["a later beginning", (text) => text.replace("2026-02-01", "2026-02-02")],
    ["an earlier end", (text) => text.replace("2026-05-01", "2026-04-30")],
    ["a key of another release", (text) => text.replace(/}$/, ",\"skipped\":true}")],
    ["another form", (text) => JSON.stringify(JSON.parse(text), undefined, 1)]
  ])("is refused with a segment that was edited: %s", ([, edit]) =>
    Effect.gen(function*() {
      const text = edit(stored(whole))
      const { cause, unfinished } = yield* run(spring, { concurrency: 2, segments: [text] })

      assert.notStrictEqual(text, stored(whole))
      assert.deepInclude(cause, { _tag: "InvalidRequest", field: "segments" })
      assert.deepStrictEqual(unfinished, [untyped(text)], "nothing is lost")
    }))

  it.effect.each<[string, BackfillFilter]>([
    ["other criteria", { ...spring, approved: true }],
    ["a range that ends later", { clockedIn: { gte, lt: at("2026-05-02T00:00:00Z") } }],
    ["deleted punches", { ...spring, deleted: "include" }]
  ])("is refused with the segments of a filter of %s", ([, filter]) =>
    Effect.gen(function*() {
      const { cause, unfinished } = yield* run(spring, { concurrency: 2, segments: [stored(whole, filter)] })

      assert.deepInclude(cause, { _tag: "InvalidRequest", field: "segments" })
      assert.deepStrictEqual(unfinished, [stored(whole, filter)], "nothing is lost")
    }))

  it.effect("is refused with the segments of another company", () =>
    Effect.gen(function*() {
      const of = (id: number) => toText(filterOf(CompanyId.make(id), spring), whole)
      const { cause } = yield* run(spring, { concurrency: 2, segments: [of(company.id + 1)] })

      assert.deepInclude(cause, { _tag: "InvalidRequest", field: "segments" })
      assert.strictEqual(of(company.id), stored(whole))
    }))

  it.effect("resumes segments that touch, and reads nothing if none is unfinished", () =>
    Effect.gen(function*() {
      const nothing = yield* runBackfill(spring, { concurrency: 2, segments: [] })
      const requests = yield* pageRequests
      const touching = yield* runBackfill(spring, {
        concurrency: 2,
        segments: [stored({ ...part, cursor: Option.none() }), stored(rest)]
      })

      assert.isEmpty(requests)
      assert.deepStrictEqual(byId(touching.emitted), expected(punches, spring))
      assert.deepStrictEqual(nothing, { emitted: [], error: undefined })
    }).pipe(Effect.provide(app({ punches }))))

  it.effect("is refused for an invalid company", () =>
    Effect.gen(function*() {
      const stream = TimePunches.backfill(untyped({ id: CompanyId.make(1), guid: "no" }), spring, { concurrency: 2 })
      const { cause } = yield* Effect.flip(Stream.runDrain(stream))

      assert.strictEqual(cause._tag, "InvalidRequest")
    }).pipe(Effect.provide(app({ punches }))))
})
