/** Whether the service omits punches that match a filter, which no run can see: the answers to several filters are compared. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { isRefused, type ListError } from "../../ApiError.ts"
import { BusinessDate } from "../../Ids.ts"
import { dayMillis } from "../../internal/wire/instant.ts"
import { timePunchNames } from "../../internal/wire/names.ts"
import { twoListings, usualSpelling } from "../../internal/wire/spelling.ts"
import { idKeys, idOf } from "../../listing/parameters.ts"
import { modulo } from "../../payroll/Rounding.ts"
import type { InstantRange, PunchFilter } from "../../PunchFilter.ts"
import { look } from "../../sync/look.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { TimePunches } from "../../TimePunches.ts"
import { countedPunches } from "../print/format.ts"
import { type Answer, idsOf, isAmong, readFirst, type Survey } from "./listing.ts"
import { changed, type CheckResult, fail, failed, makeCheck, ok, unreliable, warn } from "./report.ts"

/** The name of the listing that the survey is about. */
export const listing = "end"

const hour = 3_600_000

/** The largest offset of any zone, by which a wall-clock time may differ from UTC. */
const widestOffset = 14 * hour

/** The most by which a business day starts after midnight UTC: the zone of -12 hours, and a day that starts at 6. */
const latestStart = 18 * hour

/** The milliseconds of the digits that a punch may not show. */
const hiddenDigits = 1000

const moved = (at: DateTime.Utc, milliseconds: number) => DateTime.add(at, { milliseconds })

/** From `before` milliseconds before an instant until `after` milliseconds after it. */
const around = (at: DateTime.Utc, before: number, after = before) => ({
  gte: moved(at, -before),
  lte: moved(at, after)
})

const kindOf = ({ deleted }: TimePunch) => ({ deleted: deleted ? "only" : undefined } as const)

/** Narrowed to a day around a punch, all punches fit a page, also those of a large company. */
const near = (punch: TimePunch) => ({ ...kindOf(punch), clockedIn: around(punch.clockedIn, 12 * hour) })

/** The date of an instant in UTC, moved by some milliseconds. */
const dateOf = (at: DateTime.Utc, millis: number) => BusinessDate.make(DateTime.formatIsoDateUtc(moved(at, millis)))

/** `margin` narrows both ends if the service reads the window in a zone that the punch does not show. */
const isInside = (
  at: Option.Option<DateTime.Utc>,
  { gte, lt, lte }: InstantRange = {},
  margin: number,
  hidden: number
): boolean => {
  if (gte === undefined && lt === undefined && lte === undefined) return true
  const [from, before, until] = [gte, lt, lte].map((end) => end?.epochMilliseconds)
  return Option.exists(
    at,
    ({ epochMilliseconds: millis }) =>
      millis - margin >= (from ?? -Infinity) && millis + margin + hidden < (before ?? Infinity) &&
      millis + margin + hidden <= (until ?? Infinity)
  )
}

/** Whether the service must send the punch for the filter if it holds up to `hidden` milliseconds more than the punch shows. */
const mustMatch = (filter: PunchFilter, punch: TimePunch, hidden: number): boolean => {
  const { approved, clockedIn, clockedOut, deleted, flags, modifiedSince } = filter
  const { first, last } = filter.businessDate ?? {}
  const margin = filter.localizeSearchTime === true ? widestOffset : 0
  return filter.employeeApprovalStatuses === undefined &&
    idKeys.every((key) => filter[key] === undefined || filter[key] === idOf(punch, key)) &&
    (approved === undefined || approved === punch.approved) &&
    (deleted === "include" || punch.deleted === (deleted === "only")) &&
    (flags === undefined || (punch.autoClockedOut && flags.includes("auto_clocked_out"))) &&
    (modifiedSince === undefined ||
      Option.exists(punch.modified, (at) => at.epochMilliseconds > modifiedSince.epochMilliseconds)) &&
    isInside(Option.some(punch.clockedIn), clockedIn, margin, hidden) &&
    isInside(punch.clockedOut, clockedOut, margin, hidden) &&
    (first === undefined || dateOf(punch.clockedIn, -latestStart) >= first) &&
    (last === undefined || dateOf(punch.clockedIn, widestOffset) <= last)
}

const read = ({ company, known }: Survey, filter: PunchFilter) => readFirst(company, filter, known.size)

/** Reads the first page of a filter for `compare`. */
const ask = Effect.fnUntraced(function*(survey: Survey, name: string, filter: PunchFilter) {
  const answer = yield* read(survey, filter)
  survey.answers.push({ ...answer, name, filter })
  return answer.punches
})

const include = "filter deleted=include"

/** What `only` gives and what is not deleted must be in `include`, and what `include` gives in `only`. */
const askDeleted = Effect.fnUntraced(function*(survey: Survey) {
  const only = "filter deleted=only"
  const deleted = (yield* ask(survey, only, { deleted: "only" })).find(({ deleted }) => deleted)
  if (deleted === undefined) yield* ask(survey, include, { deleted: "include" })
  else yield* ask(survey, only, near(deleted))
  for (const punch of [deleted, survey.known.punches.find(({ deleted }) => !deleted)]) {
    if (punch !== undefined) yield* ask(survey, include, { ...near(punch), deleted: "include" })
  }
})

/** Reads what `compare` compares. A check has a result only if its answer is an error. */
export const probes = (survey: Survey) => {
  const check = <A>(name: string, asked: Effect.Effect<A, ListError, TimePunches>) =>
    Effect.match(asked, {
      onSuccess: (): ReadonlyArray<CheckResult> => [],
      onFailure: (error) => [failed(name, error, "filters")]
    })
  return [
    check(include, askDeleted(survey)),
    ...[...filtersOf(survey.known.punches)].map(([parameter, filter]) => {
      const name = `filter ${parameter}`
      return check(name, ask(survey, name, filter))
    })
  ]
}

const omits = "The service omits matching punches: do not rely on these filters, and report it."

const atEnd = "An end of the window is exclusive, or instants have hidden digits: let windows overlap by a second."

/**
 * One line for all filters whose answers have each punch of another answer that matches, and one for each other filter. An answer
 * that is longer than a page shows nothing.
 */
export const compare = Effect.fnUntraced(function*(survey: Survey) {
  const found = new Map<string, CheckResult | undefined>()
  for (const answer of survey.answers.filter(({ isWhole }) => isWhole)) {
    found.set(answer.name, found.get(answer.name) ?? (yield* compareOne(survey, answer)))
  }
  const wrong = [...found.values()].filter((result) => result !== undefined)
  const right = [...found].filter(([name, result]) => name !== listing && result === undefined).length
  const open = new Set(survey.answers.map(({ name }) => name).filter((name) => name !== listing && !found.has(name)))
  const unchecked = open.size === 0 ? "" : `; not checked, longer than a page: ${[...open].join(", ")}`
  return right + open.size === 0 ? wrong : [ok("filters", `${right} omit no punch that matches${unchecked}`), ...wrong]
})

const compareOne = Effect.fnUntraced(function*(survey: Survey, answer: Answer) {
  const { filter, name, punches } = answer
  const ids = new Set(idsOf(punches))
  const others = survey.answers.flatMap(({ filter, punches }) => punches.map((punch) => ({ filter, punch })))
    .filter(({ punch }) => !ids.has(punch.id))
  for (const hidden of [hiddenDigits, 0]) {
    const missing = others.filter(({ punch }) => mustMatch(filter, punch, hidden))
    if (missing.length === 0) continue
    // Punches change: it is omitted if the same punch is seen before and after an answer that has not got it.
    const again = yield* read(survey, filter)
    const now = new Set(idsOf(again.punches))
    const first = again.isWhole ? missing.find(({ punch }) => !now.has(punch.id)) : undefined
    if (first === undefined) continue
    const [cause, advice] = name === listing ? ["cursors", unreliable] as const : ["filters", omits] as const
    if (!isAmong(first.punch, (yield* read(survey, first.filter)).punches)) return changed(name, cause)
    const detail = `punch ${first.punch.id} matches, and is not among ${countedPunches(punches.length)}`
    return hidden === 0
      ? warn(name, `${detail}: it is at an end of the window`, cause, atEnd)
      : fail(name, detail, cause, advice)
  }
  return undefined
}, (effect, _, { name }) => Effect.catch(effect, (error) => Effect.succeed(failed(name, error, "filters"))))

const deletions = makeCheck("deleted punches", "filters")

/** How a sync asks for deleted punches and others alike, and whether the answers show the deleted ones. */
export const checkDeletions = Effect.fnUntraced(
  function*({ company }: Survey) {
    const punches = yield* TimePunches
    const both = yield* Effect.result(punches.page(company, { deleted: "include" }, { pageSize: 1 }))
    if (Result.isFailure(both)) {
      if (!isRefused(both.failure)) return yield* both.failure
      yield* punches.page(company, { deleted: "only" }, { pageSize: 1 })
      return deletions.warn(`no way to ask for them with others is taken, ${twoListings} is`, readTwice)
    }
    const { spelling = usualSpelling } = both.success
    const seen = yield* look(punches, company, spelling)
    switch (seen._tag) {
      case "shown":
        return deletions.ok(`${spelling} shows them`)
      case "nothing":
        return deletions.ok(`${spelling} is taken; no punch is deleted, so none shows it`)
      case "unclear":
        return deletions.warn(
          `${spelling} is taken; whether it shows them is unclear`,
          "Check again when fewer punches change: a service that hides deleted punches makes a copy keep them."
        )
      case "hidden":
        return deletions.warn(`${spelling} hides them, ${seen.proven} shows them`, sweepAll)
    }
  },
  deletions.orFailed
)

const readTwice =
  "A sync makes two listings of it by itself: twice as many requests. list --deleted include cannot work."

const sweepAll = "A sync finds this by itself. Sweep copies that were made before: time-punches copy sync --sweep all."

/** A filter for each parameter whose effect a punch shows, with a punch that it must find, narrowed to fit a page. */
const filtersOf = function*(
  punches: ReadonlyArray<TimePunch>
): Generator<readonly [parameter: string, filter: PunchFilter]> {
  const closed = punches.filter(({ clockedOut }) => Option.isSome(clockedOut))
  const sample = closed[closed.length >> 1] ?? punches[0]
  if (sample === undefined) return
  for (const key of idKeys) {
    // Whether 0 finds the punches without such an id is not known.
    const punch = punches.find((punch) => idOf(punch, key) !== 0)
    if (punch !== undefined) yield [timePunchNames[key], { ...near(punch), [key]: idOf(punch, key) }]
  }
  for (const approved of [true, false]) {
    const punch = punches.find((punch) => punch.approved === approved)
    if (punch !== undefined) yield [`approved=${approved}`, { ...near(punch), approved }]
  }
  const ended = punches.find(({ autoClockedOut }) => autoClockedOut)
  if (ended !== undefined) yield ["flags=auto_clocked_out", { ...near(ended), flags: ["auto_clocked_out"] }]

  const { clockedIn, clockedOut } = sample
  const alike = punches.filter(({ deleted }) => deleted === sample.deleted)
  yield ["clocked_in", { ...kindOf(sample), clockedIn: untilNext(clockedIn, alike.map(({ clockedIn }) => clockedIn)) }]
  if (Option.isSome(clockedOut)) {
    const window = untilNext(clockedOut.value, alike.flatMap(({ clockedOut }) => Option.toArray(clockedOut)))
    yield ["clocked_out", { ...kindOf(sample), clockedOut: window }]
  }
  // Wherever the punch is, its wall clock is at most 14 hours from UTC.
  const anywhere = around(clockedIn, widestOffset, widestOffset + hiddenDigits)
  yield ["localize_search_time", { ...kindOf(sample), clockedIn: anywhere, localizeSearchTime: true }]

  const [latest] = punches.toSorted((a, b) =>
    Number(isEdited(b)) - Number(isEdited(a)) || modifiedOf(b) - modifiedOf(a)
  )
  if (latest !== undefined && modifiedOf(latest) > 0) {
    const modifiedSince = DateTime.makeUnsafe(modifiedOf(latest) - 1000)
    yield ["modified_since", { ...near(latest), deleted: "include", modifiedSince }]
  }
  // The dates that a punch may have: only the service knows the zone. Early and late in a day they are the fewest.
  const byTime = alike.toSorted((a, b) => timeOfDay(a) - timeOfDay(b))
  for (const punch of [...byTime.slice(0, 1), ...byTime.slice(-1)]) {
    const [first, last] = [dateOf(punch.clockedIn, -latestStart), dateOf(punch.clockedIn, widestOffset)]
    yield ["business_date", { ...kindOf(punch), businessDate: { first, last } }]
  }
}

/** Milliseconds since midnight UTC. */
const timeOfDay = ({ clockedIn }: TimePunch): number => modulo(clockedIn.epochMilliseconds, dayMillis)

/** 0 if the punch does not show it. */
const modifiedOf = ({ modified }: TimePunch): number =>
  Option.match(modified, { onNone: () => 0, onSome: ({ epochMilliseconds }) => epochMilliseconds })

/** A service that reads `modified_since` as the time of creation omits such a punch. */
const isEdited = (punch: TimePunch): boolean =>
  Option.exists(punch.created, ({ epochMilliseconds }) => modifiedOf(punch) > epochMilliseconds + hiddenDigits)

/** A window whose start is one of the instants, and its end the next one: whether both are inclusive shows. */
const untilNext = (gte: DateTime.Utc, instants: ReadonlyArray<DateTime.Utc>) => {
  const after = instants.map(({ epochMilliseconds }) => epochMilliseconds)
    .filter((at) => at > gte.epochMilliseconds + hiddenDigits)
  return { gte, lte: after.length === 0 ? moved(gte, hiddenDigits) : DateTime.makeUnsafe(Math.min(...after)) }
}
