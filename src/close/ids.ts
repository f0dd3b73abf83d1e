/** The ids of closes: the number of a close, and the name of a revision. */
import * as Schema from "effect/Schema"

/**
 * The number of a close, counted from 1 for each company.
 * `.make` is for literals only: it throws. Read a user's input with `RevisionName.parse`.
 */
export const CloseNumber = Schema.Natural.pipe(Schema.brand("CloseNumber"))

export type CloseNumber = typeof CloseNumber.Type

/** The name of a revision, such as `7.2`: the second revision of close 7. `RevisionName` reads and writes it. */
export const RevisionId = Schema.String.pipe(Schema.brand("RevisionId"))

export type RevisionId = typeof RevisionId.Type
