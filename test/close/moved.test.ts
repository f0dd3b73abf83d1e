/** `due` and `correct` look at closes whose punches moved alone: random records have the same with and without that. */
import { assert, describe } from "@effect/vitest"
import { DateTime, Duration, Effect, Option, Result } from "effect"
import { Close, CloseNumber } from "../../src/close/index.ts"
import { activeRevisions } from "../../src/close/Revision.ts"
import { BusinessDate, CompanyId, LocationId, TimePunchId, UserId } from "../../src/Ids.ts"
import type * as Period from "../../src/payroll/Period.ts"
import { PunchCopy } from "../../src/sql/index.ts"
import { type Prng, prng } from "../../src/testing/base/prng.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { shift as shiftOf } from "../support/arbitraryPunch.ts"
import { databases, itWithDatabase } from "../support/databases.ts"
import { commit, type OpenHistory, openHistory } from "../support/histories.ts"
import { seedsFrom, within } from "../support/series.ts"

const company = CompanyId.make(2)
const hour = 3_600_000
const day = 24 * hour
const monday = Date.parse("2026-03-02T00:00:00Z")
const dateOf = (at: number) => BusinessDate.make(new Date(monday + at * day).toISOString().slice(0, 10))
const zone = (name: string, dayStarts: Duration.Input = 0): Period.DayRule => ({
  zone: DateTime.zoneMakeNamedUnsafe(name),
  dayStarts
})

const shift = (id: number, at: number, hours: number, place: number, changes: Partial<TimePunch> = {}): TimePunch =>
  shiftOf(new Date(monday + at).toISOString(), hours, {
    id: TimePunchId.make(id),
    userId: UserId.make(501 + id % 3),
    locationId: LocationId.make(place),
    ...changes
  })

/** Another clock for one of the locations is refused at an edge, or moves it. */
const rules = (random: Prng) =>
  new Map([301, 302, 303, 304].map((place, at) =>
    [
      LocationId.make(place),
      [
        zone("America/New_York", random.chance(0.1) ? "4 hours" : 0),
        zone("Pacific/Kiritimati"),
        zone("America/New_York", "-2 hours"),
        zone("Europe/Berlin")
      ][at] ?? assert.fail("a rule")
    ] as const
  ))

/** What a call gives or is refused with, once as it is, and once of revisions by other rules: each of those is summed again. */
const bothOf = Effect.fnUntraced(function*<A, E extends { readonly message: string }>(
  { query }: OpenHistory,
  call: Effect.Effect<A, E>
) {
  const looked = yield* Effect.result(call)
  yield* query("UPDATE time_punches_close_state SET rules = rules + 1")
  const summed = yield* Effect.result(call)
  yield* query("UPDATE time_punches_close_state SET rules = rules - 1")
  return [looked, summed].map(Result.mapError(({ message }) => message))
})

const assertSame = Effect.fnUntraced(function*(copy: OpenHistory, random: Prng, hint: string) {
  const dayRules = random.chance(0.5) ? rules(random) : undefined
  const [due, dueSummed] = yield* bothOf(copy, copy.run(Close.due(company, { dayRules })))
  assert.deepStrictEqual(due, dueSummed, `${hint}: due`)
  if (random.chance(0.7)) return
  const closes = random.chance(0.3) ? [CloseNumber.make(random.between(1, 3))] : undefined
  const rehearse = Close.rehearse(company, { closes, dayRules, accept: ["rules", "gap"] })
  const [corrected, correctedSummed] = yield* bothOf(copy, copy.run(rehearse))
  assert.deepStrictEqual(corrected, correctedSummed, `${hint}: correct`)
})

const runPlan = Effect.fnUntraced(function*(copy: OpenHistory, seed: number, counts: Record<string, number>) {
  const random = prng(seed)
  const now = new Map<number, TimePunch>()
  const length = random.pick([7, 7, 3, 10])
  const terms = {
    rounding: "halfUp" as const,
    firstDay: random.pick<Period.Weekday>(["monday", "thursday", "sunday"]),
    weeklyThreshold: random.chance(0.6) ? Duration.hours(random.pick([8, 40])) : undefined,
    dailyThreshold: random.chance(0.4) ? Duration.hours(6) : undefined,
    seventhDay: random.chance(0.4) ? Duration.hours(2) : undefined
  }
  const counted = (name: string, result: Result.Result<unknown, { readonly _tag: string }>) => {
    const key = Result.isSuccess(result) ? name : `${name} ${result.failure._tag}`
    counts[key] = (counts[key] ?? 0) + 1
  }
  /** Most often beside an edge of a period, at a location that each close has; now and then at one that opens. */
  const drawn = (id: number): TimePunch => {
    const place = random.chance(0.03) ? 304 : random.between(301, 303)
    // Where the days of the location begin.
    const offset = { 301: 5, 302: -14, 303: 3, 304: -1 }[place] ?? 0
    const edge = random.between(0, 4) * length * day + offset * hour
    const at = random.chance(0.6)
      ? edge + random.pick([1, 1, 24]) * (random.between(-3, 3) * hour + random.between(-1, 1))
      : random.between(-3, 4 * length + 2) * day + random.between(0, 23) * hour
    return shift(id, at, random.between(0, 9), place, {
      deleted: random.chance(0.1)
    })
  }
  const edit = Effect.fnUntraced(function*(ids: ReadonlyArray<number>) {
    const isWhole = random.chance(0.1)
    const page = ids.map((id): TimePunch => {
      const known = now.get(id)
      if (known === undefined || random.chance(0.5)) return drawn(id)
      const moved = DateTime.add(known.clockedIn, { hours: random.pick([-26, -7, -1, 1, 5, 24, 7 * 24]) })
      return random.pick<TimePunch>([
        { ...known, clockedIn: moved, clockedOut: Option.some(DateTime.add(moved, { hours: 4 })) },
        { ...known, locationId: LocationId.make(random.chance(0.1) ? 304 : random.between(301, 303)) },
        { ...known, deleted: !known.deleted },
        { ...known, userId: UserId.make(random.between(501, 503)) },
        known
      ])
    })
    if (isWhole) now.clear()
    for (const punch of page) now.set(punch.id, punch)
    yield* commit(copy.kept, company, page, isWhole)
  })
  const accept = ["stale", "gap", "empty", "edge", "open", "overlap", "tooLong", "anomaly", "zeroWage"] as const
  const close = Effect.fnUntraced(function*(period: number) {
    const given = rules(random)
    if (random.chance(0.7)) given.delete(LocationId.make(304))
    const [first, last] = [dateOf(period * length), dateOf((period + 1) * length - 1)]
    const dayRule = random.chance(0.15) ? zone("America/New_York") : given
    const options = { ...terms, first, last, dayRule, accept: [...accept] }
    counted("create", yield* Effect.result(copy.run(Close.create(company, options))))
  })

  yield* edit(Array.from({ length: 30 }, (_, at) => at + 1))
  for (let period = 0; period < 3; period++) yield* close(period)
  for (let step = 0; step < 24; step++) {
    const kind = random.between(0, 19)
    if (kind < 2) yield* close(random.between(0, 3))
    else if (kind < 3) {
      const closes = random.chance(0.5) ? [CloseNumber.make(random.between(1, 3))] : undefined
      const options = { closes, dayRules: rules(random), accept: ["gap"] as const }
      counted("correct", yield* Effect.result(copy.run(Close.correct(company, options))))
    } else if (kind < 5) {
      const read = yield* copy.run(Close.list(company))
      const names = read.flatMap(({ revisions }) => activeRevisions(revisions).slice(-1).map(({ id }) => id))
      const revision = names[random.between(0, names.length - 1)] ?? "1.1"
      counted("void", yield* Effect.result(copy.run(Close.voidRevision(company, { revision, note: "not sent" }))))
    } else if (kind < 6) {
      yield* copy.run(PunchCopy.pruneHistory(company, { before: DateTime.makeUnsafe("2999-01-01") }))
    } else yield* edit([random.between(1, 34)])
    yield* assertSame(copy, random, `seed ${seed}: step ${step}`)
  }
})

for (const [at, database] of databases().entries()) {
  const itWithClient = itWithDatabase(database, Effect.succeed)
  const itWithCopy = itWithDatabase(database, openHistory)

  describe(`What moved in ${database.name}`, () => {
    itWithClient("leaves due and correct as they are without it", (client) =>
      Effect.gen(function*() {
        const counts: Record<string, number> = {}
        for (const seed of within("3 seconds", seedsFrom(41_000 + 5000 * at, 4000))) {
          yield* Effect.scoped(Effect.flatMap(openHistory(client), (copy) => runPlan(copy, seed, counts)))
          counts["plans"] = (counts["plans"] ?? 0) + 1
        }
        process.stdout.write(`${database.name}: ${JSON.stringify(counts)}\n`)
        assert.isAbove(counts["plans"] ?? 0, 0)
      }))

    const closed = Effect.fnUntraced(function*(copy: OpenHistory) {
      yield* commit(copy.kept, company, [shift(1, day, 4, 301), shift(2, 2 * day, 4, 301)])
      const week = { first: dateOf(0), last: dateOf(6), dayRule: zone("America/New_York"), rounding: "halfUp" as const }
      yield* copy.run(Close.create(company, { ...week, accept: ["stale"] }))
    })
    const hoursDue = ({ run }: OpenHistory) =>
      Effect.map(
        run(Close.due(company, {})),
        (due) => due.flatMap(({ difference }) => difference.rows.map(({ net }) => Duration.toHours(net)))
      )

    itWithCopy(
      "sums a close again whose history was pruned after a punch was moved out of it",
      (copy) =>
        Effect.gen(function*() {
          yield* closed(copy)
          yield* commit(copy.kept, company, [shift(1, 30 * day, 4, 301)])
          yield* copy.run(PunchCopy.pruneHistory(company, { before: DateTime.makeUnsafe("2999-01-01") }))
          assert.deepStrictEqual(yield* hoursDue(copy), [-4])
        })
    )

    itWithCopy(
      "sums a close again beside whose days a location lies that no later close has any more",
      (copy) =>
        Effect.gen(function*() {
          const place = LocationId.make(304)
          const week = (at: number) => ({
            first: dateOf(7 * at),
            last: dateOf(7 * at + 6),
            dayRule: new Map([[LocationId.make(301), zone("America/New_York")]]),
            rounding: "halfUp" as const,
            accept: ["stale", "gap"] as const
          })
          yield* commit(copy.kept, company, [shift(1, day, 4, 301), shift(2, 8 * day, 4, 301)])
          yield* copy.run(Close.create(company, week(1)))
          yield* commit(copy.kept, company, [shift(3, 7 * day + 14 * hour, 4, 304)])
          yield* copy.run(Close.correct(company, { dayRules: new Map([[place, zone("America/New_York")]]) }))
          yield* copy.run(Close.create(company, week(0)))
          assert.deepStrictEqual(yield* copy.run(Close.due(company, {})), [])
          yield* copy.run(Close.voidRevision(company, { revision: "1.2", note: "not sent" }))
          const error = yield* Effect.flip(copy.run(Close.due(company, { closes: [CloseNumber.make(2)] })))
          assert.deepInclude(error, { _tag: "MissingDayRule", locationId: place })
        })
    )

    itWithCopy(
      "sums no close again of which no commit changed a punch: verify finds what was edited by hand",
      (copy) =>
        Effect.gen(function*() {
          yield* closed(copy)
          yield* copy.query("UPDATE time_punches SET hourly_wage = hourly_wage + 100 WHERE id = 1")
          assert.deepStrictEqual(yield* hoursDue(copy), [])
          assert.strictEqual((yield* Effect.flip(copy.run(Close.verify(company))))._tag, "VerificationFailed")
          // A punch of the next week changes nothing, and one of the close is summed with what was edited.
          yield* commit(copy.kept, company, [shift(3, 8 * day, 4, 301)])
          assert.deepStrictEqual(yield* hoursDue(copy), [])
          yield* commit(copy.kept, company, [shift(2, 2 * day, 5, 301)])
          assert.deepStrictEqual(yield* hoursDue(copy), [-4, 4, 1])
        })
    )
  })
}
