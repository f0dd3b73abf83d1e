/** Changes as two tables: each punch with what differs, before and after, then the people. Pure. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type { Changes, PersonChange, PunchChange } from "../../sql/SqlStore.ts"
import type { TimePunch } from "../../TimePunch.ts"
import type { Names } from "../flags/names.ts"
import { formatExactHours, formatMoney, formatShortTime, formatTime } from "../terminal/format.ts"
import { type Column, makeTable, nameColumn } from "../terminal/table.ts"
import { type Difference, differencesOf, type Reading } from "./differences.ts"

/** The lines of both tables, for a terminal of a width; none where nothing changed. */
export const linesOf = (
  { people, punches }: Changes,
  reading: Reading,
  width: number
): ReadonlyArray<string> => [
  ...(punches.length === 0
    ? []
    : makeTable(punchColumns(reading), width).lines(punches.flatMap((change) => linesOfPunch(change, reading)))),
  ...(punches.length === 0 || people.length === 0 ? [] : [""]),
  ...(people.length === 0 ? [] : makeTable(personColumns(reading.names), width).lines(people))
]

/** A line for each field that differs; only the first one says of which punch. */
interface Line {
  readonly change: Option.Option<PunchChange>
  readonly difference: Difference
}

const none: Difference = { field: "", before: "", after: "" }

const linesOfPunch = (change: PunchChange, reading: Reading): ReadonlyArray<Line> => {
  const [first = none, ...others] = differencesOf(change, reading)
  return [
    { change: Option.some(change), difference: first },
    ...others.map((difference) => ({ change: Option.none(), difference }))
  ]
}

/** The version that was paid, else the new one: it says which punch is meant. */
const punchOf = ({ after, before }: PunchChange): Option.Option<TimePunch> => Option.orElse(before, () => after)

const punchColumns = ({ names, zoneOf }: Reading): ReadonlyArray<Column<Line>> => {
  const ofChange = (cell: (change: PunchChange) => string) => ({ change }: Line) =>
    Option.match(change, { onNone: () => "", onSome: cell })
  const ofPunch = (cell: (punch: TimePunch) => string) =>
    ofChange((change) => Option.match(punchOf(change), { onNone: () => "", onSome: cell }))
  const named = (title: string, leaves: number, cell: (line: Line) => string): ReadonlyArray<Column<Line>> =>
    names === undefined ? [] : [nameColumn(title, cell, leaves)]
  return [
    { title: "id", align: "right", cell: ofChange(({ id }) => `${id}`) },
    { title: "user_id", align: "right", cell: ofChange(({ userId }) => `${userId}`) },
    ...named("user", 3, ofChange(({ userId }) => names?.("user", userId) ?? "")),
    { title: "location_id", align: "right", cell: ofPunch(({ locationId }) => `${locationId}`), leaves: 2 },
    ...named("location", 1, ofPunch(({ locationId }) => names?.("location", locationId) ?? "")),
    {
      title: "clocked_in",
      cell: ofPunch((punch) => formatTime(punch.clockedIn, zoneOf(punch))),
      short: ofPunch((punch) => formatShortTime(punch.clockedIn, zoneOf(punch))),
      leaves: 4
    },
    { title: "kind", cell: ofChange(({ kind }) => kind) },
    { title: "field", cell: ({ difference }) => difference.field },
    { title: "before", maxWidth: 40, cell: ({ difference }) => difference.before },
    { title: "after", maxWidth: 40, least: 16, cell: ({ difference }) => difference.after }
  ]
}

const personColumns = (names: Names | undefined): ReadonlyArray<Column<PersonChange>> => [
  { title: "user_id", cell: ({ userId }) => `${userId}` },
  ...(names === undefined
    ? []
    : [{ title: "user", maxWidth: 40, cell: ({ userId }: PersonChange) => names("user", userId) ?? "" }]),
  { title: "net", align: "right", cell: ({ minutes }) => formatMinutes(minutes) },
  { title: "cost", align: "right", cell: ({ cents }) => signed(cents, formatMoney) },
  { title: "tips", align: "right", cell: ({ tips }) => signed(tips, formatMoney) }
]

const signed = (value: number, format: (value: number) => string): string =>
  value > 0 ? `+${format(value)}` : value < 0 ? `-${format(-value)}` : format(0)

/** No difference is rounded away: seconds are shown where there are any. */
const formatMinutes = (minutes: number): string =>
  signed(minutes, (minutes) => formatExactHours(Duration.millis(Math.round(minutes * 60_000))))
