/**
 * Random punches in the form of the wire with deleted breaks in every form, and what they are worth: counted minute by minute
 * from the rows of the wire. It shares no code with `src`.
 */
import type { Prng } from "../../src/testing/base/prng.ts"
import type { WireBreak, WirePunch } from "../../src/testing/index.ts"
import { servicePunch } from "./wire.ts"

const minute = 60_000

const isoAt = (millis: number) => new Date(millis).toISOString().replace(".000Z", "Z")

/** Closed punches of four people in the week from 2026-03-02; of three breaks two are deleted, or say that they are not. */
export const makeRawPunches = (random: Prng, count: number): ReadonlyArray<WirePunch> =>
  Array.from({ length: count }, (_, at) => {
    const from = Date.parse("2026-03-02T00:00:00Z") + random.between(0, 6 * 24 * 60) * minute
    const length = random.between(60, 600)
    const breaks = Array.from({ length: random.between(0, 4) }, (_, index): WireBreak => {
      const begin = from + random.between(-20, length + 10) * minute
      return {
        id: 10 * at + index + 1,
        user_id: 1,
        custom_break_id: 0,
        paid: random.chance(0.3),
        in: isoAt(begin),
        out: random.chance(0.1) ? null : isoAt(begin + random.between(1, 90) * minute),
        ...random.pick<Pick<WireBreak, "deleted">>([{}, { deleted: null }, { deleted: false }, { deleted: true }, {
          deleted: true
        }])
      }
    })
    return servicePunch({
      id: at + 1,
      user_id: random.between(501, 504),
      hourly_wage: 6000,
      clocked_in: isoAt(from),
      clocked_out: isoAt(from + length * minute),
      deleted: random.chance(0.1),
      breaks
    })
  })

/** Minutes of a punch that are in no unpaid break that took place. */
export const rawMinutes = ({ breaks = [], clocked_in, clocked_out }: WirePunch): number => {
  const end = Date.parse(clocked_out ?? "")
  const unpaid = breaks.filter((each) => each.deleted !== true && !each.paid)
    .map((each) => [Date.parse(each.in), each.out === null ? end : Date.parse(each.out)] as const)
  let minutes = 0
  for (let at = Date.parse(clocked_in); at < end; at += minute) {
    if (!unpaid.some(([from, to]) => from <= at && at < to)) minutes++
  }
  return minutes
}

/** Punches, minutes and breaks by person, of the rows that are not deleted. */
export const rawSums = (
  rows: ReadonlyArray<WirePunch>
): ReadonlyMap<number, readonly [punches: number, minutes: number]> => {
  const sums = new Map<number, readonly [number, number]>()
  for (const row of rows.filter(({ deleted }) => deleted !== true)) {
    const [punches, minutes] = sums.get(row.user_id) ?? [0, 0]
    sums.set(row.user_id, [punches + 1, minutes + rawMinutes(row)])
  }
  return new Map([...sums].toSorted(([one], [other]) => one - other))
}
