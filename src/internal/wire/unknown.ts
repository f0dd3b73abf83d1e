/** Fields of a page that this version does not know: the paths of their keys, never their values. */
import * as Predicate from "effect/Predicate"
import { escaped } from "../text/printable.ts"
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

/** Paths that are kept: a service with many new fields is named by some of them. */
export const mostPaths = 20

/** Characters of a path. A longer one is cut. */
const mostCharacters = 100

/** The paths of the keys of all rows, all breaks, `meta`, `meta.cursor` and the page itself that are not known, each once. */
export const unknownPaths = (json: unknown): ReadonlyArray<string> => {
  const found = new Set<string>()
  const look = ({ before, keys }: typeof objects[keyof typeof objects], value: unknown) => {
    if (!Predicate.isObject(value)) return
    // Without an array of the keys of each row. Parsed JSON inherits no key that can be enumerated.
    for (const key in value) if (!keys.has(key) && found.size < mostPaths) found.add(pathOf(before + key))
  }
  look(objects.envelope, json)
  if (Predicate.hasProperty(json, "meta")) {
    look(objects.meta, json.meta)
    if (Predicate.hasProperty(json.meta, "cursor")) look(objects.cursor, json.meta.cursor)
  }
  if (Predicate.hasProperty(json, "data") && Array.isArray(json.data)) {
    for (const row of json.data) {
      look(objects.row, row)
      if (Predicate.hasProperty(row, "breaks") && Array.isArray(row.breaks)) {
        for (const each of row.breaks) look(objects.break, each)
      }
    }
  }
  return [...found]
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
