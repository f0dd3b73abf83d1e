/** `time-punches payroll close`: checks a period, sums it and records the sums. */
import * as Command from "effect/cli/Command"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Blocker } from "../../close/CloseError.ts"
import type { TermChange } from "../../close/CloseTerms.ts"
import { usage } from "../failure.ts"
import { namesFlag, readNames } from "../flags/names.ts"
import { isJson, onFlag, words } from "../flags/values.ts"
import { formatExactHours } from "../print/format.ts"
import { printWarning } from "../print/messages.ts"
import { maxShift } from "../select/maxShift.ts"
import { requirePeriod } from "../select/period.ts"
import { note, operating, readTerms, recordFlags, termFlags } from "./arguments.ts"

const flags = {
  ...recordFlags,
  next: onFlag(
    "next",
    "The period that follows the newest close, with its zones, starts of days, thresholds, rounding and first day of a week"
  ),
  ...termFlags,
  maxShift,
  accept: words(
    "accept",
    Blocker.literals,
    `Close although these were found, and record their numbers: some of ${Blocker.literals.join(", ")}`,
    "KINDS"
  ),
  note,
  names: namesFlag
}

export const close = Command.make("close", flags, (input) => closePeriod(input)).pipe(
  Command.withDescription(
    `Close a payroll period: check it, sum it and record the sums.

  It reads a copy with a history as of one time, and sends nothing.

  With an issue it writes nothing and exits with 9: what payroll check finds,
  time that no close has (gap), a copy whose last complete pass began before the
  period ended (stale), or a period without a punch (empty). --accept lets kinds
  through by name. Two closes never overlap at a location. --accept edge begins
  the close at the end of the one before if the two are less than 48 hours
  apart, such as after a zone was corrected.

  --next takes the terms and the calendar of the record, so that no flag can be
  forgotten: the oldest period that fell out of every close, else the one behind
  the last close. A flag that says otherwise is refused; --zone-file may add
  locations. --accept gap closes the period behind the last close instead.`
  ),
  Command.withShortDescription("Close a payroll period and record its sums"),
  Command.withExamples([
    {
      command: "time-punches payroll close --pay-period last --calendar 14d:2026-01-05 --zone-file zones.csv " +
        "--weekly-threshold 40h --database punches.db",
      description: "The last fortnight"
    },
    {
      command: "time-punches payroll close --next --database punches.db",
      description: "The period after it, by the same terms"
    },
    {
      command: "time-punches payroll close --week 2026-03-02 --zone America/New_York --accept unapproved " +
        "--database punches.db --json",
      description: "A week with unapproved punches, as JSON"
    }
  ])
)

type CloseInput = Command.Command.Config.Infer<typeof flags>

const closePeriod = Effect.fnUntraced(function*(input: CloseInput) {
  const operate = yield* operating
  const { authorship, Close, CloseSums, recordOf, nextTerms, printNotReady, printWritten, warnOfHoles } = operate
  const { company, layer, shown } = yield* recordOf(input, "close", true)
  const json = yield* Effect.fromResult(isJson(input))
  if (input.next) yield* operate.refusePeriodBesideNext(input)
  const given = input.next ? undefined : yield* givenTerms(input)
  const names = yield* readNames(input.names)
  yield* Effect.gen(function*() {
    const options = {
      ...given ?? (yield* nextTerms(company, input)),
      maxDuration: Option.getOrUndefined(input.maxShift),
      accept: Option.getOrUndefined(input.accept),
      ...authorship(input.note)
    }
    const revision = yield* Effect.catchTag(Close.create(company, options), "NotReady", printNotReady(names, "close"))
    yield* printWritten([revision], [CloseSums.difference(revision, CloseSums.empty)], { ...input, json }, names, shown)
    yield* printWarning(
      ...revision.changedTerms.map(({ before, now, term }) =>
        `${termNames[term]} ${termText(now)}, and close ${Option.getOrElse(revision.before, () => "")} has ${
          termText(before)
        }: in a week that both have, hours may be over a threshold twice or never`
      )
    )
    yield* warnOfHoles(company)
  }).pipe(Effect.provide(layer))
})

/** The period and the terms of the flags. */
const givenTerms = Effect.fnUntraced(function*(input: CloseInput) {
  const { flags, terms } = yield* readTerms(input)
  yield* Effect.fromResult(requirePeriod(flags, "payroll close"))
  if (Option.isSome(terms)) return terms.value
  return yield* usage(
    "payroll close takes no --last: its dates depend on the day",
    "Give --pay-period, --week, --month or --from."
  )
})

const termNames = {
  weeklyThreshold: "the weekly threshold is",
  dailyThreshold: "the daily threshold is",
  doubleThreshold: "the second daily threshold is",
  thresholds: "the thresholds count",
  rounding: "the rounding is",
  firstDay: "the first day of the week is"
} as const satisfies Readonly<Record<TermChange["term"], string>>

const termText = (value: TermChange["now"]): string =>
  value === null ? "none" : typeof value === "number" ? formatExactHours(Duration.seconds(value)) : value
