/** A closed period as a record: its revisions, which of them are active, and the terms of each. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { BusinessDate, LocationId } from "../Ids.ts"
import { Instant, Seconds } from "../internal/wire/schema.ts"
import { CloseRow } from "./CloseSums.ts"
import { CloseClock, CloseLocation, CloseTerms, type NumberedTerms } from "./CloseTerms.ts"
import { CloseNumber, RevisionId } from "./ids.ts"
import { FileNote } from "./WrittenFile.ts"

const fields = {
  /** The number of the close, counted from 1 for each company. */
  close: CloseNumber,
  /** Its name, such as `7.2`: what `Close.voidRevision` takes. */
  id: RevisionId,
  /** The revision that it follows; `None` for the first one, and for a void. */
  previous: Schema.OptionFromNullOr(RevisionId),
  /** The revision that a void takes back; `None` for any other kind. */
  voids: Schema.OptionFromNullOr(RevisionId),
  /** What wrote it. */
  kind: Schema.Literals(["close", "correct", "void", "mistake"]),
  /** The first date of the period. */
  first: BusinessDate,
  /** The last date of the period. */
  last: BusinessDate,
  /** The instant of the copy that is summed, by the clock of the database. */
  at: Instant,
  /** When it was written, by the clock of the database. */
  closedAt: Instant,
  /** Who wrote it; `unknown` if the machine does not say. */
  user: Schema.String,
  /** A note of the person who wrote it. */
  note: Schema.String,
  /** What was accepted, and how often it was found. */
  accepted: Schema.Record(Schema.String, Schema.Natural),
  /** Its files that were written out and noted, the oldest first. */
  files: Schema.Array(FileNote),
  /** The sums, sorted by person, location, department and role. A void has none. */
  rows: Schema.Array(CloseRow)
}

const keys = { id: "revision" } as const

/** Time that no close has and that was accepted, with what lay in it then. */
export const AcceptedGap = Schema.Struct({
  /** The location; `None` for every location without its own entry in the terms of the revision. */
  locationId: Schema.OptionFromNullOr(LocationId),
  /** Its first instant. */
  from: Instant,
  /** The first instant after it. */
  to: Instant,
  /** The voided closes that had time of it: what another void leaves is not accepted. */
  voided: Schema.Array(CloseNumber),
  /** The punches that were clocked in then. */
  punches: Schema.Natural,
  /** Their paid time. */
  net: Seconds
})

export type AcceptedGap = typeof AcceptedGap.Type

/** One revision of a close: all its sums at an instant of the copy, never a difference. */
export const Revision = Schema.Struct(fields).pipe(Schema.encodeKeys(keys))

export type Revision = typeof Revision.Type

/** A revision with what its sums depend on. */
export const RecordedRevision = Schema.Struct({
  ...fields,
  /** The release that summed it. */
  release: Schema.String,
  /** The number of the rules by which it was summed. */
  rules: Schema.Natural,
  /** The clocks and locations that it adds to the terms of its close, and the gaps that it accepts. */
  added: Schema.Struct({
    clocks: Schema.Array(CloseClock),
    locations: Schema.Array(CloseLocation),
    gaps: Schema.Array(AcceptedGap)
  })
}).pipe(Schema.encodeKeys(keys))

export type RecordedRevision = typeof RecordedRevision.Type

/** A whole close: enough to write each of its files again after the copy is erased. */
export const ClosedPeriod = Schema.Struct({
  /** The number of the close. */
  close: CloseNumber,
  /** What all its revisions share. */
  terms: CloseTerms,
  /** Its revisions, voids too, in the order in which they were written. */
  revisions: Schema.Array(RecordedRevision)
})

export type ClosedPeriod = typeof ClosedPeriod.Type

/** A revision, as `Close.list` gives it: what it follows or takes back, and what it adds to the terms. */
export type LinkedRevision = Pick<RecordedRevision, "id" | "previous" | "voids" | "added">

/** A close, as `Close.list` gives it. */
export interface LinkedPeriod {
  /** The terms of its first revision. */
  readonly terms: CloseTerms
  /** Its revisions, the oldest first. */
  readonly revisions: ReadonlyArray<LinkedRevision>
}

/** An active revision, and the one that it follows. */
export interface ActiveRevision {
  /** The revision. */
  readonly revision: RecordedRevision
  /** The revision before it; `None` for the first one. */
  readonly previous: Option.Option<RecordedRevision>
}

type Links = Pick<LinkedRevision, "id" | "previous" | "voids">

/** The active revisions, in their order: neither a void nor voided by one. The last one is the newest; none if the close is over. */
export const activeRevisions = <R extends Links>(revisions: ReadonlyArray<R>): ReadonlyArray<R> =>
  revisions.filter((each) => Option.isNone(each.voids) && Option.isNone(getVoid(revisions, each)))

/** The newest active revision; `None` if the close is over. */
export const newestRevision = <R extends Links>(revisions: ReadonlyArray<R>): Option.Option<R> =>
  Option.fromUndefinedOr(activeRevisions(revisions).at(-1))

/** The revision that another one follows; `None` for the first one, and for a void. */
export const getPrevious = <R extends Links>(
  revisions: ReadonlyArray<R>,
  { previous }: Pick<Links, "previous">
): Option.Option<R> => Option.fromUndefinedOr(revisions.find(({ id }) => Option.contains(previous, id)))

/** The void that takes a revision back; `None` if it was not voided. */
export const getVoid = <R extends Links>(revisions: ReadonlyArray<R>, { id }: Pick<Links, "id">): Option.Option<R> =>
  Option.fromUndefinedOr(revisions.find(({ voids }) => Option.contains(voids, id)))

/** Whether a close was a mistake: it counts as if it had never been written. @internal */
export const isMistake = (
  { revisions }: { readonly revisions: ReadonlyArray<Pick<RecordedRevision, "kind">> }
): boolean => revisions.at(-1)?.kind === "mistake"

/** The closes that a void ended, with the terms of the revision that it took back. @internal */
export const endedOf = <
  C extends {
    readonly close: CloseNumber
    readonly terms: CloseTerms
    readonly revisions: ReadonlyArray<LinkedRevision & Pick<RecordedRevision, "kind">>
  }
>(
  closes: ReadonlyArray<C>
): ReadonlyArray<NumberedTerms> =>
  closes.flatMap((each) => {
    const last = each.revisions.at(-1)
    const isEnded = last !== undefined && !isMistake(each) && activeRevisions(each.revisions).length === 0
    return isEnded ? [{ close: each.close, terms: termsAt(each, last) }] : []
  })

/** The terms of a revision: those of its close, with the locations that it and the revisions before it added. */
export const termsAt = (
  close: LinkedPeriod,
  { added, previous, voids }: LinkedRevision
): CloseTerms => {
  const link = Option.orElse(previous, () => voids)
  const earlier = close.revisions.find(({ id }) => Option.contains(link, id))
  const terms = earlier === undefined ? close.terms : termsAt(close, earlier)
  return { ...terms, clocks: [...terms.clocks, ...added.clocks], locations: [...terms.locations, ...added.locations] }
}
