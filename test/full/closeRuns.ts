/** Random closes of two companies in one database, against a second computation that shares no code with `src`. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, DateTime, Duration, Effect, Option } from "effect"
import { totalOf } from "../../src/cli/payroll/print.ts"
import { Blocker, Close, CloseSums, CloseTerms } from "../../src/close/index.ts"
import {
  BreakId,
  BusinessDate,
  Cents,
  CompanyId,
  CustomBreakId,
  DepartmentId,
  LocationId,
  RoleId,
  TimePunchId,
  UserId
} from "../../src/Ids.ts"
import * as PayCalendar from "../../src/payroll/PayCalendar.ts"
import * as Period from "../../src/payroll/Period.ts"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { prng } from "../../src/testing/base/prng.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { temporaryFolder } from "../cli/support.ts"
import { punch } from "../support/arbitraryPunch.ts"
import type { TestDatabase } from "../support/databases.ts"
import { commit, type OpenHistory, openHistory } from "../support/histories.ts"
import { needs } from "../support/needs.ts"
import { noPostgres } from "../support/postgres.ts"
import { isReplay, reportOf } from "../support/series.ts"
import * as Oracle from "./closeOracle.ts"
import * as Plans from "./closePlans.ts"
import * as FileLaws from "./fileLaws.ts"

export const dateOf = (date: number) => BusinessDate.make(new Date(date * 86_400_000).toISOString().slice(0, 10))
const instant = (millis: number) => DateTime.makeUnsafe(millis)

export const punchOf = (work: Oracle.Work): TimePunch =>
  punch({
    id: TimePunchId.make(work.id),
    userId: UserId.make(work.person),
    locationId: LocationId.make(work.place),
    departmentId: Option.map(Option.fromUndefinedOr(work.department), (id) => DepartmentId.make(id)),
    roleId: RoleId.make(work.role),
    hourlyWage: Cents.make(work.wage),
    tips: Cents.make(work.tips),
    clockedIn: instant(work.from),
    clockedOut: Option.map(Option.fromUndefinedOr(work.to), instant),
    breaks: work.breaks.map((rest, at) => ({
      id: BreakId.make(at + 1),
      userId: UserId.make(work.person),
      customBreakId: CustomBreakId.make(0),
      paid: rest.paid,
      in: instant(rest.from),
      out: Option.map(Option.fromUndefinedOr(rest.to), instant),
      deleted: rest.isDeleted
    })),
    deleted: work.isDeleted
  })

/** One day rule for all locations, if they have the same. */
const dayRulesOf = ({ places }: Oracle.Terms): CloseTerms.CloseTermsOptions["dayRule"] => {
  const rules = [...places].map(([place, { dayStarts, zone }]) =>
    [
      LocationId.make(place),
      { zone: DateTime.zoneMakeNamedUnsafe(zone), dayStarts: Duration.millis(dayStarts) }
    ] as const
  )
  const [first] = rules
  return first !== undefined &&
      new Set([...places.values()].map(({ dayStarts, zone }) => `${zone} ${dayStarts}`)).size === 1
    ? first[1]
    : new Map(rules)
}

const threshold = (millis: number | undefined) => millis === undefined ? undefined : Duration.millis(millis)

export const periodOf = (terms: Oracle.Terms) => ({
  first: dateOf(terms.first),
  last: dateOf(terms.last),
  dayRule: dayRulesOf(terms),
  firstDay: Period.Weekday.literals[terms.firstDay],
  rounding: terms.cents,
  weeklyThreshold: threshold(terms.weekly),
  dailyThreshold: threshold(terms.daily),
  doubleThreshold: threshold(terms.double),
  seventhDay: threshold(terms.seventh)
})

export const optionsOf = (terms: Oracle.Terms): Close.CloseOptions => ({ ...periodOf(terms), accept: Blocker.literals })

const millisOf = (time: Option.Option<Duration.Duration>, isKnown: boolean): number => {
  assert.strictEqual(Option.isSome(time), isKnown, "a class that the terms have")
  return Option.match(time, { onNone: () => 0, onSome: Duration.toMillis })
}

/** The rows of the library as those of the oracle; the classes of people are those of their rows. */
export const rowsOf = (terms: Oracle.Terms, sums: CloseSums.CloseSums): Oracle.Rows => {
  const hasOver = Oracle.hasOver(terms)
  const own = sums.rows.map((row): Oracle.Row => ({
    person: row.userId,
    place: row.locationId,
    department: Option.getOrUndefined(row.departmentId),
    role: row.roleId,
    wage: row.hourlyWage,
    punches: row.punches,
    incomplete: row.incomplete,
    net: Duration.toMillis(row.net),
    over: millisOf(row.over, hasOver),
    double: millisOf(row.double, Oracle.hasDouble(terms)),
    cost: row.cost,
    tips: row.tips
  }))
  const found = new Map(own.map((row) => [Oracle.keyOf(row), row]))
  assert.strictEqual(found.size, own.length, "each row once")
  const classes = Oracle.peopleOf(found)
  for (const { double, over, userId } of CloseSums.byPerson(sums)) {
    const given = [millisOf(over, hasOver), millisOf(double, Oracle.hasDouble(terms))]
    assert.deepStrictEqual(given, [...classes.get(userId) ?? [0, 0]], `the classes of person ${userId}`)
  }
  return found
}

/** What the plans did. */
export const makeCounts = () => ({
  plans: 0,
  revisions: 0,
  corrections: 0,
  voids: 0,
  over: 0,
  again: 0,
  moved: 0,
  refused: 0,
  verified: 0
})

interface KnownRevision {
  readonly id: string
  readonly works: ReadonlyArray<Oracle.Work>
  readonly rows: Oracle.Rows
}

interface KnownClose {
  readonly close: number
  readonly terms: Oracle.Terms
  /** Voids too. */
  written: number
  /** With all that were voided. */
  readonly revisions: Array<KnownRevision>
  active: ReadonlyArray<KnownRevision>
}

/** A company while its plan runs. */
interface Current {
  readonly id: CompanyId
  readonly company: Plans.Company
  readonly closes: Array<KnownClose>
  now: ReadonlyMap<number, Oracle.Work>
  readonly laws: FileLaws.Laws | undefined
}

/** Runs a plan, and adds the defects that it finds. With `printed`, it compares the files by any mapping, and nothing else. */
export const runPlan = Effect.fnUntraced(
  function*(
    seed: number,
    copy: OpenHistory,
    counts: ReturnType<typeof makeCounts>,
    found: Set<string>,
    printed?: ReturnType<typeof FileLaws.makeCounts>
  ) {
    const random = prng(seed)
    const trail: Array<string> = []
    const hint = () => `plan ${seed}, after ${trail.join(", ")}`
    const companies = [2, 3].map((id): Current => {
      const company = Plans.makeCompany(random)
      return {
        id: CompanyId.make(id),
        company,
        closes: [],
        now: new Map(),
        laws: printed && FileLaws.makeLaws(seed + id, copy, CompanyId.make(id), printed, hint)
      }
    })

    const edit = (of: Current, made: Plans.Edit) => {
      of.now = Plans.apply(of.now, made)
      return commit(copy.kept, of.id, made.page.map(punchOf), made.isWhole)
    }
    const expected = (of: Current, terms: Oracle.Terms) => Oracle.rowsOf(terms, [...of.now.values()])
    const activeOf = (of: Current) => of.closes.filter(({ active }) => active.length > 0)
    const duesOf = (of: Current) =>
      activeOf(of).flatMap(({ active, close, terms }) => {
        const newest = active.at(-1)
        const rows = expected(of, terms)
        const due = Oracle.dueOf(rows, newest?.rows ?? new Map())
        return due.size === 0 ? [] : [{ close, after: newest?.id, due: Oracle.textOf(due) }]
      })
    const ledgerOf = (of: Current): FileLaws.Ledger =>
      activeOf(of).map(({ active, terms }) => active.map(({ id, works }) => ({ id, terms, works })))
    const termsOf = (of: Current, close: number) =>
      of.closes.find((each) => each.close === close)?.terms ?? assert.fail(`${hint()}: close ${close}`)

    const assertDue = Effect.fnUntraced(function*(of: Current, dues: ReturnType<typeof duesOf>) {
      const given = yield* copy.run(Close.due(of.id, {}))
      const texts = given.map(({ after, difference }) => {
        const close = Number(after.split(".")[0])
        return { close, after, due: Oracle.textOf(rowsOf(termsOf(of, close), difference)) }
      })
      assert.deepStrictEqual(texts, dues, hint())
    })

    /** Every revision is what it was. */
    const assertRead = Effect.fnUntraced(function*(of: Current) {
      const read = yield* copy.run(Close.list(of.id))
      assert.deepStrictEqual(read.map(({ close }) => close), of.closes.map(({ close }) => close), hint())
      assert.deepStrictEqual(
        yield* copy.run(Close.totals(of.id)),
        read.map(({ revisions, ...close }) => ({
          ...close,
          revisions: revisions.map(({ rows, ...revision }) => ({ ...revision, totals: totalOf({ rows }) }))
        })),
        hint()
      )
      for (const known of of.closes) {
        const revisions = read.find(({ close }) => close === known.close)?.revisions ?? []
        assert.lengthOf(revisions, known.written, hint())
        for (const each of known.revisions) {
          counts.revisions++
          const revision = revisions.find(({ id }) => id === each.id) ?? assert.fail(`${hint()}: no ${each.id}`)
          assert.strictEqual(
            Oracle.textOf(rowsOf(known.terms, revision)),
            Oracle.textOf(each.rows),
            `${hint()}: revision ${each.id}`
          )
        }
      }
      return read
    })

    /** Compares the rows of a revision, and looks for what each defect would have. */
    const made = (
      of: Current,
      terms: Oracle.Terms,
      revision: CloseSums.CloseSums & { readonly id: string }
    ): KnownRevision => {
      const rows = expected(of, terms)
      const text = Oracle.textOf(rowsOf(terms, revision))
      assert.strictEqual(text, Oracle.textOf(rows), `${hint()}: ${revision.id}`)
      const works = [...of.now.values()]
      for (const [defect, changes] of Object.entries(of.laws === undefined ? Oracle.defects : {})) {
        if (found.has(defect)) continue
        const rules = { ...Oracle.trueRules, ...changes }
        if (Oracle.textOf(Oracle.rowsOf(terms, works, rules)) !== text) found.add(defect)
      }
      return { id: revision.id, works, rows }
    }

    const create = Effect.fnUntraced(function*(of: Current) {
      const isClosed = ({ first }: { readonly first: number }) =>
        activeOf(of).some(({ terms }) => terms.first === first)
      const period = of.company.periods.find((each) => !isClosed(each))
      if (period === undefined) return
      const active = activeOf(of).map(({ terms }) => terms)
      const { places } = of.company.terms
      const terms = Oracle.align({
        ...of.company.terms,
        ...random.chance(of.laws === undefined ? 0.15 : 0.5) ? Plans.thresholdsOf(random) : {},
        places: random.chance(0.2) ? Plans.corrected(random, places) : places,
        ...period
      }, active)
      trail.push(`create ${of.id}: ${dateOf(period.first)}`)
      const isAgain = of.closes.some((each) => each.terms.first === period.first)
      if (active.some((other) => Oracle.overlap(terms, other))) {
        const error = yield* Effect.flip(copy.run(Close.create(of.id, optionsOf(terms))))
        assert.strictEqual(error._tag, "PeriodClosed", hint())
        counts.refused++
        return
      }
      if (isAgain) counts.again++
      if (terms.begins.size > 0) counts.moved++
      const revision = yield* copy.run(Close.create(of.id, optionsOf(terms)))
      assert.strictEqual(revision.id, `${of.closes.length + 1}.1`, hint())
      const known = made(of, terms, revision)
      of.closes.push({ close: revision.close, terms, written: 1, revisions: [known], active: [known] })
      yield* of.laws?.grown(ledgerOf(of)) ?? Effect.void
    })

    const correct = Effect.fnUntraced(function*(of: Current) {
      trail.push(`correct ${of.id}`)
      const dues = duesOf(of)
      const { due, revisions } = yield* copy.run(Close.correct(of.id, {}))
      assert.deepStrictEqual(
        revisions.map(({ close, previous }, at) => ({
          close,
          after: Option.getOrUndefined(previous),
          due: Oracle.textOf(rowsOf(termsOf(of, close), due[at] ?? CloseSums.empty))
        })),
        dues,
        hint()
      )
      for (const revision of revisions) {
        counts.corrections++
        const close = of.closes.find((each) => each.close === revision.close) ?? assert.fail(hint())
        close.written++
        assert.strictEqual(revision.id, `${close.close}.${close.written}`, hint())
        const known = made(of, close.terms, revision)
        close.revisions.push(known)
        close.active = [...close.active, known]
      }
      yield* of.laws?.grown(ledgerOf(of)) ?? Effect.void
      yield* assertDue(of, [])
    })

    const voidNewest = Effect.fnUntraced(function*(of: Current) {
      const closes = activeOf(of)
      const close = closes[random.between(0, closes.length - 1)]
      const newest = close?.active.at(-1)
      if (close === undefined || newest === undefined) return
      trail.push(`void ${of.id}: ${newest.id}`)
      yield* copy.run(Close.voidRevision(of.id, { revision: newest.id, note: "the file was not sent" }))
      counts.voids++
      close.written++
      close.active = close.active.slice(0, -1)
      if (close.active.length === 0) counts.over++
    })

    const verify = Effect.fnUntraced(function*(of: Current) {
      if (of.closes.length === 0) return
      trail.push(`verify ${of.id}`)
      const written = of.closes.reduce((sum, { revisions }) => sum + revisions.length, 0)
      assert.deepStrictEqual(
        yield* copy.run(Close.verify(of.id)),
        { revisions: written, unverifiable: 0 },
        hint()
      )
      counts.verified++
    })

    for (const of of companies) {
      for (const { first, last } of of.company.periods) {
        const { calendar } = of.company
        const theirs = Period.payPeriod(
          "days" in calendar
            ? PayCalendar.PayCalendar.make({ kind: "days", days: calendar.days, anchor: dateOf(calendar.anchor) })
            : monthsOf(calendar.firsts),
          dateOf(first)
        )
        assert.deepStrictEqual(theirs, { first: dateOf(first), last: dateOf(last) }, hint())
      }
      yield* edit(of, { page: of.company.punches, isWhole: true })
      yield* create(of)
      if (random.chance(0.5)) yield* create(of)
    }
    for (let step = 0; step < 14; step++) {
      const of = companies[random.between(0, 1)] ?? assert.fail("a company")
      switch (random.between(0, 9)) {
        case 0:
        case 1:
          yield* voidNewest(of)
          break
        case 2:
        case 3:
          yield* create(of)
          break
        case 4:
          yield* correct(of)
          break
        default: {
          for (let edits = random.between(1, 3); edits > 0; edits--) {
            const next = Plans.makeEdit(random, of.company, of.now)
            trail.push(`${next.isWhole ? "sweep" : "edit"} ${of.id}: ${next.page.map(({ id }) => id).join(" ")}`)
            yield* edit(of, next)
          }
          yield* assertDue(of, duesOf(of))
          if (random.chance(0.6)) yield* correct(of)
        }
      }
      if (of.laws === undefined) yield* assertRead(of)
    }
    for (const of of companies) {
      yield* correct(of)
      if (of.laws !== undefined) {
        yield* of.laws.ended(ledgerOf(of), 4)
        continue
      }
      yield* assertRead(of)
      yield* verify(of)
    }
    counts.plans++
  }
)

const monthsOf = (firsts: ReadonlyArray<number>) => {
  const [one = 1, other] = firsts
  return PayCalendar.PayCalendar.make({ kind: "months", firstDays: other === undefined ? [one] : [one, other] })
}

/** Runs the plans of some seeds, and says what they did. Of many plans each planted defect is found by one. */
export const itComparesCloses = (database: TestDatabase, file: string, seeds: () => Iterable<number>) =>
  describe(`Random closes in ${database.name}`, () => {
    it.live("have the sums and the dues of a second computation, which finds planted defects", (context) => {
      needs(context, database.isHere, noPostgres)
      const counts = makeCounts()
      const finds = new Map(Object.keys(Oracle.defects).map((defect) => [defect, 0]))
      return Effect.gen(function*() {
        const folder = yield* temporaryFolder
        for (const seed of seeds()) {
          const client = database.dialect === "sqlite"
            ? NodeSqlite.layer({ filename: `${folder}/${seed}.db` })
            : database.client
          const found = new Set<string>()
          yield* Effect.scoped(Effect.flatMap(
            openHistory(client),
            (copy) => runPlan(seed, copy, counts, found)
          )).pipe(
            Effect.catchCause((cause) =>
              Effect.die(new Error(reportOf(file, seed, Cause.pretty(cause), `closes in ${database.name}`)))
            )
          )
          for (const defect of found) finds.set(defect, (finds.get(defect) ?? 0) + 1)
        }
        process.stdout.write(
          `${database.name}: ${
            Object.entries(counts).map(([name, count]) => `${name} ${count}`).join(", ")
          }, wrong 0\n${[...finds].map(([defect, plans]) => `  ${plans} of ${counts.plans}: ${defect}\n`).join("")}`
        )
        assert.isAbove(counts.plans, 0)
        if (isReplay) return
        // A few plans need not have each of them.
        if (counts.plans >= 4) assert.isAbove(Math.min(counts.corrections, counts.voids, counts.verified), 0)
        if (counts.plans >= 50) assert.deepStrictEqual([...finds].filter(([, plans]) => plans === 0), [])
      }).pipe(Effect.scoped)
    }, 600_000)
  })
