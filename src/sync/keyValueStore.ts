/** A store whose rows the caller writes: the checkpoint stands in a `KeyValueStore`, which has no compare-and-set. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import type { CompanyId } from "../Ids.ts"
import type { Batch, Committed } from "./Batch.ts"
import { blankCheckpoint, type Checkpoint, checkpointText, type NoCheckpoint, readCheckpoint } from "./Checkpoint.ts"
import { storeFailed, superseded, type SyncError, unreadable } from "./SyncError.ts"

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
      // The first write of all goes to the odd key. If it was cut, no row was written, and the other key is missing.
      if (even === undefined && odd !== undefined && Result.isFailure(readEntry(odd))) return empty
      const present = texts.filter((text) => text !== undefined)
      const found = present.map((text) => readStored(text, company))
      const failures = found.flatMap((entry) => Option.toArray(Result.getFailure(entry)))
      const newer = failures.find(({ reason }) => reason === "NewerCheckpoint")
      // The other key has what that release has replaced.
      if (newer !== undefined) return yield* unreadable(company, newer)
      const [newest] = found.flatMap((entry) => Option.toArray(Result.getSuccess(entry)))
        .toSorted((one, other) => other.commit - one.commit)
      if (newest !== undefined) return newest
      const [why] = failures
      return why === undefined ? empty : yield* unreadable(company, why)
    })

    /** Overwrites the older key, so that a write that is cut leaves the newer one. */
    const put = (company: CompanyId, commit: number, checkpoint: Checkpoint) =>
      Effect.mapError(
        keys.set(nameOf(company, commit), writeEntry({ commit, checkpoint: checkpointText(checkpoint) })),
        failed(company, "the checkpoint cannot be written")
      )

    const commit = Effect.fnUntraced(function*(batch: Batch, previous: Option.Option<Checkpoint>) {
      const { checkpoint: { writer }, company } = batch
      let stored = yield* read(company)
      if (!isContinued(stored.checkpoint, previous, batch)) return yield* superseded(company)
      if (batch.pass > Option.match(stored.checkpoint, { onNone: () => 0, onSome: ({ pass }) => pass })) {
        // A number is recorded before a row bears it: after a kill, no later attempt takes a lower one.
        const raised = {
          ...Option.getOrElse(stored.checkpoint, () => blankCheckpoint(company, writer)),
          pass: batch.pass
        }
        stored = { checkpoint: Option.some(raised), commit: stored.commit + 1 }
        yield* put(company, stored.commit, raised)
      }
      yield* Effect.mapError(
        Effect.provideContext(write(batch), context),
        failed(company, "the rows cannot be written")
      )
      const now = yield* read(company)
      if (now.commit !== stored.commit || textOf(now) !== textOf(stored)) return yield* superseded(company)
      yield* put(company, stored.commit + 1, batch.checkpoint)
      return {
        written: batch.punches.length,
        unchanged: 0,
        missing: 0,
        oldestModified: Option.none()
      } satisfies Committed
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

const readStored = (text: string, company: CompanyId): Result.Result<Stored, NoCheckpoint> =>
  readEntry(text).pipe(
    Result.mapError((): NoCheckpoint => ({ reason: "Checkpoint", detail: "the text is not an entry of this store" })),
    Result.flatMap(({ checkpoint, commit }) =>
      Result.map(readCheckpoint(checkpoint, company), (read): Stored => ({ checkpoint: Option.some(read), commit }))
    )
  )

const textOf = ({ checkpoint }: Stored) => Option.getOrUndefined(Option.map(checkpoint, checkpointText))

/**
 * Whether the batch follows the stored checkpoint. A commit that failed may have raised its number, and rows may be stamped
 * with that: a batch of a lower number does not follow then. A blank checkpoint of another call is its claim.
 */
const isContinued = (
  stored: Option.Option<Checkpoint>,
  previous: Option.Option<Checkpoint>,
  batch: Batch
): boolean => {
  if (Option.isNone(stored)) return Option.isNone(previous)
  const expected = {
    ...Option.getOrElse(previous, () => blankCheckpoint(batch.company, batch.checkpoint.writer)),
    pass: stored.value.pass
  }
  const isRaised = Option.isNone(previous) || stored.value.pass !== previous.value.pass
  return checkpointText(expected) === checkpointText(stored.value) && (!isRaised || stored.value.pass <= batch.pass)
}
