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
 * Of which period, and since when. `asOf` stands in for the clock-out of an open punch, at that instant and now.
 *
 * @since 0.1.0
 */
export interface ChangesOptions<out E = never> extends Labor.Options {
  /** The zone of all locations, or `Period.zones`: each location by its own clock. */
  readonly zone: DateTime.TimeZone | Zones<E>
  /** The period, in a zone: `(zone) => Period.week(zone, date)`. */
  readonly period: (zone: DateTime.TimeZone) => Interval
  /** The instant to compare with, by the clock of the database: when the period was closed. */
  readonly since: DateTime.DateTime
}

/**
 * How a punch of a period is not what it was. A punch counts in a period where it is neither deleted nor gone and was
 * clocked in during the period of its location.
 *
 * - `edited`: it counted and counts, and something beside `modified` differs.
 * - `added`: it counts, and was not in the copy.
 * - `movedIn`, `movedOut`: its clock-in or location was moved into the period, or out of it.
 * - `deleted`, `undeleted`: it counted and is deleted, or was deleted and counts.
 * - `gone`, `back`: it counted and is gone, or was gone and counts. One that is deleted as well is `deleted` or `undeleted`.
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
  /** The person of it: the present one where it counts now, else the one of then. */
  readonly userId: UserId
  /** How it differs. */
  readonly kind: ChangeKind
  /** The punch as it was; `None` where it was not in the copy, or was gone. */
  readonly before: Option.Option<TimePunch>
  /** The punch as it is; `None` where it is gone. */
  readonly after: Option.Option<TimePunch>
}

/**
 * What the changes of a period are to a person: the sums now less the sums then.
 *
 * @since 0.1.0
 */
export interface PersonChange {
  /** The person. */
  readonly userId: UserId
  /** Net time in minutes, with a fraction where there are seconds. A punch of unknown length has none. */
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
 * The copy of that instant is not known: no history was kept, or it began later, or was pruned.
 *
 * @since 0.1.0
 */
export class HistoryUnknown
  extends Schema.TaggedError<HistoryUnknown>("effect-time-punches/sql/HistoryUnknown")("HistoryUnknown", {
    /** The company of the copy. */
    companyId: CompanyId,
    /** The first instant at which the copy is known; `None`: no history was kept. */
    since: Schema.OptionFromNullOr(Instant),
    /** The instant of the question. */
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
