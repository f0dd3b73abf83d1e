/** One request through a dispatcher of undici, up to the headers of its response and the body behind them. */
import type * as Undici from "@effect/platform-node/Undici"
import * as Effect from "effect/Effect"
import { type Body, codedError, decompressorOf, inflated, makeBody, type Receiver, type Source } from "./body.ts"

type RawHeaders = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** Status and headers of a response, and its body on the way. */
export interface Incoming {
  readonly status: number
  readonly headers: RawHeaders
  readonly body: Body
}

/** Sends a request and answers at the headers of its response. An interrupt, or `signal`, ends the request at any time. */
export const exchange = <A>(
  dispatcher: Undici.Dispatcher,
  options: Undici.Dispatcher.DispatchOptions,
  signal: AbortSignal,
  onHeaders: (incoming: Incoming) => A
): Effect.Effect<A, unknown> =>
  Effect.callback((resume) => {
    // Dropped after use: it leads to the fiber, whose result may be the response, which could not be collected then.
    let answer: typeof resume | undefined = resume
    let controller: Undici.Dispatcher.DispatchController | undefined
    let body: Body | undefined
    let receiver: Receiver | undefined
    let aborted: Error | undefined

    // The fiber continues after undici's parser has returned: it may send the next request, which must not enter it again.
    const reply = (effect: Effect.Effect<A, unknown>) => {
      const answered = answer
      answer = undefined
      if (answered !== undefined) queueMicrotask(() => answered(effect))
    }
    // What outlives the end of a request must not lead to the body and its bytes.
    const settled = () => {
      signal.removeEventListener("abort", abort)
      controller = undefined
      body = undefined
      receiver = undefined
    }
    const failed = (cause: unknown) => {
      settled()
      reply(Effect.fail(cause))
    }
    const abort = () => {
      if (body !== undefined) return body.abort()
      aborted ??= codedError("UND_ERR_ABORTED", "the request was aborted")
      const started = controller
      failed(aborted)
      started?.abort(aborted)
    }

    const handler: Undici.Dispatcher.DispatchHandler = {
      onRequestStart: (started) => {
        controller = started
        if (aborted !== undefined) started.abort(aborted)
      },
      onResponseStart: (started, status, headers) => {
        if (status < 200) return
        const connected = connect(options.method, started, status, headers, settled)
        body = connected.body
        receiver = connected.receiver
        reply(Effect.succeed(onHeaders({ status, headers, body })))
      },
      onResponseData: (_, part) => receiver?.push(part),
      onResponseEnd: () => receiver?.end(),
      onResponseError: (_, cause) => receiver === undefined ? failed(cause) : receiver.fail(cause)
    }

    signal.addEventListener("abort", abort)
    try {
      dispatcher.dispatch(options, handler)
    } catch (cause) {
      failed(cause)
    }
    return Effect.sync(abort)
  })

/** The body of a response, behind a decompressor if it has a requested encoding. */
const connect = (
  method: string,
  source: Source,
  status: number,
  headers: RawHeaders,
  onSettled: () => void
): { readonly body: Body; readonly receiver: Receiver } => {
  const encoding = headers["content-encoding"]
  const decompressor = decompressorOf(typeof encoding === "string" ? encoding : undefined)
  if (decompressor !== undefined) {
    return inflated(decompressor, source, (inflating) => makeBody(inflating, undefined, onSettled))
  }
  const declared = headers["content-length"]
  const isFramed = method !== "HEAD" && status !== 204 && status !== 304 && headers["transfer-encoding"] === undefined
  const length = isFramed && typeof declared === "string" && /^\d+$/.test(declared) ? Number(declared) : undefined
  const body = makeBody(source, length, onSettled)
  return { body, receiver: body }
}
