/** The filters of a listing (spec 4.1); order and pages are elsewhere. */
import { day } from "../base/wireDate.ts"
import type { ListQuery } from "./listQuery.ts"
import type { Row } from "./row.ts"

type Test = (row: Row) => boolean

/** A range with inclusive ends. A row without the value is outside every range, also one with a single end. */
const within = (
  range: { readonly gte?: number | undefined; readonly lte?: number | undefined },
  valueOf: (row: Row) => number | undefined
): Test | undefined => {
  const { gte, lte } = range
  if (gte === undefined && lte === undefined) return undefined
  return (row) => {
    const value = valueOf(row)
    return value !== undefined && (gte === undefined || value >= gte) && (lte === undefined || value <= lte)
  }
}

const dateTests = (query: ListQuery): ReadonlyArray<Test | undefined> => {
  const { businessDate, clockedIn, clockedOut, localized } = query
  const inOf = localized ? (row: Row) => row.localClockedIn : (row: Row) => row.clockedIn
  const outOf = localized ? (row: Row) => row.localClockedOut : (row: Row) => row.clockedOut
  const businessDayOf = (row: Row) => {
    const instant = inOf(row)
    return instant === undefined ? undefined : Math.floor(instant / day)
  }
  // Business dates disable the clock filters (spec 4.1, rule 1); they do not narrow them.
  const byBusinessDate = within(businessDate, businessDayOf)
  if (byBusinessDate !== undefined) return [byBusinessDate]
  const read = localized ? "wall" : "epoch"
  return [
    within({ gte: clockedIn.gte?.[read], lte: clockedIn.lte?.[read] }, inOf),
    within({ gte: clockedOut.gte?.[read], lte: clockedOut.lte?.[read] }, outOf)
  ]
}

const equal = <A>(wanted: A | undefined, valueOf: (row: Row) => A): Test | undefined =>
  wanted === undefined ? undefined : (row) => valueOf(row) === wanted

/** The test of every filter at once. */
export const makeMatcher = (query: ListQuery): Test => {
  const { deleted, flags, modifiedSince, statuses } = query
  const tests = [
    equal(deleted ?? undefined, (row) => row.deleted),
    // 0 selects the punches without such an id, in every form of the wire.
    ...[...query.ids].map(([name, id]) => (row: Row) => (row.wire[name] ?? 0) === id),
    equal(query.approved, (row) => row.wire.approved),
    ...dateTests(query),
    modifiedSince && ((row: Row) => row.modified !== undefined && row.modified > modifiedSince.epoch),
    flags && ((row: Row) => row.flags.some((flag) => flags.includes(flag))),
    statuses && ((row: Row) => statuses.includes(row.employeeApprovalStatus))
  ].filter((test) => test !== undefined)
  return (row) => tests.every((test) => test(row))
}
