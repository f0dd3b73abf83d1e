/** The service itself, as one function from a plain request to a plain response: routes, records, faults. */
import type { Endpoint, FakeRequest, FakeResponse, RecordedRequest } from "../base/message.ts"
import { problem } from "../base/problem.ts"
import type { Twist } from "../faults/hooks.ts"
import { type FaultQueue, makeFaultQueue, type Strike } from "../faults/queue.ts"
import { authorize } from "./authentication.ts"
import { answerListing } from "./listing.ts"
import { decodeQuery, isRefusal } from "./listQuery.ts"
import type { Settings } from "./options.ts"
import { makeTable, type Table } from "./table.ts"
import { makeTokenDesk, type TokenDesk, writeToken } from "./tokens.ts"

/** A response and the milliseconds to wait before it is given. */
export interface Answer {
  readonly response: FakeResponse
  readonly delay: number
}

/** All the state of a fake service, and its handling of requests. Nothing in it waits. */
export interface Engine {
  readonly table: Table
  readonly desk: TokenDesk
  readonly faults: FaultQueue
  readonly requests: () => ReadonlyArray<RecordedRequest>
  readonly forgetRequests: () => void
  /** `now` is in milliseconds since 1970. */
  readonly handle: (request: FakeRequest, now: number) => Answer
}

interface Target {
  readonly path: string
  readonly query: string
}

/** Path and raw query of an absolute or relative URL. The host says nothing to this service. */
const targetOf = (url: string): Target => {
  const scheme = url.indexOf("://")
  const slash = scheme < 0 ? 0 : url.indexOf("/", scheme + 3)
  const [bare = ""] = (slash < 0 ? "/" : url.slice(slash)).split("#")
  const mark = bare.indexOf("?")
  return mark < 0 ? { path: bare, query: "" } : { path: bare.slice(0, mark), query: bare.slice(mark + 1) }
}

interface Route {
  readonly endpoint: Endpoint
  /** The company of the path as it was written. */
  readonly company: string
}

const makeRouter = (basePath: string) => (path: string): Route => {
  const rest = path.startsWith(basePath) ? path.slice(basePath.length) : ""
  if (rest === "/oauth2/token") return { endpoint: "token", company: "" }
  const match = /^\/v2\/company\/([^/]+)\/time_punches$/.exec(rest)
  return match === null ? { endpoint: "other", company: "" } : { endpoint: "page", company: match[1] ?? "" }
}

const parseCompany = (text: string): number | undefined => {
  const id = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(id) ? id : undefined
}

/** The changes of a strike, each of which says that the fault showed when it is made. */
const counted = ({ twist, used }: Strike): Twist => {
  const { after, before, delay, instead, page, token } = twist
  if (instead !== undefined || before !== undefined || delay !== undefined) used()
  return {
    ...twist,
    ...(page && {
      page: (envelope, origin) => {
        used()
        return page(envelope, origin)
      }
    }),
    ...(token && {
      token: (body) => {
        used()
        return token(body)
      }
    }),
    ...(after && {
      after: (response) => {
        if (response.status !== 200) return response
        used()
        return after(response)
      }
    })
  }
}

const untouched: Twist = {}

/** A service with these settings and their punches. */
export const makeEngine = (settings: Settings): Engine => {
  const table = makeTable({ asked: settings.order === "asked" })
  const desk = makeTokenDesk(settings)
  const faults = makeFaultQueue(desk.revokeAll)
  const route = makeRouter(settings.basePath)
  const numbers = { page: 0, token: 0, other: 0 }
  let index = 0
  let recorded: Array<RecordedRequest> = []
  table.put(settings.punches)

  const record = (request: FakeRequest, endpoint: Endpoint, { path, query }: Target, at: number) => {
    const pairs = decodeQuery(query)
    numbers[endpoint] += 1
    const entry: RecordedRequest = {
      index,
      number: numbers[endpoint],
      endpoint,
      method: request.method,
      path,
      rawQuery: query,
      query: isRefusal(pairs) ? {} : Object.fromEntries(pairs),
      headers: request.headers,
      body: request.body,
      at
    }
    index += 1
    recorded.push(entry)
    return entry
  }

  const page = (request: FakeRequest, company: string, query: string, now: number, twist: Twist) => {
    if (request.method !== "GET") return problem(405, { detail: "Time punches are listed with GET." })
    const companyId = parseCompany(company)
    const refused = authorize(settings, desk, request, companyId, now)
    if (refused !== undefined || companyId === undefined) return refused ?? problem(422, { detail: "No company." })
    return answerListing(settings, table, companyId, query, twist.page ?? ((envelope) => envelope))
  }

  const answer = (request: FakeRequest, { company, endpoint }: Route, query: string, now: number, twist: Twist) => {
    if (twist.instead !== undefined) return twist.instead(request)
    twist.before?.()
    switch (endpoint) {
      case "page":
        return page(request, company, query, now, twist)
      case "token":
        return desk.answer(request, now, twist.token ?? writeToken)
      case "other":
        return problem(404, { detail: "There is no such path." })
    }
  }

  return {
    table,
    desk,
    faults,
    requests: () => [...recorded],
    forgetRequests: () => {
      recorded = []
    },
    handle: (request, now) => {
      const target = targetOf(request.url)
      const routed = route(target.path)
      const strike = faults.pick(record(request, routed.endpoint, target, now))
      const twist = strike === undefined ? untouched : counted(strike)
      const response = answer(request, routed, target.query, now, twist)
      return {
        response: twist.after === undefined ? response : twist.after(response),
        delay: settings.latency + (twist.delay ?? 0)
      }
    }
  }
}
