/** Limits of a process on files, by a real shell: each failure has words and names its file, and none is a trace. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, generatePunches } from "../../src/testing/index.ts"
import { bundle } from "./bundle.ts"
import { environmentOf } from "./child.ts"
import { temporaryFolder } from "./support.ts"

const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({
  punches: generatePunches({ seed: 9, count: 400, companyId: defaultCompany.id, deletedShare: 0 })
})))

const inService = <A, E, R>(effect: Effect.Effect<A, E, R>) => effect.pipe(Effect.scoped, Effect.provide(served))

/** The end of a call in a folder, after the shell has run `limit`. */
const limited = Effect.fnUntraced(function*(limit: string, words: string) {
  const { url } = yield* FakeServer
  const folder = yield* temporaryFolder
  const child = ChildProcess.spawn(
    "bash",
    ["-c", `${limit}; exec "$@"`, "bash", process.execPath, bundle, ...words.split(" ")],
    { cwd: folder, env: environmentOf(url), stdio: ["ignore", "pipe", "pipe"], timeout: 20_000 }
  )
  let stderr = ""
  child.stdout.resume()
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
  const code = yield* Effect.promise(() => new Promise<number | null>((resolve) => child.on("close", resolve)))
  return { code, stderr, files: Fs.readdirSync(folder) }
})

const timeout = 60_000

describe("standard output that cannot be written", () => {
  it.live.each([
    "list --format csv",
    "summary --source service --month 2026-03 --zone UTC",
    "payroll check --source service --month 2026-03 --zone UTC",
    "export --output -",
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
    ["export --output a.csv", /a\.csv\.part: it is larger than a file may be here \(EFBIG\)/],
    ["list --format csv --output a.csv", /a\.csv: it is larger than a file may be here \(EFBIG\)/],
    ["report --source service --month 2026-03 --zone UTC --output a.html", /a\.html: it is larger than .* \(EFBIG\)/]
  ])("is named with the limit of the shell: %s", ([words, message]) =>
    inService(Effect.gen(function*() {
      const { code, stderr } = yield* limited("ulimit -f 4", words)

      assert.strictEqual(code, 8, stderr)
      assert.match(stderr, message)
      assert.include(stderr, "Raise the limit (ulimit -f), or choose another file system.")
    })), timeout)

  it.live.each([
    "sync --database a.db",
    "export --output a.csv"
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
