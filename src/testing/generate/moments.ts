/** The clock-ins of generated punches: four densities, each with ties. */
import type { Prng } from "../base/prng.ts"
import { day } from "../base/wireDate.ts"

/**
 * How clock-ins spread over a span: `uniform` evenly, `dayAndNight` by usual working hours, `skewed` mostly near the
 * end, `bursts` in a few seconds with many punches each.
 *
 * @since 0.1.0
 */
export type Density = "uniform" | "dayAndNight" | "skewed" | "bursts"

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

/**
 * Draws clock-ins, each for the UTC offset of a location in minutes: milliseconds since 1970, always inside the span.
 * 15% of the draws repeat the previous instant.
 */
export const makeMoments = (
  random: Prng,
  from: number,
  days: number,
  density: Density
): (offset: number) => number => {
  const span = Math.max(1, Math.floor(days * day))
  const bursts = Array.from({ length: 12 }, () => Math.floor(random.next() * span))
  let previous = from

  const fresh = (offset: number) => {
    switch (density) {
      case "uniform":
        return Math.floor(random.next() * span)
      case "skewed":
        return Math.floor((1 - random.next() ** 3) * span)
      case "bursts":
        return (bursts[random.between(0, bursts.length - 1)] ?? 0) + random.between(0, 3) * 1000
      case "dayAndNight": {
        const midnight = Math.floor(random.next() * Math.max(1, days)) * day
        return midnight + hourOf(random) * hour + Math.floor(random.next() * hour) - offset * 60_000
      }
    }
  }

  return (offset) => {
    if (random.chance(0.15)) return previous
    const drawn = Math.min(Math.max(fresh(offset), 0), span - 1)
    // Clocks round: most punches are on a minute or a second, a few have milliseconds.
    const grain = random.pick([1, 1000, 1000, 60_000, 60_000, 300_000])
    previous = from + drawn - (drawn % grain)
    return previous
  }
}
