/**
 * The files of a command in a folder where another user may create and rename files: what is of that user is not followed, resumed,
 * believed or removed, and a run that is ended leaves nothing there.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { FakeService, Fault } from "../../src/testing/index.ts"
import { bundle } from "../cli/bundle.ts"
import { canBecome, commandOf, ended, environmentOf, started, type User } from "../cli/child.ts"
import { temporaryFolder } from "../cli/support.ts"
import { needs } from "../support/needs.ts"
import { servicePunch } from "../support/wire.ts"

const one: User = { uid: 61_001, gid: 61_001 }
const other: User = { uid: 61_002, gid: 61_002 }

const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({
  punches: [1, 2, 3].map((id) => servicePunch({ id, user_id: 500 + id }))
})))

interface Setting {
  readonly folder: string
  /** Runs the command as the first user, in the folder. */
  readonly run: (
    ...words: ReadonlyArray<string>
  ) => Effect.Effect<{ readonly code: number | null; readonly stderr: string }>
}

/** Runs a test in a folder of this mode, which is root's. */
const inFolder =
  (mode: number, use: (setting: Setting) => Effect.Effect<void, unknown, Scope.Scope>) =>
  (context: { readonly skip: (note: string) => void }) => {
    needs(context, canBecome(one), "root, and a build that other users may read")
    return Effect.gen(function*() {
      const folder = yield* temporaryFolder
      Fs.chmodSync(folder, mode)
      const env = { ...environmentOf((yield* FakeServer).url), HOME: "/", XDG_CONFIG_HOME: folder }
      const run: Setting["run"] = (...words) =>
        Effect.scoped(Effect.flatMap(started(words, env, bundle, folder, one), ended))
      yield* use({ folder, run })
    }).pipe(Effect.scoped, Effect.provide(served))
  }

const put = (path: string, text: string, { gid, uid }: User, mode = 0o644) => {
  Fs.writeFileSync(path, text)
  Fs.chownSync(path, uid, gid)
  Fs.chmodSync(path, mode)
}

const list = ["list", "--format", "csv", "--force", "--output"]
const sticky = 0o1777
const scratch = () => `${globalThis.crypto.randomUUID()}.tmp`

describe("what another user put under a name", () => {
  it.live(
    "in a folder as /tmp is not followed or replaced, and links of this user and of the folder's owner are",
    inFolder(sticky, ({ folder, run }) =>
      Effect.gen(function*() {
        const home = yield* temporaryFolder
        Fs.chownSync(home, one.uid, one.gid)
        const copy = Path.join(home, "c.db")
        assert.strictEqual((yield* run("copy", "sync", "--history", "--database", copy)).code, 0)
        const calls: Readonly<Record<string, readonly [name: string, ...words: ReadonlyArray<string>]>> = {
          list: ["out", ...list, "out"],
          "a folder of it": ["sub", ...list, "sub/precious"],
          export: ["out", "export", "--force", "--output", "out"],
          "a state": ["state", "copy", "feed", "--database", copy, "--state", "state"],
          "a new copy": ["new.db", "copy", "sync", "--database", "new.db"],
          "a copy": ["old.db", "copy", "status", "--database", "old.db"],
          sandbox: ["a.csv", "sandbox", "--port", "0", "--companies", "2", "--companies-csv", "a.csv", "--force"],
          variables: ["a.env", "sandbox", "--port", "0", "--write-env", "a.env"]
        }
        for (const [what, [name, ...words]] of Object.entries(calls)) {
          const link = Path.join(folder, name)
          Fs.symlinkSync(name === "sub" ? home : name === "old.db" ? copy : Path.join(home, "precious"), link)
          Fs.lchownSync(link, other.uid, other.gid)
          const { code, stderr } = yield* run(...words)
          assert.strictEqual(code, 8, `${what}: ${stderr}`)
          assert.match(stderr, /is a link of another user \(61002\)/, what)
          assert.isFalse(Fs.existsSync(Path.join(home, "precious")), what)
          Fs.rmSync(link)
        }
        put(Path.join(folder, "theirs.db"), "", other, 0o666)
        const synced = yield* run("copy", "sync", "--database", "theirs.db")
        assert.match(synced.stderr, /theirs\.db belongs to another user, who can read and change/)
        put(Path.join(folder, "out"), "theirs", other, 0o666)
        const read = yield* run("copy", "status", "--database", "theirs.db")
        assert.match(read.stderr, /theirs\.db belongs to another user, who can read and change/)
        const replaced = yield* run(...list, "out")
        assert.match(replaced.stderr, /out is of another user \(61002\)/)
        Fs.rmSync(Path.join(folder, "out"))
        for (const name of ["out.part", "out.resume.json"]) {
          put(Path.join(folder, name), "theirs", other, 0o666)
          const { code, stderr } = yield* run("export", "--force", "--output", "out")
          assert.strictEqual(code, 8)
          assert.match(stderr, /is of another user \(61002\), in a folder where every user[^]*only you may write/)
          Fs.rmSync(Path.join(folder, name))
        }
        put(Path.join(folder, "names.csv"), "kind,id,name\nuser,501,Ann\n", other)
        const named = yield* run("summary", "--names", "names.csv")
        assert.strictEqual(named.code, 0)
        assert.match(named.stderr, /names\.csv belongs to another user, who can read and change/)
        for (const uid of [one.uid, 0]) {
          Fs.symlinkSync(Path.join(home, "precious"), Path.join(folder, "out"))
          Fs.lchownSync(Path.join(folder, "out"), uid, uid)
          const { code, stderr } = yield* run(...list, "out")
          assert.strictEqual(code, 0, stderr)
          Fs.rmSync(Path.join(folder, "out"))
        }
      }))
  )

  it.live(
    "is neither resumed nor believed: a part, a note, a state",
    inFolder(0o777, ({ folder, run }) =>
      Effect.gen(function*() {
        const at = (name: string) => Path.join(folder, name)
        for (const name of ["out.part", "out.resume.json", "state"]) {
          put(at(name), "{}", other, 0o666)
          const words = name === "state"
            ? ["copy", "feed", "--database", "c.db", "--state", "state"]
            : ["export", "--output", "out"]
          if (name === "state") yield* run("copy", "sync", "--history", "--database", "c.db")
          const { code, stderr } = yield* run(...words)
          assert.strictEqual(code, 8, stderr)
          assert.include(stderr, `${name} is of another user (61002)`)
          assert.strictEqual(Fs.readFileSync(at(name), "utf8"), "{}")
          if (name === "out.part") Fs.rmSync(at(name))
        }
        assert.strictEqual((yield* run("export", "--output", "out", "--force")).code, 0)
        assert.strictEqual(Fs.statSync(at("out")).uid, one.uid)
      }))
  )

  it.live(
    "is not removed: only what a killed run of this user left is",
    inFolder(0o777, ({ folder, run }) =>
      Effect.gen(function*() {
        const running = `${globalThis.crypto.randomUUID().slice(0, -12)}${
          process.pid.toString(16).padStart(12, "0")
        }.tmp`
        const kept = [
          [`out.notes.tmp`, one],
          [`out.${scratch()}.bak`, one],
          [`outer.${scratch()}`, one],
          [`out.${scratch()}`, other],
          [`out.${running}`, one]
        ] as const
        const left = `out.${scratch()}`
        for (const [name, user] of [...kept, [left, one] as const]) put(Path.join(folder, name), "x", user)
        const { code, stderr } = yield* run(...list, "out")
        assert.strictEqual(code, 0, stderr)
        // The process of this test is of another user, so that it did not make the last one.
        assert.deepStrictEqual(
          Fs.readdirSync(folder).toSorted(),
          ["out", ...kept.slice(0, -1).map(([name]) => name)].toSorted()
        )
      }))
  )

  it.live(
    "as settings is obeyed with a warning",
    inFolder(0o755, ({ folder, run }) =>
      Effect.gen(function*() {
        Fs.mkdirSync(Path.join(folder, "time-punches"))
        const files = {
          variables: Path.join(folder, "set.env"),
          profile: Path.join(folder, "time-punches/config.json")
        }
        const texts = { variables: "A=b\n", profile: "{\"p\":{\"zone\":\"UTC\"}}" }
        const cases: ReadonlyArray<readonly [User, number, RegExp | undefined]> = [
          [other, 0o644, /belongs to user 61002/],
          [one, 0o666, /may be written by every user/],
          [one, 0o664, /may be written by group 61001/],
          [one, 0o644, undefined],
          [{ uid: 0, gid: 0 }, 0o644, undefined]
        ]
        for (const name of ["variables", "profile"] as const) {
          for (const [user, mode, warning] of name === "profile" ? cases.slice(0, 2) : cases) {
            put(files[name], texts[name], user, mode)
            const value = name === "profile" ? "p" : "set.env"
            const { code, stderr } = yield* run("list", "--limit", "1", "--format", "csv", `--${name}`, value)
            assert.strictEqual(code, 0, stderr)
            if (warning === undefined) assert.strictEqual(stderr, "")
            else assert.match(stderr, warning)
            assert.isAtMost(stderr.split("choose where the secret").length, 2)
          }
        }
      }))
  )
})

describe("--output over a file with an access list", () => {
  it.live(
    "gives the group no more than all have, and says so",
    (context) => {
      const hasLists = ChildProcess.spawnSync("setfacl", ["--version"]).status === 0
      needs(context, hasLists && canBecome(one), "root, a build that other users may read, and setfacl")
      return inFolder(0o777, ({ folder, run }) =>
        Effect.gen(function*() {
          const output = Path.join(folder, "out")
          const modes: Array<string> = []
          for (const hasList of [true, false]) {
            put(output, "old", one, 0o600)
            if (hasList) ChildProcess.execFileSync("setfacl", ["-m", `u:${other.uid}:r`, output])
            else Fs.chmodSync(output, 0o640)
            const { code, stderr } = yield* run(...list, "out")
            assert.strictEqual(code, 0, stderr)
            assert.strictEqual(/access list \(ACL\) of .*out is lost/.test(stderr), hasList)
            modes.push((Fs.statSync(output).mode & 0o777).toString(8))
          }
          assert.deepStrictEqual(modes, ["600", "640"])
        }))(context)
    }
  )
})

describe("a run that is ended", () => {
  it.live.each(["SIGHUP", "SIGQUIT", "SIGTERM"] as const)("by %s leaves no file", (signal) =>
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      yield* FakeService.use((service) => service.inject(Fault.slow("30 seconds")))
      const run = yield* started([...list, "out"], environmentOf((yield* FakeServer).url), bundle, folder)
      for (let tries = 0; Fs.readdirSync(folder).length === 0 && tries < 200; tries++) yield* Effect.sleep("50 millis")
      assert.match(Fs.readdirSync(folder)[0] ?? "", /^out\.[-0-9a-f]{36}\.tmp$/)
      run.child.kill(signal)
      assert.strictEqual((yield* ended(run)).code, 130)
      assert.deepStrictEqual(Fs.readdirSync(folder), [])
    }).pipe(Effect.scoped, Effect.provide(served)))

  it.live("by its folder, which was removed, says so", () =>
    Effect.gen(function*() {
      const env = environmentOf((yield* FakeServer).url)
      for (const words of ["list --output x", "export --output x", "copy sync --database c.db", "list --variables x"]) {
        const script = `d=$(mktemp -d) && cd "$d" && rmdir "$d" && exec "$0" "$@"`
        const { status, stderr } = yield* Effect.promise(() =>
          new Promise<{ readonly status: number | null; readonly stderr: string }>((resolve) => {
            const child = ChildProcess.spawn(
              "sh",
              ["-c", script, process.execPath, ...commandOf(words.split(" "))],
              { env, stdio: ["ignore", "ignore", "pipe"] }
            )
            let stderr = ""
            child.stderr.on("data", (text) => (stderr += text))
            child.on("close", (status) => resolve({ status, stderr }))
          })
        )
        assert.strictEqual(status, words.endsWith("--variables x") ? 3 : 8, `${words}: ${stderr}`)
        assert.notMatch(stderr, /    at /)
      }
    }).pipe(Effect.scoped, Effect.provide(served)))
})
