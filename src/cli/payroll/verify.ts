/** `time-punches payroll verify`: compares the record with the history. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { intoOutput } from "../files/output.ts"
import { isJson } from "../flags/values.ts"
import { counted } from "../print/format.ts"
import { printWarning } from "../print/messages.ts"
import { printLines } from "../print/output.ts"
import { closeNumber, readFlags } from "./arguments.ts"
import { operating } from "./operating.ts"

const flags = { ...readFlags, close: Argument.optional(closeNumber) }

export const verify = Command.make("verify", flags, (input) => intoOutput(verifyCloses(input), input)).pipe(
  Command.withDescription(
    `Compute every revision again from the history, and compare.

  The exit code is 7 if one is not what was recorded.`
  ),
  Command.withShortDescription("Compare the record with the history"),
  Command.withExamples([
    { command: "time-punches payroll verify --database punches.db", description: "Every revision" },
    { command: "time-punches payroll verify 7 --database punches.db", description: "Those of close 7" }
  ])
)

const verifyCloses = Effect.fnUntraced(function*(input: Command.Command.Config.Infer<typeof flags>) {
  const { Close, recordOf } = yield* operating
  const { company, layer } = yield* recordOf(input, "verify")
  const json = yield* Effect.fromResult(isJson(input))
  const verified = yield* Effect.provide(Close.verify(company, Option.getOrUndefined(input.close)), layer)
  if (json) return yield* printLines([JSON.stringify(verified)])
  const { revisions, unverifiable } = verified
  yield* printLines([`${counted(revisions, "revision")} verified`])
  if (unverifiable > 0) {
    yield* printWarning(`${counted(unverifiable, "revision")} out of reach of the history`)
  }
})
