/** What the errors of a listing have in common: the fields that say where in a run, and the words of their messages. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Problem } from "../../ApiError.ts"
import { CompanyId, Cursor } from "../../Ids.ts"
import type { Where } from "../../listing/failure.ts"
import { printable } from "./printable.ts"

/** A field that may be left out where an error is made. */
export const withDefault = <S extends Schema.Constraint & Schema.WithoutConstructorDefault>(
  schema: S,
  value: S["~type.make.in"]
) => Schema.withConstructorDefault<S>(Effect.succeed(value))(schema)

/**
 * Where in a run it happened. `resumeFrom` is the cursor of the page that failed: `list(…, { from: error.resumeFrom })`
 * goes on without loss or repeat. `attempts` counts the requests that were sent for that page.
 */
export const where = {
  companyId: withDefault(CompanyId, CompanyId.make(0)),
  resumeFrom: withDefault(Schema.OptionFromNullOr(Cursor), Option.none()),
  pagesCompleted: withDefault(Schema.Int, 0),
  attempts: withDefault(Schema.Int, 1)
}

/** Where in a run, as a message ends. */
export const place = (at: Where): string =>
  `company ${at.companyId}, page ${at.pagesCompleted + 1}, ${at.attempts} ${at.attempts === 1 ? "request" : "requests"}`

/** The message of an error that a status line gave. */
export const refusal = (
  meaning: string,
  error: Where & { readonly status: number; readonly problem: Problem }
): string => `${error.status} ${meaning}${explain(error.problem)} [${place(error)}]`

const explain = (problem: Problem): string => {
  const said = [problem.title, problem.detail].filter((text) => text !== undefined).map(printable).join(": ")
  const hints = [
    problem.code === undefined ? undefined : `code ${problem.code}`,
    problem.param === undefined ? undefined : `param ${printable(problem.param)}`
  ].filter((hint) => hint !== undefined)
  return `${said === "" ? "" : `: ${said}`}${hints.length === 0 ? "" : ` (${hints.join(", ")})`}`
}
