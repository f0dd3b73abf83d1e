/** The punches of a copy, which is complete and says how old it is. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Company } from "../../Company.ts"
import type { PunchFilter } from "../../PunchFilter.ts"
import { connect, inSnapshot } from "../../sql/connection.ts"
import { conditionsOf } from "../../sql/read.ts"
import * as SqlStore from "../../sql/SqlStore.ts"
import { completeCopy, layerCopy } from "./complete.ts"
import { readTarget } from "./database.ts"

/** The punches of a filter in the database that `--database` names, by clock-in. Nothing is written into it. */
export const fromCopy = (company: Company, database: string, filter: PunchFilter) =>
  Stream.unwrap(Effect.gen(function*() {
    const target = yield* Effect.fromResult(readTarget(database, "--database"))
    // Before a database is opened for a question that it cannot answer.
    yield* Effect.fromResult(conditionsOf(company.id, filter))
    return complete(company, target.shown, filter).pipe(Stream.provide(layerCopy(company.id, target)))
  }))

/** How old the copy is, and its punches: both of one state, so that a purge between them is no empty sum. */
const complete = (company: Company, shown: string, filter: PunchFilter) =>
  Stream.unwrap(Effect.map(connect(), (client) =>
    inSnapshot(
      client,
      Stream.unwrap(Effect.gen(function*() {
        yield* completeCopy(company.id, shown)
        return SqlStore.list(company.id, filter)
      }))
    )))
