/** The name or the word that a mistyped one means. */

/** The number of letters to change, to add, to leave out or to swap with the next one to make one word of the other. */
const distance = (a: string, b: string): number => {
  let before: ReadonlyArray<number> = []
  let row: ReadonlyArray<number> = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next.push(Math.min(
        (next[j - 1] ?? 0) + 1,
        (row[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity
      ))
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z\d]/g, "")

/**
 * The name, then its first words: `location-id` is also meant by `location`. Of a variable also its last ones: `ACCESS_TOKEN` is
 * meant by `TOKEN`, and `DATABASE_URL` by `DATABASE`.
 */
const formsOf = (name: string): ReadonlyArray<string> => [
  name,
  ...[...name.matchAll(/(?<=[a-z\d])(?:-|(?=[A-Z]))|_/g)].map(({ index }) => name.slice(0, index)).toReversed(),
  ...[...name.matchAll(/_/g)].map(({ index }) => name.slice(index + 1))
]

/** The names that are nearest to a key: of those that are near as a whole, else by their first words. */
const nearest = (key: string, known: ReadonlyArray<string>): ReadonlyArray<string> => {
  const forms = known.flatMap((name) =>
    formsOf(name).map((form, at) => ({
      name,
      isWhole: at === 0,
      far: distance(plain(key).slice(0, 100), plain(form)),
      // A flag of two letters can be mistyped too; two other letters of four make another word.
      most: Math.min(2, Math.max(Math.floor(plain(form).length / 3), form.startsWith("--") ? 1 : 0))
    }))
  ).filter(({ far, most }) => far <= most)
  const candidates = forms.some(({ isWhole }) => isWhole) ? forms.filter(({ isWhole }) => isWhole) : forms
  const least = Math.min(...candidates.map(({ far }) => far))
  return [...new Set(candidates.filter(({ far }) => far === least).map(({ name }) => name))].slice(0, 3)
}

/** What is wrong with a key that is none of `known`: the name that was meant follows, or up to three that are equally near. */
export const unknownKey = (key: string, known: ReadonlyArray<string>, what = "an option"): string =>
  `is not ${what}${meantName(key, known)}`

/** The names that a key means, as `; did you mean north?`; empty if none is near. */
export const meantName = (key: string, known: ReadonlyArray<string>): string => didYouMean(nearest(key, known))

/** These names as a question; empty without any. */
export const didYouMean = (near: ReadonlyArray<string>): string =>
  near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`

/** Other names of words, which are spelt unlike them. */
const others: Partial<Record<string, string>> = { jsonl: "ndjson", jsonlines: "ndjson", ldjson: "ndjson" }

/**
 * The word of `expected` that a value means, as `; did you mean sunday?`; empty if none is near. `expected` begins with the
 * words, as `"monday" | "sunday"` does, also behind `Expected `. The beginning of one word alone means it too.
 */
export const meantWord = (value: string, expected: string): string => {
  if (!/^(?:Expected )?"/.test(expected)) return ""
  const words = [...expected.matchAll(/"([^"]+)"/g)].map(([, word = ""]) => word)
  const other = others[plain(value)]
  if (other !== undefined && words.includes(other)) return didYouMean([other])
  const begun = plain(value).length < 2 ? [] : words.filter((each) => plain(each).startsWith(plain(value)))
  return didYouMean(begun.length === 1 ? begun : nearest(value, words))
}
