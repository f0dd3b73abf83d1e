/** `time-punches check`: what a person must look at before a period is closed. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { look } from "../check/look.ts"
import { textOf, verdictOf } from "../check/report.ts"
import { selectedOf, selectionFlags } from "../check/selection.ts"
import { Findings } from "../failure.ts"
import { noFilter } from "../flags/filter.ts"
import { formatOf, jsonFlag } from "../flags/format.ts"
import { readInterval } from "../flags/interval.ts"
import { namesFlag, readNames } from "../flags/names.ts"
import { periodFlags, requirePeriod, resolvePeriod } from "../flags/period.ts"
import { instant, text } from "../flags/values.ts"
import { openSource, sourceFlags } from "../punches/source.ts"
import { outputWidth, print, printError } from "../terminal/output.ts"

const usualLongest = Duration.hours(16)

const longest = text(
  "longest",
  "TIME",
  "Report punches that are longer; the time read around the period for overlaps (default: 16h)",
  "a time such as 16h",
  readInterval
)

const format = Flag.Literals("format", ["table", "csv", "json"]).pipe(
  Flag.withDescription("table for people; csv and json for programs (default: table)"),
  Flag.optional
)

export const check = Command.make(
  "check",
  {
    ...sourceFlags,
    ...selectionFlags,
    ...periodFlags,
    longest,
    asOf: instant("as-of", "Open punches reach to this instant; without it only their clock-in counts"),
    format,
    json: jsonFlag,
    names: namesFlag
  },
  Effect.fnUntraced(function*(flags) {
    const resolved = yield* resolvePeriod({ ...noFilter, ...flags })
    const local = yield* Effect.fromResult(requirePeriod(resolved, "check"))
    const format = yield* Effect.fromResult(formatOf(flags, "table"))
    const names = Option.getOrUndefined(yield* readNames(flags.names))
    const knowsDisputes = Option.isNone(flags.database)
    const source = yield* openSource(flags)
    const { checked, issues } = yield* look({
      ...local,
      clockedIn: resolved.clockedIn,
      selected: selectedOf(flags),
      longest: Option.getOrElse(flags.longest, () => usualLongest),
      asOf: Option.getOrUndefined(flags.asOf),
      knowsDisputes
    }, (filter, order) => Stream.flatMap(source(filter, order), (punches) => Stream.fromArray(punches)))

    const found = textOf(format, issues, names, yield* outputWidth)
    yield* (found === "" ? Effect.void : print(Stream.make(found))).pipe(
      Effect.andThen(printError(
        verdictOf(issues, checked),
        ...(knowsDisputes ? [] : ["Disputes are not in a copy: only the service knows them."])
      )),
      // What was found decides the exit code, also if its reader has read enough.
      Effect.catchTag("OutputClosed", () => Effect.void)
    )
    if (issues.length > 0) return yield* new Findings()
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    `Find what a person must look at before a period is closed.

  It lists the punches that are open, unapproved, disputed, too long or
  without a wage, that overlap another one of the same person (at any
  location, also across an edge of the period), or that are unusual in another
  way (an anomaly). Each has a line with the person, the local time and the
  reason. The exit code is 0 if there is nothing to look at, and 9 if there is
  something.`
  ),
  Command.withShortDescription("Find what to look at before a period is closed"),
  Command.withExamples([
    {
      command: "time-punches check --week 2026-03-02 --week-starts sunday --zone America/New_York",
      description: "A payroll week"
    },
    {
      command: "time-punches check --week 2026-03-02 --zone America/New_York --location-id 301 --longest 12h",
      description: "One location, where 12 hours are long"
    },
    {
      command: "time-punches check --month 2026-03 --zone America/New_York --names names.csv --json",
      description: "A month for a program, with names"
    },
    {
      command: "time-punches check --week 2026-03-02 --zones zones.csv --database punches.db",
      description: "Each location by its own clock, from a copy and without a request"
    }
  ])
)
