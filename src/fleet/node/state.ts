/** What a runner has in work, and what its loops tell each other. */
import type * as Fiber from "effect/Fiber"
import type { Company } from "../../Company.ts"
import type { Versions } from "../../listing/version.ts"
import type { SyncSummary } from "../../sync/SyncOptions.ts"
import type { SyncStore } from "../../sync/SyncStore.ts"
import type { TimePunches } from "../../TimePunches.ts"
import type { Settings } from "../Settings.ts"
import type { Claim } from "../store/claims.ts"
import type { FleetStore } from "../store/FleetStore.ts"
import type { Trouble } from "../store/keeping.ts"

/** What a runner stands on. */
export interface RunnerBase {
  readonly store: FleetStore
  readonly settings: Settings
  /** The name of the runner in the rows that it holds. */
  readonly name: string
  /** The shards that are its own now; `undefined` if the fleet has one process. */
  readonly mine: () => ReadonlyArray<number> | undefined
  /** The settings that all processes share, as the database keeps them. */
  readonly shared: string
}

/** What brought a company into work: its schedule, a suspicion, or a pause that is tried. */
export type Kind = "ordinary" | "suspect" | "probe"

/** A company in work. */
export interface Turn {
  readonly claim: Claim
  readonly kind: Kind
  /** Nothing else may run in this process. */
  readonly isAlone: boolean
  isPaged: boolean
  /** Its end is being written, so a heartbeat that misses it means nothing. */
  isEnding: boolean
  /** It is given back as it was: the service does not answer this process. */
  isGivenBack: boolean
  /** When it began, by `elapsed`. */
  readonly beganAt: number
  /** Another turn holds the company: nothing may be written. */
  isLost: boolean
  fiber: Fiber.Fiber<void> | undefined
  pages: number
  rows: number
  /** The pass that it was at last. */
  at: SyncSummary["kind"] | undefined
}

/** What the loops and the turns of a runner share. */
export interface RunnerState {
  readonly turns: Map<number, Turn>
  isDraining: boolean
  /** Whether a pause holds that a probe may end. The search for suspects reads it too: a statement less for an idle fleet. */
  isPaused: boolean
  /** One ordinary claim comes between two suspects. */
  mustClaim: boolean
  /** Whether the last claim found as many as it could take. The next one then begins when there is room for half of the most. */
  isFull: boolean
  isClosing: boolean
  /** Whether the database knows when this process started. */
  isNoted: boolean
  /** Another process has its name: what is noted under it is no longer its own. */
  hasLostName: boolean
  /** Why this process leaves companies to others; `undefined`: it does not. */
  trouble: Trouble | undefined
  /** A turn has shown a trouble that nothing has said yet: of several turns that end at once, one has it said. */
  isTroubleNew: boolean
  /** Turns in a row that did not reach the service. */
  failedInRow: number
  /** Turns in a row that failed for any reason. */
  failedTurns: number
  /** When the log last said that all turns fail, by `elapsed`. */
  saidOfAllAt: number
  /** When the log last said why a company fails, by `elapsed`. Without companies that have succeeded since. */
  readonly saidOf: Map<number, number>
  /** When the service last sent a page, by `elapsed`. */
  heardAt: number
  /** The company whose listing shows whether the trouble is over. */
  askFor: Company | undefined
  /** By `elapsed`, as all below. */
  closingSince: number
  probedAt: number
  /** When the leases were held last. */
  beatenAt: number
  /** When companies were claimed last, or none was due. */
  claimedAt: number
  /** When a claim was last tried, whatever came of it. */
  triedAt: number
  /** Versions of the interface that were warned of. */
  readonly versions: Versions
}

export const initialState = (): RunnerState => ({
  turns: new Map(),
  isDraining: false,
  isPaused: false,
  mustClaim: false,
  isFull: false,
  isClosing: false,
  isNoted: false,
  hasLostName: false,
  trouble: undefined,
  isTroubleNew: false,
  failedInRow: 0,
  failedTurns: 0,
  saidOfAllAt: -Infinity,
  saidOf: new Map(),
  heardAt: -Infinity,
  askFor: undefined,
  closingSince: -Infinity,
  probedAt: -Infinity,
  beatenAt: -Infinity,
  claimedAt: -Infinity,
  // Before the first claim the process waits for its database, and asks again each second.
  triedAt: Infinity,
  versions: new Map()
})

/** Whether a suspect, which nothing else may run beside, is in work here. */
export const isAlone = ({ turns }: RunnerState): boolean => [...turns.values()].some((turn) => turn.isAlone)

/** A runner with the services of its turns. */
export interface TurnBase extends RunnerBase {
  readonly state: RunnerState
  readonly syncStore: SyncStore["Service"]
  readonly punches: TimePunches["Service"]
}
