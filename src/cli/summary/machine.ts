/** A summary for programs: exact sums, a row for each group in the order of its key, without a line of totals. Pure. */
import * as Labor from "../../Labor.ts"
import type { Names } from "../flags/names.ts"
import { type Grouping, type Key, nameOfKey } from "./groups.ts"

type Entries = ReadonlyArray<readonly [Key, Labor.Totals]>

/** The columns before the sums, by what joins the words of their names; with names, that of the key is the second. */
const keyColumns = (by: Grouping, names: Names | undefined, idOf: (word: string) => string): Labor.KeyColumns<Key> => ({
  [by === "day" ? by : idOf("id")]: (key: Key) => key,
  ...(by === "day" || names === undefined ? {} : { [idOf("name")]: (key: Key) => nameOfKey(by, names, key) })
})

/** CSV, with columns such as `user_id` and `user_name`. */
export const csvOf = (by: Grouping, entries: Entries, names: Names | undefined): string =>
  Labor.toCsv(entries, { columns: keyColumns(by, names, (word) => `${by}_${word}`) })

/** A JSON array, with keys such as `userId` and `userName`. */
export const jsonOf = (by: Grouping, entries: Entries, names: Names | undefined): string =>
  Labor.toJson(entries, { columns: keyColumns(by, names, (word) => `${by}${word === "id" ? "Id" : "Name"}`) })
