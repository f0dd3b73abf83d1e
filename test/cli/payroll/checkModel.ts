/**
 * What a check must find, by the plainest means: each punch by itself, and each pair of punches. Instants and local times
 * come from `Date` and `Intl`; nothing of the library is used.
 */
import type { StoredPunch, WireBreak } from "../../../src/testing/index.ts"

/** An object of the JSON of a check. */
export interface Found {
  readonly punchId: number
  readonly userId: number
  readonly locationId: number
  readonly kind: string
  readonly at: string
  readonly text: string
}

/** A check, with local dates, both inclusive. */
export interface Check {
  readonly zoneOf: (locationId: number) => string
  /** What is read: the period in each of these zones, and so many hours more on each side. */
  readonly read: ReadonlyArray<readonly [zone: string, hours: number]>
  readonly first: string
  readonly last: string
  readonly longestHours: number
  readonly asOf: string | null
  /** `undefined`: the disputed punches are not known. */
  readonly disputed: ReadonlySet<number> | undefined
  readonly isChecked: (punch: StoredPunch) => boolean
  /** The only person whose punches are read. */
  readonly user: number | undefined
  /** In cents. */
  readonly maxWage: number | null
}

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

const formats = new Map<string, Intl.DateTimeFormat>()

/** Local time of an instant, such as `2026-03-18 07:23`. */
export const localTime = (at: number, timeZone: string): string => {
  const format = formats.get(timeZone) ??
    new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" })
  formats.set(timeZone, format)
  return format.format(at)
}

/** Minutes that the wall clock of a zone is ahead of UTC. */
const offset = (at: number, timeZone: string): number =>
  (Date.parse(`${localTime(at, timeZone).replace(" ", "T")}:00Z`) - at) / minute

const signed = (minutes: number): string => {
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `${minutes < 0 ? "-" : "+"}${String(hours).padStart(2, "0")}:${String(rest).padStart(2, "0")}`
}

const edges = new Map<string, number>()

/** The first quarter of an hour whose local date is not before this one: the beginning of the date. */
const beginning = (date: string, zone: string): number => {
  const key = `${date} ${zone}`
  const known = edges.get(key)
  if (known !== undefined) return known
  let at = Date.parse(`${date}T00:00:00Z`) - 2 * day
  while (localTime(at, zone).slice(0, 10) < date) at += 15 * minute
  edges.set(key, at)
  return at
}

const dayAfter = (date: string): string => new Date(Date.parse(`${date}T00:00:00Z`) + day).toISOString().slice(0, 10)

const startOf = (punch: StoredPunch): number => Date.parse(punch.clocked_in)

const outOf = (punch: StoredPunch): number | undefined =>
  punch.clocked_out === null ? undefined : Date.parse(punch.clocked_out)

/** Whether a check reads the punch. */
const isRead = (punch: StoredPunch, { first, last, read, user }: Check): boolean => {
  const begin = Math.min(...read.map(([zone, hours]) => beginning(first, zone) - hours * hour))
  const end = Math.max(...read.map(([zone, hours]) => beginning(dayAfter(last), zone) + hours * hour))
  return punch.deleted !== true && (user === undefined || punch.user_id === user) && begin <= startOf(punch) &&
    startOf(punch) < end
}

const isWithin = (punch: StoredPunch, { first, last, zoneOf }: Check): boolean => {
  const date = localTime(startOf(punch), zoneOf(punch.location_id)).slice(0, 10)
  return first <= date && date <= last
}

const belongs = (punch: StoredPunch, check: Check): boolean => isWithin(punch, check) && check.isChecked(punch)

/** The median of the lowest wage above zero of each person; `undefined` of less than five. */
const medianWage = (punches: ReadonlyArray<StoredPunch>): number | undefined => {
  const paid = punches.filter((each) => each.hourly_wage > 0)
  const wages = [...new Set(paid.map((each) => each.user_id))]
    .map((user) => Math.min(...paid.filter((each) => each.user_id === user).map((each) => each.hourly_wage)))
    .toSorted((a, b) => a - b)
  const middle = wages.length % 2 === 1
    ? [wages[(wages.length - 1) / 2] ?? NaN]
    : [wages[wages.length / 2 - 1] ?? NaN, wages[wages.length / 2] ?? NaN]
  return wages.length < 5 ? undefined : middle.reduce((sum, wage) => sum + wage, 0) / middle.length
}

const farText = (wage: number, median: number | undefined, maxWage: number | null): string | undefined =>
  maxWage !== null && wage > maxWage
    ? `Its hourly wage is ${units(wage)}, above ${units(maxWage)}.`
    : median !== undefined && wage > 10 * median
    ? `Its hourly wage is ${units(wage)}, more than ten times the median of ${units(median)}.`
    : undefined

const units = (cents: number): string => (cents / 100).toFixed(2)

/** The minutes of a punch whose times are whole minutes; of an open one without an end only the first is known. */
const minutesOf = (punch: StoredPunch, asOf: string | null): readonly [from: number, until: number] => {
  const from = startOf(punch) / minute
  const until = outOf(punch) ?? (asOf === null ? undefined : Date.parse(asOf))
  return [from, until === undefined ? from + 1 : until / minute]
}

const share = (a: readonly [number, number], b: readonly [number, number]): boolean =>
  Math.max(a[0], b[0]) < Math.min(a[1], b[1])

const duration = (millis: number): string => {
  const minutes = millis / minute
  const parts = [[Math.floor(minutes / 1440), "d"], [Math.floor(minutes / 60) % 24, "h"], [minutes % 60, "m"]] as const
  return parts.filter(([count]) => count > 0).map(([count, unit]) => `${count}${unit}`).join(" ")
}

/** The breaks that took place. */
const restsOf = (punch: StoredPunch): ReadonlyArray<WireBreak> =>
  (punch.breaks ?? []).filter(({ deleted }) => deleted !== true)

/** Whether two breaks share time. One without an end lasts as long as the punch. */
const breaksShare = (punch: StoredPunch): boolean => {
  const spans = restsOf(punch).map((rest): readonly [number, number] => {
    const until = rest.out === null ? outOf(punch) : Date.parse(rest.out)
    return [Date.parse(rest.in), until ?? Number.POSITIVE_INFINITY]
  })
  return spans.some((a, at) => spans.slice(at + 1).some((b) => share(a, b)))
}

const isOutside = (punch: StoredPunch) => (rest: WireBreak): boolean => {
  const out = outOf(punch) ?? Number.POSITIVE_INFINITY
  const [begin, end] = [Date.parse(rest.in), rest.out === null ? undefined : Date.parse(rest.out)]
  return begin < startOf(punch) || begin > out || (end !== undefined && end > out)
}

/** Whether each minute of a closed punch is in an unpaid break. */
const isUnpaid = (punch: StoredPunch): boolean => {
  const [start, out] = [startOf(punch), outOf(punch)]
  if (out === undefined || out <= start) return false
  return Array.from({ length: (out - start) / minute }, (_, at) => start + at * minute).every((at) =>
    restsOf(punch).some((rest) =>
      !rest.paid && Date.parse(rest.in) <= at && at < (rest.out === null ? out : Date.parse(rest.out))
    )
  )
}

const autoText = (out: number, zone: string): string => {
  const shown = localTime(out, zone)
  const isLast = /23:59$|00:00$/.test(shown)
  return `The service clocked it out at ${shown}${isLast ? ", in the last minute of a day" : ""}.`
}

/** The kinds and sentences of a punch by itself. */
const alone = (
  punch: StoredPunch,
  { asOf, disputed, longestHours, zoneOf }: Check
): ReadonlyArray<readonly [string, string]> => {
  const [start, out] = [startOf(punch), outOf(punch)]
  const end = out ?? (asOf === null ? undefined : Date.parse(asOf))
  const lasts = end === undefined ? 0 : end - start
  const rests = restsOf(punch)
  const zone = zoneOf(punch.location_id)
  const all: ReadonlyArray<readonly [boolean, string, string]> = [
    [out === undefined, "open", "It has no clock-out."],
    [!punch.approved, "unapproved", "It is not approved."],
    [disputed?.has(punch.id) === true, "disputed", "The employee disputes it."],
    [
      lasts > longestHours * hour,
      "tooLong",
      `It lasts ${duration(lasts)}, longer than ${duration(longestHours * hour)}.`
    ],
    [
      out === undefined && lasts < 0,
      "anomaly",
      "AsOfBeforeClockIn: it begins after the instant up to which open punches count."
    ],
    [out !== undefined && lasts < 0, "anomaly", "NegativeSpan: it ends before it begins."],
    [out === start, "anomaly", "ZeroLength: it begins and ends at the same instant."],
    [
      !(out !== undefined && lasts < 0) && rests.some(isOutside(punch)),
      "anomaly",
      "BreakOutsidePunch: a break begins or ends outside of it."
    ],
    [breaksShare(punch), "anomaly", "BreaksOverlap: two of its breaks share time."],
    [
      rests.some((rest) => rest.out !== null && Date.parse(rest.out) < Date.parse(rest.in)),
      "anomaly",
      "NegativeBreak: a break ends before it begins."
    ],
    [
      out !== undefined && rests.some((rest) => rest.out === null),
      "anomaly",
      "OpenBreakInClosedPunch: a break has no end."
    ],
    [isUnpaid(punch), "anomaly", "NothingPaid: its unpaid breaks cover all of it."],
    [punch.hourly_wage === 0, "zeroWage", "Its hourly wage is 0."],
    [punch.auto_clocked_out && out !== undefined, "autoClockedOut", autoText(out ?? 0, zone)]
  ]
  return all.flatMap(([holds, kind, text]) => holds ? [[kind, text] as const] : [])
}

const overlapText = (other: StoredPunch, zone: string, asOf: string | null): string => {
  const [from, until] = minutesOf(other, asOf).map((at) => at * minute)
  if (from === undefined || until === undefined) throw new Error("no times")
  if (other.clocked_out === null) return `It overlaps punch ${other.id}, open since ${localTime(from, zone)}.`
  const changes = offset(from, zone) !== offset(until, zone)
  const [begin, end] = [from, until].map((at) => localTime(at, zone) + (changes ? signed(offset(at, zone)) : ""))
  return `It overlaps punch ${other.id}, ${begin} to ${end}.`
}

const kinds = [
  "open",
  "unapproved",
  "disputed",
  "overlap",
  "tooLong",
  "anomaly",
  "zeroWage",
  "autoClockedOut",
  "wageFar"
]

/** The JSON of a check of these punches, in its order. Every punch has whole minutes. */
export const found = (punches: ReadonlyArray<StoredPunch>, check: Check): ReadonlyArray<Found> => {
  const read = punches.filter((punch) => isRead(punch, check))
  const issues: Array<Found> = []
  const median = medianWage(read.filter((punch) => isWithin(punch, check)))
  for (const punch of read) {
    const say = (kind: string, text: string) =>
      issues.push({
        punchId: punch.id,
        userId: punch.user_id,
        locationId: punch.location_id,
        kind,
        at: new Date(startOf(punch)).toISOString().replace(".000Z", "Z"),
        text
      })
    if (belongs(punch, check)) {
      for (const [kind, text] of alone(punch, check)) say(kind, text)
      const far = farText(punch.hourly_wage, median, check.maxWage)
      if (far !== undefined) say("wageFar", far)
    }
    for (const other of read) {
      if (other.id === punch.id || other.user_id !== punch.user_id) continue
      if (!belongs(punch, check) && !belongs(other, check)) continue
      if (!share(minutesOf(punch, check.asOf), minutesOf(other, check.asOf))) continue
      say("overlap", overlapText(other, check.zoneOf(punch.location_id), check.asOf))
    }
  }
  return issues.toSorted((a, b) =>
    a.userId - b.userId || Date.parse(a.at) - Date.parse(b.at) || a.punchId - b.punchId ||
    kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || (a.text < b.text ? -1 : 1)
  )
}
