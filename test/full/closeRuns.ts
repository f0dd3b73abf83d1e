/** Random closes of two companies in one database, against a second computation that shares no code with `src`. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, DateTime, Duration, Effect, Option, Result, Stream } from "effect"
import { totalOf } from "../../src/cli/payroll/print.ts"
import { Blocker, Close, CloseSums, CloseTerms, type RecordedRevision } from "../../src/close/index.ts"
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
import * as Labor from "../../src/payroll/Labor.ts"
import * as PayCalendar from "../../src/payroll/PayCalendar.ts"
import * as PayrollFile from "../../src/payroll/PayrollFile.ts"
import * as Period from "../../src/payroll/Period.ts"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { prng } from "../../src/testing/base/prng.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { temporaryFolder } from "../cli/support.ts"
import { punch } from "../support/arbitraryPunch.ts"
import type { TestDatabase } from "../support/databases.ts"
import { commit, type OpenHistory, openHistory } from "../support/histories.ts"
import type { Form } from "../support/mappings.ts"
import { needs } from "../support/needs.ts"
import { noPostgres } from "../support/postgres.ts"
import { isReplay, reportOf } from "../support/series.ts"
import * as Oracle from "./closeOracle.ts"
import * as Plans from "./closePlans.ts"
import * as FileLaws from "./fileLaws.ts"
import * as Files from "./fileOracle.ts"

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

export const dayRulesOf = ({ places }: Oracle.Terms): ReadonlyMap<LocationId, Period.DayRule> =>
  new Map(
    [...places].map(([place, { dayStarts, zone }]) =>
      [
        LocationId.make(place),
        { zone: DateTime.zoneMakeNamedUnsafe(zone), dayStarts: Duration.millis(dayStarts) }
      ] as const
    )
  )

/** One day rule for all locations, if they have the same. */
const dayRuleOf = (terms: Oracle.Terms): CloseTerms.CloseTermsOptions["dayRule"] => {
  const rules = dayRulesOf(terms)
  const isOne = new Set([...terms.places.values()].map(({ dayStarts, zone }) => `${zone} ${dayStarts}`)).size === 1
  return isOne ? [...rules.values()][0] ?? rules : rules
}

const threshold = (millis: number | undefined) => millis === undefined ? undefined : Duration.millis(millis)

export const periodOf = (terms: Oracle.Terms) => ({
  first: dateOf(terms.first),
  last: dateOf(terms.last),
  dayRule: dayRuleOf(terms),
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

/** Four forms of files, in each of which some planted defects show. */
const formsOf = (terms: Oracle.Terms, rules: Oracle.Rules = Oracle.trueRules): ReadonlyArray<Form> => {
  const hasOver = Oracle.hasOver(terms)
  const double = Oracle.hasDouble(terms)
  const plain = { v: 1, separator: ",", decimal: ".", header: true, preamble: [], trailer: [] } as const
  const others = { encoding: "utf-8", lineEnd: "\n", quote: "whenNeeded" } as const
  const column = (value: string) => ({ header: value, value })
  const classes = [...hasOver ? ["hoursRegular", "hoursOver"] : [], ...double ? ["hoursDouble"] : []]
  const payCodes = {
    ...hasOver ? { regular: "REG", over: "OT" } : { hours: "HRS" },
    ...double ? { double: "DT" } : {},
    tips: "TIPS"
  }
  return [
    {
      ...plain,
      ...others,
      by: ["user"],
      payCodes,
      hours: "decimal:2",
      rounding: rules.codes,
      columns: ["userCode", "payCode", "hours", "amount"].map(column)
    },
    {
      ...plain,
      ...others,
      by: ["user", "role"],
      payCodes,
      hours: "decimal:2",
      rounding: "up",
      columns: ["userCode", "roleId", "rate", "payCode", "hours", "amount"].map(column)
    },
    {
      ...plain,
      ...others,
      by: ["location"],
      hours: "minutes",
      rounding: "down",
      columns: ["locationCode", "hours", "cost", "tips", "punches"].map(column),
      separator: ";",
      decimal: ",",
      header: false
    },
    {
      ...plain,
      ...others,
      by: ["user", "location", "role"],
      hours: "h:mm",
      rounding: rules.people,
      columns: ["userCode", "locationId", "roleId", "rate", "hours", ...classes, "cost"].map(column),
      quote: "always"
    }
  ]
}

/** What the files of some punches have, less those of the punches before. */
const filesOf = (
  terms: Oracle.Terms,
  codes: Files.Codes,
  now: ReadonlyArray<Oracle.Part>,
  then: ReadonlyArray<Oracle.Part>,
  rules: Oracle.Rules = Oracle.trueRules
): ReadonlyArray<string> =>
  formsOf(terms, rules).map((form) =>
    Files.textOf(
      rules.roundsDifference
        ? Files.rowsOf(form, codes, [...now, ...then.map(Oracle.negated)])
        : Files.plus(Files.rowsOf(form, codes, now), Files.rowsOf(form, codes, then), -1)
    )
  )

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
  files: 0,
  verified: 0
})

interface KnownRevision {
  readonly id: string
  readonly works: ReadonlyArray<Oracle.Work>
  readonly rows: Oracle.Rows
  /** What was printed by each form. */
  readonly files: ReadonlyArray<Files.Rows>
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
  readonly codes: Files.Codes
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
        codes: FileLaws.codesOf(company.areShared),
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

    /** Every active revision is what it was, and their files add up to that of the newest. */
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
        const newest = known.active.at(-1)
        if (newest === undefined) continue
        for (const [at, form] of formsOf(known.terms).entries()) {
          const paid = known.active.reduce<Files.Rows>(
            (sum, { files }) => Files.plus(sum, files[at] ?? new Map(), 1),
            new Map()
          )
          assert.strictEqual(
            Files.textOf(paid),
            Files.textOf(Files.rowsOf(form, of.codes, Oracle.partsOf(known.terms, newest.works))),
            `${hint()}: files of close ${known.close} by ${JSON.stringify(form)}`
          )
        }
      }
      return read
    })

    /** Prints the files of a revision, and looks for what each defect would have. */
    const made = (
      of: Current,
      terms: Oracle.Terms,
      revision: CloseSums.CloseSums & PayrollFile.PayrollSums & { readonly id: string },
      previous: readonly [known: KnownRevision, revision: RecordedRevision] | undefined
    ): KnownRevision => {
      const rows = expected(of, terms)
      const text = Oracle.textOf(rowsOf(terms, revision))
      assert.strictEqual(text, Oracle.textOf(rows), `${hint()}: ${revision.id}`)
      const works = [...of.now.values()]
      if (of.laws !== undefined) return { id: revision.id, works, rows, files: [] }
      const parts = [works, previous?.[0].works ?? []].map((each) => Oracle.partsOf(terms, each))
      const [now = [], before = []] = parts
      const files = formsOf(terms).map((form) => {
        counts.files++
        const { bytes } = Result.getOrThrow(Result.flatMap(
          PayrollFile.decodeMapping(form),
          (mapping) =>
            PayrollFile.encode(mapping, {
              codes: { getCode: of.codes.codeOf },
              state: revision,
              previous: Option.fromUndefinedOr(previous?.[1])
            })
        ))
        return Files.byTexts(Files.read(form, undefined, bytes))
      })
      const printed = files.map(Files.textOf)
      assert.deepStrictEqual(
        printed,
        filesOf(terms, of.codes, now, before),
        `${hint()}: the files of ${revision.id}`
      )
      for (const [defect, changes] of Object.entries(Oracle.defects)) {
        if (found.has(defect)) continue
        const rules = { ...Oracle.trueRules, ...changes }
        const isFound = Oracle.textOf(Oracle.rowsOf(terms, works, rules)) !== text ||
          filesOf(terms, of.codes, Oracle.partsOf(terms, works, rules), before, rules).join() !== printed.join()
        if (isFound) found.add(defect)
      }
      return { id: revision.id, works, rows, files }
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
      const known = made(of, terms, revision, undefined)
      of.closes.push({ close: revision.close, terms, written: 1, revisions: [known], active: [known] })
      yield* of.laws?.grown(ledgerOf(of)) ?? Effect.void
    })

    const correct = Effect.fnUntraced(function*(of: Current) {
      trail.push(`correct ${of.id}`)
      const dues = duesOf(of)
      const before = yield* copy.run(Close.list(of.id))
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
        const newest = close.active.at(-1) ?? assert.fail(hint())
        const stored = before.find((each) =>
          each.close === close.close
        )?.revisions.find(({ id }) => id === newest.id) ??
          assert.fail(hint())
        close.written++
        assert.strictEqual(revision.id, `${close.close}.${close.written}`, hint())
        const known = made(of, close.terms, revision, [newest, stored])
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

    /** Each day alone, whose classes are those of the second computation: so the days add up to the period. */
    const assertDays = Effect.fnUntraced(function*(of: Current) {
      const [period] = of.company.periods
      if (period === undefined) return
      const counted = [...of.now.values()].filter(({ isDeleted, isMissing }) => !isDeleted && !isMissing)
      for (let date = period.first; date <= Math.min(period.last, period.first + 6); date++) {
        const terms = { ...of.company.terms, first: date, last: date }
        const own = yield* Effect.fromResult(CloseTerms.make({ ...periodOf(terms), companyId: of.id }))
        const window = CloseTerms.queryWindow(own)
        const punches = counted.map(punchOf).filter(({ clockedIn }) =>
          window.gte.epochMilliseconds <= clockedIn.epochMilliseconds &&
          clockedIn.epochMilliseconds < window.lt.epochMilliseconds
        )
        const rows = rowsOf(terms, yield* Stream.run(Stream.fromArray(punches), CloseSums.sum(own)))
        assert.strictEqual(Oracle.textOf(rows), Oracle.textOf(expected(of, terms)), `${hint()}: ${dateOf(date)}`)
        for (const { double, net, over } of rows.values()) {
          assert.isTrue(over >= 0 && double >= 0 && net >= over + double, `${hint()}: the classes of ${dateOf(date)}`)
        }
      }
      // The hours of people and of their jobs without a close.
      const terms = { ...of.company.terms, ...period }
      const { dayRule, first, last, rounding: _, ...options } = periodOf(terms)
      const hours = {
        ...options,
        dayRule: CloseTerms.isByLocation(dayRule) ? Period.dayRules(dayRule) : dayRule,
        period: (dayRule: Period.DayRule) => Period.localDays(dayRule, first, last)
      }
      const people = yield* Stream.run(Stream.fromArray(counted.map(punchOf)), Labor.hoursOverThreshold(hours))
      const byJob = Labor.makeClassesBy(
        hours,
        (punch) =>
          [
            punch.userId,
            punch.locationId,
            Option.getOrElse(punch.departmentId, () => "-"),
            punch.roleId,
            punch.hourlyWage
          ]
            .join(" ")
      )
      for (const work of counted) assert.isTrue(Result.isSuccess(byJob.add(punchOf(work))), hint())
      const jobs = new Map<string, Pick<Oracle.Row, "over" | "double">>()
      byJob.each((_, key, { double, over }) => {
        const known = jobs.get(key) ?? { over: 0, double: 0 }
        jobs.set(key, { over: known.over + over, double: known.double + double })
      })
      const textOfJobs = (all: ReadonlyMap<string, Pick<Oracle.Row, "over" | "double">>) =>
        [...all].filter(([, { double, over }]) => over > 0 || double > 0)
          .map(([key, { double, over }]) => `${key}: ${over} ${double}`).toSorted()
      assert.deepStrictEqual(textOfJobs(jobs), textOfJobs(expected(of, terms)), `${hint()}: the hours of jobs`)
      assert.deepStrictEqual(
        [...people].map(([userId, { double, over }]) => [
          Number(userId),
          [Duration.toMillis(over), Duration.toMillis(double)]
        ])
          .filter(([, classes]) => String(classes) !== "0,0").toSorted(),
        [...Oracle.peopleOf(expected(of, terms))].map(([person, classes]) => [person, [...classes]])
          .filter(([, classes]) => String(classes) !== "0,0").toSorted(),
        `${hint()}: the hours of people`
      )
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
      if (of.laws === undefined) yield* assertDays(of)
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
    it.live("have the sums, the dues and the files of a second computation, which finds planted defects", (context) => {
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
