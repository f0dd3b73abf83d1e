/** `time-punches copy erase`: erases the copy of one company. */
import type * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { holdingsOf } from "../../close/holdings.ts"
import { openCopy } from "../database/copy.ts"
import { databaseFlag } from "../database/database.ts"
import { erase } from "../database/erase.ts"
import { companyFlags } from "../flags/connection.ts"
import { onFlag } from "../flags/values.ts"
import { printDone } from "../print/output.ts"
import { makeVerb } from "../verb.ts"

const flags = {
  company: companyFlags.company,
  database: databaseFlag,
  closesToo: onFlag("closes-too", "Erase it also if it has closes, which are payroll records"),
  yes: onFlag("yes", "Do not ask; needed outside a terminal")
}

export const verb = makeVerb("erase", flags, (input) => eraseCopy(input), {
  text: `Erase the punches, the checkpoint and the history of a company.

  It shows in a terminal what goes, and asks. A company that has closes is
  refused, unless --closes-too is given.`,
  examples: [["copy erase --company 4021 --database punches.db", "Asks first"]]
})

const eraseCopy = Effect.fnUntraced(function*(input: Command.Command.Config.Infer<typeof flags>) {
  const { company: id, layer } = yield* openCopy(input, { command: "copy erase", writes: true })
  const call = `time-punches copy erase --company ${id}`
  const isErased = yield* Effect.provide(
    Effect.gen(function*() {
      // A mistyped company must not pass for one that is erased.
      if (!(yield* holdingsOf(id)).isCopy) return false
      yield* erase({ ...input, ids: [id], call, asked: "copy erase" }, Effect.void)
      return true
    }),
    layer
  )
  yield* printDone(
    isErased
      ? `the copy of company ${id} is erased, with its checkpoint and history${
        input.closesToo ? ", and its closes" : ""
      }`
      : `there is no copy of company ${id}: nothing was erased`
  )
})
