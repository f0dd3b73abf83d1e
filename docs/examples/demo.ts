/** `npm run demo`: a fake service on a free port, and a client that lists its punches over real HTTP. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Duration, Effect, HashMap, Layer, Option, Redacted, Ref, Stream } from "effect"
import {
  CompanyGuid,
  CompanyId,
  Credentials,
  Cursor,
  Endpoints,
  type TimePunch,
  TimePunches
} from "effect-time-punches"
import { NodeTransport } from "effect-time-punches/node"
import { Labor } from "effect-time-punches/payroll"
import { defaultCompany, defaultOAuthClient, FakeService, Fault, generateWeeks } from "effect-time-punches/testing"
import { loopback } from "./loopback.ts"

const company = { id: CompanyId.make(defaultCompany.id), guid: CompanyGuid.make(defaultCompany.guid) }

/** The layers of a real application: client, credentials, HTTP transport. Only the endpoints belong to a fake. */
const app = TimePunches.layer.pipe(
  Layer.provide(Credentials.layerOAuth({
    clientId: defaultOAuthClient.clientId,
    clientSecret: Redacted.make(defaultOAuthClient.clientSecret)
  })),
  Layer.provide(NodeTransport.layer()),
  Layer.provideMerge(loopback({ punches: generateWeeks({ count: 40_000, people: 450, companyId: defaultCompany.id }) }))
)

/** Sums every punch in one pass, page by page: only the sums are kept. */
const summary = Effect.gen(function*() {
  const shown = yield* Ref.make(0)
  const byLocation = yield* TimePunches.list(company).pipe(
    Stream.mapArrayEffect((page) => Effect.as(showProgress(shown, page.length), page)),
    Stream.run(Labor.rollup((punch) => punch.locationId, { rounding: "halfUp" }))
  )
  yield* Console.log(row("location", "punches", "open", "hours", "wages"))
  for (const [location, sums] of [...HashMap.entries(byLocation)].toSorted(([a], [b]) => a - b)) {
    const hours = Duration.toHours(sums.net).toFixed(1)
    yield* Console.log(row(location, sums.punches, sums.incomplete, hours, (sums.cost / 100).toFixed(2)))
  }
  return yield* Ref.get(shown)
})

/** The service no longer knows this cursor: the error names the parameter, and the run starts again without it. */
const fromAnOldCursor = TimePunches.list(company, {}, { cursor: Cursor.make("kept-for-too-long") }).pipe(
  Stream.tapErrorTag("UnprocessableEntity", (error) => Console.log(`\nHandled: ${error.message}`)),
  Stream.catchTag(
    "UnprocessableEntity",
    (error) => error.problem.param === "cursor" ? TimePunches.list(company) : Stream.fail(error)
  ),
  Stream.runCount
)

/** Every attempt at one page fails in the middle of its body. Once the fault is cleared, the run resumes at that page. */
const brokenAndResumed = Effect.gen(function*() {
  const service = yield* FakeService
  const page = yield* TimePunches.pages(company).pipe(
    Stream.take(60),
    Stream.runLast,
    Effect.flatMap(Effect.fromOption)
  )
  yield* service.inject(Fault.cutBody(), { cursor: Option.getOrNull(page.cursor.next) })
  const counted = yield* Ref.make(0)
  const count = Stream.runForEachArray((page: ReadonlyArray<TimePunch>) => Ref.update(counted, (n) => n + page.length))

  const error = yield* TimePunches.list(company).pipe(count, Effect.flip)
  yield* Console.log(`\nBroken:  ${error.message}\n         ${yield* Ref.get(counted)} punches came before`)

  yield* service.clearFaults
  yield* TimePunches.list(company, {}, { cursor: error.resumeFrom }).pipe(count)
  yield* Console.log(`Resumed: ${yield* Ref.get(counted)} punches in all`)
  return yield* Ref.get(counted)
})

const row = (...cells: ReadonlyArray<string | number>) => cells.map((cell) => String(cell).padStart(10)).join(" ")

/** On a terminal, one line that counts; where stderr is a file, a line every 10 000 punches. */
const showProgress = (shown: Ref.Ref<number>, punches: number) =>
  Ref.updateAndGet(shown, (count) => count + punches).pipe(
    Effect.tap((count) =>
      Effect.sync(() => {
        if (process.stderr.isTTY) process.stderr.write(`${count} punches\r`)
        else if (count % 10_000 < punches) process.stderr.write(`${count} punches\n`)
      })
    )
  )

const demo = Effect.gen(function*() {
  const { baseUrl } = yield* Endpoints
  yield* Console.log(`A fake service listens on ${baseUrl}. Its punches, as an OAuth client sees them:`)
  const [took, listed] = yield* Effect.timed(summary)
  yield* Console.log(`${listed} punches in ${Duration.toSeconds(took).toFixed(1)} s`)
  yield* Console.log(`         ${yield* fromAnOldCursor} punches from the start instead`)
  const resumed = yield* brokenAndResumed
  if (resumed !== listed) return yield* Effect.die(new Error(`resumed run: ${resumed} of ${listed} punches`))
})

NodeRuntime.runMain(Effect.provide(demo, app))
