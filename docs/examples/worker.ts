/** A worker without Node: `GET /?company=4021` answers with the labour cost by location as JSON. */
import { ConfigProvider, Duration, Effect, HashMap, Layer, Schema, Stream } from "effect"
import { CompanyId, Labor, type ListError, TimePunches } from "effect-time-punches"
import { FetchHttpClient } from "effect/http"

/** The variables of the README, as the platform hands them to a worker. */
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

/** What a caller of this worker may see of a failure: whether to try again, and nothing of the service's own words. */
const statusOf = (error: ListError): number =>
  error._tag === "RateLimited" ? 503 : error._tag === "Forbidden" ? 403 : 502

/**
 * Built for each request: a worker must not wait in one request for what another one has begun, so nothing that has
 * a request of its own under way, such as the flight for a token, is shared between them.
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
