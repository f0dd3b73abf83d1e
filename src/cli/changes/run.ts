/** What `time-punches changes` does: compares the copy with what it was, and prints what differs. Sends nothing. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { zonesOf } from "../../payroll/Zones.ts"
import * as SqlStore from "../../sql/SqlStore.ts"
import { withCopy } from "../copy/copy.ts"
import { targetOf } from "../copy/database.ts"
import { usage } from "../failure.ts"
import { companyOf } from "../flags/connection.ts"
import { noFilter } from "../flags/filter.ts"
import { readNames } from "../flags/names.ts"
import { requirePeriod, resolvePeriod } from "../flags/period.ts"
import { formatOf } from "../flags/values.ts"
import { outputWidth, print, printError, printLines } from "../terminal/output.ts"
import type { ChangesInput } from "./flags.ts"
import { jsonOf, linesOf, peopleCsv, punchesCsv } from "./print.ts"

export const run = Effect.fnUntraced(function*(input: ChangesInput) {
  const company = yield* companyOf({ company: input.company, guid: Option.none() })
  const target = yield* targetOf(
    input.database,
    "changes",
    "The service does not show earlier versions of a punch; a copy that time-punches sync --history keeps has them."
  )
  const since = yield* sinceOf(input.since)
  const flags = yield* resolvePeriod({ ...noFilter, ...input })
  const { period, zone } = yield* Effect.fromResult(requirePeriod(flags, "changes"))
  const format = yield* Effect.fromResult(formatOf(flags, "table"))
  if (Option.isSome(flags.of) && format !== "csv") {
    return yield* usage("--of goes with --format csv; every other form has both punches and people")
  }
  const names = Option.getOrUndefined(yield* readNames(flags.names))
  const asOf = Option.getOrUndefined(flags.asOf)

  const changes = yield* withCopy(
    company.id,
    target,
    Effect.fnUntraced(function*(status) {
      yield* refuseFuture(since, status)
      return yield* SqlStore.changes(company.id, { zone, period, since, rounding: flags.rounding, asOf })
    }, Stream.fromEffect)
  ).pipe(Stream.runHead, Effect.map(Option.getOrThrow))
  if (format === "table") {
    const { clockOf } = zonesOf(zone)
    const zoneOf = ({ locationId }: Parameters<typeof flags.keeps>[0]) => Result.getSuccess(clockOf(locationId))
    yield* printLines(linesOf(changes, { zoneOf, names, asOf }, yield* outputWidth))
  } else {
    const text = format === "json"
      ? yield* jsonOf(changes, names)
      : Option.contains(flags.of, "punches")
      ? yield* punchesCsv(changes, names, { asOf })
      : peopleCsv(changes, names)
    yield* print(Stream.make(text))
  }
  if (changes.punches.length === 0) yield* printError(`nothing has changed since ${DateTime.formatIso(since)}`)
})

const sinceOf = Effect.fnUntraced(function*(flag: ChangesInput["since"]) {
  if (Option.isNone(flag)) {
    return yield* usage(
      "changes needs --since INSTANT: when the period was closed",
      "Give an instant with a zone, such as --since 2026-03-09T15:00:00Z."
    )
  }
  return flag.value
})

/** The clock of the database may be ahead: what it has written is not in the future. */
const refuseFuture = Effect.fnUntraced(function*(since: DateTime.Utc, { history }: SqlStore.CopyStatus) {
  const written = Option.exists(history, ({ last }) => DateTime.isGreaterThanOrEqualTo(last, since))
  if (written || DateTime.isLessThanOrEqualTo(since, yield* DateTime.now)) return
  return yield* usage(`--since ${DateTime.formatIso(since)} is in the future: nothing can have changed since then`)
}, Effect.asVoid)
