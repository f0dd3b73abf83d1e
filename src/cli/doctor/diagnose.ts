/** A whole diagnosis: every check in turn, the advice, and a failure with the exit code of the most basic cause. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Struct from "effect/Struct"
import type { Company } from "../../Company.ts"
import type { PunchFilter } from "../../PunchFilter.ts"
import { RetryPolicy } from "../../RetryPolicy.ts"
import { layerCopy } from "../database/copy.ts"
import { optionalTargetOf } from "../database/database.ts"
import { CommandFailure, usage } from "../failure.ts"
import { layerClient } from "../flags/client.ts"
import type { CompanyInput, LimitInput } from "../flags/connection.ts"
import { describeFilter, type FilterInput, toFilter } from "../flags/filter.ts"
import { isJson, type JsonInput } from "../flags/values.ts"
import { counted } from "../print/format.ts"
import { runnable } from "../print/messages.ts"
import { printLines, screen } from "../print/output.ts"
import { checkCopy, storeFailed } from "./copy.ts"
import { checkDeleted, checkDeletions, checkOrder, checkRows, checkStatuses, probesOf, runProbe } from "./filters.ts"
import {
  checkBackward,
  checkClock,
  checkCursors,
  checkEnd,
  checkFilteredCursors,
  checkFirstPage,
  checkOrderById,
  checkPageSize,
  layerClockSkew,
  readKnown,
  type Survey
} from "./listing.ts"
import { type CheckResult, failed, mostBasic, render, renderAdvice, renderJson, unknownResult, warn } from "./report.ts"
import { checkSettings } from "./settings.ts"

/** Few and short attempts: a diagnosis should not take minutes. */
const layerImpatient = RetryPolicy.layer({ attempts: 2, attemptTimeout: "10 seconds", pageTimeout: "30 seconds" })

/** Prints one line a check as it ends; or all of them at the end, as one JSON object. */
export const diagnose = Effect.fnUntraced(function*(
  { database, full, ...flags }: CompanyInput & LimitInput & FilterInput & JsonInput & {
    readonly database: Option.Option<string>
    readonly full: boolean
  },
  pageSize: number
) {
  const { styles } = yield* screen
  const json = yield* Effect.fromResult(isJson(flags))
  const filter = yield* Effect.fromResult(toFilter(flags))
  const target = yield* optionalTargetOf(database)
  if (full && Option.isNone(target)) return yield* usage("--full goes with --database")
  const all: Array<CheckResult> = []
  const withSettings = yield* runnable
  const runnableReason = (reason: CheckResult["reason"]) =>
    reason && { cause: reason.cause, advice: withSettings(reason.advice) }
  const report = (...found: ReadonlyArray<CheckResult>) => {
    const results = found.map((result) => Struct.assign(result, { reason: runnableReason(result.reason) }))
    all.push(...results)
    return json ? Effect.void : printLines(results.map((result) => render(result, styles)))
  }

  const settings = yield* checkSettings(flags)
  yield* report(...settings.results)
  if (Option.isSome(settings.company)) {
    let skew: number | undefined
    const layer = layerClient(flags).pipe(
      Layer.provide(layerImpatient),
      Layer.provide(layerClockSkew((value) => (skew = value)))
    )
    yield* checkService({
      company: settings.company.value,
      filter,
      pageSize,
      isFiltered: Object.keys(describeFilter(flags)).length > 0,
      skew: () => skew,
      report
    }).pipe(Effect.provide(layer))
    if (Option.isSome(target)) {
      const copy = checkCopy(settings.company.value, full).pipe(
        Effect.provide(layerCopy(settings.company.value.id, target.value)),
        Effect.catchTag(
          ["SqlError", "PlatformError", "CommandFailure"],
          (error) => Effect.succeed([storeFailed(error)])
        )
      )
      yield* report(...(yield* Effect.provide(copy, layer)))
    }
  }
  yield* printLines([json ? renderJson(all) : renderAdvice(all)])
  const failures = all.filter(({ status }) => status === "FAIL")
  const first = mostBasic(failures)
  if (first !== undefined) {
    return yield* new CommandFailure({
      message: `${failures.length} of ${counted(all.length, "check")} failed`,
      advice: [],
      code: first.code
    })
  }
})

/** After this number of checks that did not reach the service, the others are given up: each would wait as long. */
const mostOutages = 3

const checkService = Effect.fnUntraced(function*<E, R>(options: {
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
  yield* report(...unknownResult("unknown fields", known.pages[0]?.unknown ?? []))
  const survey: Survey = { company, filter, pageSize, known, sightings: [] }

  const { result, walk } = yield* checkCursors(survey)
  yield* report(result)
  if (Option.isSome(walk)) yield* report(yield* checkBackward(survey, walk.value))
  if (isFiltered) yield* report(checkRows("as given", filter, known.punches))
  const one = <E2, R2>(check: Effect.Effect<CheckResult, E2, R2>) => Effect.map(check, (result) => [result])
  const checks = [
    one(checkFilteredCursors(survey)),
    one(checkOrderById(survey)),
    checkDeleted(survey),
    one(checkDeletions(survey)),
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
