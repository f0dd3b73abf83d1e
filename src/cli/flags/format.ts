/** The flags that choose the form of what a command prints. */
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { type CommandFailure, usage } from "../failure.ts"

/** Every subcommand that prints has it: the whole output is one JSON value. */
export const jsonFlag = Flag.Boolean("json").pipe(
  Flag.withDescription("Print one JSON value"),
  Flag.withoutNegation,
  Flag.withDefault(false)
)

/** The form that `--format` and `--json` choose together; both may name JSON, but not two forms. */
export const formatOf = <const F extends string>(
  { format, json }: { readonly format: Option.Option<F>; readonly json: boolean },
  otherwise: F
): Result.Result<F | "json", CommandFailure> => {
  if (!json) return Result.succeed(Option.getOrElse(format, () => otherwise))
  return Option.isNone(format) || format.value === "json"
    ? Result.succeed("json")
    : Result.fail(usage(`--json and --format ${format.value} are two forms`, "Give one or the other."))
}
