/** Kills exports of the real command with SIGKILL, at chosen times and at chosen writes to the disk. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Schema } from "effect"
import * as Fs from "node:fs"
import { prng } from "../../src/testing/base/prng.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../../src/testing/index.ts"
import { type Ended, ended, environmentOf, type Running, started } from "../cli/child.ts"
import { temporaryFolder } from "../cli/support.ts"

const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({
  punches: generatePunches({ seed: 10, count: 3000, companyId: defaultCompany.id }),
  // The rows of about a second are written together: a run must take several.
  latency: "40 millis"
})))

const inService = <A, E, R>(effect: Effect.Effect<A, E, R>) => effect.pipe(Effect.scoped, Effect.provide(served))

const run = (args: ReadonlyArray<string>, disturb: (running: Running) => void = () => {}) =>
  Effect.gen(function*() {
    const { url } = yield* FakeServer
    const running = yield* started(args, environmentOf(url))
    disturb(running)
    return yield* ended(running)
  }).pipe(Effect.scoped)

/** Kills the process at the nth change of a file of this name; `scratch` is a state file before its rename. */
const atFile = (folder: string, name: string, nth: number) => ({ child }: Running) => {
  let seen = 0
  const watcher = Fs.watch(folder, (_, changed) => {
    const what = changed?.endsWith(".tmp") ? "scratch" : changed
    if (what === name && ++seen === nth) child.kill("SIGKILL")
  })
  child.on("close", () => watcher.close())
}

/** Kills the process a time after its first change on the disk. */
const afterMillis = (folder: string, millis: number) => ({ child }: Running) => {
  const watcher = Fs.watch(folder, () => {
    watcher.close()
    setTimeout(() => child.kill("SIGKILL"), millis)
  })
  child.on("close", () => watcher.close())
}

const decodeState = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({
  bytes: Schema.Int,
  complete: Schema.Boolean
})))

/** Asserts what holds at every moment: the output is whole, and every byte that the state counts is on disk. */
const check = (folder: string, whole: Buffer) => {
  const file = (suffix: string) =>
    Fs.existsSync(`${folder}/punches${suffix}`) ? Fs.readFileSync(`${folder}/punches${suffix}`) : undefined
  const output = file("")
  if (output !== undefined) assert.isTrue(output.equals(whole), "the output is whole as soon as it exists")
  const text = file(".resume.json")
  if (text === undefined) return
  const state = decodeState(text.toString())
  const rows = file(".part") ?? (state.complete ? output : undefined) ?? Buffer.alloc(0)
  assert.isTrue(
    rows.subarray(0, state.bytes).equals(whole.subarray(0, state.bytes)),
    "the bytes that the state counts are on disk"
  )
}

const isKilled = ({ signal }: Ended) => signal === "SIGKILL"

describe("time-punches export", () => {
  it.live.each(["ndjson", "csv"])(
    "gives the same file of %s whenever it is killed and run again",
    (format) =>
      inService(Effect.gen(function*() {
        const folder = yield* temporaryFolder
        const command = ["export", "--format", format, "--page-size", "50", "--output", `${folder}/punches`]
        const undisturbed = yield* run(command)
        const whole = Fs.readFileSync(`${folder}/punches`)
        Fs.rmSync(`${folder}/punches`)
        assert.strictEqual(undisturbed.code, 0)

        const { between } = prng(11)
        const names = ["punches.part", "scratch", "punches.resume.json", "punches"]
        const disturbances = [
          ...[1, 2, 3, 9].flatMap((nth) => names.map((name) => atFile(folder, name, nth))),
          ...Array.from({ length: 8 }, () => afterMillis(folder, between(0, 2500)))
        ]
        let kills = 0
        let files = 0
        for (const disturbance of disturbances) {
          const ended = yield* run(command, disturbance)
          assert.isTrue(isKilled(ended) || ended.code === 0, ended.stderr)
          check(folder, whole)
          if (isKilled(ended)) {
            kills += 1
            // It was killed after its last step: the file is no longer one of an export.
            if (Fs.readdirSync(folder).join() === "punches") Fs.rmSync(`${folder}/punches`)
          } else {
            files += 1
            assert.deepStrictEqual(Fs.readdirSync(folder), ["punches"])
            Fs.rmSync(`${folder}/punches`)
          }
        }
        const last = yield* run(command)

        assert.isAbove(kills, 12)
        assert.strictEqual(last.code, 0, `${files} complete runs`)
        assert.deepStrictEqual(Fs.readdirSync(folder), ["punches"])
        assert.isTrue(Fs.readFileSync(`${folder}/punches`).equals(whole))
      }))
  )

  it.live("resumes after SIGTERM", () =>
    inService(Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const command = ["export", "--page-size", "50", "--output", `${folder}/punches`]
      const ended = yield* run(command, ({ child }) => {
        const watcher = Fs.watch(folder, (_, changed) => {
          if (changed !== "punches.part") return
          // Once: a second signal ends the process before it has saved its pages.
          watcher.close()
          child.kill("SIGTERM")
        })
        child.on("close", () => watcher.close())
      })
      const again = yield* run(command)

      assert.strictEqual(ended.code, 130)
      assert.match(ended.stderr, /^interrupted\n.* are saved\. To resume the export, run the same command again\.\n$/)
      assert.match(again.stderr, /^resuming after /)
      assert.strictEqual(again.code, 0)
    })))

  it.live("lets one of two concurrent runs finish", () =>
    inService(Effect.gen(function*() {
      const service = yield* FakeService
      const folder = yield* temporaryFolder
      const command = ["export", "--page-size", "50", "--output"]
      yield* run([...command, `${folder}/whole`])
      yield* service.inject(Fault.slow("100 millis"))
      const both = [...command, `${folder}/punches`]
      const first = yield* Effect.forkChild(run(both))
      while (!Fs.existsSync(`${folder}/punches.part`)) yield* Effect.sleep("5 millis")
      const ended = [yield* run(both), yield* Fiber.join(first)].toSorted((a, b) => (a.code ?? 0) - (b.code ?? 0))

      assert.deepStrictEqual(ended.map(({ code }) => code), [0, 8], JSON.stringify(ended))
      assert.match(ended[1]?.stderr ?? "", /another run has taken over/)
      assert.deepStrictEqual(Fs.readdirSync(folder).toSorted(), ["punches", "whole"])
      assert.isTrue(Fs.readFileSync(`${folder}/punches`).equals(Fs.readFileSync(`${folder}/whole`)))
    })))
})
