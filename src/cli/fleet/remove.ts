/** `time-punches fleet remove`: companies leave the fleet, and with `--purge` their copies are erased. */
import * as Effect from "effect/Effect"
import { databaseFlag } from "../database/database.ts"
import { usage } from "../failure.ts"
import { isJson, jsonFlags } from "../flags/form.ts"
import { onFlag } from "../flags/values.ts"
import { makeVerb } from "../verb.ts"
import { ids, printChange, withFleet } from "./operate.ts"

export const verb = makeVerb(
  "remove",
  {
    database: databaseFlag,
    ids,
    purge: onFlag("purge", "Erase their punches, checkpoints and histories too; asks first"),
    closesToo: onFlag("closes-too", "With --purge: erase also companies that have closes, which are payroll records"),
    yes: onFlag("yes", "With --purge: do not ask; needed outside a terminal"),
    ...jsonFlags
  },
  Effect.fnUntraced(function*(input) {
    const { closesToo, ids, purge } = input
    if (!purge && (input.yes || closesToo)) return yield* usage("--yes and --closes-too go with --purge")
    const json = yield* isJson(input)
    const { erase } = yield* Effect.promise(() => import("../database/erase.ts"))
    const call = `time-punches fleet remove ${ids.join(" ")} --purge`
    const result = yield* withFleet(
      input,
      "changes",
      (fleet) => purge ? erase({ ...input, call, asked: "--purge" }, fleet.remove(ids)) : fleet.remove(ids)
    )
    // Purged in any case: the copy may have a company that the fleet does not.
    yield* printChange(json, result, (companies) =>
      `${companies} removed${
        purge
          ? `, with all their punches, checkpoints and histories${closesToo ? ", and their closes" : ""}`
          : "; their punches stay in the copy"
      }`, "not active")
  }),
  {
    text: `Remove companies. Their punches stay in the copy, except with --purge.

  --purge shows in a terminal what goes, and asks. A company that has closes is
  refused, unless --closes-too is given.`,
    examples: [
      ["fleet remove --database punches.db 4021", "Its punches stay"],
      ["fleet remove --database punches.db 4021 --purge", "Erase them too"]
    ]
  }
)
