/** Listing page after page over loopback, on both shapes of text: the library over three transports, and its peers. */
import { shapes } from "../clients/page.ts"
import { called, type Case, compare, largeOf, type Row, rowOf } from "../measure.ts"
import { atLeast, atMost, number, range, type Section, type Setting, table, type Target } from "../report.ts"
import type { Sample } from "../sample.ts"

const floor = "raw undici, `json()`, no validation"
const decoding = "raw undici, `dispatch()`, strict text, the decoder of the library"
const lean = "**effect-time-punches**, `NodeTransport`"
const undici = "**effect-time-punches**, core's undici layer"
const zod = "openapi-fetch with zod, which checks ISO texts"
const azure = "Azure core-client mapper, core-paging"

const basic: ReadonlyArray<Case> = [
  { name: floor, client: "raw.ts#json" },
  { name: decoding, client: "decoded.ts#dispatch" },
  { name: lean, client: "lean.ts#lean" },
  { name: undici, client: "ours.ts#undici" }
]

/** In fewer rounds: they are far from the targets, or have narrow quartiles. */
const few = 3

const others: ReadonlyArray<Case> = [
  { name: "raw undici, `dispatch()`, no validation", client: "raw.ts#dispatch" },
  { name: "raw undici, `request()`, strict text, the decoder of the library", client: "decoded.ts#undici" },
  { name: "**effect-time-punches**, `NodeTransport`, a page ahead", client: "lean.ts#ahead" },
  { name: "**effect-time-punches**, `fetch`", client: "ours.ts#fetch" },
  { name: "core's `HttpApiClient` over its undici layer", client: "derived.ts#undici" },
  { name: "openapi-fetch, no validation", client: "peers.ts#thin" },
  { name: zod, client: "peers.ts#thinWithZod" },
  { name: "core of openai-node, no validation", client: "peers.ts#generatedCore" },
  { name: azure, client: "peers.ts#azure" }
]

/** Forms of the body that cost more than a plain one, each against raw `json()` over plain bodies, in one shape of text. */
const forms = (url: string): ReadonlyArray<Case> => [
  { name: "**effect-time-punches**, `NodeTransport`, chunked", client: "lean.ts#lean", target: `${url}/chunked` },
  { name: "**effect-time-punches**, `NodeTransport`, br", client: "lean.ts#lean", target: `${url}/compressed` },
  { name: "raw undici, gzip, inflated by zlib", client: "raw.ts#gzip", target: `${url}/compressed` }
]

const texts = { ascii: "ASCII", scripts: "other scripts" } as const

const head = ["cpu µs", "wall µs", "peak RSS MB", "large", "× raw cpu", "quartiles", "× raw wall"]

const tableOf = (title: string, rows: ReadonlyArray<Row>) =>
  table(
    [title, ...head],
    rows.map((row) => [
      row.name,
      number(row.cpu * 200, 0),
      number(row.wall * 200, 0),
      number(row.peakRssMb, 0),
      `${row.large} of ${row.processes}`,
      number(row.cpuRatio),
      range(row.cpuRange),
      number(row.wallRatio)
    ])
  )

const targetsOf = (text: string, rows: ReadonlyArray<Row>, quick: boolean): ReadonlyArray<Target> => {
  const [own, overUndici] = [rowOf(rows, lean), rowOf(rows, undici)]
  const peer = (name: string) => rowOf(rows, name).wallRatio / overUndici.wallRatio
  return [
    atMost(`listing over \`NodeTransport\`, × raw cpu, ${text}`, 1.15, own.cpuRatio),
    atMost(
      `listing over \`NodeTransport\`, × cpu of dispatch, strict text and our decoder, ${text}`,
      1.25,
      own.cpuRatio / rowOf(rows, decoding).cpuRatio,
      { beyond: 2 }
    ),
    atMost(`listing over core's undici layer, × raw cpu, ${text}`, 1.5, overUndici.cpuRatio),
    ...(quick ? [] : [
      atLeast(`openapi-fetch with zod, × ours over the undici layer, wall, ${text}`, 1.7, peer(zod)),
      atLeast(`Azure mapper and paging, × ours over the undici layer, wall, ${text}`, 3.5, peer(azure))
    ])
  ]
}

/** How many processes are large as Node starts them, without the flags of the benchmarks. */
const withoutFlags = (url: string, pages: number): string => {
  const processes = 20
  const options = { client: "lean.ts#lean", target: `${url}/ascii`, punches: pages * 200, warmup: 1, times: 3 }
  const peaks = Array.from({ length: processes }, () => called<Sample>("sample.ts", "sample", options, []).peakRssMb)
  return `Without flags of V8, ${
    largeOf(peaks)
  } of ${processes} processes that list over \`NodeTransport\` are large: they peak ` +
    "more than a fifth above the leanest one."
}

export const listing = ({ pages, quick, url }: Setting): Section => {
  const measured = shapes.map((shape) => {
    const target = `${url}/${shape}`
    const cases = quick
      ? basic
      : [
        ...basic,
        ...[...others, ...(shape === "ascii" ? forms(target) : [])].map((one) => Object.assign({ rounds: few }, one))
      ]
    const rows = compare(cases, {
      target,
      punches: pages * 200,
      warmup: quick ? 3 : 1,
      times: quick ? 3 : 2,
      samples: quick ? 3 : 5
    })
    return { text: texts[shape], rows }
  })
  return {
    name: "listing",
    text: [
      ...measured.map(({ rows, text }) => tableOf(`a page of 200 punches, ${text}`, rows)),
      ...(quick ? [] : [withoutFlags(url, pages)])
    ].join("\n\n"),
    targets: measured.flatMap(({ rows, text }) => targetsOf(text, rows, quick)),
    chart: measured.map(({ rows, text }) => ({
      title: `List 100 000 punches, ${text}: processor time, as a multiple of raw undici without validation`,
      bars: rows.map(({ cpuRatio, name }) => ({
        name: name.replaceAll(/[`*]/g, ""),
        value: cpuRatio,
        own: name.includes("**")
      }))
    }))
  }
}
