/** Short ways to send requests to the fake service in its own tests. */
import { Effect } from "effect"
import {
  defaultCompany,
  defaultOAuthClient,
  type FakeResponse,
  FakeService,
  type Fault,
  type FaultWhen,
  type WirePunch
} from "../../src/testing/index.ts"

/** The envelope of a page. */
export interface Envelope {
  readonly object: string
  readonly data: ReadonlyArray<WirePunch>
  readonly meta: {
    readonly cursor: {
      readonly current: string | null
      readonly prev: string | null
      readonly next: string | null
      readonly count: number | null
    }
  }
}

/** The body of an error. */
export interface ProblemBody {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code?: number
  readonly param?: string
}

export const pagePath = `/v2/company/${defaultCompany.id}/time_punches`

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** A query string with everything percent-encoded. */
export const queryString = (query: Readonly<Record<string, string>>) =>
  Object.entries(query).map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&")

export const textOf = (response: FakeResponse): string =>
  typeof response.body === "string" ? response.body : new TextDecoder().decode(response.body)

export const envelopeOf = (response: FakeResponse): Envelope => JSON.parse(textOf(response))

export const problemOf = (response: FakeResponse): ProblemBody => JSON.parse(textOf(response))

/** Requests a page with a raw query string, by default with the access token of the default company. */
export const requestRaw = (
  query: string,
  headers: Readonly<Record<string, string>> = bearer(defaultCompany.accessToken)
) =>
  FakeService.use((service) =>
    service.respond({ method: "GET", url: `https://api.test${pagePath}?${query}`, headers, body: "" })
  )

/** Requests a page. */
export const ask = (query: Readonly<Record<string, string>>, headers?: Readonly<Record<string, string>>) =>
  requestRaw(queryString(query), headers)

/** Requests a page and fails unless its status is 200. */
export const requestPage = (query: Readonly<Record<string, string>>) =>
  Effect.map(ask(query), (response) => {
    if (response.status !== 200) throw new Error(textOf(response))
    return envelopeOf(response)
  })

/** All pages of a query in one direction, starting with the page at `from` or the first one. */
export const walk = Effect.fnUntraced(function*(
  query: Readonly<Record<string, string>>,
  direction: "next" | "prev",
  from?: string
) {
  const pages: Array<Envelope> = []
  let cursor = from
  for (let count = 0; count < 100_000; count++) {
    const page: Envelope = yield* requestPage(cursor === undefined ? query : { ...query, cursor })
    pages.push(page)
    const following = page.meta.cursor[direction]
    if (following === null) return pages
    cursor = following
  }
  throw new Error("the walk has no end")
})

export const inject = (fault: Fault, when?: FaultWhen) => FakeService.use((service) => service.inject(fault, when))

/** Requests a token with the credentials of the default client. */
export const requestToken = FakeService.use((service) =>
  service.respond({
    method: "POST",
    url: "https://auth.test/oauth2/token",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: queryString({
      grant_type: "client_credentials",
      client_id: defaultOAuthClient.clientId,
      client_secret: defaultOAuthClient.clientSecret
    })
  })
)

export const idsOf = (punches: ReadonlyArray<WirePunch>) => punches.map((punch) => punch.id)
