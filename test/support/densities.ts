/** Generated punches whose clock-ins spread otherwise than by working hours, or whose instants have one notation. */
import type { Prng } from "../../src/testing/base/prng.ts"
import { day, formatInstant, sampleForm } from "../../src/testing/base/wireDate.ts"
import type { StoredPunch } from "../../src/testing/base/WirePunch.ts"
import {
  type GenerateOptions,
  makeMoments,
  makeNotations,
  makePunches,
  type Moments,
  tied,
  type Writer
} from "../../src/testing/generate/punches.ts"

/**
 * How clock-ins spread over a span: `uniform` evenly, `dayAndNight` by usual working hours, `skewed` mostly near the
 * end, `bursts` in a few seconds with many punches each.
 */
export type Density = "uniform" | "dayAndNight" | "skewed" | "bursts"

export const densities = ["uniform", "dayAndNight", "skewed", "bursts"] as const satisfies ReadonlyArray<Density>

/** Draws clock-ins of a density. */
export const momentsOf = (random: Prng, from: number, days: number, density: Density): Moments => {
  if (density === "dayAndNight") return makeMoments(random, from, days)
  const span = Math.max(1, Math.floor(days * day))
  const bursts = Array.from({ length: 12 }, () => Math.floor(random.next() * span))
  const fresh = {
    uniform: () => Math.floor(random.next() * span),
    skewed: () => Math.floor((1 - random.next() ** 3) * span),
    bursts: () => (bursts[random.between(0, bursts.length - 1)] ?? 0) + random.between(0, 3) * 1000
  } satisfies Record<Exclude<Density, "dayAndNight">, () => number>
  return tied(random, from, days, fresh[density])
}

/** Writes instants as the sample of the spec does; those with milliseconds show them. */
const sampleWriter = (): Writer => (epoch) =>
  formatInstant(epoch, epoch % 1000 === 0 ? sampleForm : { ...sampleForm, fraction: 3 })

type SpreadOptions = GenerateOptions & { readonly density?: Density | undefined }

const spread = ({ density = "dayAndNight" }: SpreadOptions) => (random: Prng, from: number, days: number) =>
  momentsOf(random, from, days, density)

/** Punches of a density, with every notation of their instants. */
export const generateSpread = (options: SpreadOptions): ReadonlyArray<StoredPunch> =>
  makePunches(options, spread(options), makeNotations)

/** Punches of a density, with the notation of the spec's sample only. */
export const generatePlain = (options: SpreadOptions): ReadonlyArray<StoredPunch> =>
  makePunches(options, spread(options), sampleWriter)
