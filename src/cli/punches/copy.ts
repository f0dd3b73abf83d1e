/** The punches of a copy, which is complete and says how old it is. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Company } from "../../Company.ts"
import type { PunchFilter } from "../../PunchFilter.ts"
import { connect } from "../../sql/client.ts"
import { conditionsOf } from "../../sql/list.ts"
import { inSnapshot } from "../../sql/snapshot.ts"
import * as SqlStore from "../../sql/SqlStore.ts"
import { CommandFailure, exitCode } from "../failure.ts"
import { readTarget } from "../flags/database.ts"
import { shellWord } from "../flags/shellWord.ts"
import { layerDatabase } from "../sync/connect.ts"
import { formatAge } from "../sync/report.ts"
import { printError } from "../terminal/output.ts"

/** The punches of a filter in the database that `--database` names, by clock-in. Nothing is written into it. */
export const fromCopy = (company: Company, database: string, filter: PunchFilter) =>
  Stream.unwrap(Effect.gen(function*() {
    const target = yield* Effect.fromResult(readTarget(database, "--database"))
    // Before a database is opened for a question that it cannot answer.
    yield* Effect.fromResult(conditionsOf(company.id, filter))
    return complete(company, target.shown, filter).pipe(Stream.provide(layerDatabase(target, { readonly: true })))
  }))

/** How old the copy is, and its punches: both of one state, so that a purge between them is no empty sum. */
const complete = (company: Company, shown: string, filter: PunchFilter) =>
  Stream.unwrap(Effect.map(connect(), (client) =>
    inSnapshot(
      client,
      Stream.unwrap(Effect.gen(function*() {
        const status = yield* SqlStore.status(company.id)
        const completedAt = Option.flatMap(status.checkpoint, ({ completedAt }) => completedAt)
        if (Option.isNone(completedAt)) return yield* incomplete(company, shown, Option.isSome(status.checkpoint))
        yield* printError(ageOf(shown, status, completedAt.value, DateTime.toUtc(yield* DateTime.now)))
        return SqlStore.list(company.id, filter)
      }))
    )))

/** The sums of a part of the punches look like those of all. */
const incomplete = ({ id }: Company, shown: string, isBegun: boolean) =>
  new CommandFailure({
    message: isBegun
      ? `the copy of company ${id} in ${shown} is not complete: its first load did not end`
      : `${shown} has no copy of company ${id}`,
    advice: [`Run time-punches sync --company ${id} --database ${shellWord(shown)}, then try again.`],
    code: exitCode.data
  })

const ageOf = (
  shown: string,
  { checkpoint, lastError }: SqlStore.CopyStatus,
  completedAt: DateTime.Utc,
  now: DateTime.Utc
): string => {
  const watermark = Option.flatMap(checkpoint, ({ watermark }) => watermark)
  const age = formatAge(Duration.max(Duration.zero, DateTime.distance(completedAt, now)))
  return `The copy in ${shown} has the changes up to ${
    Option.match(watermark, { onNone: () => "an unknown instant", onSome: DateTime.formatIso })
  }; its last pass ended ${age} ago${
    Option.match(lastError, { onNone: () => "", onSome: ({ tag }) => `, and a later one with ${tag}` })
  }.`
}
