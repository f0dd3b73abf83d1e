/** A first load without this library: `request()` and `json()` of undici, and a plain upsert of `node:sqlite` for each row. */
import { rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync, type SQLInputValue } from "node:sqlite"
import type { Client } from "../sample.ts"
import { looked, requesting } from "./raw.ts"

/** The columns of the copy, as someone writes them who has no library. JSON has all of them. */
export const names = [
  "company_id",
  "id",
  "user_id",
  "role_id",
  "location_id",
  "department_id",
  "shift_id",
  "clocked_in",
  "clocked_out",
  "hourly_wage",
  "tips",
  "approved",
  "editable_punch",
  "auto_clocked_out",
  "clocked_in_offline",
  "clocked_out_offline",
  "pos_type",
  "notes",
  "created",
  "modified",
  "deleted",
  "breaks"
]

const instants = new Set(["clocked_in", "clocked_out", "created", "modified"])

const cellOf = (name: string, value: unknown): SQLInputValue =>
  value === null || value === undefined
    ? null
    : typeof value === "boolean"
    ? Number(value)
    : typeof value === "object"
    ? JSON.stringify(value)
    : instants.has(name)
    ? Date.parse(String(value))
    : typeof value === "number"
    ? value
    : String(value)

interface Page {
  readonly data: ReadonlyArray<{ readonly id: number } & Readonly<Record<string, unknown>>>
  readonly meta: { readonly cursor: { readonly next: string | null } }
}

/** The same tables and indexes as a copy of this library has, a page and its checkpoint in each transaction. */
const open = (filename: string) => {
  const database = new DatabaseSync(filename)
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
  database.exec(
    `CREATE TABLE punches (${
      names.map((name) => `${name} ${/notes|breaks|pos_type/.test(name) ? "TEXT" : "INTEGER"}`).join(", ")
    }, pass INTEGER NOT NULL, missing_at INTEGER, valid_from INTEGER, PRIMARY KEY (company_id, id)) STRICT;
    CREATE INDEX punches_clocked_in ON punches (company_id, clocked_in);
    CREATE TABLE checkpoints (company_id INTEGER PRIMARY KEY, checkpoint TEXT)`
  )
  const upsert = database.prepare(
    `INSERT INTO punches (${names.join(", ")}, pass) VALUES (${names.map(() => "?").join(", ")}, 1)
      ON CONFLICT (company_id, id) DO UPDATE SET ${
      names.slice(2).map((name) => `${name} = excluded.${name}`).join(", ")
    }`
  )
  const checkpoint = database.prepare("INSERT OR REPLACE INTO checkpoints VALUES (?, ?)")
  return {
    write: ({ data, meta }: Page) => {
      database.exec("BEGIN IMMEDIATE")
      checkpoint.run(1, JSON.stringify(meta))
      for (const punch of data) upsert.run(...names.map((name) => cellOf(name, punch[name])))
      database.exec("COMMIT")
    },
    close: () => database.close()
  }
}

/** How many first loads this process has begun. */
let loads = 0

export const sqlite: Client = (url) => {
  let store: ReturnType<typeof open> | undefined
  const list = requesting(url, async (body) => {
    const page = await body.json() as Page
    store?.write(page)
    return looked(page)
  })
  return async () => {
    const filename = join(tmpdir(), `time-punches-raw-${process.pid}-${loads++}.db`)
    store = open(filename)
    const seen = await list()
    store.close()
    for (const suffix of ["", "-wal", "-shm"]) rmSync(filename + suffix, { force: true })
    return seen
  }
}
