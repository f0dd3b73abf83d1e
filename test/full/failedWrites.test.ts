/** Limits of a process on files, by a real shell: each failure has words and names its file, and none is a trace. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { join } from "node:path"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, generateWeeks } from "../../src/testing/index.ts"
import { bundle } from "../cli/bundle.ts"
import { environmentOf } from "../cli/child.ts"
import { temporaryFolder } from "../cli/support.ts"

const punches = generateWeeks({ seed: 9, count: 1300, people: 14, companyId: defaultCompany.id })

const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ punches })))

const inService = <A, E, R>(effect: Effect.Effect<A, E, R>) => effect.pipe(Effect.scoped, Effect.provide(served))

/** The end of a call in a folder: `shell` runs it as `"$@"`. */
const runIn = Effect.fnUntraced(function*(folder: string, shell: string, words: string, more: NodeJS.ProcessEnv = {}) {
  const { url } = yield* FakeServer
  const child = ChildProcess.spawn(
    "bash",
    ["-c", shell, "bash", process.execPath, bundle, ...words.split(" ")],
    {
      cwd: folder,
      env: { ...environmentOf(url), TIME_PUNCHES_DATABASE_URL: `${folder}/p.db`, ...more },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 60_000
    }
  )
  let [stdout, stderr] = ["", ""]
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
  const code = yield* Effect.promise(() => new Promise<number | null>((resolve) => child.on("close", resolve)))
  return { code, stdout, stderr }
})

/** The end of a call in a new folder, after the shell has run `limit`. */
const limited = Effect.fnUntraced(function*(limit: string, words: string) {
  const folder = yield* temporaryFolder
  return { ...(yield* runIn(folder, `${limit}; exec "$@"`, words)), files: Fs.readdirSync(folder) }
})

/** Waits in the shell for what the process in the background writes; the test's own timeout ends it. */
const until = (condition: string) => `until ${condition} || ! kill -0 $!; do sleep 0.1; done`

/** Ends the process in the background, and gives its standard error, which it wrote into a file. */
const endedNow = "kill $!; wait $!; code=$?; cat err >&2; exit $code"

/** More than any other file of these calls has. */
const mebibytes = 16

/**
 * The end of a call whose standard output is a file that can grow by so many bytes, and what it has written there. A process
 * sees a full disk in the same way: first the system takes a part of a text, and then nothing.
 */
const withRoom = Effect.fnUntraced(function*(folder: string, room: number, words: string) {
  const file = `${folder}/out`
  const size = mebibytes * 1024 * 1024 - room
  Fs.writeFileSync(file, "")
  Fs.truncateSync(file, size - 1)
  Fs.appendFileSync(file, "\n")
  const ended = yield* runIn(folder, `ulimit -f ${mebibytes * 1024}; exec "$@" >> out`, words)
  return { ...ended, written: Fs.readFileSync(file).subarray(size).toString() }
})

/** Puts a copy of all punches and a close of one week into a folder. */
const copied = Effect.fnUntraced(function*(folder: string) {
  const columns = [{ header: "User", value: "userId" }, { header: "Hours", value: "hours" }]
  Fs.writeFileSync(
    `${folder}/m.json`,
    JSON.stringify({ v: 1, by: ["user"], hours: "minutes", rounding: "halfUp", columns, lineEnd: "\n" })
  )
  const sync = yield* runIn(folder, `exec "$@"`, "sync --history")
  const close = yield* runIn(
    folder,
    `exec "$@"`,
    `payroll close ${week} ${accept}`
  )
  assert.deepStrictEqual([sync.code, close.code], [0, 0], sync.stderr + close.stderr)
})

const week = "--week 2026-03-02 --zone America/New_York"
const accept = "--accept open,unapproved,zeroWage,autoClockedOut,tooLong,overlap,anomaly"

const ids = (text: string): ReadonlyArray<number> =>
  text.trimEnd().split("\n").map((line) => {
    const { id, punchId = id } = JSON.parse(line)
    return punchId
  })

/** Changes of a process whose standard output is a file. */
const withFile = (variable: "FAIL_SYNC" | "HIDE_STDOUT") => ({
  NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import=${join(import.meta.dirname, "stdoutFile.ts")}`,
  [variable]: "1"
})

const timeout = 60_000

describe("standard output that cannot be written", () => {
  it.live.each([
    "list --source service --format csv",
    "summary --source service --month 2026-03 --zone UTC",
    "payroll check --source service --month 2026-03 --zone UTC",
    "export --source service --output -",
    "help",
    "help columns",
    "list --help",
    "version",
    "--version",
    "--completions bash"
  ])("exits with 8, and says why: %s", (words) =>
    inService(Effect.gen(function*() {
      const { code, stderr } = yield* limited("exec > /dev/full", words)

      assert.strictEqual(code, 8, stderr)
      assert.match(stderr, /^time-punches: stdout: no space is left on the disk \(ENOSPC\)$/m)
    })), timeout)
})

describe("a file that cannot be written", () => {
  it.live.each<readonly [words: string, message: RegExp]>([
    ["export --source service --output a.csv", /a\.csv\.part: it is larger than a file may be here \(EFBIG\)/],
    ["list --source service --format csv --output a.csv", /a\.csv: it is larger than a file may be here \(EFBIG\)/]
  ])("is named with the limit of the shell: %s", ([words, message]) =>
    inService(Effect.gen(function*() {
      const { code, files, stderr } = yield* limited("ulimit -f 4", words)

      assert.strictEqual(code, 8, stderr)
      assert.notInclude(files, "a.csv")
      assert.match(stderr, message)
      assert.include(stderr, "Raise the limit (ulimit -f), or choose another file system.")
    })), timeout)

  it.live.each([
    "sync --database a.db",
    "export --source service --output a.csv"
  ])("or opened, with few open files, is no bug and leaves no trace: %s", (words) =>
    inService(Effect.gen(function*() {
      const codes: Array<number | null> = []
      // With fewer Node itself does not start.
      for (const files of [22, 23, 24, 25, 26]) {
        const { code, stderr } = yield* limited(`ulimit -n ${files}`, words)

        if (stderr.startsWith("node:internal")) continue
        codes.push(code)
        assert.include([0, 6, 8], code, stderr)
        assert.notMatch(stderr, /^ +at /m)
        if (code !== 0) assert.match(stderr, /EMFILE|unable to open database file/)
      }
      assert.isNotEmpty(codes.filter((code) => code !== 0))
    })), timeout)
})

describe("a file that is standard output, on a full disk", () => {
  it.live("has whole texts, and the command ends with 8", () =>
    inService(Effect.gen(function*() {
      const folder = yield* temporaryFolder
      yield* copied(folder)
      for (
        const words of [
          "payroll file 1.1 --mapping m.json",
          "payroll show 1 --json",
          "payroll list",
          "payroll check --week 2026-03-16 --zone UTC",
          `summary ${week} --format csv`,
          `report ${week}`,
          "list --source service --json",
          "list --source service --format csv",
          "list --source service --format ndjson",
          "export --source service --output - --format csv",
          "copy status",
          "payroll --help",
          "--completions bash",
          "--version"
        ]
      ) {
        const { stdout } = yield* runIn(folder, `exec "$@"`, words)
        const { code, stderr, written } = yield* withRoom(folder, Math.floor(stdout.length / 2), words)

        assert.strictEqual(code, 8, `${words}\n${stderr}`)
        assert.include(stderr, "stdout: it is larger than a file may be here (EFBIG)\n  Raise the limit (ulimit -f)")
        assert.isTrue(stdout.startsWith(written), words)
        assert.match(written, /^$|[\n}]$/, words)
      }
    })), timeout * 2)

  it.live(
    "has each event of a feed once with those of the next run, whose first one is behind the last line",
    () =>
      inService(Effect.gen(function*() {
        const folder = yield* temporaryFolder
        yield* copied(folder)
        const all = yield* runIn(folder, `exec "$@"`, "copy feed")
        const room = Math.floor(all.stdout.length * 0.9)
        for (const follow of ["", " --follow=1s"]) {
          const first = yield* withRoom(folder, room, `copy feed --state state.json${follow}`)
          const next = yield* runIn(folder, `exec "$@"`, "copy feed --state state.json")

          assert.deepStrictEqual([first.code, next.code], [8, 0], first.stderr)
          assert.isAbove(first.written.length, 0)
          assert.deepStrictEqual(ids(first.written + next.stdout), ids(all.stdout))
          Fs.rmSync(`${folder}/state.json`)
        }
      })),
    timeout
  )

  it.live(
    "keeps no position of a feed whose events are not on disk, and the next run repeats them",
    () =>
      inService(Effect.gen(function*() {
        const folder = yield* temporaryFolder
        yield* copied(folder)
        const append = `exec "$@" >> out`
        const feed = "copy feed --state state.json"
        const failed = yield* runIn(folder, append, feed, withFile("FAIL_SYNC"))
        const first = Fs.existsSync(`${folder}/state.json`)
        const written = yield* runIn(folder, append, feed)
        const kept = Fs.readFileSync(`${folder}/state.json`, "utf8")
        yield* runIn(folder, `exec "$@"`, "sync --history")
        const again = yield* runIn(folder, append, feed, withFile("FAIL_SYNC"))

        assert.deepStrictEqual([failed.code, first, written.code, again.code], [8, false, 0, 8], again.stderr)
        assert.match(failed.stderr, /^time-punches: stdout: .*EIO/m)
        assert.strictEqual(ids(Fs.readFileSync(`${folder}/out`, "utf8")).length, punches.length)
        assert.strictEqual(
          JSON.parse(Fs.readFileSync(`${folder}/state.json`, "utf8")).position,
          JSON.parse(kept).position
        )
      })),
    timeout
  )

  it.live.each([{}, withFile("HIDE_STDOUT")])(
    "begins a line of its own behind one that a killed run has cut, and changes nothing of it: %o",
    (more) =>
      inService(Effect.gen(function*() {
        const folder = yield* temporaryFolder
        yield* copied(folder)
        const append = `exec "$@" >> out`
        const feed = "copy feed --state state.json"
        const [out, state] = [`${folder}/out`, `${folder}/state.json`]
        yield* runIn(folder, append, feed, more)
        const all = Fs.readFileSync(out, "utf8")
        const lines = all.split("\n")
        // As a kill within a write leaves both: ten lines and a part of the next one, and the position of the tenth.
        const whole = lines.slice(0, 10).map((line) => `${line}\n`).join("")
        const cut = `${whole}${(lines[10] ?? "").slice(0, 20)}`
        const before = JSON.parse(Fs.readFileSync(state, "utf8"))
        const size = Buffer.byteLength(whole)
        const { position } = JSON.parse(lines[9] ?? "")
        Fs.writeFileSync(state, JSON.stringify({ ...before, position, size }))
        Fs.writeFileSync(out, cut)
        const { code, stderr } = yield* runIn(folder, append, feed, more)
        const text = Fs.readFileSync(out, "utf8")

        assert.strictEqual(code, 0, stderr)
        assert.strictEqual(text, `${cut}\n${lines.slice(10).join("\n")}`)
        // Behind whole lines, of this run or of others, none is empty.
        if (Object.keys(more).length === 0) Fs.appendFileSync(out, "a line of another program\n")
        const length = Fs.statSync(out).size
        const last = yield* runIn(folder, append, feed, more)
        assert.deepStrictEqual([last.code, Fs.statSync(out).size], [0, length])
      })),
    timeout
  )

  it.live(
    "keeps what is behind the text, and the error says that a line is cut",
    () =>
      inService(Effect.gen(function*() {
        const folder = yield* temporaryFolder
        Fs.writeFileSync(`${folder}/out`, "x".repeat(3000))
        const { code, stderr } = yield* runIn(
          folder,
          `ulimit -f 1; exec "$@" 1<> out`,
          "list --source service --format csv"
        )
        const text = Fs.readFileSync(`${folder}/out`, "utf8")

        assert.strictEqual(code, 8)
        assert.include(stderr, "stdout, whose last line is cut: it is larger than a file may be here (EFBIG)")
        assert.match(text, /^id,[^]{1021}x{1976}$/)
      })),
    timeout
  )

  it.live("has the lines of both outputs in their order", () =>
    inService(Effect.gen(function*() {
      const folder = yield* temporaryFolder
      yield* copied(folder)
      yield* runIn(folder, `exec "$@" > out 2>&1`, "payroll file 1.1 --mapping m.json")

      assert.match(Fs.readFileSync(`${folder}/out`, "utf8"), /^User,Hours\n[\d,\n]+1\.1: \d+ rows\n/)
    })), timeout)
})

describe("a command that changes something and cannot print it", () => {
  const full = `exec "$@" > /dev/full`

  it.live("ends with 8, and standard error names the change", () =>
    inService(Effect.gen(function*() {
      const folder = yield* temporaryFolder
      yield* copied(folder)
      const paid = punches.find(({ clocked_in, clocked_out, deleted }) =>
        clocked_in.startsWith("2026-03-04T") && clocked_out !== null && deleted !== true
      )
      yield* (yield* FakeService).edit([paid?.id ?? 0], { tips: 77_700 })
      const inFull = (words: string) => runIn(folder, full, words)
      const ends = [
        yield* inFull("sync"),
        yield* inFull(`payroll close --next ${accept}`),
        // A reader that has gone is no failure, and has not read it either.
        yield* runIn(folder, `"$@" | true; exit "\${PIPESTATUS[0]}"`, "payroll correct --json"),
        yield* inFull("payroll void 1.2 --note unsent"),
        yield* inFull("fleet add 4021 --json"),
        yield* inFull("fleet pause --all"),
        yield* inFull("fleet remove 4021"),
        yield* inFull("copy erase --yes --closes-too")
      ]

      assert.deepStrictEqual(ends.map(({ code }) => code), [8, 8, 0, 8, 8, 8, 8, 8])
      for (
        const [at, text] of [
          "increment: 1 punch",
          "2.1 was recorded; its output may be incomplete. To see it: time-punches payroll show 2.1 --database ",
          "1.2 was recorded; its output may be incomplete. To see it: time-punches payroll show 1.2 --database ",
          "1.3 was recorded; its output may be incomplete. To see it: time-punches payroll show 1.3 --database ",
          "1 company added",
          "The fleet is paused",
          "1 company removed",
          "the copy of company 4021 is erased"
        ].entries()
      ) {
        assert.include(ends[at]?.stderr, text)
      }
    })), timeout * 2)

  it.live("continues if it repeats, and says so once", () =>
    inService(Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const shell = `"$@" > /dev/full 2> err & ${until("[ $(grep -c increment: err) -ge 2 ]")}; ${endedNow}`
      const { code, stderr } = yield* runIn(folder, shell, "sync --every 1s")

      assert.strictEqual(code, 130, stderr)
      assert.isAbove(stderr.split("increment: ").length, 2, stderr)
      assert.strictEqual(stderr.split("stdout: no space is left on the disk (ENOSPC)").length, 2, stderr)
      assert.include(stderr, "The sync runs continue.")
    })), timeout)

  it.live(
    "leave no gap in a file that is not appended to, once it can grow again",
    () =>
      inService(Effect.gen(function*() {
        const folder = yield* temporaryFolder
        yield* copied(folder)
        const file = `${folder}/out`
        const size = mebibytes * 1024 * 1024 - 40
        Fs.writeFileSync(file, "")
        Fs.truncateSync(file, size)
        const limit = `ulimit -S -f ${mebibytes * 1024}; exec 3<> out; cat <&3 > /dev/null`
        const grown = `${until("grep -q continue err")}; prlimit --pid $! --fsize=unlimited; ${
          until(`[ $(tail -c +${size + 1} out | wc -l) -ge 2 ]`)
        }`
        const shell = `${limit}; "$@" >&3 2> err & ${grown}; ${endedNow}`
        const { code, stderr } = yield* runIn(folder, shell, "sync --every 1s --json")
        const lines = Fs.readFileSync(file).subarray(size).toString().trimEnd().split("\n")

        assert.strictEqual(code, 130, stderr)
        assert.include(stderr, "The sync runs continue.")
        assert.isAbove(lines.length, 1)
        for (const line of lines) assert.strictEqual(JSON.parse(line).kind, "increment")
      })),
    timeout
  )
})
