/** What an error says of a value that is not accepted, a setting or a row, and how foreign text is made printable. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"

/** The first issue: `path` as in `data[3].clocked_in`, `at` the same path as keys, `detail` the expectation. */
interface IssueSummary {
  readonly path: string
  readonly at: ReadonlyArray<PropertyKey>
  readonly detail: string
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const render = (at: ReadonlyArray<PropertyKey>): string =>
  at.reduce<string>(
    (path, key) => typeof key === "number" ? `${path}[${key}]` : path === "" ? String(key) : `${path}.${String(key)}`,
    ""
  )

const keyOf = (segment: PropertyKey | { readonly key: PropertyKey }): PropertyKey =>
  typeof segment === "object" ? segment.key : segment

/** Summarizes the first issue of a schema error. */
export const firstIssue = (error: Schema.SchemaError): IssueSummary => {
  const issue = format(error.issue).issues[0]
  const at = (issue?.path ?? []).map(keyOf)
  return { path: render(at), at, detail: issue?.message ?? "" }
}

/** A schema whose `make` says what is wrong and where: what it throws in core says only that something is. */
export const withClearMake = <S extends Schema.Constraint>(schema: S, name: string): S => {
  const coreMake = SchemaParser.make(schema)
  const make = (input: S["~type.make.in"], options?: Schema.MakeOptions): S["Type"] => {
    try {
      return coreMake(input, options)
    } catch (error) {
      const issue = error instanceof Error ? error.cause : undefined
      if (!SchemaIssue.isIssue(issue)) throw error
      // Of another type, core's message is the name of the brand alone.
      const found = issue._tag === "InvalidType" && !SchemaAST.isUnion(issue.ast)
        ? [`Expected a ${issue.ast._tag.toLowerCase()}`]
        : format(issue).issues.map(({ message, path = [] }) =>
          path.length === 0 ? message : `${message} at ${render(path.map(keyOf))}`
        )
      const clear = new Error(`${name}.make: ${[...new Set(found)].join("; ")}`)
      // For a program, as core has it. Printed, its fifty lines would end an uncaught error.
      Object.defineProperty(clear, "cause", { get: () => issue })
      // The trace begins at the call, but not in older engines.
      if (Predicate.hasProperty(Error, "captureStackTrace")) Error.captureStackTrace(clear, make)
      throw clear
    }
  }
  return Object.defineProperty(schema, "make", { value: make })
}

/** A brand that names itself: as the identifier of its schema, and in what `make` throws. */
export const named = <S extends Schema.Constraint & Named<S>>(brand: S): S =>
  withClearMake(brand.annotate({ identifier: brand.identifier }), brand.identifier)

interface Named<S> {
  readonly identifier: string
  readonly annotate: (annotations: { readonly identifier: string }) => S
}

const maxLength = 500

/** Scripts in which a joiner changes the form of a letter; in any other script it is invisible. */
const joining = ["Arab", "Syrc", "Mong", "Deva", "Beng", "Guru", "Gujr", "Orya", "Taml", "Telu", "Knda", "Mlym", "Sinh"]
  .map((script) => `\\p{sc=${script}}`).join("")

const pictograph = "\\p{ExtPict}\\p{EMod}"

/** What can be seen although its code is of the invisible ones: joiners within a word or an emoji, variants of a sign. */
const visible =
  `(?<=[${joining}])[\\u200c\\u200d](?=[${joining}])|(?<=[${pictograph}]\\ufe0f?)\\u200d(?=[${pictograph}])|` +
  `(?<=[${pictograph}\\d#*\\p{sc=Han}\\p{sc=Mong}])\\p{VS}`

/** Matches what is hidden as its first group, and before it what can be seen although its code is of the same kind. */
export const unprintable = new RegExp(`${visible}|([\\p{Cc}\\u2028\\u2029\\ufff9-\\ufffb\\p{DI}])`, "gu")

/**
 * Escapes characters that start a line, control a terminal, change the direction of text, or cannot be seen, so that two
 * texts that differ look different; cuts long text.
 */
export const printable = (text: string): string =>
  escaped(text.length > maxLength ? `${text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "")}…` : text)

/** The same, without a cut. */
export const escaped = (text: string): string =>
  text.replace(unprintable, (char, hidden: string | undefined) => hidden === undefined ? char : codeOf(char))

const codeOf = (char: string): string => {
  const code = char.codePointAt(0) ?? 0
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`
}

/** Fails with a `ConfigError` that says what the setting must be. */
export const invalidSetting = (name: string, mustBe: string): Effect.Effect<never, Config.ConfigError> =>
  refusedSetting(name, `must be ${mustBe}`)

/** Fails with a `ConfigError` that says what is wrong with the setting. */
export const refusedSetting = (name: string, what: string): Effect.Effect<never, Config.ConfigError> =>
  Effect.fail(
    new Config.ConfigError(
      new Schema.SchemaError(
        new SchemaIssue.Pointer([name], new SchemaIssue.InvalidValue({ message: `${name} ${what}` }))
      )
    )
  )

/** A setting that must have a text. */
export const requiredSetting = (name: string): Effect.Effect<string, Config.ConfigError> =>
  Effect.flatMap(
    Config.option(Config.NonEmptyString(name)),
    Option.match({ onNone: () => refusedSetting(name, "is not set"), onSome: Effect.succeed })
  )

/** Whether a host is this machine, where a connection need not be encrypted. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host)

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

/** The name, then its first words: `location-id` is also meant by `location`. */
const formsOf = (name: string): ReadonlyArray<string> => [
  name,
  ...[...name.matchAll(/(?<=[a-z\d])(?:-|(?=[A-Z]))/g)].map(({ index }) => name.slice(0, index)).toReversed()
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
export const unknownKey = (key: string, known: ReadonlyArray<string>, what = "an option"): string => {
  return `is not ${what}${didYouMean(nearest(key, known))}`
}

const didYouMean = (near: ReadonlyArray<string>): string =>
  near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`

/**
 * The word of `expected` that a value means, as `; did you mean sunday?`; empty if none is near. `expected` begins with the
 * words, as `"monday" | "sunday"` does, also behind `Expected `. The beginning of one word alone means it too.
 */
export const meantWord = (value: string, expected: string): string => {
  if (!/^(?:Expected )?"/.test(expected)) return ""
  const words = [...expected.matchAll(/"([^"]+)"/g)].map(([, word = ""]) => word)
  const begun = plain(value).length < 2 ? [] : words.filter((each) => plain(each).startsWith(plain(value)))
  return didYouMean(begun.length === 1 ? begun : nearest(value, words))
}

/** The number itself, or what it must be, as in `pageSize must be …`. Infinity is not a whole number. */
export const wholeNumber = (value: number, least: number, most = Infinity): Result.Result<number, string> =>
  Number.isInteger(value) && value >= least && value <= most
    ? Result.succeed(value)
    : Result.fail(`a whole number ${most === Infinity ? `from ${least} on` : `from ${least} to ${most}`}`)
