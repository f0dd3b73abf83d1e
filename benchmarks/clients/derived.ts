/** A client that core derives from a description of the endpoint, as an Effect programmer writes one first. */
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Client } from "../sample.ts"
import { undiciTransport } from "./ours.ts"
import { companyId } from "./raw.ts"

const Id = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Instant = Schema.DateTimeUtcFromString
const Cents = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const Break = Schema.Struct({
  id: Id,
  user_id: Id,
  custom_break_id: Id,
  paid: Schema.Boolean,
  in: Instant,
  out: Schema.NullOr(Instant)
})

const Punch = Schema.Struct({
  id: Id,
  shift_id: Id,
  user_id: Id,
  editable_punch: Schema.Boolean,
  role_id: Id,
  company_id: Id,
  location_id: Id,
  department_id: Schema.optionalKey(Schema.NullOr(Id)),
  hourly_wage: Cents,
  approved: Schema.Boolean,
  clocked_in: Instant,
  clocked_out: Schema.NullOr(Instant),
  notes: Schema.String,
  auto_clocked_out: Schema.Boolean,
  clocked_in_offline: Schema.Boolean,
  clocked_out_offline: Schema.Boolean,
  tips: Schema.Int,
  pos_type: Schema.optionalKey(Schema.NullOr(Schema.String)),
  breaks: Schema.optionalKey(Schema.Array(Break)),
  created: Schema.NullOr(Instant),
  modified: Schema.NullOr(Instant),
  deleted: Schema.optionalKey(Schema.Boolean)
})

const Page = Schema.Struct({
  object: Schema.Literal("time_punches"),
  data: Schema.Array(Punch),
  meta: Schema.Struct({
    cursor: Schema.Struct({
      current: Schema.NullOr(Schema.String),
      prev: Schema.NullOr(Schema.String),
      next: Schema.NullOr(Schema.String),
      count: Schema.NullOr(Schema.Int)
    })
  })
})

const Api = HttpApi.make("Api").add(
  HttpApiGroup.make("punches").add(
    HttpApiEndpoint.get("list", "/v2/company/:company_id/time_punches", {
      params: { company_id: Schema.Int },
      query: { limit: Schema.Int, cursor: Schema.optionalKey(Schema.String) },
      success: Page
    })
  )
)

/** Core's client over its undici layer: the whole page by the schema, no retry and no deadline. */
export const undici: Client = (baseUrl) => {
  const runtime = ManagedRuntime.make(undiciTransport)
  const count = Effect.gen(function*() {
    const client = yield* HttpApiClient.make(Api, {
      baseUrl,
      transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken("token"))
    })
    const punches = Stream.paginate(Option.none<string>(), (cursor) =>
      Effect.map(
        client.punches.list({
          params: { company_id: companyId },
          query: { limit: 200, ...Option.match(cursor, { onNone: () => ({}), onSome: (cursor) => ({ cursor }) }) }
        }),
        ({ data, meta }) => [data, Option.map(Option.fromNullOr(meta.cursor.next), Option.some)] as const
      ))
    let seen = 0
    yield* Stream.runForEachArray(punches, (page) =>
      Effect.sync(() => {
        for (const punch of page) if (punch.id >= 0) seen++
      }))
    return seen
  })
  return () => runtime.runPromise(count)
}
