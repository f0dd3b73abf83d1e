/** The stores of a plan: the real ones, with gates between any two steps, and their copies to read, lose and put back. */
import { Context, Effect } from "effect"
import type { CompanyId, TimePunch } from "../../../src/index.ts"
import type { Checkpoint, Sync, SyncStore } from "../../../src/sync/index.ts"
import type { Copy, makeStoreOf } from "../../../src/sync/memoryStore.ts"
import { company, stateOf } from "./source.ts"

/** Suspends a process between two steps, until the driver lets it continue. `torn` is run if it is killed there. */
export type Gate = (torn?: () => void) => Effect.Effect<void>

/** The gate of the process that runs. */
export const CurrentGate = Context.Reference<Gate>("test/sync/CurrentGate", { defaultValue: () => () => Effect.void })

export const gate: Gate = (torn) => Effect.flatMap(CurrentGate, (gate) => gate(torn))

/** The code under test: that of `src/sync`, or a planted copy of it. */
export interface Subject {
  readonly run: typeof Sync.run
  readonly sweep: typeof Sync.sweep
  readonly makeStoreOf: typeof makeStoreOf
  readonly checkpointText: (checkpoint: Checkpoint) => string
  readonly readCheckpoint: (text: string) => Checkpoint
}

/** What the judge compares of a row of a copy. */
export interface CopiedRow {
  readonly state: string
  readonly deleted: boolean
  readonly clockedIn: number
  readonly pass: number
  readonly isMissing: boolean
}

const copied = (punch: TimePunch, pass: number, isMissing: boolean): CopiedRow => ({
  state: stateOf(punch),
  deleted: punch.deleted,
  clockedIn: punch.clockedIn.epochMilliseconds,
  pass,
  isMissing
})

/** A copy and the stores over it. */
export interface Copies {
  readonly rows: () => ReadonlyMap<number, CopiedRow>
  readonly checkpoint: () => Checkpoint | undefined
  /** Loses the checkpoint, or puts an older one in its place, as who has done so by hand. */
  readonly replace: (checkpoint: Checkpoint | undefined) => void
  /** A store for a process, which is suspended between two steps of a commit. */
  readonly open: () => SyncStore["Service"]
  /** Whether the answer to the next COMMIT is lost, for a store that has one. */
  losesCommit?: () => boolean
  /** What else must hold at the end of a plan; returns how many past copies were compared. */
  readonly atEnd?: () => number
}

/** The memory store: what it has is one value, replaced in one step. */
export const memoryCopies = (subject: Subject): Copies => {
  const copies = new Map<CompanyId, Copy>()
  const store = subject.makeStoreOf(copies)
  return {
    rows: () =>
      new Map(
        [...copies.get(company)?.rows ?? []].map((
          [id, { isMissing, pass, punch }]
        ) => [id, copied(punch, pass, isMissing)])
      ),
    checkpoint: () => {
      const text = copies.get(company)?.checkpoint
      return text === undefined ? undefined : subject.readCheckpoint(text)
    },
    replace: (checkpoint) => {
      const rows = copies.get(company)?.rows ?? new Map()
      copies.set(company, { rows, checkpoint: checkpoint && subject.checkpointText(checkpoint) })
    },
    open: () => ({ ...store, commit: (batch, previous) => Effect.andThen(gate(), store.commit(batch, previous)) })
  }
}
