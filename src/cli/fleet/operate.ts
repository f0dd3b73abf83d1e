/** What the verbs of an operator share when they run: one connection, and how companies, turns and changes are printed. */
import * as Argument from "effect/cli/Argument"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import type { Company } from "../../Company.ts"
import { CompanyStatus } from "../../fleet/CompanyState.ts"
import { Fleet } from "../../fleet/Fleet.ts"
import * as FleetRunner from "../../fleet/node/FleetRunner.ts"
import {
  type ChangeResult,
  encodePause,
  FleetOperator,
  type FleetTurn,
  type Pause
} from "../../fleet/store/operator.ts"
import { encodeProcess, type FleetProcess } from "../../fleet/store/runners.ts"
import { CompanyGuid } from "../../Ids.ts"
import { escaped } from "../../internal/text/printable.ts"
import { layerDatabase, personOf, targetOf } from "../database/database.ts"
import { failure, usage } from "../failure.ts"
import { readCompanyId } from "../flags/connection.ts"
import { parseCsvFile } from "../flags/csvFile.ts"
import { collectBounded } from "../flags/file.ts"
import { wholeNumber } from "../flags/values.ts"
import { counted, formatAge, formatNumber } from "../print/format.ts"
import { printWarning } from "../print/messages.ts"
import { printDone } from "../print/output.ts"
import { type Column, type Screen } from "../print/table.ts"

interface WithDatabase {
  readonly database: Option.Option<string>
}

/** Does something with the fleet in the database of the command. A file must exist: a misspelt name would make a new one. */
export const withFleet = Effect.fnUntraced(function*<A, E, R>(
  { database }: WithDatabase,
  kind: "reads" | "changes",
  use: (fleet: Fleet["Service"]) => Effect.Effect<A, E, R>
) {
  const target = yield* targetOf(database, "fleet")
  const fs = yield* FileSystem.FileSystem
  if (target._tag === "Sqlite" && !(yield* fs.exists(target.filename))) {
    return yield* failure("system", `there is no file ${target.address}`, "time-punches fleet add creates it.")
  }
  const client = layerDatabase(target, { readonly: kind === "reads" })
  return yield* Fleet.use(use).pipe(
    Effect.provide(Layer.provideMerge(Fleet.layer, client)),
    Effect.provideService(FleetOperator, personOf())
  )
})

/** The same in a database that may not have the tables: a file is created here; those of a server are made by `fleet migrate` alone. */
export const withNewFleet = Effect.fnUntraced(function*<A, E, R>(
  input: WithDatabase,
  use: (fleet: Fleet["Service"]) => Effect.Effect<A, E, R>
) {
  const target = yield* targetOf(input.database, "fleet")
  const tables = target._tag === "Sqlite" ? Layer.effectDiscard(FleetRunner.migrate) : Layer.empty
  const layer = Fleet.layer.pipe(Layer.provide(tables), Layer.provide(layerDatabase(target)))
  return yield* Effect.provide(Fleet.use(use), layer)
})

/** Makes the tables, or changes them to those of this release. */
export const migrated = ({ database }: WithDatabase) =>
  Effect.flatMap(
    targetOf(database, "fleet"),
    (target) => Effect.provide(FleetRunner.migrate, layerDatabase(target))
  )

/** What was changed, as a sentence or as JSON, and `why` the rest was not. Fails with the ids that are not in the fleet: the others are done. */
export const printChange = Effect.fnUntraced(function*(
  json: boolean,
  { changed, inactive, unknown }: ChangeResult,
  sentence: (companies: string) => string,
  why: string
) {
  yield* printDone(
    sentence(counted(changed.length, "company", "companies")),
    json ? JSON.stringify({ changed, inactive, unknown }) : undefined
  )
  if (inactive.length > 0) yield* printWarning(`time-punches: ${why}: ${inactive.join(", ")}`)
  if (unknown.length > 0) return yield* usage(`not in the fleet: ${unknown.join(", ")}`)
})

/** The pauses of the whole fleet that hold after a change, as JSON; for people the sentence says it. */
export const printPauses = (json: boolean, pauses: ReadonlyArray<Pause>, sentence: string) =>
  printDone(sentence, json ? JSON.stringify({ pauses: pauses.map(encodePause) }) : undefined)

export const encodeTurn = ({ beganAt, endedAt, epoch, outcome, pages, rows, runner }: FleetTurn) => ({
  epoch,
  runner,
  beganAt: DateTime.formatIso(beganAt),
  endedAt: DateTime.formatIso(endedAt),
  pages,
  rows,
  outcome
})

export const encodeStatus = Schema.encodeSync(CompanyStatus)

/** A process as JSON. */
export const encodeRunner = (process: FleetProcess) => ({
  ...encodeProcess(process),
  error: Option.getOrNull(process.error)
})

/** Why processes leave companies to others. */
export const troubleLines = ({ styles }: Screen, runners: ReadonlyArray<FleetProcess>): ReadonlyArray<string> =>
  runners.flatMap(({ error, runner, state }) =>
    Option.match(error, {
      onNone: () => [],
      onSome: (text) => [styles.yellow(`${escaped(runner)} is ${state}: ${escaped(text)}`)]
    })
  )

export const pauseLine = ({ by, reason, until }: Pause): string =>
  `PAUSED: ${escaped(reason)}${Option.match(by, { onNone: () => "", onSome: (by) => ` (${escaped(by)})` })}${
    Option.match(until, {
      onNone: () =>
        reason === "operator" ? ", until fleet resume --all" : ", until a company that is tried once an hour succeeds",
      onSome: (at) => `, until ${DateTime.formatIso(at)}`
    })
  }`

/** In whole seconds. */
const age = (time: Duration.Duration): string => formatAge(Duration.seconds(Math.floor(Duration.toSeconds(time))))

export const statusColumns: ReadonlyArray<Column<CompanyStatus>> = [
  { title: "company", cell: ({ companyId }) => `${companyId}` },
  {
    title: "state",
    cell: ({ reason, state }) => Option.match(reason, { onNone: () => state, onSome: (why) => `${state} (${why})` }),
    warns: ({ state }) => state !== "active"
  },
  { title: "phase", cell: ({ phase }) => phase, dropOrder: 2 },
  { title: "every", cell: ({ every }) => age(every), align: "right", dropOrder: 3 },
  {
    title: "last sync run",
    cell: ({ lastOkAt }) => Option.match(lastOkAt, { onNone: () => "never", onSome: DateTime.formatIso }),
    dropOrder: 4
  },
  {
    title: "late",
    cell: ({ late }) => Duration.isZero(late) ? "-" : age(late),
    align: "right",
    warns: ({ late }) => Duration.isPositive(late)
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
    dropOrder: 5,
    warns: ({ lastError }) => Option.isSome(lastError)
  },
  { title: "rows", cell: ({ rows }) => formatNumber(rows), align: "right", dropOrder: 1 }
]

/** Companies of a process that the table names. */
const shownCompanies = 3

export const runnerColumns: ReadonlyArray<Column<FleetProcess>> = [
  { title: "runner", cell: ({ runner }) => runner, maxWidth: 24 },
  { title: "state", cell: ({ state }) => state, warns: ({ state }) => state !== "working" },
  { title: "release", cell: ({ release }) => release, dropOrder: 2 },
  { title: "since", cell: ({ startedAt }) => DateTime.formatIso(startedAt), dropOrder: 3 },
  { title: "seen", cell: ({ seenAt }) => DateTime.formatIso(seenAt), dropOrder: 1 },
  { title: "in work", cell: ({ holds }) => formatNumber(holds.length), align: "right" },
  {
    title: "companies",
    cell: ({ holds }) => {
      const named = holds.slice(0, shownCompanies).map((hold) => `${hold.companyId} for ${age(hold.for)}`)
      const more = holds.length - named.length
      return [...named, ...(more > 0 ? [`${formatNumber(more)} more`] : [])].join(", ") || "-"
    },
    dropOrder: 4
  }
]

export const turnColumns: ReadonlyArray<Column<FleetTurn>> = [
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

export const idArgument = (description: string) =>
  Argument.String("id").pipe(
    Argument.withMetavar("ID"),
    Argument.withDescription(description),
    Argument.filterMap(readCompanyId, () => wholeNumber(1))
  )

/** One company or more. */
export const ids = Argument.variadic(idArgument("Companies"), { min: 1 })

/** CSV with the header `company_id,guid`; the guid may be empty. A wrong line adds nothing. */
export const companiesOfInput = Effect.gen(function*() {
  const stdio = yield* Stdio.Stdio
  if (yield* stdio.stdinIsTerminal) {
    return yield* usage("no company: give ids, or CSV with the header company_id,guid on standard input")
  }
  const bytes = yield* collectBounded(stdio.stdin, "standard input")
  const companies: Array<Company> = []
  yield* parseCsvFile(bytes, "standard input", ["company_id,guid"], ([first = "", second = ""]) => {
    const id = readCompanyId(first.trim())
    if (Option.isNone(id)) return `company_id must be ${wholeNumber(1)}`
    const guid = second.trim() === "" ? Option.some(undefined) : CompanyGuid.makeOption(second.trim())
    if (Option.isNone(guid)) return "guid must be a uuid, or empty"
    companies.push({ id: id.value, guid: guid.value })
    return undefined
  })
  return companies
})
