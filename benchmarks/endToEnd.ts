/** Listing 500 pages over real HTTP, the server in another process: the library with its defaults against raw clients. */
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer, ManagedRuntime, Option, Redacted, Result, Stream } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { CompanyId, Credentials, Endpoints, TimePunches } from "../src/index.ts"
import { decodePunches } from "../src/listing/rows.ts"
import { companyId, floorName, raw, type ReadPage } from "./floor.ts"
import { type Case, interleaved } from "./measure.ts"

export interface EndToEndRow {
  readonly name: string
  readonly usPerPage: number
  readonly ratio: number
}

/** A peer that lists everything once and returns the number of punches. */
export interface PagingPeer {
  readonly name: string
  readonly list: (url: string) => () => Promise<number>
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

const decoded = (buffer: ArrayBuffer) =>
  Result.getOrThrow(decodePunches(JSON.parse(utf8.decode(buffer)), CompanyId.make(companyId)))

/** The floor of a validating client: plain undici with the decoder of this library. */
const readDecoded: ReadPage = async (body) => {
  const { cursor, rows } = decoded(await body.arrayBuffer())
  return [rows.length, Option.getOrNull(cursor.next)]
}

/** The floor of an Effect client: its transport and the same decoder, without retry, deadline, cap, guard or metric. */
const bareEffect = (url: string) => {
  const runtime = ManagedRuntime.make(
    Layer.merge(undici, Layer.succeed(HttpClient.TracerDisabledWhen, () => true))
  )
  const headers = { authorization: "Bearer token", accept: "application/json" }
  const path = `${url}/v2/company/${companyId}/time_punches?limit=200`
  const pages = Stream.paginate(path, (at) =>
    HttpClient.get(at, { headers }).pipe(
      Effect.flatMap((response) => response.arrayBuffer),
      Effect.map((buffer) => {
        const { cursor, rows } = decoded(buffer)
        return [rows, Option.map(cursor.next, (next) => `${path}&cursor=${next}`)] as const
      })
    ))
  return () => runtime.runPromise(Stream.runFold(pages, () => 0, (seen, punch) => punch.id >= 0 ? seen + 1 : seen))
}

export const ours = (
  url: string,
  transport: Layer.Layer<never> | typeof FetchHttpClient.layer,
  prefetchPages: number
) => {
  const runtime = ManagedRuntime.make(TimePunches.layer.pipe(
    Layer.provide(Credentials.layerAccessToken(Redacted.make("token"))),
    Layer.provide(Endpoints.layer({ baseUrl: url })),
    Layer.provide(transport as typeof FetchHttpClient.layer)
  ))
  return async () => {
    let seen = 0
    await runtime.runPromise(
      TimePunches.list(CompanyId.make(companyId), {}, { prefetchPages }).pipe(
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

export const undici = NodeHttpClient.layerUndiciOptions({ connections: 16, connect: { timeout: 5000 } })

export const endToEnd = async (
  url: string,
  pages: number,
  peers: ReadonlyArray<PagingPeer>,
  { rounds = 15 }: { readonly rounds?: number } = {}
): Promise<ReadonlyArray<EndToEndRow>> => {
  const lists: ReadonlyArray<readonly [string, () => Promise<number>]> = [
    [floorName, raw(url)],
    ["raw undici with the decoder of this library", raw(url, readDecoded)],
    ["bare Effect over undici, the same decoder", bareEffect(url)],
    ["effect-time-punches, undici, defaults", ours(url, undici, 0)],
    ["effect-time-punches, undici, one page ahead", ours(url, undici, 1)],
    ["effect-time-punches, undici, chunked bodies", ours(`${url}/chunked`, undici, 0)],
    ["effect-time-punches, fetch, defaults", ours(url, FetchHttpClient.layer, 0)],
    ...peers.map(({ list, name }) => [name, list(url)] as const)
  ]
  const cases: ReadonlyArray<Case> = lists.map(([name, list]) => ({
    name,
    run: async () => {
      const seen = await list()
      if (seen !== pages * 200) throw new Error(`${name} saw ${seen} punches of ${pages * 200}`)
    }
  }))
  const times = await interleaved(cases, { rounds, warmup: 2 })
  const floor = times.get(floorName) ?? NaN
  return cases.map(({ name }) => ({
    name,
    usPerPage: (times.get(name) ?? NaN) / pages / 1000,
    ratio: (times.get(name) ?? NaN) / floor
  }))
}
