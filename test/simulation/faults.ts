/** The faults of a plan, drawn from its seed: every fault of the fake service, when and how often. */
import type { Prng } from "../../src/testing/base/prng.ts"
import { Fault, type FaultWhen, type RowPatch, type TokenDefect } from "../../src/testing/index.ts"

/** A fault and the requests that it affects. */
export interface InjectedFault {
  readonly fault: Fault
  readonly when: FaultWhen
}

/** What a setting allows: over real sockets, waits and bodies must be short. */
export interface FaultRange {
  /** Pages of a run without faults. */
  readonly pages: number
  /** Texts of `Retry-After`. The client waits for those that its policy allows. */
  readonly retryAfter: readonly [string, ...ReadonlyArray<string>]
  /** Delays of a slow response, in milliseconds. */
  readonly delays: readonly [number, ...ReadonlyArray<number>]
  /** Share of plans with faults of the token endpoint, whose waits cannot be shortened. */
  readonly token: number
}

/** Regular and odd texts of `Retry-After`. The dates are near the start of virtual time. */
export const oddRetryAfter: FaultRange["retryAfter"] = [
  "0",
  "1",
  "7",
  "59",
  "60",
  "61",
  "3600",
  "99999999",
  "99999999999999999999",
  "-5",
  "1.5",
  "abc",
  "2, 3",
  "",
  "Thu, 01 Jan 1970 00:00:30 GMT",
  "Thu, 01 Jan 1970 03:00:00 GMT",
  "Wed, 31 Dec 1969 23:59:59 GMT",
  "Fri, 31 Dec 9999 23:59:59 GMT"
]

const transient = [408, 429, 500, 502, 503, 504] as const
const lasting = [400, 401, 402, 403, 404, 405, 409, 410, 418, 422, 451, 499, 501, 505, 507, 511, 599] as const
const strange = [201, 202, 203, 204, 206, 300, 304] as const
const redirects = [301, 302, 303, 307, 308] as const

/** Invalid rows, each for another reason. All keep their id, so that the verdict can identify them. */
const badRows: readonly [RowPatch, ...ReadonlyArray<RowPatch>] = [
  { user_id: "12" },
  { user_id: 1.5 },
  { role_id: -1 },
  { location_id: undefined },
  { hourly_wage: -1 },
  { hourly_wage: 15.5 },
  { tips: { rawJson: "1e400" } },
  { shift_id: { rawJson: "9007199254740993" } },
  { approved: null },
  { notes: undefined },
  { clocked_in: "2026-02-30T08:00:00Z" },
  { clocked_in: "2026-03-02T08:00:00" },
  { clocked_in: null },
  { clocked_out: "now" },
  { breaks: {} },
  { breaks: [{ id: 1 }] },
  { deleted: "false" }
]

const texts = [
  "",
  "null",
  "[]",
  "{}",
  "{\"data\":[]}",
  "{\"object\":\"time_punches\",\"data\":[]}",
  "[1,2",
  "\u0000",
  "NaN"
] as const

const tokenDefects: readonly [TokenDefect, ...ReadonlyArray<TokenDefect>] = [
  "html",
  "empty",
  "notJson",
  "noAccessToken",
  "emptyAccessToken",
  "numberAccessToken",
  "crlfAccessToken",
  "spaceAccessToken",
  "hugeAccessToken",
  "noTokenType",
  "macTokenType"
]

const lifetimes = [0, 1, -5, 1.5, 3600.7, 1e12, "3600", "soon", "", null, undefined, true, {}] as const

type Draw = readonly [weight: number, draw: (random: Prng, range: FaultRange) => Fault]

const ofAPage: ReadonlyArray<Draw> = [
  [10, (random) => Fault.status(random.pick(transient))],
  [6, (random) => Fault.status(random.pick(lasting))],
  [2, (random) => Fault.status(random.pick(strange))],
  [1, (random) => Fault.status(random.pick([...transient, ...lasting]), { body: random.pick(["html", "empty"]) })],
  [1, (random) => Fault.status(random.pick(transient), { problem: { status: "x", title: 7, detail: undefined } })],
  [
    1,
    (random) => Fault.redirect(random.pick(redirects), random.pick(["/", "http://127.0.0.1:9/", "file:///etc/hosts"]))
  ],
  [8, (random, { retryAfter }) => Fault.retryAfter(random.pick(retryAfter), random.pick([429, 429, 503, 500]))],
  [1, (random) => Fault.echo(random.pick([400, 401, 422, 500]))],
  [8, () => Fault.reset],
  [3, () => Fault.stallBeforeHeaders],
  [3, (random) => Fault.stallBody(random.next())],
  [6, (random) => Fault.cutBody(random.pick([0, 0.3, 0.99, 1]))],
  [5, (random, { delays }) => Fault.slow(random.pick(delays))],
  [3, () => Fault.html200],
  [2, () => Fault.emptyBody],
  [4, (random) => Fault.invalidJson(random.chance(0.5) ? undefined : random.pick(texts))],
  [1, () => Fault.invalidUtf8],
  [1, (random) => Fault.oversizedBody(random.pick([20_000, 20_000, 9_000_000]))],
  [5, () => Fault.unauthorizedOnce],
  [4, () => Fault.tokenRevoked],
  [2, () => Fault.repeatedCursor],
  [3, (random) => Fault.cursorCycle(random.between(1, 5))],
  [4, () => Fault.emptyPage],
  [1, (random) => Fault.wrongObject(random.pick(["shifts", ""]))],
  [1, (random) => Fault.wrongCompany(random.pick([undefined, 0]))],
  [1, (random) => Fault.missingCursorKey(random.pick(["current", "prev", "next", "count"]))],
  [1, () => Fault.emptyCursor],
  [2, (random) => Fault.countMismatch(random.pick([-1, 1, 7]))],
  [5, (random) => Fault.badRow(random.between(0, 5), random.pick(badRows))],
  // Some clients decompress such a body, others pass it on: it must be decoded correctly or not at all.
  [1, (random) => Fault.contentEncoding(random.pick(["gzip", "br", "identity"]))]
]

/** Costs 8 MiB each time. */
const endlessBody: Draw = [0.15, () => Fault.oversizedBody(Infinity)]

const ofAToken: ReadonlyArray<Draw> = [
  [6, (random) => Fault.status(random.pick([...transient]))],
  [
    2,
    (random) =>
      Fault.status(400, { problem: { error: random.pick(["invalid_client", "invalid_scope", "invalid_request"]) } })
  ],
  [2, (random) => Fault.status(random.pick([401, 403, 404, 302]))],
  [3, (random, { retryAfter }) => Fault.retryAfter(random.pick(retryAfter), random.pick([429, 503]))],
  [4, () => Fault.reset],
  [1, () => Fault.stallBeforeHeaders],
  [1, (random) => Fault.stallBody(random.next())],
  [2, (random) => Fault.cutBody(random.next())],
  [3, (random, { delays }) => Fault.slow(random.pick(delays))],
  [3, (random) => Fault.tokenMalformed(random.pick(tokenDefects))],
  [5, (random) => Fault.expiresIn(random.pick(lifetimes))]
]

const pickWeighted = (random: Prng, draws: ReadonlyArray<Draw>, range: FaultRange): Fault => {
  let left = random.next() * draws.reduce((sum, [weight]) => sum + weight, 0)
  for (const [weight, draw] of draws) {
    left -= weight
    if (left < 0) return draw(random, range)
  }
  return Fault.reset
}

const numbers = (random: Prng, upTo: number): ReadonlyArray<number> =>
  Array.from({ length: random.between(1, 4) }, () => random.between(1, upTo))

/** Some requests by number, a random share, the first page, a limited number, or all requests. */
const drawWhen = (random: Prng, upTo: number): FaultWhen => {
  const kind = random.next()
  if (kind < 0.4) return { requests: numbers(random, upTo) }
  if (kind < 0.5) {
    const first = random.between(1, upTo)
    return { requests: Array.from({ length: random.between(2, 9) }, (_, index) => first + index) }
  }
  if (kind < 0.75) return { probability: { chance: 0.05 + 0.6 * random.next(), seed: random.between(1, 1e9) } }
  if (kind < 0.8) return { cursor: null, times: random.between(1, 6) }
  return kind < 0.95 ? { times: random.between(1, 4) } : {}
}

/** A fault of the listing. */
export const drawPageFault = (random: Prng, range: FaultRange): InjectedFault => ({
  fault: pickWeighted(random, [...ofAPage, endlessBody], range),
  when: { ...drawWhen(random, range.pages * 2 + 3), target: "page" }
})

/** A transient fault of the page at one cursor. */
export const drawFaultAt = (random: Prng, cursor: string | null): InjectedFault => ({
  fault: random.pick([Fault.reset, Fault.status(503), Fault.cutBody(0.5), Fault.emptyPage, Fault.unauthorizedOnce]),
  when: { target: "page", cursor, times: random.between(1, 3) }
})

/** Nothing but empty pages, for ever or for a thousand requests. Rare, because it costs hundreds of requests. */
const drawEmptyPages = (random: Prng, { pages }: FaultRange): InjectedFault => {
  const first = random.between(1, pages + 1)
  const requests = random.chance(0.5) ? { requests: Array.from({ length: 1000 }, (_, index) => first + index) } : {}
  return { fault: Fault.endlessEmptyPages, when: { target: "page", ...requests } }
}

/** Up to ten faults, in the order of their precedence. */
export const drawFaults = (random: Prng, range: FaultRange): ReadonlyArray<InjectedFault> => {
  const ofPages = Array.from(
    { length: random.chance(0.04) ? 0 : random.between(1, 6) },
    () => drawPageFault(random, range)
  )
  const ofTokens = Array.from({ length: random.chance(range.token) ? random.between(1, 3) : 0 }, () => ({
    fault: pickWeighted(random, ofAToken, range),
    when: { ...drawWhen(random, 6), target: "token" as const }
  }))
  return [...ofPages, ...ofTokens, ...(random.chance(0.008) ? [drawEmptyPages(random, range)] : [])]
}

/** Whether a fault must be removed before a resume: a new run cannot know the cursors of the old one. */
export const isCursorCycle = ({ fault }: InjectedFault): boolean => fault._tag === "CursorCycle"
