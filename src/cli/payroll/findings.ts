/** What a check found, as a table for people and as CSV and JSON for programs, and the line that sums it up. Pure. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import type { Issue } from "../../payroll/PeriodCheck.ts"
import { idColumns, type Names } from "../flags/names.ts"
import { counted, countedPunches, formatShortTime, formatTime } from "../print/format.ts"
import { csvFile, type CsvStyle, jsonArray } from "../print/machine.ts"
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

/** The issues in a form, with the names of users and locations. */
export const textOf = (
  form: Form,
  issues: ReadonlyArray<Issue>,
  names: Names | undefined,
  screen: Screen,
  style: CsvStyle
): string => {
  switch (form) {
    case "table":
      return tableOf(issues, names, screen)
    case "csv":
      return csvOf(issues, names, style)
    case "json":
      return jsonOf(issues, names)
  }
}

/** Empty without issues. */
export const tableOf = (issues: ReadonlyArray<Issue>, names: Names | undefined, screen: Screen): string =>
  issues.length === 0 ? "" : makeTable(columnsOf(names), screen).lines(issues).map((line) => `${line}\n`).join("")

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

/** CSV with a header, also without issues. Names are the last columns. */
const csvOf = (issues: ReadonlyArray<Issue>, names: Names | undefined, style: CsvStyle): string => {
  const header = ["punch_id", "user_id", "location_id", "kind", "at", "at_local", "text"]
  const rows = issues.map((issue) => [
    issue.punchId,
    issue.userId,
    issue.locationId,
    issue.kind,
    instantOf(issue),
    localOf(issue),
    issue.text,
    ...(names === undefined ? [] : named.map((kind) => nameOf(names, issue, kind)))
  ])
  const nameHeader = names === undefined ? [] : named.map((kind) => `${kind}_name`)
  return csvFile([...header, ...nameHeader], rows, style)
}

/** A JSON array with an object for each issue, one a line. */
const jsonOf = (issues: ReadonlyArray<Issue>, names: Names | undefined): string => {
  const elements = issues.map((issue) => {
    const { kind, locationId, punchId, text, userId } = issue
    const own = { punchId, userId, locationId, kind, at: instantOf(issue), text }
    const further = named.map((each) => [`${each}Name`, names && (nameOf(names, issue, each) ?? null)] as const)
    return { ...own, ...Object.fromEntries(further) }
  })
  return `${jsonArray(elements)}\n`
}

/** One line for people: how many issues there are, of how many punches. `checked`: the punches of the period. */
export const verdictOf = (issues: ReadonlyArray<Issue>, checked: number, acceptsEmpty: boolean): string => {
  if (checked === 0) {
    return `no punch of the period matches: nothing was checked${acceptsEmpty ? "" : "; --accept empty lets it pass"}`
  }
  const were = `${countedPunches(checked)} ${checked === 1 ? "was" : "were"} checked`
  if (issues.length === 0) return `no issues: ${were}`
  const punches = new Set(issues.map(({ punchId }) => punchId)).size
  return `${counted(issues.length, "issue")} of ${countedPunches(punches)}; ${were}`
}
