/** `time-punches doctor`: checks settings and service, one line a check. */
import * as Command from "effect/cli/Command"
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { RetryPolicy } from "../../RetryPolicy.ts"
import { type CheckResult, render } from "../doctor/checkResult.ts"
import { checkRows, filterChecks } from "../doctor/probes.ts"
import { checkBackward, checkClock, checkCursors, checkFirstPage, layerClockSkew } from "../doctor/service.ts"
import { checkSettings } from "../doctor/settings.ts"
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
    const size = Option.getOrElse(flags.pageSize, () => usualPageSize)
    const all: Array<CheckResult> = []
    const report = (...results: ReadonlyArray<CheckResult>) => {
      all.push(...results)
      return printLines(results.map((result) => render(result, canColor)))
    }

    const settings = yield* checkSettings(flags)
    yield* report(...settings.results)
    if (Option.isSome(settings.company)) {
      const company = settings.company.value
      let skew: number | undefined
      const layer = layerClient.pipe(
        Layer.provide(layerImpatient),
        Layer.provide(layerClockSkew((value) => (skew = value)))
      )
      yield* Effect.gen(function*() {
        const first = yield* checkFirstPage(company, filter, size)
        yield* report(...first.results)
        if (skew !== undefined) yield* report(checkClock(skew))
        if (Option.isNone(first.page) || first.page.value.items.length === 0) return
        const page = first.page.value
        // If everything fits one page, a smaller size still makes three.
        const pageSize = Option.isNone(page.cursor.next) ? Math.ceil(page.items.length / 3) : size
        yield* report(yield* checkCursors(company, filter, pageSize))
        yield* report(yield* checkBackward(company, filter, pageSize))
        if (Object.keys(describeFilter(flags)).length > 0) {
          yield* report(checkRows("as given", filter, Option.none(), page))
        }
        for (const check of filterChecks(company, page, size)) yield* report(yield* check)
      }).pipe(Effect.provide(layer))
    }
    const failures = all.filter(({ status }) => status === "FAIL")
    const [first] = failures
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
    `Check settings and service, one line a check: ok, warn or FAIL, and what to do.

  It checks the settings, the service's answer and clock, whether the credential may list the company, whether cursors
  lead forward and back, and, with one request each, whether the rows match the filter that was sent. About 20 requests.
  Filters that are given are checked too. The exit code is that of the first check that failed.`
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
