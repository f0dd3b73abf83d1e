/** Exports over the fake service, their files, and file systems that misbehave. */
import { assert } from "@effect/vitest"
import { Effect, FileSystem, PlatformError } from "effect"
import * as Fs from "node:fs"
import { defaultCompany, FakeService, Fault, generatePunches } from "../../../src/testing/index.ts"
import { cli, inFakeOf, read, temporaryFolder } from "../support.ts"

export const formats = ["ndjson", "csv"] as const

export const filesOf = (folder: string) => Fs.readdirSync(folder).toSorted()

/** A folder, the path of an output in it, and the text that an uninterrupted run writes. */
export const setting = Effect.fnUntraced(function*(format: "ndjson" | "csv" = "ndjson") {
  const folder = yield* temporaryFolder
  const whole = `${yield* temporaryFolder}/whole`
  const { code } = yield* cli(["export", "--format", format, "--output", whole])
  assert.strictEqual(code, 0)
  return { folder, output: `${folder}/punches`, whole: read(whole) }
})

/** Fails one page request, after `pages` further ones. */
export const failAfter = (pages: number, fault = Fault.status(404)) =>
  Effect.gen(function*() {
    const service = yield* FakeService
    const asked = (yield* service.requests).filter(({ endpoint }) => endpoint === "page")
    const last = asked.at(-1)?.number ?? 0
    yield* service.inject(fault, { requests: last + pages + 1, times: 1 })
  })

export const inFake = inFakeOf(generatePunches({ seed: 7, count: 230, companyId: defaultCompany.id }))

export const exported = (
  output: string,
  options: Parameters<typeof cli>[1] = {},
  ...flags: ReadonlyArray<string>
) => cli(["export", "--page-size", "10", "--output", output, ...flags], options)

export const noteOf = (output: string): Record<string, unknown> => JSON.parse(read(`${output}.resume.json`))

/** An error of the platform for this code. */
export const systemError = (code: string, file: string | number) =>
  PlatformError.systemError({
    _tag: code === "ENOENT" ? "NotFound" : code === "EACCES" ? "PermissionDenied" : "Unknown",
    module: "FileSystem",
    method: "test",
    pathOrDescriptor: file,
    cause: Object.assign(new Error(code), { code })
  })

/** Fails a step of the file system at this file, as a kill just before it would leave the files. */
export const failing = (step: "rename" | "remove", file: string, code: string) => (fs: FileSystem.FileSystem) => ({
  ...fs,
  rename: (from: string, to: string) =>
    step === "rename" && from === file ? Effect.fail(systemError(code, from)) : fs.rename(from, to),
  remove: (path: string, options?: Parameters<FileSystem.FileSystem["remove"]>[1]) =>
    step === "remove" && path === file ? Effect.fail(systemError(code, path)) : fs.remove(path, options)
})

type Disturb = (
  file: string,
  step: Effect.Effect<void, PlatformError.PlatformError>
) => Effect.Effect<void, PlatformError.PlatformError>

const disturbing = ({ sync, write }: { readonly write: Disturb; readonly sync: Disturb }) =>
(
  fs: FileSystem.FileSystem
): FileSystem.FileSystem => ({
  ...fs,
  open: (path, options) =>
    Effect.map(fs.open(path, options), (handle) => ({
      [FileSystem.FileTypeId]: FileSystem.FileTypeId,
      stat: handle.stat,
      sync: sync(path, handle.sync),
      seek: (offset, from) => handle.seek(offset, from),
      read: (buffer, at) => handle.read(buffer, at),
      readAlloc: (size, at) => handle.readAlloc(size, at),
      truncate: (length) => handle.truncate(length),
      write: (buffer) => handle.write(buffer),
      writeAll: (buffer) => write(path, handle.writeAll(buffer))
    }))
})

/** Fails, or delays, each write to a file that is open, and each wait for the disk. */
export const disturbingWrites = (disturb: Disturb) => disturbing({ write: disturb, sync: disturb })

/** Fails, or delays, each wait for the disk. */
export const disturbingSyncs = (disturb: Disturb) => disturbing({ write: (_, write) => write, sync: disturb })
