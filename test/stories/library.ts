/** Plays a story on the library, over a copy in a database. */
import { assert } from "@effect/vitest"
import { Array as Arr, DateTime, Duration, Effect, Option, Result, Schema } from "effect"
import { CloseNumber } from "../../src/close/ids.ts"
import {
  Blocker,
  Close,
  type CloseError,
  CloseSums,
  type CloseTerms,
  isCloseError,
  type Revision
} from "../../src/close/index.ts"
import { termsAt } from "../../src/close/Revision.ts"
import { BusinessDate, Cents, CompanyId, LocationId, RoleId, TimePunchId, UserId } from "../../src/Ids.ts"
import { PayCalendarText } from "../../src/payroll/PayCalendar.ts"
import * as PayrollFile from "../../src/payroll/PayrollFile.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { shift as shiftOf } from "../support/arbitraryPunch.ts"
import { commit, type OpenHistory } from "../support/histories.ts"
import { type Dates, foundLine, mappings, type Options, type Player, Refused, type Row, type Shift } from "./story.ts"

const company = CompanyId.make(2)

const punchOf = ({ approved, deleted, from, id, location, role, tips, to, user, wage }: Shift): TimePunch =>
  shiftOf(new Date(from).toISOString(), 0, {
    id: TimePunchId.make(id),
    userId: UserId.make(user),
    locationId: LocationId.make(location),
    roleId: RoleId.make(role),
    hourlyWage: Cents.make(wage),
    tips: Cents.make(tips),
    clockedOut: Option.map(Option.fromUndefinedOr(to), (millis) => DateTime.makeUnsafe(millis)),
    deleted,
    approved
  })

const secondsOf = (time: Option.Option<Duration.Duration>): number =>
  Option.match(time, { onNone: () => 0, onSome: Duration.toSeconds })

/** The excess of each person is the sum of that of the rows, also of a person who is not listed. */
const assertPeople = (
  rows: ReadonlyArray<Row>,
  people: ReadonlyArray<readonly [user: number, over: number, double: number]>
): void => {
  const sum = (user: number, name: "over" | "double") =>
    rows.reduce((total, row) => total + (row.user === user ? row[name] : 0), 0)
  const users = new Set([...rows.map(({ user }) => user), ...people.map(([user]) => user)])
  const known = new Map(people.map(([user, ...excess]) => [user, excess]))
  for (const user of users) {
    assert.deepStrictEqual(known.get(user) ?? [0, 0], [sum(user, "over"), sum(user, "double")], `person ${user}`)
  }
}

const rowsOf = (sums: CloseSums.CloseSums): ReadonlyArray<Row> => {
  const found = sums.rows.map((row) => ({
    user: row.userId,
    location: row.locationId,
    role: row.roleId,
    wage: row.hourlyWage,
    punches: row.punches,
    incomplete: row.incomplete,
    net: Duration.toSeconds(row.net),
    over: secondsOf(row.over),
    double: secondsOf(row.double),
    cost: row.cost,
    tips: row.tips
  }))
  assertPeople(
    found,
    CloseSums.byPerson(sums).map(({ double, over, userId }) => [userId, secondsOf(over), secondsOf(double)])
  )
  return found
}

const writtenOf = (revision: Revision) => ({
  id: revision.id,
  kind: revision.kind,
  first: revision.first,
  last: revision.last,
  previous: Option.getOrNull(revision.previous),
  voids: Option.getOrNull(revision.voids),
  accepted: revision.accepted,
  rows: rowsOf(revision)
})

const duration = (seconds: number | undefined) => seconds === undefined ? undefined : Duration.seconds(seconds)

const dayRuleOf = (zone: string, starts: string | undefined) => {
  const [hours = 0, minutes = 0] = (starts ?? "00:00").split(":").map(Number)
  return { zone: DateTime.zoneMakeNamedUnsafe(zone), dayStarts: Duration.minutes(60 * hours + minutes) }
}

const dayRulesOf = ({ clocks, starts }: Options) =>
  clocks === undefined
    ? undefined
    : new Map([...clocks].map(([id, zone]) => [LocationId.make(id), dayRuleOf(zone, starts)]))

const calendarOf = ({ calendar }: Options) =>
  calendar === undefined ? undefined : Schema.decodeSync(PayCalendarText)(calendar)

const termsOf = ({ first, last }: Dates, options: Options) => ({
  first: BusinessDate.make(first),
  last: BusinessDate.make(last),
  dayRule: dayRulesOf(options) ?? dayRuleOf(options.zone, options.starts),
  firstDay: options.weeks,
  rounding: options.rounding,
  calendar: calendarOf(options),
  weeklyThreshold: duration(options.weekly),
  dailyThreshold: duration(options.daily),
  doubleThreshold: duration(options.double),
  seventhDay: duration(options.seventh)
})

const termNames: Readonly<Record<CloseTerms.TermChange["term"], string>> = {
  weeklyThreshold: "the weekly threshold is",
  dailyThreshold: "the daily threshold is",
  doubleThreshold: "the second daily threshold is",
  seventhDay: "the time over of a seventh day is",
  rounding: "the rounding is",
  firstDay: "the first day of the week is",
  calendar: "the calendar is"
}

const termText = (value: string | number | null): string =>
  typeof value === "number" ? `${value / 3600}:00` : value ?? "none"

/** What an error says, without the company. */
const refused = (error: CloseError | { readonly _tag: string; readonly message: string }) =>
  Effect.fail(
    new Refused({
      lines: isCloseError(error) && error._tag === "NotReady"
        ? [`not ready: ${foundLine(error.found)}`, ...error.details]
        : [`refused: ${error.message.replace(/ \[company \d+\]$/, "")}`]
    })
  )

const holeLine = (holes: ReadonlyArray<Close.Hole>): string => {
  const [hole] = holes
  if (hole === undefined) return ""
  const locations = holes.flatMap(({ locationId }) => Option.toArray(locationId))
  const at = hole.isEverywhere || locations.length === 0
    ? ""
    : ` at ${locations.length === 1 ? `location ${locations[0]}` : `${locations.length} locations`}`
  return Option.match(hole.dates, {
    onNone: () => {
      const [from, to] = [hole.interval.gte, hole.interval.lt].map(DateTime.formatIso)
      return `no close has ${from} to ${to}${at}, beside ${
        [hole.earlier, hole.later].flatMap(Option.toArray).map((close) => `close ${close}`).join(" and ")
      }`
    },
    onSome: ({ first, last }) => `no close has ${first} to ${last}${at}`
  })
}

const remarksOf = (correction: Close.CorrectionRemarks): ReadonlyArray<string> => [
  ...correction.unverified.length === 0 ? [] : [`the history does not reach ${correction.unverified.join(", ")}`],
  ...correction.otherCloses.length === 0 ? [] : [`the sums of close ${correction.otherCloses.join(", ")} differ too`],
  ...correction.unchangedLocations.length === 0
    ? []
    : [`location ${correction.unchangedLocations.join(", ")} keeps the clock of the record`],
  ...correction.peopleWithoutHours.map(({ causes, close, userId }) => {
    const counts = Object.entries(causes).map(([cause, count]) => `${count} punch${count === 1 ? "" : "es"} ${cause}`)
    return `close ${close}: user ${userId} lost all hours: ${counts.join(", ")}`
  })
]

export const libraryPlayer = ({ kept, run }: OpenHistory): Player => {
  const dueOptions = (closes: ReadonlyArray<number>, options: Options): Close.DueOptions => ({
    closes: closes.length === 0 ? undefined : closes.map((close) => CloseNumber.make(close)),
    dayRules: dayRulesOf(options)
  })
  const correctOptions = (closes: ReadonlyArray<number>, options: Options): Close.CorrectOptions => ({
    ...dueOptions(closes, options),
    accept: (["rules", "gap"] as const).filter((each) => options.accept.includes(each))
  })
  return {
    sync: (edited, all, isSweep) =>
      Effect.asVoid(commit(kept, company, (isSweep ? all : edited).map(punchOf), isSweep)),
    close: (dates, options) =>
      Effect.gen(function*() {
        const acceptGaps = options.accept.includes("gap")
        const terms = dates === undefined
          ? (yield* run(Close.next(company, { acceptGaps, calendar: calendarOf(options) }))).options
          : termsOf(dates, options)
        // No pass has a time here: the age of the copy has its own tests.
        const accept = Blocker.literals.filter((kind) => kind === "stale" || options.accept.includes(kind))
        const revision = yield* run(Close.create(company, { ...terms, accept }))
        const remarks = revision.changedTerms.map((change) =>
          `${termNames[change.term]} ${termText(change.now)}, and close ${change.close} has ${termText(change.other)}`
        )
        return { revision: writtenOf(revision), remarks }
      }).pipe(Effect.catch(refused)),
    due: (closes, options) =>
      run(Close.due(company, dueOptions(closes, options))).pipe(
        Effect.map((due) => due.map(({ after, difference }) => ({ after, rows: rowsOf(difference) }))),
        Effect.catch(refused)
      ),
    correct: (closes, options) =>
      Effect.gen(function*() {
        const rehearsed = yield* Effect.result(run(Close.rehearse(company, correctOptions(closes, options))))
        const corrected = yield* Effect.result(run(Close.correct(company, correctOptions(closes, options))))
        const { due, revisions, ...remarks } = yield* Effect.fromResult(Result.mapError(corrected, (error) => {
          assert.deepStrictEqual<unknown>(Result.merge(rehearsed), error, "a rehearsal is refused as the correction is")
          return error
        }))
        const amounts = revisions.map(({ previous }, at) => ({
          after: Option.getOrThrow(previous),
          difference: due[at] ?? CloseSums.empty
        }))
        assert.deepStrictEqual(
          Result.merge(rehearsed),
          { ...remarks, due: amounts },
          "a rehearsal says what is written"
        )
        return {
          revisions: revisions.map(writtenOf),
          due: amounts.map(({ after, difference }) => ({ after, rows: rowsOf(difference) })),
          remarks: remarksOf(remarks)
        }
      }).pipe(Effect.catch(refused)),
    voidRevision: (revision, mistake) =>
      run(Close.voidRevision(company, { revision, note: "not paid", mistake })).pipe(
        Effect.map(writtenOf),
        Effect.catch(refused)
      ),
    verify: run(Close.verify(company)).pipe(
      Effect.map(({ revisions }) => revisions),
      Effect.catch(refused)
    ),
    list: run(Close.list(company)).pipe(
      Effect.map((closes) =>
        closes.flatMap((close) =>
          close.revisions.map((revision) => ({
            ...writtenOf(revision),
            locations: termsAt(close, revision).locations.flatMap(({ locationId }) => Option.toArray(locationId))
          }))
        )
      ),
      Effect.catch(refused)
    ),
    holes: Effect.gen(function*() {
      const [holes, late] = [yield* run(Close.holes(company)), yield* run(Close.lateTime(company))]
      const besideOf = ({ dates, earlier, interval, later }: Close.Hole) =>
        JSON.stringify([
          earlier,
          later,
          Option.match(dates, { onNone: () => interval.gte, onSome: ({ first }) => first })
        ])
      return [
        ...Object.values(Arr.groupBy(holes, besideOf)).map(holeLine),
        ...late.map(({ close, interval, net, punches }) =>
          `no close has what came into an accepted gap since close ${close}: ${
            [interval.gte, interval.lt].map(DateTime.formatIso).join(" to ")
          } has ${Duration.toHours(net)}h, ${punches} punches`
        )
      ]
    }).pipe(Effect.catch(refused)),
    file: (revision, name) =>
      run(Close.find(company, revision)).pipe(
        Effect.flatMap(({ previous, revision }) =>
          Effect.fromResult(
            Result.flatMap(
              PayrollFile.decodeMapping(mappings[name]),
              (mapping) =>
                PayrollFile.encode(mapping, { codes: { getCode: () => undefined }, state: revision, previous })
            )
          )
        ),
        Effect.map(({ text }) => text.split("\n").filter((line) => line !== "")),
        Effect.catch(refused)
      )
  }
}
