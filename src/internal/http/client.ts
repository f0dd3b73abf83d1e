/** The caller's `HttpClient`, guarded: no redirect is followed, no trace header leaves, no query is printed. */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { constTrue } from "effect/Function"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as UrlParams from "effect/http/UrlParams"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { privateParameters } from "../../listing/parameters.ts"
import { transportFailureOf } from "./transportFailure.ts"

/**
 * Sends a request and has its response read. Unless it was read with success, the request is ended with its socket,
 * however far it got.
 */
export type Exchange = <A, E>(
  request: HttpClientRequest.HttpClientRequest,
  on: {
    readonly response: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<A, E>
    readonly error: (error: HttpClientError.HttpClientError) => E
  }
) => Effect.Effect<A, E>

/** Whether anybody listens: the tracer that ships with the core only keeps spans in memory. */
export const isTraced = (context: Context.Context<never>): boolean =>
  Context.get(context, Tracer.Tracer) !== Tracer.nativeTracer

/** Headers that print as `<redacted>` whatever list the application has put in place of the default. */
const privateHeaders = ["authorization", "cookie", "set-cookie", "x-company-guid", "location"]

/**
 * A tracer that hears how a request ended, but not with what: that would hold the request, with its credentials in
 * clear, and the address with its cursor and filters.
 */
const redactingTracer = (tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    ...(tracer.context === undefined ? undefined : { context: tracer.context }),
    span: (options) => {
      const span = tracer.span(options)
      return new Proxy(span, {
        get: (target, key) => {
          if (key === "end") {
            return (at: bigint, exit: Exit.Exit<unknown, unknown>) =>
              target.end(at, Exit.isSuccess(exit) ? Exit.void : redactExit(exit))
          }
          const value: unknown = Reflect.get(target, key)
          return Predicate.isFunction(value) ? value.bind(target) : value
        }
      })
    }
  })

const redactExit = (exit: Exit.Failure<unknown, unknown>): Exit.Exit<unknown, string> =>
  Exit.failCause(Cause.map(exit.cause, (error) => {
    if (!HttpClientError.isHttpClientError(error)) return "the request failed"
    const { code } = transportFailureOf(error, "headers")
    return Option.isSome(code) ? `${error.reason._tag} (${code.value})` : error.reason._tag
  }))

const guardContext = (context: Context.Context<never>, propagate: boolean): Context.Context<never> => {
  const init = Context.getOrUndefined(context, FetchHttpClient.RequestInit)
  const guarded = Context.add(context, FetchHttpClient.RequestInit, { ...init, redirect: "manual" })
  if (!isTraced(context)) return propagate ? guarded : Context.add(guarded, HttpClient.TracerDisabledWhen, constTrue)
  return guarded.pipe(
    Context.add(Tracer.Tracer, redactingTracer(Context.get(context, Tracer.Tracer))),
    Context.add(Headers.CurrentRedactedNames, [
      ...Context.get(context, Headers.CurrentRedactedNames),
      ...privateHeaders
    ]),
    Context.add(UrlParams.CurrentRedactedNames, [
      ...Context.get(context, UrlParams.CurrentRedactedNames),
      ...privateParameters
    ])
  )
}

/** A function that answers again for what it was last asked: a client is mostly used in one context. */
const remembered = (f: (context: Context.Context<never>) => Context.Context<never>): typeof f => {
  let asked: Context.Context<never> | undefined
  let answer = Context.empty()
  return (context) => {
    if (asked !== context) {
      answer = f(context)
      asked = context
    }
    return answer
  }
}

/**
 * The guards are set inside the client, where the settings that its own layer was built with are in sight, so that
 * they are added to those instead of taking their place.
 */
export const secureClient = (client: HttpClient.HttpClient, propagate: boolean): Exchange => {
  const inside = remembered((context) => guardContext(context, propagate))
  const outside = remembered((context) => Context.add(context, HttpClient.TracerPropagationEnabled, propagate))
  const setGuards = Effect.withFiber((fiber) => {
    fiber.setContext(inside(fiber.context))
    return Effect.void
  })
  const guarded = HttpClient.makeWith(
    (request: Effect.Effect<HttpClientRequest.HttpClientRequest, HttpClientError.HttpClientError>) =>
      client.postprocess(Effect.tap(request, setGuards)),
    client.preprocess
  )
  return (request, on) =>
    Effect.uninterruptibleMask((restore) =>
      // This also gives the caller's own context back afterwards, whatever was set further in.
      Effect.matchEffect(restore(Effect.updateContext(guarded.execute(request), outside)), {
        onFailure: (error) => Effect.fail(on.error(error)),
        onSuccess: (response) => Effect.onError(restore(on.response(response)), () => discard(response))
      })
    )
}

/** Ends a response that nobody will read: to open its body and to close it again is what every transport understands. */
const discard = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<void> =>
  Effect.asVoid(Effect.exit(Effect.scoped(Stream.toPull(response.stream))))

/** A transport that followed a redirect by itself ends at another origin than the one that was asked. */
export const wasRedirected = (asked: string, answered: string): boolean =>
  answered !== asked && answered !== "" && !answered.startsWith(`${new URL(asked).origin}/`)
