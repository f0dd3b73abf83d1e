/** The flags of `time-punches sandbox`. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { dayMillis } from "../../internal/wire/instant.ts"
import { fileFlag, intervalForm, jsonFlags, nonBlank, readInterval, readWhole, text, whole } from "../flags/values.ts"

const mostCompanies = 20_000

/** What `--churn` stands for without a value. */
const always = "always"

/** In milliseconds: less than a second too, which no other time of the command is. */
const readLatency = (text: string): Option.Option<number> =>
  text.endsWith("ms")
    ? readWhole(text.slice(0, -"ms".length), 0, dayMillis)
    : Option.filter(Option.map(readInterval(text), Duration.toMillis), (millis) => millis <= dayMillis)

const orElse = <A>(flag: Flag.Flag<Option.Option<A>>, otherwise: A) => Flag.map(flag, Option.getOrElse(() => otherwise))

export const sandboxFlags = {
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
  churn: Flag.String("churn").pipe(
    Flag.withMetavar("TIME"),
    Flag.withDescription(
      "Add, edit, delete and restore punches twice a second, for each hundred companies; with =60s for that long"
    ),
    Flag.filterMap(
      (text) => text === always ? Option.some(Duration.infinity) : readInterval(text),
      () => intervalForm("60s")
    ),
    Flag.withOptionalValue(always),
    Flag.optional
  )
}

export type SandboxInput = Command.Command.Config.Infer<typeof sandboxFlags>
