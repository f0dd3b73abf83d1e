import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as Fs from "node:fs"
import { defaultCompany, FakeService, Fault, generatePunches } from "../../../src/testing/index.ts"
import { cli, environment, queries, temporaryFolder } from "../support.ts"

const fake = FakeService.layer({
  punches: generatePunches({ seed: 7, count: 230, companyId: defaultCompany.id })
})

const formats = ["ndjson", "csv"] as const

const read = (file: string) => Fs.readFileSync(file, "utf8")

const filesOf = (folder: string) => Fs.readdirSync(folder).toSorted()

/** A folder, the path of an output in it, and what an undisturbed run writes. */
const setting = Effect.fnUntraced(function*(format: "ndjson" | "csv" = "ndjson") {
  const folder = yield* temporaryFolder
  const whole = `${yield* temporaryFolder}/whole`
  const { code } = yield* cli(["export", "--format", format, "--output", whole])
  assert.strictEqual(code, 0)
  return { folder, output: `${folder}/punches`, whole: read(whole) }
})

/** Refuses the page request after the next so many. */
const failAfter = (pages: number) =>
  Effect.gen(function*() {
    const service = yield* FakeService
    const asked = (yield* service.requests).filter(({ endpoint }) => endpoint === "page")
    const last = asked.at(-1)?.number ?? 0
    yield* service.inject(Fault.status(404), { requests: last + pages + 1, times: 1 })
  })

const inFake = <A, E, R>(effect: Effect.Effect<A, E, R>) => effect.pipe(Effect.scoped, Effect.provide(fake))

const exported = (output: string, ...flags: ReadonlyArray<string>) =>
  cli(["export", "--page-size", "10", "--output", output, ...flags])

const noteOf = (output: string): Record<string, unknown> => JSON.parse(read(`${output}.resume.json`))

const writeNote = (output: string, note: Record<string, unknown>) =>
  Fs.writeFileSync(`${output}.resume.json`, JSON.stringify(note))

describe("time-punches export", () => {
  it.effect.each(formats)(
    "writes the file of %s at once, and leaves nothing beside it",
    (format) =>
      inFake(Effect.gen(function*() {
        const { folder, output, whole } = yield* setting(format)
        const { code, stderr, stdout } = yield* exported(output, "--format", format)

        assert.deepStrictEqual([code, stdout, filesOf(folder)], [0, "", ["punches"]])
        assert.match(stderr, /^.*punches: 2\d\d punches, 2\d pages, [\d,]+ bytes\n$/)
        assert.strictEqual(read(output), whole)
      }))
  )

  it.effect.each(formats)(
    "goes on after failures, asking for no page twice, and the file of %s is the same",
    (format) =>
      inFake(Effect.gen(function*() {
        const { folder, output, whole } = yield* setting(format)
        const before = (yield* queries).length
        yield* failAfter(3)
        const first = yield* exported(output, "--format", format)
        const left = filesOf(folder)
        yield* failAfter(0)
        const second = yield* exported(output, "--format", format)
        yield* failAfter(5)
        const third = yield* exported(output, "--format", format)
        const last = yield* exported(output, "--format", format)
        const asked = (yield* queries).slice(before).map(({ cursor }) => cursor)

        assert.deepStrictEqual([first, second, third, last].map(({ code }) => code), [7, 7, 7, 0])
        assert.match(first.stderr, /30 punches, 3 pages, [\d,]+ bytes are kept. To go on, run the same command again/)
        assert.match(last.stderr, /^going on after 80 punches, 8 pages/)
        assert.deepStrictEqual(left, ["punches.part", "punches.resume.json"])
        assert.deepStrictEqual(filesOf(folder), ["punches"])
        assert.strictEqual(read(output), whole)
        // Twice page 4 and page 9, which were refused once and twice.
        assert.strictEqual(asked.length - new Set(asked).size, 3)
      }))
  )

  it.effect("shows how far it is on a terminal, and takes that away again", () =>
    inFake(Effect.gen(function*() {
      const { output } = yield* setting()
      const args = ["export", "--page-size", "10", "--output", output]
      const shown = yield* cli(args, { terminal: true })
      const quiet = yield* cli(args)

      assert.match(shown.stderr, /^\r\u001b\[2K1 page, 10 punches\r\u001b\[2K.*punches: \d+ punches.*\n\r\u001b\[2K$/)
      assert.notInclude(quiet.stderr, "\r")
    })))

  it.effect("goes on with pages of another size", () =>
    inFake(Effect.gen(function*() {
      const { output, whole } = yield* setting()
      yield* failAfter(3)
      yield* exported(output)
      const { code } = yield* cli(["export", "--page-size", "33", "--output", output])

      assert.strictEqual(code, 0)
      assert.strictEqual(read(output), whole)
    })))

  it.effect("keeps the file that is there until the new one is complete", () =>
    inFake(Effect.gen(function*() {
      const { output, whole } = yield* setting()
      Fs.writeFileSync(output, "old")
      yield* failAfter(2)
      yield* exported(output)
      const meanwhile = read(output)
      yield* exported(output)

      assert.strictEqual(meanwhile, "old")
      assert.strictEqual(read(output), whole)
    })))

  it.effect("refuses to go on with another question, and says what differs", () =>
    inFake(Effect.gen(function*() {
      const { folder, output } = yield* setting()
      yield* failAfter(2)
      yield* exported(output, "--location-id", "301", "--deleted", "include")
      const before = [read(`${output}.part`), read(`${output}.resume.json`)]
      const other = yield* exported(output, "--location-id", "302")
      const otherFormat = yield* exported(output, "--location-id", "301", "--deleted", "include", "--format", "csv")

      assert.deepStrictEqual([other.code, otherFormat.code], [2, 2])
      assert.match(other.stderr, /--location-id 301, now 302/)
      assert.match(other.stderr, /--deleted include, now \(none\)/)
      assert.match(otherFormat.stderr, /begun with other flags: --format ndjson, now csv\n/)
      assert.match(other.stderr, /--force/)
      assert.deepStrictEqual([read(`${output}.part`), read(`${output}.resume.json`)], before)
      assert.deepStrictEqual(filesOf(folder), ["punches.part", "punches.resume.json"])
    })))

  it.effect("starts anew with --force", () =>
    inFake(Effect.gen(function*() {
      const { folder, output, whole } = yield* setting()
      yield* failAfter(2)
      yield* exported(output, "--deleted", "include")
      const { code, stderr } = yield* exported(output, "--force")

      assert.strictEqual(code, 0)
      assert.notInclude(stderr, "going on")
      assert.strictEqual(read(output), whole)
      assert.deepStrictEqual(filesOf(folder), ["punches"])
    })))

  describe("whatever a killed run left, ends with the same file:", () => {
    const leave = Effect.fnUntraced(function*(output: string) {
      yield* failAfter(4)
      yield* exported(output)
    })

    it.effect("rows that were not noted yet", () =>
      inFake(Effect.gen(function*() {
        const { folder, output, whole } = yield* setting()
        yield* leave(output)
        Fs.appendFileSync(`${output}.part`, "{\"id\":1,\"half")
        Fs.writeFileSync(`${output}.resume.json.1f.tmp`, "{\"ha")
        const { code } = yield* exported(output)

        assert.strictEqual(code, 0)
        assert.strictEqual(read(output), whole)
        assert.deepStrictEqual(filesOf(folder), ["punches"])
      })))

    it.effect("all rows, before they became the file", () =>
      inFake(Effect.gen(function*() {
        const { folder, output, whole } = yield* setting()
        yield* leave(output)
        const note = noteOf(output)
        Fs.writeFileSync(`${output}.part`, whole)
        writeNote(output, { ...note, cursor: null, complete: true, bytes: Buffer.byteLength(whole) })
        Fs.writeFileSync(output, "old")
        const { code, stderr } = yield* exported(output)

        assert.strictEqual(code, 0)
        assert.match(stderr, /complete already/)
        assert.strictEqual(read(output), whole)
        assert.deepStrictEqual(filesOf(folder), ["punches"])
      })))

    it.effect("the file, before the note was taken away", () =>
      inFake(Effect.gen(function*() {
        const { folder, output, whole } = yield* setting()
        yield* leave(output)
        const note = noteOf(output)
        Fs.renameSync(`${output}.part`, output)
        Fs.writeFileSync(output, whole)
        writeNote(output, { ...note, cursor: null, complete: true, bytes: Buffer.byteLength(whole) })
        const { code } = yield* exported(output)

        assert.strictEqual(code, 0)
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
        assert.notInclude(stderr, "going on")
        assert.strictEqual(read(output), whole)
      })))

    it.effect("a note that cannot be read, with --force", () =>
      inFake(Effect.gen(function*() {
        const { output, whole } = yield* setting()
        Fs.writeFileSync(`${output}.resume.json`, "{\"run\":")
        const refused = yield* exported(output)
        const forced = yield* exported(output, "--force")

        assert.deepStrictEqual([refused.code, forced.code], [2, 0])
        assert.match(refused.stderr, /resume\.json cannot be read\n.*--force/)
        assert.strictEqual(read(output), whole)
      })))
  })

  it.live("stops when a later run has taken over", () =>
    inFake(Effect.gen(function*() {
      const { output, whole } = yield* setting()
      const service = yield* FakeService
      const asked = (yield* queries).length
      yield* service.inject(Fault.slow("700 millis"), { requests: asked + 5, times: 1 })
      const earlier = yield* Effect.forkChild(exported(output))
      // Four pages are noted: now it does nothing but wait for the fifth.
      while (!Fs.existsSync(`${output}.resume.json`) || noteOf(output)["pages"] !== 4) yield* Effect.sleep("5 millis")
      const later = yield* exported(output)
      const first = yield* Fiber.join(earlier)

      assert.match(later.stderr, /^going on after \d+ punches/)
      assert.deepStrictEqual([first.code, later.code], [8, 0])
      assert.match(first.stderr, /another run has taken over/)
      assert.strictEqual(read(output), whole)
    })))

  it.effect.each(
    [
      ["ndjson", /^$/],
      ["csv", /^id,company_id,[a-z_,]+\r\n$/]
    ] as const
  )("writes %s of no punches", ([format, content]) =>
    inFake(Effect.gen(function*() {
      const { output } = yield* setting()
      const { code } = yield* exported(output, "--format", format, "--user-id", "1")

      assert.strictEqual(code, 0)
      assert.match(read(output), content)
    })))

  it.effect("tells at once what cannot be written, before anything is asked", () =>
    inFake(Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const nowhere = yield* exported(`${folder}/none/punches`)
      const directory = yield* exported(folder)

      assert.deepStrictEqual([nowhere.code, directory.code], [8, 2])
      assert.match(nowhere.stderr, /none: there is no such file or folder/)
      assert.match(directory.stderr, /is not a file/)
      assert.deepStrictEqual(yield* queries, [])
    })))

  it.effect("leaves nothing behind when not even a page came", () =>
    inFake(Effect.gen(function*() {
      const { folder, output } = yield* setting()
      yield* failAfter(0)
      const { code, stderr } = yield* exported(output)

      assert.strictEqual(code, 7)
      assert.notInclude(stderr, "kept")
      assert.deepStrictEqual(filesOf(folder), [])
    })))

  it.effect("puts no credential into the note", () =>
    inFake(Effect.gen(function*() {
      const { output } = yield* setting()
      yield* failAfter(1)
      yield* exported(output)
      const note = read(`${output}.resume.json`)

      for (const secret of ["fake-client-secret", environment["TIME_PUNCHES_COMPANY_GUID"] ?? ""]) {
        assert.notInclude(note, secret)
      }
    })))
})
