/** Punches from a seed with everything that a client must survive: open, deleted, tied, in every notation, odd notes. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { type Prng, prng } from "../base/prng.ts"
import { day, formatInstant, type InstantForm, parseInstant, sampleForm } from "../base/wireDate.ts"
import { approvalStatuses, type StoredPunch, type WireBreak, type WireFlag } from "../base/WirePunch.ts"
import { locations } from "./people.ts"

/** What to generate. All options but `count` and `companyId` have a default. */
export interface GenerateOptions {
  /** Seed of the draws, an integer; the same seed gives the same punches. Default: 1. */
  readonly seed?: number | undefined
  /** Number of punches. */
  readonly count: number
  /** Company of all punches. */
  readonly companyId: number
  /** Ids are larger than this one and grow with gaps; ranges of two companies should not overlap. Default: 1000. */
  readonly firstId?: number | undefined
  /** Begin of the span, an ISO 8601 instant. Default: `2026-03-01T00:00:00Z`; clock changes follow within 35 days. */
  readonly from?: string | undefined
  /** Length of the span in days. Default: 35. */
  readonly days?: number | undefined
  /** Share of open punches, 0 to 1. Default: 0.03. */
  readonly openShare?: number | undefined
  /** Share of deleted punches, 0 to 1. Default: 0.04. */
  readonly deletedShare?: number | undefined
  /** Number of users. Default: 40. */
  readonly users?: number | undefined
}

/**
 * Generates punches in the order of their ids, which is not the order of their clock-ins. Most are clocked in by usual
 * working hours, and 15% of the clock-ins repeat the one before; instants have every notation that a real service has
 * used. One break in eight is deleted. Throws a `RangeError` when `from` is not an ISO 8601 instant.
 */
export const generatePunches = (options: GenerateOptions): ReadonlyArray<StoredPunch> =>
  makePunches(options, makeMoments, makeNotations)

/** Writes an instant of milliseconds since 1970. */
export type Writer = (epoch: number) => string

/** Draws clock-ins, each for the UTC offset of a location in minutes: milliseconds since 1970, always inside the span. */
export type Moments = (offset: number) => number

/** The generator, for any spread of the clock-ins and any notation of the instants. */
export const makePunches = (
  options: GenerateOptions,
  momentsOf: (random: Prng, from: number, days: number) => Moments,
  writerOf: (random: Prng) => Writer
): ReadonlyArray<StoredPunch> => {
  const random = prng(options.seed ?? 1)
  const start = parseInstant(options.from ?? "2026-03-01T00:00:00Z")
  if (start === undefined) throw new RangeError("generatePunches: `from` is not an ISO 8601 instant")
  const moments = momentsOf(random, start.epoch, options.days ?? 35)
  const write = writerOf(random)
  const users = options.users ?? 40
  const openShare = options.openShare ?? 0.03
  const deletedShare = options.deletedShare ?? 0.04
  const punches: Array<StoredPunch> = []
  let id = options.firstId ?? 1000
  let breakId = id * 10

  const breaksOf = (userId: number, from: number, to: number | undefined): ReadonlyArray<WireBreak> => {
    const breaks: Array<WireBreak> = []
    const count = random.between(0, 2)
    for (let index = 0; index < count; index++) {
      breakId += random.between(1, 3)
      const begin = from + random.between(30, 180) * 60_000 * (index + 1)
      const end = begin + random.between(5, 45) * 60_000
      // An open punch may have an open break; breaks of a closed punch end inside it.
      if (to !== undefined && end >= to) break
      const open = to === undefined && index === count - 1 && random.chance(0.4)
      breaks.push({
        id: breakId,
        user_id: userId,
        custom_break_id: random.chance(0.1) ? 0 : random.between(1, 5),
        paid: random.chance(0.4),
        in: write(begin),
        out: open ? null : write(end),
        ...markOf(breakId)
      })
    }
    return breaks
  }

  for (let index = 0; index < options.count; index++) {
    id += random.chance(0.9) ? 1 : random.between(2, 9)
    const location = random.pick(locations)
    const userId = 500 + random.between(1, users)
    const clockedIn = moments(location.offset)
    const open = random.chance(openShare)
    // Real data has punches of length zero, without a wage.
    const empty = random.chance(0.01)
    const clockedOut = open ? undefined : clockedIn + (empty ? 0 : random.between(15, 14 * 60) * 60_000)
    const created = random.chance(0.03) ? undefined : clockedIn + random.between(0, 90) * 1000
    const modified = random.chance(0.03) ? undefined : (clockedOut ?? clockedIn) + random.between(0, 30 * 86_400) * 1000
    const autoClockedOut = !open && random.chance(0.05)
    const deleted = random.chance(deletedShare)
    punches.push({
      id,
      shift_id: random.chance(0.2) ? 0 : 70_000 + random.between(1, 5000),
      user_id: userId,
      editable_punch: random.chance(0.9),
      role_id: random.pick(roles),
      company_id: options.companyId,
      location_id: location.id,
      ...departmentOf(random),
      hourly_wage: empty && !open ? 0 : random.pick(wages),
      approved: random.chance(0.5),
      clocked_in: write(clockedIn),
      clocked_out: clockedOut === undefined ? null : write(clockedOut),
      notes: random.chance(0.8) ? "" : random.pick(notes),
      auto_clocked_out: autoClockedOut,
      clocked_in_offline: random.chance(0.03),
      clocked_out_offline: random.chance(0.03),
      tips: random.chance(0.6) ? 0 : random.between(-500, 12_000),
      ...sourceOf(random),
      ...(random.chance(0.15) ? {} : { breaks: breaksOf(userId, clockedIn, clockedOut) }),
      created: created === undefined ? null : write(created),
      modified: modified === undefined ? null : write(modified),
      ...(deleted ? { deleted } : random.chance(0.3) ? {} : { deleted }),
      employeeApprovalStatus: random.pick(approvalStatuses),
      flags: flagsOf(random, autoClockedOut),
      timeZone: location.timeZone
    })
  }
  return punches
}

const seeds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 31 - 1 }))

/**
 * Lists of at most `maxCount` valid punches of a company, with unique ids; they shrink to shorter lists.
 * For `it.effect.prop`, or any other user of `effect/Arbitrary`.
 */
export const arbitraryPunches = (
  options: Omit<GenerateOptions, "seed" | "count"> & {
    /** Largest number of punches. Default: 20. */
    readonly maxCount?: number | undefined
  }
): Arbitrary.Arbitrary<ReadonlyArray<StoredPunch>> => {
  const { maxCount = 20, ...shape } = options
  const counts = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxCount }))
  return Arbitrary.map(
    Arbitrary.all({ seed: Arbitrary.schema(seeds), count: Arbitrary.schema(counts) }),
    // A schema draws `-0`; adding 0 makes it 0.
    ({ count, seed }) => generatePunches({ ...shape, seed: seed + 0, count: count + 0 })
  )
}

const roles = [11, 12, 13, 14, 15] as const
const wages = [1200, 1450, 1550, 1875, 2100, 3325] as const
const departments = [21, 22, 23, 24] as const

const notes = [
  "Covered the late shift",
  "Left early, see manager",
  "🧑‍🍳 split shift 🎉",
  "בדיקה של משמרת ערב",
  "نسيت تسجيل الخروج",
  "she said \"ten more minutes\"\nand stayed an hour",
  "=SUM(A1:A9), not a formula",
  "tab\there, slash \\ and a null \u0000 byte",
  "naïve café façade"
] as const

/** `department_id` as an id, and in every form of "none". */
const departmentOf = (random: Prng): { readonly department_id?: number | null } => {
  const draw = random.next()
  if (draw < 0.6) return { department_id: random.pick(departments) }
  if (draw < 0.75) return { department_id: 0 }
  return draw < 0.9 ? { department_id: null } : {}
}

/** Whether a break is deleted, in every form of the wire. By its id: a draw would change all that follows. */
const markOf = (breakId: number): Pick<WireBreak, "deleted"> => {
  if (breakId % 8 === 0) return { deleted: true }
  return [{ deleted: false }, { deleted: null }, {}][breakId % 3] ?? {}
}

const sourceOf = (random: Prng): { readonly pos_type?: string | null } => {
  const draw = random.next()
  if (draw < 0.6) return { pos_type: "web" }
  if (draw < 0.75) return { pos_type: "till" }
  return draw < 0.88 ? { pos_type: null } : {}
}

const flagsOf = (random: Prng, autoClockedOut: boolean): ReadonlyArray<WireFlag> => {
  const flags: Array<WireFlag> = []
  if (random.chance(0.1)) flags.push("late")
  if (autoClockedOut) flags.push("auto_clocked_out")
  if (random.chance(0.06)) flags.push("missed_break")
  return flags
}

const hour = 3_600_000

/** Relative number of clock-ins by local hour: none from 1 to 4, peaks at 7, 11 and 16. */
const hours = [1, 0, 0, 0, 0, 2, 8, 14, 9, 5, 6, 11, 7, 3, 3, 6, 12, 8, 4, 2, 1, 1, 2, 2] as const
const hoursTotal = hours.reduce<number>((sum, share) => sum + share, 0)

const hourOf = (random: Prng) => {
  let draw = random.next() * hoursTotal
  for (const [index, share] of hours.entries()) {
    draw -= share
    if (draw < 0) return index
  }
  return hours.length - 1
}

/** Clock-ins by usual working hours. */
export const makeMoments = (random: Prng, from: number, days: number): Moments => {
  // Twelve draws are skipped, so that a seed gives the punches that it always gave.
  for (let skipped = 0; skipped < 12; skipped++) random.next()
  return tied(random, from, days, (offset) => {
    const midnight = Math.floor(random.next() * Math.max(1, days)) * day
    return midnight + hourOf(random) * hour + Math.floor(random.next() * hour) - offset * 60_000
  })
}

/** Moments inside a span from `fresh` ones, which count from its begin: some repeat, and most are on a minute or a second. */
export const tied = (random: Prng, from: number, days: number, fresh: Moments): Moments => {
  const last = Math.max(1, Math.floor(days * day)) - 1
  let previous = from
  return (offset) => {
    if (random.chance(0.15)) return previous
    const drawn = Math.min(Math.max(fresh(offset), 0), last)
    // Clocks round; a few punches have milliseconds.
    const grain = random.pick([1, 1000, 1000, 60_000, 60_000, 300_000])
    previous = from + drawn - (drawn % grain)
    return previous
  }
}

const notations: readonly [InstantForm, ...ReadonlyArray<InstantForm>] = [
  sampleForm,
  { offset: 0, zone: "Z", fraction: 0 },
  { offset: 0, zone: "+0000", fraction: 0 },
  { offset: 0, zone: "Z", fraction: 3 },
  { offset: -300, zone: "+00:00", fraction: 0 },
  { offset: 330, zone: "+00:00", fraction: 3 },
  { offset: 120, zone: "+0000", fraction: 1 },
  { offset: 0, zone: "+00:00", fraction: 6 },
  { offset: 0, zone: "Z", fraction: 9 }
]

/** Every notation that a real service has used. It keeps every digit: an instant with milliseconds shows them. */
export const makeNotations = (random: Prng): Writer => (epoch) => {
  const form = random.pick(notations)
  return formatInstant(epoch, epoch % 1000 === 0 || form.fraction >= 3 ? form : { ...form, fraction: 3 })
}
