/** Marks: keys of a row that this version does not know, and that take the row or a break away by their name. */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { idOf, isRecord } from "./decoder.ts"
import { breakNames, timePunchNames } from "./names.ts"
import { mostPaths, pathOf } from "./unknown.ts"

/** A path of such a key, such as `data[].voided`, in the rows that were read. */
export const Mark = Schema.Struct({
  /** The path of the key. */
  path: Schema.String,
  /** The first punch that has it. */
  punchId: Schema.Natural,
  /** How many rows and breaks had it. A row that is read twice counts twice. */
  count: Schema.Natural
})

export type Mark = typeof Mark.Type

const rowKeys: ReadonlySet<string> = new Set(Object.values(timePunchNames))
const breakKeys: ReadonlySet<string> = new Set(Object.values(breakNames))

const words =
  "deleted|removed|void|voided|cancell?ed|archived|rejected|declined|reversed|superseded|duplicate|ignored|" +
  "excluded|inactive|hidden|test|draft"
const takesAway = new RegExp(`^(is_)?(${words})(_(at|by|on))?$`)

/** Also of a key that is written `isVoided`. */
const isMarkName = (key: string): boolean =>
  takesAway.test(key.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").replaceAll("-", "_").toLowerCase())

const isSet = (value: unknown): boolean => value !== null && value !== false && value !== 0 && value !== ""

/** The keys that a row may lack, a break among them. */
interface Optional {
  readonly shift_id: unknown
  readonly department_id: unknown
  readonly pos_type: unknown
  readonly breaks: unknown
  readonly deleted: unknown
}

const isAbsent = (value: unknown): number => value === undefined ? 1 : 0

const countKeys = (object: object): number => {
  let count = 0
  // Without an array of the keys of each row.
  for (const _ in object) count++
  return count
}

/**
 * The marks of the rows of a page. Only of an object with more keys than those that are known and that it has, the keys are looked
 * at. What is deleted already cannot be taken away by another key.
 */
export const marksOf = (json: unknown): ReadonlyArray<Mark> => {
  if (!Predicate.hasProperty(json, "data") || !Array.isArray(json.data)) return none
  const found = new Map<string, Mark>()
  const look = (object: object, known: ReadonlySet<string>, before: string, row: unknown): void => {
    for (const [key, value] of Object.entries(object)) {
      if (known.has(key) || !isMarkName(key) || !isSet(value)) continue
      const path = pathOf(before + key)
      const { count, punchId } = found.get(path) ?? { punchId: Option.getOrElse(idOf(row), () => 0), count: 0 }
      found.set(path, { path, punchId, count: count + 1 })
    }
  }
  for (const row of json.data) {
    if (!isRecord<Optional>(row) || row.deleted === true) continue
    const absent = isAbsent(row.shift_id) + isAbsent(row.department_id) + isAbsent(row.pos_type) +
      isAbsent(row.breaks) +
      isAbsent(row.deleted)
    if (countKeys(row) + absent > rowKeys.size) look(row, rowKeys, "data[].", row)
    if (!Array.isArray(row.breaks)) continue
    for (const each of row.breaks) {
      if (!isRecord<Optional>(each) || each.deleted === true) continue
      if (countKeys(each) + isAbsent(each.deleted) > breakKeys.size) look(each, breakKeys, "data[].breaks[].", row)
    }
  }
  return found.size === 0 ? none : [...found.values()].slice(0, mostPaths)
}

const none: ReadonlyArray<Mark> = []

/** Marks with those of a later page: the first punch stays. */
export const addMarks = (known: ReadonlyArray<Mark>, more: ReadonlyArray<Mark>): ReadonlyArray<Mark> => {
  const all = new Map(known.map((mark) => [mark.path, mark]))
  for (const mark of more) {
    const before = all.get(mark.path)
    all.set(mark.path, before === undefined ? mark : { ...before, count: before.count + mark.count })
  }
  return [...all.values()].slice(0, mostPaths)
}

/** What a person must know of a mark. */
export const markText = ({ count, path, punchId }: Mark): string => {
  const what = count === 1 ? "a punch or a break" : `${count} punches or breaks`
  return `unknownMark: ${path} may take away ${what}, first of punch ${punchId}, and this release does not read it`
}
