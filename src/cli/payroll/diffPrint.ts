/** Changes as two tables (each punch with what differs, then the people), and as JSON and CSV for programs. */
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { cellsOf, columns as csvColumns } from "../../export/Csv.ts"
import { mapRows, toVersion, type UnwritablePunch } from "../../export/rows.ts"
import { csvCellOf } from "../../internal/wire/csv.ts"
import type * as WorkedTime from "../../payroll/WorkedTime.ts"
import type { Changes, PersonChange, PunchChange } from "../../sql/history.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { differencesOf, type FieldDifference, parted, type PunchDisplay, shortened } from "../database/punchFields.ts"
import { idColumns, nameColumns, type Names } from "../flags/names.ts"
import { formatHours, formatMoney, formatShortTime, formatTime } from "../print/format.ts"
import { csvFile, type CsvStyle, guardedRecords, jsonArray, jsonElements, jsonEnd } from "../print/machine.ts"
import { type Column, makeTable, type Screen } from "../print/table.ts"

/** The lines of both tables; none if nothing changed. */
export const linesOf = (
  { people, punches }: Changes,
  reading: PunchDisplay,
  screen: Screen
): ReadonlyArray<string> => [
  ...(punches.length === 0
    ? []
    : makeTable(punchColumns(reading, screen.width), screen).lines(
      punches.flatMap((change) => linesOfPunch(change, reading))
    )),
  ...(punches.length === 0 || people.length === 0 ? [] : [""]),
  ...(people.length === 0 ? [] : makeTable(personColumns(reading.names), screen).lines(people))
]

/** A line for each field that differs. Only the first line of a punch says which punch it is. */
interface Line {
  readonly change: Option.Option<PunchChange>
  readonly difference: FieldDifference
}

const none: FieldDifference = { field: "", before: "", after: "" }

const linesOfPunch = (change: PunchChange, reading: PunchDisplay): ReadonlyArray<Line> => {
  const [first = none, ...others] = differencesOf(change, reading)
  return [
    { change: Option.some(change), difference: first },
    ...others.map((difference) => ({ change: Option.none(), difference }))
  ]
}

/** The version that was paid, else the new one: it says which punch is meant. */
const punchOf = ({ after, before }: PunchChange): Option.Option<TimePunch> => Option.orElse(before, () => after)

const punchColumns = ({ names, zoneOf }: PunchDisplay, width: number): ReadonlyArray<Column<Line>> => {
  const ofChange = (cell: (change: PunchChange) => string) => ({ change }: Line) =>
    Option.match(change, { onNone: () => "", onSome: cell })
  const ofPunch = (cell: (punch: TimePunch) => string) =>
    ofChange((change) => Option.match(punchOf(change), { onNone: () => "", onSome: cell }))
  const userOf = ({ change }: Line) => Option.map(change, ({ userId }) => userId)
  const locationOf = ({ change }: Line) => Option.map(Option.flatMap(change, punchOf), ({ locationId }) => locationId)
  return [
    { title: "id", align: "right", cell: ofChange(({ punchId }) => `${punchId}`) },
    ...idColumns("user", names, userOf, { id: names && 2 }),
    ...idColumns("location", names, locationOf, { id: 1, name: 3 }),
    {
      title: "clocked_in",
      cell: ofPunch((punch) => formatTime(punch.clockedIn, zoneOf(punch))),
      short: ofPunch((punch) => formatShortTime(punch.clockedIn, zoneOf(punch))),
      dropOrder: 4
    },
    { title: "kind", cell: ofChange(({ kind }) => kind) },
    { title: "field", cell: ({ difference }) => difference.field },
    ...(["before", "after"] as const).map((side): Column<Line> => ({
      title: side,
      minWidth: 16,
      keepsWords: true,
      cell: ({ difference }) => (width === Infinity ? difference : parted(difference))[side],
      short: ({ difference }) => shortened(difference)[side]
    }))
  ]
}

const personColumns = (names: Names | undefined): ReadonlyArray<Column<PersonChange>> => [
  { title: "user_id", cell: ({ userId }) => `${userId}` },
  ...(names === undefined
    ? []
    : [{ title: "user", maxWidth: 40, cell: ({ userId }: PersonChange) => names("user", userId) ?? "" }]),
  {
    title: "net",
    align: "right",
    cell: ({ net }) => signed(Duration.toMillis(net), (millis) => formatHours(Duration.millis(millis)))
  },
  { title: "cost", align: "right", cell: ({ cost }) => signed(cost, formatMoney) },
  { title: "tips", align: "right", cell: ({ tips }) => signed(tips, formatMoney) }
]

const signed = (value: number, format: (value: number) => string): string =>
  value > 0 ? `+${format(value)}` : value < 0 ? `-${format(-value)}` : format(0)

type Version = Option.Option<TimePunch>

/** The differences of people, once the last punch was read. */
type PeopleDifferences = () => ReadonlyArray<PersonChange>

/**
 * `{ punches, people }`, an element a line, as it is read. Versions are in their wire form. Names are extra keys. If the
 * reading fails, the JSON has no end.
 */
export const jsonOf = <E, R>(
  punches: Stream.Stream<PunchChange, E, R>,
  differences: PeopleDifferences,
  names: Names | undefined
): Stream.Stream<string, E | UnwritablePunch, R> =>
  Stream.suspend(() => {
    const extra = names && nameColumns(names)
    const versionOf = (version: Version) => Result.map(toVersion(version, extra), (wire) => JSON.stringify(wire))
    const elementOf = ({ after, before, kind, punchId, userId }: PunchChange) => {
      const which = JSON.stringify({ punchId, userId, ...userName(names, userId), kind }).slice(0, -1)
      return Result.map(
        Result.all([versionOf(before), versionOf(after)]),
        ([before, after]) => `${which},"before":${before},"after":${after}}`
      )
    }
    const personOf = ({ cost, net, tips, userId }: PersonChange) => ({
      userId,
      ...userName(names, userId),
      netSeconds: Duration.toSeconds(net),
      costCents: cost,
      tipsCents: tips
    })
    let printed = 0
    const elements = Stream.mapArray(mapRows(punches, elementOf), (elements) => {
      const text = jsonElements(elements, printed)
      printed += elements.length
      return [text]
    })
    return headed(`{"punches":`, elements).pipe(
      Stream.concat(
        Stream.suspend(() => Stream.make(`${jsonEnd(printed)},"people":${jsonArray(differences().map(personOf))}}\n`))
      )
    )
  })

/** Texts behind a first one, which is printed with the next: of changes that are refused, nothing is. */
const headed = <E, R>(head: string, texts: Stream.Stream<string, E, R>): Stream.Stream<string, E, R> =>
  Stream.suspend(() => {
    const heads = [head]
    return texts.pipe(
      Stream.mapArray((texts) => Arr.prependAll(texts, heads.splice(0))),
      Stream.concat(Stream.suspend(() => Stream.fromIterable(heads.splice(0))))
    )
  })

const userName = (names: Names | undefined, userId: number) =>
  names === undefined ? {} : { userName: names("user", userId) ?? null }

/** A row for each person, in the columns and units of a summary. The punches are read for their sums alone. */
export const peopleCsv = <E, R>(
  punches: Stream.Stream<PunchChange, E, R>,
  differences: PeopleDifferences,
  names: Names | undefined,
  style: CsvStyle
): Stream.Stream<string, E, R> =>
  Stream.concat(
    Stream.drain(punches),
    Stream.suspend(() =>
      Stream.make(csvFile(
        ["user_id", ...(names === undefined ? [] : ["user_name"]), "net_seconds", "cost_cents", "tips_cents"],
        differences().map(({ cost, net, tips, userId }) => {
          const seconds = Duration.toSeconds(net)
          return names === undefined
            ? [userId, seconds, cost, tips]
            : [userId, names("user", userId), seconds, cost, tips]
        }),
        style
      ))
    )
  )

/**
 * A row for each punch, as it is read: what it is, then each column of an export twice, before and after. The cells of a
 * version that is not there are empty.
 */
export const punchesCsv = <E, R>(
  punches: Stream.Stream<PunchChange, E, R>,
  names: Names | undefined,
  options: WorkedTime.WorkedTimeOptions,
  style: CsvStyle
): Stream.Stream<string, E | UnwritablePunch, R> => {
  const extra = names && nameColumns(names)
  const cellText = csvCellOf(style)
  const form = { ...options, formulas: style.formulas }
  const columns = [...csvColumns, ...(extra?.columns ?? [])]
  // Two of each column, except those that no change touches.
  const places = columns.flatMap((name, at) => name === "id" || name === "company_id" ? [] : [at])
  const cellsOfVersion = (version: Version): Result.Result<ReadonlyArray<string>, UnwritablePunch> =>
    Option.match(version, {
      onNone: () => Result.succeed([]),
      onSome: (punch) =>
        Result.map(
          cellsOf(punch, form),
          (cells) => extra === undefined ? cells : [...cells, ...extra.cells(punch).map(cellText)]
        )
    })
  const rowOf = ({ after, before, kind, punchId, userId }: PunchChange) => {
    const name = names === undefined ? [] : [names("user", userId)]
    return Result.map(Result.all([cellsOfVersion(before), cellsOfVersion(after)]), ([one, other]) => {
      const row = [punchId, userId, ...name, kind].map(cellText)
      for (const at of places) row.push(one[at] ?? "", other[at] ?? "")
      return row
    })
  }
  const which = ["id", "user_id", ...(names === undefined ? [] : ["user_name"]), "kind"]
  const header = [...which, ...places.flatMap((at) => [`before_${columns[at]}`, `after_${columns[at]}`])]
  return headed(
    style.start + guardedRecords([header], style),
    Stream.mapArray(mapRows(punches, rowOf), (rows) => [guardedRecords(rows, style)])
  )
}
