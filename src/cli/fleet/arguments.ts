/** What the verbs of `time-punches fleet` share: ids, flags, and what they load only when they run. */
import * as Argument from "effect/cli/Argument"
import * as Effect from "effect/Effect"
import { readCompanyId } from "../flags/connection.ts"
import { wholeNumber } from "../flags/values.ts"

export const idArgument = (description: string) =>
  Argument.String("id").pipe(
    Argument.withMetavar("ID"),
    Argument.withDescription(description),
    Argument.filterMap(readCompanyId, () => wholeNumber(1))
  )

/** One company or more. */
export const ids = Argument.variadic(idArgument("Companies"), { min: 1 })

/** The drivers of the databases are large, so they are loaded only by what needs them. */
export const operating = Effect.promise(() => import("./operate.ts"))
