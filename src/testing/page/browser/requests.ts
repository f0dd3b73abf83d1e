/** The table of requests in the browser. */
import type { Tools } from "./tools.ts"

/** The event `request`: a request and its answer, without what only the two parties should know: no header, no body. */
export interface Logged {
  /** 0 for the first request, then 1, 2, … */
  readonly index: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly method: string
  readonly path: string
  /** The parameters, decoded. */
  readonly query: ReadonlyArray<readonly [name: string, value: string]>
  /** The status, and what becomes of the response if it does not arrive whole. */
  readonly answer: string
  readonly isGood: boolean
  /** Milliseconds from the request to the answer. */
  readonly took: number
  /** Whether the page itself sent it. */
  readonly isOwn: boolean
}

/** Shows the last requests, the latest first, and how many are left out. */
export const showRequests = ({ find, make, row, say }: Tools, events: EventSource): void => {
  const log = find("log", HTMLTableSectionElement)
  const most = 200
  let seen = -1
  let waiting: Array<Logged> = []

  const requestRow = ({ answer, at, isGood, isOwn, method, path, query, took }: Logged) => {
    const words = [`${method} ${path}`, ...query.map(([name, value]) => `${name}=${value}`)]
    const request = make("td", words.join(" "), "mono")
    if (isOwn) request.append(make("span", " from this page", "muted"))
    return row([
      make("td", new Date(at).toISOString().slice(11, 23), "mono"),
      request,
      make("td", answer, isGood ? "good" : "bad"),
      make("td", `${took}`, "number")
    ])
  }

  // A client may send thousands a second: they are drawn together, once in a while.
  const draw = () => {
    const entries = waiting.slice(-most)
    const missed = (entries[0]?.index ?? seen + 1) - seen - 1
    if (missed > 0 && seen >= 0) {
      const gap = make("td", missed === 1 ? "1 request is not shown" : `${missed} requests are not shown`, "muted")
      gap.setAttribute("colspan", "4")
      log.prepend(row([gap]))
    }
    for (const entry of entries) log.prepend(requestRow(entry))
    seen = entries.at(-1)?.index ?? seen
    waiting = []
    while (log.rows.length > most) log.deleteRow(-1)
    say("requests", seen < 0 ? "No request yet." : `${seen + 1} ${seen === 0 ? "request" : "requests"} so far.`)
  }

  events.addEventListener("request", ({ data }) => {
    const entry: Logged = JSON.parse(String(data))
    if (entry.index <= (waiting.at(-1)?.index ?? seen)) return
    if (waiting.length === 0) setTimeout(draw, 100)
    waiting.push(entry)
  })
  events.addEventListener("error", () => say("requests", "The service does not answer; trying again.", true))
  events.addEventListener("open", draw)
}
