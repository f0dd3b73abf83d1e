/** Runs doctor against the fake service behind a client that lies, and reads its results. */
import { NodeServices } from "@effect/platform-node"
import { ConfigProvider, Effect, Fiber, Layer, Stdio } from "effect"
import { HttpClient, HttpClientRequest, HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { run } from "../../../src/cli/command.ts"
import { FakeService, type WirePunch } from "../../../src/testing/index.ts"
import type { Envelope } from "../../testing/support.ts"
import { capture, type Environment, environment, linesOf } from "../support.ts"

/** What a service does wrong; the parts that are left out are right. */
export interface Lie {
  /** Changes the query of a page request before the service reads it. */
  readonly ask?: (query: URLSearchParams) => void
  /** Changes the page that the service sends; `query` is the one that the client sent. */
  readonly answer?: (page: Envelope, query: URLSearchParams) => Envelope
  /** Changes the text of the page. */
  readonly text?: (text: string) => string
  readonly headers?: Readonly<Record<string, string>>
  /** Answers in place of the service. */
  readonly instead?: (query: URLSearchParams) => HttpServerResponse.HttpServerResponse | undefined
  /** Runs before each request. */
  readonly before?: Effect.Effect<unknown, never, FakeService>
}

/** Replaces rows, and counts them again. */
export const withRows = (page: Envelope, data: ReadonlyArray<WirePunch>): Envelope => ({
  ...page,
  data,
  meta: { cursor: { ...page.meta.cursor, count: data.length } }
})

export const withCursor = (page: Envelope, cursor: Partial<Envelope["meta"]["cursor"]>): Envelope => ({
  ...page,
  meta: { cursor: { ...page.meta.cursor, ...cursor } }
})

const queryOf = (url: string) => new URLSearchParams(url.slice(url.indexOf("?") + 1))

const layerLying = (lie: Lie) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function*() {
      const client = yield* HttpClient.HttpClient
      const service = yield* FakeService
      const lying = Effect.fnUntraced(function*(request: HttpClientRequest.HttpClientRequest) {
        if (request.method === "POST") return yield* client.execute(request)
        if (lie.before !== undefined) yield* Effect.provideService(lie.before, FakeService, service)
        const query = queryOf(request.url)
        const instead = lie.instead?.(query)
        if (instead !== undefined) return HttpServerResponse.toClientResponse(instead, { request })
        const asked = new URLSearchParams(query)
        lie.ask?.(asked)
        const url = `${request.url.slice(0, request.url.indexOf("?"))}?${asked}`
        const response = yield* client.execute(HttpClientRequest.setUrl(request, url))
        if (lie.answer === undefined && lie.text === undefined && lie.headers === undefined) return response
        const text = yield* response.text
        if (response.status !== 200) {
          const refused = HttpServerResponse.text(text, {
            status: response.status,
            contentType: "application/problem+json"
          })
          return HttpServerResponse.toClientResponse(refused, { request })
        }
        const page: Envelope = JSON.parse(text)
        const answered = JSON.stringify(lie.answer?.(page, query) ?? page)
        const sent = HttpServerResponse.text(lie.text?.(answered) ?? answered, {
          contentType: "application/json",
          headers: lie.headers ?? {}
        })
        return HttpServerResponse.toClientResponse(sent, { request })
      })
      return HttpClient.make((request) => lying(request))
    })
  ).pipe(Layer.provide(FakeService.layerClient))

/** Runs an effect while the clock moves, as far as it waits. */
const driven = Effect.fnUntraced(function*<A, E, R>(self: Effect.Effect<A, E, R>) {
  const fiber = yield* Effect.forkChild(self)
  while (fiber.pollUnsafe() === undefined) {
    for (let turn = 0; turn < 50; turn++) yield* Effect.yieldNow
    yield* TestClock.adjust("500 millis")
  }
  return yield* Fiber.join(fiber)
})

export interface Examined {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** By check: the status and the text after it. */
  readonly found: ReadonlyMap<string, readonly [status: string, text: string]>
  /** The checks that are not ok. */
  readonly bad: ReadonlyArray<string>
  /** The checks that failed. */
  readonly failed: ReadonlyArray<string>
  /** The last line. */
  readonly advice: string
}

/** Runs doctor. `waits`: the run waits for the clock. */
export const examine = (
  options: {
    readonly env?: Environment
    readonly lie?: Lie
    readonly flags?: ReadonlyArray<string>
    readonly waits?: boolean
  } = {}
): Effect.Effect<Examined, never, FakeService> => {
  const { env = environment, flags = [], lie = {}, waits = false } = options
  const stdout: Array<string> = []
  const stderr: Array<string> = []
  const ran = run(["doctor", ...flags]).pipe(
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))),
    Effect.provide(layerLying(lie)),
    Effect.provide(Stdio.layerTest({
      stdout: capture(stdout),
      stderr: capture(stderr),
      stdoutIsTerminal: Effect.succeed(false),
      stderrIsTerminal: Effect.succeed(false)
    })),
    Effect.provide(NodeServices.layer)
  )
  return Effect.map(waits ? driven(ran) : ran, (code) => {
    const lines = linesOf(stdout.join(""))
    const found = new Map(
      lines.slice(0, -1).map((line) => {
        const [, status = "", check = line, text = ""] = /^(ok|warn|FAIL) +(.+?) {2,}(.*)$/.exec(line) ?? []
        return [check, [status, text] as const] as const
      })
    )
    const withStatus = (...statuses: ReadonlyArray<string>) =>
      [...found].filter(([, [status]]) => statuses.includes(status)).map(([check]) => check)
    return {
      code,
      stdout: stdout.join(""),
      stderr: stderr.join(""),
      found,
      bad: withStatus("warn", "FAIL", ""),
      failed: withStatus("FAIL"),
      advice: lines.at(-1) ?? ""
    }
  })
}
