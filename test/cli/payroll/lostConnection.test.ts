/** Closes whose connection to PostgreSQL is lost: about the COMMIT in this process; everywhere in `test/full`. */
import { describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { Patience } from "../../../src/internal/sql/transaction.ts"
import { FakeService } from "../../../src/testing/index.ts"
import { openLossy, punches, writers } from "../../support/lostConnections.ts"
import { needs } from "../../support/needs.ts"
import { hasPrograms, noPostgres } from "../../support/postgres.ts"
import { cli, environment } from "../support.ts"

describe("a payroll verb whose connection is lost", () => {
  it.live("ends with 0 or 8, writes at most one revision, and prints or names it", (context) => {
    needs(context, hasPrograms, noPostgres)
    return Effect.gen(function*() {
      const { edit, losesForGood, passes, survives } = yield* openLossy((args, url) =>
        cli(args, { env: { ...environment, TIME_PUNCHES_DATABASE_URL: url } }).pipe(
          Effect.provideService(Patience, Duration.millis(500))
        )
      )
      yield* passes(writers.close)
      yield* edit
      yield* survives(writers.correct, 4)
      yield* losesForGood(writers.correct)
    }).pipe(Effect.scoped, Effect.provide(FakeService.layer({ punches })))
  })
})
