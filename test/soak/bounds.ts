/**
 * How long the soak takes, from the environment: `SOAK_MINUTES` bounds each series of plans, `SOAK_KILLS` the kills of each
 * store. A series that is bounded is not judged by what it met.
 */
import { Duration } from "effect"

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

/** Seeds until the time is over. It limits the number of plans and never stops one. */
export const within = function*(limit: Duration.Input, seeds: Iterable<number>): Generator<number> {
  const most = Duration.min(Duration.fromInputUnsafe(limit), Duration.minutes(minutes ?? Infinity))
  const end = performance.now() + Duration.toMillis(most)
  for (const seed of seeds) {
    if (performance.now() > end) return
    yield seed
  }
}
