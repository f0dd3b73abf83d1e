/** Reads a copy: opens its database without writing, refuses one that is not complete, and says how old it is. */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { setFlagsFromString } from "node:v8"
import type { CompanyId } from "../../Ids.ts"
import { isLocked, mayPass } from "../../internal/sql/failure.ts"
import { printable } from "../../internal/text/printable.ts"
import { inOneState } from "../../sql/connection.ts"
import type { CopyStatus } from "../../sql/CopyStatus.ts"
import * as PunchCopy from "../../sql/PunchCopy.ts"
import { missedDeletions } from "../../sync/Checkpoint.ts"
import { commandFailureOf } from "../describe.ts"
import { CommandFailure, exitCode, type ExpectedError } from "../failure.ts"
import type { DatabaseTarget } from "../flags/address.ts"
import { shellWord } from "../flags/values.ts"
import { formatAge } from "../print/format.ts"
import { printHint, printWarning } from "../print/messages.ts"
import { layerDatabase } from "./database.ts"

/**
 * Prints the age of the copy of a company on standard error. Fails if its first load did not end, or if its last sync run ended
 * further away than `maxAge`.
 */
export const requireCopy = Effect.fnUntraced(function*(
  company: CompanyId,
  shown: string,
  maxAge: Option.Option<Duration.Duration>
) {
  const status = yield* PunchCopy.status(company)
  const completedAt = Option.flatMap(status.checkpoint, ({ completedAt }) => completedAt)
  if (Option.isNone(completedAt)) return yield* incomplete(company, shown, Option.isSome(status.checkpoint))
  const printAge = Option.isSome(status.lastError) ? printWarning : printHint
  yield* printAge(ageOf(shown, status, completedAt.value, DateTime.toUtc(yield* DateTime.now)))
  const missed = Option.flatMapNullishOr(status.checkpoint, missedDeletions)
  if (Option.isSome(missed)) yield* printWarning(missed.value)
  yield* requireAge(company, shown, completedAt, maxAge)
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
    Stream.unwrap(Effect.map(requireCopy(company, target.shown, maxAge), use))
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
      return yield* new CommandFailure({
        message: `there is no file ${printable(target.shown)}`,
        advice: newCopy(company, target.shown, "its name"),
        code: exitCode.system
      })
    }
    return layerDatabase(target, { readonly })
  }))

/** A store over its database, which waits while the database is locked or away. A wrong name of a file never passes. */
export const layerWaiting = <A, E extends ExpectedError, R>(store: Layer.Layer<A, E, R>, target: DatabaseTarget) =>
  // Around both, each failed attempt would keep its connection.
  Layer.provideMerge(waiting(store, mayPass), waiting(layerDatabase(target), isLocked))

/** A layer that is built again each second after an error that is waited for; says so once a minute. */
const waiting = <A, E extends ExpectedError | CommandFailure, R>(
  layer: Layer.Layer<A, E, R>,
  isWaitedFor: (error: unknown) => boolean
) =>
  Layer.effectContext(Effect.suspend(() => {
    let saidAt = -Infinity
    const say = Effect.fnUntraced(function*(error: ExpectedError | CommandFailure) {
      const now = yield* Clock.currentTimeMillis
      if (error._tag === "CommandFailure" || !isWaitedFor(error) || now - saidAt < 60_000) return
      saidAt = now
      yield* printWarning(`sync waits for its database: ${commandFailureOf(error).message}`)
    })
    return Layer.build(Layer.fresh(layer)).pipe(
      Effect.tapError(say),
      Effect.retry({ while: isWaitedFor, schedule: Schedule.spaced("1 second") })
    )
  }))

const syncFirst = (company: CompanyId, shown: string): ReadonlyArray<string> => [
  `Run time-punches sync --company ${company} --database ${shellWord(shown)}, then try again.`
]

/** Closes need a history, and what was synced without one has none. */
const newCopy = (company: CompanyId, shown: string, what: string): ReadonlyArray<string> => [
  `Check ${what}; for a new copy, run time-punches sync --history --company ${company} --database ${shellWord(shown)}.`
]

/** A sum over a part of the punches would look like a sum over all of them. */
export const incomplete = (company: CompanyId, shown: string, isBegun: boolean) =>
  new CommandFailure({
    message: isBegun
      ? `the copy of company ${company} in ${printable(shown)} is not complete: its first load did not end`
      : `${printable(shown)} has no copy of company ${company}`,
    advice: isBegun ? syncFirst(company, shown) : newCopy(company, shown, "the company and the database"),
    code: exitCode.data
  })

/**
 * Fails with the exit code of an old copy if now and the end of its last complete sync run are further apart than `maxAge`, in
 * either direction: after a run by a clock that was ahead, a copy that is no longer kept would look new.
 */
export const requireAge = Effect.fnUntraced(function*(
  company: CompanyId,
  shown: string,
  completedAt: Option.Option<DateTime.Utc>,
  maxAge: Option.Option<Duration.Duration>
) {
  if (Option.isNone(maxAge)) return
  const limit = `--max-age is ${formatAge(maxAge.value)}`
  const old = (message: string, ...advice: ReadonlyArray<string>) =>
    new CommandFailure({ message, advice: [...advice, ...syncFirst(company, shown)], code: exitCode.age })
  if (Option.isNone(completedAt)) {
    return yield* old(`no sync run of the copy in ${printable(shown)} is complete, and ${limit}`)
  }
  const age = DateTime.distance(completedAt.value, yield* DateTime.now)
  if (Duration.isLessThanOrEqualTo(Duration.abs(age), maxAge.value)) return
  const ended = `the last complete sync run of the copy in ${printable(shown)} ended`
  if (Duration.isPositive(age)) return yield* old(`${ended} ${formatAge(age)} ago, and ${limit}`)
  return yield* old(
    `${ended} ${formatAge(Duration.abs(age))} from now, and ${limit}`,
    "A clock was ahead at that run, or the clock of this machine is behind: set it."
  )
})

const ageOf = (
  shown: string,
  { history, lastError }: CopyStatus,
  completedAt: DateTime.Utc,
  now: DateTime.Utc
): string => {
  // The instant of the state that is read, for `payroll diff --since`: no commit is between its sums and the changes since.
  const at = Option.match(history, { onNone: () => completedAt, onSome: ({ last }) => last })
  const age = formatAge(Duration.max(Duration.zero, DateTime.distance(completedAt, now)))
  return `copy in ${printable(shown)} as of ${DateTime.formatIso(at)}, ${age} old${
    Option.match(lastError, { onNone: () => "", onSome: ({ tag }) => `; a later sync run failed with ${tag}` })
  }`
}
