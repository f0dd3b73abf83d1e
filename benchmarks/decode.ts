/** Decoding one page of 200 punches: the library against the floor, `JSON.parse`, and against validators. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { CompanyId } from "../src/Ids.ts"
import { TimePunch } from "../src/index.ts"
import { decodePunches } from "../src/listing/rows.ts"
import { fullPage, pageSize } from "./data.ts"
import { companyId } from "./floor.ts"
import { allocated, type Case, interleaved } from "./measure.ts"

export interface DecodeRow {
  readonly name: string
  readonly nsPerPunch: number
  readonly ratio: number
  readonly bytesPerPunch: number
}

const id = CompanyId.make(companyId)

const ours = (text: string) => {
  const page = decodePunches(JSON.parse(text), id)
  if (Result.isFailure(page)) throw new Error("the library rejected the page of the benchmark")
  return page.success.rows
}

/** The same schema without its compiled decoder: the cost of the authority alone. */
const interpreted = Schema.decodeUnknownSync(Schema.Struct({ data: Schema.Array(TimePunch.fromWire.annotate({})) }))

/** Measures the floor, the library and any peers in the same rounds. */
export const decode = async (
  peers: ReadonlyArray<{ readonly name: string; readonly decode: (text: string) => unknown }>,
  { rounds = 25 }: { readonly rounds?: number } = {}
): Promise<ReadonlyArray<DecodeRow>> => {
  const text = fullPage()
  const runs: ReadonlyArray<Case> = [
    { name: "JSON.parse alone (the floor)", run: () => JSON.parse(text) },
    { name: "effect-time-punches", run: () => ours(text) },
    { name: "the same schema, interpreted", run: () => interpreted(JSON.parse(text)) },
    ...peers.map(({ decode, name }) => ({ name, run: () => decode(text) }))
  ]
  for (const { run } of runs) for (let i = 0; i < 60; i++) run()
  const times = await interleaved(runs, { rounds, repeat: 20, warmup: 2 })
  const floor = times.get("JSON.parse alone (the floor)") ?? NaN
  return runs.map(({ name, run }) => ({
    name,
    nsPerPunch: (times.get(name) ?? NaN) / pageSize,
    ratio: (times.get(name) ?? NaN) / floor,
    bytesPerPunch: allocated(run) / pageSize
  }))
}
