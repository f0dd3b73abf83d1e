/** Punches for property tests: short spans with many breaks, so that every relation of two spans occurs. */
import { Arbitrary, DateTime, Duration, Option, Schema } from "effect"
import {
  BreakId,
  Cents,
  CompanyId,
  CustomBreakId,
  DepartmentId,
  LocationId,
  TimePunchId,
  UserId
} from "../../src/Ids.ts"
import type { Break, TimePunch } from "../../src/TimePunch.ts"
import { plain, samplePair } from "./punchPair.ts"

/** An instant, a number of ticks after 08:00 on a fixed Monday; a tick is a second. */
export const tick = 1000
export const at = (ticks: number): DateTime.Utc =>
  DateTime.makeUnsafe(DateTime.makeUnsafe("2026-03-02T08:00:00Z").epochMilliseconds + ticks * tick)

export interface RestParts {
  readonly in: number
  readonly out: number | null
  readonly paid: boolean
  readonly deleted?: boolean
}

export const rest = (parts: RestParts): Break => ({
  id: BreakId.make(1),
  userId: UserId.make(7),
  customBreakId: CustomBreakId.make(0),
  paid: parts.paid,
  in: at(parts.in),
  out: Option.map(Option.fromNullOr(parts.out), at),
  deleted: parts.deleted ?? false
})

/** A closed punch of eight hours, with changes. */
export const punch = (changes: Partial<TimePunch> = {}): TimePunch => ({
  ...samplePair.domain,
  companyId: CompanyId.make(2),
  departmentId: Option.none(),
  clockedOut: Option.some(at(8 * 3600)),
  tips: Cents.make(0),
  breaks: [],
  created: Option.some(at(0)),
  ...changes
})

/** A punch of so many hours at location 301. */
export const shift = (clockedIn: string, hours: number, changes: Partial<TimePunch> = {}): TimePunch => {
  const start = DateTime.makeUnsafe(clockedIn)
  return punch({
    locationId: LocationId.make(301),
    clockedIn: start,
    clockedOut: Option.some(DateTime.addDuration(start, Duration.hours(hours))),
    ...changes
  })
}

const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const Parts = Schema.Struct({
  id: int(0, 1000),
  user: int(1, 4),
  department: Schema.NullOr(int(1, 3)),
  start: int(-20, 20),
  length: Schema.NullOr(int(-3, 40)),
  asOf: int(-5, 60),
  wage: int(0, 5000),
  tips: int(-500, 5000),
  notes: Schema.String,
  posType: Schema.NullOr(Schema.String),
  flags: Schema.Tuple([Schema.Boolean, Schema.Boolean, Schema.Boolean]),
  breaks: Schema.Array(Schema.Struct({
    in: int(-25, 65),
    length: Schema.NullOr(int(-2, 20)),
    paid: Schema.Boolean,
    deleted: Schema.Literals([true, false, false])
  })).check(Schema.isMaxLength(5))
})

/**
 * A punch and an `asOf` near it, and both in ticks, for models that count single ticks. Some breaks of the punch are deleted:
 * `breaks` has those that count.
 */
export const Sample = Arbitrary.schema(Parts).pipe(Arbitrary.map((parts) => ({
  start: parts.start,
  end: parts.length === null ? null : parts.start + parts.length,
  asOf: parts.asOf,
  breaks: parts.breaks.filter(({ deleted }) => !deleted).map((each) => ({
    in: each.in,
    out: each.length === null ? null : each.in + each.length,
    paid: each.paid
  })),
  punch: punch({
    id: TimePunchId.make(plain(parts.id)),
    userId: UserId.make(parts.user),
    departmentId: Option.map(Option.fromNullOr(parts.department), (id) => DepartmentId.make(id)),
    clockedIn: at(parts.start),
    clockedOut: Option.map(Option.fromNullOr(parts.length), (length) => at(parts.start + length)),
    hourlyWage: Cents.make(plain(parts.wage)),
    tips: Cents.make(plain(parts.tips)),
    notes: parts.notes,
    posType: Option.fromNullOr(parts.posType),
    approved: parts.flags[0],
    autoClockedOut: parts.flags[1],
    deleted: parts.flags[2],
    breaks: parts.breaks.map(({ deleted, in: begin, length, paid }) =>
      rest({ in: begin, out: length === null ? null : begin + length, paid, deleted })
    )
  })
})))
