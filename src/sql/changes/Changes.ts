/** What changed in a copy since an instant: the options of the question, its answer, and when it has none. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { CompanyId, type TimePunchId, type UserId } from "../../Ids.ts"
import { Instant } from "../../internal/wire/schema.ts"
import type { Interval } from "../../Interval.ts"
import type * as Labor from "../../Labor.ts"
import type { TimePunch } from "../../TimePunch.ts"
import type { Zones } from "../../Zones.ts"

/**
 * Of which period, and since when. `asOf` replaces the clock-out of an open punch, both in the copy of `since` and in the
 * copy of now.
 *
 * @since 0.1.0
 */
export interface ChangesOptions<out E = never> extends Labor.Options {
  /** The zone of all locations, or `Period.zones`: each location by its own clock. */
  readonly zone: DateTime.TimeZone | Zones<E>
  /** The period, in a zone: `(zone) => Period.week(zone, date)`. */
  readonly period: (zone: DateTime.TimeZone) => Interval
  /** The instant to compare with, by the clock of the database, such as `history.last` of `status` at the close. */
  readonly since: DateTime.DateTime
}

/**
 * How a punch differs from what it was. A punch counts in a period if it is neither deleted nor gone, and was clocked in
 * during the period of its location.
 *
 * - `edited`: it counted then and counts now, and something other than `modified` differs.
 * - `added`: it counts now, and was not in the copy.
 * - `movedIn`, `movedOut`: its clock-in or location was moved into the period, or out of it.
 * - `deleted`, `undeleted`: it counted and is now deleted, or was deleted and now counts.
 * - `gone`, `back`: it counted and is now gone, or was gone and now counts. A punch that is also deleted is `deleted` or
 *   `undeleted` instead.
 *
 * @since 0.1.0
 */
export type ChangeKind = "edited" | "added" | "movedIn" | "movedOut" | "deleted" | "undeleted" | "gone" | "back"

/**
 * A punch of the period that is not what it was.
 *
 * @since 0.1.0
 */
export interface PunchChange {
  /** The punch. */
  readonly id: TimePunchId
  /** The person of the punch now if it counts now, else the person then. */
  readonly userId: UserId
  /** How it differs. */
  readonly kind: ChangeKind
  /** The punch as it was; `None` if it was not in the copy, or was gone. */
  readonly before: Option.Option<TimePunch>
  /** The punch as it is; `None` if it is gone. */
  readonly after: Option.Option<TimePunch>
}

/**
 * The difference of a person in a period: the sums now minus the sums then.
 *
 * @since 0.1.0
 */
export interface PersonChange {
  /** The person. */
  readonly userId: UserId
  /** Net time in minutes, with a fraction if there are seconds. A punch of unknown length counts as none. */
  readonly minutes: number
  /** Wages in cents, rounded punch by punch. Without tips. */
  readonly cents: number
  /** Tips in cents. */
  readonly tips: number
}

/**
 * What changed in a period.
 *
 * @since 0.1.0
 */
export interface Changes {
  /** Sorted by person, clock-in and id. A punch that counts neither then nor now is not among them. */
  readonly punches: ReadonlyArray<PunchChange>
  /** Sorted by person. A person whose sums are the same is not among them. */
  readonly people: ReadonlyArray<PersonChange>
}

/**
 * The copy at that instant is not known: no history was kept, it began later, or its older part was pruned.
 *
 * @since 0.1.0
 */
export class HistoryUnknown
  extends Schema.TaggedError<HistoryUnknown>("effect-time-punches/sql/HistoryUnknown")("HistoryUnknown", {
    /** The company of the copy. */
    companyId: CompanyId,
    /** The first instant at which the copy is known; `None`: no history was kept. */
    since: Schema.OptionFromNullOr(Instant),
    /** The `since` that was requested. */
    asked: Instant
  })
{
  /** Since when the copy is known, and how to begin a history. */
  override get message(): string {
    const known = Option.match(this.since, {
      onNone: () => "no history was kept: begin one with SqlStore.layer({ history: true })",
      onSome: (since) => `its history is known since ${DateTime.formatIso(since)}`
    })
    return `the copy of ${DateTime.formatIso(this.asked)} is not known; ${known} [company ${this.companyId}]`
  }
}
