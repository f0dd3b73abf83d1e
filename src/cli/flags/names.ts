/** Names for the ids of punches, from a file of the user: `--names FILE`. A name is data, escaped wherever it is written. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { csvCell } from "../../internal/wire/csv.ts"
import type { TimePunch } from "../../TimePunch.ts"
import type { CommandFailure } from "../failure.ts"
import { type Column, nameColumn } from "../print/table.ts"
import { parseCsvFile, readCsvFile } from "./csvFile.ts"
import { orDefault } from "./settings.ts"
import { fileFlag, readWhole, wholeNumber } from "./values.ts"

/** The kinds of id that may have a name. */
export const nameKinds = ["user", "location", "role", "department"] as const

export const namesFlag = fileFlag(
  "names",
  `Add names to ids, from a CSV file with the columns kind,id,name; a kind is ${listWords(nameKinds)}`
)

/** `a, b or c`. */
export function listWords(kinds: ReadonlyArray<string>): string {
  return `${kinds.slice(0, -1).join(", ")} or ${kinds.at(-1)}`
}

/** A kind of id that may have a name. */
export type NameKind = typeof nameKinds[number]

/** The name of an id of a kind, if the file has one. */
export type Names = (kind: NameKind, id: number) => string | undefined

/** The names of the file, if the flag or the profile has one. Fails on the first line that is wrong, before anything is requested. */
export const readNames = (flag: Option.Option<string>) =>
  orDefault(flag, "names").pipe(
    Effect.flatMap((file) => readCsvFile(file, parseNames)),
    Effect.map(Option.getOrUndefined)
  )

/** Reads the bytes of such a file, in UTF-8. `file` is its name in errors. */
export const parseNames = (bytes: Uint8Array, file: string): Effect.Effect<Names, CommandFailure> =>
  Effect.map(parseTexts(bytes, file, "name"), ({ textOf }) => textOf)

/**
 * The codes by which a payroll program knows ids, from a file with the columns kind,id,code and maybe further ones, if one is given. A
 * code that a spreadsheet could run is refused unless `keepsFormulas`.
 */
export const readCodes = (file: Option.Option<string>, keepsFormulas: boolean) =>
  Effect.map(
    readCsvFile(file, (bytes, name) =>
      parseTexts(bytes, name, "code", (text) => {
        if (text !== text.trim()) return `the code "${text}" begins or ends with a blank`
        return keepsFormulas || csvCell(text) === text
          ? undefined
          : `a spreadsheet could run the code "${text}" as a formula; "formulas": "keep" in the mapping allows it`
      })),
    (read) =>
      Option.getOrUndefined(
        Option.map(read, ({ fields, textOf }) => ({ fields, getCode: textOf, getField: textOf }))
      )
  )

/** A text for each id, as it is written, and further ones of a file of codes. `refuse`: what is wrong with a text. */
const parseTexts = Effect.fnUntraced(function*(
  bytes: Uint8Array,
  file: string,
  what: "name" | "code",
  refuse: (text: string) => string | undefined = () => undefined
) {
  const texts = new Map<string, { readonly cells: ReadonlyMap<string, string>; readonly line: number }>()
  const header = `kind,id,${what}`
  const headers = what === "code" ? [header, `${header},…`] : [header]
  const all = yield* parseCsvFile(bytes, file, headers, (cells, line, titles) => {
    const [kind = "", id = "", text = ""] = cells
    if (!isKind(kind)) return `the kind must be ${listWords(nameKinds)}, not "${kind}"`
    const number = readWhole(id)
    if (Option.isNone(number)) return `the id must be ${wholeNumber(0)}, not "${id}"`
    // A file of further texts may have people without a code: one that a column needs is missing.
    if (text.trim() === "" && titles.length <= 3) return `the ${what} is empty`
    const refused = refuse(text)
    if (refused !== undefined) return refused
    const key = `${kind} ${number.value}`
    const earlier = texts.get(key)
    if (earlier !== undefined) return `line ${earlier.line} has a ${what} for ${key} already`
    texts.set(key, { cells: new Map(titles.map((title, at) => [title, cells[at] ?? ""])), line })
    return undefined
  })
  const textOf = (kind: NameKind, id: number, field: string = what): string | undefined =>
    texts.get(`${kind} ${id}`)?.cells.get(field)
  return { fields: all.slice(3), textOf }
})

const isKind = (text: string): text is NameKind => nameKinds.some((kind) => kind === text)

/** The id of a kind in a punch; a department may be missing. */
export const idOfKind = (punch: TimePunch, kind: NameKind): Option.Option<number> =>
  kind === "department" ? punch.departmentId : Option.some(punch[`${kind}Id`])

/** The name of that id; `undefined` if the punch has no such id, or the file does not name it. */
const nameOf = (names: Names, punch: TimePunch, kind: NameKind): string | undefined =>
  Option.getOrUndefined(Option.flatMapNullishOr(idOfKind(punch, kind), (id) => names(kind, id)))

/** The columns of names in machine forms: every kind, whatever the file names, so that they are the same every week. */
export const nameColumns = (names: Names) => ({
  columns: nameKinds.map((kind) => `${kind}_name`),
  cells: (punch: TimePunch) => nameKinds.map((kind) => nameOf(names, punch, kind))
})

/**
 * The column of the ids of a kind in a table and, with names, the column of their names. `dropOrder`: in which order the two
 * are left out of a terminal that is too narrow.
 */
export const idColumns = <A>(
  kind: NameKind,
  names: Names | undefined,
  idOf: (row: A) => Option.Option<number>,
  dropOrder: { readonly id?: number | undefined; readonly name?: number | undefined }
): ReadonlyArray<Column<A>> => {
  const textOf = (row: A) => Option.match(idOf(row), { onNone: () => "", onSome: String })
  return [
    { title: `${kind}_id`, align: "right", cell: textOf, dropOrder: dropOrder.id },
    ...(names === undefined ? [] : [nameColumn<A>(
      kind,
      (row) => Option.getOrUndefined(Option.flatMapNullishOr(idOf(row), (id) => names(kind, id))),
      textOf,
      dropOrder.name
    )])
  ]
}
