/** Runs `time-punches payroll close`. Loaded when it runs. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { TermChange } from "../../close/CloseTerms.ts"
import { CommandFailure, usage } from "../failure.ts"
import { readNames } from "../flags/names.ts"
import { isJson } from "../flags/values.ts"
import { formatExactHours } from "../print/format.ts"
import { printWarning } from "../print/messages.ts"
import { requirePeriod } from "../select/period.ts"
import type { CloseInput } from "./closeFlags.ts"
import {
  authorship,
  Close,
  CloseSums,
  nextTerms,
  printNotReady,
  printWritten,
  recordOf,
  refusePeriodBesideNext,
  warnOfHoles
} from "./operate.ts"
import { readTerms } from "./terms.ts"

export const run = Effect.fnUntraced(function*(input: CloseInput) {
  const { company, layer, shown } = yield* recordOf(input, "close", true)
  const json = yield* Effect.fromResult(isJson(input))
  if (input.next) yield* refusePeriodBesideNext(input)
  const given = input.next ? undefined : yield* givenTerms(input)
  const names = yield* readNames(input.names)
  yield* Effect.gen(function*() {
    const options = {
      ...given ?? (yield* nextTerms(company, input)),
      maxDuration: Option.getOrUndefined(input.maxShift),
      accept: Option.getOrUndefined(input.accept),
      ...authorship(input.note)
    }
    const revision = yield* Effect.catchTag(
      Close.create(company, options),
      "NotReady",
      printNotReady(names, "close", shown)
    )
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
  yield* Effect.fromResult(
    Result.mapError(requirePeriod(flags, "payroll close"), ({ advice, code, message }) =>
      new CommandFailure({
        message,
        advice: [...advice, "Or --next: the period behind the last close, by its terms."],
        code
      }))
  )
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
  rounding: "the rounding is",
  firstDay: "the first day of the week is"
} as const satisfies Readonly<Record<TermChange["term"], string>>

const termText = (value: TermChange["now"]): string =>
  value === null ? "none" : typeof value === "number" ? formatExactHours(Duration.seconds(value)) : value
