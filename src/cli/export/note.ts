/**
 * The note of an unfinished export, `FILE.resume.json`: how far it is, and hashes by which an edited note, or rows that
 * are not those it counts, are found.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Crypto from "node:crypto"
import { Cursor } from "../../Ids.ts"
import { issueText } from "../describe.ts"
import { usage } from "../failure.ts"

/** What an export reads and how it writes it, as flags and their values: equal specs give equal files. */
export type ExportSpec = Readonly<Record<string, string>>

/** How far an export is. */
export interface ExportProgress {
  /** How many bytes of `FILE.part` count. */
  readonly bytes: number
  readonly pages: number
  readonly punches: number
  /** Cursor of the next page; none before the first page and after the last. */
  readonly cursor: Option.Option<Cursor>
  readonly complete: boolean
}

/** Increased when the form of these files or of the rows changes, so that no file mixes two forms. */
const form = 2

/** What no run writes, or undefined. */
const contradiction = ({ bytes, complete, cursor, pages, punches }: ExportProgress): string | undefined => {
  if (pages === 0 && (bytes > 0 || punches > 0 || complete || Option.isSome(cursor))) return "progress without pages"
  if (bytes === 0 && punches > 0) return "punches without bytes"
  if (pages > 0 && complete === Option.isSome(cursor)) return "complete and a next page, or neither"
  return undefined
}

const sha256 = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/))

const Fields = Schema.Struct({
  about: Schema.String,
  form: Schema.Literal(form),
  /** The run that wrote the note last. Any other run that still writes must stop. */
  run: Schema.String,
  spec: Schema.Record(Schema.String, Schema.String),
  bytes: Schema.Natural,
  pages: Schema.Natural,
  punches: Schema.Natural,
  cursor: Schema.OptionFromNullOr(Cursor),
  complete: Schema.Boolean,
  /** SHA-256 of the bytes of `FILE.part` that count. */
  rows: sha256,
  /** SHA-256 of the other fields. */
  checksum: sha256
})

/** Progress, and whose it is. */
export type Note = typeof Fields.Type

const NoteJson = Schema.fromJsonString(
  Fields.check(Schema.makeFilter((note) => contradiction(note) ?? true))
)

/** A note as another version writes it. */
const OtherForm = Schema.fromJsonString(
  Schema.Struct({ form: Schema.Number.check(Schema.makeFilter((value) => value !== form)) })
)

const hash = (text: string): string => Crypto.createHash("sha256").update(text).digest("hex")

const sorted = (spec: ExportSpec) => Object.entries(spec).toSorted()

export const isSameSpec = (one: ExportSpec, other: ExportSpec): boolean =>
  JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))

/** The hash of all fields of a note but itself and the text for people. */
export const checksumOf = (
  { bytes, complete, cursor, pages, punches, rows, run, spec }: Omit<Note, "checksum">
): string =>
  hash(JSON.stringify([form, run, sorted(spec), bytes, pages, punches, Option.getOrNull(cursor), complete, rows]))

/** The text of a note. `rows` is the SHA-256 of the bytes that count. */
export const writeNote = (
  note: ExportProgress & { readonly run: string; readonly spec: ExportSpec; readonly rows: string }
): Effect.Effect<string> => {
  const fields = { ...note, about, form } as const
  return Effect.orDie(Schema.encodeEffect(NoteJson)({ ...fields, checksum: checksumOf(fields) }))
}

/** Reads the text of `file`. Rejects a note that contradicts itself, or has another form. */
export const readNote = (text: string, file: string) =>
  Schema.decodeEffect(NoteJson)(text).pipe(
    Effect.catch((error) => {
      if (Option.isSome(Schema.decodeOption(OtherForm)(text))) {
        return usage(`${file} was written by another version of time-punches`, forceHint)
      }
      return usage(`${file} cannot be read: ${issueText(error)}`, forceHint)
    })
  )

/** Rejects a note that another program has changed since a run wrote it. */
export const verifyNote = (note: Note, file: string) =>
  note.checksum === checksumOf(note)
    ? Effect.void
    : usage(`${file} was changed since a run wrote it`, forceHint)

const about =
  "An unfinished export of time-punches. To resume it, run the same command again; to start over, add --force."

/** The way out for every note that cannot be resumed. */
export const forceHint = "Add --force to discard it and start over."
