/** A file of `--output` in a folder where another user may create and rename files: nothing but that file changes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { FakeServer } from "../../../src/testing/FakeServer.ts"
import { FakeService, Fault } from "../../../src/testing/index.ts"
import { needs } from "../../support/needs.ts"
import { servicePunch } from "../../support/wire.ts"
import { bundle } from "../bundle.ts"
import { canBecome, commandOf, ended, environmentOf, started, type User } from "../child.ts"
import { temporaryFolder } from "../support.ts"

const one: User = { uid: 61_001, gid: 61_001 }
const other: User = { uid: 61_002, gid: 61_002 }

const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({
  punches: [1, 2, 3].map((id) => servicePunch({ id, user_id: 500 + id }))
})))

/** Swaps each file that is being written for a link to the secret, in the other user's own process, for as long as it is there. */
const swap = (folder: string, secret: string) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      ChildProcess.spawn(
        "sh",
        [
          "-c",
          "while :; do for f in out.*.tmp out.part; do if [ -f \"$f\" ] && [ ! -L \"$f\" ]; then " +
          "mv -f \"$f\" taken && ln -s \"$0\" \"$f\"; fi; done; done",
          secret
        ],
        { cwd: folder, stdio: "ignore", ...other }
      )
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )

const verbs = ["list", "export"]

const hasStrace = ChildProcess.spawnSync("strace", ["-V"]).status === 0

/** Runs the command, and returns the calls of the system that change a file, in their order. */
const calls = (folder: string, words: ReadonlyArray<string>, env: Record<string, string>) =>
  Effect.promise(() =>
    new Promise<ReadonlyArray<string>>((resolve) => {
      const traced = "fchown,fchmod,chown,chmod,fchownat,fchmodat,fsync,rename"
      const log = Path.join(folder, "calls.log")
      ChildProcess.spawn("strace", [
        "-f",
        "-y",
        "-o",
        log,
        "-e",
        `trace=${traced}`,
        process.execPath,
        ...commandOf(words)
      ], {
        env,
        stdio: "ignore"
      }).on("close", () => resolve(Fs.readFileSync(log, "utf8").split("\n")))
    })
  )

describe("--output in a folder that others may write", () => {
  for (const verb of verbs) {
    it.live(`of ${verb} --force changes no file behind a link that is put in its place`, (context) => {
      needs(context, canBecome(other), "root, and a build that other users may read")
      return Effect.gen(function*() {
        const folder = yield* temporaryFolder
        const secret = Path.join(yield* temporaryFolder, "secret")
        Fs.writeFileSync(secret, "key", { mode: 0o600 })
        Fs.chmodSync(folder, 0o777)
        const output = Path.join(folder, "out")
        Fs.writeFileSync(output, "old")
        Fs.chownSync(output, other.uid, other.gid)
        Fs.chmodSync(output, 0o666)
        yield* swap(folder, secret)
        yield* FakeService.use((service) => service.inject(Fault.slow("200 millis")))
        const env = environmentOf((yield* FakeServer).url)
        const words = [verb, "--format", "csv", "--force", "--output", output]
        const { code, stderr } = yield* ended(yield* started(words, env, bundle, folder))
        const { gid, mode, uid } = Fs.statSync(secret)

        assert.deepStrictEqual(
          [uid, gid, (mode & 0o777).toString(8), Fs.readFileSync(secret, "utf8")],
          [0, 0, "600", "key"]
        )
        assert.strictEqual(code, 8, stderr)
      }).pipe(Effect.scoped, Effect.provide(served))
    })

    it.live(
      `of ${verb} --force shows its rows to no other user, if the file cannot have the group of the old one`,
      (context) => {
        needs(context, canBecome(one), "root, and a build that other users may read")
        return Effect.gen(function*() {
          const folder = yield* temporaryFolder
          Fs.chownSync(folder, one.uid, one.gid)
          const output = Path.join(folder, "out")
          Fs.writeFileSync(output, "old")
          Fs.chownSync(output, one.uid, other.gid)
          Fs.chmodSync(output, 0o664)
          const env = { ...environmentOf((yield* FakeServer).url), HOME: "/" }
          const words = [verb, "--format", "csv", "--force", "--output", output]
          const { code, stderr } = yield* ended(yield* started(words, env, bundle, folder, one))

          assert.strictEqual(code, 0, stderr)
          assert.strictEqual((Fs.statSync(output).mode & 0o777).toString(8), "604")
        }).pipe(Effect.scoped, Effect.provide(served))
      }
    )

    it.live(
      `of ${verb} --force gets its owner, then its rights, then the disk, by descriptor, before its name`,
      (context) => {
        needs(context, hasStrace && process.getuid?.() === 0, "root, and strace to see calls of the system")
        return Effect.gen(function*() {
          const folder = yield* temporaryFolder
          const output = Path.join(folder, "out")
          Fs.writeFileSync(output, "old")
          Fs.chownSync(output, other.uid, other.gid)
          Fs.chmodSync(output, 0o640)
          const words = [verb, "--format", "csv", "--force", "--output", output]
          const seen = yield* calls(folder, words, environmentOf((yield* FakeServer).url))
          const ofRows = seen.filter((line) => /out\.(part|[^.]*\.tmp)/.test(line)).map((line) =>
            /\b[a-z]+(?=\()/.exec(line)?.[0]
          )

          assert.deepStrictEqual(ofRows.slice(-4), ["fchown", "fchmod", "fsync", "rename"], seen.join("\n"))
          assert.notIncludeMembers(ofRows, ["chown", "chmod", "fchownat", "fchmodat"])
        }).pipe(Effect.scoped, Effect.provide(served))
      },
      60_000
    )
  }
})
