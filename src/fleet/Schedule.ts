/** When a company is synced next: the grid of its interval, and the backoff after a failure. All times are in milliseconds. Pure. */
import { dayMillis } from "../internal/wire/instant.ts"

/**
 * The place of a company within an interval, in milliseconds. It depends on the company alone, so the companies of a fleet
 * are spread over the interval, and stay where they are.
 */
export const slotOf = (company: number, every: number): number => Math.floor(hash(company) / 2 ** 32 * every)

/** The first slot of a company after `now`. All are in milliseconds. */
export const nextSlot = (company: number, every: number, now: number): number => {
  const since = (now - slotOf(company, every)) % every
  return now + every - (since < 0 ? since + every : since)
}

/** Mixes all 53 bits of an id into 32: neighbours are far apart. */
const hash = (id: number): number => {
  let mixed = (id % 2 ** 32) ^ Math.imul(Math.floor(id / 2 ** 32), 0x9e3779b1)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/** The longest wait after failures, in milliseconds. */
const longestBackoff = 6 * 3_600_000

/** The longest wait that a service may ask for, in milliseconds: a company that sleeps for years is as good as removed. */
export const longestWait = dayMillis

/**
 * The wait after a failure, in milliseconds: drawn evenly from 0 to `every` × 2^`failures`, at most 6 hours. `failures` counts
 * those before this one; `random` is from 0 to 1.
 */
export const backoff = (every: number, failures: number, random: number): number =>
  Math.floor(Math.min(every * 2 ** Math.min(failures, 64), longestBackoff) * random)
