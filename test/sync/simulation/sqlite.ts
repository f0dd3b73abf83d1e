/** The store in SQLite, in memory: opened once, and emptied for each plan. */
import { Effect, Layer, Option, Scope } from "effect"
import { SqlClient } from "effect/sql/SqlClient"
import type { Row } from "effect/sql/SqlConnection"
import { SqlStore } from "../../../src/sql/index.ts"
import { NodeSqlite } from "../../../src/sql/node/index.ts"
import { SyncStore } from "../../../src/sync/index.ts"
import { company } from "./source.ts"
import { type Copies, gate, type Subject } from "./stores.ts"

/** A maker of copies over one database. `pagesPerTransaction` is how many pages are joined. */
export const openSqlite = (pagesPerTransaction: number): (subject: Subject) => Copies => {
  const layer = SqlStore.layer({ pagesPerTransaction }).pipe(
    Layer.provideMerge(NodeSqlite.layer({ filename: ":memory:" }))
  )
  const opened = Effect.runSync(Layer.buildWithScope(layer, Scope.makeUnsafe()))
  const { sql, store } = Effect.runSync(Effect.provideContext(
    Effect.gen(function*() {
      return { sql: yield* SqlClient, store: yield* SyncStore }
    }),
    opened
  ))
  const query = (text: string, ...params: ReadonlyArray<unknown>) => Effect.runSync(sql.unsafe<Row>(text, params))

  return (subject) => {
    query("DELETE FROM time_punches")
    query("DELETE FROM time_punches_sync")
    return {
      rows: () =>
        new Map(
          query("SELECT id, notes, deleted, clocked_in, pass, gone_at IS NOT NULL AS is_gone FROM time_punches").map((
            row
          ) => [
            Number(row["id"]),
            {
              notes: String(row["notes"]),
              deleted: row["deleted"] === 1,
              clockedIn: Number(row["clocked_in"]),
              pass: Number(row["pass"]),
              isGone: row["is_gone"] === 1
            }
          ])
        ),
      checkpoint: () => Option.getOrUndefined(Effect.runSync(store.load(company))),
      replace: (checkpoint) => {
        query("DELETE FROM time_punches_sync")
        if (checkpoint === undefined) return
        const text = subject.checkpointText(checkpoint)
        query("INSERT INTO time_punches_sync (company_id, checkpoint) VALUES (?, ?)", company, text)
      },
      open: () => ({
        ...store,
        commit: (batch, previous) => Effect.andThen(gate(), store.commit(batch, previous))
      })
    }
  }
}
