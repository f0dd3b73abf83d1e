/**
 * How many processes that list are slow or large, with and without the flags of V8 that the benchmarks set:
 * `node benchmarks/speeds.ts [--processes=40] [--pages=500] [--client=lean.ts#lean] [--flags="--single-threaded-gc"]`. Each process
 * lists all pages four times, the first time unmeasured; the order is shuffled in each round. `--client` and `--flags` may be
 * repeated; the first client is the one that the others are compared with, under the same flags. Empty flags are Node as it starts.
 */
import { parseArgs } from "node:util"
import { called, largeOf, median, quantile, shuffled, v8Flags } from "./measure.ts"
import { number, table } from "./report.ts"
import type { Collections, Sample } from "./sample.ts"
import { served } from "./served.ts"

const { values } = parseArgs({
  options: {
    processes: { type: "string", default: "40" },
    pages: { type: "string", default: "500" },
    client: { type: "string", multiple: true, default: ["raw.ts#json", "decoded.ts#dispatch", "lean.ts#lean"] },
    flags: { type: "string", multiple: true, default: ["", v8Flags.join(" ")] }
  }
})

type Process = Sample & Collections

const pages = Number(values.pages)

const cases = values.flags.flatMap((flags) =>
  values.client.map((client) => ({ client, flags, processes: Array.of<Process>() }))
)

await served(pages, async (url) => {
  for (let round = 0; round < Number(values.processes); round++) {
    for (const { client, flags, processes } of shuffled(cases, round)) {
      const options = { client, target: `${url}/ascii`, punches: pages * 200, warmup: 1, times: 3 }
      processes.push(called<Process>("sample.ts", "collected", options, flags.split(" ").filter((flag) => flag !== "")))
    }
  }
})

const rowOf = ({ client, flags, processes }: (typeof cases)[number]) => {
  const of = (what: keyof Process, all = processes) => all.map((one) => one[what])
  const floor = median(of("cpu", cases.find((one) => one.flags === flags)?.processes))
  const spread = (values: ReadonlyArray<number>, digits = 0) =>
    [0.5, 0.9, 1].map((part) => number(quantile(values, part), digits)).join(" · ")
  return [
    `${client} ${flags}`.trim(),
    spread(of("cpu").map((cpu) => cpu * 200)),
    spread(of("cpu").map((cpu) => cpu / floor), 2),
    spread(of("peakRssMb")),
    `${largeOf(of("peakRssMb"))} of ${processes.length}`,
    spread(of("minor")),
    spread(of("major")),
    spread(of("keptMb")),
    spread(of("newSpaceMb"))
  ]
}

process.stdout.write(
  `median · nine of ten · most\n\n${
    table(
      ["", "cpu µs", "× first", "peak RSS MB", "large", "minor", "major", "moved to old MB", "new space MB"],
      cases.map(rowOf)
    )
  }\n`
)
