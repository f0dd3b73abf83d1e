/** Weeks of work as a company has them, from a seed: people, shifts, approvals, a few mistakes. */
import { prng } from "../base/prng.ts"
import { day, makeZones, parseDate } from "../base/wireDate.ts"
import type { StoredPunch } from "../base/WirePunch.ts"
import { type Draft, recordPunches } from "./clocked.ts"
import { makePeople } from "./people.ts"
import { shiftsOfWeek } from "./shifts.ts"

interface WeeksOptionsBase {
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

/**
 * What to generate. All options but `companyId` have a default.
 *
 * @since 0.1.0
 */
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
 * and so on. A larger `count` gives the same punches and more. Deleted punches, about one in sixty, come on top.
 *
 * For punches with everything that a client must survive, use `generatePunches`. Throws a `RangeError` when `from` is not a
 * date or `people` not a whole number from 1.
 *
 * @since 0.1.0
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

const minute = 60_000

/** The instant of a local time; both in milliseconds, the local one as if it were UTC. */
const makeEpochs = () => {
  const { wallAt } = makeZones()
  return (wall: number, timeZone: string): number => {
    const near = wall - (wallAt(wall, timeZone) - wall)
    return wall - (wallAt(near, timeZone) - near)
  }
}

/** The first drafts, up to so many that are not deleted. */
const untilListed = (drafts: ReadonlyArray<Draft>, count: number): ReadonlyArray<Draft> => {
  let end = 0
  for (let listed = 0; end < drafts.length && listed < count; end++) {
    if (drafts[end]?.shift.deleted === false) listed += 1
  }
  return drafts.slice(0, end)
}
