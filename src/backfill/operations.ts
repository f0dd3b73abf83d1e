/** The operations of a client, over the services and settings that are in the context when it is built. */
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Stream from "effect/Stream"
import { ApiVersion } from "../ApiVersion.ts"
import type { BackfillFilter, BackfillOptions } from "../Backfill.ts"
import type { ClientOptions } from "../ClientOptions.ts"
import type { Company } from "../Company.ts"
import { Credentials } from "../Credentials.ts"
import { Endpoints } from "../Endpoints.ts"
import type { CompanyId } from "../Ids.ts"
import { secureClient } from "../internal/http/client.ts"
import { streamSpan } from "../internal/telemetry/tracing.ts"
import { type Client, makePolicy, startRun } from "../listing/fetch.ts"
import { makeListings } from "../listing/list.ts"
import { privateParameters } from "../listing/parameters.ts"
import { RetryPolicy } from "../RetryPolicy.ts"
import { TracePropagation } from "../TracePropagation.ts"
import { planBackfill } from "./request.ts"
import { backfill } from "./workers.ts"

/** `transform` changes the client that sends the page requests, inside its guards. */
export const makeOperations = Effect.fnUntraced(
  function*(transform?: ClientOptions<unknown, unknown>["transformClient"]) {
    const { baseUrl } = yield* Endpoints
    const { sign } = yield* Credentials
    const client: Client = {
      baseUrl,
      version: yield* ApiVersion,
      sign,
      send: secureClient(yield* HttpClient.HttpClient, {
        propagate: yield* TracePropagation,
        privateParameters,
        transform
      }),
      policy: makePolicy(yield* RetryPolicy)
    }
    return {
      ...makeListings(client),
      backfill: (company: CompanyId | Company, filter: BackfillFilter, options: BackfillOptions) => {
        const punches = Stream.unwrap(Effect.gen(function*() {
          const run = yield* startRun(client)
          const planned = planBackfill(run, company, { ...filter }, { ...options })
          const { reader, segments, ...bounds } = yield* Effect.fromResult(planned)
          return backfill(reader, segments, bounds)
        }))
        return streamSpan(punches, "TimePunches.backfill")
      }
    }
  }
)
