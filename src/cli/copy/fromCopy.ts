/** The punches of a copy. Loaded only for `--database`: the drivers of the databases are large. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Company } from "../../Company.ts"
import type { PunchFilter } from "../../PunchFilter.ts"
import { conditionsOf } from "../../sql/read.ts"
import * as SqlStore from "../../sql/SqlStore.ts"
import { withCopy } from "./copy.ts"
import { readTarget } from "./database.ts"

/** The punches of a filter in the database that `--database` names, by clock-in. */
export const fromCopy = (company: Company, database: string, filter: PunchFilter) =>
  Stream.unwrap(Effect.gen(function*() {
    const target = yield* Effect.fromResult(readTarget(database, "--database"))
    // A filter that a copy cannot answer is refused before its database is opened.
    yield* Effect.fromResult(conditionsOf(company.id, filter))
    return withCopy(company.id, target, () => SqlStore.list(company.id, filter))
  }))
