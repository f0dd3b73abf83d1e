/** Services that lie: what each does wrong, the check that shows it, and the exit code. */
import { HttpServerResponse } from "effect/http"
import type { WirePunch } from "../../../src/testing/index.ts"
import type { Envelope } from "../../testing/support.ts"
import { type Lie, withCursor, withRows } from "./support.ts"

/** A lie, the check that it must show at, the status of that check and the exit code. `make` gives a fresh state. */
export interface Case {
  readonly name: string
  readonly make: () => Lie
  readonly check: string
  readonly status: "ok" | "warn" | "FAIL"
  readonly code: number
  readonly waits?: boolean
}

const failing = (name: string, check: string, make: () => Lie, code = 7): Case => ({
  name,
  make,
  check,
  status: "FAIL",
  code
})

const warning = (name: string, check: string, make: () => Lie): Case => ({ name, make, check, status: "warn", code: 0 })

const drop = (parameter: string) => () => ({ ask: (query: URLSearchParams) => query.delete(parameter) })

/** Changes the value of a parameter where it is sent. */
const misread = (parameters: ReadonlyArray<string>, change: (value: string) => string | undefined) => () => ({
  ask: (query: URLSearchParams) => {
    for (const name of parameters) {
      const value = query.get(name)
      const read = value === null ? undefined : change(value)
      if (value !== null && read === undefined) query.delete(name)
      else if (read !== undefined) query.set(name, read)
    }
  }
})

const later = (millis: number) => (value: string) => new Date(Date.parse(value) + millis).toISOString()

const hours = (count: number) => later(count * 3_600_000)

const days = (count: number) => (value: string) => hours(24 * count)(value).slice(0, 10)

const next = (value: string) => `${Number(value) + 1}`

const ends = (name: string) => [`${name}[gte]`, `${name}[lte]`]

/** The lies about filters. */
export const filterLies: ReadonlyArray<Case> = [
  failing("reads the next location", "filter location_id", misread(["location_id"], next)),
  failing("reads the next user", "filter user_id", misread(["user_id"], next)),
  failing(
    "inverts approved",
    "filter approved=true",
    misread(["approved"], (value) => value === "true" ? "false" : "true")
  ),
  failing(
    "reads deleted=null as false",
    "filter deleted=include",
    misread(["deleted"], (value) => value === "null" ? "false" : value)
  ),
  failing(
    "reads deleted=null as true",
    "filter deleted=include",
    misread(["deleted"], (value) => value === "null" ? "true" : value)
  ),
  failing("knows no deleted punch for deleted=true", "filter deleted=only", () => ({
    answer: (page, query) => query.get("deleted") === "true" ? ending(withRows(page, [])) : page
  })),
  failing("excludes the start of clocked_in", "filter clocked_in", misread(["clocked_in[gte]"], later(1))),
  warning("excludes the end of clocked_in", "filter clocked_in", misread(["clocked_in[lte]"], later(-1))),
  failing("reads clocked_in in another zone", "filter clocked_in", misread(ends("clocked_in"), hours(5))),
  failing("reads clocked_out in another zone", "filter clocked_out", misread(ends("clocked_out"), hours(-5))),
  failing("reads modified_since in a zone behind", "filter modified_since", misread(["modified_since"], hours(5))),
  failing(
    "reads modified_since as created",
    "filter modified_since",
    () => ({
      ask: (query) => query.delete("modified_since"),
      answer: (page, query) => {
        const since = query.get("modified_since")
        return since === null
          ? page
          : withRows(page, page.data.filter(({ created }) => created !== null && created > since))
      }
    })
  ),
  failing(
    "reads the next business date",
    "filter business_date",
    misread(["business_date_start", "business_date_end"], days(1))
  ),
  failing(
    "reads the previous business date",
    "filter business_date",
    misread(["business_date_start", "business_date_end"], days(-1))
  ),
  failing("inverts flags", "filter flags=auto_clocked_out", () => ({
    ask: (query) => query.delete("flags"),
    answer: (page, query) =>
      query.has("flags") ? withRows(page, page.data.filter((row) => !row.auto_clocked_out)) : page
  })),
  failing("omits the first punch of a user", "filter user_id", () => ({
    answer: (page, query) => query.has("user_id") && !query.has("deleted") ? withRows(page, page.data.slice(1)) : page
  })),
  failing("sends nothing for a window", "filter clocked_in", () => ({
    answer: (page, query) => query.has("clocked_in[gte]") ? ending(withRows(page, [])) : page
  }))
]

const ending = (page: Envelope) => withCursor(page, { next: null })

const isLater = (query: URLSearchParams) => query.has("cursor")

/** Makes one text of a cursor a fresh one, and back. */
const fresh = (cursor: string | null, number: number) => cursor === null ? null : `${number}.${cursor}`

const original = (query: URLSearchParams) => {
  const cursor = query.get("cursor")
  if (cursor !== null) query.set("cursor", cursor.replace(/^\d+\./, ""))
}

/** Leads back to the first `next` after so many pages. */
const cycle = (length: number) => () => {
  const seen: Array<string> = []
  return {
    answer: (page: Envelope, query: URLSearchParams) => {
      if (!isLater(query)) seen.length = 0
      const { next } = page.meta.cursor
      if (next !== null) seen.push(next)
      return seen.length > length ? withCursor(page, { next: seen[0] ?? null }) : page
    }
  }
}

/** Every page is the first one, with a `next` that was never there. */
const firstPageForEver = (): Lie => {
  let number = 0
  return {
    ask: (query) => query.delete("cursor"),
    answer: (page) => withCursor(page, { next: fresh(page.meta.cursor.next, ++number) })
  }
}

const onLater = (change: (data: ReadonlyArray<WirePunch>) => ReadonlyArray<WirePunch>) => () => ({
  answer: (page: Envelope, query: URLSearchParams) => isLater(query) ? withRows(page, change(page.data)) : page
})

/** The last row of each page is on the next page too. */
const repeatedRow = (): Lie => {
  let last: ReadonlyArray<WirePunch> = []
  return {
    answer: (page, query) => {
      const data = isLater(query) ? [...last, ...page.data].slice(0, page.data.length) : page.data
      last = page.data.slice(-1)
      return withRows(page, data)
    }
  }
}

const text = (body: string, status: number, contentType = "application/json", headers = {}) => () => ({
  instead: () => HttpServerResponse.text(body, { status, contentType, headers })
})

const problem = (status: number, headers = {}) =>
  text(JSON.stringify({ title: "No", status, detail: "Not this one." }), status, "application/problem+json", headers)

/** The lies about cursors, pages and rows. */
export const pageLies: ReadonlyArray<Case> = [
  failing("sends a cursor that leads to itself", "cursors", cycle(1)),
  failing("sends two cursors that lead to each other", "cursors", cycle(2)),
  failing("sends the first page for ever, with fresh cursors", "cursors", firstPageForEver),
  failing(
    "ends after the first page",
    "cursors",
    () => ({ answer: (page, query) => isLater(query) ? page : ending(page) })
  ),
  failing("ends every page of 200", "end", () => ({
    answer: (page, query) => query.get("limit") === "200" ? ending(page) : page
  })),
  failing("ends after 60 punches", "cursors", () => {
    let rows = 0
    return {
      answer: (page, query) => {
        rows = isLater(query) ? rows + page.data.length : page.data.length
        return rows >= 60 && query.get("limit") !== "200" ? ending(page) : page
      }
    }
  }),
  failing("sends an empty text as next", "rows", () => ({ answer: (page) => withCursor(page, { next: "" }) })),
  warning("sends empty pages for ever", "rows", () => {
    let number = 0
    return {
      ask: original,
      answer: (page) => withCursor(withRows(page, []), { next: fresh("AA==", ++number) }),
      instead: empties()
    }
  }),
  failing("skips a row at each page border", "cursors", onLater((data) => data.slice(1))),
  failing("repeats a row at each page border", "cursors", repeatedRow),
  failing("rejects its own cursors", "cursors", () => ({
    instead: (query) =>
      isLater(query)
        ? HttpServerResponse.text(JSON.stringify({ title: "No", status: 422, param: "cursor" }), {
          status: 422,
          contentType: "application/problem+json"
        })
        : undefined
  })),
  failing("sends rows of another company", "company", () => ({
    answer: (page) => withRows(page, page.data.map((row) => ({ ...row, company_id: 4022 })))
  })),
  failing(
    "sends a row of another company on page 2",
    "cursors",
    onLater(([first, ...rest]) => first === undefined ? [] : [{ ...first, company_id: 4022 }, ...rest])
  ),
  failing("counts one row more", "cursors", () => ({
    answer: (page) => withCursor(page, { count: page.data.length + 1 })
  })),
  failing("sends another object", "service", () => ({ answer: (page) => ({ ...page, object: "shifts" }) })),
  warning("ignores the page size", "page size", () => ({
    ask: (query) => query.set("limit", "100")
  })),
  failing("answers as an old version, with decimal tips", "version", () => ({
    answer: (page) => withRows(page, page.data.map((row) => ({ ...row, tips: row.tips / 100 + 0.005 })))
  }))
]

/** Answers every request with an empty page and a fresh `next`. */
const empties = () => {
  let number = 0
  return () => {
    const cursor = { current: null, prev: null, next: `${++number}`, count: 0 }
    return HttpServerResponse.text(JSON.stringify({ object: "time_punches", data: [], meta: { cursor } }), {
      contentType: "application/json"
    })
  }
}

const dated = (millis: number) => () => ({
  headers: { date: new Date(Date.parse("2026-05-01T00:00:00Z") + millis).toUTCString() }
})

/** The lies about the service as a whole. */
export const serviceLies: ReadonlyArray<Case> = [
  warning("has a clock five hours behind", "clock", dated(-5 * 3_600_000)),
  warning("has a clock five hours ahead", "clock", dated(5 * 3_600_000)),
  { ...failing("sends HTML with 200", "service", text("<html>Sign in</html>", 200, "text/html"), 6), waits: true },
  { ...failing("sends truncated JSON", "service", () => ({ text: (page) => page.slice(0, -40) }), 6), waits: true },
  failing("redirects to another host", "service", text("", 302, "text/html", { location: "https://elsewhere.test/" })),
  failing("redirects for ever", "service", text("", 301, "text/html", { location: "https://api.test/" })),
  failing("answers 401", "access", problem(401), 4),
  failing("answers 403", "access", problem(403), 5),
  failing("answers 404", "service", problem(404)),
  failing("answers 422", "request", problem(422)),
  failing("answers 429 with a long wait", "service", problem(429, { "retry-after": "900" }), 6),
  { ...failing("answers 429 for ever", "service", problem(429), 6), waits: true },
  { ...failing("answers 500 for ever", "service", problem(500), 6), waits: true },
  { ...failing("answers 503 for ever", "service", problem(503), 6), waits: true },
  {
    ...failing("answers 503 from the second page on", "cursors", () => {
      const busy = problem(503)()
      return { instead: (query) => isLater(query) ? busy.instead() : undefined }
    }, 6),
    waits: true
  }
]

/** The lies that no answer contradicts: `docs/09-command-line.md` names each. */
export const unseenLies: ReadonlyArray<Case> = [
  {
    name: "drops localize_search_time",
    make: drop("localize_search_time"),
    check: "filters",
    status: "ok",
    code: 0
  },
  {
    name: "drops the flags late and missed_break",
    make: misread(["flags"], (value) => value === "auto_clocked_out" ? value : undefined),
    check: "filters",
    status: "ok",
    code: 0
  }
]
