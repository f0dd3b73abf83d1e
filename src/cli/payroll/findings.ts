/** What a check found, as a table for people and as CSV and JSON for programs, and the line that sums it up. Pure. */
import * as Arr from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { type Finding, type Issue, issueOf } from "../../payroll/PeriodCheck.ts"
import { idColumns, type Names } from "../flags/names.ts"
import { counted, countedPunches, formatShortTime, formatTime } from "../print/format.ts"
import { csvFile, csvRecords, type CsvStyle, jsonElements, jsonEnd } from "../print/machine.ts"
import { type Column, makeTable, type Screen } from "../print/table.ts"

/** The kinds of id of an issue that may have a name. */
const named = ["user", "location"] as const

type Named = typeof named[number]

const nameOf = (names: Names, issue: Issue, kind: Named): string | undefined => names(kind, idOf(issue, kind))

const idOf = (issue: Issue, kind: Named): number => kind === "user" ? issue.userId : issue.locationId

/** The clock-in in UTC, as in every machine form. */
const instantOf = ({ at }: Issue): string => formatTime(DateTime.toUtc(at), Option.none())

/** The same on the clock of the location, with its offset. */
const localOf = ({ at }: Issue): string => formatTime(DateTime.toUtc(at), Option.some(at.zone))

const shortOf = ({ at }: Issue): string => formatShortTime(DateTime.toUtc(at), Option.some(at.zone))

type Form = "table" | "csv" | "json"

/** The findings in a form, with the names of users and locations, page by page: the texts of all may take gigabytes. */
export const textsOf = (
  form: Form,
  found: ReadonlyArray<Finding>,
  names: Names | undefined,
  screen: Screen,
  style: CsvStyle
): Stream.Stream<string> => {
  const pages = found.length === 0 ? [[]] : Arr.chunksOf(found, pageSize)
  const write = writers[form]({ pages, names, screen, style })
  return Stream.paginate(0, (at) =>
    Effect.sync(() => {
      const issues = (pages[at] ?? []).map(issueOf)
      const next = at + 1 < pages.length ? Option.some(at + 1) : Option.none()
      return [[write(issues, at === 0, Option.isNone(next))], next] as const
    })).pipe(Stream.filter((text) => text !== ""))
}

const pageSize = 1000

interface Written {
  readonly pages: ReadonlyArray<ReadonlyArray<Finding>>
  readonly names: Names | undefined
  readonly screen: Screen
  readonly style: CsvStyle
}

type Writer = (issues: ReadonlyArray<Issue>, isFirst: boolean, isLast: boolean) => string

const writers: Record<Form, (written: Written) => Writer> = {
  table: ({ names, pages, screen }) => {
    const table = makeTable(columnsOf(names), screen)
    // A terminal chooses the columns by all rows.
    for (const page of screen.width === Infinity ? pages : [pages.flat()]) table.widen(page.map(issueOf))
    return (issues) => linesText(issues.length === 0 ? [] : table.lines(issues))
  },
  // CSV with a header, also without issues.
  csv: ({ names, style }) => (issues, isFirst) =>
    (isFirst ? csvFile(csvHeader(names), [], style) : "") +
    csvRecords(issues.map((issue) => csvCells(issue, names)), style),
  // An array with an object for each issue, one a line.
  json: ({ names }) => (issues, isFirst, isLast) =>
    jsonElements(issues.map((issue) => JSON.stringify(jsonOf(issue, names))), isFirst ? 0 : 1) +
    (isLast ? `${jsonEnd(isFirst ? issues.length : 1)}\n` : "")
}

const linesText = (lines: ReadonlyArray<string>): string => lines.map((line) => `${line}\n`).join("")

/** Empty without issues. */
export const tableOf = (issues: ReadonlyArray<Issue>, names: Names | undefined, screen: Screen): string =>
  linesText(issues.length === 0 ? [] : makeTable(columnsOf(names), screen).lines(issues))

const columnsOf = (names: Names | undefined): ReadonlyArray<Column<Issue>> => {
  const columnsOfKind = (kind: Named, dropOrder: { readonly id?: number | undefined; readonly name?: number }) =>
    idColumns<Issue>(kind, names, (issue) => Option.some(idOf(issue, kind)), dropOrder)
  return [
    ...columnsOfKind("user", { id: names && 2 }),
    ...columnsOfKind("location", { id: 1, name: 3 }),
    { title: "punch_id", align: "right", cell: (issue) => `${issue.punchId}` },
    { title: "clocked_in", cell: localOf, short: shortOf },
    // The text says it too.
    { title: "kind", cell: (issue) => issue.kind, warns: () => true, dropOrder: 4 },
    { title: "text", minWidth: 21, cell: (issue) => issue.text }
  ]
}

/** Names are the last columns. */
const csvHeader = (names: Names | undefined): ReadonlyArray<string> => [
  "punch_id",
  "user_id",
  "location_id",
  "kind",
  "at",
  "at_local",
  "text",
  ...(names === undefined ? [] : named.map((kind) => `${kind}_name`))
]

const csvCells = (issue: Issue, names: Names | undefined) => [
  issue.punchId,
  issue.userId,
  issue.locationId,
  issue.kind,
  instantOf(issue),
  localOf(issue),
  issue.text,
  ...(names === undefined ? [] : named.map((kind) => nameOf(names, issue, kind)))
]

const jsonOf = (issue: Issue, names: Names | undefined) => {
  const { kind, locationId, punchId, text, userId } = issue
  const own = { punchId, userId, locationId, kind, at: instantOf(issue), text }
  const ofNames = named.map((each) => [`${each}Name`, names && (nameOf(names, issue, each) ?? null)] as const)
  return { ...own, ...Object.fromEntries(ofNames) }
}

/** One line for people: how many issues there are, of how many punches. `checked`: the punches of the period. */
export const verdictOf = (found: ReadonlyArray<Finding>, checked: number, acceptsEmpty: boolean): string => {
  if (checked === 0) {
    return `no punch of the period matches: nothing was checked${acceptsEmpty ? "" : "; --accept empty lets it pass"}`
  }
  const were = `${countedPunches(checked)} ${checked === 1 ? "was" : "were"} checked`
  if (found.length === 0) return `no issues: ${were}`
  const ids = new Set<number>()
  for (const { shift } of found) ids.add(shift.punchId)
  const punches = ids.size
  return `${counted(found.length, "issue")} of ${countedPunches(punches)}; ${were}`
}
