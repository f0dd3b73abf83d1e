/** Deleted breaks in a copy: the texts of rows, events, and sums against the rows of the wire. */
import { assert, describe } from "@effect/vitest"
import { Effect, Option, Schema, Stream } from "effect"
import * as Fs from "node:fs"
import { CompanyId, TimePunch } from "../../src/index.ts"
import { PunchCopy } from "../../src/sql/index.ts"
import { prng } from "../../src/testing/base/prng.ts"
import { defaultCompany, generatePunches, type WirePunch } from "../../src/testing/index.ts"
import { databases, itWithDatabase } from "../support/databases.ts"
import { commit, openHistory } from "../support/histories.ts"
import { makeRawPunches, rawMinutes } from "../support/rawBreaks.ts"

const company = CompanyId.make(defaultCompany.id)

const read = Schema.decodeUnknownSync(Schema.Array(TimePunch.Wire))

/** The rows with the breaks changed, each in its form of the wire. */
const withBreaks = (
  rows: ReadonlyArray<WirePunch>,
  change: (rest: NonNullable<WirePunch["breaks"]>[number]) => unknown
) => rows.map((row) => ({ ...row, breaks: (row.breaks ?? []).map(change) }))

describe.each(databases())("deleted breaks in a copy, in $name", (database) => {
  const test = itWithDatabase(database, openHistory)

  test("are no edit where a service begins to send the key, as false or null", ({ kept, query, run }) =>
    Effect.gen(function*() {
      const rows = makeRawPunches(prng(1), 40)
      const bare = withBreaks(rows, ({ deleted: _, ...rest }) => rest)
      yield* commit(kept, company, read(bare))
      const texts = query(`SELECT id, CAST(breaks AS text) AS text FROM time_punches ORDER BY id`)
      const before = yield* texts
      const position = yield* run(PunchCopy.feedPosition(company))
      for (const deleted of [false, null]) {
        const committed = yield* commit(kept, company, read(withBreaks(rows, (rest) => ({ ...rest, deleted }))))
        assert.deepStrictEqual([committed.written, committed.unchanged], [0, rows.length])
      }

      assert.deepStrictEqual(yield* texts, before)
      assert.lengthOf(yield* run(Stream.runCollect(PunchCopy.feed(company, { after: position }))), 0)
      assert.lengthOf(yield* query(`SELECT 1 FROM time_punches_history`), 0)
    }))

  test("are a version and an event, also back again", ({ kept, query, run }) =>
    Effect.gen(function*() {
      const rest = { id: 1, user_id: 1, custom_break_id: 0, paid: false, in: "2026-03-02T10:00:00Z", out: null }
      const [template] = generatePunches({ count: 1, companyId: company })
      const marked = (deleted: boolean) => read([{ ...template, breaks: [{ ...rest, deleted }] }])
      yield* commit(kept, company, marked(false))
      const position = yield* run(PunchCopy.feedPosition(company))
      yield* commit(kept, company, marked(true))
      yield* commit(kept, company, marked(false))

      const events = yield* run(Stream.runCollect(PunchCopy.feed(company, { after: position })))
      const flags = (punch: Option.Option<TimePunch>) =>
        Option.map(punch, ({ breaks }) => breaks.map(({ deleted }) => deleted))
      assert.deepStrictEqual(
        events.map(({ after, before, kind }) => [kind, flags(before), flags(after)]),
        [
          ["edited", Option.some([false]), Option.some([true])],
          ["edited", Option.some([true]), Option.some([false])]
        ]
      )
      assert.lengthOf(yield* query(`SELECT 1 FROM time_punches_history`), 2)
    }))

  test("leave the hours of the views as the rows of the wire have them", ({ kept, query }) =>
    Effect.gen(function*() {
      const rows = makeRawPunches(prng(7), 150)
      yield* commit(kept, company, read(rows))
      const present = rows.filter(({ deleted }) => deleted !== true)

      const hours = yield* query(`SELECT id, hours_worked FROM time_punches_current ORDER BY id`)
      assert.deepStrictEqual(
        hours.map(({ hours_worked, id }) => [Number(id), Math.round(Number(hours_worked) * 60)]),
        present.map((row) => [row.id, rawMinutes(row)])
      )
      const breaks = yield* query(`SELECT id FROM time_punches_breaks ORDER BY id`)
      assert.deepStrictEqual(
        breaks.map(({ id }) => Number(id)),
        present.flatMap((row) => (row.breaks ?? []).filter(({ deleted }) => deleted !== true).map(({ id }) => id))
      )
      const page = Fs.readFileSync(new URL("../../docs/12-a-copy-in-your-database.md", import.meta.url), "utf8")
      const names = Object.keys((yield* query(`SELECT * FROM time_punches_breaks LIMIT 1`))[0] ?? {})
      const listed = /The columns of the view: ([^.]+)\./.exec(page)?.[1] ?? ""
      assert.deepStrictEqual([...listed.matchAll(/`(\w+)`/g)].map(([, name]) => name), names)
      if (database.dialect !== "sqlite") return
      const [, text = ""] = /```sql\n([^`]*julianday[^`]*)```/.exec(page) ?? []
      const [count] = yield* query(text.replaceAll("4021", `${company}`))
      const long = present.flatMap((row) => row.breaks ?? []).filter((rest) =>
        rest.deleted !== true && !rest.paid && rest.out !== null &&
        Date.parse(rest.out) - Date.parse(rest.in) > 30 * 60_000
      )
      assert.isNotEmpty(long)
      assert.strictEqual(Number(count?.["breaks"]), long.length)
    }))
})
