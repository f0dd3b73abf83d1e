/** A mapping of a payroll file that more than one test prints. */

/** Regular hours, those over a threshold, and tips, as rows with codes. */
export const byCode = {
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
} as const
