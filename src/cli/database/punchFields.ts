/** What differs between two versions of a punch, field by field, as people read it. Pure. */
import * as DateTime from "effect/DateTime"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import { columnNames } from "../../internal/wire/columnOrder.ts"
import * as WorkedTime from "../../payroll/WorkedTime.ts"
import type { PunchChange } from "../../sql/history.ts"
import type { Break, TimePunch } from "../../TimePunch.ts"
import type { NameKind, Names } from "../flags/names.ts"
import { formatHours, formatMoney, formatTime } from "../print/format.ts"

/** How a punch is read: by which clock, up to when an open one counts, with which names. */
export interface PunchDisplay extends WorkedTime.WorkedTimeOptions {
  /** The clock of the punch; `None`: UTC. */
  readonly zoneOf: (punch: TimePunch) => Option.Option<DateTime.TimeZone>
  readonly names: Names | undefined
}

/** A field that differs. A version that does not exist has an empty text. */
export interface FieldDifference {
  readonly field: string
  readonly before: string
  readonly after: string
}

/**
 * The same in little space: instants to the minute, as `clocked_in` is there, and of long texts what differs. Two texts that
 * differ still do.
 */
export const shortened = (difference: FieldDifference): FieldDifference => {
  const toMinute = (text: string) => text.replace(/(\d{4}-\d\d-\d\d)T(\d\d:\d\d):[\d.]+(?:Z|[+-]\d\d:\d\d)/g, "$1 $2")
  const [before, after] = [toMinute(difference.before), toMinute(difference.after)]
  const { field } = difference
  return parted(before === after ? difference : { field, before, after })
}

/** Of two long texts, what differs, and some characters around it. */
export const parted = (difference: FieldDifference): FieldDifference => {
  const { after, before, field } = difference
  const [one, other] = [[...before], [...after]]
  if (one.length <= longText && other.length <= longText) return difference
  const shorter = Math.min(one.length, other.length)
  let start = 0
  while (start < shorter && one[start] === other[start]) start += 1
  let end = 0
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end += 1
  const truncate = (text: ReadonlyArray<string>) => {
    const [from, to] = [start - contextLength, text.length - end + contextLength]
    return (from > contextLength ? "…" : "") +
      text.slice(from > contextLength ? from : 0, to < text.length - contextLength ? to : undefined).join("") +
      (to < text.length - contextLength ? "…" : "")
  }
  return { field, before: truncate(one), after: truncate(other) }
}

/** Characters of a text that is shown whole. */
const longText = 40

/** Characters that are shown around a difference. */
const contextLength = 10

type Change = Pick<PunchChange, "kind" | "before" | "after">

/**
 * The fields that differ, in one order for all punches. Of a punch with one version only, its main fields. Without
 * `modified`, which moves with every edit.
 */
export const differencesOf = (change: Change, reading: PunchDisplay): ReadonlyArray<FieldDifference> =>
  fields.flatMap((differenceOf) => Option.toArray(differenceOf(change, reading)))

/** What is shown of a value of a punch. */
interface Shown<A> {
  readonly text: (value: A, punch: TimePunch, reading: PunchDisplay) => string
  /** Another text, for two values that differ and have equal texts. */
  readonly exact?: (value: A, punch: TimePunch, reading: PunchDisplay) => string
  /** Whether it is shown of a punch with one version only. */
  readonly isMain?: true
}

const yesNo = (value: boolean): string => value ? "yes" : "no"

const orNone = <A>(text: Shown<A>["text"], none = "none"): Shown<Option.Option<A>>["text"] => (value, punch, reading) =>
  Option.match(value, { onNone: () => none, onSome: (value) => text(value, punch, reading) })

const localTime: Shown<DateTime.Utc>["text"] = (at, punch, { zoneOf }) => formatTime(at, zoneOf(punch))

/** The id, and its name if the file has one. */
const named = (kind: NameKind): Shown<number>["text"] => (id, _, { names }) => {
  const name = names?.(kind, id)
  return name === undefined ? `${id}` : `${id} ${name}`
}

/** `12:00`, or with seconds unless they are 0, by the clock of the punch. */
const timeOfDay: Shown<DateTime.Utc>["text"] = (at, punch, reading) =>
  localTime(at, punch, reading).replace(/^.*T(\d\d:\d\d)(?::00(?![.\d]))?(:[\d.]+)?.*$/, "$1$2")

const kindOf = ({ deleted, paid }: Break): string => `${paid ? "paid" : "unpaid"}${deleted ? ", deleted" : ""}`

const breakText = (each: Break, punch: TimePunch, reading: PunchDisplay): string =>
  `${timeOfDay(each.in, punch, reading)} to ${orNone(timeOfDay)(each.out, punch, reading)} ${kindOf(each)}`

/** With dates, ids and the user: breaks of equal times can differ in these. */
const exactBreakText = (each: Break, punch: TimePunch, reading: PunchDisplay) =>
  `${each.id}: ${localTime(each.in, punch, reading)} to ${orNone(localTime)(each.out, punch, reading)} ${
    kindOf(each)
  }, type ${each.customBreakId}, user ${each.userId}`

type Key = Exclude<keyof TimePunch, "id" | "companyId" | "modified">

/** The text of a value of any kind that a field has. */
const plainText: Shown<unknown>["text"] = (value, punch, reading) =>
  Option.isOption(value)
    ? orNone(plainText)(value, punch, reading)
    : DateTime.isDateTime(value)
    ? localTime(DateTime.toUtc(value), punch, reading)
    : typeof value === "boolean"
    ? yesNo(value)
    : String(value)

/** The fields that are shown in another way than by the kind of their value, or first: in this order. */
const special: { readonly [K in Key]?: Shown<TimePunch[K]> } = {
  userId: { text: named("user") },
  locationId: { text: named("location") },
  clockedIn: { text: localTime },
  clockedOut: { text: orNone(localTime, "open"), isMain: true },
  breaks: {
    text: (breaks, punch, reading) => breaks.map((each) => breakText(each, punch, reading)).join("; "),
    exact: (breaks, punch, reading) => breaks.map((each) => exactBreakText(each, punch, reading)).join("; "),
    isMain: true
  },
  hourlyWage: { text: formatMoney, isMain: true },
  tips: { text: formatMoney, isMain: true },
  approved: { text: yesNo, isMain: true },
  deleted: { text: yesNo },
  notes: { text: plainText, isMain: true },
  roleId: { text: named("role") },
  departmentId: { text: orNone(named("department")) }
}

type DifferenceOf = (change: Change, reading: PunchDisplay) => Option.Option<FieldDifference>

const fieldOf = <K extends Key>(key: K): DifferenceOf => {
  const { exact, isMain = false, text } = special[key] ?? { text: plainText }
  const field = columnNames[key]
  return ({ after, before }, reading) => {
    const textsOf = (text: Shown<TimePunch[K]>["text"]) => {
      const [one, other] = [before, after].map((version) =>
        Option.match(version, { onNone: () => "", onSome: (punch) => text(punch[key], punch, reading) })
      )
      return { field, before: one ?? "", after: other ?? "" }
    }
    const texts = textsOf(text)
    if (Option.isNone(before) || Option.isNone(after)) return isMain ? differing(texts) : Option.none()
    if (Equal.equals(before.value[key], after.value[key])) return Option.none()
    return Option.some(texts.before === texts.after && exact !== undefined ? textsOf(exact) : texts)
  }
}

const differing = (texts: FieldDifference): Option.Option<FieldDifference> =>
  texts.before === texts.after ? Option.none() : Option.some(texts)

/** The net time that counts in the period. A punch that is deleted, or in another period, has none. */
const net: DifferenceOf = ({ after, before, kind }, reading) => {
  const textOf = (version: Option.Option<TimePunch>) =>
    Option.match(version, {
      onNone: () => "",
      onSome: (punch) =>
        Option.match(WorkedTime.measure(punch, reading).durations, {
          onNone: () => "?",
          onSome: ({ net }) => formatHours(net)
        })
    })
  return differing({
    field: "net",
    before: textOf(kind === "undeleted" || kind === "movedIn" ? Option.none() : before),
    after: textOf(kind === "deleted" || kind === "movedOut" ? Option.none() : after)
  })
}

const { companyId: _company, id: _id, modified: _modified, ...names } = columnNames

const isKey = (key: string): key is Key => Object.hasOwn(names, key)

/** Net time follows the times and the breaks that it results from. */
const fields: ReadonlyArray<DifferenceOf> = Object.keys({ ...special, ...names }).filter(isKey)
  .flatMap((key) => key === "hourlyWage" ? [net, fieldOf(key)] : [fieldOf(key)])
