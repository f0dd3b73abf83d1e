/**
 * Compares this build with another one in the same process, in pairs of random order, so that the noise of the machine
 * meets both: `node benchmarks/pairs.ts FOLDER [GROUP…] [--pairs=100] [--pages=50] [--rounds=1]`. FOLDER is the root of the
 * other build; `npm run build` must have run in both. A group is one of `listing`, `undici`, `decode`, `backfill`, `sql`,
 * `export`; without any, all are compared. Prints the ratio of this build to the other within a pair: median, quartiles,
 * and the 95 % interval of the median.
 */
import { createRequire } from "node:module"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { collectSteadily } from "../src/cli/garbage.ts"
import { prng } from "../src/testing/base/prng.ts"
import { bodies } from "./data.ts"
import { median, quartile, shuffled } from "./measure.ts"
import { served } from "./served.ts"

const { positionals: [folder, ...names], values: { pages, pairs, rounds } } = parseArgs({
  allowPositionals: true,
  options: {
    pages: { type: "string", default: "50" },
    pairs: { type: "string", default: "100" },
    rounds: { type: "string", default: "1" }
  }
})

collectSteadily()

/** Pages of one run: few keep a run within one slice of a busy processor, many have all of the collector in each run. */
const listedPages = Number(pages)

const companyId = 4021
const pageSize = 200

/** A build: its own modules, and those of `effect` that it runs on. */
interface Build {
  readonly Effect: typeof import("effect/Effect")
  readonly HttpClient: typeof import("effect/http/HttpClient")
  readonly HttpClientResponse: typeof import("effect/http/HttpClientResponse")
  readonly Layer: typeof import("effect/Layer")
  readonly ManagedRuntime: typeof import("effect/ManagedRuntime")
  readonly Redacted: typeof import("effect/Redacted")
  readonly Result: typeof import("effect/Result")
  readonly Stream: typeof import("effect/Stream")
  readonly DateTime: typeof import("effect/DateTime")
  readonly NodeHttpClient: typeof import("@effect/platform-node/NodeHttpClient")
  readonly client: typeof import("../dist/index.js")
  readonly rows: typeof import("../dist/listing/rows.js")
  readonly node: typeof import("../dist/node/index.js")
  readonly exports: typeof import("../dist/export/index.js")
  readonly sync: typeof import("../dist/sync/index.js")
  readonly sql: typeof import("../dist/sql/index.js")
  readonly sqlite: typeof import("../dist/sql/node/index.js")
}

const load = async (folder: string): Promise<Build> => {
  const { resolve } = createRequire(join(folder, "package.json"))
  const own = (path: string) => import(join(folder, "dist", path))
  const core = (path: string) => import(resolve(path))
  return {
    Effect: await core("effect/Effect"),
    HttpClient: await core("effect/http/HttpClient"),
    HttpClientResponse: await core("effect/http/HttpClientResponse"),
    Layer: await core("effect/Layer"),
    ManagedRuntime: await core("effect/ManagedRuntime"),
    Redacted: await core("effect/Redacted"),
    Result: await core("effect/Result"),
    Stream: await core("effect/Stream"),
    DateTime: await core("effect/DateTime"),
    NodeHttpClient: await core("@effect/platform-node/NodeHttpClient"),
    client: await own("index.js"),
    rows: await own("listing/rows.js"),
    node: await own("node/index.js"),
    exports: await own("export/index.js"),
    sync: await own("sync/index.js"),
    sql: await own("sql/index.js"),
    sqlite: await own("sql/node/index.js")
  }
}

/** One piece of work, and the number of punches that it saw. */
type Work = () => Promise<number>

type Transport = import("effect/Layer").Layer<import("effect/http/HttpClient").HttpClient, unknown>

const app = ({ client, Layer, Redacted }: Build, baseUrl: string, transport: Transport) =>
  client.TimePunches.layer.pipe(
    Layer.provide(client.Credentials.layerAccessToken(Redacted.make("token"))),
    Layer.provide(client.Endpoints.layer({ baseUrl })),
    Layer.provide(transport)
  )

const listing = (build: Build, url: string, transport: Transport): Work => {
  const { client, Effect, ManagedRuntime, Stream } = build
  const runtime = ManagedRuntime.make(app(build, `${url}/ascii`, transport))
  return async () => {
    let seen = 0
    await runtime.runPromise(
      client.TimePunches.list(client.CompanyId.make(companyId)).pipe(
        Stream.runForEachArray((punches) =>
          Effect.sync(() => {
            for (const punch of punches) if (punch.id >= 0) seen++
          })
        )
      )
    )
    return seen
  }
}

const texts = bodies(10, "ascii")

const decode = ({ client, Result, rows }: Build): Work => {
  const id = client.CompanyId.make(companyId)
  return () =>
    Promise.resolve(
      texts.reduce((seen, text) => seen + Result.getOrThrow(rows.decodePunches(JSON.parse(text), id)).rows.length, 0)
    )
}

interface Clocked {
  readonly at: number
  readonly json: string
}

/** The rows of fifty pages by their clock-in, each as JSON. */
const clocked: ReadonlyArray<Clocked> = bodies(listedPages, "ascii")
  .flatMap((body): ReadonlyArray<{ readonly clocked_in: string }> => JSON.parse(body).data)
  .map((row) => ({ at: Date.parse(row.clocked_in), json: JSON.stringify(row) }))
  .toSorted((a, b) => a.at - b.at)

/** The page of a window, in memory; a cursor is the index of its first row within the window. */
const pageOf = (search: URLSearchParams): string => {
  const [gte, lte] = [search.get("clocked_in[gte]"), search.get("clocked_in[lte]")].map((text) =>
    Date.parse(text ?? "")
  )
  const within = clocked.filter(({ at }) => at >= (gte ?? 0) && at <= (lte ?? 0))
  const rows = search.get("sort_by") === "clocked_in.desc" ? within.toReversed() : within
  const from = Number(search.get("cursor") ?? 0)
  const page = rows.slice(from, from + pageSize)
  const next = from + pageSize < rows.length ? `"${from + pageSize}"` : "null"
  const cursor = `{"current":null,"prev":null,"next":${next},"count":${page.length}}`
  return `{"object":"time_punches","data":[${page.map(({ json }) => json).join()}],"meta":{"cursor":${cursor}}}`
}

const backfill = (build: Build): Work => {
  const { client, DateTime, Effect, HttpClient, HttpClientResponse, Layer, ManagedRuntime, Stream } = build
  const transport = Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request, url) =>
      Effect.sync(() =>
        HttpClientResponse.fromWeb(
          request,
          new Response(pageOf(url.searchParams), { headers: { "content-type": "application/json" } })
        )
      )
    )
  )
  const runtime = ManagedRuntime.make(app(build, "http://localhost", transport))
  const clockedIn = {
    gte: DateTime.makeUnsafe(clocked[0]?.at ?? 0),
    lte: DateTime.makeUnsafe(clocked.at(-1)?.at ?? 0)
  }
  const punches = client.TimePunches.backfill(client.CompanyId.make(companyId), { clockedIn }, { concurrency: 8 })
  return () => runtime.runPromise(Stream.runCount(punches))
}

/** A first load of fifty pages into SQLite in memory. */
const sql = (build: Build, url: string): Work => {
  const { client, Effect, Layer, ManagedRuntime, node, sql, sqlite, sync } = build
  const service = ManagedRuntime.make(app(build, `${url}/ascii`, node.NodeTransport.layer()))
  const run = Effect.map(sync.Sync.run(client.CompanyId.make(companyId)), ({ written }) => written)
  return () => {
    const store = sql.SqlStore.layer().pipe(Layer.provide(sqlite.NodeSqlite.layer({ filename: ":memory:" })))
    return service.runPromise(Effect.provide(run, store))
  }
}

const exporting = ({ client, Effect, exports, Result, rows, Stream }: Build): Work => {
  const id = client.CompanyId.make(companyId)
  const pages = texts.map((text) => Result.getOrThrow(rows.decodePunches(JSON.parse(text), id)).rows)
  const punches = Stream.flatMap(Stream.fromIterable(pages), (page) => Stream.fromIterable(page))
  return async () => {
    await Effect.runPromise(Stream.runDrain(exports.Ndjson.encode(punches)))
    await Effect.runPromise(Stream.runDrain(exports.Csv.encode(punches)))
    return texts.length * pageSize
  }
}

const groups: { readonly [name: string]: (build: Build, url: string) => Work } = {
  listing: (build, url) => listing(build, url, build.node.NodeTransport.layer()),
  undici: (build, url) => listing(build, url, build.NodeHttpClient.layerUndici),
  decode,
  backfill,
  sql,
  export: exporting
}

interface Sample {
  readonly cpu: number
  readonly wall: number
}

const measured = async (work: Work, punches: number): Promise<Sample> => {
  const [cpu, start] = [process.cpuUsage(), process.hrtime.bigint()]
  const seen = await work()
  const wall = Number(process.hrtime.bigint() - start) / 1000
  const { system, user } = process.cpuUsage(cpu)
  if (seen !== punches) throw new Error(`a run saw ${seen} punches of ${punches}`)
  return { cpu: user + system, wall }
}

const warmup = 15

const ratiosOf = async (ours: Work, other: Work, pairs: number, seed: number) => {
  const punches = await other()
  for (let i = 0; i < warmup; i++) {
    await measured(ours, punches)
    await measured(other, punches)
  }
  const seeds = prng(seed)
  const ratios: Array<Sample> = []
  const page: Array<number> = []
  for (let i = 0; i < pairs; i++) {
    const samples = new Map<Work, Sample>()
    for (const work of shuffled([ours, other], Math.floor(seeds.next() * 2 ** 31))) {
      samples.set(work, await measured(work, punches))
    }
    const [own, its] = [samples.get(ours), samples.get(other)]
    if (own === undefined || its === undefined) continue
    ratios.push({ cpu: own.cpu / its.cpu, wall: own.wall / its.wall })
    page.push(own.cpu / (punches / pageSize))
  }
  return { ratios, page: median(page) }
}

/** The interval that holds the median of the population in 95 of 100 cases, by the ranks of the sample. */
const interval = (values: ReadonlyArray<number>): readonly [number, number] => {
  const sorted = values.toSorted((a, b) => a - b)
  const reach = 0.98 * Math.sqrt(sorted.length)
  const at = (rank: number) => sorted[Math.min(Math.max(Math.round(rank), 0), sorted.length - 1)] ?? NaN
  return [at(sorted.length / 2 - reach - 1), at(sorted.length / 2 + reach)]
}

const percent = (ratio: number) => `${ratio >= 1 ? "+" : ""}${((ratio - 1) * 100).toFixed(2)} %`

const textOf = (values: ReadonlyArray<number>) => {
  const [low, high] = interval(values)
  return `${percent(median(values))} (95 %: ${percent(low)} to ${percent(high)}; ` +
    `quartiles ${percent(quartile(values, 1))}, ${percent(quartile(values, 3))})`
}

const unknown = names.filter((name) => !Object.hasOwn(groups, name))
if (folder === undefined || unknown.length > 0) {
  throw new Error(`usage: node benchmarks/pairs.ts FOLDER [${Object.keys(groups).join("|")}] [--pairs=100]`)
}

const root = join(import.meta.dirname, "..")

await served(listedPages, async (url) => {
  const [ours, other] = [await load(root), await load(resolve(folder))]
  for (const [name, group] of Object.entries(groups)) {
    if (names.length > 0 && !names.includes(name)) continue
    for (let round = 0; round < Number(rounds); round++) {
      const { page, ratios } = await ratiosOf(group(ours, url), group(other, url), Number(pairs), round + 1)
      process.stdout.write(
        `${name}: ${page.toFixed(0)} µs of cpu a page, ${ratios.length} pairs\n` +
          `  cpu  ${textOf(ratios.map(({ cpu }) => cpu))}\n` +
          `  wall ${textOf(ratios.map(({ wall }) => wall))}\n`
      )
    }
  }
})
process.exit(0)
