/** Changes the punches of a sandbox while it runs, as people do when they clock in and out and correct each other. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import { FakeService, type PunchPatch, type StoredPunch } from "../../testing/index.ts"

const interval = Duration.millis(500)

/** How many punches change at each interval: two a second for each hundred companies, and for fewer. */
const changesAtOnce = (companies: number): number => Math.max(1, Math.round(companies / 100))

/** How often punches change, in words. */
export const churnRate = (companies: number): string =>
  companies < 150 ? "twice a second" : `${2 * changesAtOnce(companies)} times a second`

/**
 * Adds, edits, deletes and restores punches of all companies until it is interrupted. None is removed without a mark.
 * `punchesOf` gives the punches of a company by its number from 0, or `None` before the company is first listed: no
 * client can see a change that is older than its first listing.
 */
export const churn = (
  companies: number,
  punchesOf: (index: number) => Option.Option<ReadonlyArray<StoredPunch>>,
  seed: number
): Effect.Effect<void, never, FakeService> => {
  const changes = new Map<number, Effect.Effect<void, never, FakeService>>()

  const changeOne = Effect.gen(function*() {
    const index = companies === 1 ? 0 : yield* Random.nextIntBetween(0, companies)
    const change = Option.orElse(
      Option.fromUndefinedOr(changes.get(index)),
      () => Option.map(punchesOf(index), changeOf)
    )
    if (Option.isNone(change)) return
    changes.set(index, change.value)
    yield* change.value
  })

  return Effect.repeat(
    Effect.replicateEffect(changeOne, changesAtOnce(companies), { discard: true }),
    Schedule.spaced(interval)
  ).pipe(Effect.asVoid, Random.withSeed(seed))
}

const wages = [1200, 1450, 1550, 1875, 2100]
const notes = ["corrected", "forgot to clock out", "", "covered the late shift"]

/** One change of a company's punches each time that it runs; it remembers what it has changed. */
const changeOf = (punches: ReadonlyArray<StoredPunch>): Effect.Effect<void, never, FakeService> => {
  const known = [...punches]
  const open: Array<StoredPunch> = []
  const deleted = punches.filter((punch) => punch.deleted === true)

  const clockIn = Effect.fnUntraced(function*(service: FakeService["Service"], now: string) {
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

  const edit = Effect.fnUntraced(function*(service: FakeService["Service"]) {
    const patches: ReadonlyArray<PunchPatch> = [
      { hourly_wage: yield* Random.choice(wages) },
      { notes: yield* Random.choice(notes) },
      { approved: true }
    ]
    const patch = yield* Random.choice(patches)
    yield* service.edit([(yield* Random.choice(known)).id], patch)
  })

  return Effect.gen(function*() {
    if (known.length === 0) return
    const service = yield* FakeService
    const now = DateTime.formatIso(yield* service.now)
    const draw = yield* Random.next
    if (draw < 0.3) return yield* clockIn(service, now)
    if (draw < 0.5) return yield* service.edit(open.splice(0, 1).map(({ id }) => id), { clocked_out: now })
    if (draw < 0.8) return yield* edit(service)
    if (draw >= 0.95) return yield* service.edit(deleted.splice(0, 1).map(({ id }) => id), { deleted: false })
    const punch = yield* Random.choice(known)
    deleted.push(punch)
    yield* service.edit([punch.id], { deleted: true })
  }).pipe(Effect.orDie)
}
