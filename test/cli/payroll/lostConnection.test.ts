/** A payroll file whose connection to PostgreSQL is lost. Every other verb in `test/full`. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import * as Fs from "node:fs"
import { Patience } from "../../../src/internal/sql/transaction.ts"
import { FakeService } from "../../../src/testing/index.ts"
import { openLossy, punches, writers } from "../../support/lostConnections.ts"
import { needs } from "../../support/needs.ts"
import { hasPrograms, noPostgres } from "../../support/postgres.ts"
import { cli, environment, temporaryFolder } from "../support.ts"

describe("a payroll file whose connection is lost", () => {
  it.live("is written whole, and the verb ends with 0, or is not written", (context) => {
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
