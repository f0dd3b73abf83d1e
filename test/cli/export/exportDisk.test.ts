/** Disks that are full, slow, broken or gone while an export runs, and runs that are interrupted. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import { FakeService, Fault } from "../../../src/testing/index.ts"
import { needs } from "../../support/needs.ts"
import { queries, read, temporaryFolder } from "../support.ts"
import {
  disturbingSyncs,
  disturbingWrites,
  exported,
  failAfter,
  filesOf,
  inFake,
  noteOf,
  setting,
  systemError
} from "./exportSupport.ts"

/** Fails every write to a file whose name has this end, as if it were open: by the number of its descriptor. */
const failingWrites = (end: RegExp, code: string) =>
  disturbingWrites((file, write) => end.test(file) ? Effect.fail(systemError(code, 23)) : write)

/** A turn of the machine, in which answers of the file system arrive; the clock of the test does not move. */
const turn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

/** Lets the run continue, without a move of its clock, until the service has received so many page requests. */
const untilAsked = Effect.fnUntraced(function*(count: number) {
  while ((yield* queries).length < count) yield* turn
})

/** Delays the nth page from now so long that no test waits for it. */
const holdPage = Effect.fnUntraced(function*(nth: number) {
  const service = yield* FakeService
  const asked = (yield* service.requests).filter(({ endpoint }) => endpoint === "page")
  yield* service.inject(Fault.slow("1 hour"), { requests: (asked.at(-1)?.number ?? 0) + nth, times: 1 })
  return asked.length + nth
})

describe("time-punches export on a disk", () => {
  it.effect.each(
    [
      ["ENOSPC", /no space is left on the disk \(ENOSPC\)\n  Free space on that disk\.\n/],
      ["EDQUOT", /the disk quota is used up \(EDQUOT\)\n  Free space within the quota, or have it raised\.\n/],
      ["EIO", /the disk cannot be read or written \(EIO\)\n  Check the disk, or the connection to it/],
      ["EACCES", /permission denied\n  Get the permission to write there/],
      ["EROFS", /the file system is read-only \(EROFS\)\n  Choose a file on another file system/]
    ] as const
  )("that answers %s names the file and says what to do", ([code, message]) =>
    inFake(Effect.gen(function*() {
      const { folder, output, whole } = yield* setting()
      yield* failAfter(3)
      yield* exported(output)
      const full = yield* exported(output, { files: failingWrites(/\.part$/, code) })
      const left = [noteOf(output)["pages"], ...filesOf(folder)]
      const note = yield* exported(output, { files: failingWrites(/\.tmp$/, code) })
      const last = yield* exported(output)

      assert.deepStrictEqual([full.code, note.code, last.code], [8, 8, 0])
      assert.include(full.stderr, `time-punches: ${output}.part: `)
      assert.match(full.stderr, message)
      assert.match(
        full.stderr,
        /30 punches, 3 pages, .* are saved\. To resume the export, run the same command again\.\n$/
      )
      assert.include(note.stderr, `time-punches: ${output}.resume.json: `)
      assert.match(note.stderr, message)
      assert.deepStrictEqual(left, [3, "punches.part", "punches.resume.json"])
      assert.strictEqual(read(output), whole)
    })))

  it.effect("that is full keeps what was saved, and resumes to the same file when space is freed", (context) => {
    const probe = Fs.mkdtempSync("/tmp/full-disk-")
    const { error, status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", probe])
    if (status === 0) spawnSync("umount", [probe])
    Fs.rmdirSync(probe)
    needs(
      context,
      status === 0,
      `a mount of a separate disk, of which mount says ${error?.message ?? stderr.toString().trim()}`
    )
    return inFake(Effect.gen(function*() {
      const { whole } = yield* setting()
      const folder = yield* Effect.acquireRelease(
        Effect.map(temporaryFolder, (folder) => {
          assert.strictEqual(spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]).status, 0)
          return folder
        }),
        (folder) => Effect.sync(() => assert.strictEqual(spawnSync("umount", [folder]).status, 0))
      )
      const output = `${folder}/punches`
      yield* failAfter(3)
      yield* exported(output)
      // All but twenty kilobytes, which are fewer than the pages that are left.
      const { bavail, bsize } = Fs.statfsSync(folder)
      Fs.writeFileSync(`${folder}/other`, Buffer.alloc((bavail - 5) * bsize))
      const full = yield* exported(output)
      const left = filesOf(folder)
      const again = yield* exported(output)
      Fs.rmSync(`${folder}/other`)
      const last = yield* exported(output)

      assert.deepStrictEqual([full.code, again.code, last.code], [8, 8, 0])
      assert.match(full.stderr, /punches\.part: no space is left on the disk \(ENOSPC\)\n  Free space on that disk\.\n/)
      assert.match(
        full.stderr,
        /30 punches, 3 pages, .* are saved\. To resume the export, run the same command again\./
      )
      assert.deepStrictEqual(left, ["other", "punches.part", "punches.resume.json"])
      assert.match(last.stderr, /^resuming after 30 punches/)
      assert.strictEqual(read(output), whole)
      assert.deepStrictEqual(filesOf(folder), ["punches"])
    }))
  })

  it.effect("that is slow receives pages while it syncs, and saves some of them at a time", () =>
    inFake(Effect.gen(function*() {
      const { output, whole } = yield* setting()
      const service = yield* FakeService
      yield* service.inject(Fault.slow("500 millis"))
      const before = (yield* queries).length
      let notes = 0
      let most = 0
      const fiber = yield* Effect.forkChild(exported(output, {
        files: disturbingSyncs((file, sync) =>
          Effect.gen(function*() {
            const started = (yield* queries).length
            const received = Effect.map(queries, ({ length }) => length - started)
            // Pages need real files, which this clock does not wait for: so a sync ends with the third page, or after long.
            yield* Effect.sleep("500 millis").pipe(
              Effect.andThen(received),
              Effect.repeat({ until: (count) => count > 2, times: 19 })
            )
            if (file.endsWith(".tmp")) notes += 1
            most = Math.max(most, yield* received)
            yield* sync
          }).pipe(Effect.provideService(FakeService, service))
        )
      }))
      while (fiber.pollUnsafe() === undefined) {
        yield* TestClock.adjust("100 millis")
        // Real files are written meanwhile: on a busy machine one turn of the loop is too short for a page.
        yield* Effect.repeat(turn, { times: 9 })
      }
      const { code } = yield* Fiber.join(fiber)
      const pages = (yield* queries).length - before

      assert.strictEqual(code, 0)
      assert.strictEqual(read(output), whole)
      assert.isAbove(most, 2)
      assert.isBelow(notes, pages / 2)
    })))

  it.effect("whose folder is removed names the file", () =>
    inFake(Effect.gen(function*() {
      const { folder, output } = yield* setting()
      const asked = yield* holdPage(3)
      const fiber = yield* Effect.forkChild(exported(output))
      yield* untilAsked(asked)
      Fs.renameSync(folder, `${folder}-moved`)
      yield* TestClock.adjust("1 hour")
      const { code, stderr } = yield* Fiber.join(fiber)
      Fs.renameSync(`${folder}-moved`, folder)

      assert.strictEqual(code, 8)
      assert.include(stderr, `time-punches: ${output}.resume.json: there is no such file or folder\n`)
    })))
})

describe("an interrupted time-punches export", () => {
  /** Interrupts the export when it has asked for the nth page, with no move of its clock: nothing is written so far. */
  const interruptedAt = Effect.fnUntraced(function*(
    output: string,
    nth: number,
    options: Parameters<typeof exported>[1] = {}
  ) {
    const stderr: Array<string> = []
    const asked = yield* holdPage(nth)
    const fiber = yield* Effect.forkChild(exported(output, { ...options, stderr }))
    yield* untilAsked(asked)
    yield* Fiber.interrupt(fiber)
    return stderr.join("")
  })

  it.effect("before its first page says that nothing was written", () =>
    inFake(Effect.gen(function*() {
      const { folder, output } = yield* setting()

      assert.strictEqual(
        yield* interruptedAt(output, 1),
        "interrupted: nothing was written; the same command starts from the beginning.\n"
      )
      assert.deepStrictEqual(filesOf(folder), [])
    })))

  it.effect("writes the pages that it has in memory", () =>
    inFake(Effect.gen(function*() {
      const { output, whole } = yield* setting()
      const stderr = yield* interruptedAt(output, 4)
      const saved = noteOf(output)["pages"]
      const { code, stderr: resumed } = yield* exported(output)

      assert.match(
        stderr,
        /^interrupted\n30 punches, 3 pages, .* are saved\. To resume the export, run the same command/
      )
      assert.strictEqual(saved, 3)
      assert.match(resumed, /^resuming after 30 punches/)
      assert.strictEqual(code, 0)
      assert.strictEqual(read(output), whole)
    })))

  it.effect("says so if it cannot save them", () =>
    inFake(Effect.gen(function*() {
      const { folder, output } = yield* setting()
      const stderr = yield* interruptedAt(output, 4, {
        files: disturbingSyncs((file, sync) => file.endsWith(".part") ? Effect.fail(systemError("ENOSPC", 23)) : sync)
      })

      assert.match(
        stderr,
        /^.*punches\.part: no space is left on the disk \(ENOSPC\)\ninterrupted: nothing was written/
      )
      assert.deepStrictEqual(filesOf(folder), [])
    })))
})
