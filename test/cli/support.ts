/** Runs the command in this process against the fake service, and captures its output. */
import { NodeServices } from "@effect/platform-node"
import { assert } from "@effect/vitest"
import { ConfigProvider, Effect, FileSystem, Layer, Sink, Stdio, Stream, Terminal } from "effect"
import { CliConfig, CliOutput, Command, type HelpDoc } from "effect/cli"
import { HttpClient, HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"
import * as Fs from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { builtIns, loadCommand, run } from "../../src/cli/command.ts"
import {
  defaultCompany,
  defaultOAuthClient,
  FakeService,
  type StoredPunch,
  type WirePunch
} from "../../src/testing/index.ts"

/** The command with all its verbs. */
export const command = await loadCommand()

/** What a shell sees of a command. */
export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export type Environment = Readonly<Record<string, string>>

/** The variables that `time-punches sandbox` prints. */
export const environment: Environment = {
  TIME_PUNCHES_BASE_URL: "https://api.test",
  TIME_PUNCHES_REQUESTS_PER_SECOND: "none",
  TIME_PUNCHES_CLIENT_ID: defaultOAuthClient.clientId,
  TIME_PUNCHES_CLIENT_SECRET: defaultOAuthClient.clientSecret,
  TIME_PUNCHES_COMPANY_ID: `${defaultCompany.id}`,
  TIME_PUNCHES_COMPANY_GUID: defaultCompany.guid
}

/** No credential and no address: all that a call over a copy needs. */
export const companyOnly: Environment = { TIME_PUNCHES_COMPANY_ID: `${defaultCompany.id}` }

/** `environment` without the named variables. */
export const without = (...names: ReadonlyArray<string>): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !names.includes(name)))

const decoder = new TextDecoder()

/** A sink that appends what it receives to each of `texts`. */
export const capture = (...texts: ReadonlyArray<Array<string>>) => () =>
  Sink.forEach((chunk: string | Uint8Array) =>
    Effect.sync(() => {
      const text = typeof chunk === "string" ? chunk : decoder.decode(chunk)
      for (const each of texts) each.push(text)
    })
  )

/** A client of the fake service that rewrites the URL of each request. */
const layerRewriting = (rewrite: (url: string) => string) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, HttpClient.mapRequest(HttpClientRequest.updateUrl(rewrite)))
  ).pipe(Layer.provide(FakeService.layerClient))

/** The file system of this machine, with what a test changes of it. */
const layerFiles = (change: (fs: FileSystem.FileSystem) => FileSystem.FileSystem) =>
  Layer.effect(FileSystem.FileSystem, Effect.map(FileSystem.FileSystem, change)).pipe(
    Layer.provideMerge(NodeServices.layer)
  )

const layerColumns = (columns: number) =>
  Layer.effect(
    Terminal.Terminal,
    Terminal.Terminal.use((terminal) =>
      Effect.succeed(Terminal.make({ ...terminal, columns: Effect.succeed(columns) }))
    )
  )

/**
 * `terminal`: both outputs are terminals, of so many `columns` (default: no limit); `NO_COLOR` is set unless `colour`. `rewrite`: changes the URL of each request on its way to the service. `http`:
 * another client than that of the fake service. `files`: changes the file system. `stderr`: receives standard error as it
 * is written, also that of a run that is interrupted. `screen`: receives both outputs in the order of writing, as a
 * terminal does.
 */
export const cli = (
  args: ReadonlyArray<string>,
  options: {
    readonly env?: Environment
    readonly terminal?: boolean
    readonly colour?: boolean
    readonly columns?: number
    readonly rewrite?: (url: string) => string
    readonly http?: Layer.Layer<HttpClient.HttpClient, never, FakeService>
    readonly files?: (fs: FileSystem.FileSystem) => FileSystem.FileSystem
    readonly stderr?: Array<string>
    readonly screen?: Array<string>
    /** What standard input holds; without it, it is a terminal. */
    readonly stdin?: string
  } = {}
): Effect.Effect<Ran, never, FakeService> => {
  const {
    colour = false,
    env = environment,
    files = (fs) => fs,
    rewrite = (url) => url,
    screen = [],
    stderr = [],
    terminal = false
  } = options
  const { columns = 0, http = layerRewriting(rewrite), stdin } = options
  const stdout: Array<string> = []
  return Effect.map(run(args), (code) => ({ code, stdout: stdout.join(""), stderr: stderr.join("") })).pipe(
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: colour ? env : { NO_COLOR: "1", ...env } }))),
    Effect.provide(http),
    Effect.provide(Stdio.layerTest({
      stdout: capture(stdout, screen),
      stderr: capture(stderr, screen),
      stdin: stdin === undefined ? Stream.empty : Stream.make(new TextEncoder().encode(stdin)),
      stdinIsTerminal: Effect.succeed(stdin === undefined),
      stdoutIsTerminal: Effect.succeed(terminal),
      stderrIsTerminal: Effect.succeed(terminal)
    })),
    Effect.provide(layerColumns(columns)),
    Effect.provide(layerFiles(files))
  )
}

/** Runs commands over a copy, without a credential and without an address. */
export const onCopy = (file: string) => (...args: ReadonlyArray<string>) =>
  cli([...args, "--database", file], { env: companyOnly })

/** A folder that is removed with the scope. */
export const temporaryFolder = FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped()).pipe(
  Effect.provide(NodeServices.layer)
)

type Punches = ReadonlyArray<WirePunch | StoredPunch>

/** Runs an effect over a separate fake service with these punches, and closes its scope. */
export const inFakeOf = (punches: Punches) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(Effect.scoped, Effect.provide(FakeService.layer({ punches })))

/** Runs what uses a folder, over a fake service with these punches. */
export const inFolder = <A, E, R>(punches: Punches, use: (folder: string) => Effect.Effect<A, E, R>) =>
  inFakeOf(punches)(Effect.flatMap(temporaryFolder, use))

/** The instant at which a test of `inCopyOf` begins. */
export const copyStart = Date.parse("2026-07-01T12:00:00Z")

/** Runs what uses the path of a copy that is not there yet, over a fake service with these punches. */
export const inCopyOf = (punches: Punches) => <A, E, R>(use: (file: string) => Effect.Effect<A, E, R>) =>
  inFolder(punches, (folder) => Effect.andThen(TestClock.setTime(copyStart), use(`${folder}/punches.db`)))

/** Changes the tables of a copy behind the back of the command. */
export const execute = (file: string, ...statements: ReadonlyArray<string>) => {
  const database = new DatabaseSync(file)
  for (const statement of statements) database.exec(statement)
  database.close()
}

/** The text of a file. */
export const read = (file: string) => Fs.readFileSync(file, "utf8")

export const linesOf = (text: string): ReadonlyArray<string> => text.split("\n").filter((line) => line !== "")

/** The queries of the page requests that the service received, in order. */
export const queries = Effect.map(
  FakeService.use((service) => service.requests),
  (requests) => requests.filter(({ endpoint }) => endpoint === "page").map(({ query }) => query)
)

/** The words that call a command, or each of its subcommands if it has some, as `fleet` does. */
const pathsOf = ({ name, subcommands }: Command.Command.Any, above: ReadonlyArray<string>): ReadonlyArray<string> => {
  const path = [...above, name]
  return subcommands.length === 0
    ? [path.join(" ")]
    : subcommands.flatMap(({ commands }) => commands.flatMap((each) => pathsOf(each, path)))
}

/** What prints only what `--help` and `--version` print. */
export const printers: ReadonlyArray<string> = ["help", "version"]

/** Every other subcommand, such as `list` and `fleet add`. */
export const subcommands = command.subcommands
  .flatMap(({ commands }) => commands.flatMap((each) => pathsOf(each, [])))
  .filter((name) => !printers.includes(name))

/** What the help of a subcommand has, before it is laid out. */
export const helpOf = Effect.fnUntraced(function*(path: ReadonlyArray<string>) {
  const docs: Array<HelpDoc.HelpDoc> = []
  const present = (event: CliOutput.Presenter.Event) =>
    Effect.sync(() => {
      if (event._tag === "Help") docs.push(event.helpDoc)
    })
  yield* Effect.ignore(Command.runWith(command, { version: "0" })([...path, "--help"])).pipe(
    Effect.provideService(CliOutput.Presenter, CliOutput.Presenter.of({ present })),
    Effect.provideService(CliConfig.CliConfig, CliConfig.CliConfig.of(CliConfig.make({ builtIns }))),
    Effect.provide(NodeServices.layer),
    Effect.provide(FakeService.layerClient),
    Effect.provide(FakeService.layer())
  )
  const [doc] = docs
  return doc ?? assert.fail(`no help of ${path.join(" ")}`)
})

/** The flags that it lists. */
export const flagsOf = (path: ReadonlyArray<string>) => Effect.map(helpOf(path), ({ flags }) => flags)
