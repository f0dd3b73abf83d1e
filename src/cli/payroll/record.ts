/** What the verbs of a record share when they run: its copy, who writes, and how a failure to close is printed. */
import * as Arr from "effect/Array"
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Close from "../../close/Close.ts"
import { foundText, type NotReady } from "../../close/CloseError.ts"
import { CloseNumber } from "../../close/ids.ts"
import * as RevisionName from "../../close/RevisionName.ts"
import type { CompanyId } from "../../Ids.ts"
import { version } from "../../internal/wire/userAgent.ts"
import { isDayRules } from "../../payroll/DayRule.ts"
import { openCopy, requireCopy } from "../database/copy.ts"
import { databaseFlag, maxAgeFlag, personOf } from "../database/database.ts"
import { open } from "../database/open.ts"
import { Findings, usage } from "../failure.ts"
import { companyFlags, companyWords } from "../flags/connection.ts"
import { disputesUnknown } from "../flags/filter.ts"
import { jsonFlags, type JsonInput, tableOrJson } from "../flags/form.ts"
import { namesFlag } from "../flags/names.ts"
import { outputFlags } from "../flags/output.ts"
import { calendarOf, dayStartsOrDefault, periodFlags, resolvePeriod } from "../flags/period.ts"
import { orDefault } from "../flags/settings.ts"
import { givenThresholds, optionalRounding, orHalfUp, thresholdFlags } from "../flags/thresholds.ts"
import { nonBlank, readWhole, wholeNumber, words } from "../flags/values.ts"
import { readZones, zoneFileFlag } from "../flags/zones.ts"
import { counted, countedPunches, formatSignedHours, shellWord } from "../print/format.ts"
import { printWarning } from "../print/messages.ts"
import { printText, screen } from "../print/output.ts"
import { tableOf } from "./findings.ts"

/** The company of the flags, and the copy that has its record. */
export const openClosed = (input: Parameters<typeof openCopy>[0], verb: string, writes = false) =>
  openCopy(input, {
    command: `payroll ${verb}`,
    why: ["Closes are recorded in a copy that is synced with --history."],
    writes
  })

/** The same, with what decides how it is printed. */
export const openRecord = (
  input: Parameters<typeof openClosed>[0] & Parameters<typeof open>[0] & JsonInput,
  verb: string,
  writes = false
) =>
  Effect.map(
    open(input, tableOrJson, openClosed(input, verb, writes)),
    (opened) => ({
      ...opened,
      json: opened.format === "json",
      /** The flags of a printed call that means this record. The environment may name another company than the flag. */
      words: `${companyWords(input.company)} --database ${shellWord(opened.address)}`
    })
  )

/** The record that a verb has opened. */
export type OpenedRecord = Effect.Success<ReturnType<typeof openRecord>>

/** Who writes a revision, and with which note. */
export const authorship = (note: Option.Option<string>) => ({
  note: Option.getOrElse(note, () => ""),
  user: personOf(),
  release: version
})

/** Prints why a period is not ready to be closed, or a close to be corrected, and ends the command with findings. */
export const printNotReady = ({ address, names }: OpenedRecord, verb: "close" | "correct") =>
  Effect.fnUntraced(function*({ companyId, details, found, issues }: NotReady) {
    // A correction has printed the age before.
    if (verb === "close") yield* requireCopy(companyId, address, Option.none())
    yield* printText(tableOf(issues, names, yield* screen))
    const done = verb === "close" ? "closed" : "corrected"
    yield* printWarning(
      `not ${done}: ${foundText(found)}`,
      ...details,
      `--accept ${Object.keys(found).join(",")} ${verb}s all the same.`,
      // A correction looks for gaps alone.
      ...(verb === "close" ? [disputesUnknown] : [])
    )
    return yield* new Findings()
  })

/** The period that `--next` closes; `None` if the record does not say which. */
export const nextPeriod = (company: CompanyId) =>
  Effect.catchTag(Effect.asSome(Close.next(company)), "UnknownClose", () => Effect.succeedNone)

/**
 * Warns of time that fell out of every close, and of what came into a gap after it was accepted. The verb has done its work: if the
 * record cannot be read, that is a warning too.
 */
export const warnOfHoles = (company: CompanyId) =>
  Effect.gen(function*() {
    const groups = Object.values(Arr.groupBy(yield* Close.holes(company), besideOf))
    const next = groups.length === 0 ? Option.none() : yield* nextPeriod(company)
    yield* printWarning(...groups.map((holes) => holeLine(holes, Option.filter(next, ({ isHole }) => isHole))))
    yield* printWarning(
      ...(yield* Close.lateTime(company)).map(({ close, interval, net, punches, ...late }) =>
        `no close has what came into an accepted gap since close ${close}: ${timeOf(interval)}${
          Option.match(late.locationId, { onNone: () => "", onSome: (id) => ` at location ${id}` })
        } has ${formatSignedHours(net)} of ${countedPunches(punches)} more; close it by its dates`
      )
    )
  }).pipe(
    Effect.catchTag("SyncError", ({ message }) => printWarning(`holes between closes are not known: ${message}`))
  )

/** Holes between the same closes, with the same dates, are one to a person. */
const besideOf = ({ dates, earlier, interval, later }: Close.Hole): string =>
  [
    Option.getOrUndefined(earlier),
    Option.getOrUndefined(later),
    Option.match(dates, { onNone: () => timeOf(interval), onSome: ({ first }) => first })
  ].join(" ")

const timeOf = ({ gte, lt }: Close.Hole["interval"]): string =>
  `${DateTime.formatIso(gte)} to ${DateTime.formatIso(lt)}`

const holeLine = (
  holes: Arr.NonEmptyReadonlyArray<Close.Hole>,
  next: Option.Option<Close.NextPeriod>
): string => {
  const [{ dates, earlier, interval, isEverywhere, later }] = holes
  const locations = holes.flatMap(({ locationId }) => Option.toArray(locationId))
  const [only, another] = locations
  const at = isEverywhere || only === undefined
    ? ""
    : ` at ${another === undefined ? `location ${only}` : counted(locations.length, "location")}`
  const sides = [...Option.toArray(earlier), ...Option.toArray(later)].map((close) => `close ${close}`).join(" and ")
  return Option.match(dates, {
    onNone: () => `no close has ${timeOf(interval)}${at}, beside ${sides}`,
    onSome: ({ first, last }) => {
      // The other holes are next when the ones before are closed, or only some locations have them.
      const own = Option.filter(next, (next) => next.options.first === first)
      const how = Option.isSome(own) ? "payroll close --next" : `--from ${first} --to ${last}`
      // Behind the newest close there is none yet that could accept it.
      const other = Option.isSome(later)
        ? ", or let it through with --accept gap at the next close"
        : Option.match(own, {
          onNone: () => "",
          onSome: ({ termsOf }) =>
            `; if close ${termsOf} should never have been written, payroll void ${termsOf}.1 --mistake lets it go`
        })
      return `no close has ${first} to ${last}${at}: close it with ${how}${other}`
    }
  })
}

/** The record that a verb reads or writes. Nothing is sent, so no guid is needed. */
export const recordFlags = { company: companyFlags.company, database: databaseFlag, ...jsonFlags }

/** What a verb needs that reads the record and prints it. */
export const readFlags = { ...recordFlags, ...outputFlags }

export const note = nonBlank("note", "TEXT", "A note that is kept with the revision", "a text that is not blank")

export const closeNumber = Argument.String("ID").pipe(
  Argument.withDescription("A close, such as 7; without one: all that are active"),
  Argument.filterMap((text) => readWhole(text, 1), () => wholeNumber(1)),
  Argument.map((id) => CloseNumber.make(id))
)

/** `7` is a close, `7.2` a revision of it. */
export const revisionName = Argument.String("ID").pipe(
  Argument.withMetavar("ID|REVISION"),
  Argument.withDescription("A close, such as 7, or a revision of it, such as 7.2"),
  Argument.filterMap(
    (name) => Option.map(RevisionName.parse(name), (parsed) => ({ ...parsed, name })),
    () => "a close such as 7, or a revision such as 7.2"
  )
)

/** What a verb needs that sums closes again. */
export const sumFlags = {
  closes: closeNumber.pipe(Argument.variadic()),
  zoneFile: zoneFileFlag,
  dayStarts: periodFlags.dayStarts,
  names: namesFlag,
  maxAge: maxAgeFlag,
  accept: words(
    "accept",
    ["rules", "gap", "days"],
    "Correct although the sums had other rules, leave a gap, or end files by day"
  )
}

/** What decides on the sums of a period. */
export const termFlags = { ...periodFlags, ...thresholdFlags, rounding: optionalRounding }

/** Which closes are summed again, the locations that are added to them, and what is accepted. */
export const readSumFlags = Effect.fnUntraced(
  function*(input: Omit<Command.Command.Config.Infer<typeof sumFlags>, "names" | "maxAge">) {
    const zoneFile = yield* orDefault(input.zoneFile, "zoneFile")
    if (Option.isSome(input.dayStarts) && Option.isNone(zoneFile)) {
      return yield* usage(
        "--day-starts goes with --zone-file: the days of the other locations begin as the record has them"
      )
    }
    const dayRules = yield* readZones(zoneFile, yield* dayStartsOrDefault(input.dayStarts))
    return {
      closes: input.closes.length === 0 ? undefined : input.closes,
      dayRules: Option.getOrUndefined(dayRules),
      accept: Option.getOrUndefined(input.accept)
    }
  }
)

/** The terms of a close by the flags, but its company; `None` if they name no dates or no clock. */
export const readTerms = Effect.fnUntraced(function*(input: Command.Command.Config.Infer<typeof termFlags>) {
  const flags = yield* resolvePeriod(input, {
    countsWeeks: true,
    takesWeekStarts: Option.isSome(Option.orElse(input.weeklyThreshold, () => input.seventhDay))
  })
  const thresholds = yield* givenThresholds(input)
  const terms = Option.map(Option.all([flags.dates, flags.dayRule]), ([dates, dayRule]) => ({
    ...dates,
    ...thresholds,
    dayRule: isDayRules(dayRule) ? Option.getOrElse(flags.locations, () => new Map()) : dayRule,
    firstDay: Option.getOrUndefined(flags.weekStarts),
    calendar: Option.getOrUndefined(calendarOf(flags)),
    rounding: orHalfUp(flags.rounding)
  }))
  return { flags, terms }
})
