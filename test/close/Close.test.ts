/** Closes of a copy, over both databases: what is active adds up to the sums of now, and nothing is paid twice. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Option, Result, Schema } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import * as CloseSums from "../../src/close/CloseSums.ts"
import { Close, CloseNumber, RevisionId } from "../../src/close/index.ts"
import { ClosedPeriod } from "../../src/close/Revision.ts"
import type { FileForm, FileNote } from "../../src/close/WrittenFile.ts"
import type { Company } from "../../src/Company.ts"
import { BusinessDate, CompanyId, LocationId, TimePunchId, UserId } from "../../src/Ids.ts"
import { Patience } from "../../src/internal/sql/transaction.ts"
import * as PayrollFile from "../../src/payroll/PayrollFile.ts"
import { PunchCopy } from "../../src/sql/index.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { shift as shiftOf } from "../support/arbitraryPunch.ts"
import { databases, hookedClient, type Hooks, itWithDatabase } from "../support/databases.ts"
import { commit, type OpenHistory, openHistory } from "../support/histories.ts"
import { needs } from "../support/needs.ts"
import { clientOf, cluster, hasPrograms, noPostgres } from "../support/postgres.ts"

const company = CompanyId.make(2)
const newYork = DateTime.zoneMakeNamedUnsafe("America/New_York")
const date = (text: string) => BusinessDate.make(text)

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

const hours = ({ rows }: CloseSums.CloseSums) => rows.reduce((sum, { net }) => sum + Duration.toHours(net), 0)

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
    const files = ({ run }: OpenHistory) => run(Close.files(company, CloseNumber.make(1)))
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

    itWithCopy("takes a company by its id, or whole", (copy) =>
      Effect.gen(function*() {
        const { run } = copy
        yield* closed(copy)
        yield* commit(copy.kept, company, [shift(1, "2026-03-02T14:00:00Z", 9)])
        const one = CloseNumber.make(1)
        const read = (of: CompanyId | Company) =>
          Effect.all([
            run(Close.due(of)),
            run(Close.rehearse(of)),
            run(Close.verify(of)),
            Effect.flip(run(Close.next(of))),
            run(Close.holes(of)),
            run(Close.lateTime(of)),
            run(Close.list(of)),
            run(Close.totals(of)),
            run(Close.get(of, one)),
            run(Close.newest(of, one)),
            run(Close.find(of, "1.1")),
            run(Close.files(of, one))
          ])
        const whole = { id: company }
        const [byId, byWhole] = [yield* read(company), yield* read(whole)]
        const created = yield* run(Close.create(whole, { ...next, accept: ["stale", "empty"] }))
        const { revisions } = yield* run(Close.correct(whole))
        const file = yield* run(Close.file(whole, {
          mapping: formOf().mapping,
          codes: { getCode: () => "0017" },
          revisions: ["1.1"]
        }))
        const noted = yield* run(Close.noteFile(whole, "1.2", formOf()))
        const voided = yield* run(Close.voidRevision(whole, { revision: "2.1", note: "early" }))

        assert.deepStrictEqual(byWhole, byId)
        assert.lengthOf(byId[0], 1)
        assert.deepStrictEqual([created.id, revisions.map(({ id }) => id), file.rows, noted.revision, voided.close], [
          "2.1",
          ["1.2"],
          1,
          "1.2",
          2
        ])
      }))

    itWithCopy("refuses an option by its name, and writes nothing", (copy) =>
      Effect.gen(function*() {
        yield* closed(copy)
        const { run } = copy
        const record = yield* list(copy)
        /** Options as untyped code passes them. */
        const untyped = <A>(options: A, changes: object): A => ({ ...options, ...changes })
        const voidOptions = { revision: "1.1", note: "not sent" }
        const calls = {
          "weeklyThreshold": run(Close.create(company, { ...next, weeklyThreshold: 40 })),
          "dayRule.dayStarts": run(
            Close.create(company, { ...next, dayRule: { zone: newYork, dayStarts: "20 hours" } })
          ),
          "accept[1]": run(Close.create(company, untyped(next, { accept: ["stale", "opne"] }))),
          "maxDuration": run(Close.create(company, { ...next, maxDuration: 16 })),
          "companyId": run(Close.create(company, untyped(next, { companyId: 3 }))),
          "last": run(Close.create(company, { ...next, last: date("2026-03-01") })),
          "accept[0]": run(Close.correct(company, untyped({}, { accept: ["gaps"] }))),
          "close": run(Close.correct(company, untyped({}, { close: [1] }))),
          "closes[0]": run(Close.rehearse(company, untyped({}, { closes: [NaN] }))),
          "dayRules[301].dayStarts": run(
            Close.due(company, {
              dayRules: new Map([[LocationId.make(301), { zone: newYork, dayStarts: "-13 hours" }]])
            })
          ),
          "user": run(Close.voidRevision(company, untyped(voidOptions, { user: 7 }))),
          "reason": run(Close.voidRevision(company, untyped(voidOptions, { reason: "late" }))),
          "acceptGap": run(Close.next(company, untyped({}, { acceptGap: true }))),
          "by": run(Close.noteFile(company, "1.1", untyped(formOf(), { by: "payroll" }))),
          "revision": run(Close.file(
            company,
            untyped({
              ...formOf(),
              revisions: ["1.1"],
              codes: { getCode: () => "1" }
            }, { revision: "1.1" })
          )),
          "revisions": run(Close.file(
            company,
            untyped({
              ...formOf(),
              revisions: ["1.1"],
              codes: { getCode: () => "1" }
            }, { revisions: "1.1" })
          ))
        }
        for (const [field, call] of Object.entries<Effect.Effect<unknown, object>>(calls)) {
          const { _tag, companyId, field: named } = { _tag: "", companyId: 0, field: "", ...yield* Effect.flip(call) }
          assert.deepStrictEqual([_tag, named, companyId], ["InvalidRequest", field, company])
        }
        assert.deepStrictEqual(yield* list(copy), record)
      }))

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

    itWithCopy(
      "says when the history was edited by hand, with the people, and writes nothing",
      (copy) =>
        Effect.gen(function*() {
          yield* closed(copy)
          yield* commit(copy.kept, company, [shift(2, "2026-03-03T14:00:00Z", 10)])
          yield* copy.query(`UPDATE time_punches_history SET hourly_wage = hourly_wage + 1`)
          const error = yield* Effect.flip(correct(copy))
          const verified = yield* Effect.flip(copy.run(Close.verify(company)))

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
            PunchCopy.pruneHistory(company, { before: DateTime.makeUnsafe("2999-01-01") })
          )

          const error = yield* Effect.flip(copy.run(Close.verify(company)))
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
            PunchCopy.pruneHistory(company, { before: DateTime.makeUnsafe("2999-01-01") })
          )
          assert.deepStrictEqual((yield* correct(copy)).unverified.map(String), ["1.2"])
        })
    )

    itWithCopy(
      "says why a person lost all hours as far as the copy knows, where the history does not reach the revision",
      (copy) =>
        Effect.gen(function*() {
          const of = (id: number, user: number, changes: Partial<TimePunch> = {}) =>
            shift(id, "2026-03-03T14:00:00Z", 8, { userId: UserId.make(user), ...changes })
          yield* commit(copy.kept, company, [of(1, 501), of(2, 502), of(3, 503), of(5, 505)])
          yield* create(copy)
          // 501 is missing, 502 deleted, 503 given to 505.
          yield* commit(copy.kept, company, [of(2, 502, { deleted: true }), of(3, 505), of(5, 505)], true)
          yield* copy.run(
            PunchCopy.pruneHistory(company, { before: DateTime.makeUnsafe("2999-01-01") })
          )
          assert.deepStrictEqual((yield* correct(copy)).peopleWithoutHours.map(({ causes }) => causes), [
            { missing: 1 },
            { deleted: 1 },
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
        yield* copy.run(PunchCopy.purge(company))

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
          const purged = yield* between(copy, copy.run(PunchCopy.purge(company)))
          assert.match(
            (yield* Effect.flip(purged(Close.create(company, options)))).message,
            /the copy was erased/
          )
          assert.deepStrictEqual(yield* list(copy), [])

          yield* commit(copy.kept, company, week)
          const prune = Effect.andThen(
            commit(copy.kept, company, [shift(2, "2026-03-03T14:00:00Z", 9)]),
            copy.run(PunchCopy.pruneHistory(company, { before: DateTime.makeUnsafe("2999-01-01") }))
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
          // The newest active revision is the same again, and the number of the next one is not.
          const undoing = yield* between(copy, Effect.andThen(correct(copy), voidRevision(copy, "1.4")))
          assert.strictEqual((yield* Effect.flip(undoing(Close.correct(company, {}))))._tag, "CloseChanged")

          assert.deepStrictEqual((yield* list(copy)).flatMap(({ revisions }) => revisions.map(({ id }) => id)), [
            "1.1",
            "1.2",
            "1.3",
            "1.4",
            "1.5"
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
          assert.deepStrictEqual(yield* copy.run(Close.verify(company)), {
            revisions: 1,
            unverifiable: 0
          })
          assert.deepStrictEqual((yield* correct(copy)).revisions.map(hours), [20])
        })
    )

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
          // Not that the copy is stale, which is accepted.
          const left = { found: { gap: 1 }, details: ["no close has 2026-03-16 to 2026-03-29"] }
          assert.deepInclude(error, left)
          yield* voidRevision(copy, "1.1")
          const accepting = yield* between(copy, create(copy))
          const accepted = { ...later, rounding: "down", accept: ["stale", "empty", "gap"] } as const
          // What is accepted is what was seen.
          const changed = yield* Effect.flip(accepting(Close.create(company, accepted)))
          assert.match(changed.message, /another process wrote a close beside this one/)
          const state = yield* copy.run(Close.create(company, accepted))
          assert.deepStrictEqual(state.accepted, { gap: 1, stale: 1, empty: 1 })
          assert.deepStrictEqual<unknown>(state.changedTerms, [
            { close: 2, term: "rounding", other: "halfUp", now: "down" }
          ])

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
        const { due, revisions } = yield* run(
          Close.correct(company, { closes: [2, 1].map((close) => CloseNumber.make(close)) })
        )

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
            [[RevisionId.make("1.1")], false]
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
          assert.strictEqual(Date.parse(record.revisions[0]?.files[0]?.at ?? ""), first.at.epochMilliseconds)
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

    itWithCopy(
      "gives a file of revisions once it is noted for each, less what each follows, and none that it cannot note",
      (copy) =>
        Effect.gen(function*() {
          yield* closed(copy)
          yield* commit(copy.kept, company, [shift(2, "2026-03-03T14:00:00Z", 10), shift(3, "2026-03-17T14:00:00Z", 5)])
          yield* create(copy, next)
          yield* correct(copy)
          const codes: PayrollFile.PayrollCodes = { getCode: (_, id) => id === 501 ? "0017" : undefined }
          const { mapping } = formOf({ header: false, lineEnd: "\n" })
          const file = (...revisions: ReadonlyArray<string>) =>
            copy.run(Close.file(company, { revisions, mapping, codes, user: "payroll" }))
          const noted = Effect.map(
            Effect.forEach([1, 2], (close) => copy.run(Close.files(company, CloseNumber.make(close)))),
            (files) => files.flat().map(({ revision, revisions, user }) => [revision, revisions, user])
          )

          for (
            const [names, tag] of [[["1.9"], "UnknownClose"], [["2", "1.2", "2.1"], "UnknownClose"], [
              [],
              "InvalidRequest"
            ]] as const
          ) {
            assert.strictEqual((yield* Effect.flip(file(...names)))._tag, tag)
          }
          assert.strictEqual((yield* Effect.flip(file("1")))._tag, "UnknownClose")
          assert.deepStrictEqual(yield* noted, [])
          const whole = yield* file("2", "1.2")
          // 5 hours of the second close, and the 2 that the first has more.
          assert.strictEqual(whole.text, "0017,7.00,03/29/2026\n")
          assert.deepStrictEqual(whole.revisions.map(({ revision }) => revision.id), ["2.1", "1.2"])
          assert.deepStrictEqual<unknown>(whole.remarks, [{ kind: "unwritten", revision: "1.1" }])
          assert.deepStrictEqual<unknown>(yield* noted, [["1.2", ["1.2", "2.1"], "payroll"], [
            "2.1",
            ["1.2", "2.1"],
            "payroll"
          ]])
          // It has what 1.2 follows.
          const both = yield* file("1.1", "1.2")
          assert.deepStrictEqual(both.remarks.map(({ kind, revision }) => [kind, revision]), [["written", "1.2"]])
          assert.strictEqual((yield* file("1.1")).text, "0017,16.00,03/15/2026\n")
          assert.deepStrictEqual((yield* file("1.1")).remarks.map(({ kind, revision }) => [kind, revision]), [[
            "written",
            "1.1"
          ]])
          const { voidedFiles } = yield* voidRevision(copy, "1.2")
          assert.deepStrictEqual(voidedFiles.map(({ user }) => user), ["payroll", "payroll"])
          yield* correct(copy)
          assert.deepStrictEqual((yield* file("1.4")).remarks.map(({ kind, revision }) => [kind, revision]), [[
            "voided",
            "1.2"
          ]])
          // The file of a voided revision is no part of the sum.
          const down = formOf({ header: false, lineEnd: "\n", rounding: "down" }).mapping
          const { changes } = yield* copy.run(Close.file(company, { revisions: ["1.4"], mapping: down, codes }))
          assert.deepStrictEqual(changes.map(({ file }) => file.revision), ["1.1"])

          const known = yield* noted
          yield* copy.query(
            database.dialect === "pg"
              ? "ALTER TABLE time_punches_close_file ADD CONSTRAINT refused CHECK (user_name <> 'payroll') NOT VALID"
              : "CREATE TRIGGER refused BEFORE INSERT ON time_punches_close_file BEGIN SELECT RAISE(ABORT, 'no'); END"
          )
          assert.match((yield* Effect.flip(file("1.4"))).message, /the file cannot be noted/)
          assert.deepStrictEqual(yield* noted, known)
        })
    )

    itWithCopy(
      "gives and notes no file of a revision that is voided while the file is made",
      (copy) =>
        Effect.gen(function*() {
          yield* closed(copy)
          yield* commit(copy.kept, company, [shift(2, "2026-03-03T14:00:00Z", 10), shift(3, "2026-03-17T14:00:00Z", 5)])
          yield* create(copy, next)
          yield* correct(copy)
          const codes: PayrollFile.PayrollCodes = { getCode: () => "0017" }
          const notes = copy.query(`SELECT number FROM time_punches_close_file`)
          const { mapping } = formOf()
          // The void is between the read of the revisions and the transaction of the note.
          for (const [revision, other, by] of [["1.2", "2.1", "1.3"], ["2.1", "1.1", "2.2"]] as const) {
            const voiding = copy.run(Close.voidRevision(company, { revision, note: "not sent", mistake: by === "2.2" }))
            const run = yield* between(copy, voiding)
            const { _tag, message } = yield* Effect.flip(
              run(Close.file(company, { revisions: [other, revision], mapping, codes }))
            )
            assert.deepStrictEqual([_tag, message], [
              "UnknownClose",
              `${revision}: it was voided by ${by}, so there is nothing to pay of it [company ${company}]`
            ])
            // Nor is the other revision noted.
            assert.deepStrictEqual(yield* notes, [])
          }
          assert.strictEqual((yield* Effect.flip(noteFile(copy, "1.2", formOf())))._tag, "UnknownClose")
          assert.lengthOf(yield* files(copy), 0)
        })
    )

    itWithCopy(
      "writes files by day and punch from the history, and none that it does not give again",
      (copy) =>
        Effect.gen(function*() {
          const codes: PayrollFile.PayrollCodes = { getCode: () => "0017" }
          const columns = [mapping.columns[0], { header: "Day", value: "date" }, { header: "Hours", value: "hours" }]
          const byDay = { header: false, lineEnd: "\n", by: ["user", "day"], columns }
          const byPunch = { header: false, lineEnd: "\n", hoursOf: "punch" }
          const file = (changes: object, ...revisions: ReadonlyArray<string>) =>
            copy.run(Close.file(company, { revisions, mapping: formOf({ ...changes }).mapping, codes }))
          // 18 seconds are half a hundredth of an hour.
          const seconds = (hours: number) => hours + 18 / 3600
          yield* commit(copy.kept, company, [
            shift(1, "2026-03-02T14:00:00Z", seconds(8)),
            shift(2, "2026-03-03T14:00:00Z", seconds(8))
          ])
          yield* create(copy)
          yield* commit(copy.kept, company, [shift(2, "2026-03-04T14:00:00Z", seconds(10))])
          yield* correct(copy)

          assert.strictEqual(
            (yield* file({ ...byDay, addUp: "row" }, "1.1")).text,
            "0017,2026-03-02,8.01\n0017,2026-03-03,8.01\n"
          )
          // 16:00:36 are 16.01, of which the first of two equal days has the unit.
          assert.strictEqual((yield* file(byDay, "1.1")).text, "0017,2026-03-02,8.01\n0017,2026-03-03,8.00\n")
          assert.strictEqual((yield* file(byPunch, "1.1")).text, "0017,16.02,03/15/2026\n")
          assert.strictEqual((yield* file(byDay, "1.2")).text, "0017,2026-03-03,-8.00\n0017,2026-03-04,10.00\n")
          assert.strictEqual((yield* file(byDay, "1.1", "1.2")).text, "0017,2026-03-02,8.01\n0017,2026-03-04,10.00\n")

          for (const cell of ["tips", "hourly_wage"]) {
            // By hand, in the version that the first revision summed.
            yield* copy.query(`UPDATE time_punches_history SET ${cell} = ${cell} + 1 WHERE id = 2`)
            for (const [form, revision] of [[byDay, "1.1"], [byPunch, "1.1"], [byDay, "1.2"]] as const) {
              const edited = yield* Effect.flip(file(form, revision))
              assert.strictEqual(edited._tag, "VerificationFailed")
              assert.match(edited.message, /1\.1: its history was edited, users 501/)
            }
            yield* copy.query(`UPDATE time_punches_history SET ${cell} = ${cell} - 1 WHERE id = 2`)
          }

          yield* commit(copy.kept, company, [shift(2, "2026-03-04T14:00:00Z", seconds(11))])
          yield* copy.run(PunchCopy.pruneHistory(company, { before: DateTime.makeUnsafe("2999-01-01") }))
          const far = yield* Effect.flip(file(byDay, "1.2"))
          assert.deepStrictEqual([far._tag, far.message.includes("the history alone")], ["VerificationFailed", true])
          const refused = yield* Effect.flip(correct(copy))
          assert.match(refused.message, /1\.2: a file by day or punch was written out/)
          assert.lengthOf((yield* correct(copy, { accept: ["days"] })).revisions, 1)
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
              ) => [`${file.revision}`, mapping, codes]))
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
              [["1.1", ["columns[2].format"], []]]
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
          const erasing = yield* between(copy, copy.run(PunchCopy.purge(company)))
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
      assert.lengthOf(yield* as("reader")(Close.files(company, CloseNumber.make(1))), 1)
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
      yield* as("keeper")(PunchCopy.purge(company))
      for (const part of closeTables) {
        assert.deepStrictEqual(yield* owner.query(`SELECT 1 FROM time_punches_${part}`), [])
      }
    }).pipe(Effect.scoped)
  })
})
