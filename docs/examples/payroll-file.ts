/** Sums of a fortnight as the file of a payroll program, and the file of a correction. It sends nothing. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Duration, Effect, Option } from "effect"
import { BusinessDate, Cents, LocationId, RoleId, UserId } from "effect-time-punches"
import { PayrollFile } from "effect-time-punches/payroll"

export const mapping = PayrollFile.decodeMapping({
  v: 1,
  by: ["user"],
  payCodes: { regular: "REG", over: "OT", tips: "TIPS" },
  hours: "decimal:2",
  rounding: "halfUp",
  columns: [
    { header: "Employee", value: "userCode" },
    { header: "Code", value: "payCode" },
    { header: "Hours", value: "hours" },
    { header: "Amount", value: "amount" },
    { header: "End", value: "periodEnd", format: "MM/DD/YYYY" }
  ]
})

const employees = new Map([[501, "0017"], [502, "0018"]])
const codes: PayrollFile.PayrollCodes = { getCode: (kind, id) => kind === "user" ? employees.get(id) : undefined }

/** The sums of a person: paid time, the part of it over 40 hours a week, and tips in cents. */
const sumsOf = (user: number, net: Duration.Input, over: Duration.Input, tips: number): PayrollFile.PayrollRow => ({
  userId: UserId.make(user),
  locationId: LocationId.make(301),
  departmentId: Option.none(),
  roleId: RoleId.make(11),
  hourlyWage: Cents.make(1500),
  punches: 5,
  net: Duration.fromInputUnsafe(net),
  over: Option.some(Duration.fromInputUnsafe(over)),
  double: Option.none(),
  cost: Cents.make(0),
  tips: Cents.make(tips)
})

const stateOf = (rows: ReadonlyArray<PayrollFile.PayrollRow>): PayrollFile.PayrollSums => ({
  first: BusinessDate.make("2026-03-02"),
  last: BusinessDate.make("2026-03-15"),
  rows
})

const dana = sumsOf(502, "38.5 hours", 0, -100)
const closed = stateOf([sumsOf(501, "46 hours", "6 hours", 1250), dana])
const corrected = stateOf([sumsOf(501, "46.25 hours", "6.25 hours", 1250), dana])

export const main = Effect.gen(function*() {
  const form = yield* Effect.fromResult(mapping)
  const file = yield* Effect.fromResult(PayrollFile.encode(form, { codes, state: closed, previous: Option.none() }))
  const correction = yield* Effect.fromResult(
    PayrollFile.encode(form, { codes, state: corrected, previous: Option.some(closed) })
  )
  yield* Console.log(file.text.replaceAll("\r\n", "\n").trimEnd())
  yield* Console.log("correction")
  yield* Console.log(correction.text.replaceAll("\r\n", "\n").trimEnd())
})

if (import.meta.main) NodeRuntime.runMain(main)
