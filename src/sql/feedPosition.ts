/** The position of an event of a feed, where a feed resumes, and the kinds of events. */
import * as Schema from "effect/Schema"
import { formatInstant, parseInstant } from "../internal/wire/instant.ts"
import { named } from "../internal/wire/issue.ts"

/**
 * The place of an event in the feed of a company. It is opaque: keep it, and give it back as `after`. It is one line of ASCII
 * without spaces.
 * `.make` is for literals only: it throws. Read a text with `Schema.decodeUnknownEffect(FeedPosition)`.
 */
export const FeedPosition = Schema.String
  .check(Schema.makeFilter((text: string) => placeOf(text) !== undefined, { expected: "a position of a feed" }))
  .pipe(Schema.brand("FeedPosition"), named)

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

interface AnyPlace {
  readonly company: number
  /** Milliseconds. */
  readonly at: number
  readonly id: number
}

/** A place in a feed. */
export type Place = ChangePlace | StatePlace

/** The place behind a change. */
interface ChangePlace extends AnyPlace {
  readonly phase: "change"
}

/** The place behind an id of the state of an instant, or behind all changes of an instant (`wholeInstant`). */
export interface StatePlace extends AnyPlace {
  readonly phase: "state" | "instant"
  /** The last change up to the instant: a copy that has it had the same state then. */
  readonly newest: Version
}

/** A version of a punch by its first instant; that of a copy in which nothing has changed is 0. */
export interface Version {
  readonly at: number
  readonly id: number
}

/** The id of a place behind all changes of its instant. */
export const wholeInstant = Number.MAX_SAFE_INTEGER

/** The id of a place before all rows of a state. */
export const beforeAll = -1

/** `7/2026-03-09T15:00:00.123Z/451`, `7/…/state/451@…/17` or, behind all of an instant, `7/…@…/17`: after `@` the newest version. */
const form = /^(\d{1,16})\/([-\d]+T[\d:.]+Z)(\/state)?(?:\/(\d{1,16}))?(?:@([-\d]+T[\d:.]+Z)\/(\d{1,16}))?$/

export const textOf = (place: Place): FeedPosition => {
  const { at, company, id, phase } = place
  const state = phase === "state" ? "/state" : ""
  const last = phase === "change" ? "" : `@${formatInstant(place.newest.at)}/${place.newest.id}`
  return FeedPosition.make(
    `${company}/${formatInstant(at)}${state}${phase === "instant" ? "" : `/${id}`}${last}`,
    // Each event has one: to parse it again would cost as much as to read the punch.
    { disableChecks: true }
  )
}

export const placeOf = (text: string): Place | undefined => {
  const [, company, instant = "", state, id, newestInstant, newestId] = form.exec(text) ?? []
  const ground = {
    company: Number(company),
    at: parseInstant(instant),
    id: id === undefined ? wholeInstant : Number(id)
  }
  const newest = { at: parseInstant(newestInstant ?? ""), id: Number(newestId ?? 0) }
  if (Number.isNaN(ground.at) || ![ground.company, ground.id, newest.id].every(Number.isSafeInteger)) return undefined
  const phase = state !== undefined ? "state" : id === undefined ? "instant" : "change"
  // The place of a change names it already.
  if (phase === "change") return newestInstant === undefined ? { ...ground, phase } : undefined
  return newest.at <= ground.at && (phase === "instant" || id !== undefined) ? { ...ground, phase, newest } : undefined
}
