/** Marks: keys of a row that this version does not know, and that take the row or a break away by their name or state. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

/** Paths that are kept: a service with many new fields is named by some of them. */
export const mostPaths = 20

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

const participles =
  "deleted|removed|void|voided|cancell?ed|archived|rejected|declined|reversed|superseded|duplicate|ignored|excluded"

/** Between words stand `_`, `-` or nothing, as in `isVoided`: no key is rewritten, since each row may have some. */
const takesAway = new RegExp(
  `^_*(?:(?:is|was|has|been|soft|date|time)[_-]?)*(?:${participles}|deletion|removal|inactive|hidden)` +
    "(?:[_-]?(?:at|by|on|of|date|time|stamp|flag|utc|user|id))*$|^(?:is[_-]?)?(?:test|draft)(?:[_-]?(?:at|by|on))?$",
  "i"
)

const isParticiple = new RegExp(`^(?:${participles})$`, "i")

/** Also texts that a database or a form has for null and false. */
const isUnset = (value: unknown): boolean =>
  value === null || value === false || value === 0 ||
  (typeof value === "string" && /^(?:|0|f|false|n|no|none|null|off|0000-00-00.*)$/i.test(value.trim()))

/** The paths under a key that is not known which take away: itself by its name, a state by its word, or keys of its object. */
export const marksUnder = (key: string, value: unknown, depth = 3): ReadonlyArray<string> => {
  if (isUnset(value)) return []
  if (takesAway.test(key)) return [key]
  if (typeof value === "string") return /(?:status|state)$/i.test(key) && isParticiple.test(value) ? [key] : []
  if (depth === 0 || !Predicate.isObject(value)) return []
  return Object.entries(value).flatMap(([inner, each]) =>
    marksUnder(inner, each, depth - 1).map((path) => `${key}.${path}`)
  )
}

/** Marks with those of a later page: the first punch stays. */
export const addMarks = (known: ReadonlyArray<Mark>, more: ReadonlyArray<Mark>): ReadonlyArray<Mark> => {
  const all = new Map(known.map((mark) => [mark.path, mark]))
  for (const mark of more) {
    const before = all.get(mark.path)
    all.set(mark.path, before === undefined ? mark : { ...before, count: before.count + mark.count })
  }
  return boundMarks(all.values())
}

/** Marks of more paths than are kept count under one, which no path of a key is. */
export const boundMarks = (marks: Iterable<Mark>): ReadonlyArray<Mark> => {
  const all = [...marks]
  const others = all.splice(mostPaths)
  const [first] = others
  if (first === undefined) return all
  return [...all, { ...first, path: "other paths", count: others.reduce((sum, { count }) => sum + count, 0) }]
}

/** What a person must know of a mark. */
export const markText = ({ count, path, punchId }: Mark): string => {
  const what = count === 1 ? "a punch or a break" : `${count} punches or breaks`
  return `unknownMark: ${path} may take away ${what}, first of punch ${punchId}, and this release does not read it`
}
