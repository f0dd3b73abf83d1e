/** The checks of `doctor` that ask the service: its answer, its clock, its cursors forward and back. */
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
import { counted, countedPunches } from "../terminal/progress.ts"
import { type CheckResult, fail, failed, ok, warn } from "./checkResult.ts"

/** Passes requests on, and notes by how much this clock is ahead of the `Date` of each answer, in milliseconds. */
export const layerNotingDates = (note: (skew: number) => void) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) =>
      HttpClient.tap(client, (response) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const date = Option.map(Headers.get(response.headers, "date"), Date.parse)
          if (Option.isSome(date) && Number.isFinite(date.value))
            note(now - date.value)
        })))
  )

/** A `Date` has whole seconds, and answers take their time: nearer than this is no difference. */
const noticeable = 30_000

export const clockFinding = (skew: number): CheckResult => {
  if (Math.abs(skew) < noticeable) return ok("clock", "agrees with the service's")
  return warn(
    "clock",
    `${Duration.format(Duration.seconds(Math.round(Math.abs(skew) / 1000)))} ${
      skew > 0 ? "ahead of" : "behind"
    } the service's`,
    "Set this machine's clock, or windows that end now leave punches out."
  )
}

/** Which check an error of the first request belongs to. */
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

/** Asks for a first page. Without one there is nothing more to ask. */
export const firstPage = Effect.fnUntraced(function*(company: Company, filter: PunchFilter, pageSize: number) {
  const [took, page] = yield* Effect.timed(Effect.result(TimePunches.page(company, filter, { pageSize })))
  if (Result.isFailure(page))
    return { findings: [failed(checkOf(page.failure), page.failure)], page: Option.none<Page>() }
  const { items } = page.success
  const findings = [
    ok("service", `answered in ${Math.round(Duration.toMillis(took))} ms`),
    ok("access", `the credential may list company ${company.id}`),
    items.length === 0
      ? warn("rows", "no punch matches", "Ask with fewer filters: without punches the other checks find nothing.")
      : items.length > pageSize
      ? warn(
        "rows",
        `${countedPunches(items.length)} where ${pageSize} were asked for`,
        "The service ignores the page size."
      )
      : ok("rows", `${countedPunches(items.length)} could be read`)
  ]
  return { findings, page: Option.some(page.success) }
})

const walked = 3

const idsOf = ({ items }: Page) => items.map((punch) => punch.id)

const isSame = (a: Page, b: Page): boolean => idsOf(a).join() === idsOf(b).join()

/** Walks some pages forward. A cursor that comes twice fails the walk itself. */
export const cursorFinding = (company: Company, filter: PunchFilter, pageSize: number) =>
  TimePunches.pages(company, filter, { pageSize }).pipe(
    Stream.take(walked),
    Stream.runCollect,
    Effect.match({
      onFailure: (error) => failed("cursors", error),
      onSuccess: (pages) => {
        const ids = pages.flatMap(idsOf)
        const twice = ids.length - new Set(ids).size
        return twice === 0
          ? ok("cursors", `${counted(pages.length, "page")} forward, ${countedPunches(ids.length)}, none twice`)
          : warn(
            "cursors",
            `${counted(twice, "punch", "punches")} came twice within ${counted(pages.length, "page")}`,
            "Unless punches change right now, take them apart by id."
          )
      }
    })
  )

/** From the first page to the second and back must be the first again. */
export const backFinding = Effect.fnUntraced(
  function*(company: Company, filter: PunchFilter, pageSize: number) {
    const page = (cursor: Option.Option<Cursor>) => TimePunches.page(company, filter, { pageSize, cursor })
    const first = yield* page(Option.none())
    if (Option.isNone(first.cursor.next)) return ok("back", "one page is all there is")
    const second = yield* page(first.cursor.next)
    if (Option.isNone(second.cursor.prev)) {
      return warn("back", "the second page names no page before it", "Do not walk backward on this service.")
    }
    const back = yield* page(second.cursor.prev)
    if (isSame(first, back))
      return ok("back", `from page 2 back to page 1: the same ${countedPunches(back.items.length)}`)
    return isSame(first, yield* page(Option.none()))
      ? fail(
        "back",
        "going back from page 2 does not give page 1",
        "Do not walk backward on this service; forward is another matter.",
        exitCode.data
      )
      : warn("back", "page 1 changed meanwhile", "Run doctor again when it is quieter.")
  },
  Effect.catch((error) => Effect.succeed(failed("back", error)))
)
