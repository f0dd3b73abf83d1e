/** What a page shows of a service while it runs: its last exchanges and its faults, as server-sent events. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as PubSub from "effect/PubSub"
import * as Stream from "effect/Stream"
import { eventText } from "../../internal/page/serve.ts"
import type { FakeRequest, FakeResponse } from "../base/message.ts"
import type { ActiveFault } from "../faults/queue.ts"
import type { ShownFault } from "./browser/faults.ts"
import type { Logged } from "./browser/requests.ts"

/** How many requests a reader gets that comes later. */
const kept = 200

const answerOf = ({ body, delivery, status }: FakeResponse): string => {
  switch (delivery._tag) {
    case "Whole":
      return `${status}`
    case "Padded":
      return `${status}, padded to ${delivery.bytes === Infinity ? "no end" : `${delivery.bytes} bytes`}`
    case "Reset":
      return "connection reset"
    case "Silence":
      return "no answer"
    case "Stall":
      return `${status}, stalls after ${Math.min(delivery.bytes, body.length)} bytes`
    case "Cut":
      return `${status}, cut after ${Math.min(delivery.bytes, body.length)} bytes`
  }
}

/** What is logged of an exchange, whenever it is. */
const entryOf = (request: FakeRequest, exit: Exit.Exit<FakeResponse>) => {
  const isUrl = URL.canParse(request.url, "http://localhost")
  const { pathname, searchParams } = new URL(isUrl ? request.url : "/", "http://localhost")
  const answer = Exit.isSuccess(exit) ? answerOf(exit.value) : "the client left"
  return {
    method: request.method,
    path: isUrl ? pathname : request.url,
    query: [...searchParams],
    answer,
    isGood: /^[23]\d\d$/.test(answer),
    isOwn: request.headers["sec-fetch-site"] === "same-origin"
  }
}

/** A fault as a line: its tag and its arguments. */
const textOf = ({ fault, when }: ActiveFault): string => {
  const { _tag, ...options } = fault
  const write = (value: object) =>
    JSON.stringify(
      value,
      (_, part: unknown) => part instanceof Uint8Array ? `${part.length} bytes` : part === Infinity ? "Infinity" : part
    )
  return [_tag, ...[options, when].filter((part) => Object.keys(part).length > 0).map(write)].join(" ")
}

/** The log of a service that handles requests with `respond`. */
export const makeLog = Effect.fnUntraced(function*(
  respond: (request: FakeRequest) => Effect.Effect<FakeResponse>,
  faults: Effect.Effect<ReadonlyArray<ActiveFault>>
) {
  // A reader that is too slow misses requests, which it notices by their numbers; the service never waits for it.
  const hub = yield* PubSub.sliding<string>(1024)
  let last: ReadonlyArray<string> = []
  let index = 0
  let lastFaults = eventText("faults", [])

  /** Tells the readers which faults are injected, if that has changed. */
  const tellFaults = Effect.flatMap(faults, (active) => {
    const shown: ReadonlyArray<ShownFault> = active.map((fault) => ({
      text: textOf(fault),
      left: fault.left === Infinity ? null : fault.left
    }))
    const event = eventText("faults", shown)
    if (event === lastFaults) return Effect.void
    lastFaults = event
    return Effect.asVoid(PubSub.publish(hub, event))
  })

  const add = (request: FakeRequest, at: number, exit: Exit.Exit<FakeResponse>) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const entry = entryOf(request, exit)
      const event = eventText("request", { index, at, took: now - at, ...entry } satisfies Logged, index)
      index += 1
      last = [...last.slice(1 - kept), event]
      return Effect.andThen(PubSub.publish(hub, event), tellFaults)
    })

  return {
    /** The handling of requests, which adds each of them to the log. */
    respond: (request: FakeRequest) =>
      Effect.flatMap(
        Clock.currentTimeMillis,
        (at) => Effect.onExit(respond(request), (exit) => add(request, at, exit))
      ),
    tellFaults,
    /**
     * The events of a reader: the last requests, the faults, and what follows. The subscription comes first, so that nothing is
     * missed; a reader ignores what it has.
     */
    events: Stream.unwrap(Effect.gen(function*() {
      const subscription = yield* PubSub.subscribe(hub)
      yield* tellFaults
      return Stream.concat(Stream.fromArray([lastFaults, ...last]), Stream.fromSubscription(subscription))
    }))
  }
})
