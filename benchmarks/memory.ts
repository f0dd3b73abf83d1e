/** A million punches through one stream, in a process of its own: `node --expose-gc memory.ts URL TIMES`. Prints JSON. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { CompanyId, Credentials, Endpoints, TimePunches } from "../src/index.ts"
import { companyId } from "./data.ts"
import { raw } from "./raw.ts"

export interface MemoryRow {
  readonly name: string
  readonly punches: number
  readonly seconds: number
  readonly peakRssMb: number
  readonly heapEarlyMb: number
  readonly heapEndMb: number
}

const heapMb = () => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 1e6
}

/** Lists everything `times` over, and looks at the heap after a fifth of it and at the end. */
const measure = async (name: string, list: () => Promise<number>, times: number): Promise<MemoryRow> => {
  let punches = 0
  let heapEarlyMb = 0
  const start = Date.now()
  for (let i = 0; i < times; i++) {
    punches += await list()
    if (i === Math.floor(times / 5)) heapEarlyMb = heapMb()
  }
  const seconds = (Date.now() - start) / 1000
  return { name, punches, seconds, heapEarlyMb, heapEndMb: heapMb(), peakRssMb: process.resourceUsage().maxRSS / 1000 }
}

const ours = (url: string) => {
  const app = TimePunches.layer.pipe(
    Layer.provide(Credentials.layerAccessToken(Redacted.make("token"))),
    Layer.provide(Endpoints.layer({ baseUrl: url })),
    Layer.provide(NodeHttpClient.layerUndiciOptions({ connections: 16, connect: { timeout: 5000 } }))
  )
