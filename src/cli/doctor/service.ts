/** The checks of `doctor` on the service as a whole: its answer, its clock, its cursors forward and backward. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { ListError } from "../../ApiError.ts"
import type { Company } from "../../Company.ts"
import type { Cursor } from "../../Ids.ts"
import type { Page } from "../../Page.ts"
import type { PunchFilter } from "../../PunchFilter.ts"
import { TimePunches } from "../../TimePunches.ts"
import { exitCode } from "../failure.ts"
import { counted, countedPunches } from "../terminal/format.ts"
import { type CheckResult, fail, failed, ok, warn } from "./checkResult.ts"

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
    "Set this machine's clock, or windows that end now leave punches out."
  )
}

/** The check that fails with this error of the first request. */
const checkOf = (error: ListError): string => {
  switch (error._tag) {
    case "Unauthorized":
    case "Forbidden":
      return "access"
    case "TokenError":
      return error.reason === "Transport" || error.reason === "Throttled" ? "service" : "access"
    case "DecodeError":
      return error.reason === "WrongCompany" ? "company" : "rows"
    case "PaginationError":
      return "cursors"
    case "InvalidRequest":
    case "UnprocessableEntity":
      return "request"
    default:
      return "service"
  }
}

/** Requests the first page; the other checks need it. */
export const checkFirstPage = Effect.fnUntraced(function*(company: Company, filter: PunchFilter, pageSize: number) {
  const [took, page] = yield* Effect.timed(Effect.result(TimePunches.page(company, filter, { pageSize })))
  if (Result.isFailure(page)) {
    return { results: [failed(checkOf(page.failure), page.failure)], page: Option.none<Page>() }
  }
  const { items } = page.success
  const results = [
    ok("service", `answered in ${Math.round(Duration.toMillis(took))} ms`),
    ok("access", `the credential may list company ${company.id}`),
    items.length === 0
      ? warn("rows", "no punch matches", "Use fewer filters: the other checks need punches.")
      : items.length > pageSize
      ? warn(
        "rows",
        `${countedPunches(items.length)} for a page size of ${pageSize}`,
        "The service ignores the page size."
      )
      : ok("rows", `${countedPunches(items.length)} could be read`)
  ]
  return { results, page: Option.some(page.success) }
})

const pagesToWalk = 3

const idsOf = ({ items }: Page) => items.map((punch) => punch.id)

const isSame = (a: Page, b: Page): boolean => idsOf(a).join() === idsOf(b).join()

/** Walks some pages forward. A repeated cursor fails the walk itself. */
export const checkCursors = (company: Company, filter: PunchFilter, pageSize: number) =>
  TimePunches.pages(company, filter, { pageSize }).pipe(
    Stream.take(pagesToWalk),
    Stream.runCollect,
    Effect.match({
      onFailure: (error) => failed("cursors", error),
      onSuccess: (pages) => {
        const ids = pages.flatMap(idsOf)
        const repeated = ids.length - new Set(ids).size
        return repeated === 0
          ? ok("cursors", `${counted(pages.length, "page")} forward, ${countedPunches(ids.length)}, none twice`)
          : warn(
            "cursors",
            `${countedPunches(repeated)} repeated within ${counted(pages.length, "page")}`,
            "Unless punches are changing now, remove repeated rows by id."
          )
      }
    })
  )

/** Going back from the second page must give the first one again. */
export const checkBackward = Effect.fnUntraced(
  function*(company: Company, filter: PunchFilter, pageSize: number) {
    const page = (cursor: Option.Option<Cursor>) => TimePunches.page(company, filter, { pageSize, cursor })
    const first = yield* page(Option.none())
    if (Option.isNone(first.cursor.next)) return ok("back", "there is only one page")
    const second = yield* page(first.cursor.next)
    if (Option.isNone(second.cursor.prev)) {
      return warn("back", "the second page has no cursor back", "Do not page backward on this service.")
    }
    const back = yield* page(second.cursor.prev)
    if (isSame(first, back)) {
      return ok("back", `from page 2 back to page 1: the same ${countedPunches(back.items.length)}`)
    }
    return isSame(first, yield* page(Option.none()))
      ? fail(
        "back",
        "going back from page 2 does not give page 1",
        "Do not page backward on this service; paging forward is not affected.",
        exitCode.data
      )
      : warn("back", "page 1 changed during the check", "Run doctor again when fewer punches change.")
  },
  Effect.catch((error) => Effect.succeed(failed("back", error)))
)
