/** `time-punches sandbox`: the fake service on this machine, with faults on demand. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { dayMillis } from "../../internal/wire/instant.ts"
import { FakeServer } from "../../testing/FakeServer.ts"
import { type FakeCompany, FakeService, Fault, type StoredPunch } from "../../testing/index.ts"
import { editPath } from "../../testing/page/edits.ts"
import { clientVariables, environmentLines } from "../../testing/page/environment.ts"
import type { FakeAccess } from "../../testing/service/options.ts"
import { cannotListen, failure, usage } from "../failure.ts"
import { naming } from "../flags/file.ts"
import { isJson, jsonFlags } from "../flags/form.ts"
import { clear, fileOf, ifExists, intoOutput, replaceWhole, resolveTarget } from "../flags/output.ts"
import { fileFlag, intervalForm, nonBlank, onFlag, readInterval, readWhole, text, whole } from "../flags/values.ts"
import { counted, countedPunches } from "../print/format.ts"
import { printError, printHint } from "../print/messages.ts"
import { printLines } from "../print/output.ts"
import { makeVerb } from "../verb.ts"
import { churn, churnRate } from "./churn.ts"
import { manyCompanies, twoCompanies, withWorld } from "./companies.ts"

const mostCompanies = 20_000

/** What `--churn` stands for without a value. */
const always = "always"

/** In milliseconds: less than a second too, which no other time of the command is. */
const readLatency = (text: string): Option.Option<number> =>
  text.endsWith("ms")
    ? readWhole(text.slice(0, -"ms".length), 0, dayMillis)
    : Option.filter(Option.map(readInterval(text), Duration.toMillis), (millis) => millis <= dayMillis)

const orElse = <A>(flag: Flag.Flag<Option.Option<A>>, otherwise: A) => Flag.map(flag, Option.getOrElse(() => otherwise))

const sandboxFlags = {
  ...jsonFlags,
  port: orElse(
    whole("port", "N", "Port to listen on, for this machine only; 0 takes a free one (default: 0)", 0, 65_535),
    0
  ),
  companies: whole(
    "companies",
    "N",
    "Serve N companies to the OAuth client, 5001 and so on, in place of one",
    1,
    mostCompanies
  ),
  companiesCsv: nonBlank(
    "companies-csv",
    "FILE",
    "With --companies: write company_id,guid to this file, or to standard output for -",
    "the name of a file, or -"
  ),
  force: onFlag("force", "Replace the file of --companies-csv if it exists"),
  writeEnv: fileFlag(
    "write-env",
    "Write the settings of the OAuth client to this file, for --variables. One that no sandbox wrote is refused"
  ),
  punches: whole(
    "punches",
    "N",
    "Number of punches that a listing has, deleted ones not counted (default: 50000, or 500 with --companies)",
    0,
    5_000_000
  ),
  seed: orElse(whole("seed", "N", "The same seed gives the same punches (default: 1)", 0), 1),
  errorRate: orElse(
    text(
      "error-rate",
      "SHARE",
      "Share of the page requests, 0 to 1, that are answered with 503 (default: 0)",
      "a share from 0 to 1, such as 0.1",
      (text) => /^(0(\.\d+)?|1(\.0+)?)$/.test(text) ? Option.some(Number(text)) : Option.none()
    ),
    0
  ),
  latency: orElse(
    text(
      "latency",
      "TIME",
      "Time from a request to its answer, such as 200ms (default: 0ms)",
      "a time from 0ms to 1d, such as 200ms or 2s",
      readLatency
    ),
    0
  ),
  churn: text(
    "churn",
    "TIME",
    "Add, edit, delete and restore punches twice a second, for each hundred companies; with =60s for that long",
    intervalForm("60s"),
    (text) => text === always ? Option.some(Duration.infinity) : readInterval(text),
    always
  )
}

type SandboxInput = Command.Command.Config.Infer<typeof sandboxFlags>

export const verb = makeVerb("sandbox", sandboxFlags, (input) => serve(input), {
  text: `Run a time-punch service on this machine, filled with made-up punches, until
  Ctrl-C.

  It prints export lines with the settings of an OAuth client, to paste into
  another terminal, and in comments an access token and a session cookie. With
  --companies it prints no company: --companies-csv writes their ids and guids.

  In a browser its address shows the requests that it gets, injects faults, and
  lists and corrects punches.`,
  examples: [
    ["sandbox --port 4010", "50,000 punches on port 4010"],
    ["sandbox --port 4010 --error-rate 0.1 --latency 200ms", "A slow service that often fails"],
    ["sandbox --port 4010 --companies 300 --companies-csv companies.csv", "Three hundred companies"],
    ["sandbox --churn", "Punches that change, for time-punches sync"]
  ]
})

/** Serves until interrupted. */
const serve = Effect.fnUntraced(function*(options: SandboxInput) {
  const { companies: count, companiesCsv, seed } = options
  const json = yield* isJson(options)
  if (Option.isNone(count) && Option.isSome(companiesCsv)) {
    return yield* usage("--companies-csv goes with --companies")
  }
  if (options.force && Option.isNone(fileOf(companiesCsv)))
    return yield* usage("--force goes with --companies-csv FILE")
  const world = Option.match(count, {
    onNone: () => twoCompanies(Option.getOrElse(options.punches, () => 50_000), seed),
    onSome: (count) => manyCompanies(count, Option.getOrElse(options.punches, () => 500), seed)
  })
  const { companies } = world
  const fake = yield* Layer.build(FakeService.layer({ latency: options.latency, companies }))
  const { fill, isFilled, service } = withWorld(Context.get(fake, FakeService), world)
  const { url } = Context.get(
    yield* Layer.build(
      Layer.provide(FakeServer.layer({ port: options.port, page: true }), Layer.succeed(FakeService, service))
    ),
    FakeServer
  )
  if (options.errorRate > 0) {
    yield* service.inject(Fault.retryAfter("1", 503), { probability: { chance: options.errorRate, seed } })
  }
  const { access } = service
  const company = Option.isSome(count) ? undefined : companies[0]
  const variables = clientVariables(url, access.oauthClients[0], company)
  if (Option.isSome(options.writeEnv)) yield* writeVariables(options.writeEnv.value, variables)
  if (Option.isSome(count)) {
    const isCsvPrinted = yield* writeCompanies(companies, companiesCsv, options.force)
    const print = isCsvPrinted ? (lines: ReadonlyArray<string>) => printError(...lines) : printLines
    yield* print(json ? [JSON.stringify(variables)] : environmentLines(url, access, undefined))
    yield* printHint(`${url} serves ${namesOf(companies)}. Ctrl-C stops it.`, seeAlso(url))
  } else {
    yield* Effect.forEach(companies, (_, index) => fill(index))
    const listed = world.punchesOf(0).filter(({ deleted }) => deleted !== true)
    yield* printLines(
      json ? [JSON.stringify(variables)] : companySettings(url, access, company, listed)
    )
    yield* printHint(
      `${url} serves ${countedPunches(listed.length)}${spanOf(listed)}. Ctrl-C stops it.`,
      seeAlso(url)
    )
  }
  if (Option.isSome(options.churn)) {
    yield* printHint(`Punches change ${churnRate(world.changing)}.`)
    const punchesIn = (index: number) => isFilled(index) ? Option.some(world.punchesOf(index)) : Option.none()
    const changes = churn(world.changing, punchesIn, seed)
    yield* Effect.timeoutOption(Effect.provideService(changes, FakeService, service), options.churn.value)
    yield* printHint("Punches no longer change.")
  }
  return yield* Effect.never
}, (effect, { port }) =>
  Effect.scoped(effect).pipe(
    Effect.catchTag("ServeError", ({ cause }) =>
      Effect.fail(cannotListen(`port ${port}`, cause, "--port 0 takes a free one.")))
  ))

/** The dates of the first and the last punch, so that a reader knows which weeks to list. */
const spanOf = (punches: ReadonlyArray<StoredPunch>): string => {
  const [first, last] = [punches[0], punches.at(-1)].map((punch) => punch?.clocked_in.slice(0, 10))
  return first === undefined ? "" : ` of ${first} to ${last}`
}

const seeAlso = (url: string) => `${url}/ shows its requests, faults and punches.`

/** Lines for a shell: the settings of a client, and commented out two requests. */
const companySettings = (
  url: string,
  access: FakeAccess,
  company: FakeCompany | undefined,
  punches: ReadonlyArray<StoredPunch>
): ReadonlyArray<string> => [
  ...environmentLines(url, access, company),
  ...company === undefined ? [] : [
    "",
    "# a first page by hand:",
    `# curl -H 'authorization: Bearer ${company.accessToken}' ` +
    `'${url}/v2/company/${company.id}/time_punches?limit=3'`
  ],
  ...punches.slice(0, 1).flatMap(({ id }) => [
    "# a correction, as a manager makes it in the service:",
    `# curl -X PATCH -d '{"notes":"corrected"}' ${url}${editPath}${id}`
  ])
]

/** The first line of a file of `--write-env`. By it the next sandbox knows that the file holds nothing of its owner's. */
const mark = "# Written by time-punches sandbox --write-env, which replaces this file.\n"

const isOwn = Effect.fnUntraced(function*(file: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* ifExists(fs.stat(file))
  if (Option.isNone(info)) return false
  const start = yield* naming(file)(Stream.mkString(Stream.decodeText(fs.stream(file, { bytesToRead: mark.length }))))
  return start === mark
})

/** Writes a file for `--variables`. One that the sandbox did not write may have what its owner needs: it is left as it is. */
const writeVariables = Effect.fnUntraced(function*(named: string, variables: Readonly<Record<string, string>>) {
  const fs = yield* FileSystem.FileSystem
  const flag = "--write-env"
  const file = yield* resolveTarget(named, flag)
  yield* clear(file)
  const text = mark + Object.entries(variables).map(([name, value]) => `${name}=${value}\n`).join("")
  if (yield* isOwn(file)) return yield* replaceWhole(file, text)
  if (yield* fs.exists(file)) {
    return yield* failure("system", `${named} exists, and no sandbox wrote it`, "Remove it, or name another one.")
  }
  return yield* intoOutput(printLines(text.trimEnd().split("\n")), { output: Option.some(named), force: false, flag })
})

/** Writes ids and guids for `fleet add`; `true` if standard output has them. */
const writeCompanies = Effect.fnUntraced(function*(
  companies: ReadonlyArray<FakeCompany>,
  output: Option.Option<string>,
  force: boolean
) {
  if (Option.isNone(output)) return false
  const lines = ["company_id,guid", ...companies.map(({ guid, id }) => `${id},${guid}`)]
  yield* intoOutput(printLines(lines), { output, force, flag: "--companies-csv" })
  return output.value === "-"
})

const namesOf = (companies: ReadonlyArray<FakeCompany>): string => {
  const [first, last] = [companies[0]?.id, companies.at(-1)?.id]
  return `${counted(companies.length, "company", "companies")}, ${first === last ? first : `${first} to ${last}`}`
}
