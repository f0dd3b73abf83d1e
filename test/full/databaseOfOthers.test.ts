/** A copy in a folder where other users may create files: what they put beside it is not believed, and what is legal works. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { FakeService } from "../../src/testing/index.ts"
import { bundle } from "../cli/bundle.ts"
import { canBecome, ended, environmentOf, started, type User } from "../cli/child.ts"
import { temporaryFolder } from "../cli/support.ts"
import { needs } from "../support/needs.ts"
import { servicePunch } from "../support/wire.ts"

const owner: User = { uid: 61_001, gid: 61_001 }
const other: User = { uid: 61_002, gid: 61_002 }
const team = 61_003

const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({
  punches: [1, 2, 3].map((id) => servicePunch({ id, user_id: 500 + id, approved: true }))
})))

interface Setting {
  readonly folder: string
  readonly file: string
  /** Runs the command as a user, in the folder. */
  readonly run: (user: Partial<User>, ...args: ReadonlyArray<string>) => Effect.Effect<Outcome>
  readonly sync: (user: Partial<User>, file?: string) => Effect.Effect<Outcome>
  readonly there: () => ReadonlyArray<string>
}

interface Outcome {
  readonly code: number | null
  readonly stderr: string
  readonly stdout: string
}

/** Runs a test in a folder of this mode, for a copy that the owner keeps. */
const inFolder = (mode: number, use: (setting: Setting) => Effect.Effect<void, unknown>) => (context: SkipContext) => {
  needs(context, canBecome(owner), "root, and a build that other users may read")
  return Effect.gen(function*() {
    const folder = yield* temporaryFolder
    Fs.chownSync(folder, owner.uid, team)
    Fs.chmodSync(folder, mode)
    const env = { ...environmentOf((yield* FakeServer).url), HOME: "/" }
    const run: Setting["run"] = (user, ...args) =>
      Effect.scoped(Effect.flatMap(started(args, env, bundle, folder, user), ended))
    const sync: Setting["sync"] = (user, file = "c.db") => run(user, "copy", "sync", "--history", "--database", file)
    const there = () => Fs.readdirSync(folder).toSorted()
    yield* use({ folder, file: Path.join(folder, "c.db"), run, sync, there })
  }).pipe(Effect.scoped, Effect.provide(served))
}

interface SkipContext {
  readonly skip: (note: string) => void
}

/** Creates a file as the other user would, readable to all. */
const plant = (path: string, content: string | Uint8Array = "", { gid, uid } = other) => {
  Fs.writeFileSync(path, content)
  Fs.chownSync(path, uid, gid)
  Fs.chmodSync(path, 0o666)
}

const ok = ({ code, stderr }: Outcome) => assert.strictEqual(code, 0, stderr)

/** The write-ahead log of a copy in which somebody else has changed each wage. */
const forgedLog = (file: string): Uint8Array => {
  const copy = `${file}.forged`
  Fs.copyFileSync(file, copy)
  const database = new DatabaseSync(copy)
  database.exec("PRAGMA wal_autocheckpoint = 0; UPDATE time_punches SET notes = 'forged'")
  const log = Fs.readFileSync(`${copy}-wal`)
  database.close()
  Fs.rmSync(copy)
  return log
}

const notesOf = (file: string) => {
  const database = new DatabaseSync(file, { readOnly: true })
  const notes = database.prepare("SELECT DISTINCT notes FROM time_punches").all().map(({ notes }) => notes)
  database.close()
  return notes
}

const timeout = 60_000
const week = ["--week", "2026-03-02", "--zone", "UTC"]
const sticky = 0o1777

describe("a file that another user put beside a copy", () => {
  it.live(
    "is refused before the copy is read or written, whatever it is",
    inFolder(sticky, ({ file, folder, run, sync }) =>
      Effect.gen(function*() {
        ok(yield* sync(owner))
        const bytes = Fs.readFileSync(file)
        const notes = notesOf(file)
        const forged = forgedLog(file)
        const secret = Path.join(folder, "secret")
        Fs.writeFileSync(secret, "key", { mode: 0o600 })
        const planted: Readonly<Record<string, readonly [suffix: string, make: (path: string) => void, says: RegExp]>> =
          {
            "an empty log": ["-wal", plant, /belongs to user 61002[^]*has no commits[^]*remove c\.db-wal/],
            "an empty index of the log": ["-shm", plant, /belongs to user 61002[^]*remove c\.db-shm/],
            "an empty journal": ["-journal", plant, /belongs to user 61002[^]*remove c\.db-journal/],
            "a forged log": ["-wal", (path) => plant(path, forged), /belongs to user 61002[^]*may have commits/],
            "a journal with content": ["-journal", (path) => plant(path, forged), /belongs to user 61002/],
            "a link": ["-wal", (path) => Fs.symlinkSync(secret, path), /is a link/],
            "a link to nothing": ["-journal", (path) => Fs.symlinkSync("nothing", path), /is a link/],
            "a second name": ["-wal", (path) => Fs.linkSync(secret, path), /has a second name/],
            "a folder": ["-journal", (path) => Fs.mkdirSync(path), /is a folder/],
            "a pipe": ["-wal", (path) => ChildProcess.execFileSync("mkfifo", [path]), /is a pipe/]
          }
        const calls: ReadonlyArray<readonly [Partial<User>, ...ReadonlyArray<string>]> = [
          [owner, "copy", "sync"],
          [owner, "copy", "status"],
          [{}, "copy", "erase", "--yes"],
          [owner, "summary", ...week],
          [owner, "payroll", "close", ...week],
          [{}, "payroll", "list"]
        ]
        for (const [what, [suffix, make, says]] of Object.entries(planted)) {
          make(file + suffix)
          for (const [user, ...words] of calls) {
            const { code, stderr } = yield* run(user, ...words, "--database", "c.db")
            const name = `${what}: ${words.join(" ")}: ${stderr}`
            assert.strictEqual(code, 8, name)
            assert.match(stderr, says, name)
            if (/may have commits/.test(stderr)) assert.notMatch(stderr, /remove|delete/, name)
          }
          Fs.rmSync(file + suffix, { recursive: true })
          assert.deepStrictEqual(Fs.readFileSync(file), bytes, what)
        }
        assert.strictEqual(Fs.readFileSync(secret, "utf8"), "key")
        ok(yield* sync(owner))
        assert.deepStrictEqual(notesOf(file), notes)
        ok(yield* run(owner, "payroll", "close", ...week, "--database", "c.db"))
      }))
  )

  it.live(
    "is refused beside a copy that is opened through a link, and beside a new one",
    inFolder(sticky, ({ file, folder, run, sync }) =>
      Effect.gen(function*() {
        ok(yield* sync(owner))
        Fs.mkdirSync(Path.join(folder, "mine"))
        Fs.symlinkSync(file, Path.join(folder, "mine", "link.db"))
        plant(`${file}-wal`)
        assert.strictEqual((yield* sync(owner, "mine/link.db")).code, 8)
        assert.strictEqual((yield* run(owner, "copy", "status", "--database", `${folder}/mine/link.db`)).code, 8)
        plant(Path.join(folder, "new.db-wal"))
        assert.strictEqual((yield* sync(owner, "./new.db")).code, 8)
      })),
    timeout
  )

  it.live(
    "does not run in a fleet, or for an assistant's tool",
    inFolder(sticky, ({ file, folder, run, sync }) =>
      Effect.gen(function*() {
        ok(yield* sync(owner))
        plant(`${file}.fleet-lock-journal`, "forged")
        const locked = yield* run(owner, "fleet", "run", "--database", "c.db")
        assert.strictEqual(locked.code, 8, locked.stderr)
        assert.match(locked.stderr, /fleet-lock-journal belongs to user 61002/)
        Fs.rmSync(`${file}.fleet-lock-journal`)
        Fs.rmSync(`${file}.fleet-lock`)
        Fs.symlinkSync(`${folder}/made`, `${file}.fleet-lock`)
        assert.match((yield* run(owner, "fleet", "run", "--database", "c.db")).stderr, /fleet-lock is a link/)
        assert.isFalse(Fs.existsSync(`${folder}/made`))
        Fs.rmSync(`${file}.fleet-lock`)
        plant(`${file}-wal`)
        for (const verb of ["run", "list"]) {
          const { code, stderr } = yield* run(owner, "fleet", verb, "--database", "c.db")
          assert.strictEqual(code, 8, stderr)
          assert.match(stderr, /belongs to user 61002[^]*remove c\.db-wal/)
        }
        const asked = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "copy_status", arguments: {} } }
        const begun = {
          jsonrpc: "2.0",
          id: 1,
          method: "initialize",
          params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "0" } }
        }
        const answered = ChildProcess.spawnSync(
          process.execPath,
          [bundle, "mcp", "--database", "c.db"],
          {
            ...owner,
            cwd: folder,
            env: { HOME: "/", TIME_PUNCHES_COMPANY_ID: environmentOf("")["TIME_PUNCHES_COMPANY_ID"] ?? "" },
            input: [begun, asked].map((each) => `${JSON.stringify(each)}\n`).join(""),
            encoding: "utf8"
          }
        )
        assert.match(answered.stdout + answered.stderr, /belongs to user 61002/)
      })),
    timeout
  )
})

describe("a copy that several users share legally", () => {
  it.live(
    "is read by who may only read it, who leaves nothing beside it",
    inFolder(sticky, ({ file, run, sync, there }) =>
      Effect.gen(function*() {
        ok(yield* sync(owner))
        Fs.chownSync(file, owner.uid, team)
        Fs.chmodSync(file, 0o640)
        const member = { uid: other.uid, gid: team }
        ok(yield* run(member, "copy", "status", "--database", "c.db"))
        ok(yield* run(member, "summary", "--by", "user", "--database", "c.db"))
        assert.deepStrictEqual(there(), ["c.db"])
        ok(yield* sync(owner))
        // While the owner has it open, its files are read as they are.
        const open = new DatabaseSync(file)
        open.exec("UPDATE time_punches SET user_id = 999 WHERE user_id = 501")
        const { code, stderr, stdout } = yield* run(member, "summary", "--by", "user", "--database", "c.db")
        assert.strictEqual(code, 0, stderr)
        assert.include(stdout, "999")
        open.close()
        ok(yield* sync(owner))
      })),
    timeout
  )

  it.live(
    "is synced by root for its owner, and again by the owner",
    inFolder(sticky, ({ file, run, sync, there }) =>
      Effect.gen(function*() {
        ok(yield* sync(owner))
        ok(yield* sync({}))
        ok(yield* run({}, "copy", "status", "--database", "c.db"))
        assert.deepStrictEqual(there(), ["c.db"])
        // As root leaves them when it is killed.
        for (const suffix of ["-wal", "-shm"]) plant(file + suffix, "", { uid: 0, gid: 0 })
        ok(yield* sync(owner))
      })),
    timeout
  )

  it.live(
    "is synced by a group, which leaves files of any member, in a folder that only the group may write",
    inFolder(0o2770, ({ file, folder, run, sync }) =>
      Effect.gen(function*() {
        const [one, two] = [{ uid: owner.uid, gid: team }, { uid: other.uid, gid: team }]
        ok(yield* sync(one))
        Fs.chownSync(file, one.uid, team)
        Fs.chmodSync(file, 0o660)
        for (const suffix of ["-wal", "-shm"]) plant(file + suffix, "", two)
        ok(yield* sync(one))
        ok(yield* sync(two))
        ok(yield* run(one, "payroll", "list", "--database", "c.db"))
        for (const suffix of ["-wal", "-shm"]) plant(file + suffix, "", two)
        Fs.chmodSync(folder, sticky)
        const { code, stderr } = yield* sync(one)
        assert.strictEqual(code, 8, `another user of the machine could have made them: ${stderr}`)
      })),
    timeout
  )

  it.live(
    "is synced by all, if all may write it",
    inFolder(sticky, ({ file, sync }) =>
      Effect.gen(function*() {
        ok(yield* sync(owner))
        Fs.chmodSync(file, 0o666)
        for (const suffix of ["-wal", "-shm"]) plant(file + suffix)
        ok(yield* sync(owner))
        ok(yield* sync(other))
      })),
    timeout
  )

  it.live(
    "is used with one warning in a folder where all may replace it",
    inFolder(0o777, ({ run, sync }) =>
      Effect.gen(function*() {
        const warning = /every user of this machine may replace the files in/g
        const synced = yield* sync(owner)
        ok(synced)
        assert.lengthOf(synced.stderr.match(warning) ?? [], 1)
        const summed = yield* run(owner, "summary", "--database", "c.db")
        assert.lengthOf(summed.stderr.match(warning) ?? [], 1, summed.stderr)
      })),
    timeout
  )

  it.live("is read by root on a read-only file system that all might write otherwise", (context) => {
    const folder = Fs.mkdtempSync("/tmp/read-only-")
    const mount = (...args: ReadonlyArray<string>) => ChildProcess.spawnSync("mount", [...args, folder]).status === 0
    const isMounted = mount("-t", "tmpfs", "-o", "mode=1777", "none")
    context.onTestFinished(() => {
      if (isMounted) ChildProcess.spawnSync("umount", [folder])
      Fs.rmdirSync(folder)
    })
    needs(context, isMounted, "root, who may mount a file system")
    return Effect.gen(function*() {
      const env = environmentOf((yield* FakeServer).url)
      const run = (...args: ReadonlyArray<string>) =>
        Effect.scoped(Effect.flatMap(started([...args, "--database", "c.db"], env, bundle, folder), ended))
      ok(yield* run("copy", "sync"))
      assert.isTrue(mount("-o", "remount,ro"))
      ok(yield* run("copy", "status"))
    }).pipe(Effect.provide(served))
  }, timeout)

  it.live(
    "is named without a trace in a folder that its user may not enter",
    inFolder(sticky, ({ folder, run }) =>
      Effect.gen(function*() {
        Fs.mkdirSync(Path.join(folder, "closed"), { mode: 0o700 })
        for (const verb of ["sync", "status"]) {
          const { code, stderr } = yield* run(owner, "copy", verb, "--database", "closed/inner/c.db")
          assert.strictEqual(code, 8, stderr)
          assert.notMatch(stderr, /at .*:\d+:\d+/)
        }
      })),
    timeout
  )

  it.live(
    "is used without a warning in a sticky one",
    inFolder(
      sticky,
      ({ sync }) => Effect.map(sync(owner), ({ code, stderr }) => assert.deepStrictEqual([code, stderr], [0, ""]))
    ),
    timeout
  )
})
