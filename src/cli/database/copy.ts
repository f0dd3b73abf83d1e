/** Reads a copy: opens its database without writing, refuses one that is not complete, and says how old it is. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { setFlagsFromString } from "node:v8"
import type { Company } from "../../Company.ts"
import type { CompanyId } from "../../Ids.ts"
import { printable } from "../../internal/text/printable.ts"
import type { PunchFilter } from "../../PunchFilter.ts"
import { inOneState } from "../../sql/connection.ts"
import type { CopyStatus } from "../../sql/CopyStatus.ts"
import * as PunchCopy from "../../sql/PunchCopy.ts"
import { conditionsOf } from "../../sql/read.ts"
import { missedDeletions, versionsOf } from "../../sync/Checkpoint.ts"
import { commandFailureOf } from "../describe.ts"
import { CommandFailure, failure, usage } from "../failure.ts"
import type { DatabaseTarget } from "../flags/address.ts"
import { type CompanyInput, companyOf } from "../flags/connection.ts"
import { formatAge, formatPast, shellWord } from "../print/format.ts"
import { printHint, printWarning } from "../print/messages.ts"
import { layerDatabase, targetOfCopy } from "./database.ts"

/**
 * Prints the age of the copy of a company on standard error. Fails if its first load did not end, or if its last sync run ended
 * further away than `maxAge`.
 */
export const requireCopy = Effect.fnUntraced(function*(
  company: CompanyId,
  address: string,
  maxAge: Option.Option<Duration.Duration>
) {
  const status = yield* PunchCopy.status(company)
  const completedAt = Option.flatMap(status.checkpoint, ({ completedAt }) => completedAt)
  if (Option.isNone(completedAt)) return yield* incomplete(company, address, Option.isSome(status.checkpoint))
  const printAge = Option.isSome(status.lastError) ? printWarning : printHint
  yield* printAge(ageOf(address, status, completedAt.value, DateTime.toUtc(yield* DateTime.now)))
  const missed = Option.flatMapNullishOr(status.checkpoint, missedDeletions)
  if (Option.isSome(missed)) yield* printWarning(missed.value)
  const version = Option.flatMapNullishOr(status.checkpoint, (known) => versionsOf(known).warning)
  if (Option.isSome(version)) yield* printWarning(version.value)
  yield* requireAge(company, address, completedAt, maxAge)
  return status
})

/**
 * Uses the copy of a company in one state: opens the database, checks its schema and takes a snapshot, each once, then
 * does what `requireCopy` does. `use` sees no later commit, so a purge meanwhile is not an empty sum.
 */
export const withCopy = <A, E, R>(
  company: CompanyId,
  target: DatabaseTarget,
  use: (status: CopyStatus) => Stream.Stream<A, E, R>,
  maxAge: Option.Option<Duration.Duration>
) =>
  inOneState(
    company,
    Stream.unwrap(Effect.map(requireCopy(company, target.address, maxAge), use))
  ).pipe(Stream.provide(layerCopy(company, target)))

/**
 * A client of the database of a copy, which only reads it unless `readonly` is false. A file name that is misspelt is an
 * error, and creates no file.
 */
export const layerCopy = (company: CompanyId, target: DatabaseTarget, readonly = true) =>
  Layer.unwrap(Effect.gen(function*() {
    // By default the heap grows to four times of what is alive before all of it is collected.
    setFlagsFromString("--heap-growing-percent=30")
    const fs = yield* FileSystem.FileSystem
    if (target._tag === "Sqlite" && !(yield* fs.exists(target.filename))) {
      const advice = newCopy(company, target.address, "its name")
      return yield* failure("system", `there is no file ${printable(target.address)}`, ...advice)
    }
    return layerDatabase(target, { readonly })
  }))

/** The company and the copy of a verb that reads no service. A file is opened to read it alone unless the verb writes. */
export const openCopy = Effect.fnUntraced(function*(
  input: CompanyInput & { readonly database: Option.Option<string> },
  { command, why = [], writes = false }: {
    readonly command: string
    /** What its copy is for. */
    readonly why?: ReadonlyArray<string>
    readonly writes?: boolean
  }
) {
  const { id: company } = yield* companyOf(input)
  const target = yield* targetOfCopy(input.database, command, ...why)
  return { address: target.address, company, target, layer: layerCopy(company, target, !writes) }
})

const syncFirst = (company: CompanyId, address: string): ReadonlyArray<string> => [
  `Run time-punches sync --company ${company} --database ${shellWord(address)}, then try again.`
]

/** Closes need a history, and what was synced without one has none. */
const newCopy = (company: CompanyId, address: string, what: string): ReadonlyArray<string> => [
  `Check ${what}; for a new copy, run time-punches sync --history --company ${company} --database ${
    shellWord(address)
  }.`
]

/** A sum over a part of the punches would look like a sum over all of them. */
export const incomplete = (company: CompanyId, address: string, isBegun: boolean) =>
  isBegun
    ? failure(
      "data",
      `the copy of company ${company} in ${printable(address)} is not complete: its first load did not end`,
      ...syncFirst(company, address)
    )
    : failure(
      "data",
      `${printable(address)} has no copy of company ${company}`,
      ...newCopy(company, address, "the company and the database")
    )

/**
 * Fails with the exit code of an old copy if now and the end of its last complete sync run are further apart than `maxAge`, in
 * either direction: after a run by a clock that was ahead, a copy that is no longer kept would look new.
 */
export const requireAge = Effect.fnUntraced(function*(
  company: CompanyId,
  address: string,
  completedAt: Option.Option<DateTime.Utc>,
  maxAge: Option.Option<Duration.Duration>
) {
  if (Option.isNone(maxAge)) return
  const limit = `--max-age is ${formatAge(maxAge.value)}`
  const old = (message: string, ...advice: ReadonlyArray<string>) =>
    failure("age", message, ...advice, ...syncFirst(company, address))
  if (Option.isNone(completedAt)) {
    return yield* old(`no sync run of the copy in ${printable(address)} is complete, and ${limit}`)
  }
  const age = DateTime.distance(completedAt.value, yield* DateTime.now)
  if (Duration.isLessThanOrEqualTo(Duration.abs(age), maxAge.value)) return
  const ended = `the last complete sync run of the copy in ${printable(address)} ended`
  if (Duration.isPositive(age)) return yield* old(`${ended} ${formatAge(age)} ago, and ${limit}`)
  return yield* old(
    `${ended} ${formatAge(Duration.abs(age))} from now, and ${limit}`,
    "A clock was ahead at that run, or the clock of this machine is behind: set it."
  )
})

/** Nothing can have changed since a time to come. The clock of the database may be ahead: what it has written counts as past. */
export const refuseFuture = Effect.fnUntraced(
  function*(company: CompanyId, since: DateTime.DateTime, flag = "--since") {
    if (DateTime.isLessThanOrEqualTo(since, yield* DateTime.now)) return
    const { history } = yield* PunchCopy.status(company)
    if (Option.exists(history, ({ last }) => DateTime.isGreaterThanOrEqualTo(last, since))) return
    return yield* usage(`${flag} ${DateTime.formatIso(since)} is in the future: nothing can have changed since then`)
  },
  Effect.asVoid
)

const ageOf = (
  address: string,
  { history, lastError }: CopyStatus,
  completedAt: DateTime.Utc,
  now: DateTime.Utc
): string => {
  // The instant of the state that is read, for `payroll diff --since`: no commit is between its sums and the changes since.
  const at = Option.match(history, { onNone: () => completedAt, onSome: ({ last }) => last })
  const age = formatPast(DateTime.distance(completedAt, now), " old")
  return `copy in ${printable(address)} as of ${DateTime.formatIso(at)}, ${age}${
    Option.match(lastError, { onNone: () => "", onSome: ({ tag }) => `; a later sync run failed with ${tag}` })
  }`
}

/** The punches of a filter in the copy, by clock-in. */
export const fromCopy = (
  company: Company,
  target: DatabaseTarget,
  filter: PunchFilter,
  maxAge: Option.Option<Duration.Duration>
) =>
  Stream.unwrap(Effect.gen(function*() {
    yield* refuseFineEnds(filter)
    // A filter that a copy cannot answer is refused before its database is opened.
    yield* Effect.mapError(
      Effect.fromResult(conditionsOf(company.id, filter)),
      (error) => commandFailureOf(error, "Leave it out, or read the service: --source service.")
    )
    return withCopy(company.id, target, () => PunchCopy.list(company.id, filter), maxAge)
  }))

/**
 * `deletionsUnseen`: the copy may have punches that were deleted. `version`: an old version of the interface answered, whose amounts
 * may be in whole units.
 */
export type Doubt = "deletionsUnseen" | "version"

/** What keeps the sums of the copy from being trusted. */
export const doubtsOf = (company: Company, target: DatabaseTarget) =>
  PunchCopy.status(company.id).pipe(
    Effect.map(({ checkpoint }): ReadonlyArray<Doubt> => [
      ...(Option.exists(checkpoint, ({ deletions }) => deletions !== undefined) ? ["deletionsUnseen" as const] : []),
      ...(Option.exists(checkpoint, (known) => versionsOf(known).isRefused) ? ["version" as const] : [])
    ]),
    Effect.provide(layerCopy(company.id, target))
  )

/** The fields of the copy that take away by their name, and that this release does not read. */
export const marksOf = (company: Company, target: DatabaseTarget) =>
  PunchCopy.status(company.id).pipe(
    Effect.map(({ checkpoint }) => Option.getOrUndefined(checkpoint)?.marks ?? []),
    Effect.provide(layerCopy(company.id, target))
  )

/**
 * The service may have finer digits than the milliseconds of a copy: at an end within a second, a copy could list a punch
 * that the service leaves out, or the other way round.
 */
const refuseFineEnds = ({ clockedIn, clockedOut, modifiedSince }: PunchFilter): Effect.Effect<void, CommandFailure> => {
  const ends: Readonly<Record<string, DateTime.DateTime | undefined>> = {
    "--clocked-in-lte": clockedIn?.lte,
    "--clocked-out-lte": clockedOut?.lte,
    "--modified-since": modifiedSince
  }
  const fine = Object.entries(ends).find(([, at]) => at !== undefined && at.epochMilliseconds % 1000 !== 0)
  return fine === undefined
    ? Effect.void
    : usage(
      `${fine[0]} must be a whole second for a copy: the service may have finer digits than a copy`,
      "Give a whole second; for the end of a window, --clocked-in-lt or --clocked-out-lt takes any instant."
    )
}
