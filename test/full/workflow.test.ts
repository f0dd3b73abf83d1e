/** The recipe of a durable workflow, with an engine that keeps its state in SQLite: its process gets SIGKILL, and another continues. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Fs from "node:fs"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, generatePunches } from "../../src/testing/index.ts"
import { ended, started } from "../cli/child.ts"
import { linesOf, temporaryFolder } from "../cli/support.ts"
import { until } from "./kills.ts"

const punches = generatePunches({ seed: 3, count: 1200, companyId: defaultCompany.id, deletedShare: 0 })

const served = FakeServer.layer().pipe(
  Layer.provideMerge(FakeService.layer({ punches, latency: "200 millis" }))
)

const program = new URL("workflow.program.ts", import.meta.url).pathname

describe("a workflow whose process is killed", () => {
  it.live("continues at its page in the next process, and loses no row", () =>
    Effect.gen(function*() {
      const { url } = yield* FakeServer
      const folder = yield* temporaryFolder
      const written = () =>
        linesOf(Fs.existsSync(`${folder}/written`) ? Fs.readFileSync(`${folder}/written`, "utf8") : "")
      const start = started([url, folder], { PATH: process.env["PATH"] ?? "" }, program)
      for (const rows of [400, 800]) {
        const running = yield* start
        yield* until(Effect.sync(() => written().length >= rows), "5 millis")
        running.child.kill("SIGKILL")
        const { signal } = yield* ended(running)
        assert.strictEqual(signal, "SIGKILL")
      }
      const whole = yield* Effect.flatMap(start, ended)
      const requests = (yield* (yield* FakeService).requests).filter(({ endpoint }) => endpoint === "page")

      assert.deepStrictEqual([whole.code, whole.stdout], [0, "1200\n"], whole.stderr)
      assert.deepStrictEqual(new Set(written()), new Set(punches.map(({ id }) => `${id}`)))
      // A kill repeats the page that it met, and no other.
      assert.isAtMost(requests.length, 8)
      assert.isAtMost(written().length, 1600)
    }).pipe(Effect.scoped, Effect.provide(served)))
})
