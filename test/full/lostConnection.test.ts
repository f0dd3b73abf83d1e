/** Each message of PostgreSQL that a verb of the bundled command sends is lost, or its answer: never exit 1, and no doubt what was written. */
import { describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { FakeService } from "../../src/testing/index.ts"
import { environmentOf, started } from "../cli/child.ts"
import { cli, environment } from "../cli/support.ts"
import { checkOf, openLossy, punches, readers, type Run, writers } from "../support/lostConnections.ts"
import { needs } from "../support/needs.ts"
import { hasPrograms, noPostgres } from "../support/postgres.ts"

/** Every verb, in the order in which each finds something to do; of its cuts `most`, or all. */
const survivesAll = <R>(run: Run<R>, most?: number) =>
  Effect.gen(function*() {
    const { edit, losesForGood, passes, survives, url } = yield* openLossy(run)
    for (const [name, args] of Object.entries(writers)) {
      if (name === "correct") yield* edit
      yield* survives(args, most)
      yield* losesForGood(args)
      yield* passes(args)
    }
    // The void has left the amounts of the edit due.
    for (const args of [...Object.values(readers), checkOf(url)]) {
      yield* survives(args, most)
    }
  })

describe("a verb whose connection to PostgreSQL is lost", () => {
  it.live("at any message ends with 0 or 8, writes at most one revision, and prints or names it", (context) => {
    needs(context, hasPrograms, noPostgres)
    return survivesAll((args, url) => cli(args, { env: { ...environment, TIME_PUNCHES_DATABASE_URL: url } })).pipe(
      Effect.scoped,
      Effect.provide(FakeService.layer({ punches }))
    )
  }, 600_000)

  it.live("does so as a process too", (context) => {
    needs(context, hasPrograms, noPostgres)
    return Effect.gen(function*() {
      const { url: service } = yield* FakeServer
      yield* survivesAll((args, url) =>
        Effect.scoped(Effect.flatMap(
          started(args, { ...environmentOf(service), TIME_PUNCHES_DATABASE_URL: url }),
          ({ ended }) => Effect.promise(() => ended)
        )), 8)
    }).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(FakeServer.layer(), FakeService.layer({ punches }))))
  }, 600_000)
})
