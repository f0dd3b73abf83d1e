/** How a listing asks for deleted punches and others alike. The interface says that null means both, and not how a query writes null. */
import * as Schema from "effect/Schema"

/** The part of the query. The second one is deprecated: it is asked only if the first one is refused or shows no deleted punch. */
export const Spelling = Schema.Literals(["deleted=null", "include_deleted=true"])

export type Spelling = typeof Spelling.Type

/** The spelling of the interface, which is asked unless another one is kept. */
export const usualSpelling: Spelling = "deleted=null"

export const otherSpelling = (spelling: Spelling): Spelling =>
  spelling === usualSpelling ? "include_deleted=true" : usualSpelling

/** Two listings in place of one: for a service that refuses each spelling, or hides deleted punches from it. */
export const twoListings = "deleted=false, then deleted=true"

/** How a sync asks for all punches: with one listing in a spelling, or with two. */
export const Asking = Schema.Literals([...Spelling.literals, twoListings])

export type Asking = typeof Asking.Type
