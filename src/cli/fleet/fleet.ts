/** `time-punches fleet`: its subcommands and their flags. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { CompanyId } from "../../Ids.ts"
import { databaseFlag } from "../database/database.ts"
import { readCompany } from "../flags/connection.ts"
import { intervalForm, nonBlank, onFlag, readInterval, readWhole, text, wholeNumber } from "../flags/values.ts"

const readId = (value: string) => Option.flatMap(readWhole(value), CompanyId.makeOption)

const idArgument = (description: string) =>
  Argument.String("id").pipe(
    Argument.withMetavar("ID"),
    Argument.withDescription(description),
    Argument.filterMap(readId, () => wholeNumber(1))
  )

const ids = Argument.variadic(idArgument("Companies"), { min: 1 })

const oneId = idArgument("The company")

const states = ["active", "paused", "blocked", "quarantined"] as const

const json = onFlag("json", "JSON, whose times are ISO 8601 and whose missing values are null")

const database = databaseFlag

// The drivers of the databases are large, so they are loaded only by what needs them.
const operating = <A, E, R>(use: (operate: typeof import("./operate.ts")) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(Effect.promise(() => import("./operate.ts")), use)

const run = Command.make("run", {
  database,
  name: nonBlank(
    "name",
    "NAME",
    "PostgreSQL: the name of this process, another one for each (default: the host's)",
    "a name that is not blank"
  ),
  history: onFlag("history", "Keep each version that a sync replaces, for time-punches changes"),
  historyDays: text(
    "history-days",
    "DAYS",
    "With --history: remove versions that were replaced more than DAYS ago, once a day (default: keep all)",
    wholeNumber(1, 36_525),
    (value) => readWhole(value, 1, 36_525)
  ),
  http: text(
    "http",
    "PORT",
    "Serve a page of the fleet, with /status.json, /metrics and /healthz (0: a free port)",
    wholeNumber(0, 65_535),
    (value) => readWhole(value, 0, 65_535)
  ),
  httpHost: nonBlank(
    "http-host",
    "HOST",
    "With --http: the address or name to listen on, such as 0.0.0.0 (default: 127.0.0.1, this machine alone)",
    "an address of this machine"
  )
}, (input) => Effect.flatMap(Effect.promise(() => import("./run.ts")), ({ run }) => run(input))).pipe(
  Command.withDescription(
    `Sync all companies of the fleet on their schedules, until the first SIGTERM or Ctrl-C.

  With a file this process is the whole fleet. With PostgreSQL it is one of many:
  run the same command on several machines, each with its own --name. They share
  only the database. It needs an OAuth client, and the guid of each company.`
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

const migrate = Command.make(
  "migrate",
  { database },
  (input) => operating(({ migrate }) => migrate(input))
).pipe(
  Command.withDescription("Create the tables of the fleet and of its copy, or bring them to this release.")
)

const add = Command.make("add", {
  database,
  every: text(
    "every",
    "TIME",
    "How often they are synced, such as 30s, 15m or 2h (default: 15m, or what a known company has)",
    intervalForm("15m"),
    readInterval
  ),
  companies: Argument.String("id").pipe(
    Argument.withMetavar("ID[=GUID]"),
    Argument.withDescription("Companies; without any, CSV on standard input: company_id,guid"),
    Argument.filterMap(readCompany, () => "the id of a company, or ID=GUID"),
    Argument.variadic()
  )
}, (input) => operating(({ add }) => add(input))).pipe(
  Command.withDescription(
    `Add companies, due at once. A company that is known gets the interval and the
  guid that are given, and keeps the rest. fleet run blocks a company without a
  guid, since its OAuth client must send one.`
  ),
  Command.withShortDescription("Add companies"),
  Command.withExamples([
    {
      command: "time-punches fleet add --database punches.db --every 5m 4021=3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60",
      description: "One company and its guid"
    },
    { command: "time-punches fleet add --database punches.db < companies.csv", description: "Many, with their guids" }
  ])
)

const remove = Command.make("remove", {
  database,
  ids,
  purge: onFlag("purge", "Erase their punches, checkpoints and histories too; asks first"),
  closesToo: onFlag("closes-too", "With --purge: erase also companies that have closes, which are payroll records"),
  yes: onFlag("yes", "With --purge: do not ask; needed outside a terminal")
}, (input) => operating(({ remove }) => remove(input))).pipe(
  Command.withDescription(
    `Remove companies. Their punches stay in the copy, except with --purge.

  --purge shows in a terminal what goes, and asks. A company that has closes is
  refused, unless --closes-too is given.`
  ),
  Command.withShortDescription("Remove companies"),
  Command.withExamples([
    { command: "time-punches fleet remove --database punches.db 4021", description: "Its punches stay" },
    { command: "time-punches fleet remove --database punches.db 4021 --purge", description: "Erase them too" }
  ])
)

const list = Command.make("list", {
  database,
  late: onFlag("late", "Only companies that are later than their interval"),
  state: Flag.Literals("state", states).pipe(Flag.withDescription("Only companies in this state"), Flag.optional),
  json
}, (input) => operating(({ list }) => list(input))).pipe(
  Command.withDescription("List the companies, and the pauses of the whole fleet above them.")
)

const status = Command.make(
  "status",
  { database, id: oneId, json },
  (input) => operating(({ status }) => status(input))
).pipe(Command.withDescription("Show a company."))

const runs = Command.make(
  "runs",
  { database, id: oneId, json },
  (input) => operating(({ runs }) => runs(input))
).pipe(Command.withDescription("Show the last runs of a company, the latest first."))

const changing = (what: "trigger" | "sweep" | "pause", description: string) =>
  Command.make(what, { database, ids }, (input) => operating(({ change }) => change(input, what))).pipe(
    Command.withDescription(description)
  )

const resume = Command.make("resume", {
  database,
  ids: Argument.variadic(idArgument("Companies, or --state")),
  state: Flag.Literals("state", ["paused", "blocked", "quarantined"]).pipe(
    Flag.withDescription("All companies in this state"),
    Flag.optional
  ),
  reason: nonBlank(
    "reason",
    "TAG",
    "With --state: only those with this reason, such as Forbidden",
    "a reason as list shows it, such as Forbidden"
  )
}, (input) => operating(({ resume }) => resume(input))).pipe(
  Command.withDescription("Resume companies that are paused, blocked or quarantined: they are due at once.")
)

const pauseAll = Command.make(
  "pause-all",
  { database },
  (input) => operating(({ pauseAll }) => pauseAll(input))
).pipe(Command.withDescription("Pause the whole fleet until resume-all. Syncs that are in flight finish."))

const resumeAll = Command.make(
  "resume-all",
  { database },
  (input) => operating(({ resumeAll }) => resumeAll(input))
).pipe(Command.withDescription("End all pauses of the whole fleet. Companies that are paused or blocked stay so."))

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
  Command.withSubcommands([
    run,
    migrate,
    add,
    remove,
    list,
    status,
    changing("trigger", "Sync companies as soon as there is room."),
    changing("sweep", "Sweep companies as soon as there is room: find rows that the service no longer shows."),
    changing("pause", "Pause companies. A sync that is in flight finishes."),
    resume,
    runs,
    pauseAll,
    resumeAll
  ])
)
