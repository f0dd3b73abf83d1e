/** The port of a sync: where the rows of a copy and its checkpoint are kept together. */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import type { CompanyId, TimePunchId } from "../Ids.ts"
import type { TimePunch } from "../TimePunch.ts"
import type { Batch, Committed, Gone } from "./Batch.ts"
import {
  blankCheckpoint,
  Checkpoint,
  checkpointText,
  readCanonical,
  readCheckpoint,
  type Window
} from "./Checkpoint.ts"
import { isTooManyGone, storeFailed, superseded, SyncError, tooManyGone, unreadable } from "./SyncError.ts"

// MERGED keyValueStore.ts: A store whose rows the caller writes: the checkpoint stands in a `KeyValueStore`, which has no compare-and-set.

/** What a key holds: the checkpoint, and a count by which the newer of the two keys is known. */
const Entry = Schema.fromJsonString(Schema.Struct({ commit: Schema.Int, checkpoint: Schema.String }))
const readEntry = Schema.decodeUnknownResult(Entry)
const writeEntry = Schema.encodeSync(Entry)

/** What the two keys of a company say. */
interface Stored {
  readonly checkpoint: Option.Option<Checkpoint>
  /** The count of the last commit; 0 before the first. */
  readonly commit: number
}

export const makeKeyValueStore = <E, R>(write: (batch: Batch) => Effect.Effect<void, E, R>) =>
  Effect.gen(function*() {
    const keys = yield* KeyValueStore.KeyValueStore
    const context = yield* Effect.context<R>()
    const locks = new Map<CompanyId, Semaphore.Semaphore>()

    const failed = (company: CompanyId, what: string) => (cause: unknown) => storeFailed(company, what, cause)

    const read = Effect.fnUntraced(function*(company: CompanyId) {
      const texts = yield* Effect.forEach([0, 1], (commit) => keys.get(nameOf(company, commit))).pipe(
        Effect.mapError(failed(company, "the checkpoint cannot be read"))
      )
      const [even, odd] = texts
      // The first write of all goes to the odd key: where it was cut, no row was written, and there is no other key.
      if (even === undefined && odd !== undefined && Result.isFailure(readEntry(odd))) return empty
      const present = texts.filter((text) => text !== undefined)
      const found = present.map((text) => readStored(text, company))
      const [newest] = found.flatMap((entry) => Option.toArray(Result.getSuccess(entry)))
        .toSorted((one, other) => other.commit - one.commit)
      if (newest !== undefined) return newest
      const why = found.flatMap((entry) => Option.toArray(Result.getFailure(entry)))[0]
      return why === undefined ? empty : yield* Effect.fail(unreadable(company, why))
    })

    /** Overwrites the older key, so that a write that is cut leaves the newer one. */
    const put = (company: CompanyId, commit: number, checkpoint: Checkpoint) =>
      Effect.mapError(
        keys.set(nameOf(company, commit), writeEntry({ commit, checkpoint: checkpointText(checkpoint) })),
        failed(company, "the checkpoint cannot be written")
      )

    const commit = Effect.fnUntraced(function*(batch: Batch, previous: Option.Option<Checkpoint>) {
      const { company } = batch
      let stored = yield* read(company)
      if (!isContinued(stored.checkpoint, previous, batch)) return yield* Effect.fail(superseded(company))
      if (batch.pass > Option.match(stored.checkpoint, { onNone: () => -1, onSome: ({ pass }) => pass })) {
        // A number is recorded before a row bears it: after a kill, no later attempt takes a lower one.
        const raised = { ...Option.getOrElse(stored.checkpoint, () => blankFor(batch)), pass: batch.pass }
        stored = { checkpoint: Option.some(raised), commit: stored.commit + 1 }
        yield* put(company, stored.commit, raised)
      }
      yield* Effect.mapError(
        Effect.provideContext(write(batch), context),
        failed(company, "the rows cannot be written")
      )
      const now = yield* read(company)
      if (now.commit !== stored.commit || textOf(now) !== textOf(stored)) return yield* Effect.fail(superseded(company))
      yield* put(company, stored.commit + 1, batch.checkpoint)
      return { written: batch.punches.length, unchanged: 0, gone: 0, oldestModified: Option.none() } satisfies Committed
    })

    return {
      pagesPerCommit: 1,
      load: (company: CompanyId) => Effect.map(read(company), ({ checkpoint }) => checkpoint),
      commit: (batch: Batch, previous: Option.Option<Checkpoint>): Effect.Effect<Committed, SyncError> =>
        Effect.suspend(() => {
          const lock = locks.get(batch.company) ?? Semaphore.makeUnsafe(1)
          locks.set(batch.company, lock)
          return lock.withPermits(1)(commit(batch, previous))
        })
    }
  })

const nameOf = (company: CompanyId, commit: number) => `time-punches-sync-${company}-${commit % 2}`

const empty: Stored = { checkpoint: Option.none(), commit: 0 }

const readStored = (text: string, company: CompanyId): Result.Result<Stored, string> =>
  readEntry(text).pipe(
    Result.mapError(() => "the text is not an entry of this store"),
    Result.flatMap(({ checkpoint, commit }) =>
      Result.map(readCheckpoint(checkpoint, company), (read): Stored => ({ checkpoint: Option.some(read), commit }))
    )
  )

const textOf = ({ checkpoint }: Stored) => Option.getOrUndefined(Option.map(checkpoint, checkpointText))

/** Before the first commit: blank, but with the number of the pass that is about to write. */
const blankFor = ({ checkpoint: { company, writer }, pass }: Batch): Checkpoint =>
  blankCheckpoint(company, writer, pass)

/**
 * Whether the stored checkpoint is the one that the batch follows. Its number may have been raised since, by a commit that
 * then failed: rows may bear that number, so a batch of a lower one no longer follows.
 */
const isContinued = (
  stored: Option.Option<Checkpoint>,
  previous: Option.Option<Checkpoint>,
  batch: Batch
): boolean => {
  if (Option.isNone(stored)) return Option.isNone(previous)
  const expected = {
    ...Option.getOrElse(previous, () => blankFor({ ...batch, checkpoint: stored.value })),
    pass: stored.value.pass
  }
  const isRaised = Option.isNone(previous) || stored.value.pass !== previous.value.pass
  return checkpointText(expected) === checkpointText(stored.value) && (!isRaised || stored.value.pass <= batch.pass)
}

// MERGED memoryStore.ts: A store in memory, with every rule of the store in SQL.

/** A row of a copy. */
export interface Row {
  readonly punch: TimePunch
  /** The number of the pass that wrote or stamped it last. */
  readonly pass: number
  /** Whether the last sweep of its window did not see it. */
  readonly isGone: boolean
}

/** The copy of a company. */
export interface Copy {
  readonly rows: ReadonlyMap<TimePunchId, Row>
  /** The text of its checkpoint; `undefined` where it was lost. */
  readonly checkpoint: string | undefined
}

/** A store over copies that the caller holds, so that a test can read and replace them. */
export const makeStoreOf = (copies: Map<CompanyId, Copy>) => ({
  pagesPerCommit: 1,
  load: (company: CompanyId): Effect.Effect<Option.Option<Checkpoint>, SyncError> =>
    Effect.suspend(() => {
      const stored = copies.get(company)?.checkpoint
      if (stored === undefined) return Effect.succeedNone
      const checkpoint = Result.mapError(readCanonical(stored, company), (why) => unreadable(company, why))
      return Effect.fromResult(Result.map(checkpoint, Option.some))
    }),
  commit: (batch: Batch, previous: Option.Option<Checkpoint>): Effect.Effect<Committed, SyncError> =>
    Effect.suspend(() => {
      const stored = copies.get(batch.company)
      if (stored?.checkpoint !== Option.getOrUndefined(Option.map(previous, checkpointText))) {
        return Effect.fail(superseded(batch.company))
      }
      const rows = new Map(stored?.rows)
      if (batch.kind === "sweep" && Option.exists(previous, ({ pass }) => pass < batch.pass))
        lowerStamps(rows, batch.pass)
      const changes = writeRows(rows, batch)
      const missing = Option.match(batch.gone, { onNone: () => [], onSome: (gone) => missingRows(rows, gone) })
      if (Option.isSome(batch.gone) && !batch.gone.value.accepted) {
        const present = presentRows(rows, batch.gone.value.window).length
        if (isTooManyGone(missing.length, present)) {
          return Effect.fail(tooManyGone(batch.company, missing.length, present))
        }
      }
      for (const row of missing) rows.set(row.punch.id, { ...row, isGone: true })
      copies.set(batch.company, { rows, checkpoint: checkpointText(batch.checkpoint) })
      return Effect.succeed({ ...changes, gone: missing.length })
    })
})

export const makeMemoryStore = Effect.sync(() => makeStoreOf(new Map()))

/** A stamp that is not lower than the number of a sweep would hide a row that is gone. */
const lowerStamps = (rows: Map<TimePunchId, Row>, pass: number) => {
  for (const [id, row] of rows) {
    if (row.pass >= pass) rows.set(id, { ...row, pass: 0 })
  }
}

const writeRows = (rows: Map<TimePunchId, Row>, { kind, pass, punches }: Batch): Omit<Committed, "gone"> => {
  const last = new Map(punches.map((punch) => [punch.id, punch]))
  const changed = [...last.values()].filter((punch) => {
    const row = rows.get(punch.id)
    return row === undefined || row.isGone || !Equal.equals(row.punch, punch)
  })
  for (const punch of kind === "increment" ? changed : last.values()) {
    rows.set(punch.id, { punch, pass, isGone: false })
  }
  const modified = changed.flatMap((punch) => Option.toArray(punch.modified))
  return {
    written: changed.length,
    unchanged: last.size - changed.length,
    oldestModified: Option.map(Option.fromUndefinedOr(modified.toSorted(DateTime.Order)[0]), DateTime.toUtc)
  }
}

const presentRows = (rows: ReadonlyMap<TimePunchId, Row>, window: Window): ReadonlyArray<Row> =>
  [...rows.values()].filter(({ isGone, punch }) => !isGone && isWithin(window, punch.clockedIn))

const missingRows = (rows: ReadonlyMap<TimePunchId, Row>, { before, window }: Gone): ReadonlyArray<Row> =>
  presentRows(rows, window).filter(({ pass }) => pass < before)

const isWithin = ({ gte, lt }: Window, at: DateTime.Utc): boolean =>
  (gte === undefined || at.epochMilliseconds >= gte.epochMilliseconds) &&
  (lt === undefined || at.epochMilliseconds < lt.epochMilliseconds)

/** Where a copy is kept. `SqlStore.layer` of `effect-time-punches/sql` keeps it in SQLite or PostgreSQL. */
export class SyncStore extends Context.Service<SyncStore, {
  /** The checkpoint of a company, `None` before its first commit. Fails where it cannot be read: never a silent first load. */
  readonly load: (company: CompanyId) => Effect.Effect<Option.Option<Checkpoint>, SyncError>
  /**
   * Stores rows and checkpoint, all or nothing; they are durable when it returns. Fails with `Superseded` where the stored
   * checkpoint is not `previous`, with `TooManyGone` where a sweep would mark too many rows: nothing is stored then.
   */
  readonly commit: (batch: Batch, previous: Option.Option<Checkpoint>) => Effect.Effect<Committed, SyncError>
  /** How many batches `Sync.run` and `Sync.sweep` join into one commit, at least 1. */
  readonly pagesPerCommit: number
}>()("effect-time-punches/sync/SyncStore") {
  /** A store in memory, for tests. It has all rules of the store in SQL; what it holds ends with it. */
  static readonly layerMemory: Layer.Layer<SyncStore> = Layer.effect(SyncStore, makeMemoryStore)

  /**
   * A store of the caller's own: `write` stores the rows of a batch, the checkpoint stands in a `KeyValueStore`. Rows are
   * written at least once, and the checkpoint is never ahead of them.
   *
   * There is no compare-and-set between processes: `write` leaves a row alone that is stamped with a higher `pass`, stamps
   * every other, and marks what `gone` says; a sweep runs alone. Who deletes or restores the key sets the stamps to 0.
   * A failure of `write` is a `SyncError` with the reason `Store` and that failure as its cause.
   */
  static readonly layerKeyValueStore = <E, R>(
    write: (batch: Batch) => Effect.Effect<void, E, R>
  ): Layer.Layer<SyncStore, never, KeyValueStore.KeyValueStore | R> => Layer.effect(SyncStore, makeKeyValueStore(write))
}
