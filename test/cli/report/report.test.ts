/** `time-punches report`: its numbers are those of `summary` and `check`, from the service and from a copy, and a close is its record. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Fs from "node:fs"
import { prng } from "../../../src/testing/base/prng.ts"
import { defaultCompany, FakeService, generatePunches, generateWeeks } from "../../../src/testing/index.ts"
import { servicePunch } from "../../support/wire.ts"
import { cli, environment, execute, inFakeOf, temporaryFolder, without } from "../support.ts"
import { rowsOf } from "./tables.ts"

type Row = Readonly<Record<string, string | number | null>>

/** The sums of `summary --json` and of the page, under the names of the page and by key. */
const sumsOf = (rows: ReadonlyArray<Row>, names: Readonly<Record<string, string>>): ReadonlyMap<string, Row> =>
  new Map(rows.map((row) => {
    const sums = Object.entries(names).filter(([name]) => name in row).map(([name, own]) => [own, row[name] ?? null])
    return [`${row[Object.keys(names)[0] ?? ""]}`, Object.fromEntries(sums)]
  }))

const titles = ["punches", "incomplete", "net", "over", "double", "cost", "tips"]

const fields = ["punches", "incomplete", "netSeconds", "overSeconds", "doubleSeconds", "costCents", "tipsCents"]

const named = (key: string, names: ReadonlyArray<string>) =>
  Object.fromEntries([[key, "key"], ...names.map((name, at) => [name, titles[at] ?? ""])])

/** Compares the three tables of a report with `summary`, and its findings with `check`. */
const assertSame = Effect.fnUntraced(function*(args: ReadonlyArray<string>) {
  const thresholds = [
    ..."--weekly-threshold 30h --daily-threshold 7h --double-threshold 8h".split(" "),
    "--seventh-day=2h"
  ]
  const page = yield* cli(["report", ...args, ...thresholds])
  assert.strictEqual(page.code, 0, page.stderr)
  for (
    const [by, caption, title, key] of [
      ["location", "By location", "location", "locationId"],
      ["day", "By day", "date", "day"],
      ["user", "By person", "person", "userId"]
    ] as const
  ) {
    const { stdout } = yield* cli(["summary", "--by", by, "--json", ...args, ...thresholds])
    assert.deepStrictEqual(
      sumsOf(rowsOf(page.stdout, caption), named(title, titles)),
      sumsOf(JSON.parse(stdout), named(key, fields)),
      `${by} ${args.join(" ")}`
    )
  }
  const { stdout } = yield* cli(["payroll", "check", "--json", ...args.filter((arg) => !arg.startsWith("--rounding"))])
  const issues: ReadonlyArray<Row> = JSON.parse(stdout)
  assert.deepStrictEqual(
    rowsOf(page.stdout, "Punches with issues").map(({ kind, punch, reason }) => [punch, kind, reason]),
    issues.slice(0, 1000).map(({ kind, punchId, text }) => [`${punchId}`, kind, text]),
    args.join(" ")
  )
  return page.stdout
})

const zonesFile = Effect.map(temporaryFolder, (folder) => {
  const zones = ["America/New_York,04:00", "Europe/Berlin,", "Asia/Kolkata,-02:00", "UTC,", "Pacific/Honolulu,", "UTC,"]
  Fs.writeFileSync(
    `${folder}/zones.csv`,
    ["location_id,zone,day_starts", ...zones.map((zone, at) => `${301 + at},${zone}`)].join("\n")
  )
  return `${folder}/zones.csv`
})

const periods = [
  ["--week", "2026-03-04"],
  ["--week", "2026-03-10", "--week-starts", "thursday"],
  ["--month", "2026-03"],
  ["--from", "2026-03-06", "--to", "2026-03-09"],
  ["--pay-period", "2026-03-10", "--calendar", "1,16"]
] as const

describe("the numbers of time-punches report", () => {
  it.effect.prop(
    "are those of summary --json to the cent and the second, and its findings those of check, over random weeks",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 31 - 1 }))],
    ([seed]) => {
      const random = prng(seed)
      const made = random.pick([
        generatePunches({
          seed,
          count: 200,
          companyId: defaultCompany.id,
          users: 9,
          openShare: 0.1,
          from: "2026-03-01T00:00:00Z"
        }),
        generateWeeks({ seed, companyId: defaultCompany.id, people: 12, weeks: 3, problems: 0.3 })
      ])
      return Effect.gen(function*() {
        const zones = random.pick([["--zone-file", yield* zonesFile], ["--zone", "America/New_York"]])
        const filter = random.pick<ReadonlyArray<string>>([[], [], ["--location-id", "302"], ["--user-id", "503"], [
          "--role-id",
          "11"
        ]])
        const asOf = random.pick<ReadonlyArray<string>>([[], ["--as-of", "2026-03-11T00:00:00Z"]])
        yield* assertSame([random.pick<ReadonlyArray<string>>(periods), zones, filter, asOf].flat())
      }).pipe(inFakeOf(made))
    },
    { arbitrary: { runs: 8 } }
  )

  it.effect("are the same from a copy, which knows no disputes", () =>
    Effect.gen(function*() {
      const file = `${yield* temporaryFolder}/punches.db`
      yield* cli(["sync", "--database", file])
      const page = yield* assertSame(["--week", "2026-03-04", "--zone", "America/New_York", "--database", file])

      assert.include(page, "Disputes are not in a copy: only the service knows them.")
    }).pipe(inFakeOf(generateWeeks({ companyId: defaultCompany.id, problems: 0.2 }))))

  it.effect("say that the time of a punch is unknown, as summary does, and that no punch matches", () =>
    Effect.gen(function*() {
      const page = yield* cli(["report", "--week", "2026-03-02", "--zone", "UTC"])
      const none = yield* cli(["report", "--week", "2026-04-06", "--zone", "UTC"])

      assert.include(page.stdout, "The time of 1 punch is unknown and not in the sums.")
      assert.deepInclude(rowsOf(page.stdout, "By person", "tfoot")[0], { punches: 2, incomplete: 1, cost: 8000 })
      assert.deepStrictEqual([none.code, none.stderr], [0, "no punch matches\n"])
      assert.include(none.stdout, "No punch matches.")
    }).pipe(inFakeOf([servicePunch(), servicePunch({ id: 2, clocked_out: null })])))
})

const week = ["--week", "2026-03-02", "--zone", "America/New_York"]

const inFake = inFakeOf([1, 2, 3].map((id) =>
  servicePunch({
    id,
    user_id: 500 + id,
    tips: 0,
    clocked_in: "2026-03-03T14:00:00Z",
    clocked_out: "2026-03-03T22:00:00Z"
  })
))

describe("time-punches report", () => {
  it.effect("is not printed on a terminal, except with --output -", () =>
    inFake(Effect.gen(function*() {
      const refused = yield* cli(["report", ...week], { terminal: true })
      const printed = yield* cli(["report", ...week, "--output", "-"], { terminal: true })

      assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
      assert.include(refused.stderr, "Add --output FILE.html")
      assert.include(printed.stdout, "<!doctype html>")
    })))

  it.effect("needs a period, and takes none with --close", () =>
    inFake(Effect.gen(function*() {
      const none = yield* cli(["report"])
      const both = yield* cli(["report", "--close", "1", "--database", "punches.db", ...week])

      assert.deepStrictEqual([none.code, none.stdout], [2, ""])
      assert.match(none.stderr, /report needs a period/)
      assert.deepStrictEqual([both.code, both.stdout], [2, ""])
      assert.match(both.stderr, /--close goes without --week/)
    })))
})

const offline = without(...Object.keys(environment).filter((name) => name !== "TIME_PUNCHES_COMPANY_ID"))

describe("time-punches report --close", () => {
  it.live("shows the revisions, their differences and what each person got, from the record", () =>
    inFake(Effect.gen(function*() {
      const service = yield* FakeService
      const file = `${yield* temporaryFolder}/punches.db`
      const on = (...args: ReadonlyArray<string>) => cli([...args, "--database", file], { env: offline })
      const sync = Effect.suspend(() => cli(["sync", "--database", file, "--history"]))
      yield* sync
      assert.strictEqual(
        (yield* on("payroll", "close", ...week, "--weekly-threshold", "7h", "--note", "<b>signed</b>")).code,
        0
      )
      yield* service.edit([1], { clocked_out: "2026-03-03T23:00:00Z" })
      yield* sync
      assert.strictEqual((yield* on("payroll", "correct")).code, 0)
      yield* service.edit([2], { clocked_out: "2026-03-04T00:00:00Z" })
      yield* sync
      const { code, stdout: page } = yield* on("report", "--close", "1")

      assert.strictEqual(code, 0)
      assert.deepStrictEqual(
        rowsOf(page, "2 revisions").map(({ kind, note, revision }) => [revision, kind, note]),
        [["1.1", "close", "<b>signed</b>"], ["1.2", "correct", ""]]
      )
      assert.deepStrictEqual(
        rowsOf(page, "What each revision has, and what is due with it").map((
          { cost, revision, ...due }
        ) => [revision, cost, due["cost due"], due["tips due"]]),
        [["1.1", 24_000, 24_000, 0], ["1.2", 25_000, 1000, 0]]
      )
      assert.deepStrictEqual(
        rowsOf(page, "By person and revision").map((
          row
        ) => [row["person"], row["1.1 cost"], row["1.2 cost"], row["cost"]]),
        [["user 501", 8000, 1000, 9000], ["user 502", 8000, 0, 8000], ["user 503", 8000, 0, 8000]]
      )
      assert.deepStrictEqual(
        rowsOf(page, "1.2: more than 1.1").map(({ cost, net, over, person }) => [person, net, over, cost]),
        [[501, 3600, 3600, 1000]]
      )
      // Not what the copy has now: person 502 has two hours more there.
      assert.deepInclude(rowsOf(page, "By person", "tfoot")[0], { net: 25 * 3600, over: 4 * 3600 })
      assert.include(page, "Hours by day and location")
      assert.notInclude(page, "are not those of the record")
    })))

  it.live("leaves out what a pruned history does not have, and says if the history was edited", () =>
    inFake(Effect.gen(function*() {
      const service = yield* FakeService
      const file = `${yield* temporaryFolder}/punches.db`
      const on = (...args: ReadonlyArray<string>) => cli([...args, "--database", file], { env: offline })
      yield* cli(["sync", "--database", file, "--history"])
      yield* on("payroll", "close", ...week)
      yield* service.edit([1], { clocked_out: "2026-03-03T23:00:00Z" })
      yield* cli(["sync", "--database", file, "--history"])
      execute(file, "UPDATE time_punches_history SET hourly_wage = hourly_wage + 100")
      const edited = yield* on("report", "--close", "1")
      execute(file, "UPDATE time_punches_sync SET known_since = history_last")
      const pruned = yield* on("report", "--close", "1")

      assert.include(edited.stdout, "The sums of these punches are not those of the record")
      assert.strictEqual(pruned.code, 0, pruned.stderr)
      assert.match(pruned.stdout, /left out: the history of the copy does not reach .*, the instant of revision 1\.1\./)
      assert.notInclude(pruned.stdout, "People on the clock</h2>")
      for (const { stdout } of [edited, pruned]) {
        assert.deepInclude(rowsOf(stdout, "By person", "tfoot")[0], { net: 24 * 3600, cost: 24_000 })
      }
    })))

  it.live("names the company in its title, so that the pages of a fleet differ", () =>
    inFake(Effect.gen(function*() {
      const file = `${yield* temporaryFolder}/punches.db`
      yield* cli(["sync", "--database", file, "--history"])
      const on = (...args: ReadonlyArray<string>) => cli([...args, "--database", file], { env: offline })
      yield* on("payroll", "close", ...week)

      const ofService = yield* cli(["report", ...week])
      const ofClose = yield* on("report", "--close", "1")

      assert.include(ofService.stdout, `<h1>Labour report of company ${defaultCompany.id}</h1>`)
      assert.include(ofClose.stdout, `<h1>Close 1 of company ${defaultCompany.id}: 2026-03-02 to 2026-03-08</h1>`)
    })))

  it.live("shows of a void what its revision had more than the one before", () =>
    inFake(Effect.gen(function*() {
      const service = yield* FakeService
      const file = `${yield* temporaryFolder}/punches.db`
      const on = (...args: ReadonlyArray<string>) => cli([...args, "--database", file], { env: offline })
      const sync = Effect.suspend(() => cli(["sync", "--database", file, "--history"]))
      yield* sync
      yield* on("payroll", "close", ...week)
      yield* service.edit([1], { clocked_out: "2026-03-03T23:00:00Z" })
      yield* sync
      yield* on("payroll", "correct")
      yield* on("payroll", "void", "1.2", "--note", "not sent")
      yield* on("payroll", "void", "1.1", "--note", "wrong week")
      const { stdout: page } = yield* on("report", "--close", "1")

      assert.deepStrictEqual(
        rowsOf(page, "What each revision has, and what is due with it").map((
          { revision, ...due }
        ) => [revision, due["cost due"]]),
        [["1.1", ""], ["1.2", ""], ["1.3", ""], ["1.4", ""]]
      )
      assert.deepStrictEqual(
        rowsOf(page, "1.3: 1.2 was not paid").map(({ cost, net, person }) => [person, net, cost]),
        [[501, -3600, -1000]]
      )
    })))

  it.live("says that a close is over, and refuses one that is none", () =>
    inFake(Effect.gen(function*() {
      const file = `${yield* temporaryFolder}/punches.db`
      const on = (...args: ReadonlyArray<string>) => cli([...args, "--database", file], { env: offline })
      yield* cli(["sync", "--database", file, "--history"])
      yield* on("payroll", "close", ...week)
      yield* on("payroll", "void", "1.1", "--note", "wrong week")
      const over = yield* on("report", "--close", "1")
      const none = yield* on("report", "--close", "2")

      assert.strictEqual(over.code, 0, over.stderr)
      assert.include(over.stdout, "No revision of this close is active: it is over.")
      assert.deepStrictEqual(
        rowsOf(over.stdout, "1.2: 1.1 was not paid").map(({ cost, person }) => [person, cost]),
        [[501, -8000], [502, -8000], [503, -8000]]
      )
      assert.deepStrictEqual([none.code, none.stdout], [2, ""])
    })))
})
