/** What the flags of a verb say of the closes that it sums: their terms, and the locations that are added. */
import type * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { isZones } from "../../payroll/Zones.ts"
import { usage } from "../failure.ts"
import { noFilter } from "../flags/filter.ts"
import { orDefault } from "../flags/settings.ts"
import { orHalfUp } from "../flags/values.ts"
import { readZones } from "../flags/zones.ts"
import { dayStartsOrDefault, resolvePeriod } from "../select/period.ts"
import { givenThresholds } from "../select/thresholds.ts"
import type { sumFlags, termFlags } from "./arguments.ts"

/** Which closes are summed again, and the locations that are added to them. */
export const readSumFlags = Effect.fnUntraced(
  function*(input: Pick<Command.Command.Config.Infer<typeof sumFlags>, "closes" | "dayStarts" | "zoneFile">) {
    const zoneFile = yield* orDefault(input.zoneFile, "zoneFile")
    if (Option.isSome(input.dayStarts) && Option.isNone(zoneFile)) {
      return yield* usage(
        "--day-starts goes with --zone-file: the days of the other locations begin as the record has them"
      )
    }
    const dayRules = yield* readZones(zoneFile, yield* dayStartsOrDefault(input.dayStarts))
    return {
      closes: input.closes.length === 0 ? undefined : input.closes,
      dayRules: Option.getOrUndefined(dayRules)
    }
  }
)

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
