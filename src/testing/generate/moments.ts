/** When generated punches begin: four densities, with ties in all of them. */
import type { Prng } from "../base/prng.ts"
import { day } from "../base/wireDate.ts"

/**
 * How clock-ins spread over a span: evenly, by the hours that people work, mostly near the end, or in a few rushes of many
 * punches each.
 *
 * @since 0.1.0
 */
export type Density = "uniform" | "dayAndNight" | "skewed" | "bursts"

const hour = 3_600_000

/** Share of the day's clock-ins by local hour: nobody at four in the morning, a rush at seven, at eleven and at sixteen. */
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
 * The draws of one data set, each for the offset of a place in minutes: milliseconds since 1970, never outside the span.
 * One in seven repeats an instant that was drawn before.
 */
export const makeMoments = (
  random: Prng,
  from: number,
  days: number,
  density: Density
): (offset: number) => number => {
  const span = Math.max(1, Math.floor(days * day))
  const rushes = Array.from({ length: 12 }, () => Math.floor(random.next() * span))
  let previous = from

  const fresh = (offset: number) => {
    switch (density) {
      case "uniform":
        return Math.floor(random.next() * span)
      case "skewed":
        return Math.floor((1 - random.next() ** 3) * span)
      case "bursts":
        return (rushes[random.between(0, rushes.length - 1)] ?? 0) + random.between(0, 3) * 1000
      case "dayAndNight": {
        const midnight = Math.floor(random.next() * Math.max(1, days)) * day
        return midnight + hourOf(random) * hour + Math.floor(random.next() * hour) - offset * 60_000
      }
    }
  }

  return (offset) => {
    if (random.chance(0.15)) return previous
    const drawn = Math.min(Math.max(fresh(offset), 0), span - 1)
    // Clocks round: most punches fall on a minute or on a second, a few carry milliseconds.
    const grain = random.pick([1, 1000, 1000, 60_000, 60_000, 300_000])
    previous = from + drawn - (drawn % grain)
    return previous
  }
}
