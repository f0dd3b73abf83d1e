/** The checks of `doctor` that send one filter each and compare the rows with it. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Page } from "../../Page.ts"
import type { PunchFilter } from "../../PunchFilter.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { TimePunches } from "../../TimePunches.ts"
import { countedPunches } from "../terminal/format.ts"
import { idsOf, isAmong, readKnown, type Survey } from "./answers.ts"
import { changed, type CheckResult, fail, ok, warn } from "./checkResult.ts"
import { failed } from "./explain.ts"
import { isLatestFirst, isShown, mismatches, mustMatch } from "./matching.ts"

/** A filter to send. */
export interface Probe {
  readonly name: string
  readonly filter: PunchFilter
  /** A punch that it must find beside those for which `mustMatch` says so. */
  readonly finds?: TimePunch
  /** A filter that allows for digits which the punch does not show. It finds `finds` if only those are the reason. */
  readonly wider?: PunchFilter
  /** Whether the filter has an id that the service may not know: it may reject that. */
  readonly isUnknown?: boolean
}

export const notApplied = "The service does not apply these filters as sent: check the rows yourself, and report it."

export const omits = "The service omits matching punches: do not rely on these filters, and report it."

/** Checks whether the rows match the filter that was sent. */
export const checkRows = (name: string, filter: PunchFilter, items: ReadonlyArray<TimePunch>): CheckResult => {
  const check = `filter ${name}`
  const mismatched = items.flatMap((punch) => {
    const names = mismatches(filter, punch)
    return names.length === 0 ? [] : [{ id: punch.id, names }]
  })
  const [first] = mismatched
  if (first !== undefined) {
    const such = `${first.id} (${first.names.join(", ")})`
    const of = countedPunches(items.length)
    return fail(check, `${mismatched.length} of ${of} do not match, such as ${such}`, "filters", notApplied)
  }
  if (items.length === 0) return ok(check, "no punch, which is possible")
  return ok(check, `${countedPunches(items.length)}, all match${isShown(filter) ? "" : " as far as a punch shows it"}`)
}

/** The punches that the answer to a probe must have and does not, if it has all rows. */
const missingFrom = ({ cursor, items }: Page, { filter, finds }: Probe, survey: Survey): ReadonlyArray<TimePunch> => {
  if (Option.isSome(cursor.next)) return []
  const got = new Set(idsOf(items))
  return [
    ...(finds === undefined ? [] : [finds]),
    ...survey.known.punches.filter((punch) => mustMatch(filter, punch))
  ].filter(({ id }) => !got.has(id))
}

/** Reads the first page of a filter, a large one so that most answers are whole, and adds its rows to the sightings. */
export const readProbe = Effect.fnUntraced(function*(survey: Survey, filter: PunchFilter) {
  const page = yield* TimePunches.page(survey.company, filter)
  survey.sightings.push(...page.items.map((punch) => ({ punch, filter })))
  return page
})

/** Sends a probe. A missing punch counts only if the survey's own query still gives it, unchanged. */
export const runProbe = Effect.fnUntraced(function*(survey: Survey, probe: Probe) {
  const check = `filter ${probe.name}`
  const answer = yield* Effect.result(readProbe(survey, probe.filter))
  if (Result.isFailure(answer)) {
    const { failure } = answer
    return probe.isUnknown === true && (failure._tag === "UnprocessableEntity" || failure._tag === "UnexpectedStatus")
      ? ok(check, "an id without punches is rejected")
      : failed(check, failure, "filters")
  }
  const page = answer.success
  const rows = checkRows(probe.name, probe.filter, page.items)
  if (rows.status !== "ok") return rows
  const missing = missingFrom(page, probe, survey)
  return missing.length === 0 ? rows : yield* checkMissing(survey, probe, page, missing)
}, (effect, _, { name }) => Effect.catch(effect, (error) => Effect.succeed(failed(`filter ${name}`, error, "filters"))))

const checkMissing = Effect.fnUntraced(
  function*(survey: Survey, { finds, name, wider }: Probe, page: Page, missing: ReadonlyArray<TimePunch>) {
    const check = `filter ${name}`
    const again = yield* readKnown(survey.company, survey.filter)
    const first = missing.find((punch) => isAmong(punch, again.punches))
    if (first === undefined) return changed(check, "filters")
    if (wider !== undefined && first.id === finds?.id) {
      const widened = yield* readProbe(survey, wider)
      if (idsOf(widened.items).includes(first.id)) {
        return warn(
          check,
          `punch ${first.id} at an end of the window is not found`,
          "filters",
          "An end of the window is exclusive, or instants have hidden digits: let windows overlap by a second."
        )
      }
    }
    const detail = `punch ${first.id} matches, and is not among ${countedPunches(page.items.length)}`
    return fail(check, detail, "filters", omits)
  }
)

/** Only a warning: many services ignore the order, and a complete listing does not depend on it. */
export const checkOrder = (survey: Survey) =>
  readProbe(survey, { sortBy: [["clockedIn", "desc"]] }).pipe(
    Effect.match({
      onFailure: (error) => failed("sort_by", error, "filters"),
      onSuccess: ({ items }) =>
        isLatestFirst(items)
          ? ok("sort_by", "clocked_in.desc gives the latest first")
          : warn("sort_by", "clocked_in.desc does not give the latest first", "filters", "Sort the rows yourself.")
    })
  )
