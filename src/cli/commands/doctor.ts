/** `time-punches doctor`: checks settings and service, one line a check, and one advice. */
import * as Command from "effect/cli/Command"
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { RetryPolicy } from "../../RetryPolicy.ts"
import { type CheckResult, mostBasic, render, renderAdvice } from "../doctor/checkResult.ts"
import { layerClockSkew } from "../doctor/service.ts"
import { checkSettings } from "../doctor/settings.ts"
import { checkService } from "../doctor/survey.ts"
import { CommandFailure } from "../failure.ts"
import { companyFlags, layerClient } from "../flags/connection.ts"
import { describeFilter, filterFlags, toFilter } from "../flags/filter.ts"
import { makePageSizeFlag } from "../flags/paging.ts"
import { counted } from "../terminal/format.ts"
import { printLines } from "../terminal/output.ts"

/** Small, so that a few punches still make several pages. */
const usualPageSize = 20

/** Few and short attempts: a diagnosis should not take minutes. */
const layerImpatient = RetryPolicy.layer({ attempts: 2, attemptTimeout: "10 seconds", pageTimeout: "30 seconds" })

export const doctor = Command.make(
  "doctor",
  { ...companyFlags, ...filterFlags, pageSize: makePageSizeFlag(usualPageSize) },
  Effect.fnUntraced(function*(flags) {
    const { canColor } = yield* TerminalCapabilities
    const filter = yield* Effect.fromResult(toFilter(flags))
    const pageSize = Option.getOrElse(flags.pageSize, () => usualPageSize)
    const all: Array<CheckResult> = []
    const report = (...results: ReadonlyArray<CheckResult>) => {
      all.push(...results)
      return printLines(results.map((result) => render(result, canColor)))
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
    }
    yield* printLines([renderAdvice(all)])
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
).pipe(
  Command.withDescription(
    `Check settings and service, one line a check: ok, warn or FAIL, and at the end one advice.

  It checks the settings, the service's answer and clock, whether the credential may list the company, whether cursors
  lead forward and back and end where the punches end, and whether the rows match the filter that was sent. It compares
  the answers with each other: about 35 requests, and at most three times as many where answers contradict each other and
  are requested again. Filters that are given are checked too. The exit code is that of the failed check with the most basic cause.`
  ),
  Command.withShortDescription("Diagnose settings and service"),
  Command.withExamples([
    { command: "time-punches doctor", description: "Everything" },
    {
      command: "time-punches doctor --flags late --approved false",
      description: "Check also that these filters are applied"
    }
  ])
)
