/** The payroll program at three levels: over a mock, over the fake service in this process, and over a socket. */
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, DateTime, Duration, Effect, Fiber, Layer, Option, Redacted, Schema, Stream } from "effect"
import {
  BusinessDate,
  Cents,
  CompanyGuid,
  CompanyId,
  Credentials,
  Endpoints,
  Forbidden,
  TimePunch,
  TimePunches,
  TimePunchId,
  UserId
} from "effect-time-punches"
import { NodeTransport } from "effect-time-punches/node"
import {
  defaultCompany,
  defaultOAuthClient,
  FakeService,
  Fault,
  generatePunches,
  generateWeeks,
  toWire
} from "effect-time-punches/testing"
import { TestClock } from "effect/testing"
import { loopback } from "./loopback.ts"
import { payroll } from "./payroll.ts"

const company = { id: CompanyId.make(defaultCompany.id), guid: CompanyGuid.make(defaultCompany.guid) }
const monday = BusinessDate.make("2026-03-09")

const anyPunch = Arr.getUnsafe(generatePunches({ count: 1, companyId: company.id }), 0)

// What the tests do not name has the value of a generated punch.
const template = Schema.decodeSync(TimePunch.Wire)(toWire(anyPunch))

const punch = (clockedIn: string, clockedOut: Option.Option<string>): TimePunch => ({
  ...template,
  id: TimePunchId.make(1),
  userId: UserId.make(7),
  clockedIn: DateTime.makeUnsafe(clockedIn),
  clockedOut: Option.map(clockedOut, (text) => DateTime.makeUnsafe(text)),
  breaks: [],
  hourlyWage: Cents.make(1550)
})

describe("payroll, over a mock", () => {
  const closed = punch("2026-03-10T14:00:00Z", Option.some("2026-03-10T18:30:00Z"))
  const open = punch("2026-03-11T14:00:00Z", Option.none())

  it.effect("sums the hours of a user, and lists the open punch as a question", () =>
    Effect.gen(function*() {
      const { lines, questions } = yield* payroll(company, monday)

      assert.deepStrictEqual(
        lines.map(({ totals, user }) => [user, totals.punches, Duration.toHours(totals.net), totals.cost]),
        [[7, 2, 4.5, 6975]]
      )
      assert.deepStrictEqual(questions, ["punch 1 of user 7: OpenPunch"])
    }).pipe(Effect.provide(Layer.mock(TimePunches)({ list: () => Stream.make(closed, open) }))))

  it.effect("fails with the error of the listing", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(payroll(company, monday))

      assert.strictEqual(error._tag, "Forbidden")
    }).pipe(Effect.provide(Layer.mock(TimePunches)({ list: () => Stream.fail(new Forbidden({})) }))))
})

const punches = generateWeeks({ people: 40, weeks: 3, companyId: defaultCompany.id })

const credentials = Credentials.layerOAuth({
  clientId: defaultOAuthClient.clientId,
  clientSecret: Redacted.make(defaultOAuthClient.clientSecret)
})

const inProcess = TimePunches.layer.pipe(
  Layer.provide(credentials),
  Layer.provide(Endpoints.layer({ baseUrl: "http://localhost" })),
  Layer.provide(FakeService.layerClient),
  Layer.provideMerge(FakeService.layer({ punches }))
)

describe("payroll, over the fake service in this process", () => {
  it.effect("requests the week in New York time, right after a change of clocks", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* payroll(company, monday)

      const request = (yield* service.requests).find(({ endpoint }) => endpoint === "page")
      assert.strictEqual(request?.query["clocked_in[gte]"], "2026-03-09T04:00:00Z")
      assert.strictEqual(request?.query["clocked_in[lte]"], "2026-03-16T04:00:00Z")
    }).pipe(Effect.provide(inProcess)))

  it.effect("gives the same result through faults, in virtual time", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const expected = yield* payroll(company, monday)
      yield* service.inject(Fault.status(503), { times: 1 })
      yield* service.inject(Fault.retryAfter("20"), { times: 1 })
      yield* service.inject(Fault.cutBody(), { times: 1 })

      const run = yield* Effect.forkChild(payroll(company, monday))
      yield* TestClock.adjust("1 minute")

      assert.deepStrictEqual(yield* Fiber.join(run), expected)
    }).pipe(Effect.provide(inProcess)))

  it.effect("requests a new token when the old one expires", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      yield* payroll(company, monday)
      yield* payroll(company, monday)
      assert.strictEqual(yield* service.tokensIssued, 1)

      yield* TestClock.adjust("1 hour")
      yield* payroll(company, monday)

      assert.strictEqual(yield* service.tokensIssued, 2)
    }).pipe(Effect.provide(inProcess)))
})

const clientOver = (service: Layer.Layer<FakeService>) =>
  TimePunches.layer.pipe(
    Layer.provide(credentials),
    Layer.provide(Endpoints.layer({ baseUrl: "http://localhost" })),
    Layer.provide(FakeService.layerClient),
    Layer.provideMerge(service)
  )

const changing = clientOver(FakeService.layer({ punches, visibleAfter: "30 seconds", clockOffset: "-3 minutes" }))

const unusual = clientOver(FakeService.layer({
  punches,
  cursors: "record",
  cursorLifetime: "10 minutes",
  date: (serviceTime, { number }) => number % 3 === 0 ? "Fri, 31 Dec 9999 23:59:59 GMT" : serviceTime
}))

describe("payroll, while punches change", () => {
  it.effect("follows a change as soon as the service shows it", () =>
    Effect.gen(function*() {
      const service = yield* FakeService
      const before = yield* payroll(company, monday)
      yield* service.edit(punches.map(({ id }) => id), { deleted: true })
      assert.deepStrictEqual(yield* payroll(company, monday), before)

      yield* TestClock.adjust("30 seconds")

      assert.isEmpty((yield* payroll(company, monday)).lines)
    }).pipe(Effect.provide(changing)))

  it.effect("gives the same result with cursors by record and wild dates", () =>
    Effect.gen(function*() {
      const expected = yield* payroll(company, monday).pipe(Effect.provide(inProcess))

      assert.deepStrictEqual(yield* payroll(company, monday), expected)
    }).pipe(Effect.provide(unusual)))
})

const overTcp = TimePunches.layer.pipe(
  Layer.provide(credentials),
  Layer.provide(NodeTransport.layer()),
  Layer.provideMerge(loopback({ punches }))
)

describe("payroll, over a socket", () => {
  it.live("has a line for every user who clocked in", () =>
    Effect.gen(function*() {
      const { lines } = yield* payroll(company, monday)

      assert.strictEqual(lines.length, 40)
    }).pipe(Effect.provide(overTcp)))
})
