/** `time-punches payroll diff`: compares a period with what it was when it was closed, in a copy with a history. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Close from "../../close/Close.ts"
import * as CloseTerms from "../../close/CloseTerms.ts"
import { CloseNumber } from "../../close/ids.ts"
import type { CompanyId, LocationId } from "../../Ids.ts"
import { MissingDayRule, zoneOf, zonesOf } from "../../payroll/DayRule.ts"
import type { LaborOptions } from "../../payroll/Labor.ts"
import { failedWith } from "../../sql/connection.ts"
import type { CopyStatus } from "../../sql/CopyStatus.ts"
import { type Comparison, comparisonOf, makePeople, readChanges } from "../../sql/history.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { openCopy, refuseFuture, withCopy } from "../database/copy.ts"
import { databaseFlag, maxAgeFlag } from "../database/database.ts"
import { open } from "../database/open.ts"
import { codeOf, CommandFailure, usage } from "../failure.ts"
import { companyFlags } from "../flags/connection.ts"
import { csvFlags, formatFlags } from "../flags/form.ts"
import { namesFlag } from "../flags/names.ts"
import { intoOutput, outputFlags } from "../flags/output.ts"
import {
  dayStartsOrDefault,
  periodFlags,
  refuseBesideClose,
  requirePeriod,
  resolvePeriod,
  textOfDates
} from "../flags/period.ts"
import { orDefault } from "../flags/settings.ts"
import { asOf, makeForgotten, optionalRounding, orHalfUp } from "../flags/thresholds.ts"
import { instant, whole } from "../flags/values.ts"
import { readZones } from "../flags/zones.ts"
import { printError, printHint } from "../print/messages.ts"
import { print, printCells, screen } from "../print/output.ts"
import { makeVerb } from "../verb.ts"
import { jsonOf, linesOf, peopleCsv, punchesCsv } from "./diffPrint.ts"

/** The forms of its result. */
const forms = ["table", "csv", "json"] as const

const diffFlags = {
  close: whole(
    "close",
    "ID",
    "The punches behind the next correction of this close; its record has the period and all that decides on the sums",
    1
  ).pipe(Flag.map(Option.map((id) => CloseNumber.make(id)))),
  since: instant(
    "since",
    "When the period was closed: compare the copy at this instant with the copy now (required without --close)"
  ),
  ...periodFlags,
  asOf,
  rounding: optionalRounding,
  ...formatFlags(forms, "table for people; csv and json are exact"),
  ...csvFlags,
  ...outputFlags,
  rows: Flag.Literals("rows", ["people", "punches"]).pipe(
    Flag.withDescription("With --format csv: a row for each person, or for each punch (default: people)"),
    Flag.optional
  ),
  names: namesFlag,
  // Nothing is sent, so no guid is needed.
  company: companyFlags.company,
  database: databaseFlag,
  maxAge: maxAgeFlag
}

type DiffInput = Command.Command.Config.Infer<typeof diffFlags>

export const verb = makeVerb("diff", diffFlags, (flags) => intoOutput(printDiff(flags), flags), {
  text: `Compare the punches of a period with what they were when it was closed.

  It reads a copy that time-punches copy sync --history keeps, and sends
  nothing. --close ID shows the punches behind the next correction of a close:
  its record has the period, the clocks, the thresholds and the instant, and a
  flag for one of them is refused. Without --close, give for --since the instant
  that summary printed for the copy on standard error at that time.

  It lists each punch that has changed, with its kind: edited, added (the copy
  did not have it then), movedIn or movedOut (into or out of the period),
  deleted, undeleted, missing (the service no longer shows it) or back. Then it
  lists each person whose sums differ, with the difference in net time, cost
  and tips: what a correction run has to pay.`,
  examples: [
    ["payroll diff --close 7 --database punches.db", "What the next correction of close 7 would pay, punch by punch"],
    [
      "payroll diff --week 2026-03-02 --zone America/New_York --since 2026-03-09T15:00:00Z " +
      "--database punches.db",
      "What has changed in a closed week"
    ],
    [
      "payroll diff --week 2026-03-02 --zone America/New_York --since 2026-03-09T15:00:00Z " +
      "--database punches.db --format csv --names names.csv",
      "The difference of each person, for a correction run"
    ]
  ]
})

const printDiff = Effect.fnUntraced(function*(input: DiffInput) {
  const { close } = input
  if (Option.isSome(close)) yield* refuseRecorded(input)
  const { company, format, names, style, target } = yield* open(
    input,
    forms,
    openCopy(input, {
      command: "payroll diff",
      why: ["The service does not show earlier versions of a punch; a copy that is synced with --history has them."]
    })
  )
  const period = Option.isSome(close) ? undefined : yield* ofPeriod(input)
  if (Option.isSome(input.rows) && format !== "csv") {
    return yield* usage("--rows goes with --format csv; every other form has both punches and people")
  }
  const shownOn = yield* screen
  let since = Option.none<DateTime.DateTime>()
  let count = 0
  const forgotten = makeForgotten(period?.asOf)

  const texts = Effect.fnUntraced(function*(status: CopyStatus) {
    if (period !== undefined) yield* refuseFuture(company, period.comparison.since)
    const subject = period ?? (yield* ofClose(company, Option.getOrThrow(close), input, status))
    since = Option.some(subject.comparison.since)
    const people = makePeople(subject)
    const punches = readChanges(company, subject.comparison, people).pipe(
      Stream.catchTag("SqlError", (error) => Stream.fail(failedWith(company, "the history cannot be read")(error))),
      Stream.mapArray((changes) => {
        count += changes.length
        forgotten.add(
          changes.flatMap(({ after, kind }) => kind === "deleted" || kind === "movedOut" ? [] : Option.toArray(after))
        )
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
  yield* write(withCopy(company, target, texts, input.maxAge))
  yield* forgotten.warn
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
  const flags = yield* resolvePeriod(input)
  const { dayRule, period } = yield* requirePeriod(flags, "payroll diff")
  const { getDayRule } = zonesOf(dayRule)
  return {
    comparison: comparisonOf({ dayRule, period, since }),
    rounding: orHalfUp(flags.rounding),
    asOf: Option.getOrUndefined(flags.asOf),
    zoneOf: ({ locationId }) => Option.map(Result.getSuccess(getDayRule(locationId)), zoneOf)
  } satisfies ChangeQuery<MissingDayRule>
})

/** What is compared, and how its punches are read. */
export interface ChangeQuery<E> extends LaborOptions {
  readonly comparison: Comparison<E>
  readonly asOf: DateTime.Utc | undefined
  /** The zone in which the times of a punch are shown. */
  readonly zoneOf: (punch: TimePunch) => Option.Option<DateTime.TimeZone>
}

/** The changes since the newest active revision. */
export const ofClose = Effect.fnUntraced(
  function*(company: CompanyId, id: CloseNumber, input: DiffInput, { history }: CopyStatus) {
    const { otherTerms, terms: recorded, ...revision } = yield* Close.newest(company, id)
    const terms = yield* withZones(id, recorded, input)
    const known = Option.map(history, ({ since }) => since)
    if (!Option.exists(known, (since) => DateTime.isLessThanOrEqualTo(since, revision.at))) {
      const reach = Option.match(known, {
        onNone: () => "the copy has no history",
        onSome: (since) => `the history is known since ${DateTime.formatIso(since)}`
      })
      return yield* new CommandFailure({
        message: `${reach}, and revision ${revision.id} sums the copy of ${DateTime.formatIso(revision.at)}`,
        advice: [`time-punches payroll due ${id} prints what is due, without the punches.`],
        code: codeOf.HistoryUnavailable
      })
    }
    yield* printHint(`revision ${revision.id}: ${textOfDates(terms)}, as of ${DateTime.formatIso(revision.at)}`)
    return {
      comparison: closeComparisonOf(terms, otherTerms, revision.at),
      rounding: terms.rounding,
      asOf: undefined,
      zoneOf: ({ locationId }) =>
        Option.flatMap(
          Option.fromUndefinedOr(CloseTerms.getLocation(terms, locationId)),
          ({ clock }) =>
            Option.flatMap(Option.fromUndefinedOr(terms.clocks[clock]), ({ zone }) => DateTime.zoneFromString(zone))
        )
    } satisfies ChangeQuery<MissingDayRule>
  }
)

/** Refuses the flags whose value the record has. A file of zones may add locations, with their starts of the day. */
export const refuseRecorded = (input: DiffInput) => {
  const { dayStarts, zoneFile: _, ...others } = periodFlags
  return refuseBesideClose(input, [
    "since",
    ...Object.keys(Option.isSome(input.zoneFile) ? others : { ...others, dayStarts }),
    "asOf",
    "rounding"
  ])
}

/**
 * The file may add locations that the record lacks, as `payroll correct --zone-file` does. One of the profile is of all closes:
 * where it has another clock, the record keeps its own.
 */
const withZones = Effect.fnUntraced(function*(
  id: number,
  recorded: CloseTerms.CloseTerms,
  { dayStarts, zoneFile }: DiffInput
) {
  let terms = recorded
  const dayRules = yield* readZones(yield* orDefault(zoneFile, "zoneFile"), yield* dayStartsOrDefault(dayStarts))
  for (const [locationId, dayRule] of Option.getOrElse(dayRules, () => new Map())) {
    if (Option.isSome(zoneFile) && CloseTerms.hasOtherDayRule(recorded, locationId, dayRule)) {
      return yield* usage(
        `--zone-file contradicts close ${id}: location ${locationId} has another clock there`,
        "The record keeps the clock that the period was closed with. Leave the flag out, or the location."
      )
    }
    if (CloseTerms.getLocation(terms, locationId) === undefined) {
      terms = CloseTerms.withLocation(terms, locationId, dayRule)
    }
  }
  return terms
})

/** The punches that the sums of the close count. Of the days before a cut week they are shown too, and are in no difference. */
const closeComparisonOf = (
  terms: CloseTerms.CloseTerms,
  otherTerms: ReadonlyArray<CloseTerms.CloseTerms>,
  since: DateTime.Utc
): Comparison<MissingDayRule> => {
  const isInLater = CloseTerms.isInLaterClose(terms, otherTerms)
  const places = new Map<LocationId, CloseTerms.CountedInterval | undefined>()
  const placeOf = (locationId: LocationId) => {
    if (!places.has(locationId)) places.set(locationId, CloseTerms.getCountedInterval(terms, locationId))
    return places.get(locationId)
  }
  return {
    since,
    widest: CloseTerms.queryWindow(terms),
    contains: (punch) => {
      const { clockedIn: { epochMilliseconds: at }, locationId } = punch
      const place = placeOf(locationId)
      if (place !== undefined) return Result.succeed(place.from <= at && at < place.to)
      return isInLater(punch) ? Result.succeed(false) : Result.fail(new MissingDayRule({ locationId }))
    },
    isShown: ({ clockedIn: { epochMilliseconds: at }, locationId }: TimePunch) => {
      const place = placeOf(locationId)
      return place !== undefined && place.countedFrom <= at && at < place.from
    }
  }
}
