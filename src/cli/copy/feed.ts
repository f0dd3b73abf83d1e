/** `time-punches copy feed`: tells what changes in a copy with a history. Sends nothing. */
import * as Command from "effect/cli/Command"
import { lazyCommand } from "../flags/lazy.ts"
import { feedFlags } from "./feedFlags.ts"

export const feed = lazyCommand(
  "feed",
  feedFlags,
  () => import("./feedRun.ts"),
  ({ run }) => run
).pipe(
  Command.withDescription(
    `Tell what changes in a copy, one line for each punch that a commit changed.

  It reads a copy that time-punches copy sync --history keeps, and sends
  nothing. It begins with the state of the copy, each punch as present, and
  continues with what was added, edited, touched (only modified differs),
  deleted, undeleted, missing (the service no longer shows it) or back. With
  --follow it waits for more.

  Each line has a position. A run with --since POSITION begins with the next
  event. --state FILE keeps the position of the last line that was written, for
  output that is appended to a file: after a kill, the next run repeats lines
  and omits none. A program behind a pipe keeps the position of the last line
  that it has handled, and begins with --since.`
  ),
  Command.withShortDescription("Tell what changes in a copy, as it happens"),
  Command.withExamples([
    {
      command: "time-punches copy feed --database punches.db --since now --follow --format table",
      description: "Watch what changes"
    },
    {
      command: "time-punches copy feed --database punches.db --follow --state feed.json >> changes.ndjson",
      description: "Everything into a file, also after a restart"
    },
    {
      command: "time-punches copy feed --database punches.db --since now --follow --kind edited --changed approved",
      description: "Only punches whose approval changed"
    }
  ])
)
