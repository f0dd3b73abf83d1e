/** Changes as two tables (each punch with what differs, then the people), and as JSON and CSV for programs. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { cellsOf, csvColumns } from "../../export/Csv.ts"
import { type FurtherColumns, toWire, type UnwritablePunch } from "../../export/rows.ts"
import { csvCell } from "../../internal/wire/csv.ts"
import type * as WorkedTime from "../../payroll/WorkedTime.ts"
import type { Changes, PersonChange, PunchChange } from "../../sql/SqlStore.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { nameColumns, type Names } from "../flags/names.ts"
import { formatExactHours, formatMoney, formatShortTime, formatTime } from "../terminal/format.ts"
import { csvFile, guardedCsvFile, jsonArray } from "../terminal/machine.ts"
import { type Column, makeTable, nameColumn } from "../terminal/table.ts"
import { type Difference, differencesOf, type Reading } from "./differences.ts"

/** The lines of both tables, for a terminal of a width; none if nothing changed. */
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

/** A line for each field that differs. Only the first line of a punch says which punch it is. */
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

/** Shows seconds unless they are 0, so that no difference is rounded away. */
const formatMinutes = (minutes: number): string =>
  signed(minutes, (minutes) => formatExactHours(Duration.millis(Math.round(minutes * 60_000))))

type Version = Option.Option<TimePunch>

/** `{ punches, people }`, an element a line. Versions are in their wire form. Names are further keys. */
export const jsonOf = Effect.fnUntraced(function*(
  { people, punches }: Changes,
  names: Names | undefined
): Effect.fn.Return<string, UnwritablePunch> {
  const further = names && nameColumns(names)
  const versionOf = (version: Version) =>
    Option.match(version, {
      onNone: () => Effect.succeed(null),
      onSome: (punch) =>
        Effect.map(Effect.fromResult(toWire(punch)), (wire) => ({ ...wire, ...namesIn(punch, further) }))
    })
  const changes = yield* Effect.forEach(
    punches,
    Effect.fnUntraced(function*({ after, before, id, kind, userId }) {
      return {
        id,
        userId,
        ...userName(names, userId),
        kind,
        before: yield* versionOf(before),
        after: yield* versionOf(after)
      }
    })
  )
  const persons = people.map(({ cents, minutes, tips, userId }) => ({
    userId,
    ...userName(names, userId),
    minutes,
    cents,
    tips
  }))
  return `{"punches":${jsonArray(changes)},"people":${jsonArray(persons)}}\n`
})

const userName = (names: Names | undefined, userId: number) =>
  names === undefined ? {} : { userName: names("user", userId) ?? null }

const namesIn = (punch: TimePunch, further: FurtherColumns | undefined) => {
  const cells = further?.cells(punch) ?? []
  return Object.fromEntries(further?.columns.map((name, at) => [name, cells[at] ?? null]) ?? [])
}

/** A row for each person. */
export const peopleCsv = ({ people }: Changes, names: Names | undefined) =>
  csvFile(
    ["user_id", ...(names === undefined ? [] : ["user_name"]), "minutes", "cents", "tips"],
    people.map(({ cents, minutes, tips, userId }) => [
      userId,
      ...(names === undefined ? [] : [names("user", userId)]),
      minutes,
      cents,
      tips
    ])
  )

/**
 * A row for each punch: what it is, then each column of an export twice, before and after. The cells of a version that is
 * not there are empty.
 */
export const punchesCsv = Effect.fnUntraced(function*(
  { punches }: Changes,
  names: Names | undefined,
  options: WorkedTime.WorkedTimeOptions
): Effect.fn.Return<string, UnwritablePunch> {
  const further = names && nameColumns(names)
  const columns = [...csvColumns, ...(further?.columns ?? [])]
  const cellsOfVersion = (version: Version): Effect.Effect<ReadonlyArray<string>, UnwritablePunch> =>
    Option.match(version, {
      onNone: () => Effect.succeed([]),
      onSome: (punch) =>
        Effect.map(
          Effect.fromResult(cellsOf(punch, options)),
          (cells) => [...cells, ...(further?.cells(punch) ?? []).map(csvCell)]
        )
    })
  const rows = yield* Effect.forEach(
    punches,
    Effect.fnUntraced(function*({ after, before, id, kind, userId }) {
      const [one, other] = [yield* cellsOfVersion(before), yield* cellsOfVersion(after)]
      const name = names === undefined ? [] : [names("user", userId)]
      const which = [id, userId, ...name, kind].map(csvCell)
      return [...which, ...pairs(columns, (_, at) => [one[at] ?? "", other[at] ?? ""])]
    })
  )
  const which = ["id", "user_id", ...(names === undefined ? [] : ["user_name"]), "kind"]
  return guardedCsvFile([...which, ...pairs(columns, (name) => [`before_${name}`, `after_${name}`])], rows)
})

/** Two of each column, except those that no change touches. */
const pairs = (
  columns: ReadonlyArray<string>,
  of: (name: string, at: number) => readonly [before: string, after: string]
): ReadonlyArray<string> => columns.flatMap((name, at) => name === "id" || name === "company_id" ? [] : of(name, at))
