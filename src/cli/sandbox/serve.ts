/** The service behind `time-punches sandbox`: serves the fake service on a port and prints a client's settings. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { approvalStatuses } from "../../testing/base/WirePunch.ts"
import { FakeServer } from "../../testing/FakeServer.ts"
import {
  defaultCompany,
  defaultOAuthClient,
  type FakeResponse,
  FakeService,
  Fault,
  generateWeeks,
  type StoredPunch
} from "../../testing/index.ts"
import { defaultSession, otherCompany } from "../../testing/service/options.ts"
import { CommandFailure, errorCode, exitCode } from "../failure.ts"
import { readInstant } from "../flags/values.ts"
import { countedPunches } from "../terminal/format.ts"
import { printError, printLines } from "../terminal/output.ts"
import { churn } from "./churn.ts"

/** What is served, and how badly it behaves. */
export interface SandboxOptions {
  readonly json: boolean
  readonly port: number
  /** Number of punches that a listing has. */
  readonly punches: number
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
export const serve = (options: SandboxOptions) =>
  Effect.gen(function*() {
    const service = yield* FakeService
    const { url } = yield* FakeServer
    const { ofDefault, ofOther } = punchesOf(options.punches, options.seed)
    yield* service.seed([...ofDefault, ...ofOther])
    if (options.fail > 0) {
      yield* service.inject(Fault.retryAfter("1", 503), { probability: { chance: options.fail, seed: options.seed } })
    }
    const listed = ofDefault.filter(({ deleted }) => deleted !== true)
    yield* printLines(options.json ? [JSON.stringify(variablesFor(url))] : settingsFor(url, listed))
    yield* printError(`${url} serves ${countedPunches(listed.length)}${spanOf(listed)}. Ctrl-C stops it.`)
    if (options.churn || Option.isSome(options.churnFor)) {
      const seconds = Option.getOrElse(options.churnFor, () => Infinity)
      yield* printError("Punches change twice a second.")
      yield* Effect.timeoutOption(churn(ofDefault, options.seed), Duration.seconds(seconds))
      yield* printError("Punches no longer change.")
    }
    return yield* Effect.never
  }).pipe(
    Effect.provide(
      FakeServer.layer({ port: options.port }).pipe(
        Layer.provideMerge(Layer.effect(FakeService, Effect.map(FakeService, withEdits))),
        Layer.provide(FakeService.layer({ latency: options.latency }))
      )
    ),
    Effect.catchTag("ServeError", ({ cause }) =>
      Effect.fail(
        new CommandFailure({
          message: `cannot listen on port ${options.port}: ${Option.getOrElse(errorCode(cause), () => "refused")}`,
          advice: ["--port 0 takes a free one."],
          code: exitCode.system
        })
      ))
  )

/** The dates of the first and the last punch, so that a reader knows which weeks to list. */
const spanOf = (punches: ReadonlyArray<StoredPunch>): string => {
  const [first, last] = [punches[0], punches.at(-1)].map((punch) => punch?.clocked_in.slice(0, 10))
  return first === undefined ? "" : ` of ${first} to ${last}`
}

/** The environment of an OAuth client. */
const variablesFor = (url: string) => ({
  TIME_PUNCHES_BASE_URL: url,
  TIME_PUNCHES_AUTH_URL: url,
  TIME_PUNCHES_CLIENT_ID: defaultOAuthClient.clientId,
  TIME_PUNCHES_CLIENT_SECRET: defaultOAuthClient.clientSecret,
  TIME_PUNCHES_COMPANY_ID: `${defaultCompany.id}`,
  TIME_PUNCHES_COMPANY_GUID: defaultCompany.guid
})

/** Lines for a shell: the settings of an OAuth client, and commented out those of other credentials and two requests. */
const settingsFor = (url: string, punches: ReadonlyArray<StoredPunch>): ReadonlyArray<string> => [
  "# OAuth client:",
  ...Object.entries(variablesFor(url)).map(([name, value]) => `export ${name}=${value}`),
  "",
  "# or, in place of client id and secret, the access token of one company:",
  `# export TIME_PUNCHES_ACCESS_TOKEN=${defaultCompany.accessToken}`,
  "# or a session cookie:",
  `# export TIME_PUNCHES_SESSION_COOKIE=${defaultSession.cookie}`,
  "",
  "# a first page by hand:",
  `# curl -H 'authorization: Bearer ${defaultCompany.accessToken}' ` +
  `'${url}/v2/company/${defaultCompany.id}/time_punches?limit=3'`,
  ...punches.slice(0, 1).flatMap(({ id }) => [
    "# a correction, as a manager makes it in the service:",
    `# curl -X PATCH -d '{"notes":"corrected"}' ${url}${editPath}${id}`
  ])
]

/** Fourteen weeks of the default company, fewer of a small one, and a ninth as much of one that its credentials must not read. */
const punchesOf = (count: number, seed: number) => {
  const weeksOf = (count: number) => ({ count, people: Math.max(8, Math.round(count / 90)) })
  const ofDefault = generateWeeks({ seed, ...weeksOf(count), companyId: defaultCompany.id })
  const ofOther = generateWeeks({
    seed: seed + 1,
    ...weeksOf(Math.ceil(count / 9)),
    companyId: otherCompany.id,
    // Leaves ids for punches that are clocked while the sandbox runs.
    firstId: (ofDefault.at(-1)?.id ?? 0) + 1_000_000
  })
  return { ofDefault, ofOther }
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
