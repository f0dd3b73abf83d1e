/** `time-punches fleet run`: the flags of one process of the fleet. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { databaseFlag } from "../database/database.ts"
import { makeLimitFlag } from "../flags/connection.ts"
import { lazyCommand } from "../flags/lazy.ts"
import { intervalForm, keepHistory, nonBlank, onFlag, readInterval, text, whole } from "../flags/values.ts"

export const run = lazyCommand(
  "run",
  {
    database: databaseFlag,
    name: nonBlank(
      "name",
      "NAME",
      "PostgreSQL: the name of this process, another one for each (default: the host's)",
      "a name that is not blank"
    ),
    history: onFlag("history", "Keep each version that a sync replaces, for time-punches payroll diff"),
    keepHistory: keepHistory(
      "With --history: once a day, remove versions that were replaced longer ago than this (default: keep all)"
    ),
    concurrency: whole(
      "concurrency",
      "N",
      "Companies that this process syncs at once (default: 32, and at most twice --requests-per-second)",
      1,
      1000
    ),
    pagesPerTurn: whole(
      "pages-per-turn",
      "N",
      "Pages of a company that are stored before it lets others go first (default: 50)",
      1,
      1_000_000
    ),
    requestsPerSecond: makeLimitFlag(
      " of all processes of the fleet together; give each the same, or none with --credentials per-company"
    ),
    sweepEvery: text(
      "sweep-every",
      "TIME",
      "How often the clock-ins of the last 35 days are re-read, to mark missing rows (default: 1d)",
      intervalForm("1d"),
      readInterval
    ),
    fullSweepEvery: text(
      "full-sweep-every",
      "TIME|never",
      "How often all clock-ins are re-read (default: 30d)",
      `${intervalForm("30d")}, or never`,
      (text) => text === "never" ? Option.some(Duration.zero) : readInterval(text)
    ),
    credentials: Flag.ChoiceWithValue("credentials", [["shared", "shared"], ["per-company", "perCompany"]]).pipe(
      Flag.withDescription(
        "Whether all companies have one credential: a refused one then pauses the fleet, else it blocks its company (default: shared)"
      ),
      Flag.optional
    ),
    http: whole(
      "http",
      "PORT",
      "Serve a page of the fleet, with /status.json, /metrics, /livez and /readyz (0: a free port)",
      0,
      65_535
    ),
    httpHost: nonBlank(
      "http-host",
      "HOST",
      "With --http: the address or name to listen on, such as 0.0.0.0 (default: 127.0.0.1, this machine alone)",
      "an address of this machine"
    )
  },
  () => import("./process.ts"),
  ({ run }) => run
).pipe(
  Command.withDescription(
    `Sync all companies of the fleet on their schedules, until the first SIGTERM
  or Ctrl-C.

  With a file this process is the whole fleet. With PostgreSQL it is one of
  many: run the same command on several machines, each with its own --name. They
  share only the database. It needs an OAuth client, and the guid of each
  company.`
  ),
  Command.withShortDescription("Sync all companies on their schedules"),
  Command.withExamples([
    { command: "time-punches fleet run --database punches.db", description: "The whole fleet in one process" },
    {
      command: "time-punches fleet run --database postgres://db.example.com/punches --name a",
      description: "One of several processes"
    },
    { command: "time-punches fleet run --database punches.db --http 8080", description: "With a page to look at" }
  ])
)
