import { assert, describe, it } from "@effect/vitest"
import { Duration, Option, Result, Schema } from "effect"
import { BusinessDate, Cents, DepartmentId, LocationId, RoleId, UserId } from "../../src/Ids.ts"
import * as PayrollFile from "../../src/payroll/PayrollFile.ts"
import * as Mappings from "../support/mappings.ts"

interface RowParts {
  readonly user: number
  readonly location?: number
  readonly department?: number
  readonly role?: number
  readonly seconds: number
  readonly cost?: number
  readonly tips?: number
  readonly punches?: number
  readonly wage?: number
  readonly over?: number
  readonly double?: number
}

const time = (seconds: number | undefined) => Option.map(Option.fromUndefinedOr(seconds), Duration.seconds)

const row = (
  { cost = 0, department, double, location = 301, over, punches = 1, role = 11, seconds, tips = 0, user, wage = 1500 }:
    RowParts
): PayrollFile.PayrollRow => ({
  userId: UserId.make(user),
  locationId: LocationId.make(location),
  departmentId: Option.map(Option.fromUndefinedOr(department), (id) => DepartmentId.make(id)),
  roleId: RoleId.make(role),
  hourlyWage: Cents.make(wage),
  punches,
  net: Duration.seconds(seconds),
  over: time(over),
  double: time(double),
  cost: Cents.make(cost),
  tips: Cents.make(tips)
})

const fortnight = { first: BusinessDate.make("2026-03-02"), last: BusinessDate.make("2026-03-15") }

/** 46:00:17 of user 501 at two locations, 6:00:17 of it above 40 a week; 38:30 of 502; only tips of 503. */
const state: PayrollFile.PayrollSums = {
  ...fortnight,
  id: "7.2",
  payDate: BusinessDate.make("2026-03-20"),
  rows: [
    row({ user: 501, seconds: 108_017, over: 21_617, cost: 60_009, tips: 1250, punches: 4 }),
    row({ user: 501, location: 302, role: 12, over: 0, seconds: 57_600, cost: 40_000, punches: 2 }),
    row({ user: 502, department: 21, over: 0, seconds: 138_600, cost: 57_750, tips: -100, punches: 5 }),
    row({ user: 503, seconds: 0, over: 0, tips: 500 })
  ]
}

const codeTable: Readonly<Record<string, string>> = {
  "user 501": "0017",
  "user 502": "0018",
  "user 503": "0019",
  "location 301": "NY",
  "location 302": "LA",
  "department 21": "BAR",
  "role 11": "cook",
  "role 12": "host"
}

const nameTable: Readonly<Record<string, string>> = { "user 501": "Lopez, Maria", "user 502": "Dana \"D\" Levi" }

const codes: PayrollFile.PayrollCodes = {
  getCode: (kind, id) => codeTable[`${kind} ${id}`],
  getName: (kind, id) => nameTable[`${kind} ${id}`]
}

const columns = (...values: ReadonlyArray<string>) => values.map((value) => ({ header: value, value }))

const mappingOf = (input: unknown): PayrollFile.Mapping => Result.getOrThrow(PayrollFile.decodeMapping(input))

const fileOf = (mapping: unknown, sums = state, before?: PayrollFile.PayrollSums, table = codes) =>
  Result.getOrThrow(
    PayrollFile.encode(mappingOf(mapping), { codes: table, state: sums, previous: Option.fromUndefinedOr(before) })
  )

/** With a column that is the same in each row. */
const byCode = { ...Mappings.byCode, columns: [...Mappings.byCode.columns, { header: "Batch", constant: "W12" }] }

/** Hours and cost of each person in each role, for a spreadsheet of a country with decimal commas. */
const byRole = {
  v: 1,
  by: ["user", "role"],
  hours: "h:mm",
  rounding: "down",
  columns: [
    { header: "Nummer", value: "userCode" },
    { header: "Name", value: "userName" },
    { header: "Rolle", value: "roleCode" },
    { header: "Stunden", value: "hours" },
    { header: "Kosten", value: "cost" },
    { header: "Von", value: "periodStart", format: "DD.MM.YYYY" },
    { header: "Zahltag", value: "payDate", format: "YYYYMMDD" }
  ],
  separator: ";",
  decimal: ",",
  preamble: ["[Lohn]", "Version 3"],
  encoding: "utf-8-bom",
  quote: "always"
}

/** What each cost centre costs, without titles. */
const byCentre = {
  v: 1,
  by: ["location", "department"],
  hours: "minutes",
  rounding: "up",
  columns: [
    { header: "revision", value: "revisionId" },
    { header: "location", value: "locationCode" },
    { header: "department", value: "departmentId" },
    { header: "minutes", value: "hours" },
    { header: "cost", value: "cost" },
    { header: "tips", value: "tips" },
    { header: "punches", value: "punches" }
  ],
  separator: "\t",
  header: false,
  lineEnd: "\n"
}

describe("A payroll file", () => {
  it("has a row for each code of a person, with hours or an amount", () => {
    // 46.0047 h are 46.00, of which 6.0047 are 6.00; a row of zeros is left out.
    assert.strictEqual(
      fileOf(byCode).text,
      [
        "Employee,Code,Hours,Amount,End,Batch",
        "0017,REG,40.00,,03/15/2026,W12",
        "0017,OT,6.00,,03/15/2026,W12",
        "0017,TIPS,,12.50,03/15/2026,W12",
        "0018,REG,38.50,,03/15/2026,W12",
        "0018,TIPS,,-1.00,03/15/2026,W12",
        "0019,TIPS,,5.00,03/15/2026,W12",
        ""
      ].join("\r\n")
    )
  })

  it("has a row for each person and role, in quotes, with decimal commas and lines before the titles", () => {
    assert.strictEqual(
      fileOf(byRole).text,
      "\uFEFF" + [
        "[Lohn]",
        "Version 3",
        "\"Nummer\";\"Name\";\"Rolle\";\"Stunden\";\"Kosten\";\"Von\";\"Zahltag\"",
        "\"0017\";\"Lopez, Maria\";\"cook\";\"30:00\";\"600,09\";\"02.03.2026\";\"20260320\"",
        "\"0017\";\"Lopez, Maria\";\"host\";\"16:00\";\"400,00\";\"02.03.2026\";\"20260320\"",
        "\"0018\";\"Dana \"\"D\"\" Levi\";\"cook\";\"38:30\";\"577,50\";\"02.03.2026\";\"20260320\"",
        ""
      ].join("\r\n")
    )
  })

  it("has a row for each cost centre, the punches without a department last", () => {
    assert.strictEqual(
      fileOf(byCentre).text,
      [
        "7.2\tNY\t21\t2310\t577.50\t-1.00\t5",
        "7.2\tNY\t\t1801\t600.09\t17.50\t5",
        "7.2\tLA\t\t960\t400.00\t0.00\t2",
        ""
      ]
        .join(
          "\n"
        )
    )
  })

  it("says how much its rounding has left out, and how many rows it has", () => {
    const { remainders, rows } = fileOf(byCode)

    // 17 s of all hours, whatever their code: 46.0047 h are printed as 46.00.
    assert.deepStrictEqual(remainders, [{ header: "Hours", remainder: Duration.seconds(17) }])
    assert.strictEqual(rows, 6)
    // 17 s are a whole minute.
    assert.deepStrictEqual(fileOf(byCentre).remainders, [{ header: "minutes", remainder: Duration.seconds(-43) }])
  })

  it("sums rows of one employee code before it rounds them, and always names the users of a code and their rows", () => {
    const one = { getCode: (kind: string, id: number) => kind === "user" ? "E1" : codeTable[`${kind} ${id}`] }
    const two: PayrollFile.PayrollSums = {
      ...fortnight,
      // 0.0042 h each: none if it is rounded alone.
      rows: [row({ user: 1, seconds: 15, over: 0 }), row({ user: 2, seconds: 15, over: 0 })]
    }
    const { sharedCodes, text } = fileOf(byCode, two, undefined, one)

    assert.strictEqual(text.split("\r\n")[1], "E1,REG,0.01,,03/15/2026,W12")
    const shared = { code: "E1", userIds: [UserId.make(1), UserId.make(2)], rows: [1] }
    assert.deepStrictEqual(sharedCodes, [shared])
    assert.deepStrictEqual(fileOf(byCode).sharedCodes, [])
    assert.deepStrictEqual(
      fileOf({ ...byCode, payCodes: { hours: "REG", tips: "TIPS" } }, two, undefined, one).sharedCodes,
      [shared]
    )
    // A correction of neither: they still are one person for the payroll program.
    assert.deepStrictEqual(fileOf(byCode, two, two, one).sharedCodes, [{ ...shared, rows: [] }])
  })
})

describe("The payroll file of a correction", () => {
  const plain = {
    v: 1,
    by: ["user"],
    hours: "decimal:2",
    rounding: "halfUp",
    columns: [{ header: "user", value: "userCode" }, { header: "hours", value: "hours" }, {
      header: "tips",
      value: "tips"
    }],
    header: false,
    lineEnd: "\n"
  }
  const sums = (...rows: ReadonlyArray<RowParts>): PayrollFile.PayrollSums => ({
    ...fortnight,
    rows: rows.map((each) => row({ over: 0, ...each }))
  })

  it("is the file of its sums less that of the sums before, without rows of zeros", () => {
    const before = sums({ user: 501, seconds: 36_000, tips: 100 }, { user: 502, seconds: 3600 }, {
      user: 503,
      seconds: 60
    })
    const now = sums({ user: 501, seconds: 37_800, tips: 50 }, { user: 503, seconds: 60 })

    assert.strictEqual(fileOf(plain, now, before).text, "0017,0.50,-0.50\n0018,-1.00,0.00\n")
    assert.deepStrictEqual([fileOf(plain, now, now).text, fileOf(plain, now, now).rows], ["", 0])
  })

  it("names the hours, the cost and the tips that no column has, also if they add up to zero", () => {
    const omitted = (values: ReadonlyArray<string>, before?: PayrollFile.PayrollSums) =>
      fileOf({ ...plain, columns: columns("userCode", ...values) }, state, before).omitted.map((each) => [
        each.amount,
        typeof each.sum === "number" ? each.sum : Duration.toSeconds(each.sum),
        each.people
      ])
    const hours = ["hours", 304_217, 2]
    const [cost, tips] = [["cost", 157_759, 2], ["tips", 1650, 3]]

    assert.deepStrictEqual(omitted(["hours"]), [cost, tips])
    assert.deepStrictEqual(omitted(["hoursOver"]), [hours, cost, tips])
    assert.deepStrictEqual(omitted(["cost", "hours", "tips"]), [])
    assert.deepStrictEqual(omitted(["punches"], state), [])
    assert.deepStrictEqual(
      fileOf({ ...byCode, payCodes: { hours: "H", tips: "T" } }).omitted.map(({ amount }) => amount),
      [
        "cost"
      ]
    )
    // The tips of one person are those of another now.
    const moved = sums({ user: 501, seconds: 60, tips: 100 }, { user: 502, seconds: 60 })
    const now = sums({ user: 501, seconds: 60 }, { user: 502, seconds: 60, tips: 100 })
    const file = fileOf({ ...plain, columns: columns("userCode", "hours", "cost") }, now, moved)
    assert.deepStrictEqual([file.rows, file.omitted], [0, [{ amount: "tips", sum: Cents.make(0), people: 2 }]])
  })

  it("has the texts of the newer sums, and a person whose excess disappears", () => {
    const before = { ...state, payDate: BusinessDate.make("2026-03-06") }
    const now = { ...state, rows: state.rows.map((each) => ({ ...each, over: Option.some(Duration.zero) })) }

    assert.strictEqual(
      fileOf({ ...byCode, header: false, lineEnd: "\n" }, now, before).text,
      "0017,REG,6.00,,03/15/2026,W12\n0017,OT,-6.00,,03/15/2026,W12\n"
    )
  })

  it("has a code where the newer sums place it, also if another person had it", () => {
    const getCode = (_: string, id: number) => id === 502 ? "E2" : "E1"
    const now = sums({ user: 502, seconds: 3600 }, { user: 503, seconds: 7200 })
    const before = sums({ user: 501, seconds: 3600 })

    assert.strictEqual(fileOf(plain, now, before, { getCode }).text, "E2,1.00,0.00\nE1,1.00,0.00\n")
  })
})

const failureOf = (mapping: unknown, sums = state, table = codes) => {
  const result = Result.flatMap(
    PayrollFile.decodeMapping(mapping),
    (each) => PayrollFile.encode(each, { codes: table, state: sums, previous: Option.none() })
  )
  return Result.isFailure(result) ? result.failure : undefined
}

const { payCodes: _codes, ...noCodes } = byCode
const none = { ...state, rows: state.rows.map((each) => ({ ...each, over: Option.none() })) }

describe("A mapping is refused", () => {
  it.each<[what: string, mapping: unknown, path: string, sums?: PayrollFile.PayrollSums]>([
    ["for a key that none has", { ...byCode, seperator: ";" }, "seperator"],
    ["of another version", { ...byCode, v: 2 }, "v"],
    ["without columns", { ...byCode, columns: [] }, "columns[0]"],
    ["for a value that no row has", { ...byCode, columns: columns("userCode", "salary") }, "columns[1].value"],
    [
      "for another date format",
      { ...byCode, columns: [{ header: "d", value: "payDate", format: "D. MMM" }] },
      "columns[0].format"
    ],
    ["for a line that breaks", { ...byCode, preamble: ["a\nb"] }, "preamble[0]"],
    ["for a key of by that is there twice", { ...byRole, by: ["user", "role", "user"] }, "by[2]"],
    [
      "for a column that its by does not have",
      { ...byCode, columns: columns("userCode", "roleCode", "hours") },
      "columns[1].value"
    ],
    [
      "for a by that no column shows",
      { ...noCodes, by: ["user", "role"], columns: columns("userId", "hours") },
      "by[1]"
    ],
    ["without a number", { ...noCodes, columns: columns("userCode") }, "columns"],
    [
      "for a format of what is no date",
      { ...noCodes, columns: [{ header: "h", value: "hours", format: "YYYYMMDD" }] },
      "columns[0].format"
    ],
    ["for regular hours without those over", { ...noCodes, columns: columns("userId", "hoursRegular") }, "columns"],
    [
      "for a pay code without codes",
      { ...noCodes, columns: columns("userId", "payCode", "hours") },
      "columns[1].value"
    ],
    ["for an amount without codes", { ...noCodes, columns: columns("userId", "amount") }, "columns[1].value"],
    [
      "for tips beside codes",
      { ...byCode, columns: columns("userId", "payCode", "hours", "amount", "tips") },
      "columns[4].value"
    ],
    ["for regular alone", { ...byCode, payCodes: { regular: "REG" } }, "payCodes"],
    ["for over alone", { ...byCode, payCodes: { over: "OT", tips: "T" } }, "payCodes"],
    ["for double alone", { ...byCode, payCodes: { hours: "H", double: "DT" } }, "payCodes"],
    ["for hours beside regular and over", { ...byCode, payCodes: { hours: "A", regular: "B", over: "C" } }, "payCodes"],
    ["for equal codes", { ...byCode, payCodes: { regular: "A", over: "A" } }, "payCodes.over"],
    ["for an empty code", { ...byCode, payCodes: { hours: "" } }, "payCodes.hours"],
    ["without a code", { ...byCode, payCodes: {} }, "payCodes"],
    ["for codes that no column shows", { ...byCode, columns: columns("userId", "hours", "amount") }, "columns"],
    ["for hours that no column shows", { ...byCode, columns: columns("userId", "payCode", "amount") }, "columns"],
    ["for tips that no column shows", { ...byCode, columns: columns("userId", "payCode", "hours") }, "columns"],
    ["for a separator that is the decimal sign", { ...byCode, decimal: "," }, "separator"],
    ["for classes without a threshold", byCode, "payCodes.regular", none],
    [
      "for hours over no threshold",
      { ...noCodes, columns: columns("userId", "hoursOver") },
      "columns[1].value",
      none
    ],
    [
      "for the class double without its threshold",
      { ...noCodes, columns: columns("userId", "hoursDouble") },
      "columns[1].value",
      { ...state, rows: [row({ user: 501, seconds: 9, over: 1 })] }
    ],
    [
      "for the class double that it does not show",
      byCode,
      "payCodes.regular",
      { ...state, rows: [row({ user: 501, seconds: 9, over: 1, double: 1 })] }
    ],
    [
      "for a pay date that is not given",
      { ...noCodes, columns: columns("userId", "payDate", "hours") },
      "columns[1].value",
      { ...state, payDate: undefined }
    ]
  ])("%s", (_, mapping, path, sums) => {
    const error = failureOf(mapping, sums)

    assert.strictEqual(error?._tag, "MappingError")
    assert.strictEqual(error?._tag === "MappingError" ? error.path : "", path)
    assert.isTrue(error?.message.startsWith(`${path}: `))
  })

  it("also by encode, which may be given one that was not decoded", () => {
    const wrong = { ...mappingOf(byCode), decimal: "," } as const
    const result = PayrollFile.encode(wrong, { codes, state, previous: Option.none() })

    assert.strictEqual(
      Result.isFailure(result) ? result.failure.message : "",
      `separator: it is the decimal sign too: the numbers need "quote": "always"`
    )
  })

  it("has its defaults written out or not", () => {
    const written = {
      ...byCode,
      separator: ",",
      decimal: ".",
      header: true,
      preamble: [],
      encoding: "utf-8",
      lineEnd: "\r\n",
      quote: "whenNeeded",
      formulas: "refuse"
    }

    assert.strictEqual(fileOf(written).text, fileOf(byCode).text)
    assert.deepStrictEqual<unknown>(Schema.encodeSync(PayrollFile.Mapping)(mappingOf(written)), written)
  })
})

describe("A payroll file fails", () => {
  it("with all ids that have no code, also of people who are only in the sums before", () => {
    const few: PayrollFile.PayrollCodes = { getCode: (kind, id) => kind === "user" && id === 502 ? "0018" : undefined }
    const error = failureOf(byCode, state, few)
    const gone = PayrollFile.encode(mappingOf(byCode), {
      codes: few,
      state: { ...state, rows: [] },
      previous: Option.some(state)
    })

    assert.strictEqual(error?.message, "no code for user 501, user 503")
    assert.deepStrictEqual(Result.isFailure(gone) ? gone.failure : undefined, error)
    assert.strictEqual(
      failureOf({ ...byRole, columns: columns("userId", "roleCode", "hours") }, state, few)?.message,
      "no code for role 11, role 12"
    )
  })

  it("with a text that a spreadsheet could run, unless it is kept; numbers are as they are", () => {
    const evil: PayrollFile.PayrollCodes = { ...codes, getName: (_, id) => id === 502 ? "=HYPERLINK(1)" : "Ana" }

    assert.strictEqual(
      failureOf(byRole, state, evil)?.message,
      `the name of user 502: a spreadsheet could run "=HYPERLINK(1)" as a formula`
    )
    assert.isUndefined(failureOf({ ...byRole, formulas: "keep" }, state, evil))
    assert.isUndefined(failureOf(byCode, state, evil))
    const code: PayrollFile.PayrollCodes = { getCode: (_, id) => id === 502 ? "=HYPERLINK(0)" : "0017" }
    assert.strictEqual(
      failureOf(byCode, state, code)?.message,
      `the code of user 502: a spreadsheet could run "=HYPERLINK(0)" as a formula`
    )
    assert.isUndefined(failureOf({ ...byCode, formulas: "keep" }, state, code))
    for (
      const [path, mapping] of [
        ["columns[5].constant", {
          ...byCode,
          columns: [...byCode.columns.slice(0, 5), { header: "B", constant: "-1" }]
        }],
        ["columns[5].header", { ...byCode, columns: [...byCode.columns.slice(0, 5), { header: "@B", constant: "1" }] }],
        ["preamble[0]", { ...byCode, preamble: ["+1"] }]
      ] as const
    ) {
      const error = failureOf(mapping)
      assert.strictEqual(error?._tag === "FormulaText" ? error.path : "", path)
    }
  })
})
