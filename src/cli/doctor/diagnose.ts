/** A whole diagnosis: every check in turn, the advice, and a failure with the exit code of the most basic cause. */
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { RetryPolicy } from "../../RetryPolicy.ts"
import { layerCopy } from "../copy/copy.ts"
import { optionalTargetOf } from "../copy/database.ts"
import { CommandFailure, usage } from "../failure.ts"
import { type CompanyInput, layerClient } from "../flags/connection.ts"
import { describeFilter, type FilterInput, toFilter } from "../flags/filter.ts"
import { counted } from "../terminal/format.ts"
import { printLines } from "../terminal/output.ts"
import { checkCopy, storeFailed } from "./copy.ts"
import { checkService, layerClockSkew } from "./listing.ts"
import { type CheckResult, mostBasic, render, renderAdvice, renderJson } from "./report.ts"
import { checkSettings } from "./settings.ts"

/** Few and short attempts: a diagnosis should not take minutes. */
const layerImpatient = RetryPolicy.layer({ attempts: 2, attemptTimeout: "10 seconds", pageTimeout: "30 seconds" })

/** Prints one line a check as it ends; or all of them at the end, as one JSON object. */
export const diagnose = Effect.fnUntraced(function*(
  { database, full, json, ...flags }: CompanyInput & FilterInput & {
    readonly database: Option.Option<string>
    readonly full: boolean
    readonly json: boolean
  },
  pageSize: number
) {
  const { canColor } = yield* TerminalCapabilities
  const filter = yield* Effect.fromResult(toFilter(flags))
  const target = yield* optionalTargetOf(database)
  if (full && Option.isNone(target)) return yield* usage("--full goes with --database")
  const all: Array<CheckResult> = []
  const report = (...results: ReadonlyArray<CheckResult>) => {
    all.push(...results)
    return json ? Effect.void : printLines(results.map((result) => render(result, canColor)))
  }

  const settings = yield* checkSettings(flags)
  yield* report(...settings.results)
  if (Option.isSome(settings.company)) {
    let skew: number | undefined
    const layer = layerClient.pipe(
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
