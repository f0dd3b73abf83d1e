/** Kills a program in the middle of writing the key of its checkpoint: a copy without a transaction. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { start } from "../cli/child.ts"
import { temporaryFolder } from "../cli/support.ts"
import { punches, served } from "./syncService.ts"

/** Five pages. */
const count = 1000

const program = new URL("syncKeys.program.ts", import.meta.url).pathname

/** Runs the program into a folder, killed while it writes a key for this time; 0 lets it end. */
const run = (folder: string, cut: number) =>
  Effect.gen(function*() {
    const { url } = yield* FakeServer
    const { ended } = start([url, folder, `${cut}`], { PATH: process.env["PATH"] ?? "" }, program)
    return yield* Effect.promise(() => ended)
  })

/** The keys that are whole, of those that are there. */
const wholeKeys = (folder: string) => {
  const texts = Fs.globSync(`${folder}/*.json`).map((file) => Fs.readFileSync(file, "utf8"))
  return [texts.filter((text) => text.endsWith("}")).length, texts.length]
}

const rowsIn = (folder: string) => {
  const database = new DatabaseSync(`${folder}/rows.db`, { readOnly: true })
  const rows = database.prepare("SELECT id, notes, written FROM rows ORDER BY id").all()
  database.close()
  return rows
}

describe("Sync.run over a KeyValueStore of files", () => {
  it.live(
    "[Y2] [Y73] reads the other key where it was killed in the middle of writing one, and the page comes again",
    () =>
      Effect.gen(function*() {
        const folder = yield* temporaryFolder
        const first = yield* run(folder, 1)
        assert.deepStrictEqual([first.signal, wholeKeys(folder), rowsIn(folder)], ["SIGKILL", [0, 1], []])

        let kills = 1
        for (; kills < 40; kills++) {
          const { signal, stderr, stdout } = yield* run(folder, 2 + kills % 2)
          if (signal === null) {
            assert.strictEqual(stdout, `{"complete":true,"hasWatermark":true}\n`, stderr)
            break
          }
          const [whole, all] = wholeKeys(folder)
          assert.deepStrictEqual([signal, whole], ["SIGKILL", (all ?? 0) - 1])
        }
        const rows = rowsIn(folder)

        assert.isAbove(kills, 3)
        assert.deepStrictEqual(
          rows.map(({ id, notes }) => [id, notes]),
          punches.slice(0, count).map(({ id, notes }) => [id, notes])
        )
        // At least once: the page whose key was cut.
        assert.isAbove(rows.filter(({ written }) => Number(written) > 1).length, 200)
      }).pipe(Effect.scoped, Effect.provide(served(count))),
    120_000
  )
})
