/** Where the time of a page goes: `node benchmarks/profile.ts` lists 5 000 pages under the engine's profiler. */
import { Session } from "node:inspector/promises"
import { ours, undici } from "./endToEnd.ts"
import { number, table } from "./report.ts"
import { served } from "./served.ts"

/** The owner of a frame, by its file, or by its name for frames of the engine; the first match wins. */
const groups: ReadonlyArray<readonly [what: string, frame: RegExp]> = [
  ["JSON.parse", /src\/internal\/body\.ts/],
  ["bytes to text", /internal\/encoding|decodeUTF8/],
  ["decoding", /src\/internal\/(decoder|instant|utc)\.ts/],
  ["this library, all else", /\/src\//],
  ["garbage collection", /^\(garbage collector\)/],
  ["waiting for the server", /^\(idle\)/],
  ["effect and its undici client", /node_modules\/(effect|@effect)\//],
  ["undici", /node_modules\/undici\/|wasm/],
  ["Node: sockets, timers, promises", /^/]
]

const pages = 500
const times = 10

const rows = await served([pages], async (url) => {
  const list = ours(url, undici, 0)
  for (let i = 0; i < 3; i++) await list()
  const session = new Session()
  session.connect()
  await session.post("Profiler.enable")
  await session.post("Profiler.setSamplingInterval", { interval: 200 })
  await session.post("Profiler.start")
  for (let i = 0; i < times; i++) await list()
  const { profile } = await session.post("Profiler.stop")
  const groupOf = new Map(profile.nodes.map(({ callFrame, id }) => {
    const frame = callFrame.url === "" ? callFrame.functionName : callFrame.url
    return [id, groups.find(([, pattern]) => pattern.test(frame))?.[0] ?? frame] as const
  }))
  const spent = new Map<string, number>()
  for (const [i, id] of (profile.samples ?? []).entries()) {
    const group = groupOf.get(id) ?? ""
    spent.set(group, (spent.get(group) ?? 0) + (profile.timeDeltas?.[i] ?? 0))
  }
  return [...spent].toSorted(([, a], [, b]) => b - a)
})

process.stdout.write(
  `${table(["a page over undici", "µs"], rows.map(([what, us]) => [what, number(us / pages / times, 0)]))}\n`
)
process.exit(0)
