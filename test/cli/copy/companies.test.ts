/** `sync --company 1,2,3`: each company in separate passes, and none stops another. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as Fs from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { manyCompanies } from "../../../src/cli/sandbox/companies.ts"
import { defaultOAuthClient, FakeService } from "../../../src/testing/index.ts"
import { cli, linesOf, queries, temporaryFolder, without } from "../support.ts"

const { companies, punchesOf } = manyCompanies(3, 40, 1)
const [, second] = companies
const guidOf = (id: number) => companies.find((company) => company.id === id)?.guid ?? ""

/** The companies with their guids, as the flag takes them. */
const all = companies.map(({ guid, id }) => `${id}=${guid}`).join(",")

const env = without("TIME_PUNCHES_COMPANY_ID", "TIME_PUNCHES_COMPANY_GUID")

/** A sandbox of three companies, with a credential for these. */
const granted = (ids: ReadonlyArray<number>) =>
  FakeService.layer({
    companies,
    punches: companies.flatMap((_, index) => punchesOf(index)),
    oauthClients: [{ ...defaultOAuthClient, grantedGuids: ids.map(guidOf) }]
  })

const ids = companies.map(({ id }) => id)

const inFolder = <A, E>(use: (folder: string) => Effect.Effect<A, E, FakeService>, access = ids) =>
  Effect.gen(function*() {
    yield* TestClock.setTime(Date.parse("2026-07-01T12:00:00Z"))
    return yield* use(yield* temporaryFolder)
  }).pipe(Effect.scoped, Effect.provide(granted(access)))

const sync = (file: string, company: string, ...flags: ReadonlyArray<string>) =>
  cli(["sync", "--database", file, "--company", company, ...flags], { env })

const status = (file: string, company: string, ...flags: ReadonlyArray<string>) =>
  cli(["copy", "status", "--database", file, "--company", company, ...flags], { env })

const rowsOf = (file: string) => {
  const database = new DatabaseSync(file, { readOnly: true })
  const rows = ["time_punches", "time_punches_sync"].map((table) =>
    database.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all()
  )
  database.close()
  return rows
}

/** The members of each JSON line that tell passes apart. */
const passesOf = (stdout: string) =>
  linesOf(stdout).map((line) => {
    const { company, complete, kind, punches } = JSON.parse(line)
    return [company, kind, complete, punches > 0]
  })

describe("sync of several companies", () => {
  it.effect("makes the copy that a run for each makes, and names the company", () =>
    inFolder(Effect.fnUntraced(function*(folder) {
      const together = yield* sync(`${folder}/together.db`, all)
      const json = yield* sync(`${folder}/json.db`, all, "--json")
      for (const { guid, id } of companies) {
        const { code } = yield* cli(
          ["sync", "--database", `${folder}/single.db`, "--company", `${id}=${guid}`],
          { env }
        )
        assert.strictEqual(code, 0)
      }
      const [single = [], state = []] = rowsOf(`${folder}/single.db`)

      assert.deepStrictEqual([together.code, together.stderr, json.code], [0, "", 0])
      assert.deepStrictEqual(linesOf(together.stdout).map((line) => line.slice(0, 26)), [
        "company 5001: first load: ",
        "company 5002: first load: ",
        "company 5003: first load: "
      ])
      assert.deepStrictEqual(passesOf(json.stdout), ids.map((id) => [id, "first", true, true]))
      assert.isAbove(single.length, 100)
      assert.lengthOf(state, 3)
      assert.deepStrictEqual(rowsOf(`${folder}/together.db`)[0], single)
      assert.strictEqual(rowsOf(`${folder}/together.db`)[1]?.length, 3)
    })))

  it.effect("names the company on the line of a terminal", () =>
    inFolder(Effect.fnUntraced(function*(folder) {
      const args = ["sync", "--database", `${folder}/a.db`, "--company"]
      const several = yield* cli([...args, all], { env, terminal: true })
      const one = yield* cli([...args, all.slice(0, all.indexOf(","))], { env, terminal: true })

      for (const id of ids) assert.match(several.stderr, new RegExp(`company ${id}: \\d+ punches, \\d+ written`))
      assert.match(one.stderr, /\d+ punches, \d+ written/)
      assert.notInclude(one.stderr, "company")
    })))

  it.effect("continues after one that fails, and ends with its code", () =>
    inFolder(
      Effect.fnUntraced(function*(folder) {
        const { code, stderr, stdout } = yield* sync(`${folder}/together.db`, all, "--json")
        for (const id of [5001, 5003]) yield* sync(`${folder}/single.db`, `${id}=${guidOf(id)}`)

        assert.strictEqual(code, 5)
        assert.deepStrictEqual(passesOf(stdout), [[5001, "first", true, true], [5003, "first", true, true]])
        assert.match(stderr, /^time-punches: company 5002: 403 /)
        assert.match(stderr, /\ntime-punches: 1 of 3 companies failed: 5002\n$/)
        assert.deepStrictEqual(rowsOf(`${folder}/together.db`)[0], rowsOf(`${folder}/single.db`)[0])
      }),
      [5001, 5003]
    ))

  it.effect("ends with the worst of several codes", () =>
    inFolder(
      Effect.fnUntraced(function*(folder) {
        // 5003 has no guid, which an OAuth client needs: a wrong call, and worse than a 403.
        const { code, stderr, stdout } = yield* sync(`${folder}/a.db`, `5002=${second?.guid},5003,5001=${guidOf(5001)}`)

        assert.strictEqual(code, 2)
        assert.match(stdout, /^company 5001: first load/)
        assert.match(stderr, /^time-punches: company 5002: 403 [^]*\ntime-punches: company 5003: .*guid/)
        assert.match(stderr, /2 of 3 companies failed: 5002, 5003\n$/)
      }),
      [5001, 5003]
    ))

  it.effect("repeats all of them, and tries one that failed again", () =>
    inFolder(
      Effect.fnUntraced(function*(folder) {
        const screen: Array<string> = []
        const shows = Effect.fnUntraced(function*(text: RegExp, count: number) {
          for (let tries = 0; (screen.join("").match(text) ?? []).length < count; tries++) {
            assert.isBelow(tries, 2000, screen.join(""))
            yield* TestClock.adjust("100 millis")
            yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 2)))
          }
        })
        const command = ["sync", "--database", `${folder}/a.db`, "--company", all, "--every", "15m", "--sweep", "35d"]
        const running = yield* Effect.forkChild(cli(command, { env, screen }))
        yield* shows(/company 5003: sweep: /g, 1)
        yield* TestClock.adjust("15 minutes")
        yield* shows(/company 5003: increment: /g, 1)
        yield* Fiber.interrupt(running)
        const lines = linesOf(screen.join("")).map((line) =>
          /company 500\d: (first load|sweep|increment|403)/.exec(line)?.[0]
        )

        assert.deepStrictEqual(lines.filter((line) => line !== undefined), [
          "company 5001: first load",
          "company 5001: sweep",
          "company 5002: 403",
          "company 5003: first load",
          "company 5003: sweep",
          "company 5001: increment",
          "company 5002: 403",
          "company 5003: increment"
        ])
      }),
      [5001, 5003]
    ))

  it.effect("ends a run that repeats once no later slot can cure any of them", () =>
    inFolder(
      Effect.fnUntraced(function*(folder) {
        const { code, stderr } = yield* sync(`${folder}/a.db`, all, "--every", "15m")

        assert.strictEqual(code, 5)
        assert.match(stderr, /3 of 3 companies failed: 5001, 5002, 5003\n$/)
      }),
      []
    ))

  it.effect("says of each how old its copy is", () =>
    inFolder(Effect.fnUntraced(function*(folder) {
      yield* sync(`${folder}/a.db`, `5001=${guidOf(5001)},5003=${guidOf(5003)}`)
      const sent = (yield* queries).length
      const table = yield* status(`${folder}/a.db`, "5001,5002,5003")
      const json = yield* status(`${folder}/a.db`, "5001,5002,5003", "--json")
      const old = yield* status(`${folder}/a.db`, "5001,5002,5003", "--max-age", "1h")

      assert.deepStrictEqual([table.code, json.code, old.code], [0, 0, 10])
      assert.deepStrictEqual(linesOf(table.stdout).map((line) => line.slice(0, 4)), ["comp", "5001", "5002", "5003"])
      assert.deepStrictEqual(
        linesOf(json.stdout).map((line) => JSON.parse(line)).map(({ ageSeconds, company }) => [company, ageSeconds]),
        [[5001, 0], [5002, null], [5003, 0]]
      )
      assert.match(
        old.stderr,
        /^time-punches: company 5002: no sync run of the copy in .* is complete, and --max-age is 1h\n/m
      )
      assert.strictEqual((yield* queries).length, sent)
    })))

  const guid = guidOf(5001)

  it.effect.each<readonly [ReadonlyArray<string>, string]>([
    [["--company", "5001,5002,5001"], "--company names 5001 twice"],
    [["--company", `5001,5001=${guid}`], "--company names 5001 twice"],
    [["--company", Array.from({ length: 21 }, (_, at) => at + 1).join(",")], "A fleet keeps many in sync"],
    [["--company", "5001,"], "--company"],
    [["--company", "5001,x"], "several of ID or ID=GUID joined by commas"],
    [["--company", "5001=x"], "several of ID or ID=GUID joined by commas"]
  ])("refuses %j before anything is sent", ([flags, message]) =>
    inFolder(Effect.fnUntraced(function*(folder) {
      const { code, stderr, stdout } = yield* cli(["sync", "--database", `${folder}/a.db`, ...flags], { env })

      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.include(stderr, message)
      assert.deepStrictEqual(yield* queries, [])
      assert.deepStrictEqual(Fs.readdirSync(folder), [])
    })))
})
