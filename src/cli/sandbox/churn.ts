/** Changes the punches of a sandbox while it runs, as people do when they clock in and out and correct each other. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import { FakeService, type PunchPatch, type StoredPunch } from "../../testing/index.ts"

/** How often punches change. */
const interval = Duration.millis(500)

const wages = [1200, 1450, 1550, 1875, 2100]
const notes = ["corrected", "forgot to clock out", "", "covered the late shift"]

/** Adds, edits, deletes and restores punches until it is interrupted. None is removed without a mark. */
export const churn = (punches: ReadonlyArray<StoredPunch>, seed: number): Effect.Effect<void, never, FakeService> =>
  Effect.gen(function*() {
    const service = yield* FakeService
    const known = [...punches]
    const open: Array<StoredPunch> = []
    const deleted = punches.filter((punch) => punch.deleted === true)

    const clockIn = Effect.fnUntraced(function*(now: string) {
      const worker = yield* Random.choice(known)
      const id = Math.max(...known.slice(-1).map((punch) => punch.id)) + 1
      const punch: StoredPunch = {
        ...worker,
        id,
        clocked_in: now,
        clocked_out: null,
        breaks: [],
        notes: "",
        tips: 0,
        approved: false,
        auto_clocked_out: false,
        flags: [],
        employeeApprovalStatus: "pending",
        deleted: false
      }
      known.push(punch)
      open.push(punch)
      yield* service.add([punch])
    })

    const edit = Effect.fnUntraced(function*() {
      const patches: ReadonlyArray<PunchPatch> = [
        { hourly_wage: yield* Random.choice(wages) },
        { notes: yield* Random.choice(notes) },
        { approved: true }
      ]
      const patch = yield* Random.choice(patches)
      yield* service.edit([(yield* Random.choice(known)).id], patch)
    })

    const change = Effect.gen(function*() {
      const now = DateTime.formatIso(yield* service.now)
      const draw = yield* Random.next
      if (draw < 0.3) return yield* clockIn(now)
      if (draw < 0.5) return yield* service.edit(open.splice(0, 1).map(({ id }) => id), { clocked_out: now })
      if (draw < 0.8) return yield* edit()
      if (draw >= 0.95) return yield* service.edit(deleted.splice(0, 1).map(({ id }) => id), { deleted: false })
      const punch = yield* Random.choice(known)
      deleted.push(punch)
      yield* service.edit([punch.id], { deleted: true })
    })

    if (known.length > 0) yield* Effect.repeat(change, Schedule.spaced(interval))
  }).pipe(Effect.orDie, Random.withSeed(seed))
