/** The checks of `doctor` that send one filter each and compare the rows with it. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Company } from "../../Company.ts"
import { BusinessDate } from "../../Ids.ts"
import type { Page } from "../../Page.ts"
import type { Criteria, PunchFilter } from "../../PunchFilter.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { TimePunches } from "../../TimePunches.ts"
import { exitCode } from "../failure.ts"
import { countedPunches } from "../terminal/format.ts"
import { type CheckResult, fail, failed, ok, warn } from "./checkResult.ts"
import { isLatestFirst, mismatches } from "./matching.ts"

/** A filter, and a punch that it must find, if one is known. */
interface Probe {
  readonly name: string
  readonly filter: PunchFilter
  readonly finds: Option.Option<TimePunch>
}

const probe = (name: string, filter: PunchFilter, finds?: TimePunch): Probe => ({
  name,
  filter,
  finds: Option.fromUndefinedOr(finds)
})

/** One probe for every filter whose effect a punch shows, made from an existing punch. */
const probesOf = (sample: TimePunch): ReadonlyArray<Probe> => {
  const { clockedIn } = sample
  const department = Option.getOrUndefined(sample.departmentId)
  const clockedOut = Option.getOrUndefined(sample.clockedOut)
  const modified = Option.getOrUndefined(sample.modified)
  const date = BusinessDate.make(DateTime.formatIsoDateUtc(clockedIn))
  const shown: Criteria = sample.deleted ? { deleted: "include" } : {}
  return [
    probe("location_id", { ...shown, locationId: sample.locationId }, sample),
    ...(department === undefined ? [] : [probe("department_id", { ...shown, departmentId: department }, sample)]),
    probe("role_id", { ...shown, roleId: sample.roleId }, sample),
    probe("user_id", { ...shown, userId: sample.userId }, sample),
    probe("approved=true", { ...shown, approved: true }, sample.approved ? sample : undefined),
    probe("approved=false", { ...shown, approved: false }, sample.approved ? undefined : sample),
    probe("deleted=exclude", { deleted: "exclude" }),
    probe("deleted=only", { deleted: "only" }),
    probe("clocked_in", { ...shown, clockedIn: { gte: clockedIn, lte: clockedIn } }, sample),
    ...(clockedOut === undefined
      ? []
      : [probe("clocked_out", { ...shown, clockedOut: { gte: clockedOut, lte: clockedOut } }, sample)]),
    ...(modified === undefined
      ? []
      : [probe("modified_since", { ...shown, modifiedSince: DateTime.subtract(modified, { seconds: 1 }) }, sample)]),
    // The service does not say which zone the date is in, so the punch may belong to the day before or after.
    probe("business_date", { ...shown, businessDate: { start: date, end: date } }),
    probe("flags=auto_clocked_out", { ...shown, flags: ["auto_clocked_out"] })
  ]
}

/** Checks the rows of a page against the filter that was sent. */
export const checkRows = (
  name: string,
  filter: PunchFilter,
  finds: Option.Option<TimePunch>,
  page: Page
): CheckResult => {
  const { cursor, items } = page
  const check = `filter ${name}`
  const mismatched = items.flatMap((punch) => {
    const names = mismatches(filter, punch)
    return names.length === 0 ? [] : [{ id: punch.id, names }]
  })
  const [first] = mismatched
  if (first !== undefined) {
    return fail(
      check,
      `${mismatched.length} of ${countedPunches(items.length)} do not match, such as ${first.id} (${
        first.names.join(", ")
      })`,
      "The service does not apply it as sent: check the rows yourself, and report it.",
      exitCode.data
    )
  }
  const isAll = Option.isNone(cursor.next)
  const missing = Option.filter(finds, ({ id }) => isAll && !items.some((punch) => punch.id === id))
  if (Option.isSome(missing)) {
    return fail(
      check,
      `punch ${missing.value.id} matches, and is not among ${countedPunches(items.length)}`,
      "The service omits matching punches: do not rely on this filter, and report it.",
      exitCode.data
    )
  }
  if (items.length === 0) return ok(check, "no punch, which is possible")
  return ok(check, `${countedPunches(items.length)}, all match${isShown(filter) ? "" : " as far as a punch shows it"}`)
}

/** Whether a punch shows every condition of the filter. */
const isShown = (filter: PunchFilter): boolean =>
  filter.employeeApprovalStatuses === undefined &&
  filter.localizeSearchTime !== true &&
  (filter.flags ?? []).every((flag) => flag === "auto_clocked_out")

const runProbe = Effect.fnUntraced(function*(company: Company, { filter, finds, name }: Probe, pageSize: number) {
  const page = yield* Effect.result(TimePunches.page(company, filter, { pageSize }))
  return page._tag === "Failure" ? failed(`filter ${name}`, page.failure) : checkRows(name, filter, finds, page.success)
})

/** One check and one request for each probe. The sample is a closed punch if there is one: it allows most probes. */
export const filterChecks = (company: Company, page: Page, pageSize: number) => {
  const sample = page.items.find((punch) => Option.isSome(punch.clockedOut) && Option.isSome(punch.departmentId)) ??
    page.items[0]
  return sample === undefined
    ? []
    : [...probesOf(sample).map((probe) => runProbe(company, probe, pageSize)), checkOrder(company, pageSize)]
}

/** Only a warning: many services ignore the order, and a complete listing does not depend on it. */
const checkOrder = (company: Company, pageSize: number) =>
  TimePunches.page(company, { sortBy: [["clockedIn", "desc"]] }, { pageSize }).pipe(
    Effect.match({
      onFailure: (error) => failed("sort_by", error),
      onSuccess: ({ items }) =>
        isLatestFirst(items)
          ? ok("sort_by", "clocked_in.desc gives the latest first")
          : warn("sort_by", "clocked_in.desc does not give the latest first", "Sort the rows yourself.")
    })
  )
