/** Marks: keys of a row that this version does not know, and that take the row or a break away by their name. */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { idOf } from "./decoder.ts"
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

interface Known {
  readonly keys: ReadonlySet<string>
  readonly size: number
  /** The keys that an object may lack. */
  readonly optional: ReadonlyArray<string>
}

const knownOf = (names: Readonly<Record<string, string>>, optional: ReadonlyArray<string>): Known => {
  const keys = new Set(Object.values(names))
  return { keys, size: keys.size, optional }
}

const ofRow = knownOf(timePunchNames, ["shift_id", "department_id", "pos_type", "breaks", "deleted"])
const ofBreak = knownOf(breakNames, ["deleted"])

const words =
  "deleted|removed|void|voided|cancell?ed|archived|rejected|declined|reversed|superseded|duplicate|ignored|" +
  "excluded|inactive|hidden|test|draft"
const takesAway = new RegExp(`^(is_)?(${words})(_(at|by|on))?$`)

/** Also of a key that is written `isVoided`. */
const isMarkName = (key: string): boolean =>
  takesAway.test(key.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").replaceAll("-", "_").toLowerCase())

const isSet = (value: unknown): boolean => value !== null && value !== false && value !== 0 && value !== ""

/** Whether a parsed object has more keys than those that are known. */
const hasMore = (object: object, { optional, size }: Known): boolean => {
  let more = -size
  for (const key of optional) if (!(key in object)) more++
  for (const _ in object) more++
  return more > 0
}

/** The marks of the rows of a page. What is deleted already cannot be taken away by another key. */
export const marksOf = (json: unknown): ReadonlyArray<Mark> => {
  if (!Predicate.hasProperty(json, "data") || !Array.isArray(json.data)) return none
  let found: Map<string, Mark> | undefined
  const look = (object: unknown, known: Known, before: string, row: unknown): void => {
    if (!Predicate.isObject(object) || !hasMore(object, known)) return
    for (const [key, value] of Object.entries(object)) {
      if (known.keys.has(key) || !isMarkName(key) || !isSet(value)) continue
      found ??= new Map()
      const path = pathOf(before + key)
      const { count, punchId } = found.get(path) ?? { punchId: Option.getOrElse(idOf(row), () => 0), count: 0 }
      found.set(path, { path, punchId, count: count + 1 })
    }
  }
  for (const row of json.data) {
    if (!Predicate.isObject(row) || isDeleted(row)) continue
    look(row, ofRow, "data[].", row)
    const breaks: unknown = Predicate.hasProperty(row, "breaks") ? row.breaks : undefined
    if (!Array.isArray(breaks)) continue
    for (const each of breaks) if (!isDeleted(each)) look(each, ofBreak, "data[].breaks[].", row)
  }
  return found === undefined ? none : [...found.values()].slice(0, mostPaths)
}

const none: ReadonlyArray<Mark> = []

const isDeleted = (object: unknown): boolean => Predicate.hasProperty(object, "deleted") && object.deleted === true

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
export const markText = ({ count, path, punchId }: Mark): string =>
  `unknownMark: ${path} may take away ${
    count === 1 ? "a punch or a break" : `${count} punches or breaks`
  }, first of punch ` +
  `${punchId}, and this release does not read it`
