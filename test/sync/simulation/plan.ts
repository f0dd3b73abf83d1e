/** What goes wrong in a plan: drawn from its seed, several faults at once. */
import { type Prng, prng } from "../../../src/testing/base/prng.ts"

export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute

/** One of a list, or nothing of an empty one. */
export const pickAny = <A>(random: Prng, list: ReadonlyArray<A>): A | undefined =>
  list[Math.floor(random.next() * list.length)]

/** Where a copy is kept. */
export type StoreKind = "memory" | "sqlite"

/** Whether a response has a `Date`. */
export type DateMode = "always" | "never" | "sometimes" | "firstOnly" | "laterOnly"

/** The order in which the service lists where none is requested. */
export type Order = "id" | "idDown" | "clockedIn" | "modified"

export interface Plan {
  readonly seed: number
  readonly store: StoreKind
  readonly rows: number
  readonly pageSize: number
  /** Actions before the quiet. */
  readonly steps: number
  readonly overlap: number
  readonly prefetchPages: number
  /** The most by which a change shows late. */
  readonly lateness: number
  /** The most by which a replica lags; 0 where there is one. */
  readonly replicaLag: number
  /** The most by which the clocks of the service's hosts differ. */
  readonly skew: number
  /** What the overlap has left, for clock differences that are not seen. */
  readonly slack: number
  readonly wholeSeconds: boolean
  readonly sinceIsInclusive: boolean
  readonly order: Order
  readonly cursors: "position" | "record"
  /** Whether the calls ask for the order of ids. */
  readonly sortById: boolean
  /** Whether the service refuses a first page in a given order. */
  readonly refusesOrder: boolean
  /** Whether the service refuses every request for deleted punches and others alike. */
  readonly refusesBoth: boolean
  /** Filters that the service ignores. */
  readonly ignores: ReadonlySet<"since" | "window">
  /** Whether each listing has its own cursor texts. */
  readonly namesWalks: boolean
  /** How long a cursor lives; infinite where it does not die. */
  readonly cursorLife: number
  /** Whether a cursor lives at least as long as the call that it was given to. */
  readonly outlivesCalls: boolean
  readonly refusal: 400 | 404 | 410 | 422 | "first page"
  readonly dates: DateMode
  /** The local clock less the true time, at first. */
  readonly localOffset: number
  /** Stops after so many pages, in a share of the calls before the quiet, and in all calls after it where it is set. */
  readonly quietPages: number | undefined
  /** The kinds of faults that this plan has. */
  readonly faults: ReadonlySet<Fault>
}

const faults = [
  "kill",
  "stop",
  "concurrent",
  "sleeper",
  "claim",
  "sweep",
  "window",
  "hide",
  "forbid",
  "unavailable",
  "hardDelete",
  "undelete",
  "softDelete",
  "nullModified",
  "futureModified",
  "oldModified",
  "editBreak",
  "moveClockIn",
  "serviceBack",
  "serviceForward",
  "localStep",
  "wildDate",
  "cachedDate",
  "lostCursors",
  "cycle",
  "checkpointLost",
  "checkpointPutBack",
  "gap",
  "lateChange",
  "frozenDate",
  "badRow",
  "wrongCount",
  "duplicateRow",
  "reusedId",
  "ignoresFilters",
  "emptyPages",
  "lostCommit",
  "bulk"
] as const

export type Fault = (typeof faults)[number]

const share = (random: Prng, fault: Fault): number => fault === "bulk" ? 0.01 : random.next() * 0.7

export const drawPlan = (seed: number, stores: readonly [StoreKind, ...ReadonlyArray<StoreKind>]): Plan => {
  const random = prng(seed)
  const store = random.pick(stores)
  const few = random.chance(0.3)
  const drawn = new Set(faults.filter((fault) => random.chance(share(random, fault) * (few ? 0.5 : 1))))
  const overlap = random.pick([1, 5, 15, 15, 60] as const) * minute
  const clocks = ["serviceBack", "localStep", "wildDate", "cachedDate"].some((fault) => drawn.has(faultOf(fault)))
  // Sixty seconds of a clock set back are not seen as such; a request lasts three seconds at most.
  const budget = overlap - 2 * second - (clocks ? minute + 8 * second : 4 * second)
  if (budget < 0) {
    for (const fault of ["serviceBack", "localStep", "wildDate", "cachedDate"] as const) drawn.delete(fault)
  }
  const usable = budget < 0 ? overlap - 6 * second : budget
  const skew = random.chance(0.3) ? random.between(0, Math.min(30 * second, Math.floor(usable / 8))) : 0
  const replicaLag = random.chance(0.25) ? random.between(1, Math.floor((usable - 2 * skew) / 3)) : 0
  const lateness = drawn.has("lateChange") ? random.between(1, usable - 2 * skew - replicaLag) : 0
  const slack = usable - 2 * skew - replicaLag - lateness
  const dates = random.pick(
    ["always", "always", "always", "never", "sometimes", "firstOnly", "laterOnly"] as const
  )
  // A `Date` that stands still hides what else becomes of the service's clock: a limit.
  if (drawn.has("frozenDate")) {
    for (const fault of ["serviceBack", "serviceForward", "localStep", "wildDate", "cachedDate"] as const)
      drawn.delete(fault)
  }
  const order = random.pick(["id", "id", "idDown", "clockedIn", "modified"] as const)
  const isBulk = drawn.has("bulk")
  // From a separate sequence: the other draws stay as they were.
  const sides = prng(seed ^ 0x3d4d51cb)
  const refusesBoth = !isBulk && sides.chance(0.3)
  // Rows that change sides while both listings are read.
  if (refusesBoth && sides.chance(0.6)) drawn.add("softDelete").add("undelete")
  // So many rows are there for a sweep that would mark too many of them.
  if (isBulk) drawn.add("hide").add("sweep")
  const hasDates = (dates === "always" || dates === "firstOnly") && !drawn.has("wildDate")
  const hasFuture = drawn.has("futureModified") && !hasDates
  // Without a Date the local clock bounds what a stamp of the future lifts: then it must be right.
  if (hasFuture) drawn.delete("localStep")
  const sortById = random.chance(0.3)
  const refusesOrder = random.chance(0.3)
  const outlivesCalls = drawn.has("lostCursors") && prng(seed ^ 0x2c1b3c6d).chance(0.5)
  // A pass that continues without an order is one over the service's own.
  const isSorted = sortById && !refusesOrder && (outlivesCalls || !drawn.has("lostCursors")) && !drawn.has("cycle")
  const isByRecord = (order === "id" || order === "idDown" || isSorted) && random.chance(0.5)
  const offset = random.pick([0, 0, 1, -1] as const) * random.between(0, 15 * hour)
  const pages = random.chance(0.3) ? random.between(1, 4) : undefined
  return {
    seed,
    store,
    rows: isBulk ? 140 : random.between(0, 6),
    pageSize: isBulk ? 40 : random.between(1, 4),
    steps: random.between(12, 45),
    overlap,
    prefetchPages: random.chance(0.15) ? random.between(1, 3) : 0,
    lateness,
    replicaLag,
    skew,
    slack,
    wholeSeconds: random.chance(0.5),
    sinceIsInclusive: random.chance(0.3),
    order,
    cursors: isByRecord ? "record" : "position",
    sortById,
    refusesOrder,
    refusesBoth,
    ignores: new Set(
      drawn.has("ignoresFilters")
        ? random.pick<ReadonlyArray<"since" | "window">>([["since"], ["window"], ["since", "window"]])
        : []
    ),
    namesWalks: random.chance(0.5),
    cursorLife: drawn.has("lostCursors") ? random.between(1, 20) * (random.chance(0.5) ? second : minute) : Infinity,
    outlivesCalls,
    refusal: random.pick([422, 422, 400, 404, 410, "first page"] as const),
    dates,
    localOffset: hasFuture ? 0 : offset,
    quietPages: pages,
    faults: drawn
  }
}

const faultOf = (name: string): Fault => {
  const found = faults.find((fault) => fault === name)
  if (found === undefined) throw new Error(`there is no fault ${name}`)
  return found
}

/** The plan as one line, to repeat it. */
export const describePlan = (plan: Plan): string =>
  JSON.stringify({ ...plan, faults: [...plan.faults], ignores: [...plan.ignores] })
