/** The days of a week. */
import * as Schema from "effect/Schema"

/** The days of a week, from Sunday, as dates count them. */
export const Weekday = Schema.Literals(["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"])

export type Weekday = typeof Weekday.Type
