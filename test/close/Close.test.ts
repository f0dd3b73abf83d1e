/** Closes of a copy, over both databases: what is active adds up to the sums of now, and nothing is paid twice. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Option, Result, Schema } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { Blocker } from "../../src/close/Blocker.ts"
import * as CloseSums from "../../src/close/CloseSums.ts"
import { Close } from "../../src/close/index.ts"
import { ClosedPeriod, Revision } from "../../src/close/Revision.ts"
import type { FileForm, FileNote } from "../../src/close/WrittenFile.ts"
import { BusinessDate, Cents, CompanyId, LocationId, RoleId, TimePunchId, UserId } from "../../src/Ids.ts"
import { Patience } from "../../src/internal/sql/transaction.ts"
import * as PayrollFile from "../../src/payroll/PayrollFile.ts"
import * as Period from "../../src/payroll/Period.ts"
import { SqlStore } from "../../src/sql/index.ts"
import { prng } from "../../src/testing/base/prng.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { shift as shiftOf } from "../support/arbitraryPunch.ts"
import { databases, hookedClient, type Hooks, itWithDatabase } from "../support/databases.ts"
import { commit, type OpenHistory, openHistory } from "../support/histories.ts"
import { needs } from "../support/needs.ts"
import { clientOf, cluster, hasPrograms, noPostgres } from "../support/postgres.ts"

const company = CompanyId.make(2)
const [newYork, berlin, honolulu] = ["America/New_York", "Europe/Berlin", "Pacific/Honolulu"].map(
  DateTime.zoneMakeNamedUnsafe
)
if (newYork === undefined || berlin === undefined || honolulu === undefined) throw new Error("zones")
const date = (text: string) => BusinessDate.make(text)
const [east, far, late] = [LocationId.make(301), LocationId.make(303), LocationId.make(304)]

const march: Close.CloseOptions = {
  first: date("2026-03-02"),
  last: date("2026-03-15"),
  dayRule: newYork,
  rounding: "halfUp",
  weeklyThreshold: Duration.hours(40)
}
const next: Close.CloseOptions = { ...march, first: date("2026-03-16"), last: date("2026-03-29") }

const shift = (id: number, clockedIn: string, hours: number, changes: Partial<TimePunch> = {}) =>
  shiftOf(clockedIn, hours, { id: TimePunchId.make(id), userId: UserId.make(501), ...changes })

const closeTables = ["close", "close_state", "close_row", "close_file"]

const mapping = {
  v: 1,
  by: ["user"],
  hours: "decimal:2",
  rounding: "halfUp",
  columns: [
    { header: "Employee", value: "userCode" },
    { header: "Hours", value: "hours" },
    { header: "End", value: "periodEnd", format: "MM/DD/YYYY" }
  ]
}

const code = (id: number, code: string): PayrollFile.UsedCode => ({ kind: "user", id, code })

/** A form by the mapping with these changes. */
const formOf = (changes: Readonly<Record<string, unknown>> = {}, codes = [code(501, "0017")]): FileForm => ({
  mapping: Result.getOrThrow(PayrollFile.decodeMapping({ ...mapping, ...changes })),
  codes
})

/** The sums of the newest active revision of each close. */
const active = (closes: ReadonlyArray<ClosedPeriod>) =>
  closes.flatMap(({ revisions }) => {
    const voided = new Set(revisions.map(({ voids }) => Option.getOrNull(voids)))
    return revisions.findLast(({ id, kind }) => kind !== "void" && !voided.has(id)) ?? []
  })

const hours = ({ rows }: CloseSums.CloseSums) => rows.reduce((sum, { net }) => sum + Duration.toHours(net), 0)

/** What each revision of a close has more than the one before: what was due with it. */
const due = ({ revisions }: ClosedPeriod) =>
  revisions.map((revision) => {
    const find = (name: Option.Option<string>) => revisions.find(({ id }) => Option.contains(name, id))
    const of = find(revision.voids) ?? revision
    const more = hours(CloseSums.difference(of, find(of.previous) ?? CloseSums.empty))
    return [revision.id, of === revision ? more : -more]
  })

for (const database of databases()) {
  const itWithCopy = itWithDatabase(database, openHistory)

  describe(`Close in ${database.name}`, () => {
    const create = ({ run }: OpenHistory, options: Close.CloseOptions = march) =>
      run(Close.create(company, { accept: ["stale", "gap", "empty"], ...options }))
    const correct = ({ run }: OpenHistory, options: Close.CorrectOptions = {}) => run(Close.correct(company, options))
    const voidRevision = ({ run }: OpenHistory, revision: string) =>
      run(Close.voidRevision(company, { revision, note: "the file was not sent" }))
    const list = ({ run }: OpenHistory) => run(Close.list(company))
    const noteFile = ({ run }: OpenHistory, revision: string, form: FileForm) =>
      run(Close.noteFile(company, revision, { ...form, user: "payroll" }))
    const files = ({ run }: OpenHistory) => run(Close.files(company, 1))
    const week = [shift(1, "2026-03-02T14:00:00Z", 8), shift(2, "2026-03-03T14:00:00Z", 8)]

    /** The close of the week, which it commits. */
    const closed = (copy: OpenHistory, options?: Close.CloseOptions) =>
      Effect.andThen(commit(copy.kept, company, week), create(copy, options))

    itWithCopy("records the sums of a period at an instant of the copy", (copy) =>
      Effect.gen(function*() {
        const revision = yield* closed(copy)

        assert.deepStrictEqual(
          [revision.close, revision.id, revision.previous, revision.kind, hours(revision), revision.accepted],
          [1, "1.1", Option.none(), "close", 16, { stale: 1 }]
        )
        const [close] = yield* list(copy)
        const text = JSON.stringify(Schema.encodeSync(ClosedPeriod)(close ?? assert.fail("no close")))
        assert.deepStrictEqual(Schema.decodeSync(ClosedPeriod)(JSON.parse(text)), close)
      }))

    itWithCopy("pays each difference once: edit, edit back, void, correct", (copy) =>
      Effect.gen(function*() {
        yield* closed(copy)
        yield* commit(copy.kept, company, [shift(2, "2026-03-03T14:00:00Z", 10)])
        assert.deepStrictEqual((yield* correct(copy)).revisions.map((revision) => [revision.id, hours(revision)]), [[
          "1.2",
          18
        ]])
        assert.deepStrictEqual((yield* correct(copy)).revisions, [])
        // An edit and its undoing cancel.
        yield* commit(copy.kept, company, [shift(2, "2026-03-03T14:00:00Z", 12)])
        yield* commit(copy.kept, company, [shift(2, "2026-03-03T14:00:00Z", 10)])
        assert.deepStrictEqual((yield* correct(copy)).revisions, [])
        yield* voidRevision(copy, "1.2")
        yield* commit(copy.kept, company, [shift(2, "2026-03-03T14:00:00Z", 11)])
        assert.deepStrictEqual(
          (yield* correct(copy)).revisions.map(({ id, previous }) => [id, Option.getOrNull(previous)]),
          [["1.4", "1.1"]]
        )

        const [close] = yield* list(copy)
        assert.deepStrictEqual(close === undefined ? [] : due(close), [["1.1", 16], ["1.2", 2], ["1.3", -2], [
          "1.4",
          3
        ]])
        assert.deepStrictEqual(active(yield* list(copy)).map(hours), [19])
        assert.deepStrictEqual(yield* copy.run(Close.verify(company, undefined)), {
          revisions: 3,
          unverifiable: 0
        })
      }))

    itWithCopy("refuses to void twice, a void, and a revision in the middle", (copy) =>
      Effect.gen(function*() {
        yield* closed(copy)
        yield* commit(copy.kept, company, [shift(2, "2026-03-03T14:00:00Z", 10)])
        yield* correct(copy)
        const why = (revision: string) =>
          Effect.map(Effect.flip(voidRevision(copy, revision)), ({ message }) => message)

        assert.match(yield* why("1.1"), /newest active revision is 1\.2.*print its file again/)
        yield* voidRevision(copy, "1.2")
        assert.match(yield* why("1.2"), /voided already, by 1\.3/)
        assert.match(yield* why("1.3"), /itself a void, of 1\.2/)
        assert.match(yield* why("1"), /such as 7\.2/)
        assert.match(yield* why("8.1"), /no such revision/)
        yield* voidRevision(copy, "1.1")
        // None is active: the close is over, and the period can be closed again.
        assert.deepStrictEqual((yield* correct(copy)).revisions, [])
        assert.match((yield* Effect.flip(correct(copy, { closes: [1] }))).message, /the close is over/)
        assert.strictEqual((yield* create(copy)).id, "2.1")
      }))

    itWithCopy("refuses a period of which another active close has an instant", (copy) =>
      Effect.gen(function*() {
        yield* closed(copy)
        const error = yield* Effect.flip(
          create(copy, { ...march, first: date("2026-03-15"), last: date("2026-03-20") })
        )

        assert.strictEqual(error._tag, "PeriodClosed")
        assert.strictEqual((yield* create(copy, next)).id, "2.1")
      }))

    itWithCopy(
      "is not ready while something is open, between two closes, or where the copy is too old",
      (copy) =>
        Effect.gen(function*() {
          yield* commit(copy.kept, company, [
            ...week,
            shift(3, "2026-03-04T14:00:00Z", 0, { clockedOut: Option.none() })
          ])
          const found = (options: Close.CloseOptions) =>
            Effect.map(Effect.flip(create(copy, options)), (error) => error._tag === "NotReady" ? error.found : error)

          assert.deepStrictEqual(yield* found({ ...march, accept: [] }), { open: 1, stale: 1 })
          assert.deepStrictEqual(
            (yield* create(copy, { ...march, accept: ["open", "stale"] })).accepted,
            { open: 1, stale: 1 }
          )
          assert.deepStrictEqual(
            yield* found({ ...march, first: date("2026-03-17"), last: date("2026-03-20"), accept: ["stale"] }),
            { gap: 1, empty: 1 }
          )
        })
    )

    itWithCopy("is stale unless the last complete sync run began after the period", (copy) =>
      Effect.gen(function*() {
        yield* commit(copy.kept, company, week)
        const began = (instant: string) => {
          const millis = Date.parse(instant)
          const value = database.dialect === "pg" ? `to_timestamp(${millis / 1000})` : `${millis}`
          return copy.query(`UPDATE time_punches_sync SET pass_began = ${value}`)
        }
        // 15 March ends at 04:00Z in New York.
        yield* began("2026-03-16T03:59:59.999Z")
        const error = yield* Effect.flip(create(copy, { ...march, accept: [] }))
        assert.match(
          error.message,
          /stale 1; the last complete sync run began 2026-03-16T03:59:59\.999Z, and the period ends/
        )
        yield* began("2026-03-16T04:00:00Z")
        assert.deepStrictEqual((yield* create(copy, { ...march, accept: [] })).accepted, {})
      }))

    itWithCopy("moves a punch between two closes in one write", (copy) =>
      Effect.gen(function*() {
        yield* closed(copy)
        yield* create(copy, next)
        yield* commit(copy.kept, company, [shift(2, "2026-03-17T14:00:00Z", 8)])
        const named = yield* correct(copy, { closes: [2] })

        assert.deepStrictEqual([named.revisions.map(({ id }) => id), named.otherCloses], [["2.2"], [1]])
        yield* voidRevision(copy, "2.2")
        assert.deepStrictEqual((yield* correct(copy)).revisions.map((revision) => [revision.id, hours(revision)]), [
          ["1.2", 8],
          ["2.4", 8]
        ])
        assert.deepStrictEqual(active(yield* list(copy)).map(hours), [8, 8])
      }))

    itWithCopy(
      "corrects an excess that an edit before the period changes, and a role alone",
      (copy) =>
        Effect.gen(function*() {
          // The period begins on Thursday, and its week has 36 hours before it.
          const days = ["09", "10", "11"].map((day, at) => shift(10 + at, `2026-03-${day}T12:00:00Z`, 12))
          yield* commit(copy.kept, company, [...days, shift(20, "2026-03-12T14:00:00Z", 8)])
          const half = { ...march, first: date("2026-03-12"), last: date("2026-03-31") }
          const over = (revision: Revision) =>
            CloseSums.byPerson(revision).map(({ over }) => Option.getOrNull(Option.map(over, Duration.toHours)))

          assert.deepStrictEqual(over(yield* create(copy, half)), [4])
          yield* commit(copy.kept, company, [shift(12, "2026-03-11T12:00:00Z", 8)])
          const [edited] = (yield* correct(copy)).revisions
          assert.deepStrictEqual(edited === undefined ? [] : over(edited), [0])
          yield* commit(copy.kept, company, [
            shift(20, "2026-03-12T14:00:00Z", 8, { roleId: RoleId.make(99) })
          ])
          assert.lengthOf((yield* correct(copy)).revisions, 1)
        })
    )

    itWithCopy("adds a location that the record lacks, and changes none", (copy) =>
      Effect.gen(function*() {
        yield* closed(copy, { ...march, dayRule: new Map([[east, newYork]]) })
        yield* commit(copy.kept, company, [shift(30, "2026-03-05T14:00:00Z", 4, { locationId: late })])

        assert.strictEqual((yield* Effect.flip(correct(copy)))._tag, "MissingZone")
        const clocks = new Map([[late, berlin], [east, berlin], [far, berlin]])
        const corrected = yield* correct(copy, { dayRules: clocks })
        assert.deepStrictEqual(corrected.revisions.map(hours), [20])
        assert.deepStrictEqual(corrected.unchangedLocations, [east])
        assert.deepStrictEqual(
          corrected.revisions.length === 0
            ? []
            : (yield* list(copy))[0]?.revisions[1]?.added.locations.map(({ locationId }) => locationId),
          [Option.some(late)]
        )
        // Its clock is that of the record from now on.
        yield* commit(copy.kept, company, [shift(31, "2026-03-05T14:00:00Z", 1, { locationId: late })])
        assert.deepStrictEqual((yield* correct(copy)).revisions.map(hours), [21])
        // As Berlin in the one and New York in the next, five hours would be in no close, or in both.
        const error = yield* Effect.flip(
          create(copy, { ...next, dayRule: new Map([[late, newYork]]), accept: ["stale", "empty"] })
        )
        assert.deepStrictEqual(error._tag === "NotReady" ? error.found : error, { gap: 1 })
      }))

    const weekOf = (first: string): Close.CloseOptions => ({
      ...march,
      first: date(first),
      last: Option.getOrThrow(Period.addDays(date(first), 6))
    })
    const weeks = ["2026-03-02", "2026-03-09", "2026-03-16", "2026-03-23"].map(weekOf)
    const holes = ({ run }: OpenHistory) =>
      Effect.map(
        run(Close.holes(company)),
        (found) => found.map(({ dates, earlier, later }) => [earlier, later, Option.getOrNull(dates)])
      )
    const afterSecond = [[1, 3, { first: date("2026-03-09"), last: date("2026-03-15") }]]

    itWithCopy(
      "shows a period that fell out of every close, holds the next close up, and closes it next",
      (copy) =>
        Effect.gen(function*() {
          const [one, two, three, four] = weeks
          yield* commit(copy.kept, company, week)
          const strict = ["stale", "empty"] as const
          for (const each of [one, two, three]) yield* create(copy, { ...march, ...each, accept: strict })
          assert.deepStrictEqual(yield* holes(copy), [])

          yield* voidRevision(copy, "2.1")
          assert.deepStrictEqual(yield* holes(copy), afterSecond)
          const error = yield* Effect.flip(create(copy, { ...march, ...four, accept: strict }))
          assert.deepStrictEqual(error._tag === "NotReady" ? error.found : error, { gap: 1 })
          const next = (acceptGaps?: boolean) => copy.run(Close.next(company, { acceptGaps }))
          const { termsOf, ...again } = yield* next()
          assert.deepStrictEqual([termsOf, again.first, again.last], [1, "2026-03-09", "2026-03-15"])
          assert.deepStrictEqual((yield* next(true)).first, "2026-03-23")

          // Accepted by the next close, until another close of that time is voided.
          yield* create(copy, { ...march, ...four })
          assert.deepStrictEqual(yield* holes(copy), [])
          yield* create(copy, { ...again, accept: strict })
          assert.deepStrictEqual((yield* next()).first, "2026-03-30")
          yield* voidRevision(copy, "5.1")
          assert.deepStrictEqual(yield* holes(copy), afterSecond)
        })
    )

    itWithCopy(
      "offers no time that only some locations lack: that is no period of the company, and is named as a gap",
      (copy) =>
        Effect.gen(function*() {
          const [one, two, three] = weeks
          const at = (...ids: ReadonlyArray<LocationId>) => ({ dayRule: new Map(ids.map((id) => [id, newYork])) })
          yield* commit(copy.kept, company, [])
          const strict = ["stale", "empty"] as const
          const close = (week: Close.CloseOptions | undefined, dayRule: ReturnType<typeof at>) =>
            create(copy, { ...march, ...week, ...dayRule, accept: strict })
          yield* close(one, at(east, far))
          yield* close(two, at(east))
          yield* close(two, at(far))
          yield* close(three, at(east, far))
          yield* voidRevision(copy, "3.1")
          assert.deepStrictEqual(yield* holes(copy), [[1, 4, { first: date("2026-03-09"), last: date("2026-03-15") }]])

          const { before, termsOf, ...next } = yield* copy.run(Close.next(company, {}))
          assert.deepStrictEqual([termsOf, before, next.first], [4, Option.none(), "2026-03-23"])
          const error = yield* Effect.flip(create(copy, { ...next, accept: strict }))
          assert.match(error.message, /gap 1; no close has 2026-03-09 to 2026-03-15 at location 303/)
          yield* close(two, at(far))
          assert.strictEqual((yield* create(copy, { ...next, accept: strict })).id, "6.1")
        })
    )

    itWithCopy(
      "shows the first period too, if its close is voided, and closes it next",
      (copy) =>
        Effect.gen(function*() {
          const [one, two, three, four] = weeks
          yield* commit(copy.kept, company, week)
          const strict = ["stale", "empty"] as const
          for (const each of [one, two, three]) yield* create(copy, { ...march, ...each, accept: strict })
          yield* voidRevision(copy, "1.1")

          assert.deepStrictEqual(yield* holes(copy), [[1, 2, { first: date("2026-03-02"), last: date("2026-03-08") }]])
          const error = yield* Effect.flip(create(copy, { ...march, ...four, accept: strict }))
          assert.deepStrictEqual(error._tag === "NotReady" ? error.found : error, { gap: 1 })
          const next = () => copy.run(Close.next(company, {}))
          const { before, termsOf, ...again } = yield* next()
          // The voided close's own terms may be what was wrong.
          assert.deepStrictEqual([before, termsOf], [Option.some(2), 2])
          assert.deepStrictEqual([again.first, again.last, again.weeklyThreshold], [
            "2026-03-02",
            "2026-03-08",
            Duration.hours(40)
          ])
          yield* create(copy, { ...again, accept: strict })
          assert.deepStrictEqual([yield* holes(copy), (yield* next()).first], [[], "2026-03-23"])
        })
    )

    itWithCopy(
      "needs no day rule for a punch after the period at a location that opened then",
      (copy) =>
        Effect.gen(function*() {
          const [one, two] = weeks
          yield* closed(copy, { ...march, ...one, dayRule: new Map([[east, newYork]]) })
          // The Monday after, at a location that the close does not have.
          yield* commit(copy.kept, company, [shift(40, "2026-03-09T13:00:00Z", 4, { locationId: late })])
          const due = (options: Close.DueOptions = {}) => copy.run(Close.due(company, options))
          const clocks = new Map([[east, newYork], [late, newYork]])

          assert.strictEqual((yield* Effect.flip(due()))._tag, "MissingZone")
          assert.deepStrictEqual(yield* due({ dayRules: clocks }), [])
          yield* create(copy, { ...march, ...two, dayRule: clocks })
          assert.deepStrictEqual(yield* due(), [])
          assert.deepStrictEqual((yield* correct(copy)).revisions, [])
          assert.deepStrictEqual(yield* copy.run(Close.verify(company, undefined)), {
            revisions: 2,
            unverifiable: 0
          })
          yield* voidRevision(copy, "1.1")
          assert.strictEqual((yield* create(copy, { ...march, ...one, dayRule: new Map([[east, newYork]]) })).id, "3.1")
          // A punch of the period itself is not of the later close.
          yield* commit(copy.kept, company, [shift(41, "2026-03-08T13:00:00Z", 4, { locationId: late })])
          assert.strictEqual((yield* Effect.flip(due()))._tag, "MissingZone")
          assert.deepStrictEqual((yield* correct(copy, { dayRules: clocks })).revisions.map(hours), [20])
        })
    )

    itWithCopy(
      "verifies a close whose later punches are at a location that a later close added",
      (copy) =>
        Effect.gen(function*() {
          const dayRule = new Map([[east, newYork]])
          const [one, two] = weeks
          yield* closed(copy, { ...march, ...one, dayRule })
          yield* create(copy, { ...march, ...two, dayRule })
          // The Monday after the first close, at a location that the second one lacks.
          yield* commit(copy.kept, company, [shift(40, "2026-03-09T13:00:00Z", 4, { locationId: late })])
          yield* correct(copy, { closes: [2], dayRules: new Map([[late, newYork]]) })
          const verified = () => copy.run(Close.verify(company, undefined))
          const edited = (hours: number) =>
            Effect.andThen(
              commit(copy.kept, company, [shift(2, "2026-03-03T14:00:00Z", hours)]),
              correct(copy, { closes: [1] })
            )

          assert.deepStrictEqual((yield* edited(10)).revisions.map(({ id }) => id), ["1.2"])
          assert.deepStrictEqual(yield* verified(), { revisions: 4, unverifiable: 0 })
          assert.deepStrictEqual((yield* edited(11)).revisions.map(({ id }) => id), ["1.3"])
          // They had it when they were active.
          yield* voidRevision(copy, "2.2")
          yield* voidRevision(copy, "2.1")
          assert.deepStrictEqual(yield* verified(), { revisions: 5, unverifiable: 0 })
        })
    )

    itWithCopy(
      "records an added location without a sum, so that the next correction needs no day rule",
      (copy) =>
        Effect.gen(function*() {
          const [one] = weeks
          yield* closed(copy, { ...march, ...one, dayRule: new Map([[east, newYork]]) })
          yield* commit(copy.kept, company, [shift(40, "2026-03-09T13:00:00Z", 4, { locationId: late })])

          assert.strictEqual((yield* Effect.flip(correct(copy)))._tag, "MissingZone")
          const { revisions } = yield* correct(copy, { dayRules: new Map([[late, newYork]]) })
          assert.deepStrictEqual(revisions.map((revision) => [revision.id, hours(revision)]), [["1.2", 16]])
          assert.deepStrictEqual((yield* correct(copy)).revisions, [])
        })
    )

    itWithCopy(
      "says when the history was edited by hand, with the people, and writes nothing",
      (copy) =>
        Effect.gen(function*() {
          yield* closed(copy)
          yield* commit(copy.kept, company, [shift(2, "2026-03-03T14:00:00Z", 10)])
          yield* copy.query(`UPDATE time_punches_history SET hourly_wage = hourly_wage + 1`)
          const error = yield* Effect.flip(correct(copy))
          const verified = yield* Effect.flip(copy.run(Close.verify(company, undefined)))

          assert.deepStrictEqual([error._tag, verified._tag], ["VerificationFailed", "VerificationFailed"])
          assert.match(error.message, /1\.1: its history was edited, users 501/)
          assert.lengthOf((yield* list(copy))[0]?.revisions ?? [], 1)
        })
    )

    itWithCopy(
      "continues where the history was pruned, if the rules are those of the record",
      (copy) =>
        Effect.gen(function*() {
          yield* closed(copy)
          yield* commit(copy.kept, company, [shift(2, "2026-03-03T14:00:00Z", 10)])
          yield* copy.run(
            SqlStore.pruneHistory(company, { before: DateTime.makeUnsafe("2999-01-01") })
          )

          const error = yield* Effect.flip(copy.run(Close.verify(company, undefined)))
          assert.deepStrictEqual([error._tag, error.message], [
            "VerificationFailed",
            `the history reaches no revision: none was compared [company ${company}]`
          ])
          yield* copy.query(`UPDATE time_punches_close_state SET rules = 0`)
          assert.match((yield* Effect.flip(correct(copy))).message, /its rules are others/)
          assert.lengthOf((yield* correct(copy, { accept: ["rules"] })).revisions, 1)
          yield* copy.query(`UPDATE time_punches_close_state SET rules = 1`)
          yield* commit(copy.kept, company, [shift(2, "2026-03-03T14:00:00Z", 9)])
          yield* copy.run(
            SqlStore.pruneHistory(company, { before: DateTime.makeUnsafe("2999-01-01") })
          )
          assert.deepStrictEqual((yield* correct(copy)).unverified, ["1.2"])
        })
    )

    itWithCopy(
      "begins at the end of the close before, after a day start that moved earlier, if that is accepted",
      (copy) =>
        Effect.gen(function*() {
          // The bar closes at four, then at two: the two hours of 16 March from 02:00 would be in both closes.
          const at = (hours: number) => ({ zone: newYork, dayStarts: Duration.hours(hours) })
          yield* commit(copy.kept, company, [
            ...week,
            shift(3, "2026-03-16T07:00:00Z", 1),
            shift(4, "2026-03-16T09:00:00Z", 2)
          ])
          assert.strictEqual(hours(yield* create(copy, { ...march, dayRule: at(4) })), 17)
          const later = { ...next, dayRule: at(2) }
          assert.strictEqual((yield* Effect.flip(create(copy, later)))._tag, "PeriodClosed")
          const revision = yield* create(copy, { ...later, accept: ["stale", "edge"] })

          assert.deepStrictEqual([hours(revision), revision.accepted], [2, { stale: 1, edge: 1 }])
          assert.deepStrictEqual((yield* correct(copy)).revisions, [])
          assert.deepStrictEqual(
            (yield* list(copy))[1]?.terms.locations.map(({ begins }) => Option.map(begins, DateTime.formatIso)),
            [Option.some("2026-03-16T08:00:00.000Z")]
          )
        })
    )

    itWithCopy(
      "refuses an added location whose day rule is not that which the next close has",
      (copy) =>
        Effect.gen(function*() {
          yield* commit(copy.kept, company, [
            ...week,
            shift(40, "2026-03-17T14:00:00Z", 2, { locationId: late })
          ])
          yield* create(copy, { ...march, dayRule: new Map([[east, newYork]]) })
          const dayRulesWith = (dayRule: DateTime.TimeZone) => new Map([[east, newYork], [late, dayRule]])
          yield* create(copy, { ...next, dayRule: dayRulesWith(newYork) })
          yield* commit(copy.kept, company, [shift(30, "2026-03-05T14:00:00Z", 4, { locationId: late })])
          const optionsOf = (dayRule: DateTime.TimeZone, accept: ReadonlyArray<"gap"> = []) => ({
            closes: [1],
            dayRules: new Map([[late, dayRule]]),
            accept
          })
          const added = (dayRule: DateTime.TimeZone, accept?: ReadonlyArray<"gap">) =>
            correct(copy, optionsOf(dayRule, accept))
          const rehearsed = (dayRule: DateTime.TimeZone, accept?: ReadonlyArray<"gap">) =>
            copy.run(Close.rehearse(company, optionsOf(dayRule, accept)))

          // As Berlin in the first and New York in the next, five hours are in no close.
          const gap = yield* Effect.flip(added(berlin))
          assert.deepStrictEqual(gap._tag === "NotReady" ? gap.found : gap, { gap: 1 })
          // As Honolulu in the first, six hours are in both; no acceptance lets that through.
          const overlap = yield* Effect.flip(added(honolulu, ["gap"]))
          assert.strictEqual(overlap._tag === "PeriodClosed" ? overlap.close : 0, 2, overlap.message)
          // A rehearsal is refused as the correction is, and writes nothing.
          assert.deepStrictEqual(yield* Effect.flip(rehearsed(berlin)), gap)
          assert.deepStrictEqual(yield* Effect.flip(rehearsed(honolulu, ["gap"])), overlap)
          const { due } = yield* rehearsed(newYork)
          assert.deepStrictEqual(due.map(({ after, difference }) => [after, hours(difference)]), [["1.1", 4]])
          assert.deepStrictEqual((yield* added(newYork)).revisions.map(({ id }) => id), ["1.2"])
        })
    )

    itWithCopy(
      "says why a person lost all hours, also if the history does not reach the revision",
      (copy) =>
        Effect.gen(function*() {
          const of = (id: number, user: number, changes: Partial<TimePunch> = {}) =>
            shift(id, "2026-03-03T14:00:00Z", 8, { userId: UserId.make(user), ...changes })
          const all = [of(1, 501), of(2, 502), of(3, 503), of(4, 504), of(5, 505)]
          yield* commit(copy.kept, company, all)
          yield* create(copy)
          // 501 is missing, 502 deleted, 503 given to 505, 504 moved to the next period.
          const later = shift(4, "2026-03-18T14:00:00Z", 8, { userId: UserId.make(504) })
          const now = [of(2, 502, { deleted: true }), of(3, 505), later, of(5, 505)]
          yield* commit(copy.kept, company, now, true)

          assert.deepStrictEqual((yield* correct(copy)).peopleWithoutHours, [
            { close: 1, userId: UserId.make(501), causes: { missing: 1 } },
            { close: 1, userId: UserId.make(502), causes: { deleted: 1 } },
            { close: 1, userId: UserId.make(503), causes: { moved: 1 } },
            { close: 1, userId: UserId.make(504), causes: { moved: 1 } }
          ])
          yield* voidRevision(copy, "1.2")
          yield* copy.run(
            SqlStore.pruneHistory(company, { before: DateTime.makeUnsafe("2999-01-01") })
          )
          assert.deepStrictEqual((yield* correct(copy)).peopleWithoutHours.map(({ causes }) => causes), [
            { missing: 1 },
            { deleted: 1 },
            {},
            {}
          ])
        })
    )

    itWithCopy("needs a history, and is erased with its copy", (copy) =>
      Effect.gen(function*() {
        yield* commit(copy.plain, company, week)
        assert.strictEqual((yield* Effect.flip(create(copy)))._tag, "HistoryUnavailable")
        yield* closed(copy)
        yield* noteFile(copy, "1.1", formOf())
        for (const part of closeTables) {
          assert.isNotEmpty(yield* copy.query(`SELECT 1 FROM time_punches_${part}`), part)
        }
        yield* copy.run(SqlStore.purge(company))

        assert.deepStrictEqual(yield* list(copy), [])
        for (const part of closeTables) {
          assert.deepStrictEqual(yield* copy.query(`SELECT 1 FROM time_punches_${part}`), [])
        }
      }))

    /** The client of the copy with hooks around its statements. */
    const hooked = ({ run }: OpenHistory, hooks: () => Hooks) =>
      Effect.map(
        run(SqlClient.SqlClient),
        (real) => <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
          Effect.provideService(effect, SqlClient.SqlClient, hookedClient(real, hooks))
      )
    const once = (effect: Effect.Effect<unknown, unknown>) => {
      let isDone = false
      return Effect.suspend(() => {
        if (isDone) return Effect.void
        isDone = true
        return Effect.orDie(effect)
      })
    }
    const between = (copy: OpenHistory, interference: Effect.Effect<unknown, unknown>) => {
      const beforeBegin = once(interference)
      return hooked(copy, () => ({ beforeBegin }))
    }
    const options: Close.CloseOptions = { ...march, accept: ["stale"] }

    itWithCopy(
      "writes nothing where the copy is erased or pruned between snapshot and write",
      (copy) =>
        Effect.gen(function*() {
          yield* commit(copy.kept, company, week)
          const purged = yield* between(copy, copy.run(SqlStore.purge(company)))
          assert.match(
            (yield* Effect.flip(purged(Close.create(company, options)))).message,
            /the copy was erased/
          )
          assert.deepStrictEqual(yield* list(copy), [])

          yield* commit(copy.kept, company, week)
          const prune = Effect.andThen(
            commit(copy.kept, company, [shift(2, "2026-03-03T14:00:00Z", 9)]),
            copy.run(SqlStore.pruneHistory(company, { before: DateTime.makeUnsafe("2999-01-01") }))
          )
          const pruned = yield* between(copy, prune)
          const error = yield* Effect.flip(pruned(Close.create(company, options)))
          assert.match(error.message, /the history of the instant that was summed is gone/)
          assert.deepStrictEqual(yield* list(copy), [])
        })
    )

    itWithCopy(
      "refuses the second of two closes at once, and the second of two corrections",
      (copy) =>
        Effect.gen(function*() {
          yield* commit(copy.kept, company, week)
          const closing = yield* between(copy, create(copy))
          assert.strictEqual(
            (yield* Effect.flip(closing(Close.create(company, options))))._tag,
            "PeriodClosed"
          )
          yield* commit(copy.kept, company, [shift(2, "2026-03-03T14:00:00Z", 9)])
          const correcting = yield* between(copy, correct(copy))
          assert.strictEqual(
            (yield* Effect.flip(correcting(Close.correct(company, {}))))._tag,
            "CloseChanged"
          )
          yield* commit(copy.kept, company, [shift(2, "2026-03-03T14:00:00Z", 10)])
          const voiding = yield* between(copy, voidRevision(copy, "1.2"))
          assert.strictEqual((yield* Effect.flip(voiding(Close.correct(company, {}))))._tag, "CloseChanged")

          assert.deepStrictEqual((yield* list(copy)).flatMap(({ revisions }) => revisions.map(({ id }) => id)), [
            "1.1",
            "1.2",
            "1.3"
          ])
        })
    )

    itWithCopy(
      "sums the snapshot where a sync commits before the write, and finds it again",
      (copy) =>
        Effect.gen(function*() {
          yield* commit(copy.kept, company, week)
          const synced = yield* between(
            copy,
            commit(copy.kept, company, [shift(2, "2026-03-03T14:00:00Z", 12)])
          )
          assert.strictEqual(hours(yield* synced(Close.create(company, options))), 16)
          assert.deepStrictEqual(yield* copy.run(Close.verify(company, undefined)), {
            revisions: 1,
            unverifiable: 0
          })
          assert.deepStrictEqual((yield* correct(copy)).revisions.map(hours), [20])
        })
    )

    itWithCopy(
      "prints files that add up, over random edits, corrections, voids, forms, codes and pay codes",
      (copy) =>
        Effect.gen(function*() {
          const { run } = copy
          const random = prng(9153)
          let printed = 0
          let voidedWithCodes = 0
          const coded = new Map<string, number>()
          for (let plan = 0; plan < 12; plan++) {
            const firstDay = DateTime.add(DateTime.makeUnsafe("2026-03-02"), { days: 14 * plan })
            const dateOf = (days: number) =>
              BusinessDate.make(DateTime.formatIsoDate(DateTime.toUtc(DateTime.add(firstDay, { days }))))
            // Three people, two of them with one code. Each plan has its own fortnight and ids.
            const edit = () => {
              const id = random.between(0, 8)
              const clockedIn = DateTime.add(firstDay, { days: id % 5, hours: 14 })
              const clockedOut = DateTime.add(clockedIn, { seconds: random.between(1, 60_000) })
              return shift(100 * plan + id, DateTime.formatIso(clockedIn), 0, {
                userId: UserId.make(501 + (id % 3)),
                clockedOut: Option.some(DateTime.toUtc(clockedOut)),
                roleId: RoleId.make(random.pick([11, 12])),
                hourlyWage: Cents.make(random.pick([1500, 1650])),
                tips: Cents.make(random.between(0, 900))
              })
            }
            yield* commit(copy.kept, company, [edit(), edit(), edit()])
            const { close } = yield* create(copy, {
              ...march,
              first: dateOf(0),
              last: dateOf(13),
              weeklyThreshold: Duration.hours(9),
              dailyThreshold: Duration.hours(6),
              doubleThreshold: Duration.hours(11),
              accept: [...Blocker.literals]
            })
            const active: Array<string> = [`${close}.1`]
            const voids: Array<string> = []
            for (let step = 0; step < 8; step++) {
              if (active.length > 1 && random.between(0, 2) === 0) {
                const revision = active.pop() ?? ""
                voids.push(revision, (yield* voidRevision(copy, revision)).id)
              } else {
                yield* commit(copy.kept, company, [edit()])
                const { revisions } = yield* correct(copy, { closes: [close] })
                active.push(...revisions.map(({ id }) => id))
              }
            }
            const classes = { regular: "REG", over: "OT", double: "DT", tips: "TIPS" }
            const forms = [
              { by: ["user", "role"], texts: ["userCode", "roleId"], numbers: ["hours", "cost", "tips", "punches"] },
              { by: ["user"], payCodes: classes, texts: ["userCode", "payCode"], numbers: ["hours", "amount"] },
              {
                by: ["user", "role"],
                payCodes: classes,
                texts: ["userCode", "payCode", "roleId", "rate"],
                numbers: ["hours", "amount"]
              },
              {
                by: ["user"],
                payCodes: { hours: "ALL", tips: "TIPS" },
                texts: ["userCode", "payCode"],
                numbers: ["hours", "amount"]
              }
            ] as const
            const { numbers, texts, ...form } = forms[plan % 4] ?? forms[0]
            const mapping = Result.getOrThrow(PayrollFile.decodeMapping({
              v: 1,
              ...form,
              hours: random.pick(["decimal:2", "decimal:4", "h:mm", "minutes", "seconds"]),
              rounding: random.pick(["halfUp", "halfEven", "down", "up"]),
              columns: [...texts, ...numbers].map((value) => ({ header: value, value })),
              header: false,
              lineEnd: "\n"
            }))
            const codes: PayrollFile.PayrollCodes = { getCode: (_, id) => id === 501 ? "A" : "B" }
            const numbersOf = (revision: CloseSums.CloseSums & PayrollFile.PayrollState, before?: typeof revision) => {
              const { text } = Result.getOrThrow(PayrollFile.encode(mapping, codes, revision, before))
              return text.split("\n").filter((line) => line !== "").flatMap((line) => {
                const cells = line.split(",")
                return cells.slice(texts.length).flatMap((cell, at) => {
                  // With pay codes a row has hours or an amount.
                  if (cell === "") return []

                  const [, sign, whole, mark, part = ""] = /^(-?)(\d+)(?:([.:])(\d+))?$/.exec(cell) ?? []
                  const value = Number(whole) * (mark === ":" ? 60 : 10 ** part.length) + Number(part)
                  return [[`${cells.slice(0, texts.length).join(" ")} ${at}`, sign === "-" ? -value : value] as const]
                })
              })
            }
            const sumOf = (numbers: ReadonlyArray<readonly [string, number]>) => {
              const sums = new Map<string, number>()
              for (const [key, value] of numbers) sums.set(key, (sums.get(key) ?? 0) + value)
              return [...sums].filter(([, value]) => value !== 0).toSorted()
            }
            const files = yield* Effect.forEach(active, (name) => run(Close.find(company, name)))
            printed += files.length

            assert.deepStrictEqual(
              sumOf(files.flatMap(({ previous, revision }) => numbersOf(revision, previous))),
              sumOf(numbersOf((files.at(-1) ?? assert.fail("no revision")).revision))
            )
            for (const name of voids) {
              assert.strictEqual((yield* Effect.flip(run(Close.find(company, name))))._tag, "UnknownClose")
            }
            if ("payCodes" in form) {
              const newest = files.at(-1)?.revision ?? assert.fail("no revision")
              for (const [key, value] of numbersOf(newest)) {
                const [, code = "", ...rest] = key.split(" ")
                const place = `${code} ${rest.at(-1)}`
                coded.set(place, (coded.get(place) ?? 0) + value)
              }
              voidedWithCodes += voids.length
            }
          }
          assert.isAbove(printed, 30)
          assert.isAbove(voidedWithCodes, 4)
          assert.deepStrictEqual([...coded.keys()].toSorted(), ["ALL 0", "DT 0", "OT 0", "REG 0", "TIPS 1"])
        })
    )

    itWithCopy(
      "prints overtime by job and rate of a fortnight, closed, corrected twice, one state voided",
      (copy) =>
        Effect.gen(function*() {
          const { run } = copy
          const work = (
            id: number,
            user: number,
            role: "cook" | "server",
            clockedIn: string,
            hours: number,
            changes: Partial<TimePunch> = {}
          ) =>
            shift(id, `2026-03-${clockedIn}:00Z`, hours, {
              userId: UserId.make(user),
              roleId: RoleId.make(role === "cook" ? 11 : 12),
              hourlyWage: Cents.make(role === "cook" ? 1500 : 600),
              ...changes
            })
          const raised = { hourlyWage: Cents.make(1625) }
          const seconds = (hours: number, minutes: number, seconds: number) => hours + minutes / 60 + seconds / 3600
          yield* commit(copy.kept, company, [
            // 501: 40 hours as a cook in each week; 4 more as a server on the first Saturday.
            ...["02", "03", "04", "05", "06", "09", "10", "11", "12", "13"].map((day, at) =>
              work(100 + at, 501, "cook", `${day}T15:00`, 8)
            ),
            work(110, 501, "server", "07T15:00", 4),
            // 502: 6 hours as a cook and 5 as a server on one day; 13 as a cook a week later.
            work(200, 502, "cook", "02T15:00", 6),
            work(201, 502, "server", "02T21:30", 5),
            work(202, 502, "cook", "09T12:00", 13),
            // 503: a raise on Thursday, 10 hours on Friday, and 5 as a server on Saturday, behind 40 regular ones.
            work(300, 503, "cook", "02T15:00", 8),
            work(301, 503, "cook", "03T15:00", 8),
            work(302, 503, "cook", "04T15:00", 8),
            work(303, 503, "cook", "05T15:00", 8, raised),
            work(304, 503, "cook", "06T15:00", 10, raised),
            work(305, 503, "server", "07T15:00", 5, { tips: Cents.make(5235) }),
            // 504: four days of 9:30 as a server, 12:30 as a cook; 3 hours on the Sunday on which the clocks change.
            ...["02", "03", "04", "05"].map((day, at) =>
              work(400 + at, 504, "server", `${day}T15:00`, 9.5, { tips: Cents.make(2500) })
            ),
            work(404, 504, "cook", "06T15:00", 12.5),
            work(405, 504, "server", "08T14:00", 3),
            // 505: odd seconds. 506: a punch that is still open.
            work(500, 505, "cook", "02T15:00", seconds(4, 0, 17)),
            work(501, 505, "server", "03T15:00", seconds(3, 30, 20)),
            work(600, 506, "server", "02T15:00", 0, { clockedOut: Option.none() }),
            work(601, 506, "cook", "03T15:00", 8)
          ])
          const created = yield* create(copy, {
            ...march,
            dailyThreshold: Duration.hours(8),
            doubleThreshold: Duration.hours(12),
            accept: [...Blocker.literals]
          })
          const mapping = Result.getOrThrow(PayrollFile.decodeMapping({
            v: 1,
            by: ["user", "role"],
            payCodes: { regular: "REG", over: "OT", double: "DT", tips: "TIPS" },
            hours: "decimal:2",
            rounding: "halfUp",
            columns: ["userCode", "roleCode", "payCode", "rate", "hours", "amount", "revisionId"].map((value) => ({
              header: value,
              value
            })),
            header: false,
            lineEnd: "\n"
          }))
          const codes: PayrollFile.PayrollCodes = {
            getCode: (kind, id) => kind === "user" ? `E${id - 500}` : id === 11 ? "COOK" : "SERV"
          }
          const file = (name: string) =>
            Effect.map(
              run(Close.find(company, name)),
              ({ previous, revision }) =>
                Result.getOrThrow(PayrollFile.encode(mapping, codes, revision, previous)).text.trimEnd().split("\n")
            )
          const first = yield* file("1.1")

          assert.deepStrictEqual([created.id, created.changedTerms], ["1.1", []])
          assert.deepStrictEqual(first, [
            "E1,COOK,REG,15.00,80.00,,1.1",
            "E1,SERV,OT,6.00,4.00,,1.1",
            "E2,COOK,REG,15.00,14.00,,1.1",
            "E2,COOK,OT,15.00,4.00,,1.1",
            "E2,COOK,DT,15.00,1.00,,1.1",
            "E2,SERV,REG,6.00,2.00,,1.1",
            "E2,SERV,OT,6.00,3.00,,1.1",
            "E3,COOK,REG,15.00,24.00,,1.1",
            "E3,COOK,REG,16.25,16.00,,1.1",
            "E3,COOK,OT,16.25,2.00,,1.1",
            "E3,SERV,OT,6.00,5.00,,1.1",
            "E3,SERV,TIPS,,,52.35,1.1",
            "E4,COOK,REG,15.00,8.00,,1.1",
            "E4,COOK,OT,15.00,4.00,,1.1",
            "E4,COOK,DT,15.00,0.50,,1.1",
            "E4,SERV,REG,6.00,32.00,,1.1",
            "E4,SERV,OT,6.00,9.00,,1.1",
            "E4,SERV,TIPS,,,100.00,1.1",
            "E5,COOK,REG,15.00,4.00,,1.1",
            "E5,SERV,REG,6.00,3.51,,1.1",
            "E6,COOK,REG,15.00,8.00,,1.1"
          ])

          // 501 cooked two hours longer on one day, 505 worked 17 seconds longer, and 506 left after seven hours.
          yield* commit(copy.kept, company, [
            work(102, 501, "cook", "04T15:00", 10),
            work(501, 505, "server", "03T15:00", seconds(3, 30, 37)),
            work(600, 506, "server", "02T15:00", 7)
          ])
          yield* correct(copy)
          assert.deepStrictEqual(yield* file("1.2"), ["E1,COOK,OT,15.00,2.00,,1.2", "E6,SERV,REG,6.00,7.00,,1.2"])

          // It was not paid. Then 502 cooked in the evening too, 503 was not there on Monday, and 505 worked 40 seconds more.
          yield* voidRevision(copy, "1.2")
          yield* commit(copy.kept, company, [
            work(201, 502, "cook", "02T21:30", 5),
            work(300, 503, "cook", "02T15:00", 8, { deleted: true }),
            work(501, 505, "server", "03T15:00", seconds(3, 31, 17))
          ])
          yield* correct(copy)
          assert.deepStrictEqual(yield* file("1.4"), [
            "E1,COOK,OT,15.00,2.00,,1.4",
            "E2,COOK,REG,15.00,2.00,,1.4",
            "E2,COOK,OT,15.00,3.00,,1.4",
            "E2,SERV,REG,6.00,-2.00,,1.4",
            "E2,SERV,OT,6.00,-3.00,,1.4",
            "E3,COOK,REG,15.00,-8.00,,1.4",
            "E3,SERV,REG,6.00,5.00,,1.4",
            "E3,SERV,OT,6.00,-5.00,,1.4",
            "E5,SERV,REG,6.00,0.01,,1.4",
            "E6,SERV,REG,6.00,7.00,,1.4"
          ])
          assert.deepStrictEqual(yield* file("1.1"), first)
          assert.deepStrictEqual(yield* run(Close.verify(company, undefined)), {
            revisions: 3,
            unverifiable: 0
          })
        })
    )

    itWithCopy("says what it counts by other terms than the close before it", (copy) =>
      Effect.gen(function*() {
        yield* commit(copy.kept, company, [...week, shift(3, "2026-03-17T14:00:00Z", 8)])
        const first = yield* create(copy)
        const other = yield* create(copy, {
          ...next,
          weeklyThreshold: Duration.hours(35),
          doubleThreshold: Duration.hours(12),
          rounding: "down",
          firstDay: "sunday"
        })

        assert.deepStrictEqual([first.before, first.changedTerms], [Option.none(), []])
        assert.deepStrictEqual([other.before, other.changedTerms], [Option.some(1), [
          { term: "weeklyThreshold", before: 144_000, now: 126_000 },
          { term: "doubleThreshold", before: null, now: 43_200 },
          { term: "rounding", before: "halfUp", now: "down" },
          { term: "firstDay", before: "monday", now: "sunday" }
        ]])
      }))

    itWithCopy(
      "asks for gaps and edges again when it writes, since another close may be there by then",
      (copy) =>
        Effect.gen(function*() {
          yield* commit(copy.kept, company, week)
          const later = { ...march, first: date("2026-03-30"), last: date("2026-04-12") }
          const closing = yield* between(copy, create(copy))
          const error = yield* Effect.flip(
            closing(Close.create(company, { ...later, accept: ["stale", "empty"] }))
          )
          assert.deepStrictEqual(error._tag === "NotReady" ? error.found : error, { gap: 1 })
          yield* voidRevision(copy, "1.1")
          const accepting = yield* between(copy, create(copy))
          const state = yield* accepting(
            Close.create(company, { ...later, rounding: "down", accept: ["stale", "empty", "gap"] })
          )
          assert.deepStrictEqual(state.accepted, { gap: 1, stale: 1, empty: 1 })
          assert.deepStrictEqual([state.before, state.changedTerms], [Option.some(2), [
            { term: "rounding", before: "halfUp", now: "down" }
          ]])

          const at = (hours: number) => ({ zone: newYork, dayStarts: Duration.hours(hours) })
          const apart = { ...march, first: date("2026-05-18"), last: date("2026-05-24"), dayRule: at(4) }
          const beside = { ...apart, first: date("2026-05-11"), last: date("2026-05-17"), dayRule: at(2) }
          const parting = yield* between(copy, create(copy, beside))
          const parted = yield* Effect.flip(
            parting(Close.create(company, { ...apart, accept: ["stale", "empty", "gap", "edge"] }))
          )
          assert.match(parted.message, /another process wrote a close beside this one/)
        })
    )

    const lost = new SqlError.SqlError({
      reason: new SqlError.ConnectionError({ cause: new Error("gone"), message: "gone" })
    })

    itWithCopy("is attempted again if the connection is lost at any statement", (copy) =>
      Effect.gen(function*() {
        yield* commit(copy.kept, company, week)
        let [statements, losing] = [0, -1]
        const run = yield* hooked(copy, () => ({
          before: () => Effect.suspend(() => statements++ === losing ? Effect.fail(lost) : Effect.void)
        }))
        const closing = run(Close.create(company, options))
        yield* closing
        yield* voidRevision(copy, "1.1")
        const all = statements
        assert.isAbove(all, 10)
        for (losing = 0; losing < all; losing++) {
          statements = 0
          const state = yield* closing
          assert.isAbove(statements, losing)
          assert.strictEqual(state.id, `${losing + 2}.1`)
          yield* voidRevision(copy, state.id)
        }
      }))

    itWithCopy("reads nothing after its COMMIT, and has what is due by then", (copy) =>
      Effect.gen(function*() {
        yield* commit(copy.kept, company, week)
        yield* create(copy, next)
        yield* create(copy)
        yield* commit(copy.kept, company, [shift(2, "2026-03-17T14:00:00Z", 6)])
        let isCommitted = false
        const run = yield* hooked(copy, () => ({
          before: (text) => isCommitted ? Effect.die(text) : Effect.void,
          afterCommit: Effect.sync(() => (isCommitted = true))
        }))
        const { due, revisions } = yield* run(Close.correct(company, { closes: [2, 1] }))

        assert.isTrue(isCommitted)
        assert.deepStrictEqual(
          revisions.map(({ id }, at) => [id, hours(due[at] ?? CloseSums.empty)]),
          [["1.2", 6], ["2.2", -8]]
        )
        isCommitted = false
        yield* run(Close.voidRevision(company, { revision: "1.2", note: "not sent" }))
        assert.isTrue(isCommitted)
      }))

    itWithCopy(
      "names the revision that a COMMIT may have written, if the database cannot be reached again",
      (copy) =>
        Effect.gen(function*() {
          yield* commit(copy.kept, company, week)
          let isDown = false
          const goDown = Effect.suspend(() => {
            isDown = true
            return Effect.fail(lost)
          })
          let hooks: Hooks = {}
          const run = yield* hooked(copy, () => ({
            beforeBegin: Effect.suspend(() => isDown ? Effect.fail(lost) : Effect.void),
            ...hooks
          }))
          const closing = Effect.flip(run(Close.create(company, options))).pipe(
            Effect.provideService(Patience, Duration.millis(100))
          )
          hooks = { beforeCommit: goDown }
          const unsent = yield* closing
          assert.deepStrictEqual(
            unsent._tag === "OutcomeUnknown" ? [unsent.revisions, unsent.isRetryable] : unsent,
            [["1.1"], false]
          )
          assert.deepStrictEqual(yield* list(copy), [])
          isDown = false
          hooks = { afterCommit: goDown }
          const unanswered = yield* closing
          assert.match(unanswered.message, /^1\.1 may have been written: the database did not answer \(gone\)/)
          assert.lengthOf(yield* list(copy), 1)

          yield* voidRevision(copy, "1.1")
          isDown = false
          // The second attempt finds that the first one wrote nothing, and is lost before its COMMIT.
          hooks = {
            beforeCommit: Effect.suspend(() => {
              hooks = { before: (text) => text.startsWith("INSERT") ? goDown : Effect.void }
              return Effect.fail(lost)
            })
          }
          const known = yield* closing
          assert.strictEqual(known._tag, "SyncError", known.message)
        })
    )

    itWithCopy(
      "keeps the files that were written out with their revision, and in the record",
      (copy) =>
        Effect.gen(function*() {
          yield* closed(copy)
          yield* commit(copy.kept, company, [shift(2, "2026-03-03T14:00:00Z", 10)])
          yield* correct(copy)
          const first = yield* noteFile(copy, "1.1", formOf())
          const again = yield* noteFile(copy, "1.1", formOf({ rounding: "down" }, [code(501, "0018")]))
          const [close] = yield* list(copy)

          assert.isDefined(close)
          const { codesHash, mappingHash, user } = first
          assert.strictEqual(user, "payroll")
          assert.match(mappingHash, /^[0-9a-f]{64}$/)
          assert.notStrictEqual(again.mappingHash, mappingHash)
          assert.notStrictEqual(again.codesHash, codesHash)
          const noteOf = ({ at, codesHash, mappingHash, user }: FileNote): FileNote => ({
            at,
            user,
            mappingHash,
            codesHash
          })
          assert.deepStrictEqual(close.revisions.map((each) => each.files), [[noteOf(first), noteOf(again)], []])
          const record = Schema.encodeSync(ClosedPeriod)(close)
          assert.deepStrictEqual(record.revisions[0]?.files[0]?.at, DateTime.formatIso(first.at))
          assert.deepStrictEqual(Schema.decodeSync(ClosedPeriod)(JSON.parse(JSON.stringify(record))), close)
          assert.deepStrictEqual(yield* files(copy), [first, again])
          for (const name of ["1.3", "2.1", "1", "x"]) {
            assert.strictEqual((yield* Effect.flip(noteFile(copy, name, formOf())))._tag, "UnknownClose", name)
          }
          // No name is kept, and no code that the file does not use.
          const [row] = yield* copy.query(`SELECT codes FROM time_punches_close_file ORDER BY place`)
          assert.deepStrictEqual(row, {
            codes: JSON.stringify([code(501, "0017")].map(({ code, id, kind }) => ({ kind, id, code })))
          })
        })
    )

    itWithCopy("has one hash for all mappings that write the same files", (copy) =>
      Effect.gen(function*() {
        yield* closed(copy)
        const { mappingHash } = yield* noteFile(copy, "1.1", formOf())
        const reversed = Object.fromEntries(Object.entries(mapping).toReversed())
        const same = [
          formOf(reversed),
          formOf({ separator: ",", decimal: ".", header: true, lineEnd: "\r\n", quote: "whenNeeded" }),
          formOf({ encoding: "utf-8", formulas: "refuse", preamble: [] })
        ]
        for (const form of same) assert.strictEqual((yield* noteFile(copy, "1.1", form)).mappingHash, mappingHash)
        assert.notStrictEqual((yield* noteFile(copy, "1.1", formOf({ separator: ";" }))).mappingHash, mappingHash)
        const dated = (format?: string) =>
          formOf({ columns: [...mapping.columns, { header: "Start", value: "periodStart", ...format && { format } }] })
        const [without, written] = [dated(), dated("YYYY-MM-DD")]
        assert.strictEqual(
          (yield* noteFile(copy, "1.1", without)).mappingHash,
          (yield* noteFile(copy, "1.1", written)).mappingHash
        )
      }))

    itWithCopy(
      "names what a file has that differs from those of the other active revisions",
      (copy) =>
        Effect.gen(function*() {
          yield* closed(copy)
          yield* commit(copy.kept, company, [shift(2, "2026-03-03T14:00:00Z", 10)])
          yield* correct(copy)
          const changes = (revision: string, form: FileForm) =>
            Effect.map(files(copy), (files) =>
              Close.formChanges(files, revision, form).map((
                { codes, file, mapping }
              ) => [file.revision, mapping, codes]))
          assert.deepStrictEqual(yield* changes("1.1", formOf()), [])
          yield* noteFile(copy, "1.1", formOf({}, [code(501, "0017"), code(502, "0019")]))
          const [, hours, end] = mapping.columns

          for (const revision of ["1.1", "1.2"]) {
            assert.deepStrictEqual(yield* changes(revision, formOf()), [])
            assert.deepStrictEqual(yield* changes(revision, formOf({}, [code(501, "0017"), code(503, "0020")])), [])
            assert.deepStrictEqual(yield* changes(revision, formOf({ rounding: "down" })), [["1.1", ["rounding"], []]])
            const renamed = { ...mapping.columns[0], header: "Number" }
            assert.deepStrictEqual(
              yield* changes(revision, formOf({ columns: [renamed, hours, { ...end, format: "YYYYMMDD" }] })),
              [["1.1", ["columns[0].header", "columns[2].format"], []]]
            )
            assert.deepStrictEqual(yield* changes(revision, formOf({ columns: [renamed, hours] })), [
              ["1.1", ["columns"], []]
            ])
            assert.deepStrictEqual(
              yield* changes(revision, formOf({ decimal: ",", separator: ";" }, [code(501, "0018")])),
              [
                ["1.1", ["decimal", "separator"], [{ ...code(501, "0018"), before: "0017" }]]
              ]
            )
          }

          // A second mapping of the same record: with each of them the files add up.
          yield* noteFile(copy, "1.1", formOf({ hours: "minutes" }))
          assert.deepStrictEqual(yield* changes("1.2", formOf()), [])
          assert.deepStrictEqual(yield* changes("1.2", formOf({ hours: "minutes" })), [])
          assert.deepStrictEqual(yield* changes("1.2", formOf({ hours: "minutes", rounding: "up" })), [
            ["1.1", ["rounding"], []]
          ])
          // The file of a revision that is voided is not among those that add up.
          yield* noteFile(copy, "1.2", formOf({ rounding: "down" }))
          yield* voidRevision(copy, "1.2")
          yield* correct(copy)
          assert.deepStrictEqual(yield* changes("1.4", formOf()), [])
          assert.deepStrictEqual(yield* changes("1.4", formOf({ rounding: "down" })), [["1.1", ["rounding"], []]])
        })
    )

    itWithCopy(
      "notes a file once, however the connection is lost, and none of an erased copy",
      (copy) =>
        Effect.gen(function*() {
          yield* closed(copy)
          const noting = Close.noteFile(company, "1.1", formOf())
          for (const at of ["beforeCommit", "afterCommit", "beforeBegin"] as const) {
            let isLost = false
            const known = (yield* files(copy)).length
            const run = yield* hooked(copy, () => ({
              [at]: Effect.suspend(() => {
                if (isLost) return Effect.void
                isLost = true
                return Effect.fail(lost)
              })
            }))
            yield* run(noting)
            assert.isTrue(isLost, at)
            assert.lengthOf(yield* files(copy), known + 1, at)
          }
          let isDown = false
          const run = yield* hooked(copy, () => ({
            beforeBegin: Effect.suspend(() => isDown ? Effect.fail(lost) : Effect.void),
            afterCommit: Effect.suspend(() => {
              isDown = true
              return Effect.fail(lost)
            })
          }))
          const unanswered = yield* Effect.flip(Effect.provideService(run(noting), Patience, Duration.millis(100)))
          assert.include(unanswered.message, "the file may have been noted")
          const erasing = yield* between(copy, copy.run(SqlStore.purge(company)))
          assert.strictEqual((yield* Effect.flip(erasing(noting)))._tag, "UnknownClose")
          assert.deepStrictEqual(yield* copy.query(`SELECT 1 FROM time_punches_close_file`), [])
        })
    )

    itWithCopy("finds the revision that a COMMIT without an answer wrote", (copy) =>
      Effect.gen(function*() {
        yield* commit(copy.kept, company, week)
        let isLost = false
        const run = yield* hooked(copy, () => ({
          afterCommit: Effect.suspend(() => {
            if (isLost) return Effect.void
            isLost = true
            return Effect.fail(lost)
          })
        }))

        assert.strictEqual((yield* run(Close.create(company, options))).id, "1.1")
        assert.isTrue(isLost)
        isLost = false
        const voided = yield* run(Close.voidRevision(company, { revision: "1.1", note: "again" }))
        assert.strictEqual(voided.id, "1.2")
        assert.lengthOf((yield* list(copy))[0]?.revisions ?? [], 2)
      }))
  })
}

describe("Rights in PostgreSQL", () => {
  const week = [shift(1, "2026-03-02T14:00:00Z", 8), shift(2, "2026-03-03T14:00:00Z", 8)]

  it.live("a close needs INSERT on its tables and UPDATE on a column of the sync; an erasure needs no right on them", (context) => {
    needs(context, hasPrograms, noPostgres)
    return Effect.gen(function*() {
      const url = (yield* cluster()).url()
      const owner = yield* openHistory(clientOf(url))
      const as = (role: string) => <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
        Effect.provide(effect, clientOf(url.replace("postgres@", `${role}@`)))
      const ask = (role: string, text: string) =>
        as(role)(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(text)))
      yield* commit(owner.kept, company, week)
      for (
        const text of [
          "CREATE ROLE keeper LOGIN",
          "GRANT SELECT, INSERT, UPDATE, DELETE ON time_punches, time_punches_history, time_punches_sync TO keeper",
          "GRANT SELECT ON time_punches_migrations TO keeper",
          "CREATE ROLE closer LOGIN",
          "GRANT SELECT ON ALL TABLES IN SCHEMA public TO closer",
          "GRANT INSERT ON time_punches_close, time_punches_close_state, time_punches_close_row, " +
          "time_punches_close_file TO closer",
          "CREATE ROLE reader LOGIN",
          "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader"
        ]
      ) yield* owner.query(text)

      const options: Close.CloseOptions = { ...march, accept: ["stale"] }
      const locked = yield* Effect.flip(as("closer")(Close.create(company, options)))
      assert.match(locked.message, /the close cannot be written/)
      yield* owner.query("GRANT UPDATE (company_id) ON time_punches_sync TO closer")
      assert.strictEqual((yield* as("closer")(Close.create(company, options))).id, "1.1")
      yield* commit(owner.kept, company, [shift(2, "2026-03-03T14:00:00Z", 9)])
      assert.deepStrictEqual((yield* as("closer")(Close.correct(company))).revisions.map(({ id }) => id), ["1.2"])
      yield* as("closer")(Close.voidRevision(company, { revision: "1.2", note: "not sent" }))
      assert.deepStrictEqual(yield* as("closer")(Close.verify(company)), { revisions: 2, unverifiable: 0 })
      assert.strictEqual((yield* as("closer")(Close.noteFile(company, "1.1", formOf()))).revision, "1.1")
      const unnoted = yield* Effect.flip(as("reader")(Close.noteFile(company, "1.1", formOf())))
      assert.match(unnoted.message, /the file cannot be noted/)
      assert.lengthOf(yield* as("reader")(Close.files(company, 1)), 1)
      // Rows are only inserted: not even the role that closes may change or remove one.
      for (
        const text of [
          "UPDATE time_punches_close_row SET net_ms = 0",
          "DELETE FROM time_punches_close_state",
          "UPDATE time_punches_close_file SET mapping = '{}'",
          "DELETE FROM time_punches_close_file"
        ]
      ) {
        const { reason } = yield* Effect.flip(ask("closer", text))
        assert.strictEqual(reason._tag, "AuthorizationError", text)
      }

      // A role that keeps the copy and knows nothing of closes erases a company, with a name in its own schema that is a trap.
      yield* owner.query("CREATE SCHEMA keeper AUTHORIZATION keeper")
      yield* ask("keeper", "CREATE TABLE keeper.time_punches_close (company_id bigint)")
      // It cannot put the function that erases closes on its own table.
      const trap = "CREATE TRIGGER trap AFTER DELETE ON keeper.time_punches_close " +
        "FOR EACH ROW EXECUTE FUNCTION public.time_punches_erase_closes()"
      assert.strictEqual((yield* Effect.flip(ask("keeper", trap))).reason._tag, "AuthorizationError")
      yield* as("keeper")(SqlStore.purge(company))
      for (const part of closeTables) {
        assert.deepStrictEqual(yield* owner.query(`SELECT 1 FROM time_punches_${part}`), [])
      }
    }).pipe(Effect.scoped)
  })
})
