/** Closes a week of a copy, corrects it, and writes the file that a payroll program takes for each revision. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, DateTime, Duration, Effect, Layer, Redacted } from "effect"
import { BusinessDate, CompanyId, Credentials, Endpoints, TimePunches } from "effect-time-punches"
import { Close } from "effect-time-punches/close"
import { PayrollFile } from "effect-time-punches/payroll"
import { SqlStore } from "effect-time-punches/sql"
import { NodeSqlite } from "effect-time-punches/sql/node"
import { Sync } from "effect-time-punches/sync"
import { defaultCompany, FakeService, generateWeeks } from "effect-time-punches/testing"
import { mapping } from "./payroll-file.ts"

const id = CompanyId.make(defaultCompany.id)

const codes: PayrollFile.PayrollCodes = { getCode: (kind, id) => kind === "user" ? `E${id}` : undefined }

/** Closes the week of 2 March. Punches without an approval are closed too, and recorded with their number. */
export const closeWeek = Close.create(id, {
  first: BusinessDate.make("2026-03-02"),
  last: BusinessDate.make("2026-03-08"),
  dayRule: DateTime.zoneMakeNamedUnsafe("America/New_York"),
  rounding: "halfUp",
  weeklyThreshold: Duration.hours(40),
  accept: ["unapproved", "open", "anomaly", "tooLong", "zeroWage", "overlap", "autoClockedOut"],
  user: "payroll",
  note: "signed"
})

/** Every week: what changed in any active close is its next revision. The names of the new revisions. */
export const correctAll = Effect.fnUntraced(function*(note: string) {
  const { peopleWithoutHours, revisions } = yield* Close.correct(id, { user: "payroll", note })
  for (const { causes, userId } of peopleWithoutHours) {
    yield* Console.log(`user ${userId} lost all hours: ${JSON.stringify(causes)}`)
  }
  return revisions.map(({ id }) => id)
})

/** The file of a revision, such as `1.2`, noted: of the first its sums, of a later one what it has more than the one before. */
export const fileOf = Effect.fnUntraced(function*(name: string) {
  const form = yield* Effect.fromResult(mapping)
  return yield* Close.file(id, { revisions: [name], mapping: form, codes, user: "payroll" })
})

const print = (name: string) =>
  Effect.flatMap(fileOf(name), ({ text }) => Console.log(`${name}\n${text.replaceAll("\r\n", "\n").trimEnd()}`))

export const main = Effect.gen(function*() {
  const service = yield* FakeService
  yield* Sync.run(id)
  const { id: first } = yield* closeWeek
  yield* print(first)
  // A manager finds that a punch ended later.
  yield* service.edit([1001], { clocked_out: "2026-03-02T23:59:00Z" })
  yield* Sync.run(id)
  yield* Effect.forEach(yield* correctAll("found by the manager"), print)
  const { revisions } = yield* Close.verify(id)
  yield* Console.log(`${revisions} revisions verified`)
})

/** A fake service in this process, and a copy with a history in memory. */
export const app = Layer.mergeAll(
  TimePunches.layer.pipe(
    Layer.provide(Credentials.layerAccessToken(Redacted.make(defaultCompany.accessToken))),
    Layer.provide(Endpoints.layer({ baseUrl: "https://api.example.com" }))
  ),
  SqlStore.layer({ history: true }).pipe(Layer.provideMerge(NodeSqlite.layer({ filename: ":memory:" })))
).pipe(
  Layer.provideMerge(FakeService.layerClient),
  Layer.provideMerge(FakeService.layer({
    punches: generateWeeks({ count: 40, people: 3, companyId: defaultCompany.id })
  }))
)

if (import.meta.main) NodeRuntime.runMain(Effect.provide(main, app))
