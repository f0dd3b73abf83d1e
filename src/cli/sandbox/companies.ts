/** What a sandbox serves: one company of many weeks and a second one, or any number of small ones, each made when needed. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { prng } from "../../testing/base/prng.ts"
import { defaultCompany, type FakeCompany, FakeService, generateWeeks, type StoredPunch } from "../../testing/index.ts"
import { otherCompany } from "../../testing/service/options.ts"

/** The companies of a sandbox and the punches that each begins with. */
export interface World {
  readonly companies: ReadonlyArray<FakeCompany>
  /** How many of the companies, from the first, have punches that change while the sandbox runs. */
  readonly changing: number
  /** The punches of a company, by its place in the list; the same at each call. */
  readonly punchesOf: (index: number) => ReadonlyArray<StoredPunch>
}

const weeksOf = (count: number) => ({ count, people: Math.max(8, Math.round(count / 90)) })

/**
 * The default company with fourteen weeks, or fewer if `count` is small, and a second one with a ninth of the punches, which
 * the credentials of the first must not read.
 */
export const twoCompanies = (count: number, seed: number): World => {
  const ofDefault = generateWeeks({ seed, ...weeksOf(count), companyId: defaultCompany.id })
  const ofOther = generateWeeks({
    seed: seed + 1,
    ...weeksOf(Math.ceil(count / 9)),
    companyId: otherCompany.id,
    // Leaves ids for punches that are clocked while the sandbox runs.
    firstId: (ofDefault.at(-1)?.id ?? 0) + 1_000_000
  })
  return {
    companies: [defaultCompany, otherCompany],
    changing: 1,
    punchesOf: (index) => index === 0 ? ofDefault : ofOther
  }
}

/** Companies 5001, 5002, …, each with this number of punches. Their guids follow from the seed, whatever their number. */
export const manyCompanies = (companies: number, count: number, seed: number): World => {
  const random = prng(~seed)
  const hex = (digits: number) => Math.floor(random.next() * 16 ** digits).toString(16).padStart(digits, "0")
  return {
    companies: Array.from({ length: companies }, (_, index) => ({
      id: 5001 + index,
      guid: `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(8)}${hex(4)}`,
      accessToken: `fake-access-token-of-company-${5001 + index}`
    })),
    changing: companies,
    punchesOf: (index) =>
      generateWeeks({
        seed: seed + index,
        ...weeksOf(count),
        companyId: 5001 + index,
        // An edit names a punch by its id alone. Deleted punches come on top, and others are clocked while it runs.
        firstId: 1000 + index * (2 * count + 50_000)
      })
  }
}

/**
 * The service that seeds the punches of a company when its listing is first requested, so that a sandbox of thousands is
 * ready at once. `fill` does so for the company at a place in the list, and `isFilled` tells whether it was done.
 */
export const withWorld = (service: FakeService["Service"], { companies, punchesOf }: World) => {
  const indexOf = new Map(companies.map(({ id }, index) => [String(id), index]))
  const filled = new Set<number>()

  const fill = (index: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (filled.has(index)) return Effect.void
      filled.add(index)
      return service.seed(punchesOf(index))
    })

  const requested = (url: string) =>
    Option.flatMap(
      Option.fromNullOr(/^\/v2\/company\/(\d+)\/time_punches/.exec(url)),
      ([, id = ""]) => Option.fromUndefinedOr(indexOf.get(id))
    )

  return {
    fill,
    isFilled: (index: number) => filled.has(index),
    service: FakeService.of({
      ...service,
      respond: (request) =>
        Option.match(requested(request.url), {
          onNone: () => service.respond(request),
          onSome: (index) => Effect.andThen(fill(index), service.respond(request))
        })
    })
  }
}
