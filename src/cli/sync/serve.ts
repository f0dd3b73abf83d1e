/** What `time-punches sync` does: connects, and carries passes into the copy or says how old it is. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { CompanyId } from "../../Ids.ts"
import * as SqlStore from "../../sql/SqlStore.ts"
import { usage } from "../failure.ts"
import { companyOf, layerClient } from "../flags/connection.ts"
import type { SyncInput } from "../flags/sync.ts"
import { printLines } from "../terminal/output.ts"
import { layerCopy } from "./complete.ts"
import { layerDatabase, targetOf } from "./connect.ts"
import { makePassProgress } from "./passProgress.ts"
import { forever, once } from "./repeat.ts"
import { statusFields, statusLines } from "./report.ts"

export const serve = Effect.fnUntraced(function*(input: SyncInput) {
  const company = yield* companyOf(input)
  const target = yield* targetOf(input.database)
  if (input.json && !input.status) return yield* usage("--json goes with --status")
  if (Option.isSome(input.historyDays) && !input.history) return yield* usage("--history-days goes with --history")
  if (input.status) {
    return yield* Effect.provide(printStatus(company.id, input.json), layerCopy(company.id, target))
  }
  const onCommit = yield* makePassProgress
  const { acceptGone, history, historyDays, sweep } = input
  const upkeep = { company, sweep, acceptGone, historyDays, onCommit }
  const work = Option.match(input.every, { onNone: () => once(upkeep), onSome: (every) => forever(upkeep, every) })
  yield* Effect.provide(
    work,
    Layer.merge(layerClient, Layer.provideMerge(SqlStore.layer({ history }), layerDatabase(target)))
  )
}, Effect.scoped)

const printStatus = Effect.fnUntraced(function*(company: CompanyId, json: boolean) {
  const fields = statusFields(company, yield* SqlStore.status(company), DateTime.toUtc(yield* DateTime.now))
  yield* printLines(json ? [JSON.stringify(fields)] : statusLines(fields))
})
