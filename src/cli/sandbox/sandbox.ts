/** `time-punches sandbox`: the fake service on this machine, with faults on demand, and its flags. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import { jsonFlag, readWhole, text, wholeNumber } from "../flags/values.ts"

const mostCompanies = 20_000

const sandboxFlags = {
  json: jsonFlag,
  port: Flag.Int("port").pipe(
    Flag.withDescription("Port to listen on, for this machine only; 0 takes a free one (default: 0)"),
    Flag.filter((port) => port >= 0 && port <= 65_535, () => wholeNumber(0, 65_535)),
    Flag.withDefault(0)
  ),
  companies: text(
    "companies",
    "N",
    "Serve N companies to the OAuth client, 5001 and so on, in place of one",
    wholeNumber(1, mostCompanies),
    (count) => readWhole(count, 1, mostCompanies)
  ),
  companiesCsv: Flag.String("companies-csv").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("With --companies: write company_id,guid to this file, or to standard output for -"),
    Flag.filter((file) => file.trim() !== "", () => "the name of a file, or -"),
    Flag.optional
  ),
  punches: Flag.Int("punches").pipe(
    Flag.withDescription(
      "Number of punches that a listing has, deleted ones not counted (default: 50000, or 500 with --companies)"
    ),
    Flag.filter((count) => count >= 0 && count <= 5_000_000, () => wholeNumber(0, 5_000_000)),
    Flag.optional
  ),
  seed: Flag.Int("seed").pipe(
    Flag.withDescription("The same seed gives the same punches (default: 1)"),
    Flag.filter((seed) => seed >= 0, () => wholeNumber(0)),
    Flag.withDefault(1)
  ),
  fail: Flag.Finite("fail").pipe(
    Flag.withDescription("Share of the page requests, 0 to 1, that are answered with 503 (default: 0)"),
    Flag.filter((share) => share >= 0 && share <= 1, () => "a share from 0 to 1"),
    Flag.withDefault(0)
  ),
  latency: Flag.Int("latency").pipe(
    Flag.withMetavar("MILLIS"),
    Flag.withDescription("Time from a request to its answer (default: 0)"),
    Flag.filter((millis) => millis >= 0, () => wholeNumber(0)),
    Flag.withDefault(0)
  ),
  churn: Flag.Boolean("churn").pipe(
    Flag.withDescription("Add, edit, delete and restore punches twice a second, for each hundred companies"),
    Flag.withoutNegation,
    Flag.withDefault(false)
  ),
  churnFor: Flag.Int("churn-for").pipe(
    Flag.withMetavar("SECONDS"),
    Flag.withDescription("The same, and stop after this number of seconds; the service runs on"),
    Flag.filter((seconds) => seconds >= 1, () => wholeNumber(1)),
    Flag.optional
  )
}

export const sandbox = Command.make(
  "sandbox",
  sandboxFlags,
  // No other subcommand needs the service, so it is loaded only here.
  (options) => Effect.flatMap(Effect.promise(() => import("./serve.ts")), ({ serve }) => serve(options))
).pipe(
  Command.withDescription(
    `Run a time-punch service on this machine, filled with made-up punches, until
  Ctrl-C.

  It prints export lines with the settings of an OAuth client, to paste into
  another terminal, and in comments an access token and a session cookie. With
  --companies it prints no company: --companies-csv writes their ids and guids.`
  ),
  Command.withShortDescription("Run a local service to try things against"),
  Command.withExamples([
    { command: "time-punches sandbox --port 4010", description: "50,000 punches on port 4010" },
    {
      command: "time-punches sandbox --port 4010 --fail 0.1 --latency 200",
      description: "A slow service that often fails"
    },
    {
      command: "time-punches sandbox --port 4010 --companies 300 --companies-csv companies.csv",
      description: "Three hundred companies"
    },
    { command: "time-punches sandbox --churn", description: "Punches that change, for time-punches sync" }
  ])
)
