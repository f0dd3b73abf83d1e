/** The service behind `time-punches sandbox`: serves companies on a port, prints a client's settings, edits punches. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { approvalStatuses } from "../../testing/base/WirePunch.ts"
import { FakeServer } from "../../testing/FakeServer.ts"
import {
  defaultCompany,
  defaultOAuthClient,
  type FakeCompany,
  type FakeResponse,
  FakeService,
  Fault,
  type StoredPunch
} from "../../testing/index.ts"
import { defaultSession } from "../../testing/service/options.ts"
import { CommandFailure, commandFailureOf, errorCode, exitCode, usage } from "../failure.ts"
import { readInstant } from "../flags/values.ts"
import { counted, countedPunches } from "../terminal/format.ts"
import { printError, printLines } from "../terminal/output.ts"
import { churn, churnRate } from "./churn.ts"
import { manyCompanies, twoCompanies, withWorld } from "./companies.ts"

/** What is served, and how badly it behaves. */
export interface SandboxOptions {
  readonly json: boolean
  readonly port: number
  /** `None`: one company with its settings. */
  readonly companies: Option.Option<number>
  /** A file for the ids and guids of the companies; `-` for standard output. */
  readonly companiesCsv: Option.Option<string>
  /** Number of punches that the listing of a company has. */
  readonly punches: Option.Option<number>
  readonly seed: number
  /** Share of the page requests that fail, 0 to 1. */
  readonly fail: number
  /** In milliseconds. */
  readonly latency: number
  readonly churn: boolean
  /** In seconds. */
  readonly churnFor: Option.Option<number>
}

/** Serves until interrupted. */
export const serve = Effect.fnUntraced(function*(options: SandboxOptions) {
  const { companies: count, companiesCsv, seed } = options
  if (Option.isNone(count) && Option.isSome(companiesCsv)) {
    return yield* usage("--companies-csv goes with --companies")
  }
  const world = Option.match(count, {
    onNone: () => twoCompanies(Option.getOrElse(options.punches, () => 50_000), seed),
    onSome: (count) => manyCompanies(count, Option.getOrElse(options.punches, () => 500), seed)
  })
  const { companies } = world
  const fake = yield* Layer.build(FakeService.layer({ latency: options.latency, companies }))
  const { fill, isFilled, service } = withWorld(withEdits(Context.get(fake, FakeService)), world)
  const { url } = Context.get(
    yield* Layer.build(Layer.provide(FakeServer.layer({ port: options.port }), Layer.succeed(FakeService, service))),
    FakeServer
  )
  if (options.fail > 0) {
    yield* service.inject(Fault.retryAfter("1", 503), { probability: { chance: options.fail, seed } })
  }
  if (Option.isSome(count)) {
    const isCsvPrinted = yield* writeCompanies(companies, companiesCsv)
    const print = isCsvPrinted ? (lines: ReadonlyArray<string>) => printError(...lines) : printLines
    yield* print(options.json ? [JSON.stringify(clientOf(url))] : exportLines(clientOf(url)))
    yield* printError(`${url} serves ${namesOf(companies)}. Ctrl-C stops it.`)
  } else {
    yield* Effect.forEach(companies, (_, index) => fill(index))
    const listed = world.punchesOf(0).filter(({ deleted }) => deleted !== true)
    const [company = defaultCompany] = companies
    yield* printLines(
      options.json ? [JSON.stringify(variablesFor(url, company))] : companySettings(url, company, listed)
    )
    yield* printError(`${url} serves ${countedPunches(listed.length)}${spanOf(listed)}. Ctrl-C stops it.`)
  }
  if (options.churn || Option.isSome(options.churnFor)) {
    const seconds = Option.getOrElse(options.churnFor, () => Infinity)
    yield* printError(`Punches change ${churnRate(world.changing)}.`)
    const punchesIn = (index: number) => isFilled(index) ? Option.some(world.punchesOf(index)) : Option.none()
    const changes = churn(world.changing, punchesIn, seed)
    yield* Effect.timeoutOption(Effect.provideService(changes, FakeService, service), Duration.seconds(seconds))
    yield* printError("Punches no longer change.")
  }
  return yield* Effect.never
}, (effect, { port }) =>
  Effect.scoped(effect).pipe(
    Effect.catchTag("ServeError", ({ cause }) =>
      Effect.fail(
        new CommandFailure({
          message: `cannot listen on port ${port}: ${Option.getOrElse(errorCode(cause), () => "refused")}`,
          advice: ["--port 0 takes a free one."],
          code: exitCode.system
        })
      ))
  ))

/** The dates of the first and the last punch, so that a reader knows which weeks to list. */
const spanOf = (punches: ReadonlyArray<StoredPunch>): string => {
  const [first, last] = [punches[0], punches.at(-1)].map((punch) => punch?.clocked_in.slice(0, 10))
  return first === undefined ? "" : ` of ${first} to ${last}`
}

/** The settings of an OAuth client, without a company. */
const clientOf = (url: string) => ({
  TIME_PUNCHES_BASE_URL: url,
  TIME_PUNCHES_AUTH_URL: url,
  TIME_PUNCHES_CLIENT_ID: defaultOAuthClient.clientId,
  TIME_PUNCHES_CLIENT_SECRET: defaultOAuthClient.clientSecret
})

/** The same for one company. */
const variablesFor = (url: string, { guid, id }: FakeCompany) => ({
  ...clientOf(url),
  TIME_PUNCHES_COMPANY_ID: `${id}`,
  TIME_PUNCHES_COMPANY_GUID: guid
})

const exportLines = (variables: Readonly<Record<string, string>>): ReadonlyArray<string> => [
  "# OAuth client:",
  ...Object.entries(variables).map(([name, value]) => `export ${name}=${value}`)
]

/** Lines for a shell: the settings of an OAuth client, and commented out those of other credentials and two requests. */
const companySettings = (
  url: string,
  company: FakeCompany,
  punches: ReadonlyArray<StoredPunch>
): ReadonlyArray<string> => [
  ...exportLines(variablesFor(url, company)),
  "",
  "# or, in place of client id and secret, the access token of one company:",
  `# export TIME_PUNCHES_ACCESS_TOKEN=${company.accessToken}`,
  "# or a session cookie:",
  `# export TIME_PUNCHES_SESSION_COOKIE=${defaultSession.cookie}`,
  "",
  "# a first page by hand:",
  `# curl -H 'authorization: Bearer ${company.accessToken}' ` +
  `'${url}/v2/company/${company.id}/time_punches?limit=3'`,
  ...punches.slice(0, 1).flatMap(({ id }) => [
    "# a correction, as a manager makes it in the service:",
    `# curl -X PATCH -d '{"notes":"corrected"}' ${url}${editPath}${id}`
  ])
]

/** Writes ids and guids for `fleet add`; `true` if standard output has them. */
const writeCompanies = Effect.fnUntraced(function*(
  companies: ReadonlyArray<FakeCompany>,
  target: Option.Option<string>
) {
  if (Option.isNone(target)) return false
  const lines = ["company_id,guid", ...companies.map(({ guid, id }) => `${id},${guid}`)]
  if (target.value === "-") {
    yield* printLines(lines)
    return true
  }
  const fs = yield* FileSystem.FileSystem
  yield* fs.writeFileString(target.value, `${lines.join("\n")}\n`, { mode: 0o600 }).pipe(
    Effect.mapError((error) => commandFailureOf(error))
  )
  return false
})

const namesOf = (companies: ReadonlyArray<FakeCompany>): string => {
  const [first, last] = [companies[0]?.id, companies.at(-1)?.id]
  return `${counted(companies.length, "company", "companies")}, ${first === last ? first : `${first} to ${last}`}`
}

/** Path of `PATCH`, which edits a punch as a manager does, without the id. No other service has it. */
const editPath = "/sandbox/time_punches/"

const Instant = Schema.String.check(
  Schema.makeFilter((text: string) => Option.isSome(readInstant(text)) || "an RFC 3339 instant with a zone")
)

const Cents = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** The new values of a punch, under their names on the wire; a value that is absent keeps the old one. */
const Edit = Schema.Struct({
  clocked_in: Schema.optionalKey(Instant),
  clocked_out: Schema.optionalKey(Schema.NullOr(Instant)),
  approved: Schema.optionalKey(Schema.Boolean),
  employee_approval_status: Schema.optionalKey(Schema.Literals(approvalStatuses)),
  hourly_wage: Schema.optionalKey(Cents),
  tips: Schema.optionalKey(Schema.Int),
  notes: Schema.optionalKey(Schema.String),
  deleted: Schema.optionalKey(Schema.Boolean)
})

const decodeEdit = Schema.decodeUnknownEffect(Schema.fromJsonString(Edit), { onExcessProperty: "error" })

/** The service that also answers to edits of the punches that it has been given. */
export const withEdits = (service: FakeService["Service"]): FakeService["Service"] => {
  const ids = new Set<number>()
  const noted = (punches: ReadonlyArray<{ readonly id: number }>) => {
    for (const { id } of punches) ids.add(id)
  }

  const edit = Effect.fnUntraced(function*(path: string, body: string) {
    const id = Number(path)
    if (!ids.has(id)) return answer(404, `There is no punch ${path}.`)
    const { employee_approval_status: employeeApprovalStatus, ...wire } = yield* decodeEdit(body)
    yield* service.edit([id], { ...wire, ...(employeeApprovalStatus && { employeeApprovalStatus }) })
    return answer(204)
  }, Effect.catchTag("SchemaError", ({ message }) => Effect.succeed(answer(422, message))))

  return FakeService.of({
    ...service,
    seed: (punches) => Effect.tap(service.seed(punches), () => Effect.sync(() => noted(punches))),
    add: (punches) => Effect.tap(service.add(punches), () => Effect.sync(() => noted(punches))),
    respond: (request) => {
      const { body, method, url } = request
      if (!url.startsWith(editPath)) return service.respond(request)
      if (method !== "PATCH") return Effect.succeed(answer(405, "The method must be PATCH."))
      return edit(url.slice(editPath.length), body)
    }
  })
}

/** A line of text for a person, or nothing. */
const answer = (status: number, text = ""): FakeResponse => ({
  status,
  headers: text === "" ? {} : { "content-type": "text/plain; charset=utf-8" },
  body: text === "" ? "" : `${text}\n`,
  delivery: { _tag: "Whole" }
})
