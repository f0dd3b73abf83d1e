/** Batches for the tests of stores, and random plans of them. */
import { Arbitrary, Option, Schema } from "effect"
import { CompanyId, TimePunchId } from "../../src/Ids.ts"
import type { Batch, Checkpoint, Missing } from "../../src/sync/index.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { at, punch } from "./arbitraryPunch.ts"

/** The company of the punches. */
export const company = CompanyId.make(2)

/** The punch of this id. */
export const row = (id: number, changes: Partial<TimePunch> = {}): TimePunch =>
  punch({ id: TimePunchId.make(id), ...changes })

/** Punches of the ids from 1. */
export const rows = (count: number, notes = ""): ReadonlyArray<TimePunch> =>
  Array.from({ length: count }, (_, each) => row(each + 1, { notes }))

/** A checkpoint that differs from any other by its number and its writer. */
export const checkpointAt = (pass: number, writer = "a run"): Checkpoint => ({
  v: 1,
  companyId: company,
  pass,
  watermark: Option.some(at(pass)),
  at: Option.none(),
  completedAt: Option.none(),
  writer,
  running: Option.none()
})

/** An empty page of an increment, with changes. */
export const batchOf = (pass: number, changes: Partial<Batch> = {}): Batch => ({
  companyId: company,
  kind: "increment",
  pass,
  punches: [],
  checkpoint: checkpointAt(pass),
  missing: Option.none(),
  began: Option.none(),
  unknown: Option.none(),
  ...changes
})

export const rowIds = (rows: ReadonlyArray<{ readonly punch: TimePunch }>) =>
  rows.map(({ punch: { id } }) => Number(id))

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** Few ids and few contents, so that rows are equal, changed, repeated and missing. */
const Row = Schema.Struct({ id: between(1, 12), notes: between(0, 2), modified: Schema.NullOr(between(0, 5)) })

const Steps = Schema.Array(Schema.Struct({
  kind: Schema.Literals(["first", "increment", "sweep", "confirm"]),
  /** How far the number moves: 0 is the next page of an attempt, less is a checkpoint that was put back. */
  step: between(-2, 3),
  rows: Schema.Array(Row).check(Schema.isMaxLength(12)),
  missing: Schema.NullOr(Schema.Struct({ from: between(0, 6), length: between(0, 12), before: between(-1, 3) })),
  /** Whether the batch follows the checkpoint that is stored. */
  follows: Schema.Literals([true, true, true, true, false])
})).check(Schema.isMaxLength(12))

export const Plan = Arbitrary.schema(Steps)

const rowOf = ({ id, modified, notes }: typeof Row.Type): TimePunch =>
  punch({
    id: TimePunchId.make(id),
    clockedIn: at(id),
    notes: String(notes),
    modified: Option.map(Option.fromNullOr(modified), at)
  })

/** The batches of a plan, with the checkpoint that each of them is committed on. */
export const batchesOf = (plan: typeof Steps.Type): ReadonlyArray<{
  readonly batch: Batch
  readonly previous: Option.Option<Checkpoint>
}> => {
  let previous = Option.none<Checkpoint>()
  let pass = 3
  return plan.map(({ follows, kind, missing, rows, step }, place) => {
    pass = Math.max(0, pass + step)
    const checkpoint = checkpointAt(pass, `batch ${place}`)
    const marks = Option.map(Option.fromNullOr(missing), ({ before, from, length }): Missing => ({
      window: { gte: at(from), lt: at(from + length) },
      before: pass + before,
      allowed: false
    }))
    const batch = batchOf(pass, { kind, punches: rows.map(rowOf), checkpoint, missing: marks })
    const on = follows ? previous : Option.some(checkpointAt(99, "another run"))
    if (follows) previous = Option.some(checkpoint)
    return { batch, previous: on }
  })
}
