/** Fields of a page that this version does not know: the paths of their keys, never their values; and which of them are marks. */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { escaped } from "../text/printable.ts"
import { idOf } from "./decoder.ts"
import { boundMarks, type Mark, marksUnder, mostPaths } from "./mark.ts"
import { breakNames, timePunchNames } from "./names.ts"
import { WireCursor } from "./schema.ts"

/** The objects of a page, each by what stands before its keys in a path, with the keys that this version knows. */
const objects = {
  envelope: { before: "", keys: new Set(["object", "data", "meta"]) },
  meta: { before: "meta.", keys: new Set(["cursor"]) },
  cursor: { before: "meta.cursor.", keys: new Set(Object.keys(WireCursor.fields)) },
  row: { before: "data[].", keys: new Set<string>(Object.values(timePunchNames)) },
  break: { before: "data[].breaks[].", keys: new Set<string>(Object.values(breakNames)) }
} as const

const knownPaths = new Set(Object.values(objects).flatMap(({ before, keys }) => [...keys].map((key) => before + key)))

/** Characters of a path. A longer one is cut. */
const mostCharacters = 100

/** What a page has that this version does not read. */
export interface Unread {
  /** The paths of the keys of all rows, all breaks, `meta`, `meta.cursor` and the page itself that are not known, each once. */
  readonly unknown: ReadonlyArray<string>
  /** What is deleted already cannot be taken away by another key. */
  readonly marks: ReadonlyArray<Mark>
}

/** Looks at the keys of a row or a break only where their number says that one is not known. */
export const unreadOf = (json: unknown): Unread => {
  const unknown = new Set<string>()
  const marks = new Map<string, Mark>()
  const look = ({ before, keys }: typeof objects[keyof typeof objects], object: unknown, row?: unknown) => {
    if (!Predicate.isObject(object)) return
    // Without an array of the keys of each row. Parsed JSON inherits no key that can be enumerated.
    for (const key in object) {
      if (keys.has(key)) continue
      if (unknown.size < mostPaths) unknown.add(before + key)
      if (row === undefined || object["deleted"] === true) continue
      for (const under of marksUnder(key, object[key])) {
        const path = pathOf(before + under)
        const { count, punchId } = marks.get(path) ?? { punchId: Option.getOrElse(idOf(row), () => 0), count: 0 }
        marks.set(path, { path, punchId, count: count + 1 })
      }
    }
  }
  look(objects.envelope, json)
  if (Predicate.hasProperty(json, "meta")) {
    look(objects.meta, json.meta)
    if (Predicate.hasProperty(json.meta, "cursor")) look(objects.cursor, json.meta.cursor)
  }
  if (Predicate.hasProperty(json, "data") && Array.isArray(json.data)) {
    for (const row of json.data) {
      if (!Predicate.isObject(row)) continue
      const { breaks, deleted } = row
      const absent = isAbsent(row["shift_id"]) + isAbsent(row["department_id"]) + isAbsent(row["pos_type"]) +
        isAbsent(breaks) + isAbsent(deleted)
      if (countKeys(row) + absent > objects.row.keys.size) look(objects.row, row, row)
      if (!Array.isArray(breaks)) continue
      for (const each of breaks) {
        if (Predicate.isObject(each) && countKeys(each) + isAbsent(each["deleted"]) > objects.break.keys.size) {
          look(objects.break, each, deleted === true ? undefined : row)
        }
      }
    }
  }
  return { unknown: [...new Set([...unknown].map(pathOf))], marks: boundMarks(marks.values()) }
}

/** Of a key that a row or a break may lack. */
const isAbsent = (value: unknown): number => value === undefined ? 1 : 0

const countKeys = (object: object): number => {
  let count = 0
  for (const _ in object) count++
  return count
}

/** Paths of several pages, each once, without those that this version knows: another version may have kept them. */
export const unknownOf = (...paths: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> =>
  [...new Set(paths.flat())].filter((path) => !knownPaths.has(path)).slice(0, mostPaths)

/** A key is foreign text. A lone surrogate is no character that a database or a terminal can hold. */
export const pathOf = (text: string): string => {
  const characters = [...escaped(text.slice(0, 2 * mostCharacters)).replace(/\p{Surrogate}/gu, "\uFFFD")]
  return characters.length > mostCharacters
    ? `${characters.slice(0, mostCharacters - 1).join("")}…`
    : characters.join("")
}
