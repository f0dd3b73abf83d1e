/** The id of a row that is otherwise unreadable, so that an error can name the row. */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"

/** `None` where JSON has rounded the id: it would name another row. */
export const idOf = (row: unknown): Option.Option<number> =>
  Predicate.hasProperty(row, "id") && Predicate.isNumber(row.id) && Number.isSafeInteger(row.id)
    ? Option.some(row.id)
    : Option.none()
