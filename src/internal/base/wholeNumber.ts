/** The check of a whole number within bounds, with the one text that says what it must be. */
import * as Result from "effect/Result"

/** The number itself, or what it must be, as in `pageSize must be …`. Infinity is not a whole number. */
export const wholeNumber = (value: number, least: number, most = Infinity): Result.Result<number, string> =>
  Number.isInteger(value) && value >= least && value <= most
    ? Result.succeed(value)
    : Result.fail(`a whole number ${most === Infinity ? `from ${least} on` : `from ${least} to ${most}`}`)
