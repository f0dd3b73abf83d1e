/**
 * Forms of payroll files, and random ones, against the second computation of `fileOracle.ts`: whole milliseconds and cents, from the
 * punches. What is refused says why.
 */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Option, Result } from "effect"
import * as CloseSums from "../../src/close/CloseSums.ts"
import * as CloseTerms from "../../src/close/CloseTerms.ts"
import { BusinessDate, DepartmentId } from "../../src/Ids.ts"
import * as PayrollFile from "../../src/payroll/PayrollFile.ts"
import { addAll } from "../../src/payroll/running.ts"
import { type Prng, prng } from "../../src/testing/base/prng.ts"
import * as Oracle from "../full/closeOracle.ts"
import { punchOf } from "../full/closeRuns.ts"
import * as Files from "../full/fileOracle.ts"
import { type Form, randomMapping, textsOfRun } from "../support/mappings.ts"

/** The day before the first one of March. */
const february = Date.parse("2026-02-28T00:00Z") / 86_400_000

interface WorkParts {
  readonly day: number
  readonly user: number
  readonly seconds: number
  readonly role?: number
  readonly tips?: number
  readonly wage?: number
}

const work = (parts: ReadonlyArray<WorkParts>): ReadonlyArray<Oracle.Work> =>
  parts.map(({ day, role = 11, seconds, tips = 0, user, wage = 1500 }, at) => {
    const from = (february + day) * 86_400_000 + 8 * 3_600_000
    const job = { person: user, place: 301, department: undefined, role, wage, tips }
    return { ...job, id: at + 1, from, to: from + seconds * 1000, breaks: [], isDeleted: false, isMissing: false }
  })

/** A week of three people from Monday, 2 March: 501 has 42:30:30 at two jobs, 502 a day of 13:00:18, 503 half a minute. */
const punches = work([
  { day: 2, user: 501, seconds: 29_410, tips: 1250 },
  { day: 3, user: 501, seconds: 30_620 },
  { day: 4, user: 501, seconds: 30_600, role: 12, wage: 1650 },
  { day: 5, user: 501, seconds: 30_600 },
  { day: 6, user: 501, seconds: 31_800, role: 12, wage: 1650, tips: 5 },
  { day: 3, user: 502, seconds: 46_818, tips: 75 },
  { day: 7, user: 502, seconds: 17_982 },
  { day: 8, user: 503, seconds: 30 }
])
/** The same week later: a punch is longer, one is gone, one is another person's. */
const later = [
  ...punches.slice(0, 4),
  ...work([
    { day: 6, user: 501, seconds: 28_111, role: 12, wage: 1650 },
    { day: 3, user: 502, seconds: 39_600, tips: 75 },
    { day: 7, user: 503, seconds: 17_982, tips: 300 }
  ])
]

const terms = Result.getOrThrow(CloseTerms.make({
  companyId: punchOf(punches[0] ?? assert.fail("no punch")).companyId,
  first: BusinessDate.make("2026-03-02"),
  last: BusinessDate.make("2026-03-08"),
  dayRule: DateTime.zoneMakeNamedUnsafe("UTC"),
  rounding: "halfUp",
  weeklyThreshold: "40 hours",
  doubleThreshold: "12 hours"
}))

const partsOf = (of: ReadonlyArray<Oracle.Work>): ReadonlyArray<Oracle.Part> =>
  Oracle.partsOf({
    first: february + 2,
    last: february + 8,
    places: new Map([[301, { zone: "UTC", dayStarts: 0 }]]),
    begins: new Map(),
    firstDay: 1,
    cents: "halfUp",
    weekly: 40 * 3_600_000,
    daily: undefined,
    double: 12 * 3_600_000,
    seventh: undefined
  }, of)

/** The sums of a close, as the record has them; `detail` of days or punches. */
const stateOf = (of: ReadonlyArray<Oracle.Work>, detail?: "day" | "punch"): PayrollFile.PayrollSums => {
  const sums = CloseSums.makeSums(terms, { detail })
  Result.getOrThrow(addAll(sums, of.map(punchOf)))
  return { first: terms.first, last: terms.last, id: "7.1", payDate: BusinessDate.make("2026-03-20"), ...sums.result() }
}

/** Names with a character that two encodings write otherwise. */
const texts: Readonly<Record<number, { readonly first: string; readonly last: string; readonly centre: string }>> = {
  501: { first: "Maria", last: "Lopez", centre: "100" },
  502: { first: "Dana", last: "Levi", centre: "200" },
  503: { first: "Jörg", last: "Müßig", centre: "100" }
}

const told: Files.Codes = {
  codeOf: (kind, id) => kind === "user" ? `0${id}` : `J${id}`,
  nameOf: (kind, id) => kind !== "user" ? `Job ${id}` : texts[id] && `${texts[id].last}, ${texts[id].first}`,
  fieldOf: (_, id, field) => Object.entries(texts[id] ?? {}).find(([name]) => name === field)?.[1]
}
const codes: PayrollFile.PayrollCodes = {
  getCode: told.codeOf,
  getName: told.nameOf,
  fields: ["first", "last", "centre"],
  getField: told.fieldOf
}

const column = <const A extends object>(value: string, more?: A) => ({ header: value, value, ...more })

const payCodes = { regular: "REG", over: "OT", double: "DT", tips: "TIPS" }
const base = { v: 1, by: ["user"], hours: "decimal:2", rounding: "halfUp" } as const
const threeClasses = ["hoursRegular", "hoursOver", "hoursDouble"].map((value) => column(value))

const fixedCodes: Partial<Form> = {
  payCodes,
  header: false,
  separator: "",
  decimal: "",
  columns: [
    column("userId", { width: 8, pad: "0", align: "right" }),
    column("payCode", { width: 4 }),
    column("quantity", { width: 9, pad: "0" }),
    { header: "end", constant: "*" }
  ]
}

const forms: Readonly<Record<string, Partial<Form>>> = {
  "a row for each pay code, with a code of the form": {
    payCodes,
    columns: [column("userCode"), column("payCode"), column("hours"), column("amount")]
  },
  "a section of lines for each person": {
    header: false,
    separator: "",
    columns: [
      { constant: "E;" },
      column("userCode"),
      { constant: "\n\tR;" },
      column("hoursRegular"),
      { constant: "\n\tO;" },
      column("hoursOver"),
      { constant: "\n\tD;" },
      column("hoursDouble")
    ]
  },
  "hours and amounts in one column, with a key beside the code": {
    payCodes: {
      regular: { code: "1", key: "H" },
      over: { code: "2", key: "H" },
      double: { code: "3", key: "H" },
      tips: { code: "1", key: "A" }
    },
    columns: [
      column("userCode"),
      column("payCode"),
      { header: "key", of: "payCode", field: "key" },
      column("quantity")
    ],
    separator: ";",
    decimal: ",",
    preamble: ["[Allgemein]", "Version=2", "[Bewegungen]"]
  },
  "a row for each person, texts in quotes": {
    quote: "texts",
    columns: [column("userCode"), column("userName"), ...threeClasses, column("tips")]
  },
  "first and last name in place of a number, zeros empty, nothing in quotes": {
    quote: "never",
    separator: "|",
    header: false,
    lineEnd: "\r",
    columns: [
      { of: "user", field: "first" },
      { of: "user", field: "last" },
      ...["hoursRegular", "hoursOver", "hoursDouble", "tips"].map((value) => column(value, { zero: "" }))
    ]
  },
  "widths without separators, a sign before zeros, and a line of totals": {
    separator: "",
    header: false,
    lineEnd: "\n",
    columns: [
      { constant: "D" },
      column("userCode", { width: 8, pad: "0", align: "right" }),
      { of: "user", field: "last", width: 10 },
      column("hours", { width: 9, pad: "0" }),
      column("tips", { width: 10, pad: "0", digits: 4 })
    ],
    trailer: [[
      { constant: "T" },
      column("rows", { width: 8, pad: "0" }),
      column("hours", { width: 19, pad: "0" }),
      column("tips", { width: 10 })
    ]]
  },
  "records of three kinds, with the totals of hours and of money": {
    payCodes,
    header: false,
    preamble: [[{ constant: "10" }, { set: "batch" }, column("periodEnd", { format: "YYMMDD" })]],
    columns: [{ constant: "20" }, column("userId"), column("payCode"), column("quantity")],
    trailer: [[
      { constant: "90" },
      column("rows"),
      column("quantity", { kind: "hours" }),
      column("quantity", { kind: "amount" })
    ], "END"]
  },
  "two columns with one value, and their sum": {
    columns: [column("userCode"), column("tips"), column("hours"), column("tips", { zero: "" })],
    trailer: [[{ constant: "T" }, column("tips"), column("hours")]]
  },
  "a flat markup of constants, without separators": {
    header: false,
    separator: "",
    preamble: ["<hours>"],
    columns: [
      { constant: "<e id=\"" },
      column("userCode"),
      { constant: "\">" },
      column("hours"),
      { constant: "</e>" }
    ],
    trailer: ["</hours>"]
  },
  "umlauts in one byte each": {
    encoding: "windows-1252",
    columns: [column("userCode"), column("userName", { width: 14 }), column("hours"), column("tips")]
  },
  "year and month apart, hours without a sign before the fraction": {
    decimal: "",
    columns: [
      column("periodEnd", { header: "y", format: "YYYY" }),
      column("periodEnd", { header: "m", format: "M" }),
      column("userCode"),
      column("hours", { width: 8 }),
      column("tips", { width: 8, pad: "0" })
    ],
    separator: "\t"
  },
  "cost centres and jobs at a rate, with four digits": {
    by: ["user", "role"],
    payCodes: { hours: "W" },
    columns: [
      { header: "centre", of: "user", field: "centre" },
      column("userCode"),
      column("roleCode"),
      column("payCode"),
      column("rate", { digits: 4 }),
      column("hours", { digits: 4 })
    ]
  },
  "whole minutes in a width, and hours with a colon": {
    hours: "h:mm",
    rounding: "down",
    quote: "always",
    columns: [
      column("userCode", { header: "u", width: 6, align: "right" }),
      column("hours", { header: "h", width: 8, pad: "0" })
    ]
  },
  "a byte order mark, decimal commas and quotes around each cell": {
    encoding: "utf-8-bom",
    quote: "always",
    decimal: ",",
    separator: ",",
    columns: [column("userCode"), column("userName"), column("hours"), column("tips")]
  },
  "jobs by their names, with the totals in front": {
    by: ["role"],
    hours: "seconds",
    header: false,
    separator: "\t",
    preamble: [[{ constant: "SUM" }, column("rows"), column("hours"), column("cost")]],
    columns: [column("roleName"), column("hours"), column("cost")]
  },
  "a row a day in widths, day and month apart": {
    by: ["user", "day"],
    addUp: "row",
    hours: "minutes",
    rounding: "down",
    header: false,
    separator: "",
    lineEnd: "\n",
    columns: [
      column("userId", { width: 6 }),
      column("date", { format: "DD", width: 2 }),
      column("date", { format: "MM", width: 2 }),
      column("hours", { width: 5, pad: "0" })
    ]
  },
  "pay codes in widths, amounts without a sign before the fraction": fixedCodes,
  "each row with the period, and an end without hours": {
    payCodes: { hours: "100" },
    separator: ";",
    header: false,
    columns: [
      column("revisionId"),
      column("periodStart", { format: "D.M.YY" }),
      column("payDate"),
      column("userCode"),
      column("payCode"),
      column("hours", { digits: 4 })
    ],
    trailer: ["-- end --"],
    formulas: "keep"
  },
  "a row a day": {
    by: ["user", "day"],
    addUp: "row",
    columns: [column("userCode"), column("date", { format: "DD.MM.YYYY" }), column("hours"), column("tips")]
  },
  "a row a day whose hours add up to the person": {
    by: ["user", "day"],
    columns: [column("userName"), column("date"), column("hours")]
  },
  "jobs of a person that add up to 40.00 hours": {
    by: ["user", "role"],
    addUp: "user",
    columns: [column("userCode"), column("roleId"), ...threeClasses]
  },
  "hours rounded punch by punch": { hoursOf: "punch", columns: [column("userCode"), column("hours")] }
}

const formOf = (form: Partial<Form>): Form => ({
  ...base,
  columns: [],
  separator: ",",
  decimal: ".",
  header: true,
  preamble: [],
  trailer: [],
  encoding: "utf-8",
  lineEnd: "\r\n",
  quote: "whenNeeded",
  ...form
})

const encoded = (form: Form, options: Omit<PayrollFile.EncodeOptions, "codes">) =>
  Result.getOrThrow(Result.flatMap(
    PayrollFile.decodeMapping(form),
    (mapping) => PayrollFile.encode(mapping, { codes, set: textsOfRun(form), ...options })
  ))

/** The file of some work, less that of the work before, is what the second computation has, and each line what it writes. */
const compared = (form: Form, now: ReadonlyArray<Oracle.Work>, then: ReadonlyArray<Oracle.Work> = []) => {
  const detail = form.hoursOf === "punch" ? "punch" : form.by.includes("day") ? "day" : undefined
  const file = encoded(form, {
    state: stateOf(now, detail),
    previous: then.length === 0 ? Option.none() : Option.some(stateOf(then, detail))
  })
  const [first, last] = [february + 2, february + 8]
  const shared = { revision: "7.1", first, last, payDate: february + 20, set: textsOfRun(form) }
  const rows = Files.read(form, shared, file.bytes)
  const expected = Files.plus(Files.rowsOf(form, told, partsOf(now)), Files.rowsOf(form, told, partsOf(then)), -1)
  assert.strictEqual(Files.textOf(Files.byTexts(rows)), Files.textOf(expected), JSON.stringify(form))
  assert.isTrue(Files.isInOrder(rows, expected), file.text)
  assert.deepStrictEqual(
    file.remainders.map(({ remainder }) => Duration.toMillis(remainder)),
    Files.remaindersOf(form, [...partsOf(now), ...partsOf(then).map(Oracle.negated)], rows)
  )
  return file
}

/** Random work of three people at two jobs, times at and around half a hundredth. */
const randomWork = (random: Prng): ReadonlyArray<Oracle.Work> =>
  work(
    Array.from({ length: random.between(0, 14) }, () => ({
      day: random.between(2, 8),
      user: random.between(501, 503),
      role: random.between(11, 12),
      wage: random.pick([1500, 1650]),
      seconds: random.pick([0, 18, 17, 19, 36, random.between(1, 50_000), 36 * random.between(1, 1300)]),
      tips: random.chance(0.3) ? random.between(0, 5000) : 0
    })).toSorted((one, other) => one.day - other.day)
  )

describe("A form of a payroll file", () => {
  it.each(Object.entries(forms))("has the bytes of an independent writer: %s", (_, form) => {
    for (const each of [punches, later]) assert.isAbove(compared(formOf(form), each).rows, 0)
  })

  it("has what a later week differs by, with a sign before its zeros", () => {
    assert.include(compared(formOf(fixedCodes), later, punches).text, "OT  -0000")
  })

  it("adds up over corrections by any mapping: what is paid at last is the file of the last sums", () => {
    const random = prng(11)
    let rows = 0
    for (let count = 0; count < 300; count++) {
      const form = randomMapping(random, { hasOver: true, hasDouble: true })
      const works = Array.from({ length: 3 }, () => randomWork(random))
      const [first, second, third] = works.map((each) => stateOf(each, "punch"))
      if (first === undefined || second === undefined || third === undefined) continue
      const last = compared(form, works[2] ?? [])
      compared(form, works[2] ?? [], works[1])
      const all = encoded(form, {
        state: first,
        previous: Option.none(),
        also: [{ state: third, previous: Option.some(second) }, { state: second, previous: Option.some(first) }]
      })
      assert.strictEqual(all.text, last.text, JSON.stringify(form))
      assert.strictEqual(encoded(form, { state: third, previous: Option.some(third) }).rows, 0)
      // Only a difference is negative.
      if (/(?:^|[^\w.])-\d/m.test(last.text)) assert.fail(`a negative cell by ${JSON.stringify(form)}: ${last.text}`)
      rows += last.rows
    }
    assert.isAbove(rows, 500)
  })
})

const failed = (input: object, options: Partial<PayrollFile.EncodeOptions> = {}, work = punches) => {
  const detail = Reflect.has(input, "hoursOf") ? "punch" : "day"
  const result = Result.flatMap(
    PayrollFile.decodeMapping({ ...base, ...input }),
    (mapping) =>
      PayrollFile.encode(mapping, { codes, state: stateOf(work, detail), previous: Option.none(), ...options })
  )
  return Result.isFailure(result) ? `${result.failure._tag} ${result.failure.message}` : result.success.text
}

const two = [column("userCode"), column("hours")]
const named = (...columns: ReadonlyArray<object>) => ({ columns: [...columns, column("hours")] })

describe("A form is refused", () => {
  it.each<[what: string, input: object, why: RegExp]>([
    [
      "with two sources",
      { columns: [...two, { header: "x", value: "tips", constant: "x" }] },
      /columns\[2\]\.constant: .*one source/
    ],
    ["without a source", { columns: [...two, { header: "x" }] }, /columns\[2\]: it has no source/],
    ["without a title that is shown", { columns: [...two, { value: "tips" }] }, /columns\[2\]\.header/],
    [
      "with a key of the mapping in a column",
      { columns: [...two, column("tips", { quote: "never" })] },
      /quote belongs to the mapping/
    ],
    ["with a key of a column in the mapping", { columns: two, width: 3 }, /width belongs to a column/],
    ["with a number for a text", { columns: [...two, { header: "x", constant: 2026 }] }, /write it in quotes, "2026"/],
    [
      "with a pad of no width",
      { columns: [column("userCode", { pad: "0" }), column("hours")] },
      /columns\[0\]\.pad: pad goes with width/
    ],
    [
      "with zeros behind",
      { columns: [column("userCode", { pad: "0", width: 9, align: "left" }), column("hours")] },
      /columns\[0\]\.pad/
    ],
    [
      "with zeros behind, where a text stands by itself",
      { columns: [column("userCode", { pad: "0", width: 9 }), column("hours")] },
      /columns\[0\]\.pad: zeros behind a text .*"align": "right"/
    ],
    ["with a field of a pay code that every object has", {
      payCodes: { hours: "1" },
      columns: [column("userCode"), column("payCode"), { header: "x", of: "payCode", field: "toString" }, two[1]]
    }, /payCodes\.hours: it has no toString/],
    [
      "with digits of minutes",
      { hours: "minutes", columns: [two[0], column("hours", { digits: 4 })] },
      /columns\[1\]\.digits/
    ],
    [
      "with fewer digits than hours have",
      { hours: "decimal:4", columns: [two[0], column("hours", { digits: 2 })] },
      /columns\[1\]\.digits/
    ],
    [
      "with an empty zero of a text",
      { columns: [column("userCode", { zero: "" }), column("hours")] },
      /columns\[0\]\.zero/
    ],
    ["with two values side by side", {
      separator: "",
      columns: [column("userCode"), { header: "", constant: "" }, column("hours")]
    }, /columns\[2\]\.width/],
    ["with an open fraction", { decimal: "", columns: two }, /columns\[1\]\.width/],
    ["with pay codes that one column prints alike", {
      payCodes: { regular: { code: "1", key: "A" }, over: { code: "2", key: "A" }, double: { code: "3", key: "B" } },
      columns: [column("userCode"), { header: "k", of: "payCode", field: "key" }, column("hours")]
    }, /payCodes\.over: no column tells it from regular/],
    ["with pay codes that zeros make equal", {
      payCodes: { regular: "1", over: "01", double: "2" },
      columns: [column("userCode"), column("payCode", { width: 2, pad: "0", align: "right" }), column("hours")]
    }, /payCodes\.over: no column tells it from regular/],
    ["with a pay code that lacks a field", {
      payCodes: { hours: { code: "1", key: "A" }, tips: "2" },
      columns: [column("userCode"), column("payCode"), { header: "k", of: "payCode", field: "key" }, column("quantity")]
    }, /payCodes\.tips: it has no key/],
    [
      "with a field that no code has",
      named({ header: "x", of: "user", field: "team" }),
      /columns\[0\]\.field: .*they have first, last, centre/
    ],
    [
      "without a text of the run",
      named(column("userCode"), { header: "x", set: "batch" }),
      /columns\[1\]\.set: no text batch is given/
    ],
    [
      "without a text of the run whose name every object has",
      named(column("userCode"), { header: "x", set: "toString" }),
      /columns\[1\]\.set: no text toString is given/
    ],
    ["with a date that no row has", named(column("userCode"), column("date")), /columns\[1\]\.value: date needs day/],
    ["by day without the date", { by: ["user", "day"], columns: two }, /by\[1\]: no column has the date/],
    ["with days of one text", {
      by: ["user", "day"],
      columns: [column("userCode"), column("date", { format: "MM" }), column("hours")]
    }, /by\[1\]: day 2026-03-02 and .* have equal texts/],
    [
      "with a sum of users without users",
      { addUp: "user", by: ["role"], columns: [column("roleId"), column("hours")] },
      /addUp/
    ],
    ["with punches that add up to a person", { addUp: "user", hoursOf: "punch", columns: two }, /hoursOf/],
    ["with punches by day that add up by default", {
      by: ["user", "day"],
      hoursOf: "punch",
      columns: [...two, column("date")]
    }, /hoursOf: .*"addUp": "row"/],
    [
      "with a total of no column",
      { columns: two, trailer: [[column("tips")]] },
      /trailer\[0\]\[0\]\.value: no column has tips/
    ],
    ["with a total of hours and money", {
      payCodes: { hours: "H", tips: "T" },
      columns: [column("userCode"), column("payCode"), column("quantity")],
      trailer: [[column("quantity")]]
    }, /trailer\[0\]\[0\]\.value: hours and money/],
    [
      "with a text of one row in a line",
      { columns: two, trailer: [[column("userCode")]] },
      /trailer\[0\]\[0\]: userCode is of one row/
    ],
    [
      "with a format of three months",
      named(column("userCode"), column("periodEnd", { format: "MMM" })),
      /columns\[1\]\.format/
    ],
    ["with a code that is longer than its width", {
      columns: [column("userCode", { header: "u", width: 3 }), column("hours")]
    }, /UnfitCell row 1, column 1, "0501": .* 4 characters/],
    [
      "with a title that is longer than its width",
      { columns: [column("userCode", { width: 4 }), column("hours")] },
      /UnfitCell the titles, column 1/
    ],
    [
      "with the separator in a bare text",
      { quote: "never", columns: [column("userName"), column("hours")] },
      /UnfitCell row 1, column 1, "Lopez, Maria": it has the separator/
    ]
  ])("%s", (_, input, why) => assert.match(failed(input), why))

  it("for people of one name, who would be one row, also where only the sums before have one of them", () => {
    const getName = (_: string, id: number) => id === 501 ? "Ana Lee" : id === 503 ? "Ana Lee" : "Bo"
    const input = named(column("userName"))
    const same = /^MappingError by\[0\]: user 501 and 503 have equal texts, "Ana Lee"/
    assert.match(failed(input, { codes: { ...codes, getName } }), same)
    assert.match(
      failed(input, { codes: { ...codes, getName }, previous: Option.some(stateOf(punches)) }, punches.slice(0, 3)),
      same
    )
    assert.notMatch(failed(named(column("userName"), column("userId")), { codes: { ...codes, getName } }), /Error/)
    assert.strictEqual(
      failed(input, { codes: { ...codes, getName: (_, id) => id === 501 ? "Ana" : undefined } }),
      "MissingCodes no name for user 502, user 503"
    )
  })

  it("for a department whose name is blank, as that of no department", () => {
    const state = stateOf(punches)
    const rows = state.rows.map((row, at) => ({
      ...row,
      departmentId: at === 0 ? Option.some(DepartmentId.make(21)) : row.departmentId
    }))
    const input = { by: ["department"], columns: [column("departmentName", { width: 15 }), column("hours")] }
    const of = (name: string) => failed(input, { state: { ...state, rows }, codes: { ...codes, getName: () => name } })
    assert.strictEqual(of(" "), "MissingCodes no name for department 21")
    assert.notMatch(of("Bar"), /Error/)
  })

  it("for a field that is required and missing; without that, its cell is empty and it is named", () => {
    const field = { header: "x", of: "user", field: "first" }
    const without = { codes: { ...codes, getField: () => undefined } }
    const blank = { codes: { ...codes, getField: () => " " } }
    const all = "MissingCodes no first for user 501, user 502, user 503"
    for (const given of [without, blank]) {
      assert.strictEqual(failed(named(column("userCode"), { ...field, required: true }), given), all)
    }
    assert.include(failed(named(column("userCode"), field), without), "0501,,42.51")
    assert.strictEqual(failed(named(field), without), all)
  })

  it("for a text of the run that no column asks for, and for one that a spreadsheet could run", () => {
    const input = named(column("userCode"), { header: "x", set: "batch" })
    assert.match(failed({ columns: two }, { set: { batch: "1" } }), /the text batch is given, and none asks for it/)
    assert.match(failed(input, { set: { batch: "=1" } }), /FormulaText set\.batch/)
    assert.match(failed({ columns: two, trailer: [[{ set: "batch" }]] }, { set: { batch: "=1" } }), /FormulaText set/)
    assert.include(failed(input, { set: { batch: "T04" } }), "0501,T04,42.51")
  })

  it("for a text that a spreadsheet could run wherever a cell stands, in each quote, separator and encoding, as it is printed", () => {
    const places = [
      { columns: [...two, { header: "x", set: "batch" }] },
      ...["preamble", "trailer"].map((name) => ({ columns: two, [name]: [[{ set: "batch" }]] }))
    ]
    for (const quote of ["whenNeeded", "always", "texts", "never"]) {
      for (const encoding of ["utf-8", "utf-8-bom", "windows-1252"]) {
        for (const separator of [",", ";", "\t", "|"]) {
          for (const place of places) {
            const input = { ...place, encoding, quote, separator }
            for (const formulas of [{}, { formulas: "refuse" }]) {
              const refused = failed({ ...input, ...formulas }, { set: { batch: "=1+1" } })
              assert.match(refused, /^FormulaText set\.batch/, JSON.stringify(input))
            }
            const kept = failed({ ...input, formulas: "keep" }, { set: { batch: "=1+1" } })
            assert.include(kept, "=1+1", JSON.stringify(input))
          }
        }
      }
    }
    // The Greek question mark is a semicolon in NFC.
    const composed = { set: { batch: "a\u037E=1" } }
    for (const place of places) {
      assert.match(failed({ ...place, encoding: "windows-1252" }, composed), /^FormulaText set\.batch/)
      assert.include(failed(place, composed), "a\u037E=1")
    }
    for (const constant of ["\r\n=1", "\t@A", "E\n+1", " \r\n -1"]) {
      assert.match(failed({ columns: [...two, { header: "x", constant }] }), /^FormulaText columns\[2\]\.constant/)
    }
    const payCode = (tips: object | string) =>
      failed({
        payCodes: { hours: { code: "H", key: "1" }, tips },
        columns: [
          column("userCode"),
          column("payCode"),
          { header: "k", of: "payCode", field: "key" },
          column("quantity")
        ]
      })
    assert.match(payCode({ code: "-T", key: "2" }), /^FormulaText payCodes\.tips/)
    assert.match(payCode({ code: "T", key: "@2" }), /^FormulaText payCodes\.tips/)
    assert.include(payCode({ code: "T", key: "2" }), "0501,T,2,12.55")
  })

  it("for a text in a line before or behind the rows that does not fit, as in a row", () => {
    for (const name of ["preamble", "trailer"]) {
      const line = (text: string, cell: object, input: object = {}) =>
        failed({ columns: two, [name]: [[{ constant: "A" }, { set: "batch", ...cell }]], ...input }, {
          set: { batch: text }
        })
      const why = (detail: string) => new RegExp(`^UnfitCell ${name}\\[0\\], column 2, .*${detail}`)
      assert.match(line("T04", { width: 2 }), why("3 characters"))
      assert.match(line("T,4", {}, { quote: "never" }), why("the separator"))
      assert.match(line("T\nab", {}, { quote: "never", lineEnd: "\r" }), why("the end of a line"))
      assert.match(line("Ł", {}, { encoding: "windows-1252" }), why("windows-1252"))
      assert.include(line("T,4", {}), `A,"T,4"`)
    }
  })

  it("for a sign of XML, JSON or the constants in a text, if constants make the form, and takes an escape", () => {
    const xml = (text: string, mark = "\"", input: object = {}) =>
      failed({
        separator: "",
        header: false,
        columns: [
          { constant: `<e n=${mark}` },
          column("userCode", { width: 4 }),
          { constant: `${mark}>` },
          { of: "user", field: "first" },
          { constant: "</e>" },
          column("hours", { width: 6 })
        ],
        ...input
      }, { codes: { ...codes, getField: () => text }, set: { ...Reflect.has(input, "trailer") && { batch: text } } })
    for (const sign of ["&", "<", ">", "\""]) {
      for (const text of [`R${sign}D`, sign, `&amp;${sign}`, `${sign}amp`]) {
        assert.include(
          xml(text),
          `UnfitCell row 1, column 4, ${JSON.stringify(text)}: it has ${sign}, and the constants`
        )
      }
      assert.match(xml(`R${sign}D`, "\"", { quote: "never" }), /^UnfitCell row 1, column 4/)
      assert.match(
        xml(`R${sign}D`, "\"", {
          columns: [column("userCode", { width: 6 }), column("hours", { width: 6 })],
          trailer: [[{ constant: "<" }, { set: "batch" }]]
        }),
        /^UnfitCell trailer\[0\], column 2/
      )
    }
    assert.include(xml("R&amp;D &#38;&#x3C;"), `<e n="0501">R&amp;D &#38;&#x3C;</e>`)
    assert.include(xml("O'Brien"), ">O'Brien<")
    assert.match(xml("O'Brien", "'"), /it has ', which the constants use as quotes/)

    const plain = (text: string, of: object, mark = "\"") =>
      failed({
        separator: "",
        header: false,
        columns: [
          { constant: `{${mark}n${mark}:` },
          { of: "user", field: "first", ...of },
          column("userCode", { width: 4 }),
          {
            constant: "}"
          },
          column("hours", { width: 6 })
        ]
      }, { codes: { ...codes, getField: () => text } })
    // Without a width, only the quotes of the constants part it.
    for (const text of ["a\"b", "a\\", "SHOP\\nina", "a\tb", "\\\\\""]) {
      assert.match(
        plain(text, {}),
        /^UnfitCell row 1, column 2, .*: it has ["\\\t], and the constants are of JSON/u,
        text
      )
    }
    assert.include(plain("R\\\\D \\\" it's", {}), "{\"n\":R\\\\D \\\" it's0501}")
    assert.include(plain("a\"b & <c>", { width: 9 }), `{"n":a"b & <c>0501}`)
    assert.include(plain("a\"b & <c>", {}, ""), `{n:a"b & <c>0501}`)
    const amounts = (mark: string) =>
      failed({
        ...fixedCodes,
        decimal: ".",
        columns: [
          { constant: "{\"n\":" },
          column("userId"),
          { constant: `,"c":"` },
          column("payCode"),
          { constant: `","a":${mark}` },
          column("amount"),
          { constant: `${mark}}` },
          column("hours", { width: 6 })
        ]
      })
    assert.match(
      amounts(""),
      /^UnfitCell row 1, column 6, "": it is empty, and JSON has no empty number.* \(user 501\)$/
    )
    assert.include(amounts("\""), `{"n":501,"c":"REG","a":""} 40.00`)
    assert.include(amounts("\"$").replaceAll("$\"}", "}"), `"c":"REG","a":"$`)
    // Elsewhere the constant behind a cell ends it: not a date, which has its length, and no blank between words.
    const parted = (sign: string, ...cells: ReadonlyArray<object>) =>
      failed({
        separator: "",
        header: false,
        decimal: ",",
        columns: [...cells, column("userCode")].flatMap((cell) => [cell, { constant: sign }])
      })
    for (const sign of [",", "^", ", "]) {
      const name = parted(sign, column("userName"), column("hours", { width: 6 }))
      if (sign === "^") assert.include(name, "Lopez, Maria^ 42,51^0501^")
      else assert.match(
          name,
          /UnfitCell row 1, column 1, "Lopez, Maria": it has the constant behind it, ",.*\(user 501\)$/
        )
    }
    assert.match(parted(",", column("hours")), /row 1, column 1, "42,51": it has the constant behind it, ","/)
    assert.include(
      parted("/", column("periodEnd", { format: "YYYY/MM/DD" }), column("hours")),
      "2026/03/08/42,51/0501/"
    )
    assert.include(parted(" ", column("userName"), column("hours")), "Lopez, Maria 42,51 0501 ")
    assert.include(parted("1", column("hours")), "42,51105011")
    // An apostrophe within a word of the constants is no quote, and signs of another line make no form.
    const who = [column("userCode", { width: 5 }), column("userName")]
    const worded = { columns: [{ constant: "user's name: " }, ...who, { constant: "." }, column("hours")] }
    const other = {
      columns: [column("userCode", { width: 5 }), column("userName", { width: 12 }), column("hours", { width: 6 })],
      trailer: [[{ constant: "<END>" }, { value: "rows", width: 3 }]]
    }
    const ofName = (name: string, input: object) =>
      failed({ separator: "", header: false, ...input }, { codes: { ...codes, getName: () => name } })
    assert.include(ofName("O'Brien", worded), "user's name: 0501 O'Brien.")
    assert.match(ofName("O'Brien", { columns: [{ constant: "'" }, ...worded.columns.slice(1)] }), /it has ', which/)
    assert.include(ofName("Smith & Co", other), "Smith & Co  ")
    for (const sign of ["<>", "< ", "<-"]) {
      const parted = {
        columns: [column("userCode"), { constant: sign }, column("userName"), { constant: sign }, column("hours")]
      }
      assert.include(ofName("O\"Neil & Co", parted), `${sign}O"Neil & Co${sign}`)
    }
  })

  it("for a character that the encoding lacks, and takes one in two parts as one", () => {
    const name = (text: string) => ({ codes: { ...codes, getName: () => text } })
    const input = { ...named(column("userCode"), column("userName", { width: 8 })), encoding: "windows-1252" }
    assert.match(failed(input, name("Łukasz")), /UnfitCell row 1, column 2, .*windows-1252 has no "Ł" \(user 501\)/)
    assert.match(failed(input, name("a\u0081")), /windows-1252 has no/)
    const byDay = { by: ["day"], columns: [column("date"), column("hours", { header: "h", width: 2 })] }
    assert.match(failed(byDay), /row 1, column 2, .* the width is 2$/)
    assert.include(failed(input, name("Mu\u0308ller")), "0501,Müller  ,")
    assert.include(failed(input, name("€ Šimek")), "0501,€ Šimek ,")
  })
  it("for a separator or a formula that is one only as it is printed", () => {
    const name = (text: string) => ({ codes: { ...codes, getName: () => text } })
    const input = (more: object) => ({
      ...named(column("userCode"), column("userName")),
      encoding: "windows-1252",
      separator: ";",
      ...more
    })
    // The Greek question mark is printed as a semicolon: behind it a cell begins.
    const question = "Ana\u037E=1"
    assert.match(failed(input({}), name(question)), /^FormulaText the name of user 501/)
    assert.match(failed(input({ encoding: "utf-8" }), name(question)), /;Ana\u037E=1;/)
    assert.match(
      failed(input({ preamble: [question] }), name("Ana")),
      /^FormulaText preamble\[0\]/
    )
    // Who separates by commas begins a cell behind one, unless the file does so too and has quotes around it.
    for (const separator of [";", "\t", "|", ""]) {
      const columns = [
        column("userCode", { width: 5 }),
        column("userName", { width: 9 }),
        column("hours", { width: 6 })
      ]
      const form = { separator, columns, header: false }
      assert.match(failed(form, name("Ana,=1")), /^FormulaText the name of user 501/, separator)
      assert.match(failed({ ...form, trailer: ["a, -1"] }, name("Ana")), /^FormulaText trailer\[0\]/, separator)
      assert.include(failed({ ...form, formulas: "keep" }, name("Ana,=1")), "Ana,=1", separator)
      assert.include(failed(form, name("Ana, B")), "Ana, B", separator)
    }
    assert.include(failed(input({ separator: "," }), name("Ana,=1")), `"Ana,=1"`)
    const keep = (quote: string) => failed(input({ quote, formulas: "keep" }), name(question))
    assert.match(keep("never"), /^UnfitCell row 1, column 2, "Ana;=1": it has the separator/)
    assert.include(keep("whenNeeded"), `0501;"Ana;=1";`)
    assert.match(failed(input({ quote: "never" }), name("\uFF1D1")), /^FormulaText/)
    assert.match(failed(input({}), name("=\u0338")), /^UnfitCell .*windows-1252 has no "≠"/)
    assert.include(failed(input({ quote: "never" }), name("\u212Bse \u1FEF")), "0501;\u00C5se `;")
  })
})
