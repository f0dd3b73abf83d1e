/** A summary for programs: exact sums, a row for each group in the order of its key, without a line of totals. Pure. */
import * as Duration from "effect/Duration"
import * as Labor from "../../Labor.ts"
import type { Names } from "../flags/names.ts"
import type { AboveColumn } from "./above.ts"
import { type Grouping, type Key, nameOfKey } from "./groups.ts"

type Entries = ReadonlyArray<readonly [Key, Labor.Totals]>

/** What a summary shows of a key beside its sums. */
export interface Beside {
  readonly names: Names | undefined
  /** Only with `--by user`. */
  readonly above: ReadonlyArray<AboveColumn>
}

/** The columns before the sums, by what joins the words of their names; with names, that of the key is the second. */
const keyColumns = (
  by: Grouping,
  { above, names }: Beside,
  form: "csv" | "json",
  idOf: (word: string) => string
): Labor.KeyColumns<Key> => ({
  [by === "day" ? by : idOf("id")]: (key: Key) => key,
  ...(by === "day" || names === undefined ? {} : { [idOf("name")]: (key: Key) => nameOfKey(by, names, key) }),
  ...Object.fromEntries(above.map((column) => [column[form], (key: Key) => Duration.toSeconds(column.of(key))]))
})

/** CSV, with columns such as `user_id`, `user_name` and `above_seconds`. */
export const csvOf = (by: Grouping, entries: Entries, beside: Beside): string =>
  Labor.toCsv(entries, { columns: keyColumns(by, beside, "csv", (word) => `${by}_${word}`) })

/** A JSON array, with keys such as `userId`, `userName` and `aboveSeconds`. */
export const jsonOf = (by: Grouping, entries: Entries, beside: Beside): string =>
  Labor.toJson(entries, {
    columns: keyColumns(by, beside, "json", (word) => `${by}${word === "id" ? "Id" : "Name"}`)
  })
