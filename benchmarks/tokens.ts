/** A warm token cache: what signing adds to every page. */
import { Duration, Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { TokenCache, TokenEndpoint } from "../src/index.ts"

export interface TokenRow {
  readonly nsPerGet: number
  readonly requestsOfTenThousandColdFibers: number
}

export const tokens = async ({ gets }: { readonly gets: number }): Promise<TokenRow> => {
  let requests = 0
  const endpoint = Layer.succeed(TokenEndpoint, {
    requestToken: Effect.delay(
      Effect.sync(() => {
        requests++
        return { token: Redacted.make("token"), lifetime: Duration.hours(1) }
      }),
      20
    )
  })
  const runtime = ManagedRuntime.make(TokenCache.layer.pipe(Layer.provide(endpoint)))
  const cache = await runtime.runPromise(Effect.service(TokenCache))
  await runtime.runPromise(
    Effect.all(Array.from({ length: 10_000 }, () => cache.get), { concurrency: "unbounded", discard: true })
  )
  const loop = (times: number) =>
    Effect.gen(function*() {
      for (let i = 0; i < times; i++) yield* cache.get
    })
  const empty = (times: number) =>
    Effect.gen(function*() {
      for (let i = 0; i < times; i++) yield* Effect.void
    })
  await runtime.runPromise(loop(gets / 10))
  await runtime.runPromise(empty(gets / 10))
  const spent = async (run: Effect.Effect<void, unknown>) => {
    const start = process.hrtime.bigint()
    await runtime.runPromise(run)
    return Number(process.hrtime.bigint() - start)
  }
  const nsPerGet = (await spent(loop(gets)) - await spent(empty(gets))) / gets
  await runtime.dispose()
  return { nsPerGet, requestsOfTenThousandColdFibers: requests }
}
