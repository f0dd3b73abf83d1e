/** Streams that have read a page and wait for their consumer: the timers that stay alive. */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Stream from "effect/Stream"
import { CompanyId, TimePunches } from "../../dist/index.js"
import { transport } from "./lean.ts"
import { app } from "./ours.ts"
import { companyId } from "./raw.ts"

export const idle = async ({ streams, url }: { readonly streams: number; readonly url: string }) => {
  const runtime = ManagedRuntime.make(app(url, transport))
  let waiting = 0
  const allWait = Latch.makeUnsafe()
  const one = TimePunches.pages(CompanyId.make(companyId)).pipe(
    Stream.runForEach(() => {
      if (++waiting === streams) allWait.openUnsafe()
      return Effect.never
    })
  )
  const all = Effect.all(Array.from({ length: streams }, () => one), { concurrency: "unbounded", discard: true })
  const counted = allWait.await.pipe(
    Effect.andThen(Effect.sleep("500 millis")),
    Effect.map(() => process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length)
  )
  return { timers: await runtime.runPromise(Effect.raceFirst(counted, Effect.andThen(all, Effect.die("they ended")))) }
}
