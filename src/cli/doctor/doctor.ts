/** `time-punches doctor`: checks settings and service, one line a check, and one advice. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Struct from "effect/Struct"
import type { Company } from "../../Company.ts"
import { RunLenient } from "../../listing/contradiction.ts"
import { PageSize } from "../../ListOptions.ts"
import type { PunchFilter } from "../../PunchFilter.ts"
import { RetryPolicy } from "../../RetryPolicy.ts"
import { layerCopy } from "../database/copy.ts"
import { databaseFlag, optionalTargetOf } from "../database/database.ts"
import { layerClient } from "../database/source.ts"
import { CommandFailure, usage } from "../failure.ts"
import { companyFlags, type CompanyInput, limitFlags, type LimitInput } from "../flags/connection.ts"
import { describeFilter, filterFlags, type FilterInput, toFilter } from "../flags/filter.ts"
import { isJson, jsonFlags, type JsonInput } from "../flags/form.ts"
import { makePageSizeFlag, pageSizeOf } from "../flags/paging.ts"
import { onFlag } from "../flags/values.ts"
import { counted } from "../print/format.ts"
import { runnable } from "../print/messages.ts"
import { printLines, screen } from "../print/output.ts"
import { makeVerb } from "../verb.ts"
import { questions } from "./ask.ts"
import { checkCopy, storeFailed } from "./copy.ts"
import { checkDeletions, compare, listing, probes } from "./filters.ts"
import {
  checkBreaks,
  checkClock,
  checkCursors,
  checkFirstPage,
  checkMarks,
  checkOrderById,
  checkPageSize,
  layerClockSkew,
  readKnown,
  type Survey
} from "./listing.ts"
import { type CheckResult, failed, mostBasic, render, renderAdvice, renderJson, unknownResult, warn } from "./report.ts"
import { checkSettings } from "./settings.ts"

/** Small, so that a few punches still make several pages. */
const usualPageSize = 20

export const verb = makeVerb(
  "doctor",
  {
    ...companyFlags,
    ...limitFlags,
    ...filterFlags,
    database: databaseFlag,
    full: onFlag("full", "With --database: compare every punch, not a sample"),
    ask: onFlag("ask", "Only print the requests that a real account must answer"),
    ...jsonFlags,
    pageSize: makePageSizeFlag(`${usualPageSize}`)
  },
  ({ ask, pageSize, ...flags }) =>
    ask ? printLines([questions]) : diagnose(flags, Option.getOrElse(pageSize, () => usualPageSize)),
  {
    text: `Check settings and service, one line a check: ok, warn or FAIL, and at the
  end one advice.

  It checks the settings, the service's answer, its version and clock, whether
  the credential may list the company, whether cursors lead forward and end
  where the punches end, which order and which page size an incremental sync
  can rely on, and whether a filter omits punches that match: about 30
  requests, and more if answers contradict each other. Whether the rows match
  a filter is seen by every command that lists them.

  With --database it also checks a copy that time-punches sync keeps: its age,
  its rows, and whether 20 punches drawn at random, or all of them with
  --full, are what the service shows. The exit code is that of the failed
  check with the most basic cause.`,
    examples: [
      ["doctor", "Everything"],
      ["doctor --database punches.db --full", "Compare a copy with the service"],
      ["doctor --ask", "Eight requests for a shell, and what each answer means"],
      ["doctor --flags late --approved false", "Check the punches of these filters"]
    ]
  }
)

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
  const json = yield* isJson(flags)
  const filter = yield* toFilter(flags)
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
    const usualSize = yield* pageSizeOf(Option.none())
    let takenSize = usualSize
    const layer = layerClient(flags).pipe(
      Layer.provide(layerImpatient),
      Layer.provide(layerClockSkew((value) => (skew = value)))
    )
    yield* checkService({
      company: settings.company.value,
      filter,
      pageSize,
      usualSize,
      onTaken: (size) => (takenSize = Math.min(size, usualSize)),
      isFiltered: Object.keys(describeFilter(flags)).length > 0,
      skew: () => skew,
      report
    }).pipe(Effect.provide(layer), lenient)
    if (Option.isSome(target)) {
      const copy = checkCopy(settings.company.value, full).pipe(
        Effect.provide(layerCopy(settings.company.value.id, target.value)),
        Effect.catchTag(
          ["SqlError", "PlatformError", "CommandFailure"],
          (error) => Effect.succeed([storeFailed(error)])
        )
      )
      const checks = copy.pipe(Effect.provide(layer), Effect.provideService(PageSize, takenSize))
      yield* report(...(yield* lenient(checks)))
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

/** A filter that gives too much must not hide what another one omits. */
const lenient = Effect.provideService(RunLenient, { seen: undefined })

/** After this number of checks that did not reach the service, the others are given up: each would wait as long. */
const mostOutages = 3

const checkService = Effect.fnUntraced(function*<E, R>(options: {
  readonly company: Company
  readonly filter: PunchFilter
  readonly pageSize: number
  /** That of other commands. */
  readonly usualSize: number
  /** Called with the largest page size that the service takes. */
  readonly onTaken: (size: number) => void
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

  // As a run reads it: a row that contradicts the filter fails it.
  const { first, results } = yield* checkFirstPage(company, filter, pageSize, isFiltered).pipe(
    Effect.provideService(RunLenient, undefined)
  )
  yield* report(...results)
  const skew = options.skew()
  if (skew !== undefined) yield* report(checkClock(skew))
  if (Option.isNone(first) || first.value.punches.length === 0) return

  const largest = yield* Effect.result(readKnown(company, filter))
  if (Result.isFailure(largest)) yield* report(failed("page size", largest.failure, "answer"))
  const known = Result.getOrElse(largest, () => ({ ...first.value, size: pageSize }))
  options.onTaken(known.size)
  if (Result.isSuccess(largest)) yield* report(checkPageSize(first.value, pageSize, largest.success, options.usualSize))
  yield* report(
    checkBreaks(known),
    ...unknownResult("unknown fields", known.pages[0]?.unknown ?? []),
    ...(yield* checkMarks(known))
  )
  const survey: Survey = { company, filter, pageSize, known, answers: [{ ...known, name: listing, filter }] }

  yield* report(yield* checkCursors(survey))
  const one = <E2, R2>(check: Effect.Effect<CheckResult, E2, R2>) => Effect.map(check, (result) => [result])
  const checks = [one(checkOrderById(survey)), one(checkDeletions(survey)), ...probes(survey), compare(survey)]
  for (const [index, check] of checks.entries()) {
    if (isRefused || outages >= mostOutages) {
      const left = checks.length - index
      return yield* options.report(
        warn("other checks", `${left} were given up`, isRefused ? "credential" : "reachability", "Check again later.")
      )
    }
    yield* report(...(yield* Effect.provideService(check, PageSize, known.size)))
  }
})
