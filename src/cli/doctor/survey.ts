/** The checks of `doctor` that need the service, in their order, and when the others are given up. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Company } from "../../Company.ts"
import type { PunchFilter } from "../../PunchFilter.ts"
import { readKnown, type Survey } from "./answers.ts"
import { type CheckResult, warn } from "./checkResult.ts"
import { checkBackward, checkCursors, checkEnd, checkFilteredCursors } from "./cursors.ts"
import { checkDeleted, checkStatuses } from "./exclusive.ts"
import { failed } from "./explain.ts"
import { checkOrder, checkRows, runProbe } from "./probes.ts"
import { probesOf } from "./probeTable.ts"
import { checkClock, checkFirstPage, checkPageSize } from "./service.ts"

/** After so many checks that found no service, the others are given up: each would wait as long. */
const mostOutages = 3

export const checkService = Effect.fnUntraced(function*<E, R>(options: {
  readonly company: Company
  readonly filter: PunchFilter
  readonly pageSize: number
  readonly isFiltered: boolean
  /** By how many milliseconds this machine's clock was ahead of the service's at the last response. */
  readonly skew: () => number | undefined
  readonly report: (...results: ReadonlyArray<CheckResult>) => Effect.Effect<void, E, R>
}) {
  const { company, filter, isFiltered, pageSize } = options
  let outages = 0
  let isRefused = false
  const report = (...results: ReadonlyArray<CheckResult>) => {
    const failures = results.filter(({ status }) => status === "FAIL")
    outages += failures.filter(({ reason }) => reason?.cause === "reachability").length
    isRefused ||= failures.some(({ reason }) => reason?.cause === "credential")
    return options.report(...results)
  }

  const { first, results } = yield* checkFirstPage(company, filter, pageSize, isFiltered)
  yield* report(...results)
  const skew = options.skew()
  if (skew !== undefined) yield* report(checkClock(skew))
  if (Option.isNone(first) || first.value.punches.length === 0) return

  const largest = yield* Effect.result(readKnown(company, filter))
  if (Result.isFailure(largest)) yield* report(failed("page size", largest.failure, "answer"))
  const known = Result.getOrElse(largest, () => first.value)
  if (Result.isSuccess(largest)) yield* report(checkPageSize(first.value, pageSize, known))
  const survey: Survey = { company, filter, pageSize, known, sightings: [] }

  const { result, walk } = yield* checkCursors(survey)
  yield* report(result)
  if (Option.isSome(walk)) yield* report(yield* checkBackward(survey, walk.value))
  if (isFiltered) yield* report(checkRows("as given", filter, known.punches))
  const one = <E2, R2>(check: Effect.Effect<CheckResult, E2, R2>) => Effect.map(check, (result) => [result])
  const checks = [
    one(checkFilteredCursors(survey)),
    checkDeleted(survey),
    ...probesOf(known.punches, yield* DateTime.now).map((probe) => one(runProbe(survey, probe))),
    one(checkStatuses(survey)),
    one(checkOrder(survey)),
    one(checkEnd(survey))
  ]
  for (const [index, check] of checks.entries()) {
    if (isRefused || outages >= mostOutages) {
      const left = checks.length - index
      return yield* options.report(
        warn("other checks", `${left} were given up`, isRefused ? "credential" : "reachability", "Check again later.")
      )
    }
    yield* report(...(yield* check))
  }
})
