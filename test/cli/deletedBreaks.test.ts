/** Deleted breaks through the commands: every sum against the rows of the wire, from the service and from a copy. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as Fs from "node:fs"
import { prng } from "../../src/testing/base/prng.ts"
import { FakeService } from "../../src/testing/index.ts"
import { byCode } from "../support/mappings.ts"
import { makeRawPunches, rawMinutes, rawSums } from "../support/rawBreaks.ts"
import { servicePunch } from "../support/wire.ts"
import { rowsOf } from "./report/tables.ts"
import { cli, environment, inFolder, linesOf } from "./support.ts"

const seeds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 31 - 1 }))

const week = ["--week", "2026-03-02", "--zone", "UTC"]

interface Sum {
  readonly userId: number
  readonly punches: number
  readonly netSeconds: number
}

/** Of a JSON array, by person. */
const sumsIn = (json: string): ReadonlyMap<number, readonly [number, number]> => {
  const rows: ReadonlyArray<Sum> = JSON.parse(json)
  return new Map(rows.map(({ netSeconds, punches, userId }) => [userId, [punches, netSeconds / 60]]))
}

describe("deleted breaks", () => {
  it.effect.prop("are in no sum of a command, and all of them in NDJSON and in a feed", [seeds], ([seed]) => {
    const rows = makeRawPunches(prng(seed), 40)
    const present = rows.filter(({ deleted }) => deleted !== true)
    const sums = rawSums(rows)
    return inFolder(rows, (folder) =>
      Effect.gen(function*() {
        const database = ["--database", `${folder}/copy.db`]
        yield* cli(["sync", "--history", ...database])
        for (const source of [[], database]) {
          const summary = yield* cli(["summary", "--by", "user", "--json", "--rounding", "halfUp", ...week, ...source])
          assert.deepStrictEqual(sumsIn(summary.stdout), sums, summary.stderr)

          const report = yield* cli(["report", "--rounding", "halfUp", ...week, ...source])
          assert.deepStrictEqual(
            rowsOf(report.stdout, "By person").map(({ cost, net, person }) => [person, net, cost])
              .toSorted(([one], [other]) => Number(one) - Number(other)),
            // 60.00 an hour: a cent is a hundredth of a minute.
            [...sums].map(([user, [, minutes]]) => [user, minutes * 60, minutes * 100]),
            report.stderr
          )

          const csv = yield* cli(["list", "--format", "csv", ...week], {
            env: source.length === 0
              ? environment
              : { ...environment, TIME_PUNCHES_DATABASE_URL: `${folder}/copy.db` }
          })
          const [head = "", ...lines] = linesOf(csv.stdout)
          const titles = head.trim().split(",")
          const columns = ["id", "break_count", "net_seconds"].map((title) => titles.indexOf(title))
          assert.deepStrictEqual(
            new Map(lines.map((line) => {
              const [id, count, net] = columns.map((at) => Number(line.trim().split(",")[at]))
              return [id, [count, net]]
            })),
            new Map(present.map((row) => [
              row.id,
              [(row.breaks ?? []).filter(({ deleted }) => deleted !== true).length, rawMinutes(row) * 60]
            ])),
            csv.stderr
          )
        }
        const flags = (breaks: ReadonlyArray<{ readonly id: number; readonly deleted?: boolean | null }>) =>
          breaks.map(({ deleted, id }) => [id, deleted === true])
        const raw = new Map(rows.map(({ breaks = [], id }) => [id, flags(breaks)]))
        const ndjson = yield* cli(["list", "--format", "ndjson", "--deleted", "include", ...week])
        const feed = yield* cli(["copy", "feed", ...database])
        const listed = linesOf(ndjson.stdout).map((line) => JSON.parse(line))
        const events = linesOf(feed.stdout).map((line) => JSON.parse(line).after)
        for (const found of [listed, events]) {
          assert.deepStrictEqual(new Map(found.map(({ breaks, id }) => [id, flags(breaks)])), raw)
        }

        Fs.writeFileSync(`${folder}/map.json`, JSON.stringify({ ...byCode, payCodes: { hours: "HRS" } }))
        Fs.writeFileSync(
          `${folder}/codes.csv`,
          `kind,id,code\n${[...sums.keys()].map((id) => `user,${id},E${id}\n`).join("")}`
        )
        const file = yield* cli([
          "payroll",
          "file",
          "--preview",
          "--mapping",
          `${folder}/map.json`,
          "--codes",
          `${folder}/codes.csv`,
          "--rounding",
          "halfUp",
          ...week,
          ...database
        ])
        assert.deepStrictEqual(
          linesOf(file.stdout).slice(1).map((line) => line.trim().split(",").slice(0, 3)),
          [...sums].map((
            [user, [, minutes]]
          ) => [`E${user}`, "HRS", (Math.floor((minutes * 100 + 30) / 60) / 100).toFixed(2)])
            .filter(([, , hours]) => hours !== "0.00"),
          file.stderr
        )
      }))
  }, { arbitrary: { runs: 6 }, timeout: 60_000 })

  it.effect("that are marked after a close are due as those that leave the punch", () => {
    const lunch = {
      id: 1,
      user_id: 501,
      custom_break_id: 1,
      paid: false,
      in: "2026-03-02T12:00:00Z",
      out: "2026-03-02T12:30:00Z",
      deleted: false
    }
    const rows = [1, 2, 3].map((id) => servicePunch({ id, user_id: 500 + id, breaks: [lunch] }))
    return inFolder(rows, (folder) =>
      Effect.gen(function*() {
        const database = ["--database", `${folder}/copy.db`]
        const ran = (...args: ReadonlyArray<string>) => cli([...args, ...database])
        const service = yield* FakeService
        yield* TestClock.setTime(Date.parse("2026-03-10T12:00:00Z"))
        yield* ran("sync", "--history")
        const closed = yield* ran("payroll", "close", ...week, "--rounding", "halfUp")
        assert.strictEqual(closed.code, 0, closed.stderr)
        const state = yield* ran("copy", "feed")
        const { position }: { readonly position: string } = JSON.parse(linesOf(state.stdout).at(-1) ?? "")
        // Nothing but the mark changes.
        yield* service.edit([1], { breaks: [{ ...lunch, deleted: true }], modified: "2026-03-02T16:00:00Z" })
        yield* service.edit([2], { breaks: [], modified: "2026-03-02T16:00:00Z" })
        yield* ran("sync", "--sweep", "all")

        const due = yield* ran("payroll", "due", "--json")
        const diff = yield* ran("payroll", "diff", "--close", "1")
        const edits = yield* ran("copy", "feed", "--kind", "edited", "--changed", "breaks", "--after", position)
        assert.strictEqual(due.stdout.match(/"netSeconds":1800\b/g)?.length, 2, due.stdout + due.stderr)
        assert.match(diff.stdout, /12:00 to 12:30 unpaid +12:00 to 12:30 unpaid, deleted/, diff.stderr)
        assert.notInclude(diff.stdout, "503")
        assert.deepStrictEqual(
          linesOf(edits.stdout).map((line) => JSON.parse(line)).map(({ changed, punchId }) => [punchId, changed]),
          [[1, ["breaks"]], [2, ["breaks"]]],
          edits.stderr
        )
      }))
  })
})
