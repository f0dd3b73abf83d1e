/** An HTTP API of your own over the client: what a caller learns of a failure, and what stays in your log. */
import { Duration, Effect, Layer, Option, Schema, Stream } from "effect"
import { CompanyId, getAdvice, type ListError, TimePunches } from "effect-time-punches"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"

/** 503: the caller may repeat the request after this time. */
export class TryLater
  extends Schema.TaggedError<TryLater>("app/TryLater")("TryLater", { seconds: Schema.Int }, { httpApiStatus: 503 })
{}

/** 403: the company has not granted access. */
export class NotGranted
  extends Schema.TaggedError<NotGranted>("app/NotGranted")("NotGranted", {}, { httpApiStatus: 403 })
{}

/** 502: repeating the request does not help. A person must look at the log. */
export class BadUpstream
  extends Schema.TaggedError<BadUpstream>("app/BadUpstream")("BadUpstream", {}, { httpApiStatus: 502 })
{}

/** What a caller learns: a tag and a status. Messages, cursors and what the service said are not sent. */
export const toPublic = (error: ListError): TryLater | NotGranted | BadUpstream => {
  if (error._tag === "Forbidden") return new NotGranted({})
  if (!error.isRetryable) return new BadUpstream({})
  const wait = "retryAfter" in error ? error.retryAfter : Option.none()
  return new TryLater({ seconds: Math.ceil(Duration.toSeconds(Option.getOrElse(wait, () => Duration.minutes(1)))) })
}

const open = HttpApiEndpoint.get("open", "/companies/:company/open", {
  params: { company: Schema.NumberFromString.pipe(Schema.decodeTo(CompanyId)) },
  success: Schema.Struct({ open: Schema.Int }),
  error: [TryLater, NotGranted, BadUpstream]
})

export const Api = HttpApi.make("app").add(HttpApiGroup.make("punches").add(open))

/**
 * Who is clocked in. The whole error goes to the log, and its public part to the caller. Errors of the listing are mapped before the
 * handler adds its own: core has some of their tags, such as `Forbidden`.
 */
export const handlers = HttpApiBuilder.group(
  Api,
  "punches",
  (group) =>
    group.handle("open", ({ params }) =>
      TimePunches.list(params.company).pipe(
        Stream.filter((punch) => Option.isNone(punch.clockedOut)),
        Stream.runCount,
        Effect.map((open) => ({ open })),
        Effect.tapError((error) => Effect.logError(`${error.message}. ${getAdvice(error)}`)),
        Effect.mapError(toPublic)
      ))
)

/** A serverless handler: from a `Request` to a `Response`. Make it once for each instance, so that its requests share a token. */
export const makeHandler = <E>(app: Layer.Layer<TimePunches, E>) =>
  HttpRouter.toWebHandler(
    HttpApiBuilder.layer(Api).pipe(
      Layer.provide(handlers),
      HttpRouter.provideRequest(app),
      Layer.provide(HttpServer.layerServices)
    )
  )
