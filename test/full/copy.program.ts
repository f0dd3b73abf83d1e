/** A copy in SQLite as a strict program keeps it: compiled here, and once more against the packed package, where it runs. */
import { Console, type DateTime, Duration, Effect, Layer, Option, Redacted, Schema, Stream } from "effect"
import { type CompanyId, CompanyId as CompanyIds, Credentials, type ListError, TimePunches } from "effect-time-punches"
import { NodeTransport } from "effect-time-punches/node"
import { PunchCopy, SqlStore } from "effect-time-punches/sql"
import { NodeSqlite } from "effect-time-punches/sql/node"
import {
  type Batch,
  Checkpoint,
  type Committed,
  type Missing,
  type SweepWindow,
  Sync,
  SyncError,
  SyncReason,
  SyncStore,
  type SyncSummary
} from "effect-time-punches/sync"
import { defaultCompany, FakeService, generatePunches } from "effect-time-punches/testing"
import { FakeServer } from "effect-time-punches/testing/node"

const company = CompanyIds.make(defaultCompany.id)

const punches = generatePunches({ seed: 1, count: 450, companyId: company })

/** The names and their types, as the design has them. */
export const names = {
  changes: Sync.batches(company, Option.none(), { overlap: "1 hour", prefetchPages: 1 }) satisfies Stream.Stream<
    Batch,
    SyncError | ListError,
    TimePunches
  >,
  sweepChanges: (from: Checkpoint, window: SweepWindow) => Sync.sweepBatches(company, from, { window }),
  run: Sync.run(company, {
    stopAfter: { pages: 5, duration: "1 minute" },
    claim: true,
    onCommit: ({ written }) => Effect.succeed(written < 100)
  }) satisfies Effect.Effect<SyncSummary, SyncError | ListError, TimePunches | SyncStore>,
  sweep: Sync.sweep(company, { window: {}, allowMissing: true }),
  text: (checkpoint: Checkpoint): string => Schema.encodeSync(Checkpoint.Json)(checkpoint),
  lateness: ({ lateness }: SyncSummary): number =>
    Option.match(lateness, { onNone: () => 0, onSome: Duration.toMillis }),
  memory: SyncStore.layerMemory satisfies Layer.Layer<SyncStore>,
  committed: (
    { missing, oldestModified, unchanged, written }: Committed
  ) => [written, unchanged, missing, oldestModified],
  missing: ({ allowed, before, window }: Missing): readonly [boolean, number, DateTime.Utc | undefined] => [
    allowed,
    before,
    window.gte
  ],
  error: new SyncError({ companyId: company, reason: new SyncReason.Superseded({}) }),
  status: PunchCopy.status(company),
  purge: (id: CompanyId) => PunchCopy.purge(id),
  recordError: PunchCopy.recordError(company, new SyncError({ companyId: company, reason: new SyncReason.Store({}) })),
  ddl: SqlStore.migrations.ddl("pg")
}

const program = Effect.gen(function*() {
  const { url } = yield* FakeServer
  const client = TimePunches.layerWith({
    baseUrl: url,
    credentials: Credentials.layerAccessToken(Redacted.make(defaultCompany.accessToken))
  }).pipe(Layer.provide(NodeTransport.layer()))
  const store = SqlStore.layer({ pagesPerTransaction: 2 }).pipe(
    Layer.provideMerge(NodeSqlite.layer({ filename: ":memory:" }))
  )
  return yield* Effect.gen(function*() {
    const first = yield* Sync.run(company)
    yield* (yield* FakeService).remove(punches.slice(0, 1).map(({ id }) => id))
    const { missing } = yield* Sync.sweep(company)
    const { rows } = yield* PunchCopy.status(company)
    return `written ${first.written} rows ${rows} missing ${missing}`
  }).pipe(Effect.provide(Layer.merge(client, store)))
})

const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ punches })))

if (import.meta.main) await Effect.runPromise(Effect.provide(program, served).pipe(Effect.flatMap(Console.log)))
