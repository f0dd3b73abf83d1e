/**
 * START HERE. The service as a function from request to response: routes, faults, the listing, the service's clock.
 */
import * as DateTime from "effect/DateTime"
import * as Headers from "effect/http/Headers"
import {
  type Endpoint,
  type Envelope,
  type EnvelopeEdit,
  type FakeRequest,
  type FakeResponse,
  problem,
  type RecordedRequest,
  respondJson,
  respondWithToken,
  writeEnvelope
} from "../base/message.ts"
import type { WirePunch } from "../base/WirePunch.ts"
import type { FaultHooks } from "../faults/hooks.ts"
import { type FaultMatch, makeFaultQueue } from "../faults/queue.ts"
import { makeAuthorize, makeTokenIssuer } from "./authentication.ts"
import type { Settings } from "./options.ts"
import { type CursorAges, cursorAtSamePosition, cutPage, makeCursorAges, readCursor } from "./pages.ts"
import { decodeQuery, isNullBoolean, isRefusal, parseListQuery, type Refusal } from "./query.ts"
import { makeChanges, makeTable, type Table } from "./table.ts"

interface Target {
  readonly path: string
  readonly query: string
}

/** Path and raw query of an absolute or relative URL. */
const targetOf = (url: string): Target => {
  const scheme = url.indexOf("://")
  const slash = scheme < 0 ? 0 : url.indexOf("/", scheme + 3)
  const [bare = ""] = (slash < 0 ? "/" : url.slice(slash)).split("#")
  const mark = bare.indexOf("?")
  return mark < 0 ? { path: bare, query: "" } : { path: bare.slice(0, mark), query: bare.slice(mark + 1) }
}

interface Route {
  readonly endpoint: Endpoint
  /** The company id as the path writes it; empty for other endpoints. */
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

/** The hooks of a fault, which count as used only when they change something. */
const countedHooks = ({ hooks, markUsed }: FaultMatch): FaultHooks => {
  const { delay, editPage, editResponse, replaceResponse, revokesTokens, writeToken } = hooks
  if (revokesTokens === true || delay !== undefined) markUsed()
  const counted = <A extends ReadonlyArray<unknown>, B>(hook: ((...given: A) => B) | undefined) =>
    hook && ((...given: A): B => {
      const made = hook(...given)
      if (made !== undefined) markUsed()
      return made
    })
  const edit = counted(editResponse)
  return {
    ...hooks,
    replaceResponse: counted(replaceResponse),
    editPage: counted(editPage),
    writeToken: counted(writeToken),
    editResponse: edit && ((response) => response.status === 200 ? edit(response) : response)
  }
}

/** A fake service with these settings and their punches: its state, and how it handles requests. All of it is synchronous. */
export const makeEngine = (settings: Settings) => {
  const clock = makeServiceClock(settings.clockOffset)
  const table = makeTable(settings)
  const changes = makeChanges(table, settings.visibleAfter)
  const source = { settings, table, cursorAges: makeCursorAges(settings.cursorLifetime) }
  const tokenIssuer = makeTokenIssuer(settings)
  const authorize = makeAuthorize(settings, tokenIssuer)
  const faults = makeFaultQueue()
  const route = makeRouter(settings.basePath)
  const numbers = { page: 0, token: 0, other: 0 }
  let index = 0
  let recorded: Array<RecordedRequest> = []
  changes.seed(settings.punches)

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

  const page = (request: FakeRequest, company: string, query: string, now: number, hooks: FaultHooks) => {
    if (request.method !== "GET") return problem(405, { detail: "The method must be GET." })
    const companyId = parseCompany(company)
    const refused = authorize(request, companyId, clock.at(now))
    if (refused !== undefined || companyId === undefined) return refused ?? problem(422, { detail: "No company." })
    changes.apply(now)
    const asked = settings.ignores.includes(versionHeader) ? undefined : request.headers[versionHeader]
    const version = asked ?? settings.apiVersions?.at(-1) ?? usualVersion
    const edit = hooks.editPage ?? ((envelope) => envelope)
    const response = respondWithPage(
      source,
      { companyId, rawQuery: query, now },
      version < firstInCents
        ? (envelope, origin) => edit({ ...envelope, data: origin.rows.map(inUnits) }, origin)
        : edit
    )
    return response.status === 200
      ? { ...response, headers: { ...response.headers, [versionHeader]: version } }
      : response
  }

  const respond = (
    request: FakeRequest,
    { company, endpoint }: Route,
    query: string,
    now: number,
    hooks: FaultHooks
  ) => {
    const replaced = hooks.replaceResponse?.(request, now)
    if (replaced !== undefined) return replaced
    if (hooks.revokesTokens === true) tokenIssuer.revokeAll()
    switch (endpoint) {
      case "page":
        return page(request, company, query, now, hooks)
      case "token":
        return tokenIssuer.respond(request, clock.at(now), hooks.writeToken ?? respondWithToken)
      case "other":
        return problem(404, { detail: "Unknown path." })
    }
  }

  /** Adds the `date` header, unless a fault has set one. */
  const dated = (response: FakeResponse, request: RecordedRequest, now: number): FakeResponse => {
    const date = settings.date(Headers.formatHttpDate(DateTime.makeUnsafe(clock.at(now))), request)
    return date === undefined ? response : { ...response, headers: { date, ...response.headers } }
  }

  return {
    clock,
    changes,
    tokenIssuer,
    faults,
    requests: (): ReadonlyArray<RecordedRequest> => [...recorded],
    clearRequests: () => {
      recorded = []
    },
    /** Handles a request at `now`, the time of the `Clock`, in milliseconds since 1970. */
    handle: (request: FakeRequest, now: number) => {
      const target = targetOf(request.url)
      const routed = route(target.path)
      const recorded = record(request, routed.endpoint, target, now)
      const match = faults.match(recorded)
      const hooks = match === undefined ? {} : countedHooks(match)
      const response = respond(request, routed, target.query, now, hooks)
      const edited = hooks.editResponse === undefined ? response : hooks.editResponse(response)
      return {
        /** The response as it is sent then, with the `date` of that moment. */
        responseAt: (sentAt: number) => dated(edited, recorded, sentAt),
        /** In milliseconds. */
        delay: settings.latency + (hooks.delay ?? 0)
      }
    }
  }
}

const versionHeader = "x-api-version"

/** The version that an access token has. */
const usualVersion = "2026-06-01"

/** Versions of earlier years have tips in whole units. */
const firstInCents = "2023"

const inUnits = (row: WirePunch) => JSON.stringify({ ...row, tips: row.tips / 100 })

const refuse = ({ detail, param }: Refusal) => problem(422, { detail, param, code: 2100 })

/** `GET /v2/company/{company_id}/time_punches`, authorized: a page, or 422 for an invalid query or cursor. */
const respondWithPage = (
  { cursorAges, settings, table }: {
    readonly settings: Settings
    readonly table: Table
    readonly cursorAges: CursorAges
  },
  { companyId, now, rawQuery }: { readonly companyId: number; readonly rawQuery: string; readonly now: number },
  edit: EnvelopeEdit
): FakeResponse => {
  const pairs = decodeQuery(rawQuery)
  if (isRefusal(pairs)) return refuse(pairs)
  const refused = pairs.find(([name, value]) =>
    [name, `${name}=${value}`].some((each) => settings.refuses.includes(each))
  )
  if (refused !== undefined) return refuse({ param: refused[0], detail: "The parameter is not supported." })
  const asNull = pairs.find(([name, value]) => isNullBoolean(name, value))
  if (asNull !== undefined && typeof settings.nulls === "number") {
    return problem(settings.nulls, { param: asNull[0], detail: "The parameter must be true or false." })
  }
  const known = pairs
    .filter(([name]) => !settings.ignores.includes(name))
    .map((pair) => settings.nulls === "false" && isNullBoolean(...pair) ? [pair[0], "false"] as const : pair)
  const query = parseListQuery(known, settings.maxLimit)
  if (isRefusal(query)) return refuse(query)
  const listing = table.list(companyId, pairs, query)
  const sent = query.cursor
  const kind = settings.order === "dropped" ? "record" : settings.cursors
  const content = sent === undefined ? undefined : readCursor(sent, listing, kind)
  if (sent !== undefined && content === undefined) {
    return refuse({ param: "cursor", detail: "The cursor is not one of this query." })
  }
  if (sent !== undefined && cursorAges.isExpired(sent, now)) {
    return refuse({ param: "cursor", detail: "The cursor has expired." })
  }
  const page = cutPage(listing, kind, sent, content, Math.min(query.limit ?? settings.defaultLimit, settings.pageCap))
  const { count, current, next, prev } = page.cursor
  const envelope: Envelope = {
    object: "time_punches",
    data: page.rows.map((row) => row.text),
    cursor: { current, prev, next, count }
  }
  const edited = edit(envelope, {
    companyId,
    query: listing.fingerprint,
    rows: page.rows.map((row) => row.wire),
    sent,
    cursorAtSamePosition: (nonce) => cursorAtSamePosition(listing, content, nonce)
  })
  cursorAges.issue([edited.cursor["next"], edited.cursor["prev"]], now)
  return respondJson(200, writeEnvelope(edited))
}

/** The service's clock: the `Clock` of the program, moved by `offset` milliseconds. Instants are milliseconds since 1970. */
const makeServiceClock = (offset: number) => {
  let ahead = offset
  return {
    /** The service's time at `now`, the time of the `Clock`. */
    at: (now: number) => now + ahead,
    /** Moves the service's clock by this many milliseconds, back if negative. */
    step: (by: number) => {
      ahead += by
    },
    /** Sets the clock, which continues from there. */
    set: (to: number, now: number) => {
      ahead = to - now
    }
  }
}
