/** The problem body of an error response, as far as it is well-typed. */
import * as Schema from "effect/Schema"
import { printable } from "./internal/text/printable.ts"

/**
 * What the problem body of an error response said. Holds only the members that were present and well-typed, perhaps
 * none; nothing is invented.
 */
export const Problem = Schema.Struct({
  /** The kind of problem, as a URI or a path such as `/problems/422`. */
  type: Schema.optionalKey(Schema.String),
  /** What kind of problem it is, for people. An `error` member of an older body counts as this. */
  title: Schema.optionalKey(Schema.String),
  /** The status that the body names. It may differ from the status line, which alone decides the error. */
  status: Schema.optionalKey(Schema.Number),
  /** What went wrong in this request, for people. A `message` member of an older body counts as this. */
  detail: Schema.optionalKey(Schema.String),
  /** The service's own number for the problem. */
  code: Schema.optionalKey(Schema.Number),
  /** The parameter that the service refused, by its name in the query. */
  param: Schema.optionalKey(Schema.String)
})
export type Problem = typeof Problem.Type

/** The problem as the end of a sentence; empty for an empty problem. @internal */
export const explain = (problem: Problem): string => {
  const sentence = [problem.title, problem.detail].filter((text) => text !== undefined).map(printable).join(": ")
  const hints = [
    problem.code === undefined ? undefined : `code ${problem.code}`,
    problem.param === undefined ? undefined : `param ${printable(problem.param)}`
  ].filter((hint) => hint !== undefined)
  return `${sentence === "" ? "" : `: ${sentence}`}${hints.length === 0 ? "" : ` (${hints.join(", ")})`}`
}
