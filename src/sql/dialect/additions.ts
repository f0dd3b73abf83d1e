/** The migrations that add columns: one for each number in `since` that is later than the tables and the history. */
import { type Column, columnsAfter } from "./columns.ts"
import type { Migration } from "./Dialect.ts"

/** What a migration of a dialect does for the columns that it adds; `known` are all that the tables then have. */
type StatementsOf = (added: ReadonlyArray<Column>, known: ReadonlyArray<Column>) => ReadonlyArray<string>

/** The last migration that creates tables. */
const last = 2

export const additions = (all: ReadonlyArray<Column>, statementsOf: StatementsOf): ReadonlyArray<Migration> =>
  [...new Set(all.map(({ since }) => since))].filter((id) => id > last).toSorted((one, other) => one - other).map(
    (id) => {
      const added = all.filter(({ since }) => since === id)
      return {
        id,
        name: added.map(({ name }) => name).join("_"),
        statements: statementsOf(added, columnsAfter(id, all))
      }
    }
  )

/**
 * The columns of a view, each in its text, with what the view computes. A column that was added is the last one: where a view
 * is replaced, PostgreSQL lets it only have more columns at its end.
 */
export const viewTexts = (
  columns: ReadonlyArray<Column>,
  textOf: (column: Column) => string,
  computed: string
): string => {
  const first = columns.filter(({ since }) => since <= last)
  const later = columns.filter(({ since }) => since > last)
  return [...first.map(textOf), computed, ...later.map(textOf)].map((text) => `  ${text}`).join(",\n")
}
