/** A store in memory, with every rule of the store in SQL. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import type { CompanyId, TimePunchId } from "../Ids.ts"
import type { TimePunch } from "../TimePunch.ts"
import type { Batch, Committed, Missing } from "./Batch.ts"
import { type Checkpoint, checkpointText, type SweepWindow } from "./Checkpoint.ts"
import { isTooManyMissing, readStored, superseded, type SyncError, tooManyMissing } from "./SyncError.ts"

/** A row of a copy. */
export interface CopyRow {
  readonly punch: TimePunch
  /** The number of the pass that wrote or stamped it last. */
  readonly pass: number
  /** Whether the last sweep of its window did not see it. */
  readonly isMissing: boolean
}

/** The copy of a company. */
export interface Copy {
  readonly rows: ReadonlyMap<TimePunchId, CopyRow>
  /** The text of its checkpoint; `undefined` before the first commit, and after it was lost. */
  readonly checkpoint: string | undefined
}

/** A store over copies that the caller holds, so that a test can read and replace them. */
export const makeStoreOf = (copies: Map<CompanyId, Copy>) => ({
  pagesPerCommit: 1,
  load: (company: CompanyId): Effect.Effect<Option.Option<Checkpoint>, SyncError> =>
    Effect.suspend(() => readStored(company, copies.get(company)?.checkpoint)),
  commit: (batch: Batch, previous: Option.Option<Checkpoint>): Effect.Effect<Committed, SyncError> =>
    Effect.suspend(() => {
      const stored = copies.get(batch.companyId)
      if (stored?.checkpoint !== Option.getOrUndefined(Option.map(previous, checkpointText))) {
        return Effect.fail(superseded(batch.companyId))
      }
      const rows = new Map(stored?.rows)
      if (batch.kind === "sweep" && Option.exists(previous, ({ pass }) => pass < batch.pass))
        lowerStamps(rows, batch.pass)
      const changes = writeRows(rows, batch)
      const marked = Option.match(batch.missing, { onNone: () => [], onSome: (missing) => missingRows(rows, missing) })
      if (Option.isSome(batch.missing) && !batch.missing.value.allowed) {
        const present = presentRows(rows, batch.missing.value.window).length
        if (isTooManyMissing(marked.length, present)) {
          return Effect.fail(tooManyMissing(batch.companyId, marked.length, present))
        }
      }
      for (const row of marked) rows.set(row.punch.id, { ...row, isMissing: true })
      copies.set(batch.companyId, { rows, checkpoint: checkpointText(batch.checkpoint) })
      return Effect.succeed({ ...changes, missing: marked.length })
    })
})

export const makeMemoryStore = Effect.sync(() => makeStoreOf(new Map()))

/** A stamp that is not lower than the number of a sweep would hide that a row is missing. */
const lowerStamps = (rows: Map<TimePunchId, CopyRow>, pass: number) => {
  for (const [id, row] of rows) {
    if (row.pass >= pass) rows.set(id, { ...row, pass: 0 })
  }
}

const writeRows = (rows: Map<TimePunchId, CopyRow>, { kind, pass, punches }: Batch): Omit<Committed, "missing"> => {
  const last = new Map(punches.map((punch) => [punch.id, punch]))
  const changed = [...last.values()].filter((punch) => {
    const row = rows.get(punch.id)
    return row === undefined || row.isMissing || !Equal.equals(row.punch, punch)
  })
  for (const punch of kind === "increment" ? changed : last.values()) {
    rows.set(punch.id, { punch, pass, isMissing: false })
  }
  const modified = changed.flatMap((punch) => Option.toArray(punch.modified))
  return {
    written: changed.length,
    unchanged: last.size - changed.length,
    oldestModified: Option.map(Option.fromUndefinedOr(modified.toSorted(DateTime.Order)[0]), DateTime.toUtc)
  }
}

const presentRows = (rows: ReadonlyMap<TimePunchId, CopyRow>, window: SweepWindow): ReadonlyArray<CopyRow> =>
  [...rows.values()].filter(({ isMissing, punch }) => !isMissing && isWithin(window, punch.clockedIn))

const missingRows = (rows: ReadonlyMap<TimePunchId, CopyRow>, { before, window }: Missing): ReadonlyArray<CopyRow> =>
  presentRows(rows, window).filter(({ pass }) => pass < before)

const isWithin = ({ gte, lt }: SweepWindow, at: DateTime.Utc): boolean =>
  (gte === undefined || at.epochMilliseconds >= gte.epochMilliseconds) &&
  (lt === undefined || at.epochMilliseconds < lt.epochMilliseconds)
