/** `time-punches close`, `correct`, `void` and `closes`: a payroll period as a record of states. */
import * as Command from "effect/cli/Command"
import { intoOutput } from "../files/output.ts"
import { lazyCommand } from "../flags/lazy.ts"
import { closeFlags, closesFlags, correctFlags, voidFlags } from "./flags.ts"

const load = () => import("./run.ts")

export const close = lazyCommand("close", closeFlags, load, ({ runClose }) => runClose).pipe(
  Command.withDescription(
    `Close a payroll period: check it, sum it and record the sums.

  It reads one state of a copy with a history, and sends nothing.

  Nothing is written while something is to be looked at (exit code 9): what
  check finds, a gap to the nearest close, a copy whose last complete pass
  began before the period ended (stale), or a period without a punch (empty).
  --accept lets kinds through by name. Two closes never share an instant of a
  location. --accept edge begins the close at the end of the one before if the
  two are less than 48 hours apart, such as after a zone was corrected.`
  ),
  Command.withShortDescription("Close a payroll period and record its sums"),
  Command.withExamples([
    {
      command: "time-punches close --pay-period last --calendar 14d:2026-01-05 --zone-file zones.csv " +
        "--weekly-threshold 40h --database punches.db",
      description: "The last fortnight"
    },
    {
      command: "time-punches close --week 2026-03-02 --zone America/New_York --accept unapproved " +
        "--database punches.db --json",
      description: "A week with unapproved punches, as JSON"
    }
  ])
)

export const correct = lazyCommand("correct", correctFlags, load, ({ runCorrect }) => runCorrect).pipe(
  Command.withDescription(
    `Record the next state of closes whose sums have changed.

  What is due is its difference to the state before. Without an ID it corrects
  every close that was not voided, in one write: a punch that was moved leaves
  one close and enters the other.

  The zones, thresholds and days are those of the record. --zone-file adds
  locations that a record lacks, and changes none. The state before is computed
  again from the history first; if that is not what was recorded, nothing is
  written (exit code 7).`
  ),
  Command.withShortDescription("Record what has changed since a period was closed"),
  Command.withExamples([
    { command: "time-punches correct --database punches.db", description: "All closes whose sums have changed" },
    { command: "time-punches correct 7 --note 'late approvals' --database punches.db", description: "One close" }
  ])
)

export const voidCommand = lazyCommand("void", voidFlags, load, ({ runVoid }) => runVoid).pipe(
  Command.withDescription(
    `Record that the newest state of a close was not paid.

  Its amounts are due again with the next state. STATE is the state in full,
  such as 7.2. A state in the middle that was not paid needs no void: print its
  file again.`
  ),
  Command.withShortDescription("Record that a state was not paid"),
  Command.withExamples([
    {
      command: "time-punches void 7.2 --note 'the file was not sent' --database punches.db",
      description: "The second state of close 7"
    },
    {
      command: "time-punches void 7.1 --note 'closed by mistake' --database punches.db --json",
      description: "Its first and only state: the close is over"
    }
  ])
)

export const closes = lazyCommand(
  "closes",
  closesFlags,
  load,
  ({ runCloses }) => (flags) => intoOutput(runCloses(flags), flags)
).pipe(
  Command.withDescription(
    `List the closes of a company with all their states, or one close.

  --json prints an array of states with their whole sums, and with an ID the
  whole record: keep it before a company is erased.

  --map prints the file of a state for a payroll program: of the first state
  its sums, of a later one the difference to the file of the state before. It
  is the same file each time. The files of all states that stand add up, cell
  by cell, to a file of the newest one.`
  ),
  Command.withShortDescription("List the closes and their states"),
  Command.withExamples([
    { command: "time-punches closes --database punches.db", description: "Every state" },
    { command: "time-punches closes 7 --json --database punches.db", description: "The whole record of close 7" },
    {
      command: "time-punches closes 7.2 --map payroll.json --codes codes.csv --output pay.csv --database punches.db",
      description: "What state 7.2 pays, as a file"
    },
    {
      command: "time-punches closes --verify --database punches.db",
      description: "Compare the record with the history"
    }
  ])
)
