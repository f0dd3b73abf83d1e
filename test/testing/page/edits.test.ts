import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { defaultCompany, FakeService, generateWeeks } from "../../../src/testing/index.ts"
import { editPunch } from "../../../src/testing/page/edits.ts"

const punches = generateWeeks({ companyId: defaultCompany.id, people: 3, weeks: 1, problems: 0 })
const first = punches.find(({ deleted }) => deleted === false)?.id ?? 0
const [added] = generateWeeks({ companyId: defaultCompany.id, people: 1, count: 1, firstId: 8999 })

const sandbox = Layer.effect(
  FakeService,
  Effect.gen(function*() {
    const service = yield* FakeService
    yield* service.seed(punches)
    return service
  })
).pipe(Layer.provide(FakeService.layer()))

/** The status of an edit, and the reason of a refusal. */
const patch = (id: number | string, body: string) =>
  Effect.map(
    FakeService.use(({ edit }) => editPunch(edit, `${id}`, body)),
    ({ reason = "", status }) => [status, reason] as const
  )

/** The rows of a listing, with these parameters. */
const listed = (query = "") =>
  Effect.map(
    FakeService.use(({ respond }) =>
      respond({
        method: "GET",
        url: `/v2/company/${defaultCompany.id}/time_punches?limit=200${query}`,
        headers: { authorization: `Bearer ${defaultCompany.accessToken}` },
        body: ""
      })
    ),
    ({ body }): ReadonlyArray<Record<string, unknown>> => JSON.parse(String(body)).data
  )

const rowOf = (id: number) => Effect.map(listed(), (rows) => rows.find((row) => row["id"] === id))

describe("an edit of the sandbox", () => {
  it.effect("gives a punch new values and stamps it, and no other punch", () =>
    Effect.gen(function*() {
      const before = yield* listed()
      const edit = {
        clocked_out: "2026-03-02T23:00:00Z",
        approved: false,
        auto_clocked_out: true,
        hourly_wage: 1700,
        notes: "corrected"
      }
      const answer = yield* patch(first, JSON.stringify(edit))
      const after = yield* listed()
      const [old, edited] = [before, after].map((rows) => rows.find((row) => row["id"] === first))

      assert.deepStrictEqual(answer, [204, ""])
      assert.deepStrictEqual(edited, { ...old, ...edit, modified: "1970-01-01T00:00:00+00:00" })
      assert.deepStrictEqual(
        after.map((row) => row["id"] === first ? {} : row),
        before.map((row) => row["id"] === first ? {} : row)
      )
    }).pipe(Effect.provide(sandbox)))

  it.effect("opens, deletes and restores a punch, and settles a dispute", () =>
    Effect.gen(function*() {
      const disputed = listed("&employee_approval_statuses=disputed")
      yield* patch(first, `{"clocked_out":null,"employee_approval_status":"disputed"}`)
      const [open, inDispute] = [yield* rowOf(first), yield* disputed]
      yield* patch(first, `{"deleted":true,"employee_approval_status":"approved"}`)
      const [deleted, settled] = [yield* rowOf(first), yield* disputed]
      yield* patch(first, `{"deleted":false}`)

      assert.strictEqual(open?.["clocked_out"], null)
      assert.deepStrictEqual(inDispute.map((row) => row["id"]), [first])
      assert.deepStrictEqual([deleted, settled], [undefined, []])
      assert.strictEqual((yield* rowOf(first))?.["deleted"], false)
    }).pipe(Effect.provide(sandbox)))

  it.effect("reaches a punch that was added while the sandbox runs", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const early = yield* patch(9000, `{"tips":5}`)
      yield* service.add(added === undefined ? [] : [added])
      const late = yield* patch(9000, `{"tips":5}`)

      assert.deepStrictEqual([early[0], late[0]], [404, 204])
      assert.strictEqual((yield* rowOf(9000))?.["tips"], 5)
    }).pipe(Effect.provide(sandbox)))

  it.effect.each(
    [
      [999, "{}", 404, /^There is no punch 999\.$/],
      ["x", "{}", 404, /^There is no punch x\.$/],
      ["1e3", "{}", 404, /^There is no punch 1e3\.$/],
      [first, "{", 422, /JSON/],
      [first, "[]", 422, /object/i],
      [
        first,
        `{"wage":5}`,
        422,
        /^"wage" cannot be edited: the fields are clocked_in, clocked_out, approved, auto_clocked_out, employee_approval_status, hourly_wage, tips, notes, deleted\.$/
      ],
      [first, `{"notes":"x","\\u001b[2J":1}`, 422, /^"\\u001b\[2J" cannot be edited: the fields are clocked_in, /],
      [first, `{"__proto__":1}`, 422, /^"__proto__" cannot be edited/],
      [first, `{"hourly_wage":-1}`, 422, /hourly_wage/],
      [first, `{"tips":0.5}`, 422, /tips/],
      [first, `{"clocked_in":null}`, 422, /clocked_in/],
      [first, `{"clocked_out":"2026-03-02T23:00"}`, 422, /RFC 3339 instant with a zone[^]*clocked_out/]
    ] as const
  )(
    "refuses what it cannot do, and changes nothing: %s %s",
    ([id, body, status, text]) =>
      Effect.gen(function*() {
        const before = yield* listed()
        const answer = yield* patch(id, body)

        assert.strictEqual(answer[0], status)
        assert.match(answer[1], text)
        assert.deepStrictEqual(yield* listed(), before)
      }).pipe(Effect.provide(sandbox))
  )
})
