/** The four transports, a client over each, and pages for a raw server to send. */
import { NodeHttpClient } from "@effect/platform-node"
import { Cause, type Config, type Duration, Effect, Exit, Layer, Option, Stream } from "effect"
import type { HttpClient } from "effect/http"
import {
  type Credentials,
  type Cursor,
  Endpoints,
  type ListError,
  RetryPolicy,
  type TimePunch,
  TimePunches
} from "../../src/index.ts"
import { NodeTransport } from "../../src/node/index.ts"
import { defaultCompany, generatePunches, toWire } from "../../src/testing/index.ts"
import { accessToken, company } from "./client.ts"
import { type Wire, wirePage } from "./wire.ts"

export type Transport = "fetch" | "undici" | "node:http" | "NodeTransport"

/** The settings of production: a limit of connections, which are kept alive. */
export const transports: ReadonlyArray<{
  readonly transport: Transport
  readonly http: Layer.Layer<HttpClient.HttpClient>
}> = [
  { transport: "fetch", http: NodeHttpClient.layerFetch },
  { transport: "undici", http: NodeHttpClient.layerUndiciOptions({ connections: 16, connect: { timeout: 400 } }) },
  { transport: "node:http", http: NodeHttpClient.layerNodeHttpOptions({ keepAlive: true, maxSockets: 16 }) },
  { transport: "NodeTransport", http: Layer.orDie(NodeTransport.layer({ connectTimeout: "400 millis" })) }
]

export interface ClientOptions {
  readonly attemptTimeout?: Duration.Input
  readonly attempts?: number
  readonly budget?: number
  readonly maxDelay?: Duration.Input
  /** Default: an access token. */
  readonly credentials?: Layer.Layer<Credentials, Config.ConfigError, HttpClient.HttpClient | Endpoints>
}

/** A client with short waits between attempts. */
export const client = (
  url: string,
  http: Layer.Layer<HttpClient.HttpClient>,
  { credentials = accessToken, ...policy }: ClientOptions = {}
): Layer.Layer<TimePunches> =>
  TimePunches.layer.pipe(
    Layer.provide(RetryPolicy.layer({
      baseDelay: "2 millis",
      throttleDelay: "2 millis",
      attemptTimeout: "2 seconds",
      ...policy
    })),
    Layer.provide(credentials),
    Layer.provide(Endpoints.layer({ baseUrl: url })),
    Layer.provide(http),
    Layer.orDie
  )

const rows = generatePunches({ seed: 7, count: 6, companyId: defaultCompany.id, deletedShare: 0 }).map(toWire)

/** The body of a page with these rows; `cursor` replaces members of the cursor of a single page. */
export const pageText = (rows: ReadonlyArray<unknown>, cursor?: Wire): string => JSON.stringify(wirePage(rows, cursor))

/** A listing of three pages of two rows: their bodies, and the ids in them. */
export const threePages = {
  first: pageText(rows.slice(0, 2), { next: "to-2" }),
  second: pageText(rows.slice(2, 4), { current: "to-2", prev: "to-1", next: "to-3" }),
  third: pageText(rows.slice(4, 6), { current: "to-3", prev: "to-2" }),
  ids: rows.map((row) => row.id)
}

/** The result of a run: the emitted ids, and the error if it failed. */
export interface Outcome {
  readonly ids: ReadonlyArray<number>
  readonly error: ListError | undefined
}

/** Runs a listing to its end, from a cursor if there is one. A defect stays a defect. */
export const listingOutcome = (from?: Option.Option<Cursor>): Effect.Effect<Outcome, never, TimePunches> =>
  Effect.gen(function*() {
    const ids: Array<number> = []
    const exit = yield* TimePunches.list(company, {}, { cursor: from }).pipe(
      Stream.runForEach((punch: TimePunch) => Effect.sync(() => ids.push(punch.id))),
      Effect.exit
    )
    if (Exit.isSuccess(exit)) return { ids, error: undefined }
    const error = Cause.findErrorOption(exit.cause)
    return Option.isSome(error) ? { ids, error: error.value } : yield* Effect.failCause(exit.cause).pipe(Effect.orDie)
  })

/** A failure as a table names it: its tag, then its reason or status, then its code. */
export const errorName = (error: ListError | undefined): string => {
  if (error === undefined) return "no error"
  const reason = "reason" in error ? ` ${error.reason}` : "status" in error ? ` ${error.status}` : ""
  const code = "code" in error && Option.isSome(error.code) ? ` ${error.code.value}` : ""
  return `${error._tag}${reason}${code}`
}
