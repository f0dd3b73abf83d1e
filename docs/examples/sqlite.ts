/** The table that `sqlite-sync.ts` fills: punches by id, and the progress of each company. */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { CompanyId, Cursor, type TimePunch } from "effect-time-punches"
import { DatabaseSync } from "node:sqlite"

/** A run: the instant that it reads from, when it began, and its cursor while it is unfinished. */
export interface Progress {
  readonly since: Option.Option<DateTime.Utc>
  readonly began: DateTime.Utc
  readonly cursor: Option.Option<Cursor>
}

const schema = `
  CREATE TABLE IF NOT EXISTS punches (
    id INTEGER PRIMARY KEY, company_id INTEGER, user_id INTEGER, location_id INTEGER, clocked_in INTEGER,
    clocked_out INTEGER, breaks INTEGER, hourly_wage INTEGER, tips INTEGER, deleted INTEGER, seen INTEGER
  ) STRICT;
  CREATE INDEX IF NOT EXISTS punches_clocked_in ON punches (company_id, clocked_in);
  CREATE TABLE IF NOT EXISTS progress (
    company_id INTEGER PRIMARY KEY, since INTEGER, began INTEGER NOT NULL, cursor TEXT
  ) STRICT`

const upsert = `
  INSERT INTO punches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET
    user_id = excluded.user_id, location_id = excluded.location_id, clocked_in = excluded.clocked_in,
    clocked_out = excluded.clocked_out, breaks = excluded.breaks, hourly_wage = excluded.hourly_wage,
    tips = excluded.tips, deleted = excluded.deleted, seen = excluded.seen`

/** A failure of the database is a defect here, because a sync cannot handle it. */
export class PunchTable extends Context.Service<PunchTable, {
  readonly progress: (company: CompanyId) => Effect.Effect<Option.Option<Progress>>
  /** Writes rows and progress in one transaction, so that neither is ahead of the other. */
  readonly write: (
    company: CompanyId,
    punches: ReadonlyArray<TimePunch>,
    seen: DateTime.Utc,
    progress?: Progress
  ) => Effect.Effect<void>
  /** Marks as deleted the rows clocked in from `clockedIn` on that no run has written since `seen`. */
  readonly sweep: (company: CompanyId, clockedIn: DateTime.Utc, seen: DateTime.Utc) => Effect.Effect<void>
  readonly rows: (company: CompanyId) => Effect.Effect<ReadonlyArray<Record<string, unknown>>>
}>()("examples/PunchTable") {
  static readonly layer = (path: string) =>
    Layer.effect(
      PunchTable,
      Effect.map(
        Effect.acquireRelease(Effect.sync(() => new DatabaseSync(path)), (db) => Effect.sync(() => db.close())),
        make
      )
    )
}

const millis = (instant: Option.Option<DateTime.Utc>) =>
  Option.match(instant, { onNone: () => null, onSome: (at) => at.epochMilliseconds })

const make = (db: DatabaseSync) => {
  db.exec(schema)
  const [put, save] = [db.prepare(upsert), db.prepare("INSERT OR REPLACE INTO progress VALUES (?, ?, ?, ?)")]
  const load = db.prepare("SELECT since, began, cursor FROM progress WHERE company_id = ?")
  const sweep = db.prepare("UPDATE punches SET deleted = 1 WHERE company_id = ? AND clocked_in >= ? AND seen < ?")
  const all = db.prepare("SELECT * FROM punches WHERE company_id = ? ORDER BY id")

  const writeAll = (company: CompanyId, punches: ReadonlyArray<TimePunch>, seen: DateTime.Utc, progress?: Progress) => {
    for (const punch of punches) {
      put.run(
        punch.id,
        company,
        punch.userId,
        punch.locationId,
        punch.clockedIn.epochMilliseconds,
        millis(punch.clockedOut),
        punch.breaks.length,
        punch.hourlyWage,
        punch.tips,
        punch.deleted ? 1 : 0,
        seen.epochMilliseconds
      )
    }
    if (progress === undefined) return
    save.run(
      company,
      millis(progress.since),
      progress.began.epochMilliseconds,
      Option.getOrNull(progress.cursor)
    )
  }

  return PunchTable.of({
    progress: (company) =>
      Effect.sync(() =>
        Option.map(Option.fromUndefinedOr(load.get(company)), ({ began, cursor, since }) => ({
          since: Option.map(Option.fromNullOr(since), (at) => DateTime.makeUnsafe(Number(at))),
          began: DateTime.makeUnsafe(Number(began)),
          cursor: Option.map(Option.fromNullOr(cursor), (text) => Cursor.make(String(text)))
        }))
      ),
    write: (company, punches, seen, progress) =>
      Effect.sync(() => {
        db.exec("BEGIN")
        try {
          writeAll(company, punches, seen, progress)
          db.exec("COMMIT")
        } catch (cause) {
          db.exec("ROLLBACK")
          throw cause
        }
      }),
    sweep: (company, clockedIn, seen) =>
      Effect.sync(() => {
        sweep.run(company, clockedIn.epochMilliseconds, seen.epochMilliseconds)
      }),
    rows: (company) => Effect.sync(() => all.all(company))
  })
}
