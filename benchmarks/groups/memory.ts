/** A million punches in one stream, each client in a separate process. */
import { called, median } from "../measure.ts"
import { atMost, number, type Section, type Setting, table } from "../report.ts"
import type { Sample } from "../sample.ts"

/** It has no target: one process is enough. */
const floor = "raw.ts#json"

const lean = ["**effect-time-punches**, `NodeTransport`", "lean.ts#lean"] as const

const others = [
  ["**effect-time-punches**, core's undici layer", "ours.ts#undici"],
  ["raw undici, `json()`, no validation", floor]
] as const

export const memory = ({ pages, quick, url }: Setting): Section => {
  const clients = quick ? [lean] : [lean, ...others]
  const rows = clients.map(([name, client]) => {
    const punches = pages * 200
    const options = { client, target: `${url}/scripts`, punches, warmup: 0, times: 1_000_000 / punches, heap: true }
    const samples = Array.from(
      { length: quick || client === floor ? 1 : 3 },
      () => called<Sample>("sample.ts", "sample", options)
    )
    const of = (what: keyof Sample) => median(samples.map((sample) => sample[what]))
    return {
      name,
      // A microsecond for each of a million punches is a second for all.
      seconds: of("wall"),
      peak: of("peakRssMb"),
      early: of("heapEarlyMb"),
      end: of("heapEndMb")
    }
  })
  const [own, undici] = rows
  return {
    name: "memory",
    text: table(
      ["a million punches, other scripts", "seconds", "peak RSS MB", "live heap early MB", "live heap at the end MB"],
      rows.map((row) => [
        row.name,
        number(row.seconds, 1),
        number(row.peak, 0),
        number(row.early, 1),
        number(row.end, 1)
      ])
    ),
    targets: [
      atMost("a million punches over `NodeTransport`, peak RSS MB", 250, own?.peak ?? NaN, { digits: 0 }),
      ...(undici === undefined
        ? []
        : [atMost("a million punches over core's undici layer, peak RSS MB", 350, undici.peak, { digits: 0 })]),
      atMost("a million punches, growth of the live heap MB", 2, (own?.end ?? NaN) - (own?.early ?? NaN), {
        digits: 1,
        beyond: 5
      })
    ]
  }
}
