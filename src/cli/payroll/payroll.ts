/** `time-punches payroll`: its verbs, each in its own file. */
import type { Group } from "../verb.ts"

export const group: Group = {
  text: `Close payroll periods, correct them, and print what they pay.

  A week is paid with check, close and file. What is edited later is paid with
  due, correct and file. A revision that was not paid is taken back with void.

  All verbs but check read a copy that time-punches copy sync --history keeps,
  and send nothing.`,
  examples: [
    ["payroll check --week last --zone America/New_York", "The issues of the week before it is closed"],
    ["payroll close --week last --zone America/New_York --database punches.db", "Record what the week pays"],
    [
      "payroll file 1.1 --mapping payroll.json --codes codes.csv --database punches.db",
      "The file for the payroll program"
    ]
  ],
  entries: {
    check: ["Find the issues of a period before it is closed", () => import("./check.ts")],
    close: ["Close a payroll period and record its sums", () => import("./close.ts")],
    correct: ["Record what has changed since a period was closed", () => import("./correct.ts")],
    void: ["Record that a revision was not paid", () => import("./void.ts")],
    list: ["List the closes and their revisions", () => import("./list.ts")],
    show: ["Show one close, or one revision", () => import("./show.ts")],
    file: ["Print what a revision pays, as a file", () => import("./file.ts")],
    due: ["Print what is due since a period was closed", () => import("./due.ts")],
    verify: ["Compare the record with the history", () => import("./verify.ts")],
    diff: ["Show what has changed since a period was closed", () => import("./diff.ts")]
  }
}
