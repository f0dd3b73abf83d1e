/** The periods by which people are paid: every number of days, or from fixed days of the month. `Period.payPeriod` counts them. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { BusinessDate } from "../Ids.ts"
import { withClearMake } from "../internal/wire/issue.ts"

/** The longest is more than the calendar of the years 0001 to 9999 has. */
const Length = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10_000_000 }))

/** A period of a fixed number of days, such as a fortnight, or several lengths that repeat. */
const Days = Schema.Struct({
  /** Periods of fixed numbers of days. */
  kind: Schema.Literal("days"),
  /** The length of a period in local days, from 1 to 10 000 000; or two or more lengths of periods that follow each other, for ever. */
  days: Schema.Union([Length, Schema.NonEmptyArray(Length).check(Schema.isMinLength(2), Schema.isMaxLength(366))]),
  /** A date on which a period begins: of several lengths the first. The others follow before and after it. */
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
 * - `{ kind: "days", days: [28, 28, 35], anchor: "2026-01-05" }`: four, four and five weeks, again and again.
 * - `{ kind: "months", firstDays: [1, 16] }`: twice a month, from the 1st and from the 16th.
 * - `{ kind: "months", firstDays: [26] }`: from the 26th of each month to the 25th of the next.
 *
 * `PayCalendar.make` throws for a calendar that has no such periods; `Schema.decodeUnknownEffect(PayCalendar)` fails.
 */
export const PayCalendar = withClearMake(Schema.Union([Days, Months]), "PayCalendar")

export type PayCalendar = typeof PayCalendar.Type

/** The lengths of the periods of a calendar of days, which repeat. @internal */
export const lengthsOf = ({ days }: Extract<PayCalendar, { kind: "days" }>): ReadonlyArray<number> =>
  Predicate.isNumber(days) ? [days] : days

/**
 * A calendar as the command and the record write it: `14d:2026-01-05`, `4w,4w,5w:2026-01-05`, `1,16` or `26`. @internal
 */
export const PayCalendarText = Schema.String.pipe(
  Schema.decodeTo(
    PayCalendar,
    SchemaTransformation.transform({
      decode: (text): typeof PayCalendar.Encoded => {
        const [, list, anchor] = /^(\d{1,8}[dw](?:,\d{1,8}[dw])*):(.*)$/.exec(text) ?? []
        if (list === undefined || anchor === undefined) {
          const [first = NaN, ...more] = /^\d{1,2}(,\d{1,2})?$/.test(text) ? text.split(",").map(Number) : []
          const [second] = more
          return { kind: "months", firstDays: second === undefined ? [first] : [first, second] }
        }
        const [first = NaN, ...more] = list.split(",").map((each) =>
          Number(each.slice(0, -1)) * (each.endsWith("w") ? 7 : 1)
        )
        return { kind: "days", days: more.length === 0 ? first : [first, ...more], anchor }
      },
      encode: (calendar) =>
        calendar.kind === "months"
          ? calendar.firstDays.join(",")
          : `${[calendar.days].flat().map((days) => `${days}d`).join(",")}:${calendar.anchor}`
    })
  )
)

/** A pay period: its first and its last date, both inclusive. */
export const PayPeriod = Schema.Struct({
  /** The first date. */
  first: BusinessDate,
  /** The last date. */
  last: BusinessDate
})

export type PayPeriod = typeof PayPeriod.Type
