import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Option, Stream } from "effect"
import { displayWidth } from "effect/cli/CliOutput"
import { Csv as CoreCsv } from "effect/encoding"
import type { PunchDisplay } from "../../../src/cli/database/punchFields.ts"
import type { NameKind, Names } from "../../../src/cli/flags/names.ts"
import * as Print from "../../../src/cli/payroll/diffPrint.ts"
import { piped } from "../../../src/cli/print/table.ts"
import { Csv } from "../../../src/export/index.ts"
import { Cents, LocationId, TimePunchId, UserId } from "../../../src/Ids.ts"
import type { WorkedTime } from "../../../src/payroll/index.ts"
import type { Changes } from "../../../src/sql/history.ts"
import { at, punch } from "../../support/arbitraryPunch.ts"

/** A name that a terminal or a spreadsheet would run. */
const bad = "=HYPERLINK(\"x\")\u001b[2J"

const names: Names = (kind: NameKind, id: number) =>
  kind === "user"
    ? new Map([[7, bad], [8, "東京 Анна"]]).get(id)
    : kind === "location" && id === 4
    ? "Main St, 5"
    : undefined

const reading: PunchDisplay = {
  zoneOf: () => Option.some(DateTime.zoneMakeNamedUnsafe("America/New_York")),
  names: undefined,
  asOf: undefined
}

const before = punch({ tips: Cents.make(-500) })
const after = punch({ tips: Cents.make(250), notes: "+1 = \u001b[2J,\nlater", userId: UserId.make(8) })

const changes: Changes = {
  punches: [
    {
      punchId: before.id,
      userId: after.userId,
      kind: "edited",
      before: Option.some(before),
      after: Option.some(after)
    },
    {
      punchId: TimePunchId.make(2),
      userId: UserId.make(7),
      kind: "added",
      before: Option.none(),
      after: Option.some(
        punch({ id: TimePunchId.make(2), clockedOut: Option.some(at(90)), locationId: LocationId.make(5) })
      )
    }
  ],
  people: [
    { userId: UserId.make(7), net: Duration.seconds(-28_710.001), cost: Cents.make(-12_361), tips: Cents.make(500) },
    { userId: UserId.make(8), net: Duration.hours(8), cost: Cents.make(12_400), tips: Cents.make(250) }
  ]
}

const none: Changes = { punches: [], people: [] }

const textOf = <E>(texts: Stream.Stream<string, E>) => Stream.mkString(texts)

const style = { start: "", separator: ",", formulas: "guard" } as const

const punchesCsv = ({ punches }: Changes, names: Names | undefined, options: WorkedTime.WorkedTimeOptions) =>
  textOf(Print.punchesCsv(Stream.fromIterable(punches), names, options, style))

const cellsOf = (csv: string) =>
  Stream.make(csv).pipe(Stream.pipeThroughChannel(CoreCsv.decodeString({ headers: true })), Stream.runCollect)

describe("the table of changes", () => {
  it("has the punches with what differs, then the people", () => {
    assert.deepStrictEqual(Print.linesOf(changes, reading, piped), [
      "id  user_id  location_id  clocked_in                 kind    field        before  after",
      " 1        8            4  2026-03-02T03:00:00-05:00  edited  user_id      7       8",
      "                                                             tips         -5.00   2.50",
      "                                                             notes                +1 = \\u001b[2J,\\u000alater",
      " 2        7            5  2026-03-02T03:00:00-05:00  added   clocked_out          2026-03-02T03:01:30-05:00",
      "                                                             net                  0:01:30",
      "                                                             hourly_wage          15.50",
      "                                                             tips                 0.00",
      "                                                             approved             yes",
      "",
      "user_id           net     cost   tips",
      "7        -7:58:30.001  -123.61  +5.00",
      "8               +8:00  +124.00  +2.50"
    ])
  })

  it("has names beside the ids, without what controls a terminal", () => {
    const lines = Print.linesOf(changes, { ...reading, names }, piped)

    assert.match(lines[0] ?? "", /^id  user_id  user  +location_id  location  +clocked_in/)
    assert.match(lines[1] ?? "", / 8 {2}東京 Анна +4 {2}Main St, 5/)
    assert.include(lines[1], `7 =HYPERLINK("x")\\u001b[2J  8 東京 Анна`)
    assert.include(lines.at(-2), `7        =HYPERLINK("x")\\u001b[2J`)
    // oxlint-disable-next-line no-control-regex
    assert.notMatch(lines.join(""), /[\u0000-\u001f]/)
  })

  it.each([80, 100, 140])("fits a terminal of %d columns, with the ids and what differs", (columns) => {
    const lines = Print.linesOf(changes, { ...reading, names }, { ...piped, width: columns })

    for (const line of lines) assert.isAtMost(displayWidth(line), columns, line)
    assert.match(lines[0] ?? "", /^id  user(_id)? .* kind +field +before +after$/)
  })

  it("has no line without changes", () => {
    assert.deepStrictEqual(Print.linesOf(none, reading, piped), [])
  })
})

describe("the CSV of changes", () => {
  it.effect("has a row for each punch, each column before and after, guarded once", () =>
    Effect.gen(function*() {
      const csv = yield* punchesCsv(changes, undefined, {})
      const [edited, added] = yield* cellsOf(csv)
      const twice = Csv.columns.filter((name) => name !== "id" && name !== "company_id")

      assert.deepStrictEqual(
        Object.keys(edited ?? {}),
        ["id", "user_id", "kind", ...twice.flatMap((name) => [`before_${name}`, `after_${name}`])]
      )
      assert.deepInclude(edited, {
        id: "1",
        user_id: "8",
        kind: "edited",
        before_user_id: "7",
        after_user_id: "8",
        before_tips: "-500",
        after_tips: "250",
        after_notes: "'+1 = \u001b[2J,\nlater",
        before_net_seconds: "28800"
      })
      assert.deepInclude(added, { before_tips: "", after_tips: "0", before_approved: "", after_net_seconds: "90" })
    }))

  it.effect("counts an open punch up to asOf", () =>
    Effect.gen(function*() {
      const open = { ...punch({ clockedOut: Option.none() }) }
      const change = {
        punchId: open.id,
        userId: open.userId,
        kind: "back" as const,
        before: Option.none(),
        after: Option.some(open)
      }
      const [row] = yield* cellsOf(yield* punchesCsv({ punches: [change], people: [] }, undefined, { asOf: at(60) }))

      assert.deepInclude(row, { kind: "back", before_net_seconds: "", after_net_seconds: "60" })
    }))
})
