/** `--quiet`, `--verbose` and `--log-format`: how a run writes to standard error. */
import * as Cause from "effect/Cause"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import * as Result from "effect/Result"
import type * as Stdio from "effect/Stdio"
import * as Terminal from "effect/Terminal"
import { OnRetry, type RetryNotice } from "../../internal/telemetry/metrics.ts"
import { printable } from "../../internal/text/printable.ts"
import { type CommandFailure, refused } from "../failure.ts"
import { shellWord } from "../flags/values.ts"
import { clearLine, formats, logOf, makeMode, Messages, showRetry } from "../print/messages.ts"
import { takeFlags } from "./arguments.ts"
import { takeSettings } from "./profile.ts"

/** Declared for the help: their values are taken before the arguments are parsed, so that every message follows them. */
export const messageFlags = [
  GlobalFlag.Setting("quiet")({
    flag: Flag.Boolean("quiet").pipe(
      Flag.withAlias("q"),
      Flag.withDescription("No progress, retries or hints on standard error; errors and warnings stay"),
      Flag.withDefault(false)
    )
  }),
  GlobalFlag.Setting("verbose")({
    flag: Flag.Boolean("verbose").pipe(
      Flag.withAlias("v"),
      Flag.withDescription("The library's log on standard error, from level debug"),
      Flag.withDefault(false)
    )
  }),
  GlobalFlag.Setting("log-format")({
    flag: Flag.Literals("log-format", formats).pipe(
      Flag.withMetavar("lines|json"),
      Flag.withDescription(
        "How standard error is written; json: one object a line, for a log collector (default: lines)"
      ),
      Flag.optional
    )
  })
]

/** Takes the flags out of the arguments. */
const takeMessages = (args: ReadonlyArray<string>) =>
  takeFlags(args, { "log-format": "lines or json" }, { quiet: "q", verbose: "v" })

/** A pipe of the shell, as in `--variables <(sops …)`, names nothing after this run. */
const wordsOf = ({ values }: { readonly values: ReadonlyMap<string, string> }): string =>
  Array.from(
    values,
    ([name, value]) => name === "variables" && /^\/(dev|proc)\//.test(value) ? "" : `--${name} ${shellWord(value)} `
  ).join("")

/** The other arguments, or why these flags are refused. */
const restOf = (args: ReadonlyArray<string>): Result.Result<ReadonlyArray<string>, CommandFailure> =>
  Result.flatMap(takeMessages(args), ({ rest, values }) => {
    const format = values.get("log-format")
    if (format !== undefined && !formats.some((each) => each === format)) {
      return refused(`--log-format needs lines or json, and not ${printable(format)}`)
    }
    return values.has("quiet") && values.has("verbose")
      ? refused("--quiet and --verbose are opposites", "Give one or the other.")
      : Result.succeed(rest)
  })

/**
 * Runs with the messages that these arguments choose: their log, and the retries of the library as one line each. `takeRest`
 * gives the other arguments, or refuses these: its refusal has the format that they choose.
 */
export const withMessages = <A, E, R>(
  args: ReadonlyArray<string>,
  use: (
    takeRest: (args: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, CommandFailure>
  ) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function*() {
    const values = Result.match(takeMessages(args), {
      onFailure: () => new Map<string, string>(),
      onSuccess: ({ values }) => values
    })
    const { columns } = yield* Terminal.Terminal
    const mode = makeMode({
      format: values.get("log-format") === "json" ? "json" : "lines",
      detail: values.has("quiet") ? "quiet" : values.has("verbose") ? "verbose" : "normal",
      columns,
      settings: Result.match(takeSettings(args), { onFailure: () => "", onSuccess: wordsOf })
    })
    const context = Context.add(yield* Effect.context<Stdio.Stdio>(), Messages, mode)
    const showNotice = (notice: RetryNotice) => Effect.provideContext(showRetry(notice), context)
    return yield* use((args) => Effect.fromResult(restOf(args))).pipe(
      // Here a bug has the format of the run.
      Effect.tapCause((cause) => Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError(cause)),
      Effect.ensuring(clearLine),
      Effect.provide(logOf(mode.format, mode.detail === "verbose")),
      Effect.provideService(OnRetry, mode.detail === "verbose" ? undefined : showNotice),
      Effect.provideService(References.MinimumLogLevel, leastLevel[mode.detail]),
      Effect.provideService(Messages, mode)
    )
  })

const leastLevel = { quiet: "Warn", normal: "Info", verbose: "Debug" } as const
