/** START HERE. Weeks of work as a company has them, from a seed: people, shifts, approvals, a few mistakes. */
import { type Prng, prng } from "../base/prng.ts"
import { day, formatInstant, makeZones, parseDate, sampleForm } from "../base/wireDate.ts"
import { plainPunch, type StoredPunch, type WireBreak } from "../base/WirePunch.ts"
import { makePeople, type Person } from "./people.ts"
import { type Shift, shiftsOfWeek } from "./shifts.ts"

/** What both forms of `WeeksOptions` have. */
export interface WeeksOptionsBase {
  /** Seed of the draws, an integer; the same seed gives the same punches. Default: 1. */
  readonly seed?: number | undefined
  /** Company of all punches. */
  readonly companyId: number
  /** Ids are larger than this one and grow with the clock-in; ranges of two companies should not overlap. Default: 1000. */
  readonly firstId?: number | undefined
  /** First day of the first week, at each location by its own clock. Default: `2026-03-02`, a Monday. */
  readonly from?: string | undefined
  /** Number of people, a whole number from 1. Default: 40. */
  readonly people?: number | undefined
  /**
   * Share of the punches, 0 to 1, that a payroll person must look at: open, clocked out far too late, clocked twice, not
   * approved, disputed, without a wage. Default: 0.05.
   */
  readonly problems?: number | undefined
}

/** What to generate. All options but `companyId` have a default. */
export type WeeksOptions =
  & WeeksOptionsBase
  & (
    | {
      /** Number of weeks. Default: 4. */
      readonly weeks?: number | undefined
      /** Not with `weeks`. */
      readonly count?: undefined
    }
    | {
      /** Number of punches that are not deleted: what a listing has by default. They take as many weeks as they need. */
      readonly count: number
      /** Not with `count`. */
      readonly weeks?: undefined
    }
  )

/**
 * Generates weeks of work in the order of the clock-ins: about 35 hours for each person, in one or two punches on each of
 * five days, clocked by the minute. Locations 301, 302 and 303 are in New York, Los Angeles and Berlin; users are 501, 502
 * and so on. A larger `count` gives the same punches and more. Deleted punches, about one in sixty, come on top, and deleted
 * breaks, about one in forty.
 *
 * For punches with everything that a client must survive, use `generatePunches`. Throws a `RangeError` when `from` is not a
 * date or `people` not a whole number from 1.
 */
export const generateWeeks = (options: WeeksOptions): ReadonlyArray<StoredPunch> => {
  const random = prng(options.seed ?? 1)
  const from = parseDate(options.from ?? "2026-03-02")
  if (from === undefined) throw new RangeError("generateWeeks: `from` is not a date such as 2026-03-02")
  const headcount = options.people ?? 40
  if (!Number.isInteger(headcount) || headcount < 1) {
    throw new RangeError("generateWeeks: `people` is not a whole number from 1")
  }
  const people = makePeople(random, headcount)
  const epochAt = makeEpochs()
  const drafts: Array<Draft> = []
  let listed = 0

  const addWeek = (week: number) => {
    for (const person of people) {
      for (const shift of shiftsOfWeek(random, person, options.problems ?? 0.05)) {
        const wall = (from + 7 * week + shift.day) * day + shift.begin * minute
        drafts.push({ clockedIn: epochAt(wall, person.location.timeZone), person, shift })
        if (!shift.deleted) listed += 1
      }
    }
  }

  if (options.count === undefined) {
    for (let week = 0; week < (options.weeks ?? 4); week++) addWeek(week)
  } else {
    // A week begins in Berlin while the last one is not over in Los Angeles, so the week after the last one is needed too.
    for (let week = 0, before = -1; before < options.count; week++) {
      before = listed
      addWeek(week)
    }
  }
  drafts.sort((a, b) => a.clockedIn - b.clockedIn)
  const chosen = options.count === undefined ? drafts : untilListed(drafts, options.count)
  // Its own draws, in the order of the clock-ins: they do not depend on how many weeks were drawn.
  return recordPunches(prng(~(options.seed ?? 1)), chosen, options.companyId, options.firstId ?? 1000)
}

/** The instant of a local time; both in milliseconds, the local one as if it were UTC. */
const makeEpochs = () => {
  const { wallAt } = makeZones()
  return (wall: number, timeZone: string): number => {
    const near = wall - (wallAt(wall, timeZone) - wall)
    return wall - (wallAt(near, timeZone) - near)
  }
}

/** The first drafts, until `count` of them are not deleted. */
const untilListed = (drafts: ReadonlyArray<Draft>, count: number): ReadonlyArray<Draft> => {
  let end = 0
  for (let listed = 0; end < drafts.length && listed < count; end++) {
    if (drafts[end]?.shift.deleted === false) listed += 1
  }
  return drafts.slice(0, end)
}

/** A punch without ids. */
interface Draft {
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
const recordPunches = (
  random: Prng,
  drafts: ReadonlyArray<Draft>,
  companyId: number,
  firstId: number
): ReadonlyArray<StoredPunch> => {
  let breakId = firstId * 10
  let shiftId = 70_000

  const breaksOf = ({ clockedIn, person, shift }: Draft): ReadonlyArray<WireBreak> =>
    shift.rests.flatMap(({ from, paid, to }) => {
      const breakOf = (from: number, to: number, paid: boolean, deleted: boolean): WireBreak => ({
        id: ++breakId,
        user_id: person.userId,
        custom_break_id: paid ? 2 : 1,
        paid,
        in: write(clockedIn + from * minute),
        out: write(clockedIn + to * minute),
        deleted
      })
      // By its id: a draw would change all that follows.
      const isMistaken = breakId % 40 === 0
      return [...isMistaken ? [breakOf(from - 20, from - 8, false, true)] : [], breakOf(from, to, paid, false)]
    })

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
      hourly_wage: problem === "zeroWage" ? 0 : person.wage,
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
