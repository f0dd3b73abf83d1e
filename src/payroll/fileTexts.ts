/** The texts of the rows of a payroll file: of ids, dates and pay codes. Notes what is missing, and what would merge two ids. */
import * as Arr from "effect/Array"
import * as Schema from "effect/Schema"
import { csvCell, guardedFor } from "../internal/wire/csv.ts"
import { dateText, laidOut, numberText, printed } from "./fileLayout.ts"
import {
  cellLists,
  CodeKind,
  type Column,
  defaults,
  type IdSource,
  idSourceOf,
  isDateValue,
  isOneOf,
  keyOf,
  type Kind,
  type Mapping,
  MappingError,
  payCodesOf,
  type RowKey
} from "./mapping.ts"
import { type EncodeOptions, idsOf, type PayrollRow } from "./PayrollSums.ts"

/** Ids without a code, or a further text, although a column needs it. The payroll program could not pay a row without it: add them. */
export class MissingCodes
  extends Schema.TaggedError<MissingCodes>("effect-time-punches/PayrollFile/MissingCodes")("MissingCodes", {
    /** All that are missing. */
    missing: Schema.Array(Schema.Struct({
      /** What has no code. */
      kind: CodeKind,
      /** Its id. */
      id: Schema.Int,
      /** What it lacks, if that is not its code: `name`, or a title of the file of the codes. */
      field: Schema.optionalKey(Schema.String)
    }))
  })
{
  /** All that are missing. */
  override get message(): string {
    return Object.entries(Arr.groupBy(this.missing, ({ field = "code" }) => field))
      .map(([what, ids]) => `no ${what} for ${ids.map(({ id, kind }) => `${kind} ${id}`).join(", ")}`).join("; ")
  }

  /** Whether the same call may succeed later with nothing changed: no. */
  get isRetryable(): boolean {
    return false
  }
}

/** A text that a spreadsheet could run as a formula. Change it, or keep it with `formulas`. */
export class FormulaText
  extends Schema.TaggedError<FormulaText>("effect-time-punches/PayrollFile/FormulaText")("FormulaText", {
    /** Where the text comes from: a path of the mapping, or the name or code of an id. */
    path: Schema.String,
    /** The text. */
    text: Schema.String
  })
{
  /** Where the text comes from, and the text. */
  override get message(): string {
    return `${this.path}: a spreadsheet could run ${JSON.stringify(this.text)} as a formula`
  }

  /** Whether the same call may succeed later with nothing changed: no. */
  get isRetryable(): boolean {
    return false
  }
}

/** The code of an id in a file. */
export const UsedCode = Schema.Struct({
  /** What has the code. */
  kind: CodeKind,
  /** Its id. */
  id: Schema.Int,
  /** The code. */
  code: Schema.String
})

export type UsedCode = typeof UsedCode.Type

/** A name or a further text of an id in a file. */
export interface UsedText extends IdText {
  /** The text. */
  readonly text: string
}

/** Which text of an id. */
export interface IdText {
  /** What has the text. */
  readonly kind: CodeKind
  /** Its id. */
  readonly id: number
  /** `name`, or a title of the file of the codes. */
  readonly field: string
}

/**
 * The columns that tell the ids of each key of `by` apart: no code or id does, so two ids whose texts are equal would be one row.
 * Without an entry a code or an id tells it apart.
 */
const keyColumnsOf = ({ by, columns }: Mapping): ReadonlyArray<readonly [RowKey, ReadonlyArray<Column>]> =>
  by.map((key) => [key, columns.filter((column) => keyOf(column) === key)] as const)
    .filter(([, own]) => !own.some((column) => isOneOf(["code", "id"])(idSourceOf(column)?.form)))

/** A row of a file before its numbers, and the sums that it has. */
export interface TextRow {
  /** The texts of its cells, empty for numbers. */
  readonly texts: ReadonlyArray<string>
  readonly rows: ReadonlyArray<PayrollRow>
}

/** Rows with equal values, in the order of the first of each. */
export const groupsOf = <A>(
  rows: ReadonlyArray<A>,
  valuesOf: (row: A) => ReadonlyArray<unknown>
): ReadonlyArray<Arr.NonEmptyArray<A>> => Object.values(Arr.groupBy(rows, (row) => JSON.stringify(valuesOf(row))))

/** The first ids that have equal texts, so that they would be one row. */
export const mergedIds = (mapping: Mapping, rows: ReadonlyArray<TextRow>): MappingError | undefined => {
  const { by, columns } = mapping
  for (const [key, own] of keyColumnsOf(mapping)) {
    const textsOf = ({ texts }: TextRow) => texts.filter((_, at) => own.some((column) => column === columns[at]))
    for (const group of groupsOf(rows, textsOf)) {
      // A blank text in its width is equal to no text.
      const ids = new Set(group.flatMap((each) => each.rows.map((row) => idsOf(row)[key] ?? "none")))
      if (ids.size < 2) continue
      const texts = textsOf(group[0]).map((text) => JSON.stringify(text)).join(", ")
      const detail = `${key} ${[...ids].toSorted().join(" and ")} have equal texts, ${texts}`
      return new MappingError({
        path: `by[${by.indexOf(key)}]`,
        detail: `${detail}: add a column that tells them apart`
      })
    }
  }
  return undefined
}

/** Makes the texts of cells, and notes what is wrong with them. Those of all sums are as the first has them: only numbers differ. */
export const makeTexts = (
  mapping: Mapping,
  { codes: { getCode, getField, getName }, set = {}, state: shown }: EncodeOptions
) => {
  const keyColumns = keyColumnsOf(mapping).flatMap(([, own]) => own)
  const payCodes = payCodesOf(mapping)
  const missing = makeNotes<MissingCodes["missing"][number]>()
  const lacking = makeNotes<IdText>()
  const used = makeNotes<UsedCode>()
  const texts = makeNotes<UsedText>()
  let formula: FormulaText | undefined
  const guard = (path: string, text: string): string => {
    const own = printed(mapping, text)
    // Only a file of commas has quotes around a comma for who separates by them.
    const separator = (mapping.separator ?? defaults.separator) === "," ? "," : ";"
    if (mapping.formulas !== "keep" && guardedFor(csvCell(own), { separator }) !== own) {
      formula ??= new FormulaText({ path, text })
    }
    return text
  }
  for (const { cells, path, text = "" } of cellLists(mapping)) {
    guard(path, text)
    for (const { constant = "", format = "", header = "", ...cell } of cells) {
      // A constant may begin a line: what stands there is judged.
      const own = { header, constant: constant.trimStart(), format }
      for (const [key, text] of Object.entries(own)) guard(`${cell.path}.${key}`, text)
    }
  }
  for (const [name, text] of Object.entries(set)) guard(`set.${name}`, text)

  const idText = (column: Column, { field, form, kind }: IdSource, id: number): string => {
    if (form === "id") return `${id}`
    const text = (form === "code"
      ? getCode(kind, id)
      : form === "name"
      ? getName?.(kind, id)
      : getField?.(kind, id, field)) ?? ""
    const isKey = keyColumns.includes(column)
    const of = { kind, id, field }
    if (text.trim() !== "") {
      if (form === "code") used.add({ kind, id, code: text })
      else if (form === "field" || isKey) texts.add({ ...of, text })
    } else if (form === "code") missing.add({ kind, id })
    else if (isKey || column.required === true) missing.add(of)
    else lacking.add(of)
    return guard(`the ${field} of ${kind} ${id}`, text)
  }

  /** The text of a cell, empty for a number of a row; without a row, `undefined` for what only a row has. */
  const cellText = (column: Column, row?: PayrollRow, kind: Kind = "all"): string | undefined => {
    const { constant, field = "code", format, of, set: name, value } = column
    if (name !== undefined) return set[name]
    if (value === "revisionId") return shown.id ?? ""
    const dates = { periodStart: shown.first, periodEnd: shown.last, payDate: shown.payDate, date: row?.date }
    if (isDateValue(value)) return dateText(dates[value], format)
    if (constant !== undefined || row === undefined) return constant
    const source = idSourceOf(column)
    if (source !== undefined) {
      const id = idsOf(row)[source.kind]
      return id === undefined ? "" : idText(column, source, id)
    }
    if (of === "payCode" || value === "payCode") {
      return guard(`payCodes.${kind}`, payCodes.get(kind)?.get(field) ?? "")
    }
    return value === "rate" && kind !== "tips" ? numberText(mapping, column, BigInt(row.hourlyWage)) : ""
  }

  return {
    cellText,
    of: (row: PayrollRow, kind: Kind) =>
      mapping.columns.map((column) => laidOut(mapping, column, cellText(column, row, kind) ?? "")),
    missing: (): MissingCodes | undefined =>
      missing.list().length === 0 ? undefined : new MissingCodes({ missing: missing.list() }),
    formula: () => formula,
    codes: used.list,
    texts: texts.list,
    lacking: lacking.list
  }
}

/** Notes of ids, each once; listed by kind, id and field. */
const makeNotes = <A extends Omit<IdText, "field"> & { readonly field?: string }>() => {
  const notes = new Map<string, A>()
  return {
    add: (note: A) => notes.set(`${note.kind} ${note.id} ${note.field}`, note),
    list: (): ReadonlyArray<A> =>
      [...notes.values()].toSorted((one, other) =>
        CodeKind.literals.indexOf(one.kind) - CodeKind.literals.indexOf(other.kind) || one.id - other.id ||
        (one.field ?? "").localeCompare(other.field ?? "", "en")
      )
  }
}
