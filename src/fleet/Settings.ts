/** The settings of a fleet with their defaults. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { InvalidRequest } from "../ApiError.ts"
import { dayMillis } from "../internal/wire/instant.ts"
import { durationOf } from "../internal/wire/retryOptions.ts"
import { checkOptions, invalid } from "../listing/request.ts"

/** The longest of all durations of a fleet, in days: sums with the clock stay instants that every database and `Date` hold. */
const mostDays = 36_525

/** Reads a duration in whole milliseconds, from `least` to 36,525 days; `undefined`: it is none, or not among these. */
export const readMillis = (input: Duration.Input, least: number): number | undefined => {
  const millis = Option.getOrElse(Option.map(durationOf(input), Duration.toMillis), () => NaN)
  return millis >= least && millis <= mostDays * dayMillis ? Math.round(millis) : undefined
}

/** What `readMillis` reads; it completes "must be …". */
export const durationForm = (least: string): string => `a duration from ${least} to ${mostDays} days`

/** How a fleet works. Each setting has a default; each duration is at most 36,525 days. */
export interface FleetSettings {
  /** Companies that one process syncs at once. Default 32. */
  readonly maxConcurrentSyncs: number
  /** Pages of a company that are stored before it lets others go first. Default 50. */
  readonly pagesPerTurn: number
  /** The time after which a company lets others go first. Three minutes later the turn is ended, as a failure. Default 10 minutes. */
  readonly turnDeadline: Duration.Input
  /**
   * The time after which another process takes the companies of one that died. It is the same for all processes of a
   * fleet: the first one stores it. At least 10 seconds, which is the default.
   */
  readonly takeover: Duration.Input
  /** How late a company is when another process than its own may take it. Default 2 seconds. */
  readonly helpAfter: Duration.Input
  /** Turns that are kept of each company, for `Fleet.turns`. Default 50. */
  readonly keepTurns: number
  /** Days for which replaced versions of a history are kept, from 1 to 36,525. Default: for ever. */
  readonly historyDays: number | undefined
  /** How often a window of clock-ins is compared with the service. Default 1 day. */
  readonly sweepEvery: Duration.Input
  /** The window of clock-ins that such a sweep compares, up to now. Default 35 days. */
  readonly sweepWindow: Duration.Input
  /** How often all clock-ins are compared. 0: never. Default 30 days. */
  readonly fullSweepEvery: Duration.Input
  /**
   * Whether all companies have one credential. A refused one then pauses the fleet; with `perCompany` it blocks its company.
   * Default `shared`.
   */
  readonly credentials: "shared" | "perCompany"
}

/** The settings if none are given. */
export const defaultSettings: FleetSettings = {
  maxConcurrentSyncs: 32,
  pagesPerTurn: 50,
  turnDeadline: Duration.minutes(10),
  takeover: Duration.seconds(10),
  helpAfter: Duration.seconds(2),
  keepTurns: 50,
  historyDays: undefined,
  sweepEvery: Duration.days(1),
  sweepWindow: Duration.days(35),
  fullSweepEvery: Duration.days(30),
  credentials: "shared"
}

/** The settings that a caller gives. An `undefined` counts as absent. */
export type FleetOptions = { readonly [K in keyof FleetSettings]?: FleetSettings[K] | undefined }

/** The settings with every duration in milliseconds. */
export type Settings = {
  readonly [K in keyof FleetSettings]: K extends Durations ? number : FleetSettings[K]
}

type Durations = {
  [K in keyof FleetSettings]: Duration.Input extends FleetSettings[K] ? K : never
}[keyof FleetSettings]

/** Fails with the first setting that is invalid, and what it must be. */
export const readSettings = (
  given: FleetOptions,
  /** The least `takeover`, in milliseconds: less than 10 seconds only in tests. */
  leastTakeover = 10_000
): Result.Result<Settings, InvalidRequest> =>
  Result.gen(function*() {
    yield* checkOptions(undefined, given, defaultSettings)
    const { credentials = defaultSettings.credentials, historyDays } = given
    const count = (name: "maxConcurrentSyncs" | "pagesPerTurn" | "keepTurns", least: number) => {
      const value = given[name] ?? defaultSettings[name]
      return Number.isSafeInteger(value) && value >= least
        ? Result.succeed(value)
        : invalid(undefined, name, `must be a whole number of at least ${least}`)
    }
    const millis = (name: Durations, least: number, words: string) => {
      const read = readMillis(given[name] ?? defaultSettings[name], least)
      return read === undefined ? invalid(undefined, name, `must be ${durationForm(words)}`) : Result.succeed(read)
    }
    if (historyDays !== undefined && !(Number.isInteger(historyDays) && historyDays >= 1 && historyDays <= mostDays)) {
      return yield* invalid(undefined, "historyDays", `must be a whole number from 1 to ${mostDays}`)
    }
    if (credentials !== "shared" && credentials !== "perCompany") {
      return yield* invalid(undefined, "credentials", `must be "shared" or "perCompany"`)
    }
    return {
      maxConcurrentSyncs: yield* count("maxConcurrentSyncs", 1),
      pagesPerTurn: yield* count("pagesPerTurn", 1),
      turnDeadline: yield* millis("turnDeadline", 1000, "1 second"),
      takeover: yield* millis("takeover", leastTakeover, `${leastTakeover / 1000} seconds`),
      helpAfter: yield* millis("helpAfter", 0, "0"),
      keepTurns: yield* count("keepTurns", 1),
      historyDays,
      sweepEvery: yield* millis("sweepEvery", 1000, "1 second"),
      sweepWindow: yield* millis("sweepWindow", 1000, "1 second"),
      fullSweepEvery: yield* millis("fullSweepEvery", 0, "0"),
      credentials
    }
  })
