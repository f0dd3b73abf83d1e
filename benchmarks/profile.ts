/** Where the time of a page goes: a client lists 5 000 pages under the engine's profiler. */
import { Session } from "node:inspector/promises"
import { open } from "./sample.ts"

/** The owner of a frame, by its file, or by its name for frames of the engine; the first match wins. */
const groups: ReadonlyArray<readonly [what: string, frame: RegExp]> = [
  ["`effect` and its undici client", /node_modules\/(effect|@effect)\//],
  ["undici", /node_modules\/undici\/|wasm/],
  ["`JSON.parse`", /dist\/internal\/http\/body\.js/],
  ["bytes to text", /internal\/encoding|node:buffer|decodeUTF8|utf8Slice|latin1Slice/],
  ["decoding", /dist\/internal\/wire\//],
  ["the transport of this library", /dist\/node\//],
  ["this library, all else", /\/dist\//],
  ["garbage collection", /^\(garbage collector\)/],
  ["waiting for the server", /^\(idle\)/],
  ["Node: sockets, timers, promises", /^/]
]

const times = 10

/** Microseconds of each page by owner, the largest first. */
export const profile = async ({ client, url }: { readonly client: string; readonly url: string }) => {
  const list = await open(client, url)
  for (let i = 0; i < 3; i++) await list()
  const session = new Session()
  session.connect()
  await session.post("Profiler.enable")
  await session.post("Profiler.setSamplingInterval", { interval: 200 })
  await session.post("Profiler.start")
  let punches = 0
  for (let i = 0; i < times; i++) punches += await list()
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
  return [...spent].map(([what, us]) => [what, us / (punches / 200)] as const).toSorted(([, a], [, b]) => b - a)
}
