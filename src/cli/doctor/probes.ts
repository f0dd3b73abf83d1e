/** The checks of `doctor` that send one filter each and look whether the rows that come back are what was asked for. */
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
import { countedPunches } from "../terminal/progress.ts"
import { type CheckResult, fail, failed, ok, warn } from "./checkResult.ts"
import { isLatestFirst, mismatches } from "./matching.ts"

/** A filter, and the punch that it must find where one is known. */
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

/** One probe for every filter whose effect a punch shows, made from a punch that is there. */
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
    // Which zone the date is in, the service does not say: the punch may be of the day before or after.
    probe("business_date", { ...shown, businessDate: { start: date, end: date } }),
    probe("flags=auto_clocked_out", { ...shown, flags: ["auto_clocked_out"] })
  ]
}

/** What the rows of a page say of the filter that they were asked with. */
export const judge = (name: string, filter: PunchFilter, finds: Option.Option<TimePunch>, page: Page): CheckResult => {
  const { cursor, items } = page
  const check = `filter ${name}`
  const wrong = items.flatMap((punch) => {
    const names = mismatches(filter, punch)
    return names.length === 0 ? [] : [{ id: punch.id, names }]
  })
  const [first] = wrong
  if (first !== undefined) {
    return fail(
      check,
      `${wrong.length} of ${countedPunches(items.length)} do not match, such as ${first.id} (${
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
      "The service leaves out what it should find: do not rely on this filter, and report it.",
      exitCode.data
    )
  }
  if (items.length === 0) return ok(check, "no punch, which may well be")
  return ok(check, `${countedPunches(items.length)}, all match${isShown(filter) ? "" : " as far as a punch shows it"}`)
}

/** Whether a punch shows everything that the filter asks for. */
const isShown = (filter: PunchFilter): boolean =>
  filter.employeeApprovalStatuses === undefined &&
  filter.localizeSearchTime !== true &&
  (filter.flags ?? []).every((flag) => flag === "auto_clocked_out")

const asked = Effect.fnUntraced(function*(company: Company, { filter, finds, name }: Probe, pageSize: number) {
  const page = yield* Effect.result(TimePunches.page(company, filter, { pageSize }))
  return page._tag === "Failure" ? failed(`filter ${name}`, page.failure) : judge(name, filter, finds, page.success)
})

/** The probes, one request each; closed punches say most. */
export const probeFindings = (company: Company, page: Page, pageSize: number) => {
  const sample = page.items.find((punch) => Option.isSome(punch.clockedOut) && Option.isSome(punch.departmentId)) ??
    page.items[0]
  return sample === undefined
    ? []
    : [...probesOf(sample).map((probe) => asked(company, probe, pageSize)), orderFinding(company, pageSize)]
}

/** An order that is not kept is common, and no harm to a listing that is read to its end. */
const orderFinding = (company: Company, pageSize: number) =>
  TimePunches.page(company, { sortBy: [["clockedIn", "desc"]] }, { pageSize }).pipe(
    Effect.match({
      onFailure: (error) => failed("sort_by", error),
      onSuccess: ({ items }) =>
        isLatestFirst(items)
          ? ok("sort_by", "clocked_in.desc comes latest first")
          : warn("sort_by", "clocked_in.desc does not come latest first", "Sort the rows yourself.")
    })
  )
