/** `list` and `export` of a copy: its rows in one state, what only the service can answer, and a file whole or not at all. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Schema, Stream } from "effect"
import * as Fs from "node:fs"
import { Csv, Ndjson } from "../../../src/export/index.ts"
import { TimePunch } from "../../../src/index.ts"
import { defaultCompany, FakeService, Fault, generatePunches, toWire } from "../../../src/testing/index.ts"
import { cli, companyOnly, environment, execute, inFolder, onCopy, queries, read } from "../support.ts"

// Ids grow as the clock-ins go back, and a page of a copy has 1000 rows. A copy keeps no NUL of a note.
const generated = generatePunches({ seed: 6, count: 1230, companyId: defaultCompany.id, deletedShare: 0 })
  .toSorted((one, other) => Date.parse(other.clocked_in) - Date.parse(one.clocked_in))
  .map((punch, at) => Object.assign(punch, { id: 1000 + at, notes: punch.notes.replaceAll("\0", "") }))

const punches = Schema.decodeUnknownSync(Schema.Array(TimePunch.Wire))(generated.map(toWire))
  .toSorted((one, other) => one.clockedIn.epochMilliseconds - other.clockedIn.epochMilliseconds || one.id - other.id)

/** A folder with a copy of them. */
const inCopy = <A, E, R>(use: (file: string, folder: string) => Effect.Effect<A, E, R>) =>
  inFolder(generated, (folder) => {
    const file = `${folder}/punches.db`
    return Effect.andThen(cli(["sync", "--database", file]), use(file, folder))
  })

/** The files beside those of the copy. */
const filesOf = (folder: string) => Fs.readdirSync(folder).filter((name) => !name.startsWith("punches.db")).toSorted()

/** Makes a row of the second page one that is no punch. */
const breakLate = (file: string) => execute(file, `UPDATE time_punches SET user_id = -1 WHERE id = 1001`)

describe("list and export of a copy", () => {
  it.live("have its rows by clock-in, without a request or a credential", () =>
    inCopy((file, folder) =>
      Effect.gen(function*() {
        const run = onCopy(file)
        const asked = (yield* queries).length
        const [ndjson, csv, json] = yield* Effect.all(
          ["ndjson", "csv", "json"].map((format) => run("list", "--format", format))
        )
        const exported = yield* run("export", "--output", `${folder}/all.csv`)
        const printed = yield* run("export", "--output", "-")

        assert.strictEqual(ndjson?.stdout, yield* Stream.mkString(Ndjson.encode(Stream.fromIterable(punches))))
        assert.strictEqual(csv?.stdout, yield* Stream.mkString(Csv.encode(Stream.fromIterable(punches))))
        assert.deepStrictEqual(
          JSON.parse(json?.stdout ?? ""),
          ndjson?.stdout.trim().split("\n").map((line): unknown => JSON.parse(line))
        )
        assert.strictEqual(read(`${folder}/all.csv`), csv?.stdout)
        assert.match(exported.stderr, /all\.csv: 1,230 punches, [\d,]+ bytes\n$/)
        assert.strictEqual(printed.stdout, ndjson?.stdout)
        assert.deepStrictEqual(filesOf(folder), ["all.csv"])
        assert.lengthOf(yield* queries, asked)
      })
    ))

  it.live("have a header or an empty array if no punch matches", () =>
    inCopy((file, folder) =>
      Effect.gen(function*() {
        const none = ["--user-id", "999999"]
        const header = yield* Stream.mkString(Csv.encode(Stream.empty))
        const listed = yield* onCopy(file)("list", "--format", "csv", ...none)
        const json = yield* onCopy(file)("list", "--format", "json", ...none)
        const { code } = yield* onCopy(file)("export", "--output", `${folder}/none.csv`, ...none)

        assert.deepStrictEqual([listed.stdout, json.stdout.trim(), code], [header, "[]", 0])
        assert.include(listed.stderr, "no punch matches")
        assert.strictEqual(read(`${folder}/none.csv`), header)
      })
    ))

  it.live("stop at --limit, and keep the punches of the period", () =>
    inCopy((file) =>
      Effect.gen(function*() {
        const first = yield* onCopy(file)("list", "--limit", "1005", "--format", "ndjson")
        const day = yield* onCopy(file)("list", "--from", "2026-03-03", "--to", "2026-03-03", "--zone", "UTC", "--json")
        const ids = Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ id: Schema.Number })))(JSON.parse(day.stdout))

        assert.strictEqual(
          first.stdout,
          yield* Stream.mkString(Ndjson.encode(Stream.fromIterable(punches.slice(0, 1005))))
        )
        assert.deepStrictEqual(
          ids.map(({ id }) => id),
          punches.filter(({ clockedIn }) =>
            new Date(clockedIn.epochMilliseconds).toISOString().startsWith("2026-03-03")
          )
            .map(({ id }) => id)
        )
        assert.isNotEmpty(ids)
      })
    ))

  it.live.each<readonly [flags: ReadonlyArray<string>, message: string]>([
    [["--flags", "late"], "only the service knows it"],
    [["--employee-approval-statuses", "disputed"], "only the service knows it"],
    [["--business-date-start", "2026-03-02"], "only the service knows it"],
    [["--localize-search-time"], "only the service knows it"],
    [["--sort-by", "id.asc"], "only the service knows it"],
    [["--cursor", "abc"], "--cursor resumes at a page of the service, and a copy needs none"],
    [["--page-size", "20"], "--page-size sets the size of requests, and a copy needs none"],
    [["--requests-per-second", "2"], "--requests-per-second limits requests, and a copy needs none"]
  ])(
    "refuse %j, and write nothing",
    ([flags, message]) =>
      inCopy((file, folder) =>
        Effect.forEach(
          [["list"], ["export", "--output", `${folder}/all.csv`], ["export", "--output", "-"]],
          (verb) =>
            Effect.gen(function*() {
              const { code, stderr, stdout } = yield* onCopy(file)(...verb, ...flags)

              assert.deepStrictEqual([code, stdout], [2, ""], stderr)
              assert.include(stderr, message)
              assert.include(stderr, "Leave it out, or read the service: --source service.")
              assert.deepStrictEqual(filesOf(folder), [])
            })
        )
      )
  )

  it.live("leave no file behind a row that cannot be read", () =>
    inCopy((file, folder) =>
      Effect.gen(function*() {
        breakLate(file)
        const exported = yield* onCopy(file)("export", "--output", `${folder}/all.csv`)
        const listed = yield* onCopy(file)("list", "--output", `${folder}/all.json`)

        assert.notStrictEqual(exported.code, 0)
        assert.include(exported.stderr, "1001")
        assert.notInclude(exported.stderr + listed.stderr, "resume")
        assert.notStrictEqual(listed.code, 0)
        assert.deepStrictEqual(filesOf(folder), [])
      })
    ))

  it.live("replace a file with --force alone", () =>
    inCopy((file, folder) =>
      Effect.gen(function*() {
        const output = `${folder}/all.csv`
        Fs.writeFileSync(output, "mine")
        const refused = yield* onCopy(file)("export", "--output", output)
        assert.deepStrictEqual([refused.code, read(output)], [2, "mine"])

        yield* onCopy(file)("export", "--output", output, "--force")
        assert.strictEqual(read(output), yield* Stream.mkString(Csv.encode(Stream.fromIterable(punches))))
      })
    ))

  it.live("replace an unfinished export of the service with --force alone, and only by all rows", () =>
    inCopy((file, folder) =>
      Effect.gen(function*() {
        const output = `${folder}/all.csv`
        const service = yield* FakeService
        yield* service.inject(Fault.status(404), { requests: (yield* service.requests).length + 3, times: 1 })
        yield* cli(["export", "--output", output, "--page-size", "50"], { env: environment })
        const unfinished = ["all.csv.part", "all.csv.resume.json"]
        assert.deepStrictEqual(filesOf(folder), unfinished)

        const refused = yield* onCopy(file)("export", "--output", output)
        assert.deepStrictEqual([refused.code, filesOf(folder)], [2, unfinished])
        assert.include(refused.stderr, "all.csv.resume.json belongs to an unfinished export from the service")

        const broken = `${folder}/punches.db.broken`
        Fs.copyFileSync(file, broken)
        breakLate(broken)
        const failed = yield* onCopy(broken)("export", "--output", output, "--force")
        assert.notStrictEqual(failed.code, 0)
        assert.deepStrictEqual(filesOf(folder), unfinished)

        const done = yield* onCopy(file)("export", "--output", output, "--force")
        assert.deepStrictEqual([done.code, filesOf(folder)], [0, ["all.csv"]], done.stderr)
      })
    ))

  it.live("never remove the copy that they read", () =>
    inCopy((file, folder) =>
      Effect.gen(function*() {
        const part = `${folder}/all.csv.part`
        Fs.copyFileSync(file, part)
        const { code } = yield* onCopy(part)("export", "--output", `${folder}/all.csv`, "--force")

        assert.deepStrictEqual([code, filesOf(folder)], [2, ["all.csv.part"]])
      })
    ))

  it.live("have the rows of the time at which they began", () =>
    inCopy((file, folder) =>
      Effect.gen(function*() {
        const output = `${folder}/all.ndjson`
        let isChanged = false
        // The first rows are written, and the rest is not read yet.
        const files = (fs: FileSystem.FileSystem): FileSystem.FileSystem => ({
          ...fs,
          open: (path, options) =>
            Effect.map(fs.open(path, options), (handle) =>
              !path.startsWith(output) ? handle : Object.assign(Object.create(handle), {
                writeAll: (bytes: Uint8Array) => {
                  if (!isChanged) execute(file, "UPDATE time_punches SET notes = 'late'")
                  isChanged = true
                  return handle.writeAll(bytes)
                }
              }))
        })
        const { code } = yield* cli(["export", "--output", output, "--database", file], { env: companyOnly, files })

        assert.deepStrictEqual([code, isChanged], [0, true])
        assert.strictEqual(read(output), yield* Stream.mkString(Ndjson.encode(Stream.fromIterable(punches))))
      })
    ))
})
