/** Punches as CSV for spreadsheets and warehouses: fixed columns, a header once, and no cell that runs as a formula. */
import * as Duration from "effect/Duration"
import * as CoreCsv from "effect/encoding/Csv"
import { dual } from "effect/Function"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { columnNames } from "../internal/wire/columnOrder.ts"
import { csvCellOf, guardedFor } from "../internal/wire/csv.ts"
import * as WorkedTime from "../payroll/WorkedTime.ts"
import type { TimePunch } from "../TimePunch.ts"
import { type ExtraColumns, joined, mapRows, toWire, type UnwritablePunch } from "./rows.ts"

const { breaks: _, ...fieldNames } = columnNames

const fieldColumns = Object.values(fieldNames)

/** What follows from a punch, its breaks among it. */
const derivedColumns = [
  "break_count",
  "gross_seconds",
  "paid_break_seconds",
  "unpaid_break_seconds",
  "net_seconds",
  "anomalies"
] as const

type Derived = typeof derivedColumns[number]

/**
 * The columns, in order: the fields of a punch under their names on the wire, then what `WorkedTime.measure` makes of it.
 * `break_count` leaves deleted breaks out.
 * Amounts are cents, durations are seconds with up to three decimals, `anomalies` are separated by spaces. A cell is
 * empty without a value, or if a duration cannot be known.
 */
export const columns: ReadonlyArray<typeof fieldNames[keyof typeof fieldNames] | Derived> = [
  ...fieldColumns,
  ...derivedColumns
]

/** How `encode` writes. */
export interface CsvOptions extends WorkedTime.WorkedTimeOptions {
  /** Ends every record, the last one too. Default `\r\n`, as in RFC 4180. */
  readonly newline?: "\r\n" | "\n" | undefined
  /** What stands between two cells. Default `,`. With `;` a text is also guarded behind each `,`. */
  readonly separator?: "," | ";" | undefined
  /** Whether a text that a spreadsheet could run is changed. Default `guard`; `keep` writes texts as they are, for a program. */
  readonly formulas?: "guard" | "keep" | undefined
}

/**
 * Writes the header, even for no punches, and every punch as one record, some records to a text. Cells are quoted as in
 * RFC 4180. A punch that has no wire form fails with `UnwritablePunch`, after the records of those before it. With
 * `asOf`, open punches have durations up to that instant.
 *
 * A text (`notes`, `pos_type`) that a spreadsheet could run as a formula, because it begins with `=`, `+`, `-`, `@`,
 * a tab or a line break, gets a leading `'`. So does what follows a `;`, a tab or a line break within a text, since a cell
 * begins there where these separate the columns. Numbers are as they are: negative tips stay a number. With
 * `formulas: "keep"` every text is as it is.
 *
 * The text has no byte order mark; prepend one with `Stream.prepend(["\uFEFF"])` for a program that needs it.
 *
 * Law: the records do not depend on how the punches are chunked.
 */
export const encode: {
  (
    options?: CsvOptions
  ): <E, R>(punches: Stream.Stream<TimePunch, E, R>) => Stream.Stream<string, E | UnwritablePunch, R>
  <E, R>(
    punches: Stream.Stream<TimePunch, E, R>,
    options?: CsvOptions
  ): Stream.Stream<string, E | UnwritablePunch, R>
} = dual(
  ([punches]) => Stream.isStream(punches),
  <E, R>(punches: Stream.Stream<TimePunch, E, R>, options?: CsvOptions) => writeCsv(punches, options)
)

/**
 * `encode` with further columns, which follow those of the punch: a reader by position still finds these. `headers: false`
 * leaves the header out. @internal
 */
export const writeCsv = <E, R>(
  punches: Stream.Stream<TimePunch, E, R>,
  options?: CsvOptions & { readonly headers?: boolean },
  extra?: ExtraColumns
): Stream.Stream<string, E | UnwritablePunch, R> => {
  const separator = options?.separator ?? ","
  const format: CoreCsv.EncodeOptions = {
    columns: extra === undefined ? columns : [...columns, ...extra.columns],
    headers: options?.headers ?? true,
    newline: options?.newline ?? "\r\n",
    delimiter: separator
  }
  const whole = extra === undefined
    ? (punch: TimePunch) => cellsOf(punch, options)
    : (punch: TimePunch) =>
      Result.map(cellsOf(punch, options), (cells) => [...cells, ...extra.cells(punch).map(csvCellOf(options))])
  const row = separator === ","
    ? whole
    : (punch: TimePunch) => Result.map(whole(punch), (cells) => cells.map((text) => guardedFor(text, options ?? {})))
  return mapRows(punches, row).pipe(
    Stream.pipeThroughChannel(CoreCsv.encodeString<E | UnwritablePunch>(format)),
    joined
  )
}

/** The cells of a punch, in the order of `columns`: guarded unless formulas are kept, not yet quoted. @internal */
export const cellsOf = (punch: TimePunch, options: CsvOptions | undefined) =>
  Result.map(toWire(punch), (wire): ReadonlyArray<string> => {
    const worked = WorkedTime.measure(punch, options)
    const durations = Option.getOrUndefined(worked.durations)
    const seconds = (duration: keyof WorkedTime.Durations): string =>
      durations === undefined ? "" : String(Duration.toSeconds(durations[duration]))
    const derived: Record<Derived, string> = {
      break_count: String(WorkedTime.breaksOf(punch).length),
      gross_seconds: seconds("gross"),
      paid_break_seconds: seconds("paidBreaks"),
      unpaid_break_seconds: seconds("unpaidBreaks"),
      net_seconds: seconds("net"),
      anomalies: worked.anomalies.join(" ")
    }
    // The wire form has a 0 for a punch without a shift; in a column of ids that would be a shift.
    const shiftId = Option.getOrNull(punch.shiftId)
    const cellText = csvCellOf(options)
    return [
      ...fieldColumns.map((name) => cellText(name === columnNames.shiftId ? shiftId : wire[name])),
      ...derivedColumns.map((name) => derived[name])
    ]
  })
