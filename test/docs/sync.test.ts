/** The sync example keeps its table equal to the data of the service, through changes and failures. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { pull, sync } from "../../docs/examples/sqlite-sync.ts"
import { PunchTable } from "../../docs/examples/sqlite.ts"
import { CompanyId, RetryPolicy, TimePunches } from "../../src/index.ts"
import { defaultCompany, FakeService, Fault, generatePunches, type StoredPunch } from "../../src/testing/index.ts"
import { environment } from "./support/examples.ts"

const company = { id: CompanyId.make(defaultCompany.id) }
const settings = { ...environment("http://localhost"), TIME_PUNCHES_CLIENT_ID: "", TIME_PUNCHES_CLIENT_SECRET: "" }

const app = TimePunches.layerFromConfig.pipe(
  Layer.provide(RetryPolicy.none),
  Layer.provide(ConfigProvider.layer(
    ConfigProvider.fromUnknown({ ...settings, TIME_PUNCHES_ACCESS_TOKEN: defaultCompany.accessToken })
  )),
  Layer.provide(FakeService.layerClient),
  Layer.provideMerge(FakeService.layer()),
  Layer.merge(PunchTable.layer(":memory:"))
)

const now = Date.UTC(2026, 3, 5, 12)
const punches = generatePunches({ count: 1000, companyId: company.id, timestampForms: false })

/** The expected row of a punch, computed without the client. */
const rowOf = (punch: StoredPunch) => [
  punch.id,
  punch.user_id,
  Date.parse(punch.clocked_in),
  punch.clocked_out === null ? null : Date.parse(punch.clocked_out),
  punch.breaks?.length ?? 0,
  punch.deleted === true ? 1 : 0
]

const table = Effect.map(
  Effect.flatMap(PunchTable, ({ rows }) => rows(company.id)),
  (rows) =>
    rows.map((row) => [row["id"], row["user_id"], row["clocked_in"], row["clocked_out"], row["breaks"], row["deleted"]])
)

const queries = Effect.gen(function*() {
  const service = yield* FakeService
  return (yield* service.requests).map(({ query }) => query)
})

describe("docs/examples/sqlite-sync.ts", () => {
  it.effect("fills an empty table with every punch, deleted ones too", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(now)
      yield* (yield* FakeService).seed(punches)
      yield* sync(company)

      assert.deepStrictEqual(yield* table, punches.map(rowOf))
    }).pipe(Effect.provide(app)))

  it.effect("applies new, changed, silently edited, deleted and removed punches", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* TestClock.setTime(now)
      yield* service.seed(punches)
      yield* sync(company)
      yield* TestClock.adjust("1 hour")
      const modified = new Date(now + 1_800_000).toISOString()
      const recent = punches.filter(({ clocked_in, deleted }) =>
        deleted !== true && Date.parse(clocked_in) > now - 5 * 86_400_000
      )
      const [edited, vanished] = [recent.find(({ breaks }) => (breaks?.length ?? 0) > 0), recent.at(-1)]
      const [changed, deleted] = punches
      assert.isDefined(edited)
      assert.isDefined(vanished)
      assert.isDefined(changed)
      assert.isDefined(deleted)
      const changes: ReadonlyArray<StoredPunch> = [
        { ...changed, user_id: 9999, modified },
        { ...deleted, deleted: true, modified },
        { ...edited, breaks: [] },
        { ...changed, id: 999_999, modified }
      ]
      yield* service.seed(changes)
      yield* service.remove([vanished.id])
      yield* sync(company)

      const truth = new Map([...punches, ...changes, { ...vanished, deleted: true }].map((punch) => [punch.id, punch]))
      assert.deepStrictEqual(yield* table, [...truth.values()].map(rowOf).toSorted(([a], [b]) => Number(a) - Number(b)))
    }).pipe(Effect.provide(app)))

  it.effect("requests changes from ten minutes before the last run began", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(now)
      yield* pull(company)
      yield* TestClock.adjust("1 hour")
      yield* pull(company)

      assert.deepStrictEqual((yield* queries).map((query) => query["modified_since"]), [
        undefined,
        "2026-04-05T11:50:00Z"
      ])
    }).pipe(Effect.provide(app)))

  it.effect("resumes a failed run at its cursor, and starts again if the service no longer knows the cursor", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* TestClock.setTime(now)
      yield* service.seed(punches)
      yield* service.inject(Fault.status(503), { requests: 3 })
      yield* Effect.flip(pull(company))
      yield* service.inject(Fault.status(503), { requests: 5 })
      yield* Effect.flip(pull(company))
      yield* service.inject(Fault.status(422, { problem: { param: "cursor" } }), { requests: 6 })
      yield* pull(company)

      const cursors = (yield* queries).map((query) => query["cursor"])
      assert.strictEqual(cursors.length, 11)
      assert.strictEqual(cursors[3], cursors[2])
      assert.strictEqual(cursors[5], cursors[4])
      assert.isUndefined(cursors[6])
      assert.deepStrictEqual(yield* table, punches.map(rowOf))
      assert.isTrue(
        Option.exists(yield* (yield* PunchTable).progress(company.id), ({ cursor }) => Option.isNone(cursor))
      )
    }).pipe(Effect.provide(app)))
})
