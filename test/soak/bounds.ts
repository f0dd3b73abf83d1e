/**
 * How long the soak takes, from the environment: `SOAK_MINUTES` bounds each series of plans and each part of the fleet's,
 * `SOAK_KILLS` the kills of each store, `SOAK_COMPANIES` is the size of the fleet, `SOAK_SEED` its storm. A series that is
 * bounded is not judged by what it met.
 */
import { Duration } from "effect"
import { within as withinTime } from "../support/series.ts"

/** A number above 0 of the environment; anything else fails, where a typing error would mean an hour. */
const numberOf = (name: string): number | undefined => {
  const text = process.env[name]
  if (text === undefined) return undefined
  const value = Number(text)
  if (!(value > 0)) throw new Error(`${name} must be a number above 0`)
  return value
}

const minutes = numberOf("SOAK_MINUTES")

/** Whether the environment bounds the series. */
export const isBounded: boolean = minutes !== undefined

/** Kills of the processes of each store. */
export const kills: number = numberOf("SOAK_KILLS") ?? 200

/** Companies of the fleet. */
export const companies: number = numberOf("SOAK_COMPANIES") ?? 300

/** Of the storm over the fleet: another one for each run. */
export const seed: number = numberOf("SOAK_SEED") ?? 1 + Date.now() % 1_000_000

/** A part of the fleet's soak, in milliseconds. */
export const atMost = (most: Duration.Input): number =>
  Math.min(Duration.toMillis(Duration.fromInputUnsafe(most)), (minutes ?? Infinity) * 60_000)

/** Seeds until the time is over. */
export const within = (limit: Duration.Input, seeds: Iterable<number>): Generator<number> =>
  withinTime(atMost(limit), seeds)
