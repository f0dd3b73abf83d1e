import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as Fs from "node:fs"
import { FakeService, Fault } from "../../../src/testing/index.ts"
import { cli, environment, queries, read, temporaryFolder } from "../support.ts"
import { exported, failAfter, failing, filesOf, formats, inFake, noteOf, setting } from "./exportSupport.ts"

describe("time-punches export", () => {
  it.effect.each(formats)(
    "writes the file of %s in one run, and leaves nothing beside it",
    (format) =>
      inFake(Effect.gen(function*() {
        const { folder, output, whole } = yield* setting(format)
        const { code, stderr, stdout } = yield* exported(output, {}, "--format", format)

        assert.deepStrictEqual([code, stdout, filesOf(folder)], [0, "", ["punches"]])
        assert.match(stderr, /^.*punches: 2\d\d punches, 2\d pages, [\d,]+ bytes\n$/)
        assert.strictEqual(read(output), whole)
      }))
  )

  it.effect.each(formats)(
    "resumes after failures, requests no saved page again, and writes the same file of %s",
    (format) =>
      inFake(Effect.gen(function*() {
        const { folder, output, whole } = yield* setting(format)
        const before = (yield* queries).length
        yield* failAfter(3)
        const first = yield* exported(output, {}, "--format", format)
        const left = filesOf(folder)
        yield* failAfter(0)
        const second = yield* exported(output, {}, "--format", format)
        yield* failAfter(5)
        const third = yield* exported(output, {}, "--format", format)
        const last = yield* exported(output, {}, "--format", format)
        const asked = (yield* queries).slice(before).map(({ cursor }) => cursor)

        assert.deepStrictEqual([first, second, third, last].map(({ code }) => code), [7, 7, 7, 0])
        assert.match(
          first.stderr,
          /30 punches, 3 pages, [\d,]+ bytes are saved. To resume the export, run the same command again/
        )
        assert.match(last.stderr, /^resuming after 80 punches, 8 pages/)
        assert.deepStrictEqual(left, ["punches.part", "punches.resume.json"])
        assert.deepStrictEqual(filesOf(folder), ["punches"])
        assert.strictEqual(read(output), whole)
        // Page 4 failed twice and page 9 once.
        assert.strictEqual(asked.length - new Set(asked).size, 3)
      }))
  )

  it.effect("shows its progress on a terminal, and erases it", () =>
    inFake(Effect.gen(function*() {
      const { output } = yield* setting()
      const args = ["export", "--page-size", "10", "--output", output]
      const shown = yield* cli(args, { terminal: true })
      const quiet = yield* cli(args)

      assert.match(shown.stderr, /^\r\u001b\[2K10 punches\r\u001b\[2K.*punches: \d+ punches.*\n$/)
      assert.notInclude(quiet.stderr, "\r")
    })))

  it.effect("resumes with another page size", () =>
    inFake(Effect.gen(function*() {
      const { output, whole } = yield* setting()
      yield* failAfter(3)
      yield* exported(output)
      const { code } = yield* cli(["export", "--page-size", "33", "--output", output])

      assert.strictEqual(code, 0)
      assert.strictEqual(read(output), whole)
    })))

  it.effect("replaces a file only with --force, when the new one is complete, and then resumes without it", () =>
    inFake(Effect.gen(function*() {
      const { output, whole } = yield* setting()
      Fs.writeFileSync(output, "old")
      const refused = yield* exported(output)
      const asked = (yield* queries).length
      yield* failAfter(2)
      yield* exported(output, {}, "--force")
      const meanwhile = read(output)
      const { stderr } = yield* exported(output)

      assert.strictEqual(refused.code, 2)
      assert.match(refused.stderr, /punches exists\n  Add --force to replace it, or choose another name\.\n$/)
      assert.strictEqual(meanwhile, "old")
      assert.strictEqual((yield* queries).length - asked, 24)
      assert.match(stderr, /^resuming after 20 punches/)
      assert.strictEqual(read(output), whole)
    })))

  it.effect("rejects a resume with other flags, and says what differs", () =>
    inFake(Effect.gen(function*() {
      const { folder, output } = yield* setting()
      yield* failAfter(2)
      yield* exported(output, {}, "--location-id", "301", "--deleted", "include")
      const before = [read(`${output}.part`), read(`${output}.resume.json`)]
      const other = yield* exported(output, {}, "--location-id", "302")
      const otherFormat = yield* exported(output, {}, "--location-id", "301", "--deleted", "include", "--format", "csv")

      assert.deepStrictEqual([other.code, otherFormat.code], [2, 2])
      assert.match(other.stderr, /--location-id 301, now 302/)
      assert.match(other.stderr, /--deleted include, now \(none\)/)
      assert.match(otherFormat.stderr, /an export with other flags: --format ndjson, now csv\n/)
      assert.match(other.stderr, /--force/)
      assert.deepStrictEqual([read(`${output}.part`), read(`${output}.resume.json`)], before)
      assert.deepStrictEqual(filesOf(folder), ["punches.part", "punches.resume.json"])
    })))

  it.effect("starts over with --force", () =>
    inFake(Effect.gen(function*() {
      const { folder, output, whole } = yield* setting()
      yield* failAfter(2)
      yield* exported(output, {}, "--deleted", "include")
      const { code, stderr } = yield* exported(output, {}, "--force")

      assert.strictEqual(code, 0)
      assert.notInclude(stderr, "resuming")
      assert.strictEqual(read(output), whole)
      assert.deepStrictEqual(filesOf(folder), ["punches"])
    })))

  describe("writes the same file after a killed run left", () => {
    const leave = Effect.fnUntraced(function*(output: string) {
      yield* failAfter(4)
      yield* exported(output)
    })

    it.effect("rows that were not saved yet", () =>
      inFake(Effect.gen(function*() {
        const { folder, output, whole } = yield* setting()
        yield* leave(output)
        Fs.appendFileSync(`${output}.part`, "{\"id\":1,\"half")
        Fs.writeFileSync(`${output}.resume.json.${globalThis.crypto.randomUUID()}.tmp`, "{\"ha")
        const { code } = yield* exported(output)

        assert.strictEqual(code, 0)
        assert.strictEqual(read(output), whole)
        assert.deepStrictEqual(filesOf(folder), ["punches"])
      })))

    it.effect("all rows, not yet renamed", () =>
      inFake(Effect.gen(function*() {
        const { folder, output, whole } = yield* setting()
        Fs.writeFileSync(output, "old")
        const killed = yield* exported(output, { files: failing("rename", `${output}.part`, "EIO") }, "--force")
        const left = [read(output), ...filesOf(folder)]
        const { code, stderr } = yield* exported(output)

        assert.deepStrictEqual([killed.code, code], [8, 0])
        assert.deepStrictEqual(left, ["old", "punches", "punches.part", "punches.resume.json"])
        assert.match(stderr, /all were saved by an earlier run/)
        assert.strictEqual(read(output), whole)
        assert.deepStrictEqual(filesOf(folder), ["punches"])
      })))

    it.effect("the file, with its state not yet removed", () =>
      inFake(Effect.gen(function*() {
        const { folder, output, whole } = yield* setting()
        const killed = yield* exported(output, { files: failing("remove", `${output}.resume.json`, "EIO") })
        const left = filesOf(folder)
        const asked = (yield* queries).length
        const { code } = yield* exported(output)

        assert.deepStrictEqual([killed.code, code], [8, 0])
        assert.deepStrictEqual(left, ["punches", "punches.resume.json"])
        assert.lengthOf(yield* queries, asked)
        assert.strictEqual(read(output), whole)
        assert.deepStrictEqual(filesOf(folder), ["punches"])
      })))

    it.effect.each(["gone", "cut"])("rows that are %s", (how) =>
      inFake(Effect.gen(function*() {
        const { output, whole } = yield* setting()
        yield* leave(output)
        if (how === "gone") Fs.rmSync(`${output}.part`)
        else Fs.truncateSync(`${output}.part`, 100)
        const { code, stderr } = yield* exported(output)

        assert.strictEqual(code, 0)
        assert.notInclude(stderr, "resuming")
        assert.strictEqual(read(output), whole)
      })))

    it.effect("a state that cannot be read, given --force", () =>
      inFake(Effect.gen(function*() {
        const { output, whole } = yield* setting()
        Fs.writeFileSync(`${output}.resume.json`, "{\"run\":")
        const refused = yield* exported(output)
        const forced = yield* exported(output, {}, "--force")

        assert.deepStrictEqual([refused.code, forced.code], [2, 0])
        assert.match(refused.stderr, /resume\.json cannot be read: .*\n.*--force/)
        assert.strictEqual(read(output), whole)
      })))
  })

  it.live("stops when a later run has taken over", () =>
    inFake(Effect.gen(function*() {
      const { output, whole } = yield* setting()
      const service = yield* FakeService
      const asked = (yield* queries).length
      yield* service.inject(Fault.slow("3 seconds"), { requests: asked + 5, times: 1 })
      const earlier = yield* Effect.forkChild(exported(output))
      // Four pages are saved after a second, and it waits for the fifth.
      while (!Fs.existsSync(`${output}.resume.json`) || noteOf(output)["pages"] !== 4) yield* Effect.sleep("5 millis")
      const later = yield* exported(output)
      const first = yield* Fiber.join(earlier)

      assert.match(later.stderr, /^resuming after \d+ punches/)
      assert.deepStrictEqual([first.code, later.code], [8, 0])
      assert.match(first.stderr, /another run has taken over/)
      assert.strictEqual(read(output), whole)
    })))

  it.effect.each(
    [
      ["ndjson", /^$/],
      ["csv", /^id,company_id,[a-z_,]+\r\n$/]
    ] as const
  )("writes %s without punches", ([format, content]) =>
    inFake(Effect.gen(function*() {
      const { output } = yield* setting()
      const { code } = yield* exported(output, {}, "--format", format, "--user-id", "1")

      assert.strictEqual(code, 0)
      assert.match(read(output), content)
    })))

  it.effect("reports an output that cannot be written before any request", () =>
    inFake(Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const nowhere = yield* exported(`${folder}/none/punches`)
      const directory = yield* exported(folder)

      assert.deepStrictEqual([nowhere.code, directory.code], [8, 2])
      assert.match(nowhere.stderr, /none: there is no such file or folder/)
      assert.match(directory.stderr, /is not a file/)
      assert.deepStrictEqual(yield* queries, [])
    })))

  it.effect("leaves nothing behind when no page arrived", () =>
    inFake(Effect.gen(function*() {
      const { folder, output } = yield* setting()
      yield* failAfter(0)
      const { code, stderr } = yield* exported(output)

      assert.strictEqual(code, 7)
      assert.notInclude(stderr, "saved")
      assert.deepStrictEqual(filesOf(folder), [])
    })))

  it.effect("saves no credential", () =>
    inFake(Effect.gen(function*() {
      const { output } = yield* setting()
      yield* failAfter(1)
      yield* exported(output)
      const text = read(`${output}.resume.json`)

      for (const secret of ["fake-client-secret", environment["TIME_PUNCHES_COMPANY_GUID"] ?? ""]) {
        assert.notInclude(text, secret)
      }
    })))
})
