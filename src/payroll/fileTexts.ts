/** The texts of the rows of a payroll file: of ids, dates and pay codes. Notes what is missing, and what would merge two ids. */
import * as Arr from "effect/Array"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { BusinessDate, type DepartmentId, type LocationId, type RoleId, type UserId } from "../Ids.ts"
import { csvCell } from "../internal/wire/csv.ts"
import { dateText, laidOut, moneyText } from "./fileLayout.ts"
import {
  cellLists,
  CodeKind,
  type Column,
  idTextOf,
  isIdValue,
  isOneOf,
  type Mapping,
  MappingError,
  payCodeTexts,
  type RowKey
} from "./mapping.ts"

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

/** The codes by which the payroll program knows users, locations, departments and roles, their names and further texts. */
export interface PayrollCodes {
  /** The code of an id; `undefined` without one. */
  readonly getCode: (kind: CodeKind, id: number) => string | undefined
  /** Default: no id has a name. A cell without a name is empty. */
  readonly getName?: ((kind: CodeKind, id: number) => string | undefined) | undefined
  /** The further texts that ids may have, by which columns name them. Default: none. */
  readonly fields?: ReadonlyArray<string> | undefined
  /** Such a text of an id. Default: no id has one. */
  readonly getField?: ((kind: CodeKind, id: number, field: string) => string | undefined) | undefined
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

/** What a row has of its group: all, or what one pay code has. */
export type Kind = "all" | keyof NonNullable<Mapping["payCodes"]>

/** The ids, the date and the wage of some sums. */
export interface Group {
  readonly ids: {
    readonly user?: UserId | undefined
    readonly location?: LocationId | undefined
    readonly department?: DepartmentId | undefined
    readonly role?: RoleId | undefined
    readonly day?: BusinessDate | undefined
  }
  readonly wage: number
}

/** What all rows of a file share. */
interface Shared {
  readonly id?: string | undefined
  readonly first: BusinessDate
  readonly last: BusinessDate
  readonly payDate?: BusinessDate | undefined
}

/** Whether a column prints a text of the user. */
export const isOfUser = (column: Column): boolean => idTextOf(column)?.[0] === "user"

/**
 * The columns that tell the ids of each key of `by` apart: no code or id does, so two ids whose texts are equal would be one row.
 * Without an entry a code or an id tells it apart.
 */
const keyColumnsOf = ({ by, columns }: Mapping): ReadonlyMap<RowKey, ReadonlyArray<number>> =>
  new Map(by.flatMap((key) => {
    const own = columns.flatMap((column, at) =>
      key === "day" ? column.value === "date" ? [at] : [] : idTextOf(column)?.[0] === key ? [at] : []
    )
    const hasCode = own.some((at) =>
      ["code", "id"].includes(idTextOf(columns[at] ?? {})?.[1] ?? "") && isIdValue(columns[at]?.value)
    )
    return hasCode ? [] : [[key, own] as const]
  }))

/** Makes the texts of rows, and notes what is wrong with them. */
export const makeTexts = (
  mapping: Mapping,
  { getCode, getField, getName }: PayrollCodes,
  set: Readonly<Record<string, string>>,
  shared: Shared
) => {
  const keyColumns = keyColumnsOf(mapping)
  const isKey = (at: number) => [...keyColumns.values()].some((columns) => columns.includes(at))
  const missing = new Map<string, MissingCodes["missing"][number]>()
  const lacking = new Map<string, IdText>()
  const used = new Map<string, UsedCode>()
  const usedTexts = new Map<string, UsedText>()
  const formulas = new Map<string, string>()
  const users = new Map<string, Set<UserId>>()
  /** By key and its texts, the ids that have them. */
  const owners = new Map<
    string,
    { readonly key: RowKey; readonly texts: ReadonlyArray<string>; readonly ids: Set<number | string> }
  >()
  const guard = (path: string, text: string): string => {
    const printed = laidOut(mapping, {}, text)
    if (mapping.formulas !== "keep" && csvCell(printed) !== printed) formulas.set(path, text)
    return text
  }
  for (const { cells, path, text = "" } of cellLists(mapping)) {
    guard(path, text)
    for (const [at, { constant = "", format = "", header = "" }] of cells.entries()) {
      for (const [key, own] of Object.entries({ header, constant, format })) guard(`${path}[${at}].${key}`, own)
    }
  }

  const idText = (at: number, column: Column, kind: CodeKind, form: string, id: number): string => {
    const isValue = isIdValue(column.value)
    if (isValue && form === "id") return `${id}`
    if (isValue && form === "code") {
      const code = getCode(kind, id) ?? ""
      if (code === "") missing.set(`${kind} ${id}`, { kind, id })
      else used.set(`${kind} ${id}`, { kind, id, code })
      return guard(`the code of ${kind} ${id}`, code)
    }
    const text = (isValue ? getName?.(kind, id) : getField?.(kind, id, form)) ?? ""
    const noted = `${kind} ${id} ${form}`
    if (text.trim() === "") {
      if (isKey(at) || column.required === true) missing.set(noted, { kind, id, field: form })
      else lacking.set(noted, { kind, id, field: form })
    } else if (!isValue || isKey(at)) usedTexts.set(noted, { kind, id, field: form, text })
    return guard(`the ${form} of ${kind} ${id}`, text)
  }

  const sharedDates = { periodStart: shared.first, periodEnd: shared.last, payDate: shared.payDate }
  const isSharedDate = isOneOf(Struct.keys(sharedDates))
  /** The text that each row has, or `undefined` if each row has another. */
  const sharedText = ({ constant, format, set: name, value }: Column): string | undefined => {
    if (name !== undefined) return guard(`set.${name}`, set[name] ?? "")
    if (value === "revisionId") return shared.id ?? ""
    return isSharedDate(value) ? dateText(sharedDates[value], format) : constant
  }

  const ownText = (column: Column, at: number, { ids, wage }: Group, kind: Kind): string => {
    const [of, form] = idTextOf(column) ?? []
    if (of !== undefined && form !== undefined) {
      const id = ids[of]
      return id === undefined ? "" : idText(at, column, of, form, id)
    }
    const payCode = kind === "all" ? undefined : mapping.payCodes?.[kind]
    if (column.of === "payCode" || column.value === "payCode") {
      const text = payCode === undefined ? undefined : payCodeTexts(payCode).get(column.field ?? "code")
      return guard(`payCodes.${kind}`, text ?? "")
    }
    if (column.value === "rate") return kind === "tips" ? "" : moneyText(mapping, column, BigInt(wage))
    return column.value === "date" ? dateText(ids.day, column.format) : ""
  }

  const of = (group: Group, kind: Kind) => {
    const texts = mapping.columns.map((column, at) =>
      laidOut(mapping, column, sharedText(column) ?? ownText(column, at, group, kind))
    )
    for (const [key, columns] of keyColumns) {
      const id = group.ids[key] ?? "none"
      const own = columns.map((at) => texts[at] ?? "")
      const known = owners.get(JSON.stringify([key, own])) ?? { key, texts: own, ids: new Set() }
      owners.set(JSON.stringify([key, own]), { ...known, ids: known.ids.add(id) })
    }
    const codeAt = mapping.columns.findIndex(({ value }) => value === "userCode")
    const code = texts[codeAt]
    if (code !== undefined && group.ids.user !== undefined)
      users.set(code, (users.get(code) ?? new Set()).add(group.ids.user))
    return { texts, code }
  }

  return {
    of,
    sharedText,
    failure: (): MissingCodes | FormulaText | MappingError | undefined => {
      if (missing.size > 0) return new MissingCodes({ missing: listed(missing) })
      const merged = [...owners.values()].find(({ ids }) => ids.size > 1)
      if (merged !== undefined) {
        const ids = [...merged.ids].toSorted().join(" and ")
        const texts = merged.texts.map((text) => JSON.stringify(text)).join(", ")
        const detail = `${merged.key} ${ids} have equal texts, ${texts}: add a column that tells them apart`
        return new MappingError({ path: `by[${mapping.by.indexOf(merged.key)}]`, detail })
      }
      const [formula] = formulas
      return formula === undefined ? undefined : new FormulaText({ path: formula[0], text: formula[1] })
    },
    usedCodes: () => listed(used),
    usedTexts: () => listed(usedTexts),
    lackingTexts: () => listed(lacking),
    /** Users of one code are one employee in the file. */
    sharedCodes: () =>
      Array.from(users, ([code, userIds]) => ({ code, userIds: [...userIds].toSorted((a, b) => a - b) }))
        .filter(({ userIds }) => userIds.length > 1)
  }
}

type Noted = Omit<IdText, "field"> & { readonly field?: string }

const listed = <A extends Noted>(noted: ReadonlyMap<string, A>): ReadonlyArray<A> =>
  [...noted.values()].toSorted((one, other) =>
    CodeKind.literals.indexOf(one.kind) - CodeKind.literals.indexOf(other.kind) || one.id - other.id ||
    (one.field ?? "").localeCompare(other.field ?? "", "en")
  )
