/** The periods by which people are paid: every number of days, or from fixed days of the month. `Period.payPeriod` counts them. */
import * as Schema from "effect/Schema"
import { BusinessDate } from "../Ids.ts"
import { withClearMake } from "../internal/wire/issue.ts"

/**
 * A period of a fixed number of days, such as a fortnight.
 *
 * The longest is 10 000 000 days: more than the calendar of the years 0001 to 9999 has.
 */
const Days = Schema.Struct({
  /** Periods of a fixed number of days. */
  kind: Schema.Literal("days"),
  /** The length of a period in local days, from 1 to 10 000 000. */
  days: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10_000_000 })),
  /** A date on which a period begins. The others begin every `days` days before and after it. */
  anchor: BusinessDate
})

const DayOfMonth = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 31 }))

/** A period from a day of a month to the day before the next one that is named. */
const Months = Schema.Struct({
  /** Periods from fixed days of the month. */
  kind: Schema.Literal("months"),
  /**
   * The days on which a period begins: one, or two in their order. In a month without the day, its last day counts. Of two,
   * the first is at most 27: in February the period from the 28th would have no day.
   */
  firstDays: Schema.Union([
    Schema.Tuple([DayOfMonth]),
    Schema.Tuple([Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 27 })), DayOfMonth]).check(
      Schema.makeFilter(([first, second]) => first < second, { expected: "two days of a month, the earlier one first" })
    )
  ])
})

/**
 * The periods by which people are paid.
 *
 * - `{ kind: "days", days: 14, anchor: "2026-01-05" }`: every two weeks; one of the periods begins on 5 January 2026.
 * - `{ kind: "months", firstDays: [1, 16] }`: twice a month, from the 1st and from the 16th.
 * - `{ kind: "months", firstDays: [26] }`: from the 26th of each month to the 25th of the next.
 *
 * `PayCalendar.make` throws for a calendar that has no such periods; `Schema.decodeUnknownEffect(PayCalendar)` fails.
 */
export const PayCalendar = withClearMake(Schema.Union([Days, Months]), "PayCalendar")

export type PayCalendar = typeof PayCalendar.Type

/** A pay period: its first and its last date, both inclusive. */
export const PayPeriod = Schema.Struct({
  /** The first date. */
  first: BusinessDate,
  /** The last date. */
  last: BusinessDate
})

export type PayPeriod = typeof PayPeriod.Type
