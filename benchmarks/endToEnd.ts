/** Listing 500 pages over real HTTP, the server in another process: the library with its defaults against raw clients. */
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer, ManagedRuntime, Redacted, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { Agent, request } from "undici"
import { CompanyId, Credentials, Endpoints, TimePunches } from "../src/index.ts"
import { companyId } from "./data.ts"
import { type Case, interleaved } from "./measure.ts"

export interface EndToEndRow {
  readonly name: string
  readonly usPerPage: number
  readonly ratio: number
}

/** A peer as it lists everything once, and answers how many punches there were. */
export interface PagingPeer {
  readonly name: string
  readonly list: (url: string) => () => Promise<number>
}

export const floorName = "raw undici, json() without validation"

const raw = (url: string) => {
  const dispatcher = new Agent({ connections: 1 })
  return async () => {
    let seen = 0
    for (let cursor: string | null = ""; cursor !== null;) {
      const { body } = await request(
        `${url}/v2/company/${companyId}/time_punches?limit=200${cursor === "" ? "" : `&cursor=${cursor}`}`,
        { dispatcher, headers: { authorization: "Bearer token", accept: "application/json" } }
      )
      const page = await body.json() as { data: Array<{ id: number }>; meta: { cursor: { next: string | null } } }
      for (const punch of page.data) if (punch.id >= 0) seen++
      cursor = page.meta.cursor.next
    }
    return seen
  }
}

const ours = (url: string, transport: Layer.Layer<never> | typeof FetchHttpClient.layer, prefetchPages: number) => {
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
  { rounds = 9 }: { readonly rounds?: number } = {}
): Promise<ReadonlyArray<EndToEndRow>> => {
  const lists: ReadonlyArray<readonly [string, () => Promise<number>]> = [
    [floorName, raw(url)],
    ["effect-time-punches, undici, defaults", ours(url, undici, 0)],
    ["effect-time-punches, undici, one page ahead", ours(url, undici, 1)],
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
