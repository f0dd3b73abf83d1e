/** The checks of a copy: its age, its rows, and whether they are what the service shows. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Company } from "../../Company.ts"
import { firstIssue } from "../../internal/wire/issue.ts"
import { twoListings } from "../../internal/wire/spelling.ts"
import type { PunchFilter } from "../../PunchFilter.ts"
import { columns } from "../../sql/columns.ts"
import type { CopyStatus } from "../../sql/CopyStatus.ts"
import * as PunchCopy from "../../sql/PunchCopy.ts"
import { readRows } from "../../sql/read.ts"
import type { StoredRow } from "../../sql/row.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { TimePunches } from "../../TimePunches.ts"
import { commandFailureOf } from "../describe.ts"
import type { CommandFailure, ExpectedError } from "../failure.ts"
import { counted, countedPunches, formatNumber, formatPast } from "../print/format.ts"
import { type CheckResult, fail, failed, makeCheck, ok, unknownResult, warn } from "./report.ts"

/** Number of rows that a sample has. */
const sampleSize = 20

/** Rows that are read from the database at once. */
const chunkSize = 1000

/** The default overlap: what changed since may not be in the copy yet. */
const overlap = Duration.minutes(15)

const runSync = "Run time-punches sync, then check again."

/** Checks the copy of a company: a sample of its rows, or all of them. */
export const checkCopy = Effect.fnUntraced(function*(company: Company, isFull: boolean) {
  const status = yield* Effect.result(PunchCopy.status(company.id))
  if (Result.isFailure(status)) return [storeFailed(status.failure)]
  const { checkpoint, rows } = status.success
  const age = [
    ageOf(status.success, DateTime.toUtc(yield* DateTime.now)),
    ...unknownResult("copy: unknown fields", status.success.unknown)
  ]
  const compared = yield* Effect.result(Effect.gen(function*() {
    const list = allOf(yield* TimePunches, company, Option.getOrUndefined(checkpoint)?.spelling === twoListings)
    const found = yield* isFull ? compareAll(company, list) : compareSample(company, list)
    const watermark = Option.flatMap(checkpoint, ({ watermark }) => watermark)
    const changed = found.differences.length === 0 ? new Set<number>() : yield* changedSince(list, watermark)
    return { ...found, changed }
  }))
  if (Result.isFailure(compared)) {
    const error = compared.failure
    return [...age, error._tag === "SyncError" ? storeFailed(error) : failed("copy: service", error, "answer")]
  }
  const { changed, differences, invalid, seen } = compared.success
  return [...age, invalidResult(invalid, seen), comparisonResult(differences, changed, isFull ? rows : seen)]
})

/** Lists punches, deleted or not, as the sync of the copy does. */
const allOf = (client: TimePunches["Service"], company: Company, isTwice: boolean) => (filter: PunchFilter) =>
  isTwice
    ? Stream.concat(
      client.list(company, { ...filter, deleted: "exclude" }),
      client.list(company, { ...filter, deleted: "only" })
    )
    : client.list(company, { ...filter, deleted: "include" })

type ListAll = ReturnType<typeof allOf>

/** Rows at random, each with all rows of the second of its clock-in. */
const compareSample = Effect.fnUntraced(function*(company: Company, list: ListAll) {
  const sample = yield* readRows(company.id, { _tag: "Sample", count: sampleSize })
  const seconds = new Set(
    sample.flatMap(({ punch }) =>
      Option.toArray(Result.getSuccess(punch)).map(({ clockedIn }) => Math.floor(clockedIn.epochMilliseconds / 1000))
    )
  )
  const differences: Array<Difference> = []
  for (const second of seconds) {
    const [gte, lt] = [second * 1000, (second + 1) * 1000]
    const clockedIn = { gte: DateTime.makeUnsafe(gte), lt: DateTime.makeUnsafe(lt) }
    const punches = yield* Stream.runCollect(list({ clockedIn }))
    differences.push(...compare(yield* readRows(company.id, { _tag: "Window", gte, lt }), punches))
  }
  return { differences, invalid: invalidOf(sample), seen: sample.length }
})

/** Every punch of the service with its row, then every row that the service did not show. */
const compareAll = Effect.fnUntraced(function*(company: Company, list: ListAll) {
  const shown = new Set<number>()
  const differences: Array<Difference> = []
  let invalid: string | undefined
  let seen = 0
  yield* Stream.runForEachArray(
    list({}),
    Effect.fnUntraced(function*(punches: ReadonlyArray<TimePunch>) {
      for (const { id } of punches) shown.add(id)
      const rows = yield* readRows(company.id, { _tag: "Ids", ids: punches.map(({ id }) => id) })
      differences.push(...comparePunches(rows, punches))
    })
  )
  let last = -1
  while (true) {
    const rows = yield* readRows(company.id, { _tag: "After", id: last, count: chunkSize })
    invalid ??= invalidOf(rows)
    seen += rows.length
    for (const { id, isMissing } of rows) {
      if (!isMissing && !shown.has(id)) differences.push(unshown(id))
      last = id
    }
    if (rows.length < chunkSize) return { differences, invalid, seen }
  }
})

/** Ids of the punches that changed after the watermark minus the overlap; all ids if there is no watermark. */
const changedSince = Effect.fnUntraced(function*(list: ListAll, watermark: Option.Option<DateTime.Utc>) {
  const modifiedSince = Option.getOrUndefined(Option.map(watermark, DateTime.subtractDuration(overlap)))
  const changed = new Set<number>()
  yield* Stream.runForEachArray(
    list({ modifiedSince }),
    (punches) => Effect.sync(() => punches.forEach(({ id }) => changed.add(id)))
  )
  return changed
})

/** The database cannot be read. */
export const storeFailed = (error: ExpectedError | CommandFailure): CheckResult => {
  const { advice, code, message } = error._tag === "CommandFailure" ? error : commandFailureOf(error)
  const text = advice.length === 0 ? "Check the file or the address of the copy." : advice.join(" ")
  return fail("copy", message, "copy", text, code)
}

const ageOf = ({ checkpoint, lastError, rows }: CopyStatus, now: DateTime.Utc): CheckResult => {
  const completedAt = Option.flatMap(checkpoint, ({ completedAt }) => completedAt)
  if (Option.isNone(completedAt)) return warn("copy: age", "no sync run is complete", "copy", runSync)
  const age = formatPast(DateTime.distance(completedAt.value, now), " ago")
  const detail = `${counted(rows, "row")}, the last sync run ended ${age}`
  return Option.match(lastError, {
    onNone: () => ok("copy: age", detail),
    onSome: ({ tag }) => warn("copy: age", `${detail}; since then ${tag}`, "copy", runSync)
  })
}

/** The first row that does not decode as a punch, and the path at which it fails. */
const invalidOf = (rows: ReadonlyArray<StoredRow>): string | undefined => {
  for (const { id, punch } of rows) {
    if (Result.isFailure(punch)) return `row ${id} is not a valid punch at ${firstIssue(punch.failure).path}`
  }
  return undefined
}

const invalidResult = (invalid: string | undefined, seen: number): CheckResult =>
  invalid === undefined
    ? ok("copy: rows", `${counted(seen, "row")} read, all are punches`)
    : fail("copy: rows", invalid, "copy", "Something else writes into the tables of the copy: find it.")

/** A change that the next sync run brings is not a fault of the copy. */
const comparisonResult = (
  differences: ReadonlyArray<Difference>,
  changed: ReadonlySet<number>,
  compared: number
): CheckResult => {
  const { fail, ok, warn } = makeCheck("copy: service", "copy")
  const wrong = differences.filter(({ id }) => !changed.has(id))
  const [first] = wrong
  if (first !== undefined) {
    return fail(
      `${formatNumber(wrong.length)} of ${countedPunches(compared)} differ; ${first.id} is ${first.how}`,
      "Run time-punches sync --sweep all, then check again."
    )
  }
  return differences.length > 0
    ? warn(`${countedPunches(differences.length)} not yet synced`, runSync)
    : ok(`${countedPunches(compared)} compared, all are equal`)
}

/** A punch that differs, and how. */
interface Difference {
  readonly id: number
  readonly how: "not in the copy" | "marked as missing" | "not shown by the service" | "not equal"
}

/** The differences between all rows of a part of the copy and all punches of the same part of the service. */
const compare = (
  rows: ReadonlyArray<StoredRow>,
  punches: ReadonlyArray<TimePunch>
): ReadonlyArray<Difference> => {
  const shown = new Set<number>(punches.map(({ id }) => id))
  return [
    ...comparePunches(rows, punches),
    ...rows.filter(({ id, isMissing }) => !isMissing && !shown.has(id)).map(({ id }) => unshown(id))
  ]
}

/** The differences between punches of the service and the rows of the copy with the same ids. */
const comparePunches = (
  rows: ReadonlyArray<StoredRow>,
  punches: ReadonlyArray<TimePunch>
): ReadonlyArray<Difference> => {
  const stored = new Map(rows.map((row) => [row.id, row]))
  return punches.flatMap((punch): ReadonlyArray<Difference> => {
    const row = stored.get(punch.id)
    if (row === undefined) return [{ id: punch.id, how: "not in the copy" }]
    if (row.isMissing) return [{ id: punch.id, how: "marked as missing" }]
    const isEqual = Result.isSuccess(row.punch) && isSameRow(row.punch.success, punch)
    return isEqual ? [] : [{ id: punch.id, how: "not equal" }]
  })
}

/** A row that the copy has and the service does not. */
const unshown = (id: number): Difference => ({ id, how: "not shown by the service" })

/** Whether both have the same values in every column: a database cannot hold every text, and has a changed one instead. */
const isSameRow = (one: TimePunch, other: TimePunch): boolean => columns.every(({ cell }) => cell(one) === cell(other))
