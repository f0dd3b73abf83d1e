/** Closes whose connection to PostgreSQL is lost: about the COMMIT in this process; everywhere in `test/full`. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import * as Fs from "node:fs"
import { Patience } from "../../../src/internal/sql/transaction.ts"
import { FakeService } from "../../../src/testing/index.ts"
import { openLossy, punches, writers } from "../../support/lostConnections.ts"
import { needs } from "../../support/needs.ts"
import { hasPrograms, noPostgres } from "../../support/postgres.ts"
import { cli, environment, temporaryFolder } from "../support.ts"

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

  it.live("has written its file whole and ended with 0, or has written none", (context) => {
    needs(context, hasPrograms, noPostgres)
    return Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const [mapping, output] = [`${folder}/mapping.json`, `${folder}/pay.csv`]
      const columns = [{ header: "User", value: "userId" }, { header: "Hours", value: "hours" }]
      Fs.writeFileSync(
        mapping,
        JSON.stringify({ v: 1, by: ["user"], hours: "minutes", rounding: "halfUp", columns, lineEnd: "\n" })
      )
      let [written, unnoted] = [0, 0]
      const { passes, survives } = yield* openLossy((args, url) =>
        Effect.suspend(() => {
          Fs.rmSync(output, { force: true })
          return cli(args, { env: { ...environment, TIME_PUNCHES_DATABASE_URL: url } })
        }).pipe(
          Effect.provideService(Patience, Duration.millis(500)),
          Effect.tap(({ code, stderr }) =>
            Effect.sync(() => {
              if (args[1] !== "file") return
              assert.strictEqual(Fs.existsSync(output), code === 0, stderr)
              if (code !== 0) return
              written++
              if (stderr.includes("has no note of it")) unnoted++
              assert.strictEqual(Fs.readFileSync(output, "utf8"), "User,Hours\n501,960\n502,960\n503,960\n")
            })
          )
        )
      )
      yield* passes(writers.close)
      yield* survives(["payroll", "file", "1.1", "--mapping", mapping, "--output", output], 12)
      assert.isAbove(written, 4)
      assert.isBelow(unnoted, written)
    }).pipe(Effect.scoped, Effect.provide(FakeService.layer({ punches })))
  })
})
