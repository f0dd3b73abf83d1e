/** The promises of a sync, asserted at each commit and at the end of a plan. */
import { Option } from "effect"
import type { Batch, Checkpoint } from "../../../src/sync/index.ts"
import type { Plan } from "./plan.ts"
import { type Source, stateOf } from "./source.ts"
import type { Copies } from "./stores.ts"

/** A promise that a plan broke. */
export class Broken extends Error {}

/** A call as the judge knows it. */
export interface Caller {
  readonly id: number
  /** The count of commits when the call loaded its checkpoint. */
  loadedAt: number
  commits: number
  /**
   * The true times at which first pages were requested, from the attempt of the last commit on: where pages are joined, the
   * confirm has begun before the last page of its sweep is stored.
   */
  attemptsBegan: Array<number>
}

export type Judge = ReturnType<typeof makeJudge>

export const makeJudge = (plan: Plan, source: Source, copies: Copies) => {
  let claimedAt = -1
  let claimer = -1
  const sweeps = new Map<number, number>()
  const confirmed = new Map<number, Set<number>>()

  const marked = ({ missing, pass, punches }: Batch): void => {
    const returned = confirmed.get(pass) ?? new Set()
    confirmed.set(pass, returned)
    for (const { id } of punches) returned.add(id)
    if (Option.isNone(missing)) return
    const { before, window } = missing.value
    const rows = copies.rows()
    for (const id of returned) {
      const row = rows.get(id)
      if (row?.isMissing === true && row.pass < before)
        throw new Broken(`row ${id} was returned by the confirm that marks it`)
    }
    const began = sweeps.get(before)
    if (began === undefined) throw new Broken(`rows are marked before ${before}, which is no sweep`)
    if (plan.replicaLag > 0) return
    const gte = window.gte?.epochMilliseconds ?? -Infinity
    const lt = window.lt?.epochMilliseconds ?? Infinity
    for (const row of source.rows) {
      const copied = rows.get(row.id)
      if (copied?.isMissing === true && copied.pass < before && source.wasThroughout(row, began, gte, lt)) {
        if (copied.clockedIn >= gte && copied.clockedIn < lt)
          throw new Broken(`row ${row.id} was there all the time and is marked`)
      }
    }
  }

  const judge = {
    /** Commits that a store accepted. */
    commits: 0,

    /** A call that claims the copy is about to send its first request: every older call is out. */
    claimed({ id }: Caller): void {
      claimedAt = judge.commits
      claimer = id
    },

    /** A call is about to send a request: it asks for a first page a few times at most between two commits. */
    asked({ attemptsBegan, id }: Caller): void {
      if (attemptsBegan.length > 12) throw new Broken(`call ${id} asks for first pages and commits none`)
    },

    /** A checkpoint was lost or put back by hand: what an older call read may be what is stored now. */
    replaced(): void {
      claimedAt = -1
    },

    /** Judges a commit that a store accepted. */
    committed(caller: Caller, batch: Batch, previous: Option.Option<Checkpoint>): void {
      judge.commits++
      if (caller.id !== claimer && caller.loadedAt < claimedAt) {
        throw new Broken(`call ${caller.id} committed after a claim that is newer than what it read`)
      }
      caller.commits++
      const rows = copies.rows()
      for (const punch of new Map(batch.punches.map((punch) => [punch.id, punch])).values()) {
        const row = rows.get(punch.id)
        if (row === undefined) throw new Broken(`row ${punch.id} of the batch is not in the copy`)
        if (row.isMissing) throw new Broken(`row ${punch.id} was just returned and is missing`)
        if (row.state !== stateOf(punch))
          throw new Broken(`row ${punch.id} is not as it was just returned`)
      }
      // After a checkpoint was put back, a number may come again.
      if (Option.exists(previous, ({ pass }) => pass < batch.pass)) {
        sweeps.delete(batch.pass)
        confirmed.delete(batch.pass)
      }
      if (batch.kind === "sweep" && !sweeps.has(batch.pass)) {
        sweeps.set(batch.pass, Math.min(...caller.attemptsBegan))
      }
      caller.attemptsBegan = caller.attemptsBegan.slice(-1)
      if (batch.kind === "confirm" || Option.isSome(batch.missing)) marked(batch)
    },

    /** The copy against the source. Before a sweep only what an increment hears of. */
    atRest(when: string, isSwept: boolean): void {
      const rows = copies.rows()
      for (const row of source.rows) {
        if (row.needsSweep && !isSwept) continue
        const punch = source.seen(row)
        const copied = rows.get(row.id)
        if (punch === undefined) {
          if (copied !== undefined && !copied.isMissing)
            throw new Broken(`${when}: row ${row.id} is missing and not marked`)
          continue
        }
        if (copied === undefined) throw new Broken(`${when}: row ${row.id} is missing`)
        if (copied.isMissing) throw new Broken(`${when}: row ${row.id} is falsely missing`)
        if (copied.state !== stateOf(punch) || copied.deleted !== punch.deleted) {
          throw new Broken(`${when}: row ${row.id} is ${copied.state}, not ${stateOf(punch)}`)
        }
      }
    }
  }
  return judge
}
