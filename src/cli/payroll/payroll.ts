/** `time-punches payroll`: its verbs, each in its own file. */
import * as Command from "effect/cli/Command"
import { check } from "./check.ts"
import { close } from "./close.ts"
import { correct } from "./correct.ts"
import { diff } from "./diff.ts"
import { due } from "./due.ts"
import { file } from "./file.ts"
import { list } from "./list.ts"
import { show } from "./show.ts"
import { verify } from "./verify.ts"
import { voidCommand } from "./void.ts"

export const payroll = Command.make("payroll").pipe(
  Command.withDescription(
    `Close payroll periods, correct them, and print what they pay.

  A week is paid with check, close and file. What is edited later is paid with
  due, correct and file. A revision that was not paid is taken back with void.

  All verbs but check read a copy that time-punches copy sync --history keeps,
  and send nothing.`
  ),
  Command.withShortDescription("Close payroll periods, and print what they pay"),
  Command.withExamples([
    {
      command: "time-punches payroll check --week last --zone America/New_York",
      description: "The issues of the week before it is closed"
    },
    {
      command: "time-punches payroll close --week last --zone America/New_York --database punches.db",
      description: "Record what the week pays"
    },
    {
      command: "time-punches payroll file 1.1 --mapping payroll.json --codes codes.csv --database punches.db",
      description: "The file for the payroll program"
    }
  ]),
  Command.withSubcommands([check, close, correct, voidCommand, list, show, file, due, verify, diff])
)
