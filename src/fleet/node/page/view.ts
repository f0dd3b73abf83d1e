/**
 * START HERE. What the page of a fleet shows, from what was read of the database, and the same as JSON. It has no secret, no
 * cursor and no wage. Pure.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { CompanyStatus, FleetState } from "../../CompanyState.ts"
import { encodePause, type Pause } from "../../store/operator.ts"
import { encodeProcess, type FleetProcess } from "../../store/runners.ts"

/** A company, with the process that has it or had it last. */
export interface Watched extends CompanyStatus {
  readonly runner: string | undefined
  readonly isInWork: boolean
}

/** What one process did in one minute. */
interface Minute {
  /** Minutes since 1970. */
  readonly minute: number
  readonly runner: string
  readonly runs: number
  readonly pages: number
  readonly rows: number
  readonly failures: number
}

/** The whole fleet at one time, by the clock of the database. */
export interface View {
  readonly at: DateTime.Utc
  readonly companies: ReadonlyArray<Watched>
  /** Of the last hour. */
  readonly minutes: ReadonlyArray<Minute>
  readonly pauses: ReadonlyArray<Pause>
  readonly runners: ReadonlyArray<FleetProcess>
}

export const kinds = ["all", "late", "failing", ...FleetState.literals] as const
export const orders = ["trouble", "late", "failures", "next", "company"] as const

/** Which companies are shown, and in which order. */
export const PageQuery = Schema.Struct({
  show: Schema.Literals(kinds),
  sort: Schema.Literals(orders),
  /** The beginning of an id; empty for all. */
  find: Schema.String,
  limit: Schema.Int
})

export type PageQuery = typeof PageQuery.Type

/** Rows of a page, at most. A page with more than `mostLive` is not loaded again while it is open. */
export const mostRows = 10_000
export const mostLive = 500

/** The query of a URL. What is not understood is as if it were left out. */
export const readQuery = (url: string): PageQuery => {
  const given = new URLSearchParams(url.split("?")[1] ?? "")
  const limit = Number(given.get("limit") ?? "")
  const find = (given.get("find") ?? "").trim()
  return {
    show: kinds.find((kind) => kind === given.get("show")) ?? "all",
    sort: orders.find((order) => order === given.get("sort")) ?? "trouble",
    find: /^\d{1,16}$/.test(find) ? find : "",
    limit: Number.isInteger(limit) && limit >= 1 ? Math.min(limit, mostRows) : 100
  }
}

const isFailing = ({ failures, state }: CompanyStatus) =>
  state === "blocked" || state === "quarantined" || (state === "active" && failures > 0)
export const isLate = ({ every, late, state }: CompanyStatus) =>
  state === "active" && Duration.isGreaterThan(late, every)

const lateSecondsOf = ({ late }: CompanyStatus): number => Duration.toSeconds(late)

/** What needs a person comes first, then what is late, what fails, and what an operator paused. */
const rankOf = (company: CompanyStatus): number =>
  company.state === "quarantined" || company.state === "blocked"
    ? 0
    : company.state === "paused"
    ? 3
    : isLate(company)
    ? 1
    : company.failures > 0
    ? 2
    : 4

const comparisons: { readonly [Order in PageQuery["sort"]]: (one: Watched, other: Watched) => number } = {
  trouble: (one, other) =>
    rankOf(one) - rankOf(other) || lateSecondsOf(other) - lateSecondsOf(one) || other.failures - one.failures,
  late: (one, other) => lateSecondsOf(other) - lateSecondsOf(one),
  failures: (one, other) => other.failures - one.failures,
  next: (one, other) => one.nextAt.epochMilliseconds - other.nextAt.epochMilliseconds,
  company: () => 0
}

/** The companies of a query: those that are shown, and how many there are. */
export const select = ({ companies }: View, { find, limit, show, sort }: PageQuery) => {
  const found = companies.filter((company) =>
    (show === "all" ||
      (show === "late" ? isLate(company) : show === "failing" ? isFailing(company) : company.state === show)) &&
    `${company.companyId}`.startsWith(find)
  )
  const compare = comparisons[sort]
  const sorted = found.toSorted((one, other) => compare(one, other) || one.companyId - other.companyId)
  return { shown: sorted.slice(0, limit), count: found.length }
}

type Sums = Pick<Minute, "runs" | "pages" | "rows" | "failures">

/** What was done in some minutes together. */
const sumOf = (minutes: ReadonlyArray<Sums>): Sums => {
  const of = (field: keyof Sums) => minutes.reduce((sum, minute) => sum + minute[field], 0)
  return { runs: of("runs"), pages: of("pages"), rows: of("rows"), failures: of("failures") }
}

/** What the head of the page says, and `status.json`. */
export const summaryOf = ({ at, companies, minutes, runners }: View) => {
  const count = (is: (company: Watched) => boolean) => companies.filter(is).length
  const active = companies.filter(({ state }) => state === "active")
  return {
    companies: companies.length,
    states: Object.fromEntries(
      FleetState.literals.map((state) => [state, count((company) => company.state === state)])
    ),
    inWork: count(({ isInWork }) => isInWork),
    due: active.filter(({ nextAt }) => nextAt.epochMilliseconds <= at.epochMilliseconds).length,
    late: count(isLate),
    failing: count(isFailing),
    lateSeconds: active.reduce((most, company) => Math.max(most, lateSecondsOf(company)), 0),
    hour: sumOf(minutes),
    runners: runners.map((process) =>
      Object.assign(encodeProcess(process), sumOf(minutes.filter(({ runner }) => runner === process.runner)))
    )
  }
}

/** The sums of each of the last 60 minutes, the oldest first; the last one is not over. */
export const sumsOf = ({ at, minutes }: View) => {
  const last = Math.floor(at.epochMilliseconds / 60_000)
  return Array.from({ length: 60 }, (_, index) => sumOf(minutes.filter(({ minute }) => minute === last - 59 + index)))
}

const encodeStatus = Schema.encodeSync(CompanyStatus)

/** The same as JSON. */
export const statusJson = (view: View, query: PageQuery, runner: string) => {
  const { count, shown } = select(view, query)
  return {
    at: DateTime.formatIso(view.at),
    runner,
    ...summaryOf(view),
    pauses: view.pauses.map(encodePause),
    found: count,
    list: shown.map((company) => {
      const { isInWork, runner } = company
      const { lastError, ...encoded } = encodeStatus(company)
      const shownError = lastError && { at: lastError.at, tag: lastError.tag }
      return Object.assign(encoded, { lastError: shownError, runner: runner ?? null, inWork: isInWork })
    })
  }
}
