/** The checks of `doctor` on the service as a whole: its first answer, its page size, its clock. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Company } from "../../Company.ts"
import type { PunchFilter } from "../../PunchFilter.ts"
import { maxPageSize } from "../flags/paging.ts"
import { countedPunches } from "../terminal/format.ts"
import { type Listing, readFirst } from "./answers.ts"
import { type CheckResult, ok, warn } from "./checkResult.ts"
import { failedAtFirst } from "./explain.ts"

/** Reports for each response how far this machine's clock is ahead of its `Date`, in milliseconds. */
export const layerClockSkew = (onSkew: (skew: number) => void) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) =>
      HttpClient.tap(client, (response) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const date = Option.map(Headers.get(response.headers, "date"), Date.parse)
          if (Option.isSome(date) && Number.isFinite(date.value))
            onSkew(now - date.value)
        })))
  )

/** Milliseconds. A `Date` has whole seconds, and a response takes time: smaller differences mean nothing. */
const skewTolerance = 30_000

export const checkClock = (skew: number): CheckResult => {
  if (Math.abs(skew) < skewTolerance) return ok("clock", "agrees with the service's")
  return warn(
    "clock",
    `${Duration.format(Duration.seconds(Math.round(Math.abs(skew) / 1000)))} ${
      skew > 0 ? "ahead of" : "behind"
    } the service's`,
    "clock",
    "Set this machine's clock, or windows that end now leave punches out. If it is right, the service's is wrong."
  )
}

/** Milliseconds after which an answer counts as slow. */
const slow = 5000

const checkTime = (millis: number): CheckResult =>
  millis < slow
    ? ok("service", `answered in ${millis} ms`)
    : warn("service", `answered in ${millis} ms`, "reachability", "The service is slow: allow long runs more time.")

const checkCount = ({ pages, punches }: Listing, isFiltered: boolean): CheckResult => {
  if (punches.length > 0) return ok("rows", `${countedPunches(punches.length)} could be read`)
  const advice = isFiltered
    ? "Give fewer filters: the other checks need punches."
    : "Give a company that has punches: the other checks need some."
  return warn(
    "rows",
    pages.length > 1 ? `the first ${pages.length} pages are empty` : "no punch matches",
    "answer",
    advice
  )
}

/** Reads the first punches; the other checks need them. */
export const checkFirstPage = Effect.fnUntraced(
  function*(company: Company, filter: PunchFilter, pageSize: number, isFiltered: boolean) {
    const [took, first] = yield* Effect.timed(Effect.result(readFirst(company, filter, pageSize)))
    if (Result.isFailure(first)) return { results: [failedAtFirst(first.failure)], first: Option.none<Listing>() }
    const results = [
      checkTime(Math.round(Duration.toMillis(took))),
      ok("access", `the credential may list company ${company.id}`),
      checkCount(first.success, isFiltered)
    ]
    return { results, first: Option.some(first.success) }
  }
)

/** Compares the pages with the sizes that were requested. Only a warning: no row is lost. */
export const checkPageSize = (first: Listing, pageSize: number, known: Listing): CheckResult => {
  const requested = [[first, pageSize], [known, maxPageSize]] as const
  const larger = requested.find(([{ pages }, size]) => pages.some(({ items }) => items.length > size))
  if (larger !== undefined) {
    const [{ punches }, size] = larger
    return warn(
      "page size",
      `${countedPunches(punches.length)} for a page size of ${size}`,
      "answer",
      "The service ignores the page size: expect large pages."
    )
  }
  const last = known.pages.at(-1)
  const rows = last === undefined ? 0 : Option.getOrElse(last.cursor.count, () => last.items.length)
  return known.isWhole || rows >= maxPageSize
    ? ok("page size", known.isWhole ? "no page is larger than requested" : `${maxPageSize} punches for ${maxPageSize}`)
    : warn(
      "page size",
      `${countedPunches(rows)} for a page size of ${maxPageSize}, and more follow`,
      "answer",
      "The service sends smaller pages than requested: expect more requests."
    )
}
