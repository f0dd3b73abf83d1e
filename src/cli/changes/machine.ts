/** Changes for programs: one JSON object, or CSV of the punches or of the people. Exact, with ids. */
import * as Effect from "effect/Effect"
import * as Csv from "effect/encoding/Csv"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { cellsOf, csvColumns } from "../../export/Csv.ts"
import type { UnwritablePunch } from "../../export/ExportError.ts"
import type { FurtherColumns } from "../../export/rows.ts"
import { toWire } from "../../export/wire.ts"
import { csvCell } from "../../internal/base/csvCell.ts"
import type { Changes } from "../../sql/SqlStore.ts"
import type { TimePunch } from "../../TimePunch.ts"
import type * as WorkedTime from "../../WorkedTime.ts"
import { nameColumns, type Names } from "../flags/names.ts"

type Version = Option.Option<TimePunch>

/** `{ punches, people }`, an element a line. Versions are in their wire form. Names are further keys. */
export const jsonOf = Effect.fnUntraced(function*(
  { people, punches }: Changes,
  names: Names | undefined
): Effect.fn.Return<string, UnwritablePunch> {
  const further = names && nameColumns(names)
  const versionOf = (version: Version) =>
    Option.match(version, {
      onNone: () => Effect.succeed(null),
      onSome: (punch) =>
        Effect.map(Effect.fromResult(toWire(punch)), (wire) => ({ ...wire, ...namesIn(punch, further) }))
    })
  const changes = yield* Effect.forEach(
    punches,
    Effect.fnUntraced(function*({ after, before, id, kind, userId }) {
      return {
        id,
        userId,
        ...userName(names, userId),
        kind,
        before: yield* versionOf(before),
        after: yield* versionOf(after)
      }
    })
  )
  const persons = people.map(({ cents, minutes, tips, userId }) => ({
    userId,
    ...userName(names, userId),
    minutes,
    cents,
    tips
  }))
  return `{"punches":${arrayOf(changes)},"people":${arrayOf(persons)}}\n`
})

const arrayOf = (elements: ReadonlyArray<unknown>): string =>
  elements.length === 0 ? "[]" : `[\n${elements.map((each) => JSON.stringify(each)).join(",\n")}\n]`

const userName = (names: Names | undefined, userId: number) =>
  names === undefined ? {} : { userName: names("user", userId) ?? null }

const namesIn = (punch: TimePunch, further: FurtherColumns | undefined) => {
  const cells = further?.cells(punch) ?? []
  return Object.fromEntries(further?.columns.map((name, at) => [name, cells[at] ?? null]) ?? [])
}

/** A row for each person. */
export const peopleCsv = ({ people }: Changes, names: Names | undefined) =>
  csvOf(
    ["user_id", ...(names === undefined ? [] : ["user_name"]), "minutes", "cents", "tips"],
    people.map(({ cents, minutes, tips, userId }) =>
      [userId, ...(names === undefined ? [] : [names("user", userId)]), minutes, cents, tips].map(csvCell)
    )
  )

/**
 * A row for each punch: what it is, then each column of an export twice, before and after. The cells of a version that is
 * not there are empty.
 */
export const punchesCsv = Effect.fnUntraced(function*(
  { punches }: Changes,
  names: Names | undefined,
  options: WorkedTime.Options
): Effect.fn.Return<string, UnwritablePunch> {
  const further = names && nameColumns(names)
  const columns = [...csvColumns, ...(further?.columns ?? [])]
  const cellsOfVersion = (version: Version): Effect.Effect<ReadonlyArray<string>, UnwritablePunch> =>
    Option.match(version, {
      onNone: () => Effect.succeed([]),
      onSome: (punch) =>
        Effect.map(
          Effect.fromResult(cellsOf(punch, options)),
          (cells) => [...cells, ...(further?.cells(punch) ?? []).map(csvCell)]
        )
    })
  const rows = yield* Effect.forEach(
    punches,
    Effect.fnUntraced(function*({ after, before, id, kind, userId }) {
      const [one, other] = [yield* cellsOfVersion(before), yield* cellsOfVersion(after)]
      const name = names === undefined ? [] : [names("user", userId)]
      const which = [id, userId, ...name, kind].map(csvCell)
      return [...which, ...pairs(columns, (_, at) => [one[at] ?? "", other[at] ?? ""])]
    })
  )
  const which = ["id", "user_id", ...(names === undefined ? [] : ["user_name"]), "kind"]
  return yield* csvOf([...which, ...pairs(columns, (name) => [`before_${name}`, `after_${name}`])], rows)
})

/** Two of each column, but for those that no change touches. */
const pairs = (
  columns: ReadonlyArray<string>,
  of: (name: string, at: number) => readonly [before: string, after: string]
): ReadonlyArray<string> => columns.flatMap((name, at) => name === "id" || name === "company_id" ? [] : of(name, at))

const csvOf = (
  columns: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): Effect.Effect<string> => {
  const format: Csv.EncodeOptions = { columns, headers: true, newline: "\r\n" }
  return Stream.fromIterable(rows).pipe(Stream.pipeThroughChannel(Csv.encodeString<never>(format)), Stream.mkString)
}
