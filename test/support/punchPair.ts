/** Pairs of a punch in any valid form of the wire and the domain value that it must decode to: random ones, and a fixed one. */
import { Arbitrary, DateTime, Option, Schema } from "effect"
import {
  type Break,
  BreakId,
  Cents,
  CompanyId,
  CustomBreakId,
  DepartmentId,
  LocationId,
  RoleId,
  ShiftId,
  type TimePunch,
  TimePunchId,
  UserId
} from "../../src/index.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const largest = Number.MAX_SAFE_INTEGER

/** The instants whose year has four digits in any zone. */
const Epoch = between(Date.parse("0001-01-03T00:00:00Z"), Date.parse("9999-12-29T00:00:00Z"))

const InstantParts = Schema.Struct({
  epoch: Epoch,
  whole: Schema.Boolean,
  zone: Schema.Literals(["Z", "z", "+00:00", "+0000", "-00:00", "+05:30", "+0530", "-08:00", "+23:59"]),
  /** Digits finer than a millisecond, which decoding cuts. */
  finer: Schema.Literals(["", "9", "000001", "999999"])
})

const BreakParts = Schema.Struct({
  id: between(0, largest),
  user: between(0, largest),
  kind: between(0, 9),
  paid: Schema.Boolean,
  in: InstantParts,
  out: Schema.NullOr(InstantParts),
  deleted: Schema.Union([Schema.Undefined, Schema.Null, Schema.Boolean])
})

/** `undefined` is an absent key. */
const PunchParts = Schema.Struct({
  id: between(0, largest),
  company: between(1, largest),
  user: between(0, 99),
  role: between(0, 2 ** 40),
  location: between(0, 2 ** 31),
  shift: Schema.Union([Schema.Undefined, Schema.Null, between(0, 3), between(1, largest)]),
  department: Schema.Union([Schema.Undefined, Schema.Null, between(0, 3), between(1, largest)]),
  in: InstantParts,
  out: Schema.NullOr(InstantParts),
  wage: between(0, largest),
  tips: between(-largest, largest),
  flags: Schema.Tuple([Schema.Boolean, Schema.Boolean, Schema.Boolean, Schema.Boolean, Schema.Boolean]),
  notes: Schema.Union([Schema.String, Schema.Literals(["🧑‍🍳", "\ud800", "\u0000\u001b[2J\r\n", "בדיקה", "a\u0301"])]),
  source: Schema.Union([Schema.Undefined, Schema.Null, Schema.String, Schema.Literals(["web", ""])]),
  breaks: Schema.Union([Schema.Undefined, Schema.Array(BreakParts).check(Schema.isMaxLength(3))]),
  created: Schema.NullOr(InstantParts),
  modified: Schema.NullOr(InstantParts),
  deleted: Schema.Union([Schema.Undefined, Schema.Boolean])
})

/** JSON has no -0. */
export const plain = (value: number): number => value === 0 ? 0 : value

const millis = ({ epoch, whole }: typeof InstantParts.Type) => plain(whole ? Math.floor(epoch / 1000) * 1000 : epoch)

const instant = (parts: typeof InstantParts.Type): DateTime.Utc => DateTime.makeUnsafe(millis(parts))

const instantOrNone = (parts: typeof InstantParts.Type | null) => Option.map(Option.fromNullOr(parts), instant)

const offsetOf = (zone: string) => {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? []
  return sign === undefined ? 0 : Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes))
}

const write = (parts: typeof InstantParts.Type): string => {
  const local = new Date(millis(parts) + offsetOf(parts.zone) * 60_000).toISOString().slice(0, -1)
  return `${parts.whole && parts.finer === "" ? local.slice(0, 19) : local + parts.finer}${parts.zone}`
}

const writeOrNull = (parts: typeof InstantParts.Type | null) => parts === null ? null : write(parts)

/** The key with its value, or no key. */
const member = (name: string, value: unknown) => value === undefined ? {} : { [name]: value }

const breakPair = (parts: typeof BreakParts.Type) => {
  const domain: Break = {
    id: BreakId.make(plain(parts.id)),
    userId: UserId.make(plain(parts.user)),
    customBreakId: CustomBreakId.make(plain(parts.kind)),
    paid: parts.paid,
    in: instant(parts.in),
    out: instantOrNone(parts.out),
    deleted: parts.deleted ?? false
  }
  const wire = {
    id: plain(parts.id),
    user_id: plain(parts.user),
    custom_break_id: plain(parts.kind),
    paid: parts.paid,
    in: write(parts.in),
    out: writeOrNull(parts.out),
    ...member("deleted", parts.deleted)
  }
  return { domain, wire }
}

const idOrNone = (id: number | null | undefined) => Option.filter(Option.fromNullishOr(id), (value) => value !== 0)

const pair = (parts: typeof PunchParts.Type) => {
  const [approved, editable, auto, inOffline, outOffline] = parts.flags
  const breaks = parts.breaks?.map(breakPair)
  const domain: TimePunch = {
    id: TimePunchId.make(plain(parts.id)),
    companyId: CompanyId.make(plain(parts.company)),
    userId: UserId.make(plain(parts.user)),
    roleId: RoleId.make(plain(parts.role)),
    locationId: LocationId.make(plain(parts.location)),
    shiftId: Option.map(idOrNone(parts.shift), (id) => ShiftId.make(id)),
    departmentId: Option.map(idOrNone(parts.department), (id) => DepartmentId.make(id)),
    clockedIn: instant(parts.in),
    clockedOut: instantOrNone(parts.out),
    hourlyWage: Cents.make(plain(parts.wage)),
    tips: Cents.make(plain(parts.tips)),
    approved,
    editablePunch: editable,
    notes: parts.notes,
    posType: Option.fromNullishOr(parts.source),
    breaks: breaks?.map(({ domain }) => domain) ?? [],
    autoClockedOut: auto,
    clockedInOffline: inOffline,
    clockedOutOffline: outOffline,
    created: instantOrNone(parts.created),
    modified: instantOrNone(parts.modified),
    deleted: parts.deleted ?? false
  }
  const wire = {
    id: domain.id,
    company_id: domain.companyId,
    user_id: domain.userId,
    role_id: domain.roleId,
    location_id: domain.locationId,
    ...member("shift_id", parts.shift),
    ...member("department_id", parts.department),
    clocked_in: write(parts.in),
    clocked_out: writeOrNull(parts.out),
    hourly_wage: domain.hourlyWage,
    tips: domain.tips,
    approved,
    editable_punch: editable,
    notes: parts.notes,
    ...member("pos_type", parts.source),
    ...member("breaks", breaks?.map(({ wire }) => wire)),
    auto_clocked_out: auto,
    clocked_in_offline: inOffline,
    clocked_out_offline: outOffline,
    created: writeOrNull(parts.created),
    modified: writeOrNull(parts.modified),
    ...member("deleted", parts.deleted)
  }
  return { domain, wire }
}

/** Pairs for properties. */
export const PunchPair = Arbitrary.map(Arbitrary.schema(PunchParts), pair)

const part = (time: string): typeof InstantParts.Type => ({
  epoch: Date.parse(`2026-03-02T${time}Z`),
  whole: true,
  zone: "+00:00",
  finer: ""
})

const sampleRest = { id: 31, user: 7, kind: 2, paid: true, in: part("12:00:00"), out: part("12:30:00"), deleted: false }

/** The break of the pair below, in the form of the wire. */
export const sampleBreak = breakPair(sampleRest).wire

/** The pair that tests begin from: a closed punch with every key of the interface, and a paid break. */
export const samplePair = pair({
  id: 1,
  company: 4021,
  user: 7,
  role: 3,
  location: 4,
  shift: 5,
  department: 6,
  in: part("08:00:00"),
  out: part("16:30:00"),
  wage: 1550,
  tips: 250,
  flags: [true, true, false, false, false],
  notes: "",
  source: "web",
  breaks: [sampleRest],
  created: part("08:00:01"),
  modified: null,
  deleted: false
})
