/** `time-punches copy erase`: erases the copy of one company. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { databaseFlag, targetOfCopy } from "../database/database.ts"
import { companyFlags, companyOf } from "../flags/connection.ts"
import { onFlag } from "../flags/values.ts"
import { printDone } from "../print/output.ts"

const flags = {
  company: companyFlags.company,
  database: databaseFlag,
  closesToo: onFlag("closes-too", "Erase it also if it has closes, which are payroll records"),
  yes: onFlag("yes", "Do not ask; needed outside a terminal")
}

export const erase = Command.make("erase", flags, (input) => eraseCopy(input)).pipe(
  Command.withDescription(
    `Erase the punches, the checkpoint and the history of a company.

  It shows in a terminal what goes, and asks. A company that has closes is
  refused, unless --closes-too is given.`
  ),
  Command.withShortDescription("Erase the copy of a company"),
  Command.withExamples([
    { command: "time-punches copy erase --company 4021 --database punches.db", description: "Asks first" }
  ])
)

const eraseCopy = Effect.fnUntraced(function*(input: Command.Command.Config.Infer<typeof flags>) {
  const operate = yield* Effect.promise(() => import("./operate.ts"))
  const { id } = yield* companyOf(input)
  const target = yield* targetOfCopy(input.database, "copy erase")
  const call = `time-punches copy erase --company ${id}`
  const isErased = yield* Effect.provide(
    Effect.gen(function*() {
      // A mistyped company must not pass for one that is erased.
      if (!(yield* operate.holdingsOf(id)).isCopy) return false
      yield* operate.erase({ ...input, ids: [id], call, asked: "copy erase" }, Effect.void)
      return true
    }),
    operate.layerCopy(id, target, false)
  )
  yield* printDone(
    isErased
      ? `the copy of company ${id} is erased, with its checkpoint and history${
        input.closesToo ? ", and its closes" : ""
      }`
      : `there is no copy of company ${id}: nothing was erased`
  )
})
