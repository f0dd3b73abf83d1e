import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { defaultCompany, defaultOAuthClient, FakeService, Fault, generatePunches } from "../../src/testing/index.ts"
import { otherCompany } from "../../src/testing/service/options.ts"
import { untyped } from "../support/untyped.ts"
import {
  ask,
  type Envelope,
  envelopeOf,
  idsOf,
  inject,
  problemOf,
  requestPage,
  requestToken,
  textOf,
  walk
} from "./support.ts"

const punches = generatePunches({ seed: 9, count: 50, companyId: defaultCompany.id, deletedShare: 0 })

const withPunches = FakeService.layer({ punches })

const statuses = (count: number) =>
  Effect.map(Effect.replicateEffect(ask({ limit: "1" }), count), (responses) => responses.map(({ status }) => status))

describe("a fault", () => {
  it.effect("that is a function is refused by its name", () =>
    Effect.gen(function*() {
      const died = (fault: unknown) =>
        Effect.map(
          Effect.exit(inject(untyped(fault))),
          (exit) => String(Exit.isFailure(exit) ? Cause.squash(exit.cause) : exit)
        )

      assert.strictEqual(yield* died(Fault.status), "TypeError: inject: Fault.status is a function: call it")
      assert.strictEqual(yield* died(Fault.stallBody), "TypeError: inject: Fault.stallBody is a function: call it")
      assert.strictEqual(yield* died(() => Fault.reset), "TypeError: inject: the fault is a function: call it")
      assert.deepStrictEqual(yield* statuses(1), [200])
    }).pipe(Effect.provide(withPunches)))

  it.effect("affects every request until the faults are cleared", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(503))
      assert.deepStrictEqual(yield* statuses(3), [503, 503, 503])
      yield* FakeService.use((service) => service.clearFaults)
      assert.deepStrictEqual(yield* statuses(1), [200])
    }).pipe(Effect.provide(withPunches)))

  it.effect("affects the requests with its numbers, at most `times` of them", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(500), { requests: [2, 4] })
      yield* inject(Fault.status(503), { times: 1 })
      yield* inject(Fault.status(504), { requests: 6 })

      assert.deepStrictEqual(yield* statuses(7), [503, 500, 200, 500, 200, 504, 200])
    }).pipe(Effect.provide(withPunches)))

  it.effect("does not count a request that it lets through", () =>
    Effect.gen(function*() {
      yield* inject(Fault.rateLimit(1), { times: 1 })

      assert.deepStrictEqual(yield* statuses(3), [200, 429, 200])
    }).pipe(Effect.provide(withPunches)))

  it.effect("affects the requests with its cursor, or without one", () =>
    Effect.gen(function*() {
      const [first, second] = yield* walk({ limit: "20" }, "next")
      yield* inject(Fault.status(500), { cursor: first?.meta.cursor.next })
      yield* inject(Fault.status(503), { cursor: null })

      assert.strictEqual((yield* ask({ limit: "20" })).status, 503)
      assert.strictEqual((yield* ask({ limit: "20", cursor: first?.meta.cursor.next ?? "" })).status, 500)
      assert.strictEqual((yield* ask({ limit: "20", cursor: second?.meta.cursor.next ?? "" })).status, 200)
    }).pipe(Effect.provide(withPunches)))

  it.effect("affects a share of the requests, the same ones for the same seed", () =>
    Effect.gen(function*() {
      const run = Effect.gen(function*() {
        yield* inject(Fault.status(500), { probability: { chance: 0.3, seed: 11 } })
        return yield* statuses(200)
      })
      const first = yield* Effect.provide(run, FakeService.layer({ punches }))
      const second = yield* Effect.provide(run, FakeService.layer({ punches }))

      assert.deepStrictEqual(first, second)
      assert.approximately(first.filter((status) => status === 500).length, 60, 25)
    }))

  it.effect("does not affect the other endpoint", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(500))
      assert.strictEqual((yield* requestToken).status, 200)
      yield* inject(Fault.status(418), { target: "token" })
      assert.strictEqual((yield* requestToken).status, 418)
    }).pipe(Effect.provide(withPunches)))

  it.effect("does not count a request that fails anyway", () =>
    Effect.gen(function*() {
      yield* inject(Fault.invalidJson(), { times: 1 })
      assert.strictEqual((yield* ask({}, {})).status, 401)
      assert.throws(JSON.parse.bind(undefined, textOf(yield* ask({}))))
      yield* inject(Fault.emptyCursor, { times: 1 })
      assert.strictEqual((yield* ask({ limit: "0" })).status, 422)
      assert.strictEqual((yield* requestPage({ limit: "5" })).meta.cursor.next, "")
    }).pipe(Effect.provide(withPunches)))

  it.effect("happens once where its name says so", () =>
    Effect.gen(function*() {
      yield* inject(Fault.unauthorizedOnce)
      assert.deepStrictEqual(yield* statuses(3), [401, 200, 200])
    }).pipe(Effect.provide(withPunches)))
})

describe("a fault of the status", () => {
  it.effect("has a problem as its body, with changed members", () =>
    Effect.gen(function*() {
      yield* inject(
        Fault.status(503, { problem: { code: "x", detail: undefined, extra: [1] }, headers: { "retry-after": "2" } })
      )
      const response = yield* ask({})

      assert.deepInclude(response.headers, { "content-type": "application/problem+json", "retry-after": "2" })
      assert.include(textOf(response), "\"code\":\"x\",\"extra\":[1]")
      assert.deepInclude(problemOf(response), { status: 503, title: "Service Unavailable" })
      assert.notProperty(problemOf(response), "detail")
    }).pipe(Effect.provide(withPunches)))

  it.effect("may have HTML, nothing, or any text as its body, and none where the status has none", () =>
    Effect.gen(function*() {
      yield* inject(Fault.status(500, { body: "html" }), { requests: 1 })
      yield* inject(Fault.status(500, { body: "empty" }), { requests: 2 })
      yield* inject(Fault.status(400, { body: { contentType: "text/plain", text: "no" } }), { requests: 3 })
      yield* inject(Fault.status(204), { requests: 4 })

      assert.match(textOf(yield* ask({})), /^<!doctype html>/)
      assert.strictEqual(textOf(yield* ask({})), "")
      assert.strictEqual(textOf(yield* ask({})), "no")
      assert.strictEqual(textOf(yield* ask({})), "")
    }).pipe(Effect.provide(withPunches)))

  it.effect("may carry Retry-After or Location", () =>
    Effect.gen(function*() {
      yield* inject(Fault.retryAfter("99999999"), { requests: 1 })
      yield* inject(Fault.retryAfter("soon", 503), { requests: 2 })
      yield* inject(Fault.redirect(307, "http://127.0.0.1:1/"), { requests: 3 })

      assert.deepInclude((yield* ask({})).headers, { "retry-after": "99999999" })
      assert.deepInclude(yield* ask({}), { status: 503 })
      assert.deepInclude((yield* ask({})).headers, { location: "http://127.0.0.1:1/" })
    }).pipe(Effect.provide(withPunches)))

  it.effect("may repeat every secret of the request", () =>
    Effect.gen(function*() {
      yield* inject(Fault.echo(422))
      yield* inject(Fault.echo(400), { target: "token" })

      assert.include(textOf(yield* ask({})), defaultCompany.accessToken)
      assert.include(textOf(yield* requestToken), defaultOAuthClient.clientSecret)
    }).pipe(Effect.provide(withPunches)))
})

describe("a fault of the cursor", () => {
  it.effect("repeats the cursor that was sent", () =>
    Effect.gen(function*() {
      yield* inject(Fault.repeatedCursor)
      const first = yield* requestPage({ limit: "5" })
      const cursor = first.meta.cursor.next ?? ""
      const second = yield* requestPage({ limit: "5", cursor })

      assert.strictEqual(second.meta.cursor.next, cursor)
    }).pipe(Effect.provide(withPunches)))

  it.effect.each([1, 2, 3, 7, 50])("leads into a cycle of %s cursors", (length) =>
    Effect.gen(function*() {
      yield* inject(Fault.cursorCycle(length))
      const cursors: Array<string | null> = []
      let cursor: string | null = null
      for (let step = 0; step < length * 2 + 1; step++) {
        const page: Envelope = yield* requestPage(cursor === null ? { limit: "1" } : { limit: "1", cursor })
        cursor = page.meta.cursor.next
        cursors.push(cursor)
      }
      // Fifty pages of one row have forty-nine cursors, which bounds the cycle.
      const distinct = Math.min(length, 49)

      assert.strictEqual(new Set(cursors).size, distinct)
      assert.strictEqual(cursors[distinct], cursors[0])
      assert.notInclude(cursors, null)
    }).pipe(Effect.provide(withPunches)))

  it.effect("inserts empty pages and loses no row", () =>
    Effect.gen(function*() {
      yield* inject(Fault.emptyPage, { requests: [1, 2, 4, 7] })
      const pages = yield* walk({ limit: "10" }, "next")
      const cursors = pages.map((page) => page.meta.cursor.next)

      assert.deepStrictEqual(pages.map((page) => page.data.length), [0, 0, 10, 0, 10, 10, 0, 10, 10])
      assert.deepStrictEqual(pages.flatMap((page) => idsOf(page.data)), idsOf(punches))
      assert.strictEqual(new Set(cursors).size, cursors.length)
    }).pipe(Effect.provide(withPunches)))

  it.effect("gives new cursors to empty pages for ever", () =>
    Effect.gen(function*() {
      yield* inject(Fault.endlessEmptyPages)
      const cursors = new Set<string>()
      let cursor = ""
      for (let step = 0; step < 300; step++) {
        const page = yield* requestPage(cursor === "" ? { limit: "10" } : { limit: "10", cursor })
        assert.isEmpty(page.data)
        cursor = page.meta.cursor.next ?? ""
        cursors.add(cursor)
      }

      assert.strictEqual(cursors.size, 300)
    }).pipe(Effect.provide(withPunches)))

  it.effect.each(["current", "prev", "next", "count"] as const)(
    "removes the key %s",
    (key) =>
      Effect.gen(function*() {
        yield* inject(Fault.missingCursorKey(key))
        assert.notProperty((yield* requestPage({})).meta.cursor, key)
      }).pipe(Effect.provide(withPunches))
  )

  it.effect("sends a wrong count", () =>
    Effect.gen(function*() {
      yield* inject(Fault.countMismatch(3))
      assert.strictEqual((yield* requestPage({ limit: "5" })).meta.cursor.count, 8)
    }).pipe(Effect.provide(withPunches)))
})

describe("a fault of the rows", () => {
  it.effect("names another object or another company", () =>
    Effect.gen(function*() {
      yield* inject(Fault.wrongObject(), { requests: 1 })
      yield* inject(Fault.wrongCompany(otherCompany.id), { requests: 2 })

      assert.strictEqual((yield* requestPage({})).object, "shifts")
      assert.isTrue((yield* requestPage({})).data.every((punch) => punch.company_id === otherCompany.id))
    }).pipe(Effect.provide(withPunches)))

  it.effect("changes, adds and removes members of one row, also with text that no value produces", () =>
    Effect.gen(function*() {
      yield* inject(Fault.badRow(1, { id: { rawJson: "12345678901234567890" }, notes: undefined, extra: { a: null } }))
      const response = yield* ask({ limit: "3" })
      const [first, second, third] = envelopeOf(response).data

      assert.include(textOf(response), "\"id\":12345678901234567890,")
      assert.notProperty(second, "notes")
      assert.include(textOf(response), "\"extra\":{\"a\":null}")
      assert.strictEqual(second?.user_id, punches[1]?.user_id)
      assert.deepStrictEqual([first?.id, third?.id], [punches[0]?.id, punches[2]?.id])
    }).pipe(Effect.provide(withPunches)))
})
