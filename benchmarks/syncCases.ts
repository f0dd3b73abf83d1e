/** Ways to write a copy, 200 rows and a checkpoint in a transaction, and how they are measured. */
import { Effect, Exit, Layer, ManagedRuntime, Option, Schema, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { CompanyId, TimePunch } from "../src/index.ts"
import { SqlStore } from "../src/sql/index.ts"
import { NodeSqlite } from "../src/sql/node/index.ts"
import { type Checkpoint, SyncStore } from "../src/sync/index.ts"
import { generatePunches } from "../src/testing/index.ts"
import { clientOf, cluster, hasPostgres } from "../test/support/postgres.ts"
import { names as punchNames } from "./clients/rawCopy.ts"
import { median } from "./measure.ts"
import { number, table } from "./report.ts"

/** A way of writing. It is given pages in turn, each of them a transaction. */
interface Writer {
  readonly write: (punches: ReadonlyArray<TimePunch>, checkpoint: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** A way of writing, made for each round over empty tables. */
export interface SyncCase {
  readonly name: string
  readonly open: (target: string) => Promise<Writer>
}

/** `pages` inserts, then as many updates, then as many pages of equal rows: microseconds a page, the medians. */
export interface SyncRow {
  readonly name: string
  readonly insert: number
  readonly update: number
  readonly unchanged: number
  /** Bytes of the log for a page of equal rows. */
  readonly unchangedLog: number
  /** Bytes of the log for a page of changed rows. */
  readonly updateLog: number
}

export const company = CompanyId.make(7)
const decode = Schema.decodeUnknownSync(Schema.Array(TimePunch.Wire))

/** Pages as a service sends them, and the same with other tips: a change that no index sees. */
export const makePages = (count: number) => {
  const stored = generatePunches({ seed: 3, count: count * 200, companyId: company })
  // Without U+0000, with which the other ways of writing stop.
  const punches = decode(stored.map((punch) => Object.assign(punch, { notes: punch.notes.replaceAll("\0", "") })))
  const pages = Array.from({ length: count }, (_, at) => punches.slice(at * 200, at * 200 + 200))
  const changed = pages.map((page) => page.map((punch) => ({ ...punch, tips: punch.tips + 1 })))
  return { pages, changed: decodeChanged(changed) }
}
const decodeChanged = (pages: ReadonlyArray<ReadonlyArray<unknown>>) =>
  pages.map((page) => Schema.decodeUnknownSync(Schema.Array(Schema.toType(TimePunch)))(page))

/** The columns that a page writes. */
export const names = [...punchNames, "pass"]
const content = names.slice(2, -1)
const millis = (at: TimePunch["modified"]) => Option.isSome(at) ? at.value.epochMilliseconds : null
const iso = (at: number) => new Date(at).toISOString()

type Value = number | string | boolean | null

/** The values of a row in the order of the names, instants in milliseconds. */
export const valuesOf = (punch: TimePunch): Array<Value> => [
  punch.companyId,
  punch.id,
  punch.userId,
  punch.roleId,
  punch.locationId,
  Option.getOrNull(punch.departmentId),
  Option.getOrNull(punch.shiftId),
  punch.clockedIn.epochMilliseconds,
  millis(punch.clockedOut),
  punch.hourlyWage,
  punch.tips,
  punch.approved,
  punch.editablePunch,
  punch.autoClockedOut,
  punch.clockedInOffline,
  punch.clockedOutOffline,
  Option.getOrNull(punch.posType),
  punch.notes,
  millis(punch.created),
  millis(punch.modified),
  punch.deleted,
  JSON.stringify(punch.breaks.map((each) => ({
    id: each.id,
    user_id: each.userId,
    custom_break_id: each.customBreakId,
    paid: each.paid,
    in: iso(each.in.epochMilliseconds),
    out: Option.isSome(each.out) ? iso(each.out.value.epochMilliseconds) : null
  }))),
  5
]

/** The columns of instants and of booleans. */
export const instants = [7, 8, 18, 19]
const booleans = [11, 12, 13, 14, 15, 20]

export const conflict = (distinct: string) =>
  `ON CONFLICT (company_id, id) DO UPDATE SET ${
    [...content, "pass"].map((name) => `${name} = excluded.${name}`).join(", ")
  }, missing_at = NULL WHERE (${content.map((name) => `t.${name}`).join(", ")}) ${distinct} (${
    content.map((name) => `excluded.${name}`).join(", ")
  }) OR t.missing_at IS NOT NULL`

const sqliteValues = (punch: TimePunch): Array<number | string | null> =>
  valuesOf(punch).map((value) => typeof value === "boolean" ? Number(value) : value)

/** A plain upsert of one row, which has no condition. */
const plain = (placeholder: (place: number) => string) =>
  `INSERT INTO time_punches AS t (${names.join(", ")}) VALUES (${
    names.map((_, at) => placeholder(at + 1)).join(", ")
  }) ON CONFLICT (company_id, id) DO UPDATE SET ${
    [...content, "pass"].map((name) => `${name} = excluded.${name}`).join(", ")
  }`

const ddl = (dialect: "sqlite" | "pg") => SqlStore.migrations.ddl(dialect)

const rawSqlite = (chunk: number, text: string): SyncCase["open"] => async (file) => {
  const database = new DatabaseSync(file)
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
  for (const statement of ddl("sqlite")) database.exec(statement)
  const upsert = database.prepare(text)
  const checkpoints = database.prepare(
    "INSERT INTO time_punches_sync (company_id, checkpoint) VALUES (7, ?) ON CONFLICT (company_id) DO UPDATE SET checkpoint = excluded.checkpoint"
  )
  return {
    write: async (punches, checkpoint) => {
      database.exec("BEGIN IMMEDIATE")
      checkpoints.run(checkpoint)
      for (let start = 0; start < punches.length; start += chunk) {
        upsert.run(...punches.slice(start, start + chunk).flatMap(sqliteValues))
      }
      database.exec("COMMIT")
    },
    close: async () => database.close()
  }
}

/** The store of this library; five pages are joined as `Sync.run` joins them. */
export const own = (
  client: (target: string) => Layer.Layer<SqlClient.SqlClient, unknown>,
  join: number,
  history = false
): SyncCase["open"] =>
async (target) => {
  const runtime = ManagedRuntime.make(SqlStore.layer({ history }).pipe(Layer.provide(client(target))))
  const store = await runtime.runPromise(Effect.service(SyncStore))
  let previous = Option.none<Checkpoint>()
  let held: ReadonlyArray<TimePunch> = []
  let pages = 0
  return {
    write: async (punches, text) => {
      held = pages % join === 0 ? punches : [...held, ...punches]
      pages++
      if (pages % join !== 0) return
      const none = Option.none()
      const checkpoint: Checkpoint = {
        v: 1,
        companyId: company,
        pass: 5,
        watermark: none,
        at: none,
        completedAt: none,
        writer: `${text}${pages}`,
        running: none
      }
      await runtime.runPromise(
        store.commit({
          companyId: company,
          kind: "increment",
          pass: 5 + pages,
          punches: held,
          checkpoint,
          missing: none,
          began: none,
          unknown: none
        }, previous)
      )
      previous = Option.some(checkpoint)
    },
    close: () => runtime.dispose()
  }
}

/** `sql.insert` of all rows of a page, as the documentation of `effect/sql` shows it, or a statement for each row. */
const effectSql = (
  client: (target: string) => Layer.Layer<SqlClient.SqlClient, unknown>,
  dialect: "sqlite" | "pg",
  write: (sql: SqlClient.SqlClient, punches: ReadonlyArray<TimePunch>) => Effect.Effect<unknown, unknown>
): SyncCase["open"] =>
async (target) => {
  const runtime = ManagedRuntime.make(client(target))
  const sql = await runtime.runPromise(Effect.service(SqlClient.SqlClient))
  await runtime.runPromise(Effect.forEach(ddl(dialect), (text) => sql.unsafe(text).unprepared))
  return {
    write: (punches, checkpoint) =>
      runtime.runPromise(sql.withTransaction(Effect.andThen(
        sql`INSERT INTO time_punches_sync (company_id, checkpoint) VALUES (7, ${checkpoint}) ON CONFLICT (company_id) DO UPDATE SET checkpoint = excluded.checkpoint`,
        write(sql, punches)
      ))).then(() => undefined),
    close: () => runtime.dispose()
  }
}

const recordOf = (values: ReadonlyArray<unknown>) => Object.fromEntries(names.map((name, at) => [name, values[at]]))
const nonEmpty = <A>([first, ...rest]: ReadonlyArray<A>): readonly [A, ...ReadonlyArray<A>] => {
  if (first === undefined) throw new Error("a page without rows")
  return [first, ...rest]
}
const insertAll =
  (valuesOf: (punch: TimePunch) => ReadonlyArray<unknown>, distinct: string) =>
  (sql: SqlClient.SqlClient, punches: ReadonlyArray<TimePunch>) =>
    sql`INSERT INTO time_punches AS t ${sql.insert(nonEmpty(punches.map((punch) => recordOf(valuesOf(punch)))))} ${
      sql.literal(conflict(distinct))
    }`
const eachRow =
  (valuesOf: (punch: TimePunch) => ReadonlyArray<unknown>, text: string) =>
  (sql: SqlClient.SqlClient, punches: ReadonlyArray<TimePunch>) =>
    Effect.forEach(punches, (punch) => sql.unsafe(text, valuesOf(punch)), { discard: true })

export const pgClient = (url: string) => clientOf(url)
export const fileClient = (filename: string) => NodeSqlite.layer({ filename })
const chunked = (count: number, end: string) =>
  `INSERT INTO time_punches AS t (${names.join(", ")}) VALUES ${
    Array.from({ length: count }, () => `(${names.map(() => "?").join(", ")})`).join(", ")
  } ${end}`

const ownName = "effect-time-punches"

export const sqliteCases: ReadonlyArray<SyncCase> = [
  { name: "node:sqlite, the same statement", open: rawSqlite(20, chunked(20, conflict("IS NOT"))) },
  { name: "node:sqlite, a plain upsert for each row", open: rawSqlite(1, plain(() => "?")) },
  { name: ownName, open: own(fileClient, 1) },
  { name: `${ownName}, five pages a transaction`, open: own(fileClient, 5) },
  { name: `${ownName}, with a history`, open: own(fileClient, 1, true) },
  { name: "sql.insert", open: effectSql(fileClient, "sqlite", insertAll(sqliteValues, "IS NOT")) },
  { name: "effect/sql, row by row", open: effectSql(fileClient, "sqlite", eachRow(sqliteValues, plain(() => "?"))) }
]

/** What `sql-pg` takes as parameters: instants as `Date`. */
const pgValues = (punch: TimePunch): Array<unknown> =>
  valuesOf(punch).map((value, at) => instants.includes(at) && typeof value === "number" ? new Date(value) : value)
const pgCasts = names.map((name, at) =>
  instants.includes(at)
    ? "timestamptz"
    : booleans.includes(at)
    ? "boolean"
    : name === "pos_type" || name === "notes"
    ? "text"
    : name === "breaks"
    ? "jsonb"
    : "bigint"
)

export const pgUpsert = `INSERT INTO time_punches AS t (${names.join(", ")}) SELECT * FROM unnest(${
  pgCasts.map((type, at) => `$${at + 1}::${type}[]`).join(", ")
}) ${conflict("IS DISTINCT FROM")}`

export const pgCases: ReadonlyArray<SyncCase> = [
  { name: ownName, open: own(pgClient, 1) },
  { name: `${ownName}, five pages a transaction`, open: own(pgClient, 5) },
  { name: `${ownName}, with a history`, open: own(pgClient, 1, true) },
  { name: "sql.insert", open: effectSql(pgClient, "pg", insertAll(pgValues, "IS DISTINCT FROM")) },
  {
    name: "effect/sql, row by row",
    open: effectSql(pgClient, "pg", eachRow(pgValues, plain((place) => `$${place}::${pgCasts[place - 1]}`)))
  }
]

interface Measured {
  readonly rounds: number
  readonly pages: number
  /** An empty database for a round, the bytes of its log so far, and its end. */
  readonly target: () => Promise<{
    readonly address: string
    readonly logBytes: () => Promise<number>
    readonly drop: () => Promise<void>
  }>
}

const measure = async (cases: ReadonlyArray<SyncCase>, { pages, rounds, target }: Measured) => {
  const made = makePages(pages)
  const phases = [made.pages, made.changed, made.changed]
  const found = new Map(cases.map(({ name }) => [name, phases.map(() => ({ micros: [], log: [] }))]))
  for (let round = -1; round < rounds; round++) {
    // Turned, so that no case always follows the same one.
    const turned = cases.map((_, at) => cases[(at + round + 1) % cases.length]).filter((each) => each !== undefined)
    for (const { name, open } of turned) {
      const { address, drop, logBytes } = await target()
      const writer = await open(address)
      for (const [phase, part] of phases.entries()) {
        const before = await logBytes()
        const start = process.hrtime.bigint()
        for (const [at, page] of part.entries()) await writer.write(page, `${phase} ${at}`)
        const spent = Number(process.hrtime.bigint() - start) / 1000 / pages
        const into: { micros: Array<number>; log: Array<number> } | undefined = found.get(name)?.[phase]
        if (round >= 0) {
          into?.micros.push(spent)
          into?.log.push(((await logBytes()) - before) / pages)
        }
      }
      await writer.close()
      await drop()
    }
  }
  return [...found].map(([name, [insert, update, unchanged]]): SyncRow => ({
    name,
    insert: median(insert?.micros ?? []),
    update: median(update?.micros ?? []),
    unchanged: median(unchanged?.micros ?? []),
    updateLog: median(update?.log ?? []),
    unchangedLog: median(unchanged?.log ?? [])
  }))
}

const beginToRead = (file: string): DatabaseSync => {
  const database = new DatabaseSync(file, { readOnly: true })
  database.exec("BEGIN; SELECT count(*) FROM time_punches")
  return database
}

/** SQLite, in a file of the temporary folder. */
export const syncSqlite = ({ pages = 50, rounds = 5 } = {}): Promise<ReadonlyArray<SyncRow>> => {
  let files = 0
  return measure(sqliteCases, {
    pages,
    rounds,
    target: async () => {
      const file = join(tmpdir(), `time-punches-bench-${process.pid}-${files++}.db`)
      let reader: DatabaseSync | undefined
      return {
        address: file,
        logBytes: async () => {
          // While one reads, the log is never begun again: its size is all that was written.
          reader ??= beginToRead(file)
          return statSync(`${file}-wal`).size
        },
        drop: async () => {
          reader?.close()
          for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true })
        }
      }
    }
  })
}

/** PostgreSQL, in a private cluster; `undefined` where none is installed. `peers` are the raw drivers. */
export const syncPostgres = async (
  peers: ReadonlyArray<SyncCase>,
  { pages = 50, rounds = 5 } = {}
): Promise<ReadonlyArray<SyncRow> | undefined> => {
  if (!hasPostgres) return undefined
  const scope = Effect.runSync(Scope.make())
  const server = await Effect.runPromise(Scope.provide(cluster({ autovacuum: "off", max_wal_size: "4GB" }), scope))
  const runtime = ManagedRuntime.make(clientOf(server.url()))
  const ask = (text: string) =>
    runtime.runPromise(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<{ readonly n: unknown }>(text)))
  let databases = 0
  const rows = await measure([...peers, ...pgCases], {
    pages,
    rounds,
    target: async () => {
      const name = `bench${databases++}`
      await ask(`CREATE DATABASE ${name}`)
      await ask("CHECKPOINT")
      return {
        address: server.url(name),
        logBytes: async () => Number((await ask("SELECT pg_current_wal_lsn() - '0/0' AS n"))[0]?.n),
        drop: async () => void (await ask(`DROP DATABASE ${name} WITH (FORCE)`))
      }
    }
  })
  await runtime.dispose()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  return rows
}

/** Each row beside the first, which is the raw driver: how many times its speed. */
export const syncTable = (rows: ReadonlyArray<SyncRow>): string => {
  const [raw] = rows
  const beside = (of: (row: SyncRow) => number, row: SyncRow) => number(raw === undefined ? NaN : of(raw) / of(row))
  return table(
    [
      "200 rows and the checkpoint",
      "insert µs",
      "update µs",
      "equal µs",
      "insert ×",
      "update ×",
      "equal ×",
      "log, equal",
      "log, changed"
    ],
    rows.map((row) => [
      row.name,
      number(row.insert, 0),
      number(row.update, 0),
      number(row.unchanged, 0),
      beside(({ insert }) => insert, row),
      beside(({ update }) => update, row),
      beside(({ unchanged }) => unchanged, row),
      number(row.unchangedLog, 0),
      number(row.updateLog, 0)
    ])
  )
}
