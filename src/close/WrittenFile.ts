/** A file of a revision that was written out: by which mapping and codes, and what another one has that differs. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Schema from "effect/Schema"
import { Instant } from "../internal/wire/schema.ts"
import { CodeKind, type IdText, type Mapping, UsedCode, type UsedText, withDefaults } from "../payroll/PayrollFile.ts"
import type { RevisionId } from "./ids.ts"

const Sha256 = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/))

/** That a file of a revision was written out. */
export const FileNote = Schema.Struct({
  /** When it was noted, by the clock of the database. */
  at: Instant,
  /** Who wrote it; `unknown` if the machine does not say. */
  user: Schema.String,
  /** SHA-256 of the mapping. Two mappings that say the same have the same. */
  mappingHash: Sha256,
  /** SHA-256 of the codes, names and fields that decide on its rows. */
  codesHash: Sha256
})

export type FileNote = typeof FileNote.Type

const NotedText = Schema.Struct({
  /** What has the text. */
  kind: CodeKind,
  /** Its id. */
  id: Schema.Int,
  /** `name`, or a title of the file of the codes. */
  field: Schema.String,
  /** SHA-256 of the text, which is not kept. */
  sha256: Sha256
})

/** That an id has a text in a file. */
export type NotedText = typeof NotedText.Type

const SetText = Schema.Struct({ set: Schema.String, text: Schema.String })

/** What decides on the texts of a file, beside the record. It has no names. */
export interface FileForm {
  /** The mapping. */
  readonly mapping: Mapping
  /** The codes that the file uses: `codes` of `PayrollFile.encode`. */
  readonly codes: ReadonlyArray<UsedCode>
  /** The fields that the file uses, and the names that tell ids apart. Default: none. */
  readonly texts?: ReadonlyArray<NotedText> | undefined
  /** The texts of the file alone, by their names. They are noted, and not compared. Default: none. */
  readonly set?: Readonly<Record<string, string>> | undefined
}

/** A file that was written out, with what decided on its texts. */
export interface WrittenFile extends FileNote {
  /** The revision, such as `7.2`. */
  readonly revision: RevisionId
  /** All revisions of the file, which it has in one. */
  readonly revisions: ReadonlyArray<RevisionId>
  /** The mapping, with every key that has a default. */
  readonly mapping: Schema.Json
  /** The codes that the file uses. */
  readonly codes: ReadonlyArray<UsedCode>
  /** The fields that the file uses, and the names that tell ids apart. */
  readonly texts: ReadonlyArray<NotedText>
  /** The texts of the file alone, by their names. */
  readonly set: Readonly<Record<string, string>>
}

/** How a file differs from one that was written out. */
export interface FormChange {
  /** The file that was written out. */
  readonly file: WrittenFile
  /** The paths in the mapping that differ, such as `rounding` and `columns[3].format`. */
  readonly mapping: ReadonlyArray<string>
  /** The ids whose code changed; `before` is the old one. */
  readonly codes: ReadonlyArray<UsedCode & { readonly before: string }>
  /** The ids whose name or field changed. */
  readonly texts: ReadonlyArray<IdText>
}

export const MappingText = Schema.fromJsonString(Schema.Json)
export const CodesText = Schema.fromJsonString(Schema.Array(Schema.Union([UsedCode, NotedText, SetText])))

/** What is kept of codes and texts, as a file has it. */
export const readTexts = (kept: typeof CodesText.Type): Pick<WrittenFile, "codes" | "texts" | "set"> => ({
  codes: kept.filter((each) => "code" in each),
  texts: kept.filter((each) => "sha256" in each),
  set: Object.fromEntries(kept.flatMap((each) => "set" in each ? [[each.set, each.text]] : []))
})

/** The texts that are noted of a file. */
export const notedTexts = (texts: ReadonlyArray<UsedText>): Effect.Effect<ReadonlyArray<NotedText>> =>
  Effect.forEach(texts, ({ text, ...of }) => Effect.map(sha256(text), (hash) => ({ ...of, sha256: hash })))

/** The texts that are kept of a form, equal for all forms that say the same, with their hashes. */
export const textsOf = Effect.fnUntraced(function*({ codes, mapping, set = {}, texts = [] }: FileForm) {
  const mappingText = JSON.stringify(sorted(jsonOf(mapping)))
  const compared = [
    ...codes.map(({ code, id, kind }) => ({ kind, id, code })),
    ...texts.map(({ field, id, kind, sha256 }) => ({ kind, id, field, sha256 }))
  ]
  return {
    mapping: mappingText,
    mappingHash: yield* sha256(mappingText),
    codes: JSON.stringify([...compared, ...Object.entries(set).map(([name, text]) => ({ set: name, text }))]),
    codesHash: yield* sha256(JSON.stringify(compared))
  }
})

const sha256 = (text: string): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))),
    (hash) => Hex.encode(new Uint8Array(hash))
  )

const jsonOf = (mapping: Mapping): Schema.Json => Schema.decodeSync(MappingText)(JSON.stringify(withDefaults(mapping)))

const isObject = (json: Schema.Json | undefined): json is Schema.JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)

const sorted = (json: Schema.Json): Schema.Json => {
  if (Array.isArray(json)) return json.map(sorted)
  if (!isObject(json)) return json
  return Object.fromEntries(Object.keys(json).toSorted().map((key) => [key, sorted(json[key] ?? null)]))
}

/**
 * How a file of a revision differs from the files of the other active revisions. Of each revision, the file that is most like it
 * is compared. Empty if the mappings are the same, and each id that both use has the same code: then the files add up. If no
 * other revision has a file, the earlier files of the same revision are compared. `files`: of active revisions only. `revisions`:
 * the name of the revision, or of several that the file has in one.
 */
export const formChanges = (
  files: ReadonlyArray<WrittenFile>,
  revisions: string | ReadonlyArray<string>,
  form: FileForm
): ReadonlyArray<FormChange> => {
  const others = files.filter((file) => ![revisions].flat().includes(file.revision))
  const size = ({ codes, mapping, texts }: FormChange) => codes.length + mapping.length + texts.length
  return Object.values(Arr.groupBy(others.length > 0 ? others : files, (file) => file.revision)).flatMap((each) => {
    const changes = Arr.map(each, (file) => changeFrom(file, form))
    const least = changes.reduce((least, change) => size(change) <= size(least) ? change : least)
    return size(least) === 0 ? [] : [least]
  })
}

const changeFrom = (file: WrittenFile, { codes, mapping, texts = [] }: FileForm): FormChange => {
  const oldCodes = new Map(file.codes.map(({ code, id, kind }) => [`${kind} ${id}`, code]))
  const oldTexts = new Map(file.texts.map(({ field, id, kind, sha256 }) => [`${kind} ${id} ${field}`, sha256]))
  return {
    file,
    mapping: pathsOf(deciding(file.mapping), deciding(jsonOf(mapping)), ""),
    texts: texts.flatMap(({ field, id, kind, sha256 }) =>
      [sha256, undefined].includes(oldTexts.get(`${kind} ${id} ${field}`)) ? [] : [{ kind, id, field }]
    ),
    codes: codes.flatMap((each) => {
      const oldCode = oldCodes.get(`${each.kind} ${each.id}`)
      return oldCode === undefined || oldCode === each.code ? [] : [{ ...each, before: oldCode }]
    })
  }
}

/** Keys of a mapping, and of its columns, that change no cell. */
const idle: ReadonlySet<string> = new Set(["header", "required", "leaves"])

/** What of a mapping decides on cells: also whether there are titles, but not what they are. */
const deciding = (json: Schema.Json): Schema.Json => {
  if (Array.isArray(json)) return json.map(deciding)
  if (!isObject(json)) return json
  return Object.fromEntries(
    Object.entries(json).flatMap(([key, value]) =>
      idle.has(key) && typeof value !== "boolean" || key === "required" ? [] : [[key, deciding(value)]]
    )
  )
}

/** The paths at which two values differ. Lists of different lengths differ as a whole. */
const pathsOf = (one: Schema.Json | undefined, other: Schema.Json | undefined, path: string): ReadonlyArray<string> => {
  if (Array.isArray(one) && Array.isArray(other) && one.length === other.length) {
    return one.flatMap((value, at) => pathsOf(value, other[at], `${path}[${at}]`))
  }
  if (isObject(one) && isObject(other)) {
    return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((key) =>
      pathsOf(one[key], other[key], path === "" ? key : `${path}.${key}`)
    )
  }
  return JSON.stringify(one) === JSON.stringify(other) ? [] : [path]
}
