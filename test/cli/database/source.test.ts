/** The source of a command: the punches of its flags, from the service and from a copy. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Stdio, Stream } from "effect"
import { Command } from "effect/cli"
import * as Fs from "node:fs"
import { openSource, sourceFlags, type SourceInput } from "../../../src/cli/database/source.ts"
import { defaultCompany, FakeService, generatePunches } from "../../../src/testing/index.ts"
import { capture, cli, environment, queries, temporaryFolder } from "../support.ts"

// Ids grow as the clock-ins go back, so that the two orders differ everywhere.
const punches = generatePunches({ seed: 4, count: 250, companyId: defaultCompany.id, deletedShare: 0 })
  .toSorted((one, other) => Date.parse(other.clocked_in) - Date.parse(one.clocked_in))
  .map((punch, at) => Object.assign(punch, { id: 1000 + at }))

/** The ids that a command reads with these flags. */
const idsOf = (args: ReadonlyArray<string>) => {
  const ids: Array<number> = []
  const probe = Command.make(
    "probe",
    sourceFlags,
    (flags: SourceInput) =>
      Effect.flatMap(
        openSource(flags),
        ({ read }) => Stream.runForEach(read({}), (page) => Effect.sync(() => ids.push(...page.map(({ id }) => id))))
      ).pipe(
        Effect.scoped
      )
  )
  return Command.runWith(probe, { version: "0" })(args).pipe(
    Effect.as(ids),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: environment }))),
    Effect.provide(FakeService.layerClient),
    Effect.provide(Stdio.layerTest({ stdout: capture([]), stderr: capture([]) })),
    Effect.provide(NodeServices.layer)
  )
}

const byId = punches.map(({ id }) => id)
const byClockIn = punches.toSorted((one, other) =>
  Date.parse(one.clocked_in) - Date.parse(other.clocked_in) || one.id - other.id
).map(({ id }) => id)

describe("openSource", () => {
  it.effect("has the order of the service", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* idsOf(["--page-size", "40"]), byId)
      assert.deepStrictEqual([...new Set((yield* queries).map((query) => query["limit"]))], ["40"])
    }).pipe(Effect.provide(FakeService.layer({ punches }))))

  it.effect("has the order of the clock-in from a copy", () =>
    Effect.gen(function*() {
      const file = `${yield* temporaryFolder}/punches.db`
      yield* cli(["sync", "--database", file])

      assert.deepStrictEqual(yield* idsOf(["--database", file]), byClockIn)
    }).pipe(Effect.scoped, Effect.provide(FakeService.layer({ punches }))))
})

const week = ["--from", "2026-03-01", "--to", "2026-04-30", "--zone", "UTC"]

const readers = ["summary", "payroll check", "report", "list", "export --output=-"]

/** What a run with a flag, a variable and a `--source` reads: the service, the copy of the flag or of the variable, or nothing. */
const cells: ReadonlyArray<
  readonly [flag: boolean, variable: boolean, source: "service" | "copy" | undefined, reads: string | RegExp]
> = [
  [false, false, undefined, "service"],
  [false, false, "service", "service"],
  [
    false,
    false,
    "copy",
    /^time-punches: --source copy needs a database: give --database FILE or set TIME_PUNCHES_DATA/
  ],
  [false, true, undefined, "variable.db"],
  [false, true, "service", "service"],
  [false, true, "copy", "variable.db"],
  [true, false, undefined, "flag.db"],
  [true, false, "service", /^time-punches: --database names a copy, and --source service reads none/],
  [true, false, "copy", "flag.db"],
  [true, true, undefined, "flag.db"],
  [true, true, "service", /^time-punches: --database names a copy, and --source service reads none/],
  [true, true, "copy", "flag.db"]
]

const given = (is: boolean) => is ? "given" : "not given"

describe.each(readers)("%s", (command) => {
  it.effect.each(cells)(
    "with --database %s, the variable %s and --source %s",
    ([flag, variable, source, reads]) =>
      Effect.gen(function*() {
        const folder = yield* temporaryFolder
        yield* cli(["sync", "--database", `${folder}/flag.db`])
        Fs.copyFileSync(`${folder}/flag.db`, `${folder}/variable.db`)
        const asked = (yield* queries).length
        const { code, stderr, stdout } = yield* cli([
          ...command.split(" "),
          ...week,
          ...(flag ? ["--database", `${folder}/flag.db`] : []),
          ...(source === undefined ? [] : ["--source", source])
        ], { env: variable ? { ...environment, TIME_PUNCHES_DATABASE_URL: `${folder}/variable.db` } : environment })
        const cell = `${command}: flag ${given(flag)}, variable ${given(variable)}, source ${source}\n${stderr}`

        assert.strictEqual((yield* queries).length > asked, reads === "service", cell)
        if (typeof reads !== "string") {
          assert.deepStrictEqual([code, stdout], [2, ""], cell)
          assert.match(stderr, reads)
          return
        }
        assert.strictEqual(code, command === "payroll check" ? 9 : 0, cell)
        const copies = [
          ...stderr.matchAll(/^copy in \S+\/(\S+) as of \S+Z, \d+s old$/gm)
        ]
        assert.deepStrictEqual(copies.map(([, name]) => name), reads === "service" ? [] : [reads], cell)
        const disputes = command === "report" ? stdout : command === "payroll check" ? stderr : undefined
        if (disputes !== undefined)
          assert.strictEqual(disputes.includes("Disputes are not in a copy"), reads !== "service")
      }).pipe(Effect.scoped, Effect.provide(FakeService.layer({ punches })))
  )

  it.effect.each<readonly [ReadonlyArray<string>, string]>([
    [["--max-age", "1h", "--source", "service"], "--max-age goes with --database: only a copy has an age"],
    [["--page-size", "20"], "a copy needs none\n  Leave it out, or read the service: --source service.\n"]
  ])("refuses %j, with the variable set", ([args, text]) =>
    Effect.gen(function*() {
      const env = { ...environment, TIME_PUNCHES_DATABASE_URL: "/nowhere/a.db" }
      const { code, stderr, stdout } = yield* cli([...command.split(" "), ...week, ...args], { env })

      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.include(stderr, text)
    }).pipe(Effect.provide(FakeService.layer())))
})

describe("report --close", () => {
  it.effect("is of a copy, and refuses --source service", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* cli(["report", "--close", "1", "--source", "service"])

      assert.strictEqual(code, 2)
      assert.include(stderr, "--close reads a record, and --source service reads no copy")
    }).pipe(Effect.provide(FakeService.layer())))
})
