/** The service of the sync that is killed: enough pages that a run takes a while, and changes to bring. */
import { type Duration, Effect, Layer } from "effect"
import { CompanyId } from "../../src/index.ts"
import type { Prng } from "../../src/testing/base/prng.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, generatePunches } from "../../src/testing/index.ts"

export const company = CompanyId.make(defaultCompany.id)

/** Fifteen pages. */
export const punches = generatePunches({ seed: 10, count: 3000, companyId: defaultCompany.id })

/** Serves so many of them, in order. */
export const served = (count: number = punches.length, latency: Duration.Input = "20 millis") =>
  FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ punches: punches.slice(0, count), latency })))

/** Edits, deletes, restores and removes punches, so that the next increment has several pages. */
export const changeSome = (random: Prng) =>
  FakeService.use((service) =>
    Effect.gen(function*() {
      const ids = (share: number) => punches.filter(() => random.chance(share)).map(({ id }) => id)
      yield* service.edit(ids(0.5), { notes: `corrected ${random.between(0, 1_000_000)}` })
      yield* service.edit(ids(0.02), { deleted: true })
      yield* service.edit(ids(0.02), { deleted: false })
      yield* service.remove(ids(0.003))
    })
  )
