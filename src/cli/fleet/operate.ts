/** What an operator does with a fleet by the command: one connection, one call, one table or JSON. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import type { Company } from "../../Company.ts"
import { CompanyStatus, type FleetState } from "../../fleet/CompanyState.ts"
import { Fleet, type FleetCompany } from "../../fleet/Fleet.ts"
import * as FleetRunner from "../../fleet/node/FleetRunner.ts"
import type { ChangeResult, FleetTurn, Pause } from "../../fleet/store/operator.ts"
import { CompanyGuid, CompanyId } from "../../Ids.ts"
import { escaped } from "../../internal/wire/issue.ts"
import { type DatabaseTarget, layerDatabase, targetOf } from "../database/database.ts"
import { CommandFailure, exitCode, usage } from "../failure.ts"
import { parseCsvFile } from "../flags/csvFile.ts"
import { readWhole, wholeNumber } from "../flags/values.ts"
import { counted, formatAge, formatNumber } from "../print/format.ts"
import { jsonArray } from "../print/machine.ts"
import { printWarning } from "../print/messages.ts"
import { printLines, screen } from "../print/output.ts"
import { makeTable } from "../print/table.ts"
import { erase, type Erasure } from "./erase.ts"

interface WithDatabase {
  readonly database: Option.Option<string>
}

type Change = "trigger" | "sweep" | "pause"

/** The database of the command. A file that is only read or changed must exist: a misspelt name would make a new one. */
const connected = Effect.fnUntraced(function*({ database }: WithDatabase, kind: "reads" | "changes" | "creates") {
  const target = yield* targetOf(database, "fleet")
  if (kind !== "creates") yield* mustExist(target)
  return layerDatabase(target, { readonly: kind === "reads" })
})

const mustExist = Effect.fnUntraced(function*(target: DatabaseTarget) {
  if (target._tag !== "Sqlite" || (yield* (yield* FileSystem.FileSystem).exists(target.filename))) return
  return yield* new CommandFailure({
    message: `there is no file ${target.shown}`,
    advice: ["time-punches fleet add creates it."],
    code: exitCode.system
  })
})

/** Does something with the fleet in the database of the command. */
const withFleet = <A, E, R>(
  input: WithDatabase,
  kind: "reads" | "changes",
  use: (fleet: Fleet["Service"]) => Effect.Effect<A, E, R>
) =>
  Effect.flatMap(
    connected(input, kind),
    (client) => Effect.provide(Fleet.use(use), Layer.provideMerge(Fleet.layer, client))
  )

export const migrate = Effect.fnUntraced(function*(input: WithDatabase) {
  const client = yield* connected(input, "creates")
  yield* Effect.provide(FleetRunner.migrate, client)
  yield* printLines(["The tables are those of this release."])
})

export const add = Effect.fnUntraced(function*(
  input: WithDatabase & {
    readonly every: Option.Option<Duration.Duration>
    readonly companies: ReadonlyArray<Company>
  }
) {
  const target = yield* targetOf(input.database, "fleet")
  const given = input.companies.length > 0 ? input.companies : yield* companiesOfInput
  const every = Option.getOrUndefined(input.every)
  // A file is created here; the tables of a server are made by `fleet migrate` alone.
  const tables = target._tag === "Sqlite" ? Layer.effectDiscard(FleetRunner.migrate) : Layer.empty
  const layer = Fleet.layer.pipe(Layer.provide(tables), Layer.provide(layerDatabase(target)))
  const companies: ReadonlyArray<FleetCompany> = given.map(({ guid, id }) => ({ id, guid, every }))
  const { added, changed } = yield* Effect.provide(Fleet.use((fleet) => fleet.add(companies)), layer)
  yield* printLines([`${counted(added.length, "company", "companies")} added, ${formatNumber(changed.length)} changed`])
})

/** CSV with the header `company_id,guid`; the guid may be empty. A wrong line adds nothing. */
const companiesOfInput = Effect.gen(function*() {
  const stdio = yield* Stdio.Stdio
  if (yield* stdio.stdinIsTerminal) {
    return yield* usage("no company: give ids, or CSV with the header company_id,guid on standard input")
  }
  const chunks = yield* Stream.runCollect(stdio.stdin)
  const companies: Array<Company> = []
  yield* parseCsvFile(Buffer.concat(chunks), "standard input", ["company_id,guid"], ([first = "", second = ""]) => {
    const id = Option.flatMap(readWhole(first.trim()), CompanyId.makeOption)
    if (Option.isNone(id)) return `company_id must be ${wholeNumber(1)}`
    const guid = second.trim() === "" ? Option.some(undefined) : CompanyGuid.makeOption(second.trim())
    if (Option.isNone(guid)) return "guid must be a uuid, or empty"
    companies.push({ id: id.value, guid: guid.value })
    return undefined
  })
  return companies
})

export const remove = Effect.fnUntraced(function*(
  input: WithDatabase & Erasure & { readonly ids: ReadonlyArray<CompanyId>; readonly purge: boolean }
) {
  const { ids, purge } = input
  if (!purge && (input.yes || input.closesToo)) return yield* usage("--yes and --closes-too go with --purge")
  const changed = yield* withFleet(
    input,
    "changes",
    (fleet) => purge ? erase(input, fleet.remove(ids)) : fleet.remove(ids)
  )
  yield* printLines([
    `${counted(changed.changed.length, "company", "companies")} removed${
      purge
        ? `, with all their punches, checkpoints and histories${input.closesToo ? ", and their closes" : ""}`
        : "; their punches stay in the copy"
    }`
  ])
  // Purged in any case: the copy may have a company that the fleet does not.
  yield* failOnUnknown(changed)
})

export const change = Effect.fnUntraced(function*(
  input: WithDatabase & { readonly ids: ReadonlyArray<CompanyId> },
  what: Change
) {
  const changed = yield* withFleet(input, "changes", (fleet) => fleet[what](input.ids))
  yield* printChanged(changed, done[what], "not active")
})

const done = { trigger: "due now", sweep: "due now for a sweep", pause: "paused" } as const

export const resume = Effect.fnUntraced(function*(
  input: WithDatabase & {
    readonly ids: ReadonlyArray<CompanyId>
    readonly state: Option.Option<Exclude<FleetState, "active">>
    readonly reason: Option.Option<string>
  }
) {
  const { ids, reason, state } = input
  if (Option.isSome(state) === (ids.length > 0)) return yield* usage("resume takes ids, or --state")
  if (Option.isSome(reason) && Option.isNone(state)) return yield* usage("--reason goes with --state")
  if (Option.isNone(state)) {
    const changed = yield* withFleet(input, "changes", (fleet) => fleet.resume(ids))
    return yield* printChanged(changed, "resumed", "active already")
  }
  const where = { state: state.value, reason: Option.getOrUndefined(reason) }
  const resumed = yield* withFleet(input, "changes", (fleet) => fleet.resumeWhere(where))
  yield* printLines([`${counted(resumed.length, "company", "companies")} resumed`])
})

export const pauseAll = Effect.fnUntraced(function*(input: WithDatabase) {
  yield* withFleet(input, "changes", (fleet) => fleet.pauseAll)
  yield* printLines(["The fleet is paused; syncs that are in flight finish."])
})

export const resumeAll = Effect.fnUntraced(function*(input: WithDatabase) {
  yield* withFleet(input, "changes", (fleet) => fleet.resumeAll)
  yield* printLines(["No pause of the fleet holds any more."])
})

const printChanged = Effect.fnUntraced(function*(changed: ChangeResult, what: string, inactive: string) {
  yield* printLines([`${counted(changed.changed.length, "company", "companies")} ${what}`])
  if (changed.inactive.length > 0) yield* printWarning(`time-punches: ${inactive}: ${changed.inactive.join(", ")}`)
  yield* failOnUnknown(changed)
})

const failOnUnknown = ({ unknown }: ChangeResult) =>
  unknown.length === 0 ? Effect.void : Effect.fail(usage(`not in the fleet: ${unknown.join(", ")}`))

export const list = Effect.fnUntraced(function*(
  input: WithDatabase & { readonly late: boolean; readonly state: Option.Option<FleetState>; readonly json: boolean }
) {
  const states = Option.getOrUndefined(Option.map(input.state, (state) => [state]))
  const { companies, pauses } = yield* withFleet(
    input,
    "reads",
    (fleet) => Effect.all({ companies: fleet.list({ states, late: input.late }), pauses: fleet.pauses })
  )
  if (input.json) return yield* printLines([jsonArray(companies.map((company) => encodeStatus(company)))])
  const shownOn = yield* screen
  yield* printLines([
    ...pauses.map((pause) => shownOn.styles.yellow(pauseLine(pause))),
    ...makeTable(statusColumns, shownOn).lines(companies)
  ])
})

export const status = Effect.fnUntraced(function*(
  input: WithDatabase & { readonly id: CompanyId; readonly json: boolean }
) {
  const found = yield* withFleet(input, "reads", (fleet) => fleet.status(input.id))
  if (Option.isNone(found)) return yield* usage(`not in the fleet: ${input.id}`)
  const { value } = found
  if (input.json) return yield* printLines([JSON.stringify(encodeStatus(value))])
  const shownOn = yield* screen
  yield* printLines([
    ...makeTable(statusColumns, shownOn).lines([value]),
    ...Option.toArray(
      Option.map(
        value.lastError,
        ({ at, tag, text }) => shownOn.styles.yellow(`last error, ${DateTime.formatIso(at)}: ${tag}: ${escaped(text)}`)
      )
    )
  ])
})

export const runs = Effect.fnUntraced(function*(
  input: WithDatabase & { readonly id: CompanyId; readonly json: boolean }
) {
  const found = yield* withFleet(
    input,
    "reads",
    (fleet) => Effect.all({ status: fleet.status(input.id), runs: fleet.runs(input.id) })
  )
  if (Option.isNone(found.status)) return yield* usage(`not in the fleet: ${input.id}`)
  if (input.json) {
    return yield* printLines([jsonArray(found.runs.map(({ beganAt, endedAt, epoch, outcome, pages, rows, runner }) => ({
      epoch,
      runner,
      beganAt: DateTime.formatIso(beganAt),
      endedAt: DateTime.formatIso(endedAt),
      pages,
      rows,
      outcome
    })))])
  }
  yield* printLines(makeTable(runColumns, yield* screen).lines(found.runs))
})

const encodeStatus = Schema.encodeSync(CompanyStatus)

const pauseLine = ({ reason, until }: Pause): string =>
  `PAUSED: ${escaped(reason)}${
    Option.match(until, {
      onNone: () =>
        reason === "operator" ? ", until resume-all" : ", until a company that is tried once an hour succeeds",
      onSome: (at) => `, until ${DateTime.formatIso(at)}`
    })
  }`

const age = (seconds: number): string => formatAge(Duration.seconds(Math.floor(seconds)))

const statusColumns: Parameters<typeof makeTable<CompanyStatus>>[0] = [
  { title: "company", cell: ({ company }) => `${company}` },
  {
    title: "state",
    cell: ({ reason, state }) => Option.match(reason, { onNone: () => state, onSome: (why) => `${state} (${why})` }),
    warns: ({ state }) => state !== "active"
  },
  { title: "phase", cell: ({ phase }) => phase, leaves: 2 },
  { title: "every", cell: ({ everySeconds }) => age(everySeconds), align: "right", leaves: 3 },
  {
    title: "last pass",
    cell: ({ lastOkAt }) => Option.match(lastOkAt, { onNone: () => "never", onSome: DateTime.formatIso }),
    leaves: 4
  },
  {
    title: "late",
    cell: ({ lateSeconds }) => lateSeconds === 0 ? "-" : age(lateSeconds),
    align: "right",
    warns: ({ lateSeconds }) => lateSeconds > 0
  },
  {
    title: "failures",
    cell: ({ failures }) => formatNumber(failures),
    align: "right",
    warns: ({ failures }) => failures > 0
  },
  {
    title: "last error",
    cell: ({ lastError }) => Option.match(lastError, { onNone: () => "-", onSome: ({ tag }) => tag }),
    leaves: 5,
    warns: ({ lastError }) => Option.isSome(lastError)
  },
  { title: "rows", cell: ({ rows }) => formatNumber(rows), align: "right", leaves: 1 }
]

const runColumns: Parameters<typeof makeTable<FleetTurn>>[0] = [
  { title: "began", cell: ({ beganAt }) => DateTime.formatIso(beganAt) },
  {
    title: "took",
    // The clock of the database may have been set back meanwhile.
    cell: ({ beganAt, endedAt }) => formatAge(Duration.max(Duration.zero, DateTime.distance(beganAt, endedAt))),
    align: "right"
  },
  { title: "runner", cell: ({ runner }) => runner, maxWidth: 24 },
  { title: "pages", cell: ({ pages }) => formatNumber(pages), align: "right" },
  { title: "rows", cell: ({ rows }) => formatNumber(rows), align: "right" },
  {
    title: "outcome",
    cell: ({ outcome }) => outcome,
    warns: ({ outcome }) => outcome !== "Complete" && outcome !== "TurnOver"
  }
]
