/** Names for the ids of punches, from a file of the user: `--names FILE`. A name is data, escaped wherever it is written. */
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Csv from "effect/encoding/Csv"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import * as Stream from "effect/Stream"
import { printable } from "../../internal/base/printable.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { type CommandFailure, usage } from "../failure.ts"
import { readWhole, wholeNumber } from "./values.ts"

/** The kinds of id that may have a name. */
export const nameKinds = ["user", "location", "role", "department"] as const

/** A kind of id that may have a name. */
export type NameKind = typeof nameKinds[number]

/** The name of an id of a kind, if the file has one. */
export type Names = (kind: NameKind, id: number) => string | undefined

export const namesFlag = Flag.String("names").pipe(
  Flag.withMetavar("FILE"),
  Flag.withDescription(`Names beside ids, from CSV with the columns kind,id,name; a kind is ${listed(nameKinds)}`),
  Flag.optional
)

/** The names of the file, if one is given. Fails on the first line that is wrong, before anything is requested. */
export const readNames = (
  file: Option.Option<string>
): Effect.Effect<Option.Option<Names>, CommandFailure | PlatformError.PlatformError, FileSystem.FileSystem> =>
  Option.match(file, {
    onNone: () => Effect.succeedNone,
    onSome: (file) =>
      FileSystem.FileSystem.use((fs) => fs.readFile(file)).pipe(
        Effect.flatMap((bytes) => parseNames(bytes, file)),
        Effect.asSome
      )
  })

/** Reads the bytes of such a file, in UTF-8. `file` is its name in errors. */
export const parseNames = Effect.fnUntraced(function*(
  bytes: Uint8Array,
  file: string
): Effect.fn.Return<Names, CommandFailure> {
  const wrong = (line: number, what: string) => usage(`${printable(file)}, line ${line}: ${printable(what)}`)
  const text = decoder.decode(bytes)
  const firstBad = text.indexOf("\uFFFD")
  if (firstBad >= 0) return yield* wrong(lineBreaks(text.slice(0, firstBad)) + 1, "this is not UTF-8")

  const records = yield* Stream.make(text).pipe(
    Stream.pipeThroughChannel(Csv.decodeString({ maxRecordSize: Infinity })),
    Stream.runCollect,
    Effect.mapError(({ line, message }) => wrong(line, message))
  )
  const [header = []] = records
  if (header.join() !== columns) return yield* wrong(1, `the columns must be ${columns}, not ${header.join()}`)

  const names = new Map<string, { readonly name: string; readonly line: number }>()
  let line = 1 + lineBreaks(header.join())
  for (const cells of records.slice(1)) {
    line += 1
    const at = line
    // A cell in quotes may have line breaks.
    line += lineBreaks(cells.join())
    if (cells.length === 1 && cells[0] === "") continue
    const [kind, id, name, ...rest] = cells
    if (kind === undefined || id === undefined || name === undefined || rest.length > 0) {
      return yield* wrong(at, `it must have 3 cells, ${columns}, and has ${cells.length}`)
    }
    if (!isKind(kind)) return yield* wrong(at, `the kind must be ${listed(nameKinds)}, not "${kind}"`)
    const number = readWhole(id)
    if (Option.isNone(number)) return yield* wrong(at, `the id must be ${wholeNumber(0)}, not "${id}"`)
    if (name.trim() === "") return yield* wrong(at, "the name is empty")
    const key = `${kind} ${number.value}`
    const earlier = names.get(key)
    if (earlier !== undefined) return yield* wrong(at, `line ${earlier.line} has a name for ${key} already`)
    names.set(key, { name, line: at })
  }
  return (kind, id) => names.get(`${kind} ${id}`)?.name
})

const columns = "kind,id,name"

const decoder = new TextDecoder()

const lineBreaks = (text: string): number => text.match(/\r\n|\r|\n/g)?.length ?? 0

const isKind = (text: string): text is NameKind => nameKinds.some((kind) => kind === text)

function listed(kinds: ReadonlyArray<string>): string {
  return `${kinds.slice(0, -1).join(", ")} or ${kinds.at(-1)}`
}

/** The id of a kind in a punch; a department may be missing. */
export const idOfKind = (punch: TimePunch, kind: NameKind): Option.Option<number> => {
  switch (kind) {
    case "user":
      return Option.some(punch.userId)
    case "location":
      return Option.some(punch.locationId)
    case "role":
      return Option.some(punch.roleId)
    case "department":
      return punch.departmentId
  }
}

/** The name of that id; `undefined` where the punch has none, or the file does not name it. */
export const nameOf = (names: Names, punch: TimePunch, kind: NameKind): string | undefined =>
  Option.getOrUndefined(Option.flatMap(idOfKind(punch, kind), (id) => Option.fromUndefinedOr(names(kind, id))))

/** The columns of names in machine forms: every kind, whatever the file names, so that they are the same every week. */
export const nameColumns = (names: Names) => ({
  columns: nameKinds.map((kind) => `${kind}_name`),
  cells: (punch: TimePunch) => nameKinds.map((kind) => nameOf(names, punch, kind))
})
