/**
 * START HERE. Requests, bodies, statuses and secrets. The caller's `HttpClient` with guards: no redirect is followed, no trace
 * header is sent, no credential is recorded.
 *
 *     request ──▶ outside ──▶ preprocess ──▶ inside ──▶ transport
 *                   │            │             │
 *                   │            │             └ redirects, redaction, trace headers off: whatever the client's layer has set
 *                   │            └ the caller's changes of the request
 *                   └ trace headers on or off: the client's layer can still switch them off
 *
 * A transform of the client has the guards on both sides, and sees no redirect as a response:
 *
 *     request ──▶ all guards ──▶ transform ──▶ preprocess ──▶ inside ──▶ transport
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { isTraced, redactingTracer, redactPrivateNames } from "../telemetry/tracing.ts"
import { isRedirect } from "./status.ts"
import { transportFailureOf } from "./transportFailure.ts"

/** Sends a request and reads its response with `on.response`. On any failure or interruption the socket is released. */
export type SendRequest = <A, E>(
  request: HttpClientRequest.HttpClientRequest,
  on: {
    readonly response: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, E>
    readonly error: (error: HttpClientError.HttpClientError) => E
  }
) => Effect.Effect<A, E>

/** Whether trace headers are sent in a context, which query parameters are redacted in spans, and a change of the client below. */
export interface SecureClientOptions {
  readonly propagate: (context: Context.Context<never>) => boolean
  readonly privateParameters: ReadonlyArray<string>
  readonly transform?: ((client: HttpClient.HttpClient) => HttpClient.HttpClient) | undefined
}

/** Adds the guards to a client. */
export const secureClient = (client: HttpClient.HttpClient, options: SecureClientOptions): SendRequest => {
  const { propagate, transform } = options
  // A span that a transform opens around the request ends with an exit that holds it: its tracer must be guarded too.
  const outside = memoizeLast((context: Context.Context<never>) =>
    Context.add(
      transform === undefined ? context : guardContext(context, options),
      HttpClient.TracerPropagationEnabled,
      propagate(context)
    )
  )
  const inside = guardInside(client, options)
  const guarded = transform === undefined ? inside : transform(withoutRedirects(inside))
  return (request, on) =>
    Effect.uninterruptibleMask((restore) => {
      const read = (response: HttpClientResponse.HttpClientResponse) =>
        Effect.onError(restore(on.response(response)), () => discard(response))
      // `updateContext` also restores the caller's context after the request, which the guards inside do not.
      return Effect.matchEffect(restore(Effect.updateContext(guarded.execute(request), outside)), {
        onFailure: (error) =>
          transform !== undefined && error.reason._tag === "StatusCodeError"
            ? read(error.reason.response)
            : Effect.fail(on.error(error)),
        onSuccess: read
      })
    })
}

type Sending = Effect.Effect<HttpClientRequest.HttpClientRequest, HttpClientError.HttpClientError>

/** Sets the guards directly before the transport, whatever was set on the way. */
const guardInside = (client: HttpClient.HttpClient, options: SecureClientOptions): HttpClient.HttpClient => {
  const inside = memoizeLast((context: Context.Context<never>) => guardContext(context, options))
  const setGuards = Effect.withFiber((fiber) => {
    fiber.setContext(inside(fiber.context))
    return Effect.void
  })
  return HttpClient.makeWith(
    (request: Sending) => client.postprocess(Effect.tap(request, setGuards)),
    client.preprocess
  )
}

/** Fails with a redirect, so that nothing above follows it with the credential; an exchange reads it as the response. */
const withoutRedirects = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.transformResponse(
    client,
    Effect.flatMap((response) =>
      isRedirect(response.status)
        ? Effect.fail(
          new HttpClientError.HttpClientError({
            reason: new HttpClientError.StatusCodeError({ request: response.request, response })
          })
        )
        : Effect.succeed(response)
    )
  )

const guardContext = (
  context: Context.Context<never>,
  { privateParameters, ...options }: SecureClientOptions
): Context.Context<never> => {
  const propagate = options.propagate(context)
  const init = Context.getOrUndefined(context, FetchHttpClient.RequestInit)
  const manual = Context.add(context, FetchHttpClient.RequestInit, { ...init, redirect: "manual" })
  const guarded = propagate ? manual : Context.add(manual, HttpClient.TracerPropagationEnabled, false)
  if (!isTraced(context)) return propagate ? guarded : Context.add(guarded, HttpClient.TracerDisabledWhen, constTrue)
  return redactPrivateNames(
    Context.add(guarded, Tracer.Tracer, redactingTracer(Context.get(context, Tracer.Tracer), describeError)),
    privateParameters
  )
}

/** What a span may record of an error: its kind and the platform's code. */
const describeError = (error: unknown): string => {
  if (!HttpClientError.isHttpClientError(error)) return "the request failed"
  const { code } = transportFailureOf(error, "Headers")
  return Option.isSome(code) ? `${error.reason._tag} (${code.value})` : error.reason._tag
}

/** Ends a response without reading it. Every transport releases its socket when the body is opened and closed again. */
const discard = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<void> =>
  Effect.asVoid(Effect.exit(Effect.scoped(Stream.toPull(response.stream))))

/** Whether a transport followed a redirect by itself, to an origin other than the one requested. */
export const wasRedirected = (requested: string, answered: string): boolean =>
  answered !== requested && answered !== "" && !answered.startsWith(`${new URL(requested).origin}/`)

/** Calls `f` only for another argument than the last one, by identity. */
export const memoizeLast = <A extends object, B>(f: (a: A) => B): (a: A) => B => {
  let last: { readonly of: A; readonly result: B } | undefined
  return (a) => {
    if (last?.of !== a) last = { of: a, result: f(a) }
    return last.result
  }
}
