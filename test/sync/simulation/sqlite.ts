/** The store in SQLite: a file that is emptied for each plan. With history, each past copy is rebuilt from it. */
import { Effect, Exit, Layer, Option, Scope } from "effect"
import { SqlError } from "effect/sql"
import { SqlClient } from "effect/sql/SqlClient"
import type { Row } from "effect/sql/SqlConnection"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { SqlStore } from "../../../src/sql/index.ts"
import { NodeSqlite } from "../../../src/sql/node/index.ts"
import { SyncStore } from "../../../src/sync/index.ts"
import { hookedClient } from "../../support/databases.ts"
import { Broken } from "./judge.ts"
import { company } from "./source.ts"
import { type CopiedRow, type Copies, gate, type Subject } from "./stores.ts"

const columns =
  `id, notes || CASE WHEN breaks LIKE '%"deleted":true%' THEN ' without its break' ELSE '' END AS state, deleted, clocked_in, pass, missing_at IS NOT NULL AS is_missing`

/** Connections of a plan: each process has its own, unless more of them sleep. */
const connections = 6

const answerLost = new SqlError.SqlError({
  reason: new SqlError.ConnectionError({ cause: new Error("lost"), message: "lost" })
})

/** A maker of copies over one file, until it is closed. `pagesPerTransaction` is how many pages are joined. */
export const openSqlite = (pagesPerTransaction: number, history: boolean) => {
  const folder = Fs.mkdtempSync(Path.join(Os.tmpdir(), "simulation-"))
  const scope = Scope.makeUnsafe()
  let losesCommit = () => false
  const hooks = { afterCommit: Effect.suspend(() => losesCommit() ? Effect.fail(answerLost) : Effect.void) }
  const connect = () =>
    Effect.runSync(
      Effect.gen(function*() {
        const database = NodeSqlite.layer({ filename: Path.join(folder, "copy.db") })
        const sql = yield* Effect.provideContext(SqlClient, yield* Layer.buildWithScope(database, scope))
        const hooked = Layer.succeed(SqlClient, hookedClient(sql, () => hooks))
        const layer = SqlStore.layer({ history, pagesPerTransaction }).pipe(Layer.provide(hooked))
        const opened = yield* Layer.buildWithScope(layer, scope)
        return { sql, store: yield* Effect.provideContext(SyncStore, opened) }
      })
    )
  const { sql, store } = connect()
  const stores = Array.from({ length: connections }, () => connect().store)
  const query = (text: string, ...params: ReadonlyArray<unknown>) => Effect.runSync(sql.unsafe<Row>(text, params))

  const rowsOf = (rows: ReadonlyArray<Row>): ReadonlyMap<number, CopiedRow> =>
    new Map(rows.map((row) => [
      Number(row["id"]),
      {
        state: String(row["state"]),
        deleted: row["deleted"] === 1,
        clockedIn: Number(row["clocked_in"]),
        pass: Number(row["pass"]),
        isMissing: row["is_missing"] === 1
      }
    ]))
  const rows = () => rowsOf(query(`SELECT ${columns} FROM time_punches ORDER BY id`))
  const was = "(valid_from IS NULL OR valid_from <= ?)"
  const rowsAt = (at: number) =>
    rowsOf(query(
      `SELECT * FROM (SELECT ${columns} FROM time_punches WHERE ${was} UNION ALL SELECT ${columns} FROM time_punches_history WHERE ${was} AND valid_to > ?) ORDER BY id`,
      at,
      at,
      at
    ))

  const close = () => {
    Effect.runSync(Scope.close(scope, Exit.void))
    Fs.rmSync(folder, { recursive: true })
  }

  const copies = (subject: Subject): Copies => {
    query("UPDATE time_punches_sync SET history_since = NULL, history_last = NULL")
    for (const table of ["_sync", "", "_history"]) query(`DELETE FROM time_punches${table}`)
    losesCommit = () => false
    let opened = 0
    const past: Array<{ readonly at: number; readonly rows: string }> = []

    const remember = () => {
      if (!history) return
      const [last] = query("SELECT history_last FROM time_punches_sync")
      const at = Number(last?.["history_last"])
      const before = past.at(-1)
      if (before !== undefined && at <= before.at) throw new Broken("a commit is not later than the one before it")
      past.push({ at, rows: textOf(rows()) })
    }

    return {
      rows,
      checkpoint: () => Option.getOrUndefined(Effect.runSync(store.load(company))),
      replace: (checkpoint) => {
        const text = checkpoint === undefined ? null : subject.checkpointText(checkpoint)
        query(
          "INSERT INTO time_punches_sync (company_id, checkpoint) VALUES (?, ?) ON CONFLICT DO UPDATE SET checkpoint = excluded.checkpoint, history_last = history_last + 1",
          company,
          text
        )
      },
      set losesCommit(loses: () => boolean) {
        losesCommit = loses
      },
      open: () => {
        const own = stores[opened++ % connections] ?? store
        return {
          ...own,
          commit: (batch, previous) =>
            Effect.andThen(gate(), Effect.tap(own.commit(batch, previous), () => Effect.sync(remember)))
        }
      },
      atEnd: () => {
        for (const { at, rows } of past) {
          if (textOf(rowsAt(at)) !== rows) throw new Broken(`the copy of commit ${at} cannot be rebuilt`)
        }
        return past.length
      }
    }
  }

  return { copies, close }
}

/** Without the numbers of passes: to stamp a row makes no version of it. */
const textOf = (rows: ReadonlyMap<number, CopiedRow>): string =>
  JSON.stringify([...rows], (key, value: unknown) => key === "pass" ? undefined : value)
