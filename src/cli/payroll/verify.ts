/** `time-punches payroll verify`: compares the record with the history. */
import * as Argument from "effect/cli/Argument"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Close from "../../close/Close.ts"
import { intoOutput } from "../flags/output.ts"
import { counted } from "../print/format.ts"
import { printWarning } from "../print/messages.ts"
import { printLines } from "../print/output.ts"
import { makeVerb } from "../verb.ts"
import { closeNumber, openRecord, readFlags } from "./record.ts"

export const verb = makeVerb(
  "verify",
  { ...readFlags, close: Argument.optional(closeNumber) },
  Effect.fnUntraced(function*(input) {
    const { company, json, layer } = yield* openRecord(input, "verify")
    const verified = yield* Effect.provide(Close.verify(company, Option.getOrUndefined(input.close)), layer)
    if (json) return yield* printLines([JSON.stringify(verified)])
    const { revisions, unverifiable } = verified
    yield* printLines([`${counted(revisions, "revision")} verified`])
    if (unverifiable > 0) yield* printWarning(`${counted(unverifiable, "revision")} out of reach of the history`)
  }, intoOutput),
  {
    text: `Compute every revision again from the history, and compare.

  The exit code is 7 if one is not what was recorded.`,
    examples: [
      ["payroll verify --database punches.db", "Every revision"],
      ["payroll verify 7 --database punches.db", "Those of close 7"]
    ]
  }
)
