/**
 * A feed: how fast the state and the changes of a copy are read, beside listing the copy; what a look costs, and ten events in a
 * large copy; and what the index of the feed costs a first load with a history, in pairs with and without it.
 * `node --conditions=effect-time-punches:source benchmarks/feed.ts [--rows=200000] [--large=1000000] [--pairs=12]`.
 */
import { Effect, Exit, Layer, ManagedRuntime, Scope, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { type FeedPosition, PunchCopy } from "../src/sql/index.ts"
import { cluster, hasPostgres } from "../test/support/postgres.ts"
import { median, quartile } from "./measure.ts"
import { number, table } from "./report.ts"
import { company, fileClient, makePages, own, pgClient } from "./syncCases.ts"

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "200000" },
    large: { type: "string", default: "1000000" },
    pairs: { type: "string", default: "12" }
  }
})

const pageSize = 200

type Client = typeof fileClient

const millis = async (run: () => Promise<unknown>): Promise<number> => {
  const start = process.hrtime.bigint()
  await run()
  return Number(process.hrtime.bigint() - start) / 1e6
}

/** The load of `own` ends no pass; the history is known since its first commit. */
const known = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE time_punches_sync SET known_since = history_since`
})

const read = async (client: Client, target: string) => {
  const made = makePages(Number(values.rows) / pageSize)
  const writer = await own(client, 1, true)(target)
  for (const [at, page] of made.pages.entries()) await writer.write(page, `first ${at}`)
  const runtime = ManagedRuntime.make(client(target))
  await runtime.runPromise(known)
  const since = await runtime.runPromise(PunchCopy.feedPosition(company))
  for (const [at, page] of made.changed.entries()) await writer.write(page, `second ${at}`)
  // As a server does by itself for a table that changes.
  await runtime.runPromise(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`ANALYZE`))
  const drain = (stream: Stream.Stream<unknown, unknown, SqlClient.SqlClient>) =>
    runtime.runPromise(Stream.runCount(stream))
  const feed = (since?: FeedPosition) => PunchCopy.feed(company, { after: since })
  const times: Array<number> = []
  const streams: ReadonlyArray<Stream.Stream<unknown, unknown, SqlClient.SqlClient>> = [
    PunchCopy.list(company, { deleted: "include" }),
    feed(),
    feed(since)
  ]
  for (const stream of streams) {
    await drain(Stream.take(stream, 20_000))
    times.push(await millis(() => drain(stream)))
  }
  await writer.close()
  await runtime.dispose()
  const [list = NaN, state = NaN, changes = NaN] = times.map((each) => Number(values.rows) / each)
  return { list, state, changes }
}

/** Milliseconds of a look without news, and of one that finds ten events, in a large copy. */
const looks = async (client: Client, target: string) => {
  const rows = Number(values.large)
  const [page = []] = makePages(1).pages
  const runtime = ManagedRuntime.make(client(target))
  const writer = await own(client, 5, true)(target)
  for (let at = 0; at < rows / pageSize; at++) {
    await writer.write(
      page.map((punch, place) => Object.assign({}, punch, { id: at * pageSize + place + 1 })),
      `first ${at}`
    )
  }
  await runtime.runPromise(known)
  const [none, ten]: [Array<number>, Array<number>] = [[], []]
  for (let round = 0; round < 30; round++) {
    const since = await runtime.runPromise(PunchCopy.feedPosition(company))
    const run = () => runtime.runPromise(Stream.runCollect(PunchCopy.feed(company, { after: since })))
    none.push(await millis(run))
    const changed = page.slice(0, 10).map((punch, at) =>
      Object.assign({}, punch, { id: 1 + at * Math.floor(rows / 10), notes: `round ${round}` })
    )
    await writer.write(changed, `round ${round}`)
    // The writer joins five pages in one transaction.
    for (let more = 0; more < 4; more++) await writer.write([], `round ${round}, ${more}`)
    ten.push(await millis(run))
  }
  await writer.close()
  await runtime.dispose()
  return { none: median(none), ten: median(ten) }
}

const indexes = ["time_punches_begun", "time_punches_history_begun"]

/** The time of a first load with a history, with the index divided by without it. */
const indexCost = async (client: Client, target: (round: number) => string) => {
  const { pages } = makePages(100)
  const load = async (place: string, hasIndex: boolean) => {
    const writer = await own(client, 1, true)(place)
    if (!hasIndex) {
      const drop = Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => Effect.forEach(indexes, (name) => sql.unsafe(`DROP INDEX ${name}`))
      )
      await Effect.runPromise(Effect.provide(drop, Layer.fresh(client(place))).pipe(Effect.orDie))
    }
    const time = await millis(async () => {
      for (const [at, page] of pages.entries()) await writer.write(page, `first ${at}`)
    })
    await writer.close()
    return time
  }
  const ratios: Array<number> = []
  await load(target(-1), true)
  for (let round = 0; round < Number(values.pairs); round++) {
    const order = round % 2 === 0
    const first = await load(target(2 * round), order)
    const second = await load(target(2 * round + 1), !order)
    ratios.push(order ? first / second : second / first)
  }
  return ratios
}

const rowOf = (store: string, { list, state, changes }: Awaited<ReturnType<typeof read>>, look: {
  readonly none: number
  readonly ten: number
}, ratios: ReadonlyArray<number>) => [
  store,
  number(list * 1000, 0),
  number(state / list),
  number(changes / list),
  number(look.none),
  number(look.ten),
  `${number((median(ratios) - 1) * 100, 1)} (${number((quartile(ratios, 1) - 1) * 100, 1)}–${
    number((quartile(ratios, 3) - 1) * 100, 1)
  })`
]

const rows: Array<ReadonlyArray<string>> = []
const folder = mkdtempSync(join(tmpdir(), "time-punches-feed-"))
try {
  const file = (name: string | number) => join(folder, `${name}.db`)
  rows.push(rowOf(
    "SQLite",
    await read(fileClient, file("read")),
    await looks(fileClient, file("looks")),
    await indexCost(fileClient, file)
  ))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
if (hasPostgres) {
  const scope = Effect.runSync(Scope.make())
  try {
    const server = await Effect.runPromise(Scope.provide(cluster({ max_wal_size: "4GB" }), scope))
    const base = server.url()
    const make = async (name: string) => {
      const sql = Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(`CREATE DATABASE ${name}`))
      await Effect.runPromise(Effect.provide(sql, Layer.fresh(pgClient(base))).pipe(Effect.orDie))
      return base.replace(/\/[^/?]*(\?|$)/, `/${name}$1`)
    }
    const [reading, looking] = [await make("feed_read"), await make("feed_looks")]
    const targets = new Map<number, string>()
    for (let round = -1; round < 2 * Number(values.pairs); round++) {
      targets.set(round, await make(`feed_index_${round + 1}`))
    }
    rows.push(rowOf(
      "PostgreSQL",
      await read(pgClient, reading),
      await looks(pgClient, looking),
      await indexCost(pgClient, (round) => targets.get(round) ?? "")
    ))
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
process.stdout.write(`${
  table(
    [
      "feed",
      "rows listed a second",
      "state, × listing",
      "changes, × listing",
      "ms without news",
      "ms for ten events",
      "the index in a first load, % (quartiles)"
    ],
    rows
  )
}\n`)
