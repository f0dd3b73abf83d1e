/** The order of the calls of a close: what it records is on disk when the command has ended, also beside an open copy. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { FakeService } from "../../../src/testing/index.ts"
import { needs } from "../../support/needs.ts"
import { servicePunch } from "../../support/wire.ts"
import { commandOf } from "../child.ts"
import { cli, companyOnly, temporaryFolder } from "../support.ts"

const hasStrace = ChildProcess.spawnSync("strace", ["-V"]).status === 0
const week = ["--week", "2026-03-02", "--zone", "America/New_York", "--accept", "stale"]

/** The calls that write the log of a copy, or wait for the disk with it. */
const callsOfLog = (file: string, words: ReadonlyArray<string>) => {
  const log = `${file}.calls`
  const trace = ["-f", "-y", "-o", log, "-e", "trace=pwrite64,fsync,fdatasync"]
  const { status, stderr } = ChildProcess.spawnSync(
    "strace",
    [...trace, process.execPath, ...commandOf([...words, "--database", file])],
    { env: { ...companyOnly, PATH: process.env["PATH"] ?? "" }, encoding: "utf8" }
  )
  assert.strictEqual(status, 0, stderr)
  return Fs.readFileSync(log, "utf8").split("\n")
    .filter((line) => line.includes(`${file}-wal>`))
    .map((line) => line.includes("pwrite64") ? "write" : "sync")
}

describe("payroll", () => {
  it.live(
    "close, correct and void wait for the disk after their last write, while another process has the copy open",
    (context) => {
      needs(context, hasStrace, "strace, to see calls of the system")
      return Effect.gen(function*() {
        const file = `${yield* temporaryFolder}/punches.db`
        const sync = cli(["sync", "--history", "--database", file])
        assert.strictEqual((yield* sync).code, 0)
        const open = new DatabaseSync(file)
        open.exec("SELECT 1 FROM sqlite_master")
        for (const words of [["close", ...week], ["correct"], ["void", "1.2", "--note", "not sent"]]) {
          if (words[0] === "correct") {
            yield* FakeService.use((service) => service.edit([1], { clocked_out: "2026-03-03T23:00:00Z" }))
            assert.strictEqual((yield* sync).code, 0)
          }
          const calls = callsOfLog(file, ["payroll", ...words])
          assert.include(calls, "write", words.join(" "))
          assert.strictEqual(calls.at(-1), "sync", words.join(" "))
        }
        open.close()
      }).pipe(
        Effect.scoped,
        Effect.provide(FakeService.layer({
          punches: [
            servicePunch({
              id: 1,
              approved: true,
              clocked_in: "2026-03-03T14:00:00Z",
              clocked_out: "2026-03-03T22:00:00Z"
            })
          ]
        }))
      )
    },
    60_000
  )
})
