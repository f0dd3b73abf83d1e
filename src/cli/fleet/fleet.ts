/** `time-punches fleet`: its verbs, each in its own file. */
import * as Command from "effect/cli/Command"
import { add } from "./add.ts"
import { list } from "./list.ts"
import { migrate } from "./migrate.ts"
import { pause } from "./pause.ts"
import { remove } from "./remove.ts"
import { resume } from "./resume.ts"
import { run } from "./run.ts"
import { runners } from "./runners.ts"
import { status } from "./status.ts"
import { sync } from "./sync.ts"

export const fleet = Command.make("fleet").pipe(
  Command.withDescription(
    `Keep copies of many companies in one database, each on its own schedule.

  Set a password in PGPASSWORD, or in the URL of TIME_PUNCHES_DATABASE_URL;
  --database refuses one.`
  ),
  Command.withShortDescription("Keep copies of many companies on schedules"),
  Command.withExamples([
    {
      command: "time-punches fleet add --database punches.db < companies.csv",
      description: "Companies, with their guids"
    },
    { command: "time-punches fleet run --database punches.db", description: "The whole fleet in one process" }
  ]),
  Command.withSubcommands([run, migrate, add, remove, list, status, runners, sync, pause, resume])
)
