/** The notations of generated instants: each one that a real service has used. */
import type { Prng } from "../base/prng.ts"
import { formatInstant, type InstantForm, sampleForm } from "../base/wireDate.ts"

const forms: readonly [InstantForm, ...ReadonlyArray<InstantForm>] = [
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

const plain: InstantForm = { ...sampleForm, fraction: 3 }

/** A formatter of milliseconds since 1970. It keeps every digit: an instant with milliseconds always shows them. */
export const makeForms = (random: Prng, all: boolean): (epoch: number) => string => (epoch) => {
  const form = all ? random.pick(forms) : sampleForm
  if (epoch % 1000 === 0 || form.fraction >= 3) return formatInstant(epoch, form)
  return formatInstant(epoch, all ? { ...form, fraction: 3 } : plain)
}
