/** The checks of `doctor` on filters whose values divide the punches: `deleted`, and the employee's approval. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Page } from "../../Page.ts"
import type { PunchFilter } from "../../PunchFilter.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { countedPunches } from "../terminal/format.ts"
import { isAmong, type Survey } from "./answers.ts"
import { changed, type CheckResult, fail, ok, warn } from "./checkResult.ts"
import { failed } from "./explain.ts"
import { checkRows, notApplied, omits, readProbe } from "./probes.ts"

type Deleted = NonNullable<PunchFilter["deleted"]>

/** A punch of one kind must be found among both kinds, by a filter that is narrowed to it. */
const narrowedTo = (punch: TimePunch, deleted: Deleted): PunchFilter => ({
  deleted,
  userId: punch.userId,
  clockedIn: { gte: punch.clockedIn, lte: DateTime.add(punch.clockedIn, { seconds: 1 }) }
})

/** What `include` says of a punch that `own`, the value for its kind, gives. */
const findIncluded = Effect.fnUntraced(function*(survey: Survey, punch: TimePunch, own: Deleted) {
  const both = yield* readProbe(survey, narrowedTo(punch, "include"))
  if (both.items.some(({ id }) => id === punch.id)) return "found"
  if (Option.isSome(both.cursor.next)) return "unknown"
  const control = yield* readProbe(survey, narrowedTo(punch, own))
  return isAmong(punch, control.items) ? "omitted" : "unknown"
})

const included = "filter deleted=include"

/** Without a deleted punch to narrow to: a deleted punch of `include` contradicts an `only` that has none. */
const checkBoth = Effect.fnUntraced(function*(survey: Survey, only: Page) {
  const both = yield* readProbe(survey, { deleted: "include" })
  const found = both.items.find(({ deleted }) => deleted)
  if (found === undefined || Option.isSome(only.cursor.next)) return ok(included, "no deleted punch to check it with")
  const again = yield* readProbe(survey, { deleted: "only" })
  const confirmed = yield* readProbe(survey, { deleted: "include" })
  return again.items.length === 0 && isAmong(found, confirmed.items)
    ? fail(included, `deleted punch ${found.id} is in it, and not in deleted=only`, "filters", omits)
    : changed(included, "filters")
})

const checkIncluded = Effect.fnUntraced(
  function*(survey: Survey, exclude: Page, only: Page) {
    const kinds = [[only, "only", true], [exclude, "exclude", false]] as const
    const samples = kinds.flatMap(([{ items }, own, isDeleted]) => {
      const punch = items.find(({ deleted }) => deleted === isDeleted)
      return punch === undefined ? [] : [{ punch, own }]
    })
    for (const { own, punch } of samples) {
      const answer = yield* findIncluded(survey, punch, own)
      if (answer === "omitted") {
        return fail(included, `it omits punch ${punch.id}, which deleted=${own} gives`, "filters", omits)
      }
      if (answer === "unknown") {
        return warn(
          included,
          `could not be checked: user_id and clocked_in do not find punch ${punch.id}`,
          "filters",
          "Check again when fewer punches change."
        )
      }
    }
    return only.items.length === 0
      ? yield* checkBoth(survey, only)
      : ok(included, `has what deleted=only and deleted=exclude have, narrowed to ${countedPunches(samples.length)}`)
  },
  Effect.catch((error) => Effect.succeed(failed(included, error, "filters")))
)

/** `exclude`, `only` and `include`, each compared with the others. */
export const checkDeleted = Effect.fnUntraced(function*(survey: Survey) {
  const results: Array<CheckResult> = []
  const pages: Array<Page> = []
  for (const deleted of ["exclude", "only"] as const) {
    const filter: PunchFilter = { deleted }
    const page = yield* Effect.result(readProbe(survey, filter))
    if (page._tag === "Failure") return [...results, failed(`filter deleted=${deleted}`, page.failure, "filters")]
    results.push(checkRows(`deleted=${deleted}`, filter, page.success.items))
    pages.push(page.success)
  }
  const [exclude, only] = pages
  if (exclude !== undefined && only !== undefined) results.push(yield* checkIncluded(survey, exclude, only))
  return results
})

const statuses = "filter employee_approval_statuses"

/** A punch shows no approval of the employee, but it has one: it cannot be in the answers to two. */
export const checkStatuses = Effect.fnUntraced(
  function*(survey: Survey) {
    const pending: PunchFilter = { employeeApprovalStatuses: ["pending"] }
    const first = yield* readProbe(survey, pending)
    const second = yield* readProbe(survey, { employeeApprovalStatuses: ["approved"] })
    const twice = first.items.find((punch) => isAmong(punch, second.items))
    const pages = `${countedPunches(first.items.length)} pending, ${countedPunches(second.items.length)} approved`
    if (twice === undefined) return ok(statuses, `${pages}, none both; a punch does not show it`)
    const again = yield* readProbe(survey, pending)
    return isAmong(twice, again.items)
      ? fail(statuses, `punch ${twice.id} is both pending and approved`, "filters", notApplied)
      : changed(statuses, "filters")
  },
  Effect.catch((error) => Effect.succeed(failed(statuses, error, "filters")))
)
