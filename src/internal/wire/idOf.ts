/** The id of a row that is otherwise unreadable, so that a person can find the row. */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"

/** Only a safe integer is an id: JSON.parse rounds a larger one to the id of another row. */
export const idOf = (row: unknown): Option.Option<number> =>
  Predicate.hasProperty(row, "id") && Predicate.isNumber(row.id) && Number.isSafeInteger(row.id)
    ? Option.some(row.id)
    : Option.none()
