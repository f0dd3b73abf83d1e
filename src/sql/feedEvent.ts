/** An event of a feed, and its position: where a feed resumes. */
import * as Schema from "effect/Schema"
import { CompanyId, TimePunchId, UserId } from "../Ids.ts"
import { formatInstant, parseInstant } from "../internal/wire/instant.ts"
import { Instant } from "../internal/wire/schema.ts"
import { TimePunch } from "../TimePunch.ts"

/**
 * The place of an event in the feed of a company. It is opaque: keep it, and give it back as `since`. It is one line of ASCII
 * without spaces.
 * `.make` is for literals only: it throws. Read a text with `Schema.decodeUnknownEffect(FeedPosition)`.
 */
export const FeedPosition = Schema.String
  .check(Schema.makeFilter((text: string) => placeOf(text) !== undefined, { expected: "a position of a feed" }))
  .pipe(Schema.brand("FeedPosition")).annotate({ identifier: "FeedPosition" })

export type FeedPosition = typeof FeedPosition.Type

/**
 * What an event tells of a punch.
 *
 * - `present`: it is part of the state that the feed begins with.
 * - `added`: the copy did not have it.
 * - `edited`: something other than `modified` differs. `touched`: only `modified` does.
 * - `deleted`, `undeleted`: the service shows it as deleted, or no longer does; other fields may differ too.
 * - `missing`, `back`: the service no longer shows it, or shows it again.
 */
export const FeedKind = Schema.Literals([
  "present",
  "added",
  "edited",
  "touched",
  "deleted",
  "undeleted",
  "missing",
  "back"
])

export type FeedKind = typeof FeedKind.Type

/** One punch, and how one commit changed it. */
export class FeedEvent extends Schema.Opaque<FeedEvent>()(Schema.Struct({
  /** The company of the copy. */
  companyId: CompanyId,
  /** Its place. A feed since this position begins with the next event. */
  position: FeedPosition,
  /** The instant of the commit, by the clock of the database. Of `present`: of the last commit of the state. */
  at: Instant,
  /** What it tells. */
  kind: FeedKind,
  /** The punch. */
  id: TimePunchId,
  /** The person of the punch after the commit. */
  userId: UserId,
  /** The punch before the commit; `None` if the copy did not have it, or it was missing. */
  before: Schema.OptionFromNullOr(TimePunch.fromWire),
  /** The punch after it; `None` if it is missing. */
  after: Schema.OptionFromNullOr(TimePunch.fromWire)
})) {}

/** A place in a feed: behind an id of the state of an instant, or behind an id among the changes of an instant. */
export interface Place {
  readonly company: number
  readonly phase: "state" | "after"
  /** Milliseconds. */
  readonly at: number
  readonly id: number
}

/** The id of a place behind all changes of its instant. */
export const wholeInstant = Number.MAX_SAFE_INTEGER

/** The id of a place before all rows of a state. */
export const beforeAll = -1

/** `7/2026-03-09T15:00:00.123Z/451`, `7/…/state/451`, or `7/…` behind all of an instant. */
const form = /^(\d{1,16})\/([-\d]+T[\d:.]+Z)(\/state)?(?:\/(\d{1,16}))?$/

export const textOf = ({ at, company, id, phase }: Place): FeedPosition =>
  FeedPosition.make(
    `${company}/${formatInstant(at)}${phase === "state" ? "/state" : ""}${id === wholeInstant ? "" : `/${id}`}`,
    // Each event has one: to parse it again would cost as much as to read the punch.
    { disableChecks: true }
  )

export const placeOf = (text: string): Place | undefined => {
  const [, company, instant = "", state, id] = form.exec(text) ?? []
  const at = parseInstant(instant)
  if (company === undefined || Number.isNaN(at) || (state !== undefined && id === undefined)) return undefined
  const place: Place = {
    company: Number(company),
    phase: state === undefined ? "after" : "state",
    at,
    id: id === undefined ? wholeInstant : Number(id)
  }
  return Number.isSafeInteger(place.company) && Number.isSafeInteger(place.id) ? place : undefined
}
