/** The punches of shifts in the form of the service: ids, instants, approvals, tips. */
import type { Prng } from "../base/prng.ts"
import { formatInstant, sampleForm } from "../base/wireDate.ts"
import { plainPunch, type StoredPunch, type WireBreak } from "../base/WirePunch.ts"
import type { Person } from "./people.ts"
import type { Shift } from "./shifts.ts"

/** A punch without ids. */
export interface Draft {
  /** Milliseconds since 1970. */
  readonly clockedIn: number
  readonly person: Person
  readonly shift: Shift
}

const second = 1000
const minute = 60 * second

const notes = [
  "Covered the late shift",
  "Inventory",
  "Eingearbeitet von Jürgen",
  "Заменила коллегу",
  "Training 🎓"
] as const

const write = (epoch: number): string => formatInstant(epoch, sampleForm)

/** Gives drafts ids above `firstId`, which grow in their order. */
export const recordPunches = (
  random: Prng,
  drafts: ReadonlyArray<Draft>,
  companyId: number,
  firstId: number
): ReadonlyArray<StoredPunch> => {
  let breakId = firstId * 10
  let shiftId = 70_000

  const breaksOf = ({ clockedIn, person, shift }: Draft): ReadonlyArray<WireBreak> =>
    shift.rests.map(({ from, paid, to }) => ({
      id: ++breakId,
      user_id: person.userId,
      custom_break_id: paid ? 2 : 1,
      paid,
      in: write(clockedIn + from * minute),
      out: write(clockedIn + to * minute)
    }))

  return drafts.map((draft, index): StoredPunch => {
    const { clockedIn, person, shift } = draft
    const { deleted, flags, length, problem } = shift
    const clockedOut = length === undefined ? undefined : clockedIn + length * minute
    const approved = !deleted && clockedOut !== undefined && problem !== "unapproved"
    const created = clockedIn + random.between(0, 20) * second
    // A manager approves or deletes within two days; the service stamps the others when they end.
    const looked = approved || deleted ? random.between(4 * 3600, 44 * 3600) : random.between(0, 20)
    const modified = clockedOut === undefined ? created : clockedOut + looked * second
    return {
      ...plainPunch,
      id: firstId + 1 + index,
      shift_id: random.chance(0.05) ? 0 : ++shiftId,
      user_id: person.userId,
      role_id: person.roleId,
      company_id: companyId,
      location_id: person.location.id,
      department_id: person.departmentId,
      hourly_wage: problem === "noWage" ? 0 : person.wage,
      approved,
      clocked_in: write(clockedIn),
      clocked_out: clockedOut === undefined ? null : write(clockedOut),
      notes: random.chance(0.03) ? random.pick(notes) : "",
      auto_clocked_out: flags.includes("auto_clocked_out"),
      clocked_in_offline: random.chance(0.01),
      clocked_out_offline: clockedOut !== undefined && random.chance(0.005),
      tips: tipsOf(random, draft),
      pos_type: random.chance(0.7) ? "till" : "web",
      breaks: breaksOf(draft),
      created: write(created),
      modified: write(modified),
      deleted,
      employeeApprovalStatus: problem === "disputed" ? "disputed" : random.chance(0.85) ? "approved" : "pending",
      flags,
      timeZone: person.location.timeZone
    }
  })
}

/** Tips by the hour, in steps of a quarter. */
const tipsOf = (random: Prng, { person, shift: { deleted, length = 0, problem } }: Draft): number => {
  const hours = deleted || problem === "forgotten" || !person.tipped ? 0 : length / 60
  return 25 * Math.round(hours * random.between(10, 28))
}
