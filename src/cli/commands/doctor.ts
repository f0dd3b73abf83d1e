/** `time-punches doctor`: what is wrong between this machine and the service, check by check. */
import * as Command from "effect/cli/Command"
import { TerminalCapabilities } from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { RetryPolicy } from "../../RetryPolicy.ts"
import { type CheckResult, render } from "../doctor/checkResult.ts"
import { judge, probeFindings } from "../doctor/probes.ts"
import { backFinding, clockFinding, cursorFinding, firstPage, layerNotingDates } from "../doctor/service.ts"
import { checkSettings } from "../doctor/settings.ts"
import { CommandFailure } from "../failure.ts"
import { companyFlags, layerClient } from "../flags/connection.ts"
import { describeFilter, filterFlags, toFilter } from "../flags/filter.ts"
import { pageSizeFlag } from "../flags/paging.ts"
import { printLines } from "../terminal/output.ts"
import { counted } from "../terminal/progress.ts"

/** Small pages, so that there are several of them even where there is little. */
const usualPageSize = 20

/** Who looks for what is wrong does not want to wait long for it. */
const layerImpatient = RetryPolicy.layer({ attempts: 2, attemptTimeout: "10 seconds", pageTimeout: "30 seconds" })

export const doctor = Command.make(
  "doctor",
  { ...companyFlags, ...filterFlags, pageSize: pageSizeFlag },
  Effect.fnUntraced(function*(flags) {
    const { canColor } = yield* TerminalCapabilities
    const filter = yield* Effect.fromResult(toFilter(flags))
    const size = Option.getOrElse(flags.pageSize, () => usualPageSize)
    const found: Array<CheckResult> = []
    const report = (...findings: ReadonlyArray<CheckResult>) => {
      found.push(...findings)
      return printLines(findings.map((finding) => render(finding, canColor)))
    }

    const settings = yield* checkSettings(flags)
    yield* report(...settings.findings)
    if (Option.isSome(settings.company)) {
      const company = settings.company.value
      let skew: number | undefined
      const layer = layerClient.pipe(
        Layer.provide(layerImpatient),
        Layer.provide(layerNotingDates((value) => (skew = value)))
      )
      yield* Effect.gen(function*() {
        const first = yield* firstPage(company, filter, size)
        yield* report(...first.findings)
        if (skew !== undefined) yield* report(clockFinding(skew))
        if (Option.isNone(first.page) || first.page.value.items.length === 0) return
        const page = first.page.value
        // Whatever there is little of still makes three pages.
        const pageSize = Option.isNone(page.cursor.next) ? Math.ceil(page.items.length / 3) : size
        yield* report(yield* cursorFinding(company, filter, pageSize))
        yield* report(yield* backFinding(company, filter, pageSize))
        if (Object.keys(describeFilter(flags)).length > 0) {
          yield* report(judge("as given", filter, Option.none(), page))
        }
        for (const check of probeFindings(company, page, size)) yield* report(yield* check)
      }).pipe(Effect.provide(layer))
    }
    const failures = found.filter(({ status }) => status === "FAIL")
    const [worst] = failures
    if (worst !== undefined) {
      return yield* new CommandFailure({
        message: `${failures.length} of ${counted(found.length, "check")} failed`,
        advice: [],
        code: worst.code
      })
    }
  })
).pipe(
  Command.withDescription(
    `Check what is between this machine and the service, one line a check: ok, warn or FAIL, and what to do.

  Settings; the service's answer and its clock; whether the credential may list the company; whether cursors get
  on, and lead back; and, with one request each, whether the rows match the filter that was sent. About 20 requests.
  The filters given are tried as they are, too. The exit code is that of the first check that failed.`
  ),
  Command.withShortDescription("Find out what is wrong"),
  Command.withExamples([
    { command: "time-punches doctor", description: "Everything" },
    {
      command: "time-punches doctor --flags late --approved false",
      description: "And whether these filters are applied"
    }
  ])
)
