/** Many streams in one process: a thousand that run at once, and ten thousand that wait for their consumer. */
import { called, type Case, compare, rowOf } from "../measure.ts"
import { atMost, number, range, type Section, type Setting, table } from "../report.ts"

const lean = "**effect-time-punches**, `NodeTransport`"

const cases: ReadonlyArray<Case> = [
  { name: "raw undici, `json()`, no validation", client: "raw.ts#json" },
  { name: lean, client: "lean.ts#lean" },
  { name: "**effect-time-punches**, core's undici layer", client: "ours.ts#undici" }
]

const streams = 1000
const idle = 10_000

export const manyStreams = ({ quick, url }: Setting): Section => {
  const rows = compare(quick ? cases.slice(0, 2) : cases, {
    target: `${url}/two`,
    punches: 400,
    atOnce: streams,
    warmup: 1,
    times: 1,
    samples: quick ? 1 : 3
  })
  const { timers } = called<{ readonly timers: number }>("clients/idle.ts", "idle", {
    url: `${url}/small`,
    streams: idle
  })
  return {
    name: "streams",
    text: `${
      table(
        ["a thousand streams of two pages, other scripts", "cpu µs a page", "peak RSS MB", "× raw cpu", "quartiles"],
        rows.map((row) => [
          row.name,
          number(row.cpu * 200, 0),
          number(row.peakRssMb, 0),
          number(row.cpuRatio),
          range(row.cpuRange)
        ])
      )
    }\n\nTen thousand streams that have read a page and wait for their consumer keep ${timers} timers alive.`,
    targets: [
      atMost("1 000 streams at once over `NodeTransport`, × raw cpu", 1.25, rowOf(rows, lean).cpuRatio),
      atMost("live timers of 10 000 idle streams", 100, timers, { digits: 0 })
    ]
  }
}
