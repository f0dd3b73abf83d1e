/** Where an export writes, and who may read its files. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Net from "node:net"
import { needs } from "../../support/needs.ts"
import { queries, read, temporaryFolder } from "../support.ts"
import { exported, failAfter, filesOf, inFake, setting } from "./exportSupport.ts"

const modeOf = (file: string): string => (Fs.statSync(file).mode & 0o777).toString(8)

const isLinux = process.platform === "linux"

const isNoFile = /^time-punches: --output \S+ is not a regular file: a file appears/

describe("time-punches export to a link", () => {
  it.effect.each(["a link", "a link to a link", "a relative link", "a link in a folder that is a link"])(
    "replaces the file that %s points to, and works beside it",
    (kind) =>
      inFake(Effect.gen(function*() {
        const { folder, whole } = yield* setting()
        const real = `${yield* temporaryFolder}/real`
        Fs.writeFileSync(real, "old")
        const links: Readonly<Record<string, () => string>> = {
          "a link": () => (Fs.symlinkSync(real, `${folder}/link`), `${folder}/link`),
          "a link to a link": () => {
            Fs.symlinkSync(real, `${folder}/next`)
            Fs.symlinkSync("next", `${folder}/link`)
            return `${folder}/link`
          },
          "a relative link": () => {
            Fs.mkdirSync(`${folder}/sub`)
            Fs.renameSync(real, `${folder}/real`)
            Fs.symlinkSync("../real", `${folder}/sub/link`)
            return `${folder}/sub/link`
          },
          "a link in a folder that is a link": () => {
            Fs.mkdirSync(`${folder}/sub`)
            Fs.symlinkSync(`${folder}/sub`, `${folder}/there`)
            Fs.symlinkSync(real, `${folder}/sub/link`)
            return `${folder}/there/link`
          }
        }
        const link = links[kind]?.() ?? ""
        const target = Fs.realpathSync(link)
        yield* failAfter(2)
        yield* exported(link, {}, "--force")
        const meanwhile = [read(link), Fs.existsSync(`${target}.part`), Fs.existsSync(`${link}.part`)]
        const { code, stderr } = yield* exported(link)

        assert.deepStrictEqual(meanwhile, ["old", true, false])
        assert.strictEqual(code, 0)
        assert.match(stderr, /^resuming after 20 punches/)
        assert.isTrue(Fs.lstatSync(link).isSymbolicLink())
        assert.isFalse(Fs.lstatSync(target).isSymbolicLink())
        assert.strictEqual(read(target), whole)
        assert.isFalse(Fs.existsSync(`${target}.resume.json`))
      }))
  )

  it.effect("creates the file that a dangling link points to", () =>
    inFake(Effect.gen(function*() {
      const { folder, output, whole } = yield* setting()
      const real = `${yield* temporaryFolder}/real`
      Fs.symlinkSync(real, output)
      const { code } = yield* exported(output)

      assert.strictEqual(code, 0)
      assert.isTrue(Fs.lstatSync(output).isSymbolicLink())
      assert.strictEqual(read(real), whole)
      assert.deepStrictEqual(filesOf(folder), ["punches"])
    })))

  it.effect("names the folder that a dangling link points into", () =>
    inFake(Effect.gen(function*() {
      const { folder, output } = yield* setting()
      Fs.symlinkSync(`${folder}/none/real`, output)
      const { code, stderr } = yield* exported(output)

      assert.strictEqual(code, 8)
      assert.match(stderr, /none: there is no such file or folder/)
    })))
})

describe("time-punches export refuses, and replaces nothing at", () => {
  const asks = /--output - > FILE/
  const places: ReadonlyArray<
    readonly [name: string, make: (folder: string) => string, message: RegExp, advice: RegExp]
  > = [
    [
      "a folder",
      (folder) => (Fs.mkdirSync(`${folder}/x`), `${folder}/x`),
      /not a file but a folder/,
      /Name a file in it/
    ],
    ["a name that ends in a slash", (folder) => `${folder}/x/`, /not a file but a folder/, /Name a file in it/],
    ["a link to a folder", (folder) => (Fs.symlinkSync(".", `${folder}/x`), `${folder}/x`), /a folder/, /Name a file/],
    ["a device", () => "/dev/null", isNoFile, asks],
    ["a pipe", (folder) => (execFileSync("mkfifo", [`${folder}/x`]), `${folder}/x`), isNoFile, asks],
    ["standard output", () => "/dev/stdout", isNoFile, asks],
    ["a descriptor", () => "/proc/self/fd/1", isNoFile, asks],
    [
      "a link that leads to a descriptor",
      (folder) => {
        // As `export -o /dev/stdout > open`: the descriptor leads to a regular file.
        Fs.symlinkSync(`/proc/self/fd/${Fs.openSync(`${folder}/open`, "w")}`, `${folder}/x`)
        return `${folder}/x`
      },
      isNoFile,
      asks
    ],
    [
      "a link that leads to itself",
      (folder) => (Fs.symlinkSync("x", `${folder}/x`), `${folder}/x`),
      /itself/,
      /another/
    ]
  ]

  it.effect.each(places)("%s", ([, make, message, advice], context) => {
    needs(context, isLinux, "devices, pipes and /proc as Linux has them")
    return inFake(Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const output = make(folder)
      const before = filesOf(folder)
      const { code, stderr } = yield* exported(output)

      assert.strictEqual(code, 2, stderr)
      assert.match(stderr, message)
      assert.match(stderr, advice)
      assert.deepStrictEqual(filesOf(folder), before)
      assert.deepStrictEqual(yield* queries, [])
    }))
  })

  it.effect("a socket", (context) => {
    needs(context, isLinux, "sockets in the file system as Linux has them")
    return inFake(Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const server = yield* Effect.acquireRelease(
        Effect.callback<Net.Server>((resume) => {
          const server = Net.createServer().listen(`${folder}/x`, () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.sync(() => server.close())
      )
      const { code, stderr } = yield* exported(`${folder}/x`)

      assert.strictEqual(code, 2)
      assert.match(stderr, isNoFile)
      assert.isTrue(server.listening)
      assert.deepStrictEqual(filesOf(folder), ["x"])
    }))
  })
})

describe("time-punches export lets only the owner read", () => {
  it.effect("a new file, and the rows and the note before it", () =>
    inFake(Effect.gen(function*() {
      const { output } = yield* setting()
      yield* failAfter(2)
      yield* exported(output)
      const modes = [modeOf(`${output}.part`), modeOf(`${output}.resume.json`)]
      yield* exported(output)

      assert.deepStrictEqual([...modes, modeOf(output)], ["600", "600", "600"])
    })))

  it.effect.each(["600", "640", "644", "400", "666"])(
    "what could be read in mode %s before: the file keeps it",
    (mode) =>
      inFake(Effect.gen(function*() {
        const { output, whole } = yield* setting()
        Fs.writeFileSync(output, "old")
        Fs.chmodSync(output, Number.parseInt(mode, 8))
        yield* failAfter(2)
        yield* exported(output, {}, "--force")
        const part = modeOf(`${output}.part`)
        const { code } = yield* exported(output)

        assert.strictEqual(code, 0)
        assert.strictEqual(read(output), whole)
        assert.deepStrictEqual([part, modeOf(output)], ["600", mode])
      }))
  )

  it.effect("the files of an earlier run that were open to others, when it resumes", () =>
    inFake(Effect.gen(function*() {
      const { output } = yield* setting()
      yield* failAfter(2)
      yield* exported(output)
      for (const suffix of [".part", ".resume.json"]) Fs.chmodSync(output + suffix, 0o644)
      yield* failAfter(0)
      yield* exported(output)

      assert.deepStrictEqual([modeOf(`${output}.part`), modeOf(`${output}.resume.json`)], ["600", "600"])
    })))

  it.effect("the rows at the moment in which they become the file", () =>
    inFake(Effect.gen(function*() {
      const { output } = yield* setting()
      Fs.writeFileSync(output, "old")
      Fs.chmodSync(output, 0o640)
      const seen: Array<string> = []
      yield* exported(output, {
        files: (fs) => ({
          ...fs,
          rename: (from, to) =>
            Effect.suspend(() => {
              seen.push(`${from.includes(".tmp") ? "note" : "rows"} ${modeOf(from)}`)
              return fs.rename(from, to)
            })
        })
      }, "--force")

      assert.deepStrictEqual(seen, ["note 600", "note 600", "rows 640"])
    })))

  it.effect("as another user's file: its owner and group are kept", (context) => {
    needs(context, process.getuid?.() === 0, "an administrator, who may give a file away")
    return inFake(Effect.gen(function*() {
      const { output } = yield* setting()
      Fs.writeFileSync(output, "old")
      Fs.chmodSync(output, 0o640)
      Fs.chownSync(output, 1234, 4321)
      yield* exported(output)
      const { gid, uid } = Fs.statSync(output)

      assert.deepStrictEqual([uid, gid, modeOf(output)], [1234, 4321, "640"])
    }))
  })
})
