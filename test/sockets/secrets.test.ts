/** Secrets appear only in the headers that need them: not in an error, a log, a span or a metric, also if a response repeats them. */
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Cause, DateTime, Effect, Exit, Layer, Metric, Option, Redacted, Stream } from "effect"
import { FetchHttpClient, Headers, HttpClient } from "effect/http"
import { inspect } from "node:util"
import { Credentials, LocationId, TimePunches, UserId } from "../../src/index.ts"
import { company } from "../support/client.ts"
import { building, environment } from "../support/settings.ts"
import { client, transports } from "../support/transports.ts"
import { wirePage, wirePunch } from "../support/wire.ts"
import { everything, isTokenRequest, pageFailures, tokenFailures } from "./support/echo.ts"
import { canary, leaks, Recorded, recordedSurfaces, recording, surfacesOf } from "./support/leaks.ts"
import { type Answer, rawServer, whole } from "./support/rawServer.ts"

const accessToken = canary("CnryAcc7Qx2Wv", "a+", "/=%7E&\"q\\<9>'")
const clientSecret = canary("CnrySec8Lm4Tz", "s +", "/=%7e&\"q\\<9>'")
const issued = canary("CnryIss5Hb9Rk", "i+", "/.~_z==")
const cookie = canary("CnryCk3Jd6Yp", "c+!#$%&'()*", "/:<=>?@[]^_`{|}~9")
const canaries = [accessToken, clientSecret, issued, cookie]

const kinds = [
  {
    kind: "an access token",
    known: [accessToken],
    credentials: Credentials.layerAccessToken(Redacted.make(accessToken.value))
  },
  {
    kind: "a session cookie",
    known: [cookie],
    credentials: Credentials.layerSessionCookie(Redacted.make(cookie.value))
  },
  {
    kind: "an OAuth client",
    known: [clientSecret, issued],
    credentials: Credentials.layerOAuth({ clientId: "client", clientSecret: Redacted.make(clientSecret.value) })
  }
] as const

const oauth = kinds[2].credentials

const lastPage = JSON.stringify(wirePage([wirePunch()]))
const withNext = whole(200, JSON.stringify(wirePage([wirePunch()], { next: "Cnry-cursor" })))
const unavailable = whole(503, "{}", { "content-type": "application/problem+json", "retry-after": "9999" })

const token = whole(200, JSON.stringify({ access_token: issued.value, token_type: "Bearer", expires_in: 3600 }))

/** Gives this answer to page requests, or to token requests; a token otherwise. */
const echoing = (answer: Answer, toToken = false) =>
  rawServer({ answers: (request) => isTokenRequest(request) ? toToken ? answer : token : answer })

/** An application that records every header, with a separate list of private ones. */
const curious = Layer.mergeAll(
  recording,
  Layer.succeed(HttpClient.TracerHeaderFilter, () => true),
  Layer.succeed(Headers.CurrentRedactedNames, ["x-of-the-application"])
)

/** The error of a page, and the secrets on any surface of the run. */
const shown = Effect.fnUntraced(function*(app: Layer.Layer<TimePunches>) {
  const exit = yield* TimePunches.page(company).pipe(
    Effect.tapCause((cause) => Effect.logError("a page failed", cause)),
    Effect.withSpan("a run of the application"),
    Effect.provide(app),
    Effect.exit
  )
  const error = Exit.isFailure(exit) ? Option.getOrUndefined(Cause.findErrorOption(exit.cause)) : undefined
  const { spans } = yield* Recorded
  const found = leaks({ ...surfacesOf(error), ...surfacesOf(exit), ...yield* recordedSurfaces }, canaries)
  return { tag: error?._tag, leaks: found, attributes: spans.flatMap((span) => Array.from(span.attributes)) }
}, Effect.provide(curious))

describe.each(transports)("a failure over $transport", ({ http }) => {
  describe.each(kinds)("with $kind", ({ credentials, known }) => {
    const app = (url: string) => client(url, http, { credentials, attempts: 2, attemptTimeout: "150 millis" })

    it.live.each(pageFailures)(
      "[S1] [S2] [S3] [S4] [S6] shows no secret: %s by %s",
      ([tag, _what, answer]) =>
        Effect.gen(function*() {
          const { url } = yield* echoing(answer(everything(known)))

          assert.deepInclude(yield* shown(app(url)), { tag, leaks: [] })
        })
    )
  })

  it.live.each(tokenFailures)(
    "[S1] [S8] shows no secret when no token is issued: %s",
    ([_what, answer]) =>
      Effect.gen(function*() {
        const { url } = yield* echoing(answer(everything([clientSecret])), true)
        const app = client(url, http, { credentials: oauth, attempts: 2 })

        assert.deepInclude(yield* shown(app), { tag: "TokenError", leaks: [] })
      })
  )
})

describe("a run that succeeds", () => {
  const from = DateTime.makeUnsafe("2026-03-01T06:07:08Z")
  const filter = {
    userId: UserId.make(90817263),
    locationId: LocationId.make(54637281),
    clockedIn: { gte: from, lt: DateTime.add(from, { days: 7 }) },
    modifiedSince: from
  }
  /** The filter and the cursor as in a URL, or in a text made of one. */
  const particulars = ["90817263", "54637281", "2026-03-01", "06:07:08", "06%3A07", "Cnry-cursor", "2026-03-08"]

  const ends = transports.flatMap((over) =>
    [{ ...over, end: unavailable, what: "a refusal" }, { ...over, end: "RESET", what: "a reset" }] as const
  )

  it.live.each(ends)(
    "[S5] shows neither cursor nor filter in its spans over $transport, up to $what",
    ({ end, http }) =>
      Effect.gen(function*() {
        const row = wirePunch({ user_id: 90817263, location_id: 54637281, clocked_in: "2026-03-02T08:00:00Z" })
        const page = whole(200, JSON.stringify(wirePage([row], { next: "Cnry-cursor" })))
        const { requests, url } = yield* rawServer({ answers: [token, page, end] })
        yield* TimePunches.list(company, filter).pipe(
          Stream.runDrain,
          Effect.exit,
          Effect.provide(client(url, http, { credentials: oauth, attempts: 1 }))
        )
        const { spans } = yield* Recorded
        const recorded = spans.flatMap(({ attributes, events, name, status }) => [
          name,
          inspect([[...attributes], events], { depth: Infinity }),
          status._tag === "Ended" && Exit.isFailure(status.exit)
            ? Cause.prettyErrors(status.exit.cause).map(String).join()
            : ""
        ])

        assert.include(requests.at(-1)?.line, "cursor=Cnry-cursor")
        assert.include(requests.at(-1)?.line, "user_id=90817263")
        assert.isAtLeast(spans.filter(({ kind }) => kind === "client").length, 3)
        assert.deepStrictEqual(
          recorded.filter((text) => particulars.some((particular) => text.includes(particular))),
          []
        )
      }).pipe(Effect.provide(curious))
  )

  it.live.each(transports)(
    "[S3] shows no secret in the spans of its requests over $transport",
    ({ http }) =>
      Effect.gen(function*() {
        const { url } = yield* rawServer({ answers: [token, whole(200, lastPage)] })
        const { attributes, leaks, tag } = yield* shown(client(url, http, { credentials: oauth }))

        assert.deepStrictEqual({ tag, leaks }, { tag: undefined, leaks: [] })
        assert.deepInclude(attributes, ["http.request.header.authorization", "<redacted>"])
        assert.deepInclude(attributes, ["http.request.header.x-company-guid", "<redacted>"])
      })
  )

  it.live("[S11] shows in its metrics what happened, not to whom", () =>
    Effect.gen(function*() {
      const { url } = yield* rawServer({ answers: [token, "RESET", withNext, unavailable] })
      yield* TimePunches.list(company, filter).pipe(
        Stream.runDrain,
        Effect.exit,
        Effect.provide(client(url, NodeHttpClient.layerFetch, { credentials: oauth }))
      )
      const metrics = yield* Metric.snapshot
      const text = inspect(metrics, { depth: Infinity, customInspect: false, showHidden: true })

      assert.include(text, "time_punches_retries")
      assert.deepStrictEqual(leaks({ metrics: text }, canaries), [])
      assert.deepStrictEqual([...particulars, String(company.id), company.guid].filter((id) => text.includes(id)), [])
    }))
})

describe("a setting that cannot be sent", () => {
  const spoilt = (secret: string) =>
    [
      ["a line end", `${secret}\n`],
      ["a space before it", ` ${secret}`],
      ["a control character", `${secret}\u0000x`],
      ["a letter that is not ASCII", `${secret}é`],
      ["twenty thousand characters", secret.repeat(2000)]
    ] as const

  const settings = [
    ...spoilt(accessToken.value).map(([what, value]) =>
      ["TIME_PUNCHES_ACCESS_TOKEN", what, { TIME_PUNCHES_ACCESS_TOKEN: value }] as const
    ),
    ...spoilt(cookie.value).map(([what, value]) =>
      ["TIME_PUNCHES_SESSION_COOKIE", what, { TIME_PUNCHES_SESSION_COOKIE: value }] as const
    ),
    ...spoilt(clientSecret.value).map(([what, value]) =>
      ["TIME_PUNCHES_CLIENT_SECRET", what, {
        TIME_PUNCHES_CLIENT_ID: "client",
        TIME_PUNCHES_CLIENT_SECRET: value
      }] as const
    )
  ]

  it.effect.each(settings)(
    "[K5] is refused without being shown: %s with %s",
    ([name, _how, env]) =>
      Effect.gen(function*() {
        const app = TimePunches.layerFromConfig.pipe(
          Layer.provide(environment({ TIME_PUNCHES_BASE_URL: "https://api.test", ...env })),
          Layer.provide(FetchHttpClient.layer)
        )
        const error = yield* Effect.flip(building(app))

        assert.include(String(error), name)
        assert.deepStrictEqual(leaks(surfacesOf(error), canaries), [])
      })
  )

  it.effect.each(settings)(
    "[K5] is refused without being shown, beside another: %s with %s",
    ([_what, _how, env]) =>
      Effect.gen(function*() {
        const both = { TIME_PUNCHES_ACCESS_TOKEN: "other", TIME_PUNCHES_SESSION_COOKIE: cookie.value, ...env }
        const app = TimePunches.layerFromConfig.pipe(
          Layer.provide(environment({ TIME_PUNCHES_BASE_URL: "https://api.test", ...both })),
          Layer.provide(FetchHttpClient.layer)
        )

        assert.deepStrictEqual(leaks(surfacesOf(yield* Effect.flip(building(app))), canaries), [])
      })
  )

  it.live.each(spoilt(accessToken.value))(
    "[A18] is refused at the lookup of a token: %s",
    ([_what, value]) =>
      Effect.gen(function*() {
        const { requests, url } = yield* rawServer({ answers: [whole(200, lastPage)] })
        const credentials = Credentials.layerAccessTokens(() => Effect.succeed(Redacted.make(value)))

        assert.deepInclude(yield* shown(client(url, NodeHttpClient.layerFetch, { credentials })), {
          tag: "InvalidRequest",
          leaks: []
        })
        assert.strictEqual(requests.length, 0)
      })
  )
})
