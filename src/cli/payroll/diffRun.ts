/** What `time-punches payroll diff` does: compares the copy with what it was, and prints what differs. Sends nothing. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { type MissingZone, zoneOf, zonesOf } from "../../payroll/Zones.ts"
import { failedWith } from "../../sql/connection.ts"
import { comparisonOf, makePeople, readChanges } from "../../sql/history.ts"
import type * as SqlStore from "../../sql/SqlStore.ts"
import { withCopy } from "../database/copy.ts"
import { targetOfCopy } from "../database/database.ts"
import { usage } from "../failure.ts"
import { companyOf } from "../flags/connection.ts"
import { noFilter } from "../flags/filter.ts"
import { readNames } from "../flags/names.ts"
import { csvStyleOf, formatOf, orHalfUp } from "../flags/values.ts"
import { printError } from "../print/messages.ts"
import { print, printCells, screen } from "../print/output.ts"
import { requirePeriod, resolvePeriod } from "../select/period.ts"
import { type DiffInput, forms } from "./diffFlags.ts"
import { type ChangeQuery, ofClose, refuseRecorded } from "./diffOfClose.ts"
import { jsonOf, linesOf, peopleCsv, punchesCsv } from "./diffPrint.ts"

export const run = Effect.fnUntraced(function*(input: DiffInput) {
  const { close } = input
  if (Option.isSome(close)) yield* refuseRecorded(input)
  const company = yield* companyOf(input)
  const target = yield* targetOfCopy(
    input.database,
    "payroll diff",
    "The service does not show earlier versions of a punch; a copy that is synced with --history has them."
  )
  const period = Option.isSome(close) ? undefined : yield* ofPeriod(input)
  const format = yield* Effect.fromResult(formatOf(input, forms))
  const style = yield* Effect.fromResult(csvStyleOf(input, format))
  if (Option.isSome(input.rows) && format !== "csv") {
    return yield* usage("--rows goes with --format csv; every other form has both punches and people")
  }
  const names = yield* readNames(input.names)
  const shownOn = yield* screen
  let since = Option.none<DateTime.DateTime>()
  let count = 0

  const texts = Effect.fnUntraced(function*(status: SqlStore.CopyStatus) {
    if (period !== undefined) yield* refuseFuture(period.comparison.since, status)
    const subject = period ?? (yield* ofClose(company.id, Option.getOrThrow(close), input, status))
    since = Option.some(subject.comparison.since)
    const people = makePeople(subject)
    const punches = readChanges(company.id, subject.comparison, people).pipe(
      Stream.catchTag("SqlError", (error) => Stream.fail(failedWith(company.id, "the history cannot be read")(error))),
      Stream.mapArray((changes) => {
        count += changes.length
        return changes
      })
    )
    if (format === "json") return jsonOf(punches, people.differences, names)
    if (format === "csv") {
      return Option.contains(input.rows, "punches")
        ? punchesCsv(punches, names, subject, style)
        : peopleCsv(punches, people.differences, names, style)
    }
    const changes = { punches: yield* Stream.runCollect(punches), people: people.differences() }
    const lines = linesOf(changes, { zoneOf: subject.zoneOf, names, asOf: subject.asOf }, shownOn)
    return lines.length === 0 ? Stream.empty : Stream.make(`${lines.join("\n")}\n`)
  }, Stream.unwrap)

  const write = format === "csv" ? printCells : print
  yield* write(withCopy(company.id, target, texts, input.maxAge))
  if (count === 0 && Option.isSome(since)) {
    yield* printError(`nothing has changed since ${DateTime.formatIso(since.value)}`)
  }
})

/** The changes of the period that the flags name. */
const ofPeriod = Effect.fnUntraced(function*(input: DiffInput) {
  if (Option.isNone(input.since)) {
    return yield* usage(
      "payroll diff needs --since INSTANT: when the period was closed; or --close ID",
      "Give an instant with a zone, such as --since 2026-03-09T15:00:00Z, or the number of a close."
    )
  }
  const since = input.since.value
  const flags = yield* resolvePeriod({ ...noFilter, ...input })
  const { dayRule, period } = yield* Effect.fromResult(requirePeriod(flags, "payroll diff"))
  const { getDayRule } = zonesOf(dayRule)
  return {
    comparison: comparisonOf({ dayRule, period, since }),
    rounding: orHalfUp(flags.rounding),
    asOf: Option.getOrUndefined(flags.asOf),
    zoneOf: ({ locationId }) => Option.map(Result.getSuccess(getDayRule(locationId)), zoneOf)
  } satisfies ChangeQuery<MissingZone>
})

/** The clock of the database may be ahead: what it has written is not in the future. */
const refuseFuture = Effect.fnUntraced(function*(since: DateTime.DateTime, { history }: SqlStore.CopyStatus) {
  const written = Option.exists(history, ({ last }) => DateTime.isGreaterThanOrEqualTo(last, since))
  if (written || DateTime.isLessThanOrEqualTo(since, yield* DateTime.now)) return
  return yield* usage(`--since ${DateTime.formatIso(since)} is in the future: nothing can have changed since then`)
}, Effect.asVoid)
