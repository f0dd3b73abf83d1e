/**
 * A worker without Node: `GET /?company=4021` returns the labour cost by location as JSON. It imports Effect module by module,
 * since esbuild keeps all of what is imported from `effect` itself.
 */
import { CompanyId, type ListError, TimePunches } from "effect-time-punches"
import { Labor } from "effect-time-punches/payroll"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/** The environment variables, as the platform passes them to a worker. */
type Env = Readonly<Record<string, string>>

const costs = (company: CompanyId) =>
  TimePunches.list(company).pipe(
    Stream.run(Labor.rollup((punch) => punch.locationId, { rounding: "halfUp" })),
    Effect.timeout("25 seconds"),
    Effect.map((byLocation) =>
      [...HashMap.entries(byLocation)].map(([location, { cost, net, punches }]) => ({
        location,
        punches,
        hours: Duration.toHours(net),
        cents: cost
      }))
    )
  )

/** A failure as this worker's callers see it: whether to retry, and nothing that the service said. */
const statusOf = (error: ListError): number => error._tag === "Forbidden" ? 403 : error.isRetryable ? 503 : 502

/**
 * Builds the client for each request. In a worker, one request must not wait for I/O that another one started, so they
 * cannot share a token request in flight.
 */
const appOf = (env: Env) =>
  TimePunches.layerFromConfig.pipe(
    Layer.provide(FetchHttpClient.layer),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(env)))
  )

const decodeCompany = Schema.decodeUnknownEffect(Schema.NumberFromString.pipe(Schema.decodeTo(CompanyId)))

const answer = Effect.fn("answer")(
  function*(request: Request) {
    const company = yield* decodeCompany(new URL(request.url).searchParams.get("company"))
    return Response.json(yield* costs(company))
  },
  Effect.catchTags({
    SchemaError: () => Effect.succeed(new Response("company must be a number\n", { status: 400 })),
    TimeoutError: () => Effect.succeed(new Response("too slow\n", { status: 504 })),
    SumOverflow: () => Effect.succeed(new Response("not a sum\n", { status: 500 }))
  }),
  Effect.catch((error) => Effect.succeed(new Response(`${error._tag}\n`, { status: statusOf(error) })))
)

export default {
  fetch: (request: Request, env: Env): Promise<Response> =>
    Effect.runPromise(Effect.provide(answer(request), appOf(env)), { signal: request.signal })
}
