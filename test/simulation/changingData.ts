/** Inserts, changes and removes rows during a listing, and checks what the client promises then. */
import { Effect, Result } from "effect"
import { type Prng, prng } from "../../src/testing/base/prng.ts"
import { defaultCompany, FakeService, generatePunches, type StoredPunch } from "../../src/testing/index.ts"
import type { ServiceHooks } from "./memory.ts"
import type { Plan } from "./plan.ts"
import { type Broken, broken, type Outcome } from "./run.ts"
import { idOf, isSame } from "./verdict.ts"

/** Rows to insert. They get new ids, between those that exist. */
const newcomers = generatePunches({ seed: 898, count: 100, companyId: defaultCompany.id, deletedShare: 0.2 })

/** The changes to a service: every version of each row, and the ids of the rows that changed. */
export interface Change extends ServiceHooks {
  readonly versions: ReadonlyMap<number, ReadonlyArray<StoredPunch>>
  readonly touched: ReadonlySet<number>
}

const edited = (random: Prng, punch: StoredPunch): StoredPunch => {
  const other = newcomers[random.between(0, newcomers.length - 1)] ?? punch
  return random.pick<StoredPunch>([
    { ...punch, notes: other.notes, tips: punch.tips + 1 },
    { ...punch, approved: !punch.approved, modified: other.modified },
    { ...punch, deleted: !(punch.deleted ?? false), modified: other.modified },
    { ...punch, clocked_in: other.clocked_in, clocked_out: other.clocked_out },
    { ...other, id: punch.id }
  ])
}

/** Changes rows of a plan before some of its requests. */
export const makeChange = (plan: Plan): Change => {
  const random = prng(plan.seed + 2)
  const share = random.pick([0.2, 0.5, 1])
  const present = new Map(plan.punches.map((punch) => [punch.id, punch]))
  const versions = new Map(plan.punches.map((punch) => [punch.id, [punch]]))
  const touched = new Set<number>()
  const highest = Math.max(1000, ...present.keys())

  const put = (service: FakeService["Service"], punch: StoredPunch) => {
    touched.add(punch.id)
    present.set(punch.id, punch)
    versions.set(punch.id, [...versions.get(punch.id) ?? [], punch])
    return service.seed([punch])
  }
  const insert = (service: FakeService["Service"]) => {
    const id = random.between(900, highest + 20)
    const punch = newcomers[random.between(0, newcomers.length - 1)]
    return punch === undefined || versions.has(id) ? Effect.void : put(service, { ...punch, id })
  }
  const one = (service: FakeService["Service"]) => {
    const punch = [...present.values()][random.between(0, present.size - 1)]
    if (punch === undefined || random.chance(0.3)) return insert(service)
    if (random.chance(0.5)) return put(service, edited(random, punch))
    touched.add(punch.id)
    present.delete(punch.id)
    return service.remove([punch.id])
  }

  return {
    versions,
    touched,
    // At least half of the rows stay untouched: the promise is about those.
    beforeRequest: FakeService.use((service) =>
      random.chance(share) && touched.size < plan.punches.length / 2
        ? Effect.forEach(Array.from({ length: random.between(1, 3) }), () => one(service), { discard: true })
        : Effect.void
    )
  }
}

/** Fails unless every untouched row came, in its order, and every row that came had existed in that form. */
export const judgeChange = (
  plan: Plan,
  { touched, versions }: Change,
  { ends, rows }: Outcome
): Effect.Effect<void, Broken> => {
  const unreadable = new Set(rows.filter(Result.isFailure).map(idOf))
  const due = plan.due.filter(({ atEnd, punch }) => !touched.has(punch.id) && (!atEnd || unreadable.has(punch.id)))
  const came = new Set(rows.map(idOf))
  const lost = due.find(({ punch }) => !came.has(punch.id))
  if (lost !== undefined)
    return broken(`punch ${lost.punch.id} was never touched and never emitted, after ${ends.join(", ")}`)
  const alien = rows.find((row) => !(versions.get(idOf(row) ?? -1) ?? []).some((punch) => isSame(row, punch)))
  if (alien !== undefined)
    return broken(`punch ${idOf(alien)} was emitted with values it never had, after ${ends.join(", ")}`)
  const order = [...new Set(rows.map(idOf).filter((id) => id !== undefined && !touched.has(id)))]
  return order.every((id, index) => id === due[index]?.punch.id) && order.length === due.length
    ? Effect.void
    : broken(`the untouched rows were emitted as ${order.join(" ")}, after ${ends.join(", ")}`)
}
