/**
 * `npm run bench`: the library and its peers in one run; writes docs/performance.md and its chart.
 * `npm run bench:quick`: only the floors, no peers; fails if a ratio is far beyond its target.
 */
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { backfill } from "./backfill.ts"
import { decode } from "./decode.ts"
import { endToEnd } from "./endToEnd.ts"
import { floorName } from "./floor.ts"
import type { MemoryRow } from "./memory.ts"
import { machine, number, table, type Target, writeChart, writeSections } from "./report.ts"
import { served } from "./served.ts"
import { tokens } from "./tokens.ts"

const quick = process.argv.includes("--quick")
const pages = quick ? 60 : 500
const own = "effect-time-punches"
const show = (title: string, text: string) => process.stdout.write(`\n${title}\n\n${text}\n`)

const peers = quick
  ? { decode: [], paging: [] }
  : {
    decode: (await import("./peersDecode.ts")).decodePeers,
    paging: (await import("./peersPaging.ts")).pagingPeers
  }

const decodeRows = await decode(peers.decode, { rounds: quick ? 9 : 25 })
const decodeTable = table(
  ["one page of 200 punches", "ns a punch", "× JSON.parse", "bytes a punch"],
  decodeRows.map((row) => [row.name, number(row.nsPerPunch, 0), number(row.ratio), number(row.bytesPerPunch, 0)])
)
show("Decode", decodeTable)

const endRows = await served([pages], (url) => endToEnd(url, pages, peers.paging, { rounds: quick ? 7 : 15 }))
const endTable = table(
  [`${pages} pages of 200 punches`, "µs a page", "× raw undici"],
  endRows.map((row) => [row.name, number(row.usPerPage, 0), number(row.ratio)])
)
show("End to end", endTable)

const backfillRows = await backfill(quick ? { count: 30_000, workers: [8] } : {})
const backfillTable = table(
  ["density", "order", "windows at once", "× the cursor chain", "requests, × those of the chain"],
  backfillRows.map((row) => [row.density, row.order, row.workers, number(row.speedup), number(row.requests)])
)
show("Backfill behind 80 ms, in virtual time", backfillTable)

const tokenRow = await tokens(quick ? 200_000 : 1_000_000)
show(
  "Token cache",
  `warm get ${
    number(tokenRow.nsPerGet, 0)
  } ns; ${tokenRow.requestsOfTenThousandColdFibers} request for 10 000 cold fibers`
)

const ratioOf = (rows: ReadonlyArray<{ readonly name: string; readonly ratio: number }>, start: string): number =>
  rows.find((row) => row.name.startsWith(start))?.ratio ?? NaN

const decodeRatio = ratioOf(decodeRows, own)
const endRatio = ratioOf(endRows, `${own}, undici, defaults`)
const slowest = (workers: number) =>
  Math.min(...backfillRows.filter((row) => row.workers === workers).map((row) => row.speedup))

if (quick) {
  const limits: ReadonlyArray<readonly [what: string, measured: number, worst: number]> = [
    ["decode, × JSON.parse", decodeRatio, 2.6],
    ["end to end, × raw undici", endRatio, 3],
    ["backfill with 8 windows, one over its speedup", 1 / slowest(8), 1 / 3],
    ["warm token, µs", tokenRow.nsPerGet / 1000, 5]
  ]
  const broken = limits.filter(([, measured, worst]) => !(measured <= worst))
  for (const [what, measured, worst] of limits) show(what, `${number(measured)} (at most ${number(worst)})`)
  process.exit(broken.length === 0 ? 0 : 1)
}

const memoryOf = (script: string): Promise<MemoryRow> =>
  served([500], async (url) =>
    JSON.parse(
      execFileSync(process.execPath, ["--expose-gc", join(import.meta.dirname, script), url, "10"], {
        encoding: "utf8"
      })
    ))
const memory = await memoryOf("memoryOwn.ts")
const memoryTable = table(
  ["a million punches", "seconds", "peak RSS MB", "live heap early MB", "live heap at the end MB"],
  [await memoryOf("memoryFloor.ts"), memory].map((row) => [
    row.name,
    number(row.seconds, 1),
    number(row.peakRssMb, 0),
    number(row.heapEarlyMb, 1),
    number(row.heapEndMb, 1)
  ])
)
show("Memory", memoryTable)

const { imports, parts, sizes } = await (await import("./size.ts")).size()
const sizeTable = table(
  ["minified and gzipped, bytes", "esbuild", "rolldown"],
  sizes.map((row) => [row.what, number(row.esbuild, 0), number(row.rolldown, 0)])
)
const partTable = table(
  ["of the worker app, minified and gzipped, bytes", "esbuild"],
  parts.map((row) => [row.what, number(row.bytes, 0)])
)
show("Size", `${sizeTable}\n\n${partTable}`)

const sizeOf = (start: string) => sizes.find((row) => row.what.startsWith(start)) ?? { esbuild: NaN, rolldown: NaN }
const bytesRatio = (decodeRows.find((row) => row.name === own)?.bytesPerPunch ?? NaN) /
  (decodeRows.find((row) => row.name.startsWith("JSON.parse"))?.bytesPerPunch ?? NaN)
const requestsOf8 = Math.max(...backfillRows.filter((row) => row.workers === 8).map((row) => row.requests))
const against = (rows: typeof decodeRows | typeof endRows, start: string, base: number) => ratioOf(rows, start) / base

const target = (what: string, wanted: string, value: number, met: boolean, digits = 2): Target => ({
  what,
  target: wanted,
  measured: number(value, digits),
  met
})
const upTo = (what: string, limit: number, value: number, digits = 2) =>
  target(what, `≤ ${limit}`, value, value <= limit, digits)
const from = (what: string, limit: number, value: number, digits = 2) =>
  target(what, `≥ ${limit}`, value, value >= limit, digits)

const targets: ReadonlyArray<Target> = [
  upTo("decode, × JSON.parse", 1.3, decodeRatio),
  from("decode, times faster than zod 4", 2.3, against(decodeRows, "zod", decodeRatio)),
  upTo("decode, × the bytes of JSON.parse", 2.3, bytesRatio),
  upTo("end to end over undici, × raw undici without validation", 1.5, endRatio),
  from("openapi-fetch with zod, × ours", 1.7, against(endRows, "openapi-fetch with zod", endRatio)),
  from("Azure mapper and paging, × ours", 3.5, against(endRows, "Azure", endRatio)),
  from("backfill with 8 windows, whatever the density and order", 6, slowest(8)),
  from("backfill with 16 windows, whatever the density and order", 11, slowest(16)),
  upTo("backfill with 8 windows, requests × the chain's", 1.25, requestsOf8),
  upTo("a million punches, peak RSS MB", 350, memory.peakRssMb, 0),
  upTo("a million punches, growth of the live heap MB", 2, memory.heapEndMb - memory.heapEarlyMb, 1),
  upTo("warm token, ns", 1000, tokenRow.nsPerGet, 0),
  upTo("requests for 10 000 fibers on a cold token", 1, tokenRow.requestsOfTenThousandColdFibers, 0),
  upTo(
    "main entry in a worker app without effect, bytes (rolldown)",
    15_000,
    sizeOf("worker app, effect left out").rolldown,
    0
  ),
  upTo("worker app with effect, bytes (esbuild)", 60_000, sizeOf("worker app, effect included").esbuild, 0),
  upTo("import on top of effect's, ms", 5, imports.ours, 1)
]
const targetTable = table(
  ["target", "wanted", "measured", "met"],
  targets.map((row) => [row.what, row.target, row.measured, row.met ? "yes" : "**no**"])
)
show("Targets", targetTable)

await writeSections({
  machine: `Measured with \`npm run bench\`: ${machine()}.`,
  targets: targetTable,
  decode: decodeTable,
  "end-to-end": endTable,
  backfill: backfillTable,
  memory: memoryTable,
  tokens: `A warm \`get\` takes ${
    number(tokenRow.nsPerGet, 0)
  } ns; 10 000 fibers on a cold cache cost ${tokenRow.requestsOfTenThousandColdFibers} request.`,
  size: `${sizeTable}\n\n${partTable}\n\nImporting what the library needs of \`effect\` takes ${
    number(imports.effect, 0)
  } ms, the library on top ${number(imports.ours, 1)} ms, and ${number(imports.oneFile, 1)} ms as one file.`
})
await writeChart([
  {
    title: "Decode one page, as a multiple of JSON.parse (shorter is faster)",
    bars: decodeRows.map(({ name, ratio }) => ({ name, value: ratio, own: name === own }))
  },
  {
    title: "List 100 000 punches, as a multiple of raw undici without validation",
    bars: endRows.map(({ name, ratio }) => ({
      name: name === floorName ? "raw undici" : name,
      value: ratio,
      own: name.startsWith(own)
    }))
  }
])
process.exit(0)
