/** The raw driver of PostgreSQL, with the statements that are the fastest for it. */
import { Client } from "pg"
import type { TimePunch } from "../src/index.ts"
import { SqlStore } from "../src/sql/index.ts"
import { conflict, instants, names, pgUpsert, type SyncCase, valuesOf } from "./syncCases.ts"

const quoted = (text: string) => `"${text.replace(/["\\]/g, "\\$&")}"`

/** The literal of an array for each column. */
const arraysOf = (punches: ReadonlyArray<TimePunch>): ReadonlyArray<string> => {
  const rows = punches.map(valuesOf)
  return names.map((_, at) =>
    `{${
      rows.map((row) => {
        const value = row[at]
        if (value === null || value === undefined) return "NULL"
        if (typeof value === "string") return quoted(value)
        return instants.includes(at) ? new Date(Number(value)).toISOString() : String(value)
      }).join(",")
    }}`
  )
}

const rawPg: SyncCase["open"] = async (url) => {
  const client = new Client({ connectionString: url })
  await client.connect()
  for (const text of SqlStore.migrations.ddl("pg")) await client.query(text)
  const checkpoint =
    "INSERT INTO time_punches_sync (company_id, checkpoint) VALUES (7, $1) ON CONFLICT (company_id) DO UPDATE SET checkpoint = excluded.checkpoint"
  return {
    write: async (punches, text) => {
      await client.query("BEGIN")
      await client.query({ name: "checkpoint", text: checkpoint, values: [text] })
      await client.query({ name: "upsert", text: pgUpsert, values: [...arraysOf(punches)] })
      await client.query("COMMIT")
    },
    close: () => client.end()
  }
}

/** The same without its condition: what the log of a plain upsert is. */
const plainPg: SyncCase["open"] = async (url) => {
  const client = new Client({ connectionString: url })
  await client.connect()
  for (const text of SqlStore.migrations.ddl("pg")) await client.query(text)
  const text = pgUpsert.replace(conflict("IS DISTINCT FROM"), conflict("IS DISTINCT FROM").split(" WHERE ")[0] ?? "")
  return {
    write: async (punches) => {
      await client.query("BEGIN")
      await client.query({ name: "upsert", text, values: [...arraysOf(punches)] })
      await client.query("COMMIT")
    },
    close: () => client.end()
  }
}

export const syncPeers: ReadonlyArray<SyncCase> = [
  { name: "pg, the same statement", open: rawPg },
  { name: "pg, a plain upsert", open: plainPg }
]
