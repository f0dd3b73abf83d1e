/** Random calendars, holes, gaps that are let go of, and mistakes, against a model that shares no code with `src`. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, DateTime, Duration, Effect, Option } from "effect"
import { Blocker, Close, CloseNumber, type CloseSums } from "../../src/close/index.ts"
import { CompanyId, LocationId } from "../../src/Ids.ts"
import { PayCalendar } from "../../src/payroll/PayCalendar.ts"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { prng } from "../../src/testing/base/prng.ts"
import { commit, type OpenHistory, openHistory } from "../support/histories.ts"
import { isReplay, reportOf } from "../support/series.ts"
import * as Oracle from "./closeOracle.ts"
import * as Plans from "./closePlans.ts"
import { dateOf, optionsOf, punchOf, rowsOf } from "./closeRuns.ts"
import * as States from "./closeStates.ts"
import * as FileLaws from "./fileLaws.ts"

const company = CompanyId.make(2)

const calendarOf = (calendar: States.Calendar): PayCalendar => {
  if ("firsts" in calendar) {
    const [one = 1, other] = calendar.firsts
    return PayCalendar.make({ kind: "months", firstDays: other === undefined ? [one] : [one, other] })
  }
  const [one = 7, ...more] = calendar.list
  return PayCalendar.make({
    kind: "days",
    days: more.length === 0 ? one : [one, ...more],
    anchor: dateOf(calendar.anchor)
  })
}

export const makeCounts = () => ({
  plans: 0,
  states: 0,
  closes: 0,
  next: 0,
  refused: 0,
  holes: 0,
  gaps: 0,
  mistakes: 0,
  late: 0,
  corrections: 0
})

interface Written {
  readonly id: string
  readonly works: ReadonlyArray<Oracle.Work>
  readonly rows: Oracle.Rows
}

/** Runs a plan, and adds the defects that it finds. With `printed`, it compares the files by any mapping, and no state of a day. */
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
    const made = Plans.makeCompany(random)
    const from = made.periods[0]?.first ?? 0
    const calendar: States.Calendar = random.pick([
      { list: [7], anchor: from },
      { list: [14], anchor: from - 14 },
      { firsts: [1, 16] },
      { firsts: [16, 31] },
      { firsts: [1] },
      { list: [28, 28, 35], anchor: from - 28 }
    ])
    // Places that have no punches until the end of the plan may be in a close or not.
    const isOneRule = random.chance(0.2)
    const own = [...made.terms.places]
    const [rule] = own
    if (rule === undefined) return assert.fail("no place")
    const places = new Map(
      isOneRule
        ? own.map(([place]) => [place, rule[1]] as const)
        : [...own, ...[901, 902].map((place) => [place, random.pick([rule, ...own])[1]] as const)]
    )
    const [usual, other] = [made.terms, { ...made.terms, ...Plans.thresholdsOf(random) }]
    const plan: Plans.Company = {
      ...made,
      terms: { ...made.terms, places: new Map(own.map(([at]) => [at, places.get(at) ?? rule[1]])) }
    }
    let now: ReadonlyMap<number, Oracle.Work> = new Map()
    const closes: Array<States.Closed> = []
    const events: Array<States.Event> = []
    const active = new Map<number, Array<Written>>()
    const numbers = new Map<number, number>()
    const world: States.World = { closes, events, places: [...places.keys()] }
    const startOf = (place: number, day: number) => {
      const { dayStarts, zone } = places.get(place) ?? rule[1]
      return Oracle.startOf(zone, dayStarts, day)
    }
    const measure = (works: ReadonlyArray<Oracle.Work>, place: number, days: ReadonlySet<number>) => {
      let [punches, net] = [0, 0]
      for (const work of works) {
        const isIn = work.place === place && !work.isDeleted && !work.isMissing &&
          [...days].some((day) => startOf(place, day) <= work.from && work.from < startOf(place, day + 1))
        if (!isIn) continue
        punches++
        net += Oracle.paidOf(work, Oracle.trueRules) ?? 0
      }
      return [punches, net] as const
    }
    const commitEdit = (edit: Plans.Edit) => {
      now = Plans.apply(now, edit)
      return commit(copy.kept, company, edit.page.map(punchOf), edit.isWhole)
    }

    /** One text of all that the model says of a state. */
    const toldBy = (rules: States.Rules) => {
      const holes = States.holesOf(world, rules).map(([place, first, last]) =>
        `${place}: ${startOf(place, first)} to ${startOf(place, last + 1)}, ${first} to ${last}`
      ).toSorted()
      const late = States.lateOf(world, [...now.values()], measure, rules)
        .map(([close, place, first, ...more]) => `${close} ${place}: ${startOf(place, first)} ${more.join(" ")}`)
        .toSorted()
      const nextText = (acceptsGaps: boolean) => {
        const next = States.nextOf(world, startOf, rules, acceptsGaps)
        if (next === undefined) return "refused"
        const { weekly, daily, double, seventh } = next.of.terms
        return `${next.first} to ${next.last} as ${next.of.close} ${next.isHole} ` +
          `${next.of.calendar === undefined ? "free" : "calendar"} ${[weekly, daily, double, seventh].join(" ")}`
      }
      return { holes, late, next: nextText(false), behind: nextText(true) }
    }

    const dayOf = (date: string) => Date.parse(`${date}T00:00Z`) / 86_400_000
    const nextNow = (acceptGaps: boolean) => Effect.option(copy.run(Close.next(company, { acceptGaps })))
    const textOfNext = (found: Option.Option<Close.NextPeriod>) =>
      Option.match(found, {
        onNone: () => "refused",
        onSome: ({ isHole, options, termsOf }) =>
          `${dayOf(options.first)} to ${dayOf(options.last)} as ${termsOf} ${isHole} ${
            options.calendar === undefined ? "free" : "calendar"
          } ${
            [options.weeklyThreshold, options.dailyThreshold, options.doubleThreshold, options.seventhDay]
              .map((each) => each === undefined ? undefined : Duration.toMillis(Duration.fromInputUnsafe(each))).join(
                " "
              )
          }`
      })

    const assertTold = Effect.fnUntraced(function*() {
      if (closes.length === 0 || laws !== undefined) return
      counts.states++
      // What stands for every other location is each place that no close names.
      const placesOf = (locationId: Option.Option<LocationId>) =>
        Option.match(locationId, { onNone: () => world.places, onSome: (id) => [Number(id)] })
      const holes = (yield* copy.run(Close.holes(company))).flatMap(({ dates, interval, locationId }) =>
        placesOf(locationId).map((place) =>
          `${place}: ${interval.gte.epochMilliseconds} to ${interval.lt.epochMilliseconds}, ${
            Option.match(dates, {
              onNone: () => "no dates",
              onSome: ({ first, last }) => `${dayOf(first)} to ${dayOf(last)}`
            })
          }`
        )
      ).toSorted()
      const late = (yield* copy.run(Close.lateTime(company))).map(({ close, interval, locationId, net, punches }) =>
        `${close} ${Option.getOrElse(locationId, () => "all")}: ${interval.gte.epochMilliseconds} ${punches} ${
          Duration.toMillis(net)
        }`
      ).toSorted()
      const told = toldBy(States.trueRules)
      counts.holes += holes.length
      counts.late += late.length
      const given = {
        holes,
        // By one rule, a gap has what came at all places together.
        late: isOneRule ? late.map(() => "all") : late,
        next: textOfNext(yield* nextNow(false)),
        behind: textOfNext(yield* nextNow(true))
      }
      const text = (of: typeof told) => JSON.stringify({ ...of, late: isOneRule ? of.late.length > 0 : of.late })
      assert.deepStrictEqual(
        JSON.parse(text(given)),
        JSON.parse(text(told)),
        `${hint()}: ${text(given)} for ${text(told)} ${
          closes.map(({ close, state, terms }) =>
            `${close} ${state} ${terms.first}..${terms.last} at ${[...terms.places.keys()].join()}`
          ).join("; ")
        }`
      )
      for (const [defect, changes] of Object.entries(States.defects)) {
        if (found.has(defect)) continue
        if (text(toldBy({ ...States.trueRules, ...changes })) !== text(given)) found.add(defect)
      }
    })

    /** Compares the sums of a revision. */
    const compared = ({ terms }: States.Closed, revision: CloseSums.CloseSums & { readonly id: string }): Written => {
      const works = [...now.values()]
      const rows = Oracle.rowsOf(terms, works)
      assert.strictEqual(Oracle.textOf(rowsOf(terms, revision)), Oracle.textOf(rows), `${hint()}: ${revision.id}`)
      return { id: revision.id, works, rows }
    }

    const laws = printed && FileLaws.makeLaws(seed, copy, company, printed, hint)
    const ledger = (): FileLaws.Ledger =>
      closes.filter(({ state }) => state === "active").map(({ close, terms }) =>
        (active.get(close) ?? []).map(({ id, works }) => ({ id, terms, works }))
      )

    const accept = (...gap: ReadonlyArray<"gap">) => [
      ...Blocker.literals.filter((kind) => kind !== "gap" && kind !== "edge"),
      ...gap
    ]

    /** Closes, or is refused as the model says. */
    const create = Effect.fnUntraced(function*(
      terms: Oracle.Terms,
      calendar: States.Calendar | undefined,
      options: Close.CloseOptions,
      acceptsGap: boolean
    ) {
      const closed: States.Closed = { close: closes.length + 1, terms, calendar, state: "active" }
      trail.push(
        `${closed.close}: ${terms.first} to ${terms.last} at ${[...terms.places.keys()].join(" ")}${
          acceptsGap ? " gap" : ""
        }`
      )
      const attempt = copy.run(
        Close.create(company, { ...options, accept: accept(...acceptsGap ? ["gap"] as const : []) })
      )
      const isTaken = closes.some(({ state, terms: its }) =>
        state === "active" && its.first <= terms.last && terms.first <= its.last &&
        [...terms.places.keys()].some((place) => its.places.has(place))
      )
      const own: States.Event = {
        kind: "close",
        of: closed,
        works: [],
        runs: [...terms.places.keys()].map((place) => [place, terms.first, terms.last] as const)
      }
      const behind: States.World = { ...world, closes: [...closes, closed], events: [...events, own] }
      const gaps = States.holesOf(behind).filter(([, first]) => first <= terms.last)
      if (isTaken || (gaps.length > 0 && !acceptsGap)) {
        const { _tag } = yield* Effect.flip(attempt)
        assert.strictEqual(_tag, isTaken ? "PeriodClosed" : "NotReady", hint())
        counts.refused++
        return
      }
      const revision = yield* attempt
      assert.strictEqual(revision.close, closed.close, hint())
      assert.strictEqual(revision.accepted["gap"] !== undefined, gaps.length > 0, `${hint()}: gaps`)
      closes.push(closed)
      events.push(own)
      if (gaps.length > 0) {
        counts.gaps += gaps.length
        events.push({ kind: "accept", of: closed, runs: gaps, works: [...now.values()] })
      }
      counts.closes++
      numbers.set(closed.close, 1)
      active.set(closed.close, [compared(closed, revision)])
      yield* laws?.grown(ledger()) ?? Effect.void
    })

    const byDates = Effect.fnUntraced(function*() {
      let first = from
      while (!States.begins(calendar, first)) first++
      for (let more = random.between(0, 5); more > 0; more--) first = States.lastOf(calendar, first) + 1
      let last = States.lastOf(calendar, first)
      const isFree = random.chance(0.15)
      if (isFree) last = Math.min(last, first + random.between(1, 9))
      if (random.chance(0.08)) [first, last] = [first + 364, last + 364]
      const chosen = new Map([...places].filter(([place]) => place < 900 || random.chance(0.6)))
      const terms: Oracle.Terms = {
        ...random.chance(0.7) ? usual : other,
        begins: new Map(),
        places: chosen,
        first,
        last
      }
      const theirs = isFree ? undefined : calendar
      const dayRules = [...chosen].map(([place, { dayStarts, zone }]) =>
        [
          LocationId.make(place),
          { zone: DateTime.zoneMakeNamedUnsafe(zone), dayStarts: Duration.millis(dayStarts) }
        ] as const
      )
      const given = optionsOf(terms)
      const dayRule = isOneRule ? given.dayRule : new Map(dayRules)
      const options = { ...given, dayRule, calendar: theirs === undefined ? undefined : calendarOf(theirs) }
      yield* create(terms, theirs, options, random.chance(0.6))
    })

    const byNext = Effect.fnUntraced(function*() {
      const acceptsGap = random.chance(0.4)
      const expected = States.nextOf(world, startOf, States.trueRules, acceptsGap)
      const next = yield* nextNow(acceptsGap)
      assert.strictEqual(Option.isSome(next), expected !== undefined, `${hint()}: next`)
      if (Option.isNone(next) || expected === undefined) return
      counts.next++
      const { first, last, of } = expected
      yield* create({ ...of.terms, first, last }, of.calendar, next.value.options, acceptsGap)
    })

    const voidOne = Effect.fnUntraced(function*() {
      const closed = closes.filter(({ state }) => state === "active")
      const over = closes.filter(({ state }) => state === "over")
      const wasVoided = over.length > 0 && random.chance(0.15)
      const chosen = wasVoided ? over : closed
      const of = chosen[random.between(0, chosen.length - 1)]
      if (of === undefined) return
      const written = active.get(of.close) ?? []
      const mistake = wasVoided || (written.length === 1 && random.chance(0.35))
      const newest = [...(yield* copy.run(Close.get(company, CloseNumber.make(of.close)))).revisions]
        .findLast(({ id, voids }, _, all) =>
          Option.isNone(voids) && !all.some((each) => Option.contains(each.voids, id))
        )
      const revision = wasVoided ? `${of.close}.1` : `${newest?.id}`
      trail.push(`${mistake ? "mistake" : "void"} ${revision}`)
      yield* copy.run(Close.voidRevision(company, { revision, note: "not paid", mistake }))
      if (mistake) {
        counts.mistakes++
        of.state = "mistake"
      }
      if (wasVoided) return
      written.pop()
      if (written.length > 0 || mistake) return
      of.state = "over"
      events.push({
        kind: "void",
        of,
        works: [],
        runs: [...of.terms.places.keys()].map((place) => [place, of.terms.first, of.terms.last] as const)
      })
    })

    const correct = Effect.fnUntraced(function*() {
      trail.push("correct")
      const { revisions } = yield* copy.run(Close.correct(company, {}))
      for (const revision of revisions) {
        counts.corrections++
        const closed = closes[revision.close - 1] ?? assert.fail(hint())
        const written = active.get(revision.close) ?? assert.fail(hint())
        assert.deepStrictEqual(revision.previous, Option.fromUndefinedOr(written.at(-1)?.id), hint())
        written.push(compared(closed, revision))
      }
      for (const [close, written] of active) {
        const closed = closes[close - 1]
        if (closed?.state !== "active") continue
        const rows = Oracle.rowsOf(closed.terms, [...now.values()])
        assert.strictEqual(
          Oracle.textOf(written.at(-1)?.rows ?? new Map()),
          Oracle.textOf(rows),
          `${hint()}: close ${close}`
        )
      }
      yield* laws?.grown(ledger()) ?? Effect.void
    })

    yield* commitEdit({ page: made.punches, isWhole: true })
    for (let step = 0; step < 16; step++) {
      const kind = random.between(0, 9)
      if (closes.length === 0 || kind < 3) yield* byDates()
      else if (kind < 5) yield* byNext()
      else if (kind < 7) yield* voidOne()
      else if (kind < 8) yield* correct()
      else {
        const edit = Plans.makeEdit(random, plan, now)
        trail.push("edit")
        yield* commitEdit(edit)
      }
      yield* assertTold()
    }
    if (closes.length > 0) yield* correct()
    yield* laws?.ended(ledger(), 5) ?? Effect.void
    // What comes to a place that had nothing is late at that place alone.
    if (!isOneRule && closes.length > 0 && laws === undefined) {
      const page = Array.from({ length: 12 }, (_, at): Oracle.Work => {
        const begin = startOf(901 + at % 2, from + random.between(0, 60)) + random.pick([0, -1, 3_600_000])
        const [one] = made.punches
        return {
          ...one ?? assert.fail("no punch"),
          id: 9001 + at,
          place: 901 + at % 2,
          from: begin,
          to: begin + 7_200_000,
          breaks: [],
          isDeleted: false,
          isMissing: false
        }
      })
      trail.push("late at 901 and 902")
      yield* commitEdit({ page, isWhole: false })
      yield* assertTold()
    }
    counts.plans++
  }
)

/** Runs the plans of some seeds, and says what they did. Of `enough` plans each planted defect is found by one. */
export const itComparesStates = (file: string, seeds: () => Iterable<number>, enough = 40) =>
  describe("Random calendars, holes, gaps and mistakes", () => {
    it.live("are drawn, closed and paid as a second computation has them, which finds planted defects", () => {
      const counts = makeCounts()
      const finds = new Map(Object.keys(States.defects).map((defect) => [defect, 0]))
      return Effect.gen(function*() {
        for (const seed of seeds()) {
          const found = new Set<string>()
          yield* Effect.scoped(Effect.flatMap(
            openHistory(NodeSqlite.layer({ filename: ":memory:" })),
            (copy) => runPlan(seed, copy, counts, found)
          )).pipe(
            Effect.catchCause((cause) =>
              Effect.die(new Error(reportOf(file, seed, Cause.pretty(cause), "states of closes")))
            )
          )
          for (const defect of found) finds.set(defect, (finds.get(defect) ?? 0) + 1)
        }
        process.stdout.write(
          `${Object.entries(counts).map(([name, count]) => `${name} ${count}`).join(", ")}, wrong 0\n${
            [...finds].map(([defect, plans]) => `  ${plans} of ${counts.plans}: ${defect}\n`).join("")
          }`
        )
        assert.isAbove(counts.plans, 0)
        if (!isReplay && counts.plans >= enough) {
          assert.isAbove(Math.min(...Object.values(counts)), 0)
          assert.deepStrictEqual([...finds].filter(([, plans]) => plans === 0), [])
        }
      })
    }, 600_000)
  })
