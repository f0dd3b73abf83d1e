/** What the verbs of `time-punches payroll` share: flags, and what they load only when they run. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as RevisionId from "../../close/RevisionId.ts"
import { isZones } from "../../payroll/Zones.ts"
import { databaseFlag, maxAgeFlag } from "../database/database.ts"
import { outputFlags } from "../files/output.ts"
import { companyFlags } from "../flags/connection.ts"
import { noFilter } from "../flags/filter.ts"
import { namesFlag } from "../flags/names.ts"
import { orDefault } from "../flags/settings.ts"
import { jsonFlags, nonBlank, optionalRounding, orHalfUp, readWhole, wholeNumber } from "../flags/values.ts"
import { readZones, zoneFileFlag } from "../flags/zones.ts"
import { dayStartsOrDefault, periodFlags, resolvePeriod } from "../select/period.ts"
import { givenThresholds, thresholdFlags } from "../select/thresholds.ts"

/** The record that a verb reads or writes. Nothing is sent, so no guid is needed. */
export const recordFlags = { company: companyFlags.company, database: databaseFlag, ...jsonFlags }

/** What a verb needs that reads the record and prints it. */
export const readFlags = { ...recordFlags, ...outputFlags }

export const note = nonBlank("note", "TEXT", "A note that is kept with the revision", "a text that is not blank")

export const closeNumber = Argument.String("ID").pipe(
  Argument.withDescription("A close, such as 7; without one: all that are active"),
  Argument.filterMap((text) => readWhole(text, 1), () => wholeNumber(1))
)

/** `7` is a close, `7.2` a revision of it. */
export const revisionName = Argument.String("ID").pipe(
  Argument.withMetavar("ID|REVISION"),
  Argument.withDescription("A close, such as 7, or a revision of it, such as 7.2"),
  Argument.filterMap(
    (name) => Option.map(RevisionId.parse(name), (parsed) => ({ ...parsed, name })),
    () => "a close such as 7, or a revision such as 7.2"
  )
)

/** What a verb needs that sums closes again. */
export const sumFlags = {
  closes: closeNumber.pipe(Argument.variadic()),
  zoneFile: zoneFileFlag,
  dayStarts: periodFlags.dayStarts,
  names: namesFlag,
  maxAge: maxAgeFlag
}

/** Which closes are summed again, and the locations that are added to them. */
export const readSumFlags = Effect.fnUntraced(
  function*(input: Pick<Command.Command.Config.Infer<typeof sumFlags>, "closes" | "dayStarts" | "zoneFile">) {
    const dayRules = yield* readZones(
      yield* orDefault(input.zoneFile, "zoneFile"),
      yield* dayStartsOrDefault(input.dayStarts)
    )
    return {
      closes: input.closes.length === 0 ? undefined : input.closes,
      dayRules: Option.getOrUndefined(dayRules)
    }
  }
)

/** What decides on the sums of a period. */
export const termFlags = { ...periodFlags, ...thresholdFlags, rounding: optionalRounding }

/** The terms of a close by the flags, but its company; `None` if they name no dates or no clock. */
export const readTerms = Effect.fnUntraced(function*(input: Command.Command.Config.Infer<typeof termFlags>) {
  const flags = yield* resolvePeriod({ ...noFilter, ...input }, {
    countsWeeks: true,
    takesWeekStarts: Option.isSome(input.weeklyThreshold)
  })
  const thresholds = yield* Effect.fromResult(givenThresholds(input))
  const terms = Option.map(Option.all([flags.dates, flags.dayRule]), ([dates, dayRule]) => ({
    ...dates,
    ...thresholds,
    dayRule: isZones(dayRule) ? Option.getOrElse(flags.locations, () => new Map()) : dayRule,
    firstDay: Option.getOrUndefined(flags.weekStarts),
    rounding: orHalfUp(flags.rounding)
  }))
  return { flags, terms }
})

/** The drivers of the databases are large, so they are loaded only by what needs them. */
export const operating = Effect.promise(() => import("./operate.ts"))
