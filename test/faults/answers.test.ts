/** Responses that are not a page of the listing: each is a typed failure, and never read as rows. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Result, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TimePunches } from "../../src/index.ts"
import { prng } from "../../src/testing/base/prng.ts"
import { defaultCompany, FakeService, Fault, generatePunches, type RowPatch } from "../../src/testing/index.ts"
import { app, client, company, inject } from "../support/client.ts"
import { scripted } from "../support/scripted.ts"
import { surfaces } from "../support/settings.ts"
import { letTimePass } from "../support/time.ts"
import { wirePage, wirePunch } from "../support/wire.ts"

const punches = generatePunches({ seed: 22, count: 50, companyId: defaultCompany.id, deletedShare: 0 })
const ids = punches.map(({ id }) => Number(id))

const json = { "content-type": "application/json" }
const page = JSON.stringify(wirePage([wirePunch()], { next: "more" }))

/** The result of a page where every response is this text, and the number of requests. */
const pageResult = Effect.fnUntraced(function*(text: string) {
  let requests = 0
  const service = scripted(() => {
    requests++
    return new Response(text, { headers: json })
  })
  const result = yield* letTimePass(Effect.result(Effect.provide(TimePunches.page(company), service)))
  return { result, requests }
})

describe("an unknown status", () => {
  const known = [200, 401, 403, 408, 422, 425, 429]
  const isRetried = (status: number) => status >= 500 && status < 600 && ![501, 505, 511].includes(status)

  it.effect("[H13] is not retried and never a page: each one from 200 to 999", () =>
    Effect.gen(function*() {
      for (let status = 200; status < 1000; status++) {
        if (known.includes(status) || isRetried(status)) continue
        let requests = 0
        const http = HttpClient.make((request) =>
          Effect.sync(() => {
            requests++
            // The constructor refuses a status from 600 on, and a body for some of the others; a socket does not.
            const response = Object.defineProperty(new Response(page, { headers: json }), "status", { value: status })
            return HttpClientResponse.fromWeb(request, response)
          })
        )
        const over = Layer.orDie(client()).pipe(Layer.provide(Layer.succeed(HttpClient.HttpClient, http)))
        const error = yield* letTimePass(Effect.flip(Effect.provide(TimePunches.page(company), over)))

        assert.deepInclude<object>(error, { _tag: "UnexpectedStatus", status, attempts: 1 })
        assert.strictEqual(requests, 1)
      }
    }))
})

describe("a text that is not JSON", () => {
  const texts = [
    page.replace("}]", "},]"),
    page.replace("{", "{,"),
    `${page}${page}`,
    `${page} x`,
    page.replace("\"count\":1", "\"count\":NaN"),
    page.replace("\"count\":1", "\"count\":Infinity"),
    page.replace("\"count\":1", "\"count\":01"),
    page.replace("\"count\":1", "\"count\":undefined"),
    page.replaceAll("\"", "'"),
    `// a page\n${page}`,
    `)]}',\n${page}`,
    `callback(${page})`,
    "undefined"
  ]

  it.effect("[J1] is refused after two retries, in any malformed form", () =>
    Effect.gen(function*() {
      for (const text of texts) {
        const { requests, result } = yield* pageResult(text)

        assert.deepInclude(Result.getOrThrow(Result.flip(result)), { _tag: "DecodeError", reason: "NotJson" }, text)
        assert.strictEqual(requests, 3, text)
      }
    }))

  it.effect("[J1] is never a page, wherever the text of a page is cut", () =>
    Effect.gen(function*() {
      for (let length = 0; length < page.length; length += 7) {
        const { result } = yield* pageResult(page.slice(0, length))

        assert.strictEqual(Result.getOrThrow(Result.flip(result))._tag, "DecodeError", `after ${length} characters`)
      }
    }))
})

/** The ids of a listing whose third page of ten has a bad third row, its error, and the number of requests. */
const withBadRow = Effect.fnUntraced(function*(patch: RowPatch) {
  yield* inject(Fault.badRow(2, patch), { requests: 3 })
  const seen: Array<number> = []
  const result = yield* letTimePass(Effect.result(
    Stream.runForEach(TimePunches.list(company, {}, { pageSize: 10 }), ({ id }) => Effect.sync(() => seen.push(id)))
  ))
  const requests = (yield* FakeService.use((service) => service.requests)).length
  return { seen, requests, error: Result.getOrUndefined(Result.flip(result)) }
})

const required = [
  "id",
  "company_id",
  "user_id",
  "role_id",
  "location_id",
  "clocked_in",
  "hourly_wage",
  "tips",
  "approved",
  "editable_punch",
  "notes",
  "auto_clocked_out",
  "clocked_in_offline",
  "clocked_out_offline"
]

describe("a row without a required field", () => {
  it.effect.each(required)(
    "[J8] fails its page and is named: %s missing or null",
    (key) =>
      Effect.forEach([undefined, null], (value) =>
        Effect.gen(function*() {
          const { requests, error, seen } = yield* withBadRow({ [key]: value })

          assert.deepInclude(error, { _tag: "DecodeError", reason: "Schema", path: `data[2].${key}`, attempts: 1 })
          assert.deepInclude<object>(error ?? {}, { punchId: key === "id" ? Option.none() : Option.some(ids[22]) })
          assert.deepStrictEqual(seen, ids.slice(0, 20))
          assert.strictEqual(requests, 3)
          const rest = yield* Stream.runCollect(
            TimePunches.list(company, {}, { pageSize: 10, cursor: error?.resumeFrom })
          )
          assert.deepStrictEqual([...seen, ...rest.map(({ id }) => Number(id))], ids)
        }).pipe(Effect.provide(app({ punches }))), { discard: true })
  )
})

describe("a number below zero", () => {
  it.effect.each(["id", "user_id", "role_id", "location_id", "shift_id", "department_id", "hourly_wage"])(
    "[J7] is refused as %s",
    (key) =>
      Effect.gen(function*() {
        const { error, seen } = yield* withBadRow({ [key]: -1 })

        assert.deepInclude(error, { _tag: "DecodeError", path: `data[2].${key}` })
        assert.deepStrictEqual(seen, ids.slice(0, 20))
      }).pipe(Effect.provide(app({ punches })))
  )

  it.effect("[J7] is accepted as tips, and zero as no department", () =>
    Effect.gen(function*() {
      yield* inject(Fault.badRow(0, { tips: -500, department_id: 0, hourly_wage: 0 }))
      const [punch] = (yield* TimePunches.page(company)).items

      assert.strictEqual(Number(punch?.tips), -500)
      assert.strictEqual(Number(punch?.hourlyWage), 0)
      assert.deepStrictEqual(punch?.departmentId, Option.none())
    }).pipe(Effect.provide(app({ punches }))))
})

describe("an error about a row", () => {
  it.effect("[S7] has the path and the expectation, never the value", () =>
    Effect.gen(function*() {
      const chance = prng(7)
      const secret = () => `Cnry${chance.between(1e9, 9e9)}`
      const spoilt = [...required, "clocked_out", "breaks", "shift_id", "pos_type", "created", "modified", "deleted"]
      for (const key of spoilt) {
        const text = secret()
        const values = [text, [text], { [key]: text }, [{ id: text, in: text }]]
        for (
          const value of values.filter((value) => typeof value !== "string" || !["notes", "pos_type"].includes(key))
        ) {
          yield* Effect.gen(function*() {
            const { error } = yield* withBadRow({ [key]: value })
            yield* FakeService.use((service) => service.clearFaults)
            yield* inject(Fault.badRow(2, { [key]: value }))
            const rows = yield* Stream.runCollect(TimePunches.listResults(company))
            const [invalid] = rows.flatMap((row) => Result.isFailure(row) ? [row.failure] : [])

            for (const failure of [error, invalid]) {
              assert.isDefined(failure, key)
              assert.include(surfaces(failure), key)
              assert.notInclude(surfaces(failure), text)
            }
          }).pipe(Effect.provide(app({ punches })))
        }
      }
    }))
})
