/** Ends a run of the tests with what it says about the table of faults, and with the tests that were skipped. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node"
import { checkTable, faultRows, type RanTest, type Run, scopeOf, type Script } from "./faultTable.ts"

export interface FaultReporterOptions {
  /** The script that this run is: its citations are checked. */
  readonly script: Script
  /** Whether a skipped test fails the run, or is printed only. */
  readonly failsOnSkip: boolean
}

const titleOf = (test: TestCase): ReadonlyArray<string> => {
  const title = [test.name]
  for (let at = test.parent; at.type === "suite"; at = at.parent) title.unshift(at.name)
  return title
}

const ranTest = (test: TestCase): RanTest => {
  const result = test.result()
  return {
    file: test.module.relativeModuleId,
    title: titleOf(test),
    state: result.state === "passed" && test.options.fails === true ? "inverted" : result.state,
    reason: result.state === "skipped" ? result.note : undefined
  }
}

const scopeIn = (vitest: Vitest, reason: string): Run["scope"] => {
  const { bail = 0, changed, related, shard, tagsFilter, testNamePattern, watch } = vitest.config
  // Not in the types. A name that goes away makes every run whole, which then fails for the files that are not in it.
  const files: unknown = Reflect.get(vitest, "filenamePattern")
  return scopeOf({
    files: Array.isArray(files) ? files : [],
    choosesFiles: shard !== undefined || (changed ?? false) !== false || related !== undefined,
    choosesTests: testNamePattern !== undefined || (tagsFilter ?? []).length > 0 ||
      reason === "interrupted" || (bail > 0 && reason === "failed"),
    watch
  })
}

/**
 * Fails a run in which a test that the table of faults cites is missing, skipped or failed. Files that a filter leaves
 * out are counted as not checked; with a filter of tests, nothing is checked, and this is printed.
 */
export const faultReporter = ({ failsOnSkip, script }: FaultReporterOptions): Reporter => {
  let vitest: Vitest | undefined
  return {
    onInit: (instance) => {
      vitest = instance
    },
    onTestRunEnd: (modules: ReadonlyArray<TestModule>, _errors, reason) => {
      if (vitest === undefined) throw new Error("the run ended before it began")
      const table = Fs.readFileSync(Path.join(vitest.config.root, "docs/reliability-faults.md"), "utf8")
      const tests = modules.flatMap((module) => [...module.children.allTests()].map(ranTest))
      const scope = scopeIn(vitest, reason)
      const files = modules.map((module) => module.relativeModuleId)
      const { broken, judged, unseen } = checkTable(faultRows(table), script, { files, tests, scope })

      // A filter of tests skips all others, without a reason.
      const skipped = tests.filter((test) =>
        test.state === "skipped" && (scope !== "none" || test.reason !== undefined)
      )
      for (const { file, reason = "no reason given", title } of skipped) {
        vitest.logger.log(`Skipped: ${file} › ${title.join(" › ")}: ${reason}`)
      }
      if (failsOnSkip && skipped.length > 0) {
        vitest.logger.error(`${skipped.length} tests were skipped; npm run ${script} skips none.`)
      }

      for (const line of broken) vitest.logger.error(`Table of faults: ${line}`)
      const rest = unseen === 0 ? "" : ` ${unseen} are not in this run and were not checked.`
      vitest.logger.log(
        `Table of faults: ${
          judged - broken.length
        } of ${judged} cited tests of npm run ${script} ran and passed.${rest}`
      )
      if (broken.length > 0 || (failsOnSkip && skipped.length > 0)) process.exitCode = 1
    }
  }
}
