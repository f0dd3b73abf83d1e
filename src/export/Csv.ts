/** Punches as CSV for spreadsheets and warehouses: fixed columns, a header once, and no cell that runs as a formula. */
import * as Duration from "effect/Duration"
import * as Csv from "effect/encoding/Csv"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { TimePunch } from "../TimePunch.ts"
import * as WorkedTime from "../WorkedTime.ts"
import type { UnwritablePunch } from "./ExportError.ts"
import { joined, mapRows } from "./rows.ts"
import { toWire } from "./wire.ts"

/**
 * The columns, in order: the fields of a punch under their names on the wire (spec 2.1), then what `WorkedTime.of`
 * makes of it. Amounts are cents, durations are seconds with up to three decimals, `anomalies` stand side by side with
 * a space. A cell is empty where there is no value, and where a duration cannot be known.
 *
 * @since 0.1.0
 */
export const csvColumns = [
  "id",
  "company_id",
  "user_id",
  "role_id",
  "location_id",
  "department_id",
  "shift_id",
  "clocked_in",
  "clocked_out",
  "hourly_wage",
  "tips",
  "approved",
  "editable_punch",
  "auto_clocked_out",
  "clocked_in_offline",
  "clocked_out_offline",
  "pos_type",
  "notes",
  "created",
  "modified",
  "deleted",
  "break_count",
  "gross_seconds",
  "paid_break_seconds",
  "unpaid_break_seconds",
  "net_seconds",
  "anomalies"
] as const

/**
 * `newline` ends every record, the last one too: `\r\n` by default, as RFC 4180 has it. With `asOf`, open punches have
 * durations up to then.
 *
 * @since 0.1.0
 */
export interface CsvOptions extends WorkedTime.Options {
  readonly newline?: "\r\n" | "\n" | undefined
}

/**
 * Writes the header, even for no punches, and every punch as one record, some records to a text. Cells are quoted as
 * RFC 4180 asks. A punch that has no wire form fails with `UnwritablePunch`, after the records of those before it.
 *
 * A text cell (`notes`, `pos_type`) that a spreadsheet could run as a formula, for it begins with `=`, `+`, `-`, `@`,
 * a tab or a line break, gets a leading `'`. Other cells are as they are: negative tips stay a number.
 *
 * The text has no byte order mark; a program that needs one takes `Stream.prepend(["\uFEFF"])`.
 *
 * Law: the records do not depend on how the punches are chunked.
 *
 * @since 0.1.0
 */
export const toCsv = <E, R>(
  punches: Stream.Stream<TimePunch, E, R>,
  options?: CsvOptions
): Stream.Stream<string, E | UnwritablePunch, R> => {
  const format: Csv.EncodeOptions = { columns: csvColumns, headers: true, newline: options?.newline ?? "\r\n" }
  return mapRows(punches, (punch) => toRecord(punch, options)).pipe(
    Stream.pipeThroughChannel(Csv.encodeString<E | UnwritablePunch>(format)),
    joined
  )
}

/** The wire form has a 0 for a punch without a shift; in a column of ids that would be a shift of its own. */
const toRecord = (punch: TimePunch, options: CsvOptions | undefined) =>
  Result.map(toWire(punch), (wire) => {
    const worked = WorkedTime.of(punch, options)
    const seconds = (duration: keyof WorkedTime.Durations): string =>
      Option.match(worked.durations, {
        onNone: () => "",
        onSome: (durations) => String(Duration.toSeconds(durations[duration]))
      })
    const record: Record<typeof csvColumns[number], string> = {
      id: cell(wire.id),
      company_id: cell(wire.company_id),
      user_id: cell(wire.user_id),
      role_id: cell(wire.role_id),
      location_id: cell(wire.location_id),
      department_id: cell(wire.department_id),
      shift_id: Option.match(punch.shiftId, { onNone: () => "", onSome: cell }),
      clocked_in: cell(wire.clocked_in),
      clocked_out: cell(wire.clocked_out),
      hourly_wage: cell(wire.hourly_wage),
      tips: cell(wire.tips),
      approved: cell(wire.approved),
      editable_punch: cell(wire.editable_punch),
      auto_clocked_out: cell(wire.auto_clocked_out),
      clocked_in_offline: cell(wire.clocked_in_offline),
      clocked_out_offline: cell(wire.clocked_out_offline),
      pos_type: textCell(wire.pos_type),
      notes: textCell(wire.notes),
      created: cell(wire.created),
      modified: cell(wire.modified),
      deleted: cell(wire.deleted),
      break_count: cell(punch.breaks.length),
      gross_seconds: seconds("gross"),
      paid_break_seconds: seconds("paidBreaks"),
      unpaid_break_seconds: seconds("unpaidBreaks"),
      net_seconds: seconds("net"),
      anomalies: worked.anomalies.join(" ")
    }
    return record
  })

const cell = (value: string | number | boolean | null | undefined): string =>
  value === null || value === undefined ? "" : String(value)

/**
 * What spreadsheets read as the start of a formula, in either width, also behind blanks and invisible characters that
 * some of them skip. Quotes before it count in, so that taking one `'` away gives back every text that got one.
 */
const formula = /^'*(?:[\t\r\n]|[\s\p{C}]*[=+\-@＝＋－＠])/u

const textCell = (text: string | null | undefined): string => {
  const plain = cell(text)
  return formula.test(plain) ? `'${plain}` : plain
}
