/** What `fleet run` tells systemd, and the unit file of the page. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { FakeService } from "../../src/testing/index.ts"
import { environmentOf, started } from "../cli/child.ts"
import { temporaryFolder } from "../cli/support.ts"
import { until } from "../full/kills.ts"
import { needs } from "../support/needs.ts"

const hasAnalyze = ChildProcess.spawnSync("systemd-analyze", ["--version"]).status === 0

/** `fleet run` over a new file, with a `systemd-notify` that notes its call. */
const notified = (variables: Readonly<Record<string, string>>, script: string | undefined) =>
  Effect.gen(function*() {
    const folder = yield* temporaryFolder
    const { url } = yield* FakeServer
    const notes = `${folder}/notes`
    Fs.writeFileSync(notes, "")
    if (script !== undefined) {
      Fs.writeFileSync(`${folder}/systemd-notify`, `#!/bin/sh\n${script.replace("NOTES", notes)}\n`, { mode: 0o755 })
    }
    const { child } = yield* started(["fleet", "run", "--database", `${folder}/punches.db`], {
      ...environmentOf(url),
      PATH: `${folder}:/bin`,
      NOTIFY_SOCKET: `${folder}/socket`,
      ...variables
    })
    let log = ""
    child.stderr.on("data", (bytes) => (log += String(bytes)))
    return { read: () => Fs.readFileSync(notes, "utf8"), log: () => log, folder }
  })

const service = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer()))

describe("systemd", () => {
  it.live("learns that the process is ready, and then that it turns, without its secrets", () =>
    Effect.gen(function*() {
      const { folder, read } = yield* notified(
        { WATCHDOG_USEC: "1000000" },
        "echo \"$@ $(env | sort | tr '\\n' ' ')\" >> NOTES"
      )
      yield* until(Effect.sync(() => read().split("\n").length > 3), "50 millis")
      const [ready, ...alive] = read().trim().split("\n")

      assert.match(ready ?? "", /^READY=1 /)
      for (const line of alive) assert.match(line, /^WATCHDOG=1 /)
      assert.include(ready, `NOTIFY_SOCKET=${folder}/socket`)
      assert.notMatch(read(), /TIME_PUNCHES|secret/i)
    }).pipe(Effect.scoped, Effect.provide(service)))

  it.live("is not needed: the log says that it learns nothing", () =>
    Effect.gen(function*() {
      const { log, read } = yield* notified({}, undefined)
      yield* until(Effect.sync(() => log().includes("systemd does not learn that the process is ready")), "50 millis")

      assert.include(log(), "the fleet runs")
      assert.strictEqual(read(), "")
    }).pipe(Effect.scoped, Effect.provide(service)))

  it.live("takes the unit file of the page", (context) => {
    needs(context, hasAnalyze, "systemd-analyze is not installed")
    return Effect.gen(function*() {
      const [, unit = ""] = /```ini\n(\[Unit\][\s\S]*?)```/.exec(Fs.readFileSync("docs/fleet.md", "utf8")) ?? []
      const file = `${yield* temporaryFolder}/punches-fleet.service`
      // The command and its settings need not be on this machine.
      Fs.writeFileSync(file, unit.replace(/^ExecStart=\S+/m, "ExecStart=/bin/true").replace(/^User=.*$/m, "User=root"))
      const { status, stderr } = ChildProcess.spawnSync("systemd-analyze", ["verify", "--man=no", file], {
        encoding: "utf8"
      })

      assert.include(unit, "Type=notify")
      assert.deepStrictEqual([status, stderr], [0, ""])
    }).pipe(Effect.scoped)
  })
})
