import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Option, type Path, type Scope, type Stdio } from "effect"
import * as Fs from "node:fs"
import {
  type Checkpoint,
  type ExportSpec,
  openCheckpoint,
  type WrittenPage
} from "../../../src/cli/export/checkpoint.ts"
import { Cursor } from "../../../src/index.ts"
import { read, temporaryFolder } from "../support.ts"
import { disturbingSyncs } from "./exportSupport.ts"

const spec: ExportSpec = { "--company": "4021", "--format": "ndjson" }

const next = Option.some(Cursor.make("page-2"))

const filesOf = (output: string) => Fs.readdirSync(output.replace(/\/[^/]+$/, "")).toSorted()

const stateOf = (output: string): Record<string, unknown> => JSON.parse(read(`${output}.resume.json`))

/** Runs `body` with the path of an output in an empty folder. */
const withOutput = <E>(
  body: (output: string) => Effect.Effect<void, E, FileSystem.FileSystem | Path.Path | Scope.Scope | Stdio.Stdio>
) =>
  Effect.flatMap(temporaryFolder, (folder) => body(`${folder}/punches`)).pipe(
    Effect.scoped,
    Effect.provide(NodeServices.layer)
  )

const page = (text: string, punches: number, next: WrittenPage["next"]): WrittenPage => ({ text, punches, next })

const open = (output: string, given: ExportSpec = spec, force = false) => openCheckpoint(output, given, force)

/** Writes a page, and saves it. */
const appended = (checkpoint: Checkpoint, page: WrittenPage) => Effect.andThen(checkpoint.append(page), checkpoint.save)

/** Leaves the files of an export whose first page of two rows is saved. */
const leaveFirstPage = (output: string) =>
  Effect.flatMap(open(output), (checkpoint) => appended(checkpoint, page("a\nb\n", 2, next)))

const failureOf = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.map(Effect.flip(effect), String)

const takenOver = /another run has taken over/

describe("openCheckpoint", () => {
  it.effect("starts at the beginning without files, and saves its state before any page", () =>
    withOutput((output) =>
      Effect.gen(function*() {
        const { start } = yield* open(output)

        assert.deepStrictEqual(start, { bytes: 0, pages: 0, punches: 0, cursor: Option.none(), complete: false })
        assert.deepStrictEqual(filesOf(output), ["punches.resume.json"])
      })
    ))

  it.effect("reads the progress of an earlier run", () =>
    withOutput((output) =>
      Effect.gen(function*() {
        yield* leaveFirstPage(output)
        const { start } = yield* open(output)

        assert.deepStrictEqual(start, { bytes: 4, pages: 1, punches: 2, cursor: next, complete: false })
      })
    ))

  it.effect("compares specs by their flags, not by the order of these", () =>
    withOutput((output) =>
      Effect.gen(function*() {
        yield* leaveFirstPage(output)
        const { start } = yield* open(output, { "--format": "ndjson", "--company": "4021" })

        assert.strictEqual(start.pages, 1)
      })
    ))

  it.effect("rejects the state of another spec, unless forced, and leaves the files as they are", () =>
    withOutput((output) =>
      Effect.gen(function*() {
        yield* leaveFirstPage(output)
        const before = [read(`${output}.part`), read(`${output}.resume.json`)]
        const other = { "--company": "4022", "--user-id": "5", "--format": "ndjson" }
        const failure = yield* Effect.flip(open(output, other))
        const after = [read(`${output}.part`), read(`${output}.resume.json`)]
        const forced = yield* open(output, other, true)

        assert.match(failure.message, /--company 4021, now 4022; --user-id \(none\), now 5$/)
        assert.deepStrictEqual(after, before)
        assert.strictEqual(forced.start.pages, 0)
      })
    ))

  it.effect.each(["", "{", "[]", "{\"run\":\"1\"}"])(
    "rejects the state %j, unless forced",
    (text) =>
      withOutput((output) =>
        Effect.gen(function*() {
          Fs.writeFileSync(`${output}.resume.json`, text)
          const failure = yield* failureOf(open(output))
          const forced = yield* open(output, spec, true)

          assert.match(failure, /resume\.json cannot be read/)
          assert.strictEqual(forced.start.pages, 0)
        })
      )
  )

  it.effect.each(["missing", "shorter than its state counts"])(
    "starts over if the part is %s",
    (how) =>
      withOutput((output) =>
        Effect.gen(function*() {
          yield* leaveFirstPage(output)
          if (how === "missing") Fs.rmSync(`${output}.part`)
          else Fs.truncateSync(`${output}.part`, 3)
          const { start } = yield* open(output)

          assert.deepStrictEqual([start.pages, start.bytes], [0, 0])
        })
      )
  )

  it.effect("rejects an output that is a folder, before it writes anything", () =>
    withOutput((output) =>
      Effect.gen(function*() {
        Fs.mkdirSync(output)

        assert.match(yield* failureOf(open(output)), /is not a file but a folder/)
        assert.deepStrictEqual(filesOf(output), ["punches"])
      })
    ))

  it.effect("names every flag that differs, also one that is no longer given", () =>
    withOutput((output) =>
      Effect.gen(function*() {
        yield* open(output, { "--company": "4021", "--format": "csv", "--user-id": "5" })
        const failure = yield* Effect.flip(open(output))

        assert.match(failure.message, /other flags: --format csv, now ndjson; --user-id 5, now \(none\)$/)
      })
    ))

  it.effect("fails on a state that it is not able to read, and does not take it for none", () =>
    withOutput((output) =>
      Effect.gen(function*() {
        Fs.mkdirSync(`${output}.resume.json`)
        yield* Effect.flip(open(output))

        assert.deepStrictEqual(filesOf(output), ["punches.resume.json"])
      })
    ))

  it.effect("removes the half-written states of killed runs, and no file of another", () =>
    withOutput((output) =>
      Effect.gen(function*() {
        const scratch = `${globalThis.crypto.randomUUID()}.tmp`
        const others = [".resume.json.old", `.csv.resume.json.${scratch}`, ".tmp", ".resume.json.1.tmp", `.${scratch}`]
        for (const name of [...others, `.resume.json.${scratch}`]) Fs.writeFileSync(output + name, "{")
        yield* open(output)

        assert.deepStrictEqual(
          filesOf(output),
          [...others, ".resume.json"].map((name) => `punches${name}`).toSorted()
        )
      })
    ))
})

describe("Checkpoint.append", () => {
  it.effect("appends the rows, and saves how many bytes, pages and punches count", () =>
    withOutput((output) =>
      Effect.gen(function*() {
        const checkpoint = yield* open(output)
        yield* appended(checkpoint, page("ä\n", 1, next))
        const first = yield* checkpoint.saved
        yield* appended(checkpoint, page("b\n", 1, Option.none()))

        assert.deepStrictEqual(first, { bytes: 3, pages: 1, punches: 1, cursor: next, complete: false })
        assert.deepStrictEqual(
          yield* checkpoint.saved,
          { bytes: 5, pages: 2, punches: 2, cursor: Option.none(), complete: true }
        )
        assert.strictEqual(read(`${output}.part`), "ä\nb\n")
        assert.include(stateOf(output), { bytes: 5, pages: 2, punches: 2, cursor: null, complete: true })
      })
    ))

  it.effect("overwrites what a killed run wrote beyond its saved bytes", () =>
    withOutput((output) =>
      Effect.gen(function*() {
        yield* leaveFirstPage(output)
        Fs.appendFileSync(`${output}.part`, "half a row, longer than the next page")
        const checkpoint = yield* open(output)
        yield* appended(checkpoint, page("c\n", 1, Option.none()))
        yield* checkpoint.finish

        assert.strictEqual(read(output), "a\nb\nc\n")
      })
    ))
})

describe("Checkpoint.save", () => {
  it.effect("is what makes a page count", () =>
    withOutput((output) =>
      Effect.gen(function*() {
        const checkpoint = yield* open(output)
        yield* checkpoint.append(page("a\n", 1, next))
        const before = [stateOf(output)["pages"], (yield* checkpoint.saved).pages, read(`${output}.part`)]
        yield* checkpoint.append(page("b\n", 1, next))
        yield* checkpoint.save

        assert.deepStrictEqual(before, [0, 0, "a\n"])
        assert.deepInclude(stateOf(output), { pages: 2, punches: 2, bytes: 4 })
      })
    ))

  it.effect("writes no note without a new page", () =>
    withOutput((output) =>
      Effect.gen(function*() {
        const checkpoint = yield* open(output)
        yield* appended(checkpoint, page("a\n", 1, next))
        const { ino } = Fs.statSync(`${output}.resume.json`)
        yield* checkpoint.save

        assert.strictEqual(Fs.statSync(`${output}.resume.json`).ino, ino)
      })
    ))

  it.effect("leaves the note of a run that takes over while it waits for the disk", () =>
    withOutput((output) =>
      Effect.gen(function*() {
        const context = yield* Effect.context<FileSystem.FileSystem | Path.Path | Scope.Scope | Stdio.Stdio>()
        let isTaken = false
        const files = disturbingSyncs((file, sync) => {
          if (isTaken || !file.endsWith(".part")) return sync
          isTaken = true
          return Effect.andThen(sync, Effect.orDie(Effect.provideContext(leaveFirstPage(output), context)))
        })
        const earlier = yield* Effect.updateService(open(output), FileSystem.FileSystem, files)
        const failure = yield* failureOf(appended(earlier, page("c\nd\ne\n", 3, Option.none())))

        assert.match(failure, takenOver)
        assert.deepInclude(stateOf(output), { pages: 1, bytes: 4, complete: false })
        assert.deepStrictEqual((yield* open(output)).start.punches, 2)
      })
    ))
})

describe("Checkpoint.finish", () => {
  it.effect("replaces the output and leaves no other file", () =>
    withOutput((output) =>
      Effect.gen(function*() {
        Fs.writeFileSync(output, "old")
        const checkpoint = yield* open(output, spec, true)
        yield* appended(checkpoint, page("a\n", 1, Option.none()))
        const before = read(output)
        yield* checkpoint.finish

        assert.deepStrictEqual([before, read(output)], ["old", "a\n"])
        assert.deepStrictEqual(filesOf(output), ["punches"])
      })
    ))

  it.effect("replaces nothing if another run takes over right before", () =>
    withOutput((output) =>
      Effect.gen(function*() {
        Fs.writeFileSync(output, "old")
        const fs = yield* FileSystem.FileSystem
        let takesOver: Effect.Effect<unknown, unknown> = Effect.void
        // Once its part was measured, right before it is replaced.
        const checkpoint = yield* Effect.provideService(open(output, spec, true), FileSystem.FileSystem, {
          ...fs,
          open: (file, options) =>
            Effect.map(
              fs.open(file, options),
              (handle) =>
                file === `${output}.part`
                  ? Object.create(handle, {
                    stat: { value: Effect.tap(handle.stat, () => Effect.orDie(takesOver)) }
                  })
                  : handle
            )
        })
        yield* appended(checkpoint, page("a\n", 1, Option.none()))
        const services = yield* Effect.context<FileSystem.FileSystem | Path.Path | Scope.Scope | Stdio.Stdio>()
        takesOver = open(output, spec, true).pipe(
          Effect.tap((later) => appended(later, page("b\n", 1, next))),
          Effect.provideContext(services)
        )
        const failure = yield* failureOf(checkpoint.finish)

        assert.match(failure, takenOver)
        assert.deepStrictEqual([read(output), read(`${output}.part`)], ["old", "b\n"])
      })
    ))

  it.effect.each(["before", "after"])(
    "completes a run that was killed %s the rename",
    (when) =>
      withOutput((output) =>
        Effect.gen(function*() {
          const killed = yield* open(output)
          yield* appended(killed, page("a\n", 1, Option.none()))
          if (when === "after") Fs.renameSync(`${output}.part`, output)
          const checkpoint = yield* open(output)
          yield* checkpoint.finish

          assert.isTrue(checkpoint.start.complete)
          assert.strictEqual(read(output), "a\n")
          assert.deepStrictEqual(filesOf(output), ["punches"])
        })
      )
  )
})

describe("Checkpoint.abandon", () => {
  it.effect("removes a state without a page, and keeps one with a page", () =>
    withOutput((output) =>
      Effect.gen(function*() {
        const checkpoint = yield* open(output)
        yield* checkpoint.abandon
        const without = filesOf(output)
        yield* leaveFirstPage(output)
        const later = yield* open(output)
        yield* later.abandon

        assert.deepStrictEqual(without, [])
        assert.deepStrictEqual(filesOf(output), ["punches.part", "punches.resume.json"])
      })
    ))
})

describe("a run that another one has taken over", () => {
  /** What an earlier run does after a later one has opened the checkpoint. */
  const afterTakeover = <A, E>(
    output: string,
    act: (earlier: Checkpoint) => Effect.Effect<A, E>,
    meanwhile: (later: Checkpoint) => Effect.Effect<void, unknown> = () => Effect.void
  ) =>
    Effect.gen(function*() {
      yield* leaveFirstPage(output)
      const earlier = yield* open(output)
      const later = yield* open(output)
      yield* Effect.orDie(meanwhile(later))
      const before = filesOf(output).map((name) => read(`${output.replace(/punches$/, "")}${name}`))
      const result = yield* Effect.result(act(earlier))
      const after = filesOf(output).map((name) => read(`${output.replace(/punches$/, "")}${name}`))
      assert.deepStrictEqual(after, before)
      return result._tag === "Failure" ? String(result.failure) : ""
    })

  it.effect("appends nothing", () =>
    withOutput((output) =>
      Effect.gen(function*() {
        const failure = yield* afterTakeover(output, ({ append }) => append(page("c\n", 1, Option.none())))

        assert.match(failure, takenOver)
      })
    ))

  it.effect("replaces no output", () =>
    withOutput((output) =>
      Effect.gen(function*() {
        const failure = yield* afterTakeover(output, ({ finish }) => finish)

        assert.match(failure, takenOver)
      })
    ))

  it.effect("removes no state", () =>
    withOutput((output) =>
      Effect.gen(function*() {
        const failure = yield* afterTakeover(output, ({ abandon }) => abandon)

        assert.strictEqual(failure, "")
      })
    ))

  it.effect("stops also after the other one has finished", () =>
    withOutput((output) =>
      Effect.gen(function*() {
        const failure = yield* afterTakeover(
          output,
          ({ append }) => append(page("c\n", 1, Option.none())),
          (later) => Effect.andThen(appended(later, page("c\n", 1, Option.none())), later.finish)
        )

        assert.match(failure, takenOver)
      })
    ))
})
