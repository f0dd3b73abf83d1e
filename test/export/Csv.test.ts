import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Effect, Option, Schema, Stream } from "effect"
import { readFileSync } from "node:fs"
import { Csv, UnwritablePunch } from "../../src/export/index.ts"
import { Cents, DepartmentId, TimePunchId } from "../../src/Ids.ts"
import { columnNames } from "../../src/internal/wire/columnOrder.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { at, punch, rest, Sample } from "../support/arbitraryPunch.ts"

/** Reads CSV as RFC 4180 describes it, one character after the other; throws where the text breaks its rules. */
const parseCsv = (text: string, newline = "\r\n"): ReadonlyArray<ReadonlyArray<string>> => {
  const records: Array<Array<string>> = []
  let cells: Array<string> = []
  let at = 0
  while (at < text.length) {
    let cell = ""
    if (text[at] === "\"") {
      at++
      while (text[at] !== "\"" || text[at + 1] === "\"") {
        if (at >= text.length) throw new Error("a quote without end")
        at += text[at] === "\"" ? 1 : 0
        cell += text[at++]
      }
      at++
    } else {
      while (at < text.length && text[at] !== "," && !text.startsWith(newline, at)) {
        if (/["\r\n]/.test(text[at] ?? "")) throw new Error("a character that needs quotes")
        cell += text[at++]
      }
    }
    cells.push(cell)
    if (text[at] === ",") {
      at++
      continue
    }
    if (!text.startsWith(newline, at)) throw new Error("a record without end")
    at += newline.length
    records.push(cells)
    cells = []
  }
  return records
}

const written = (punches: ReadonlyArray<TimePunch>, options?: Csv.CsvOptions) =>
  Stream.mkString(Csv.encode(Stream.fromArray(punches), options))

/** The rows under the header, by column. */
const table = (punches: ReadonlyArray<TimePunch>, options?: Csv.CsvOptions) =>
  Effect.map(written(punches, options), (text) => {
    const [header = [], ...rows] = parseCsv(text, options?.newline)
    assert.deepStrictEqual(header, [...Csv.columns])
    return rows.map((row) => {
      assert.strictEqual(row.length, header.length)
      return Object.fromEntries(header.map((name, index) => [name, row[index] ?? ""]))
    })
  })

const notesOf = (notes: string) => Effect.map(table([punch({ notes })]), ([row]) => row?.["notes"])

describe("Csv.encode", () => {
  it.effect("writes the header once, even for no punches", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* written([]), `${Csv.columns.join(",")}\r\n`)
      const chunks = Stream.rechunk(Stream.make(punch(), punch(), punch()), 1)
      const text = yield* Stream.mkString(chunks.pipe(Csv.encode()))

      assert.strictEqual(text.split("company_id").length, 2)
      assert.strictEqual(text.split("\r\n").length, 5)
    }))

  it.effect("writes the fields under their wire names, and what follows from them", () =>
    Effect.gen(function*() {
      const breaks = [rest({ in: 60, out: 120, paid: true }), rest({ in: 600, out: 1200, paid: false })]
      const [row] = yield* table([
        punch({ breaks, tips: Cents.make(-250), departmentId: Option.some(DepartmentId.make(6)) })
      ])

      assert.deepInclude(row, {
        id: "1",
        company_id: "2",
        user_id: "7",
        role_id: "3",
        location_id: "4",
        department_id: "6",
        shift_id: "5",
        clocked_in: "2026-03-02T08:00:00Z",
        clocked_out: "2026-03-02T16:00:00Z",
        hourly_wage: "1550",
        tips: "-250",
        approved: "true",
        editable_punch: "true",
        auto_clocked_out: "false",
        clocked_in_offline: "false",
        clocked_out_offline: "false",
        pos_type: "web",
        notes: "",
        created: "2026-03-02T08:00:00Z",
        modified: "",
        deleted: "false",
        break_count: "2",
        gross_seconds: "28800",
        paid_break_seconds: "60",
        unpaid_break_seconds: "600",
        net_seconds: "28200",
        anomalies: ""
      })
    }))

  it("has a column for every field but the breaks, then those that the documentation lists", () => {
    const page = readFileSync(new URL("../../docs/08-files.md", import.meta.url), "utf8")
    const [, last = ""] = /^\| (`break_count`[^|]*)\|/m.exec(page) ?? []
    const { breaks: _, ...fields } = columnNames

    assert.deepStrictEqual<ReadonlyArray<string | undefined>>(Csv.columns, [
      ...Object.values(fields),
      ...[...last.matchAll(/`(\w+)`/g)].map(([, name]) => name)
    ])
  })

  it.effect("leaves a cell empty where there is no value, never a zero", () =>
    Effect.gen(function*() {
      const open = punch({ clockedOut: Option.none(), shiftId: Option.none(), posType: Option.none() })
      const [row = {}] = yield* table([open])
      const [later = {}] = yield* table([open], { asOf: at(1.5) })

      for (const name of ["clocked_out", "shift_id", "department_id", "pos_type", "gross_seconds", "net_seconds"]) {
        assert.strictEqual(row[name], "")
      }
      assert.strictEqual(row["anomalies"], "OpenPunch")
      assert.strictEqual(later["net_seconds"], "1.5")
    }))

  it.effect("separates several anomalies by spaces", () =>
    Effect.gen(function*() {
      const breaks = [rest({ in: -60, out: 120, paid: true }), rest({ in: 60, out: 180, paid: false })]
      const [row = {}] = yield* table([punch({ breaks })])

      assert.strictEqual(row["anomalies"], "BreakOutsidePunch BreaksOverlap")
    }))

  it.effect.each([
    ["=1+1", "'=1+1"],
    ["+1 555 0100", "'+1 555 0100"],
    ["-2", "'-2"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["\t=1", "'\t'=1"],
    ["\r\n=1", "'\r\n'=1"],
    ["\tlate", "'\tlate"],
    ["x;=1+1;y", "x;'=1+1;y"],
    ["x; =1+1", "x;' =1+1"],
    ["x\t-1", "x\t'-1"],
    ["x;\"=1;\"", "x;'\"=1;\""],
    ["x\n@SUM(A1)", "x\n'@SUM(A1)"],
    ["x;'=1", "x;''=1"],
    ["at 8; left at 9 - ill", "at 8; left at 9 - ill"],
    ["  =1", "'  =1"],
    ["\u0000=1", "'\u0000=1"],
    ["\uFEFF=1", "'\uFEFF=1"],
    ["＝1+1", "'＝1+1"],
    ["'=1", "''=1"],
    ["'twas late", "'twas late"],
    ["a=b, \"c\"\nd", "a=b, \"c\"\nd"],
    ["", ""]
  ])("writes the note %j as %j", ([notes, expected]) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* notesOf(notes ?? ""), expected)
    }))

  it.effect.prop(
    "gives no cell that runs as a formula where a semicolon or a tab separates the columns, and its marks can be removed",
    [Schema.Array(Schema.Literals(["a", "=", "-", "@", ";", "\t", "\n", " ", "'", "\"", "\u0000", "\uFEFF"]))],
    ([characters]) =>
      Effect.gen(function*() {
        const notes = characters.join("")
        const guarded = (yield* notesOf(notes)) ?? ""
        const cells = (yield* written([punch({ notes })])).split(/[;\t\r\n]/)

        for (const cell of cells) assert.notMatch(cell.replace(/^["\s\p{C}]*/u, ""), /^[=+\-@]/)
        const mark = /^'(?=['"\s\p{C}]*[=+\-@]|'*[\t\n])|(?<=[;\t\n])'(?=['" \u0000\uFEFF]*[=+\-@])/gu
        assert.strictEqual(guarded.replace(mark, ""), notes)
      })
  )

  it.effect.prop(
    "gives no cell that runs as a formula between semicolons, nor where a comma separates the columns of that file",
    [Schema.Array(Schema.Literals(["a", "=", "-", "@", ",", ";", "\t", "\n", " ", "'", "\""]))],
    ([characters]) =>
      Effect.gen(function*() {
        const text = yield* written([punch({ notes: characters.join("") })], { separator: ";" })
        const [header = ""] = text.split("\r\n")

        assert.strictEqual(header, Csv.columns.join(";"))
        for (const cell of text.split(/[,;\t\r\n]/)) assert.notMatch(cell.replace(/^["\s\p{C}]*/u, ""), /^[=+\-@]/)
      })
  )

  it.effect.prop(
    "writes every text as it is where formulas are kept",
    [Schema.Array(Schema.Literals(["a", "=", "+", "-", "@", ",", ";", "\t", "\n", " ", "'", "\"", "\u0000"]))],
    ([characters]) =>
      Effect.gen(function*() {
        const notes = characters.join("")
        const [row = {}] = yield* table([punch({ notes, posType: Option.some(notes) })], { formulas: "keep" })
        const semicolons = yield* written([punch({ notes })], { formulas: "keep", separator: ";" })

        assert.deepStrictEqual([row["notes"], row["pos_type"]], [notes, notes])
        assert.include(semicolons, notes.replaceAll("\"", "\"\""))
      })
  )

  it.effect("neutralises the source of a punch like its notes", () =>
    Effect.gen(function*() {
      const [row = {}] = yield* table([punch({ posType: Option.some("=cmd|' /C calc'!A0") })])

      assert.strictEqual(row["pos_type"], "'=cmd|' /C calc'!A0")
    }))

  it.effect("ends lines with a line feed where `newline` says so", () =>
    Effect.gen(function*() {
      const text = yield* written([punch()], { newline: "\n" })

      assert.notInclude(text, "\r")
      assert.strictEqual(parseCsv(text, "\n").length, 2)
    }))

  it.effect("writes all punches before one that has no wire form", () =>
    Effect.gen(function*() {
      const bad = punch({ id: TimePunchId.make(9), clockedIn: DateTime.makeUnsafe("+010000-01-01T00:00:00Z") })
      const texts: Array<string> = []
      const error = yield* Csv.encode(Stream.make(punch(), bad)).pipe(
        Stream.runForEach((text) => Effect.sync(() => texts.push(text))),
        Effect.flip
      )

      assert.strictEqual(texts.join(""), yield* written([punch()]))
      assert.instanceOf(error, UnwritablePunch)
      assert.strictEqual(error.punchId, 9)
    }))

  it.effect.prop(
    "is read cell for cell by an independent reader, whatever the chunks",
    {
      samples: Arbitrary.array(Sample, { maxLength: 12 }),
      size: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 6 }))
    },
    ({ samples, size }) =>
      Effect.gen(function*() {
        const punches = samples.map((sample) => sample.punch)
        const text = yield* written(punches)
        const rechunked = yield* Stream.mkString(Csv.encode(Stream.rechunk(Stream.fromArray(punches), size)))
        const rows = yield* table(punches)

        assert.strictEqual(rechunked, text)
        for (const [index, { id, notes, tips }] of punches.entries()) {
          const row = rows[index] ?? {}
          assert.deepStrictEqual([Number(row["id"]), Number(row["tips"])], [id, tips])
          assert.strictEqual((row["notes"] ?? "").replaceAll("'", ""), notes.replaceAll("'", ""))
        }
        for (const row of rows) assert.notMatch(row["notes"] ?? "", /^[=+\-@\t\r\n]/)
      })
  )
})
