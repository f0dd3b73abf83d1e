/** A process with a fake service that responds correctly to few requests; prints its address. */
import { Console, Effect, Layer, Schedule } from "effect"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../../src/testing/index.ts"

const mix: ReadonlyArray<readonly [share: number, fault: Fault]> = [
  [0.1, Fault.status(503)],
  [0.05, Fault.status(500, { body: "html" })],
  [0.08, Fault.reset],
  [0.08, Fault.cutBody(0.5)],
  [0.01, Fault.stallBeforeHeaders],
  [0.01, Fault.stallBody(0.5)],
  [0.04, Fault.html200],
  [0.04, Fault.emptyBody],
  [0.04, Fault.invalidJson()],
  [0.03, Fault.invalidUtf8],
  [0.05, Fault.badRow(3, { clocked_in: "2026-02-30T00:00:00Z" })],
  // The client requests a token at most once a second, so these are rare.
  [0.0002, Fault.unauthorizedOnce],
  [0.0002, Fault.tokenRevoked],
  [0.04, Fault.status(403)],
  [0.04, Fault.status(422)],
  [0.04, Fault.retryAfter("99999999")],
  [0.02, Fault.redirect(307, "/elsewhere")],
  [0.02, Fault.oversizedBody(9_000_000)],
  [0.02, Fault.wrongObject()],
  [0.02, Fault.countMismatch()],
  [0.02, Fault.repeatedCursor],
  [0.02, Fault.emptyCursor],
  [0.05, Fault.emptyPage]
]

const serve = Effect.gen(function*() {
  const service = yield* FakeService
  const { url } = yield* FakeServer
  for (const [index, [chance, fault]] of mix.entries()) {
    yield* service.inject(fault, { probability: { chance, seed: 100 + index } })
  }
  yield* service.inject(Fault.status(503), { target: "token", probability: { chance: 0.05, seed: 99 } })
  yield* Console.log(url)
  yield* Effect.repeat(service.clearRequests, Schedule.spaced("200 millis"))
})

const punches = generatePunches({ seed: 8, count: 60, companyId: defaultCompany.id })

await Effect.runPromise(
  Effect.provide(serve, FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ punches }))))
)
