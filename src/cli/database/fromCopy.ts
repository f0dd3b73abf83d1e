/** The punches of a copy. Loaded only for a copy: the drivers of the databases are large. */
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Company } from "../../Company.ts"
import type { PunchFilter } from "../../PunchFilter.ts"
import * as PunchCopy from "../../sql/PunchCopy.ts"
import { conditionsOf } from "../../sql/read.ts"
import { commandFailureOf } from "../describe.ts"
import { type CommandFailure, refused } from "../failure.ts"
import type { DatabaseTarget } from "../flags/address.ts"
import { layerCopy, withCopy } from "./copy.ts"

/** The punches of a filter in the copy, by clock-in. */
export const fromCopy = (
  company: Company,
  target: DatabaseTarget,
  filter: PunchFilter,
  maxAge: Option.Option<Duration.Duration>
) =>
  Stream.unwrap(Effect.gen(function*() {
    yield* Effect.fromResult(refuseFineEnds(filter))
    // A filter that a copy cannot answer is refused before its database is opened.
    yield* Effect.mapError(
      Effect.fromResult(conditionsOf(company.id, filter)),
      (error) => commandFailureOf(error, "Leave it out, or read the service: --source service.")
    )
    return withCopy(company.id, target, () => PunchCopy.list(company.id, filter), maxAge)
  }))

/** Whether the copy may have punches that were deleted. */
export const missesDeletions = (company: Company, target: DatabaseTarget) =>
  PunchCopy.status(company.id).pipe(
    Effect.map(({ checkpoint }) => Option.exists(checkpoint, ({ deletions }) => deletions !== undefined)),
    Effect.provide(layerCopy(company.id, target))
  )

/**
 * The service may have finer digits than the milliseconds of a copy: at an end within a second, a copy could list a punch
 * that the service leaves out, or the other way round.
 */
const refuseFineEnds = ({ clockedIn, clockedOut, modifiedSince }: PunchFilter): Result.Result<void, CommandFailure> => {
  const ends: Readonly<Record<string, DateTime.DateTime | undefined>> = {
    "--clocked-in-lte": clockedIn?.lte,
    "--clocked-out-lte": clockedOut?.lte,
    "--modified-since": modifiedSince
  }
  const fine = Object.entries(ends).find(([, at]) => at !== undefined && at.epochMilliseconds % 1000 !== 0)
  return fine === undefined
    ? Result.void
    : refused(
      `${fine[0]} must be a whole second for a copy: the service may have finer digits than a copy`,
      "Give a whole second; for the end of a window, --clocked-in-lt or --clocked-out-lt takes any instant."
    )
}
