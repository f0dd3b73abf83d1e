/** What the command refuses, and what it says: the rows M of the table of faults. Flags with illegal values: flags/everyFlag. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { AuthenticationError, SqlError } from "effect/sql/SqlError"
import { TestClock } from "effect/testing"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import { Worker } from "node:worker_threads"
import { shortened } from "../../src/cli/database/punchFields.ts"
import { commandFailureOf } from "../../src/cli/describe.ts"
import { linesOf } from "../../src/cli/payroll/diffPrint.ts"
import { piped } from "../../src/cli/print/table.ts"
import { CompanyId, TimePunchId, UserId } from "../../src/Ids.ts"
import { storeFailed } from "../../src/sync/SyncError.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, Fault, type StoredPunch } from "../../src/testing/index.ts"
import { punch } from "../support/arbitraryPunch.ts"
import { servicePunch } from "../support/wire.ts"
import { environmentOf, start } from "./child.ts"
import { cli, inFolder, queries, subcommands, temporaryFolder } from "./support.ts"

const week = ["--week", "2026-03-02", "--zone", "UTC"]

const stored = (fields: Parameters<typeof servicePunch>[0]): StoredPunch => ({
  ...servicePunch({
    clocked_in: "2026-03-02T09:00:00Z",
    clocked_out: "2026-03-02T17:00:00Z",
    created: "2026-03-02T09:00:00Z",
    modified: "2026-03-02T09:00:00Z",
    ...fields
  }),
  employeeApprovalStatus: "approved",
  flags: [],
  timeZone: "UTC"
})

const sync = (folder: string) => cli(["sync", "--database", `${folder}/punches.db`])

describe("[M1] --department-id 0", () => {
  const punches = [
    stored({ id: 1, department_id: 0, approved: false }),
    stored({ id: 2, department_id: 7, approved: true, user_id: 99 })
  ]

  it.effect.each(["service", "copy"])(
    "selects the punches without a department, from the %s",
    (source) =>
      inFolder(punches, (folder) =>
        Effect.gen(function*() {
          yield* sync(folder)
          const from = source === "copy" ? ["--database", `${folder}/punches.db`] : []
          const check = yield* cli(["payroll", "check", ...week, "--department-id", "0", "--json", ...from])
          const summary = yield* cli(["summary", ...week, "--department-id", "0", "--json", ...from])
          const list = yield* cli(["list", ...week, "--department-id", "0", "--json"])

          assert.strictEqual(check.code, 9)
          assert.deepInclude(JSON.parse(check.stdout)[0], { punchId: 1, kind: "unapproved" })
          assert.include(check.stderr, "1 punch was checked")
          assert.strictEqual(JSON.parse(summary.stdout)[0].punches, 1)
          assert.deepStrictEqual(JSON.parse(list.stdout).map(({ id }: { readonly id: number }) => id), [1])
        }))
  )
})

describe("[M2] a check that looked at nothing", () => {
  it.effect.each([["--location-id", "999"], ["--database", "punches.db"]])(
    "is not an open gate: %j",
    (flag) =>
      inFolder([], (folder) =>
        Effect.gen(function*() {
          yield* sync(folder)
          const [name = "", value = ""] = flag
          const args = ["payroll", "check", ...week, name, value === "punches.db" ? `${folder}/${value}` : value]
          const { code, stderr } = yield* cli(args)
          const allowed = yield* cli([...args, "--accept", "empty"])

          assert.strictEqual(code, 9)
          assert.include(stderr, "nothing was checked; --accept empty lets it pass")
          assert.strictEqual(allowed.code, 0)
        }))
  )
})

describe("[M3] an instant within a second, on a copy", () => {
  it.effect.each(["--clocked-in-lte", "--clocked-out-lte", "--modified-since"])(
    "is refused by name as %s",
    (flag) =>
      inFolder([stored({ id: 1 })], (folder) =>
        Effect.gen(function*() {
          yield* sync(folder)
          const summary = (instant: string) =>
            cli(["summary", flag, instant, "--database", `${folder}/punches.db`, "--json"])
          const fine = yield* summary("2026-03-02T10:00:00.123Z")
          const whole = yield* summary("2026-03-02T10:00:00Z")

          assert.deepStrictEqual([fine.code, fine.stdout], [2, ""])
          assert.include(fine.stderr, `${flag} must be a whole second for a copy`)
          assert.strictEqual(whole.code, 0)
        }))
  )
})

describe("[M4] export to -", () => {
  it.effect("prints the rows, and writes no file of that name", () =>
    inFolder([stored({ id: 1 })], () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* cli(["export", "-o", "-"])
        const listed = yield* cli(["list", "--format", "ndjson"])

        assert.deepStrictEqual([code, stdout], [0, listed.stdout])
        assert.match(stderr, /^standard output: 1 punch, 1 page, \d+ bytes\n$/)
        assert.isFalse(Fs.existsSync("-"))
      })))
})

describe("[M5] a flag that would be ignored", () => {
  it.effect.each([
    ["--allow-missing"],
    ["--status"],
    ["--max-age", "30m"],
    ["--keep-history", "3d"]
  ])("is refused by name: %j", (args) =>
    inFolder([], (folder) =>
      Effect.gen(function*() {
        const { code, stderr } = yield* cli(["sync", "--database", `${folder}/punches.db`, ...args])

        assert.strictEqual(code, 2)
        assert.include(stderr, args[0] ?? "")
        assert.deepStrictEqual(Fs.readdirSync(folder), [])
        assert.deepStrictEqual(yield* queries, [])
      })))
})

describe("[Y81] a database that is not a file", () => {
  const make: Readonly<Record<string, (path: string) => void>> = {
    "a folder": (path) => Fs.mkdirSync(path),
    "a pipe": (path) => execFileSync("mkfifo", [path]),
    "a link that leads to itself": (path) => Fs.symlinkSync(path, path)
  }

  it.effect.each(
    Object.keys(make).flatMap((kind) =>
      [
        ["sync", "--database"],
        ["copy", "status", "--database"],
        ["summary", "--database"],
        ["payroll", "check", ...week, "--database"],
        ["payroll", "diff", ...week, "--since", "2026-03-09T00:00:00Z", "--database"]
      ].map((args) => ({ kind, args }))
    )
  )("is named as what it is: $kind, $args", ({ args, kind }) =>
    inFolder([], (folder) =>
      Effect.gen(function*() {
        make[kind]?.(`${folder}/punches.db`)
        const { code, stderr } = yield* cli([...args, `${folder}/punches.db`])

        assert.strictEqual(code, 8)
        assert.include(stderr, kind.startsWith("a link") ? kind : "not a regular file")
        assert.notInclude(stderr, "disk I/O")
        assert.include(stderr, `${folder}/punches.db`)
        assert.deepStrictEqual(yield* queries, [])
      })))
})

describe("[M12] a message", () => {
  it.effect("names now for --as-of, and counts open punches up to the time of the command with it", () =>
    inFolder([stored({ id: 1, clocked_in: "2026-03-02T14:00:00Z", clocked_out: null })], () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(Date.parse("2026-03-03T02:00:00Z"))
        const { stderr, stdout } = yield* cli(["summary", "--as-of", "now", "--json", ...week])
        const wrong = yield* cli(["summary", "--as-of", "today"])

        assert.strictEqual(stderr, "")
        assert.include(stdout, `"netSeconds":${12 * 3600}`)
        assert.strictEqual(wrong.code, 2)
        assert.include(wrong.stderr, "now, or an RFC 3339 instant with a zone")
      })))

  it.effect("names the punches that --as-of counts for more than 16 hours", () =>
    inFolder(
      [1, 2, 3, 4, 5, 6, 7].map((id) =>
        stored({ id, user_id: 500 + id, clocked_in: `2026-03-0${id < 3 ? "3T00" : "2T14"}:00:00Z`, clocked_out: null })
      ),
      () =>
        Effect.gen(function*() {
          const asOf = (at: string) => cli(["summary", "--as-of", at, "--json", ...week])
          const none = yield* asOf("2026-03-03T06:00:00Z")
          const some = yield* asOf("2026-03-03T06:00:01Z")
          const all = yield* asOf("2026-04-01T00:00:00Z")
          const month = ["--month", "2026-03", "--zone", "America/New_York"]
          const report = (...flags: ReadonlyArray<string>) =>
            cli(["report", ...month, "--as-of", "2026-03-03T06:00:01Z", ...flags])
          const page = yield* report()
          const longer = yield* report("--max-shift", "17h")
          const found =
            "is a clock-out missing? 3 of user 503, 4 of user 504, 5 of user 505, 6 of user 506, 7 of user 507\n"

          assert.strictEqual(none.stderr, "")
          assert.strictEqual(some.stderr, `--as-of counts 5 open punches for more than 16h: ${found}`)
          assert.include(all.stderr, "7 open punches for more than 16h")
          assert.match(all.stderr, /missing\? 1 of user 501, .*5 of user 505, …\n$/)
          assert.strictEqual(page.stderr, some.stderr)
          assert.strictEqual(longer.stderr, "")
        })
    ))

  it.effect("names --as-of only if a punch is open", () =>
    inFolder([stored({ id: 1, clocked_out: "2026-03-02T08:00:00Z" })], () =>
      Effect.gen(function*() {
        const { stderr } = yield* cli(["summary", ...week])

        assert.include(stderr, "The time of 1 punch is unknown and not in the sums.")
        assert.notInclude(stderr, "--as-of")
      })))

  it.effect("about a sum that is too large names its punch, and does not send to doctor", () =>
    inFolder([1, 2].map((id) => stored({ id, tips: Number.MAX_SAFE_INTEGER })), () =>
      Effect.gen(function*() {
        const { code, stderr } = yield* cli(["summary", ...week])

        assert.strictEqual(code, 7)
        assert.match(stderr, /punch [12]/)
        assert.include(stderr, "Look at the amounts of that punch.")
        assert.notInclude(stderr, "doctor")
      })))

  it.effect.each([
    ["payroll", "check", "--month", "0001-01", "--zone", "America/New_York"],
    ["payroll", "check", "--from", "0001-01-01", "--to", "0001-01-03", "--zone", "UTC"],
    ["payroll", "check", "--month", "9999-12", "--zone", "UTC"],
    ["summary", "--month", "9999-12", "--zone", "UTC"],
    ["list", "--week", "9999-12-31", "--zone", "UTC"],
    ["list", "--week", "0001-01-01", "--zone", "Asia/Tokyo"],
    ["export", "--output", "/tmp/never", "--month", "9999-12", "--zone", "America/New_York"]
  ])(
    "names the period at an edge of the calendar, before anything is sent: %j",
    (args) =>
      inFolder([], () =>
        Effect.gen(function*() {
          const { code, stderr } = yield* cli(args)

          assert.strictEqual(code, 2)
          assert.include(stderr, args.find((arg) => /^--(month|week|start)$/.test(arg)) ?? "")
          assert.notMatch(stderr, /clocked/i)
          assert.deepStrictEqual(yield* queries, [])
        }))
  )
})

describe("the help of sync", () => {
  it.effect("names no command that does not exist", () =>
    inFolder([], () =>
      Effect.gen(function*() {
        const { stderr } = yield* cli(["sync", "--company", "1 2"])

        assert.include(stderr, "the id of a company")
        assert.notInclude(stderr, "not in this release")
      })))
})

describe("[M13] a login that PostgreSQL refuses", () => {
  const error = new SqlError({
    reason: new AuthenticationError({ cause: new Error("password authentication failed for user \"payroll\"") })
  })

  it.each([
    ["as it connects", commandFailureOf(error)],
    [
      "as a copy is read",
      commandFailureOf(
        storeFailed(CompanyId.make(defaultCompany.id), "x", error)
      )
    ]
  ])("names where a password is set, %s", (_, { advice, code }) => {
    assert.strictEqual(code, 8)
    assert.match(advice.join(" "), /password.*PGPASSWORD.*TIME_PUNCHES_DATABASE_URL/)
  })
})

describe("[M11] changes of long notes", () => {
  const same = "The same beginning of a note, which is longer than forty characters "
  const change = {
    punchId: TimePunchId.make(1),
    userId: UserId.make(7),
    kind: "edited" as const,
    before: Option.some(punch({ notes: `${same}one` })),
    after: Option.some(punch({ notes: `${same}two` }))
  }
  const lines = (width: number) =>
    linesOf({ punches: [change], people: [] }, { zoneOf: () => Option.none(), names: undefined }, { ...piped, width })
      .join("\n")

  it("are whole in a pipe, and differ in a terminal", () => {
    assert.include(lines(Infinity), `${same}one  ${same}two`)
    assert.notInclude(lines(120), same.trim())
    assert.match(lines(120), /notes +….*one +….*two/)
    assert.match(lines(80), /one +….*two/)
  })

  it("keep apart two instants of the same minute", () => {
    const texts = { field: "clocked_in", before: "2026-03-02T10:00:01Z", after: "2026-03-02T10:00:02Z" }

    assert.deepStrictEqual(shortened(texts), texts)
    assert.deepStrictEqual(shortened({ ...texts, after: "2026-03-02T11:00:02-05:00" }), {
      field: "clocked_in",
      before: "2026-03-02 10:00",
      after: "2026-03-02 11:00"
    })
  })
})

/** A mapping that the test has written, readable to its owner alone as every file of the folder must be. */
const mappingIn = (folder: string): string => {
  const file = `${folder}/map.json`
  const columns = [{ header: "User", value: "userId" }, { header: "Hours", value: "hours" }]
  const mapping = { v: 1, by: ["user"], hours: "decimal:2", rounding: "halfUp", columns }
  Fs.writeFileSync(file, JSON.stringify(mapping), { mode: 0o600 })
  return file
}

/**
 * What each subcommand writes, in this order: its arguments, the names of its files, and when it is
 * ended, by standard error and the pages that it has requested. `undefined`: it writes none. ID stands for the random part of a name.
 */
const writers: Readonly<
  Record<
    string,
    | undefined
    | {
      readonly args: (folder: string) => ReadonlyArray<string>
      readonly files: ReadonlyArray<string>
      readonly exit?: number
      readonly until?: (stderr: string, pages: number) => boolean
      /** Another call does the same: it is looked at again if its files were missed. */
      readonly repeats?: true
    }
  >
> = {
  export: {
    args: (folder) => ["--page-size", "5", "--output", `${folder}/out.csv`],
    files: ["out.csv", "out.csv.part", "out.csv.resume.json"]
  },
  sync: {
    args: (folder) => ["--history", "--database", `${folder}/punches.db`],
    files: ["punches.db", "punches.db-shm", "punches.db-wal"]
  },
  "copy sync": {
    args: (folder) => ["--history", "--database", `${folder}/punches.db`],
    files: ["punches.db-shm", "punches.db-wal"]
  },
  "copy status": { args: (folder) => ["--database", `${folder}/punches.db`], files: ["punches.db"] },
  "copy feed": {
    args: (folder) => ["--state", `${folder}/feed.json`, "--database", `${folder}/punches.db`],
    files: ["feed.json", "feed.json.ID.tmp"]
  },
  "payroll close": {
    args: (
      folder
    ) => [...week, "--weekly-threshold", "2h", "--accept", "unapproved,overlap", "--database", `${folder}/punches.db`],
    files: ["punches.db-shm", "punches.db-wal"]
  },
  "payroll file": {
    args: (folder) => [
      "1.1",
      "--mapping",
      mappingIn(folder),
      "--output",
      `${folder}/closes.csv`,
      "--database",
      `${folder}/punches.db`
    ],
    files: ["closes.csv", "closes.csv.ID.tmp"]
  },
  "payroll correct": {
    args: (folder) => ["--database", `${folder}/punches.db`],
    files: ["punches.db-shm", "punches.db-wal"],
    repeats: true
  },
  "payroll void": {
    args: (folder) => ["1.1", "--note", "not sent", "--database", `${folder}/punches.db`],
    files: ["punches.db-shm", "punches.db-wal"]
  },
  "payroll list": { args: (folder) => ["--database", `${folder}/punches.db`], files: ["punches.db"] },
  "payroll show": { args: (folder) => ["1", "--database", `${folder}/punches.db`], files: ["punches.db"] },
  "payroll verify": { args: (folder) => ["--database", `${folder}/punches.db`], files: ["punches.db"] },
  summary: { args: (folder) => [...week, "--database", `${folder}/punches.db`], files: ["punches.db"] },
  "payroll file --preview": {
    args: (folder) => [
      "--mapping",
      mappingIn(folder),
      ...week,
      "--output",
      `${folder}/summary.csv`,
      "--database",
      `${folder}/punches.db`
    ],
    files: ["summary.csv", "summary.csv.ID.tmp"]
  },
  report: {
    args: (folder) => [...week, "--output", `${folder}/week.html`, "--database", `${folder}/punches.db`],
    files: ["week.html"]
  },
  mcp: { args: (folder) => ["--database", `${folder}/punches.db`], files: ["punches.db"] },
  "payroll check": {
    args: (folder) => [...week, "--database", `${folder}/punches.db`],
    files: ["punches.db"],
    exit: 9
  },
  "payroll diff": undefined,
  "payroll due": undefined,
  "config show": undefined,
  list: undefined,
  doctor: { args: (folder) => ["--database", `${folder}/punches.db`], files: ["punches.db"] },
  "copy erase": {
    args: (folder) => ["--yes", "--closes-too", "--database", `${folder}/punches.db`],
    files: ["punches.db-shm", "punches.db-wal"]
  },
  "fleet migrate": { args: (folder) => ["--database", `${folder}/fleet.db`], files: ["fleet.db", "fleet.db-wal"] },
  "fleet add": {
    args: (
      folder
    ) => ["--every", "1s", "--database", `${folder}/fleet.db`, `${defaultCompany.id}=${defaultCompany.guid}`],
    files: ["fleet.db", "fleet.db-wal"]
  },
  "fleet run": {
    args: (folder) => ["--database", `${folder}/fleet.db`],
    files: ["fleet.db", "fleet.db-shm", "fleet.db-wal"],
    until: (_, pages) => pages >= 2
  },
  sandbox: {
    args: (folder) => [
      "--companies",
      "2",
      "--port",
      "0",
      "--companies-csv",
      `${folder}/companies.csv`,
      "--write-env",
      `${folder}/sandbox.env`
    ],
    files: ["companies.csv", "sandbox.env"],
    exit: 130,
    until: (stderr) => stderr.includes("Ctrl-C")
  }
}

/**
 * Looks at a folder all the time from another thread, since a driver of SQLite does not let this one look. The promise is
 * done when it looks; the function ends it, and gives each file and mode that it saw.
 */
const lookingAt = async (folder: string) => {
  const isOver = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(
    `const { readdirSync, statSync } = require("node:fs")
    const { parentPort, workerData: { folder, isOver } } = require("node:worker_threads")
    const seen = new Map()
    const look = () => {
      for (const file of readdirSync(folder)) {
        const info = statSync(folder + "/" + file, { throwIfNoEntry: false })
        if (info !== undefined) seen.set(file + " " + info.mode, [file, info.mode & 0o777])
      }
    }
    parentPort.postMessage([])
    do look()
    while (Atomics.wait(isOver, 0, 0, 0.2) === "timed-out")
    look()
    parentPort.postMessage([...seen.values()])`,
    { eval: true, workerData: { folder, isOver } }
  )
  const next = () =>
    new Promise<ReadonlyArray<readonly [file: string, mode: number]>>((resolve, reject) => {
      worker.once("message", resolve).once("error", reject)
    })
  await next()
  return () => {
    const seen = next()
    Atomics.store(isOver, 0, 1)
    Atomics.notify(isOver, 0)
    return seen
  }
}

describe("a file that a command writes", () => {
  it.live("is never readable to others, with an umask of 022", () =>
    Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const { url } = yield* FakeServer
      const service = yield* FakeService
      const before = process.umask(0o022)
      yield* Effect.addFinalizer(() => Effect.sync(() => process.umask(before)))
      const seen = new Map<string, string>()
      for (const [name, writer] of Object.entries(writers)) {
        if (writer === undefined) continue
        yield* service.inject(Fault.slow("100 millis"))
        const args = [...name.split(" "), ...writer.args(folder)]
        const names = new Set<string>()
        const looking = Effect.gen(function*() {
          const looked = yield* Effect.promise(() => lookingAt(folder))
          // A process takes seconds to start, so only what a signal ends has its own.
          const { until } = writer
          const { code, stderr: errors } = until === undefined
            ? yield* cli(args)
            : yield* Effect.gen(function*() {
              const { child, ended } = start(args, environmentOf(url))
              yield* Effect.addFinalizer(() => Effect.sync(() => child.kill("SIGKILL")))
              const requested = (yield* queries).length
              let errors = ""
              child.stderr.on("data", (text: string) => (errors += text))
              while (child.exitCode === null && child.signalCode === null) {
                const pages = (yield* queries).length - requested
                // A second signal would end it at once.
                if (!child.killed && until(errors, pages)) child.kill("SIGINT")
                yield* Effect.sleep("2 millis")
              }
              return yield* Effect.promise(() => ended)
            })
          for (const [file, mode] of yield* Effect.promise(looked)) {
            const known = file.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, "ID")
            names.add(known)
            if (mode !== 0o600) seen.set(`${name}: ${known}`, mode.toString(8))
          }
          assert.strictEqual(code, writer.exit ?? 0, `${name}\n${errors}`)
        })
        yield* looking
        // On a busy machine the thread that looks may miss files that are there for a few milliseconds.
        for (
          let times = 0;
          times < 9 && writer.repeats === true && writer.files.some((file) => !names.has(file));
          times++
        ) {
          yield* looking
        }
        assert.includeMembers([...names], [...writer.files], name)
      }
      assert.deepStrictEqual([...seen], [])
    }).pipe(
      Effect.scoped,
      Effect.provide(
        FakeServer.layer().pipe(
          Layer.provideMerge(
            FakeService.layer({ punches: Array.from({ length: 40 }, (_, id) => stored({ id: id + 1 })) })
          )
        )
      )
    ), 120_000)

  it("is in the table above for each subcommand", () => {
    const others = subcommands.filter((name) => !(name in writers))

    // What operates a fleet opens the database that `fleet migrate` made.
    assert.deepStrictEqual(others.filter((name) => !name.startsWith("fleet ")), [])
  })
})

describe("a value of the arguments", () => {
  it.effect.each([["--week"], ["--zone"], ["--max-age"], ["--since"]])(
    "is repeated in part, and escaped, in both formats of the messages: %s",
    ([flag]) =>
      Effect.gen(function*() {
        const args = ["payroll", "diff", `${flag}=\u202e${"x".repeat(1_000_000)}`]
        for (const format of ["lines", "json"]) {
          const { code, stderr } = yield* cli([...args, "--log-format", format])

          assert.strictEqual(code, 2)
          assert.include(stderr, "u202exxx")
          assert.notInclude(stderr, "\u202e")
          assert.isBelow(stderr.length, 2000)
        }
      }).pipe(Effect.provide(FakeService.layer()))
  )
})
