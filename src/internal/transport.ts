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
import type * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import { faultOf } from "./fault.ts"
import { privateParameters } from "./request.ts"

/** Sends a request; closing the scope ends it, with its socket, however far it got. */
export type Send = (
  request: HttpClientRequest.HttpClientRequest
) => Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError, Scope.Scope>

/** Whether anybody listens: the tracer that ships with the core only keeps spans in memory. */
export const isTraced = (context: Context.Context<never>): boolean =>
  Context.get(context, Tracer.Tracer) !== Tracer.nativeTracer

/** Headers that print as `<redacted>` whatever list the application has put in place of the default. */
const privateHeaders = ["authorization", "cookie", "set-cookie", "x-company-guid", "location"]

/**
 * A tracer that hears how a request ended, but not with what: that would hold the request, with its credentials in
 * clear, and the address with its cursor and filters.
 */
const discreet = (tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    ...(tracer.context === undefined ? undefined : { context: tracer.context }),
    span: (options) => {
      const span = tracer.span(options)
      return new Proxy(span, {
        get: (target, key) => {
          if (key === "end") {
            return (at: bigint, exit: Exit.Exit<unknown, unknown>) =>
              target.end(at, Exit.isSuccess(exit) ? Exit.void : told(exit))
          }
          const value: unknown = Reflect.get(target, key)
          return Predicate.isFunction(value) ? value.bind(target) : value
        }
      })
    }
  })

const told = (exit: Exit.Failure<unknown, unknown>): Exit.Exit<unknown, string> =>
  Exit.failCause(Cause.map(exit.cause, (error) => {
    if (!HttpClientError.isHttpClientError(error)) return "the request failed"
    const { code } = faultOf(error, "headers")
    return Option.isSome(code) ? `${error.reason._tag} (${code.value})` : error.reason._tag
  }))

const guardContext = (context: Context.Context<never>, propagate: boolean): Context.Context<never> => {
  const init = Context.getOrUndefined(context, FetchHttpClient.RequestInit)
  const guarded = Context.add(context, FetchHttpClient.RequestInit, { ...init, redirect: "manual" })
  if (!isTraced(context)) return propagate ? guarded : Context.add(guarded, HttpClient.TracerDisabledWhen, constTrue)
  return guarded.pipe(
    Context.add(Tracer.Tracer, discreet(Context.get(context, Tracer.Tracer))),
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

/**
 * The guards are set inside the client, where the settings that its own layer was built with are in sight, so that
 * they are added to those instead of taking their place.
 */
export const guard = (client: HttpClient.HttpClient, propagate: boolean): Send => {
  const guarded = HttpClient.makeWith(
    (request: Effect.Effect<HttpClientRequest.HttpClientRequest, HttpClientError.HttpClientError>) =>
      client.postprocess(
        Effect.tap(
          request,
          () => Effect.withFiber((fiber) => Effect.sync(() => fiber.setContext(guardContext(fiber.context, propagate))))
        )
      ),
    client.preprocess
  )
  const scoped = HttpClient.withScope(guarded)
  // This also gives the caller's own context back afterwards, whatever was set further in.
  return (request) =>
    Effect.updateContext(
      scoped.execute(request),
      (context: Context.Context<Scope.Scope>) => Context.add(context, HttpClient.TracerPropagationEnabled, propagate)
    )
}
