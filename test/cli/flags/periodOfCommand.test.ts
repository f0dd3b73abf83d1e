import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { defaultCompany, FakeService, Fault, generatePunches, toWire } from "../../../src/testing/index.ts"
import { cli, linesOf, queries, read, temporaryFolder } from "../support.ts"

const [sample] = generatePunches({ seed: 1, count: 1, companyId: defaultCompany.id, deletedShare: 0 })

const hour = 3_600_000

const isoOf = (millis: number) => DateTime.formatIso(DateTime.makeUnsafe(millis)).replace(".000Z", "Z")

/** A punch of ten hours at each half hour, over both changes of the clocks in spring. */
const punches = Array.from({ length: 48 * 40 }, (_, at) => {
  const clockedIn = Date.UTC(2026, 2, 1) + (at * hour) / 2
  return sample === undefined ? [] : [{
    ...toWire(sample),
    id: at + 1,
    clocked_in: isoOf(clockedIn),
    clocked_out: isoOf(clockedIn + 10 * hour),
    breaks: [],
    hourly_wage: 1000,
    tips: 1
  }]
}).flat()

const fake = FakeService.layer({ punches })

/** The ids of the punches whose clock-in shows one of these dates on a wall clock of the zone, by another calendar. */
const idsAt = (zone: string, first: string, last: string) => {
  const wall = new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short" })
  return punches.filter((punch) => {
    const date = wall.format(Date.parse(punch.clocked_in))
    return date >= first && date <= last
  }).map(({ id }) => id)
}

const idsIn = (ndjson: string) => linesOf(ndjson).map((line): number => JSON.parse(line).id)

const periods: ReadonlyArray<readonly [call: string, zone: string, first: string, last: string]> = [
  ["--week 2026-03-08", "America/New_York", "2026-03-02", "2026-03-08"],
  ["--week 2026-03-08 --week-starts sunday", "America/New_York", "2026-03-08", "2026-03-14"],
  ["--week 2026-03-29", "Europe/Berlin", "2026-03-23", "2026-03-29"],
  ["--month 2026-03", "Asia/Kolkata", "2026-03-01", "2026-03-31"],
  ["--last 7d", "Australia/Lord_Howe", "2026-03-05", "2026-03-11"],
  ["--from 2026-03-29 --to 2026-04-05", "Australia/Lord_Howe", "2026-03-29", "2026-04-05"]
]

const atNoon = TestClock.setTime(Date.parse("2026-03-11T12:00:00Z"))

describe("a period of the command", () => {
  it.effect.each(periods)(
    "has what was clocked in on its local dates: %s in %s",
    ([call, zone, first, last]) =>
      Effect.gen(function*() {
        yield* atNoon
        const expected = idsAt(zone, first, last)
        const flags = [...call.split(" "), "--zone", zone]
        const output = `${yield* temporaryFolder}/punches`
        const listed = yield* cli(["list", "--format", "ndjson", ...flags])
        const exported = yield* cli(["export", "--output", output, ...flags])
        const summed = yield* cli(["summary", "--by", "day", ...flags])

        assert.deepStrictEqual([listed.code, exported.code, summed.code], [0, 0, 0])
        assert.isAbove(expected.length, 47 * 7)
        assert.deepStrictEqual(idsIn(listed.stdout), expected)
        assert.strictEqual(read(output), listed.stdout)
        // The days of the summary are those of the period: each punch is in it whole, also one that ends on a later date.
        const days = linesOf(summed.stdout).slice(1, -1).map((line) => line.split(" ")[0])
        assert.deepStrictEqual([days[0], days.at(-1)], [first, last])
        const [count, hours] = [expected.length, expected.length * 10].map((value) => value.toLocaleString("en-US"))
        assert.match(linesOf(summed.stdout).at(-1) ?? "", new RegExp(`^total +${count} +0 +${hours}:00 `))
      }).pipe(Effect.scoped, Effect.provide(fake))
  )

  it.effect.each(["list", "summary", "export --output punches"])(
    "of %s is refused without a request",
    (call) =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* cli([...call.split(" "), "--week", "2026-03-09"])

        assert.deepStrictEqual([code, stdout], [2, ""])
        assert.match(stderr, /^time-punches: --week has no zone: .*\n {2}Add --zone, such as --zone America\/New_York/)
        assert.deepStrictEqual(yield* queries, [])
      }).pipe(Effect.provide(fake))
  )

  it.effect.each<readonly [call: string, hint: string]>([
    ["--week 2026-03-04", "--week 2026-03-04: 2026-03-02 to 2026-03-08\n"],
    ["--week 2026-03-04 --quiet", ""],
    ["--week 2026-03-02", ""],
    ["--week 2026-03-01 --week-starts sunday", ""],
    ["--week 2026-03-01", "--week 2026-03-01: 2026-02-23 to 2026-03-01\n"],
    ["--pay-period 2026-03-04 --calendar 1,16", "--pay-period 2026-03-04: 2026-03-01 to 2026-03-15\n"],
    ["--pay-period 2026-03-16 --calendar 1,16", ""],
    ["--month 2026-03", ""],
    ["--from 2026-03-02 --to 2026-03-08", ""]
  ])("says its dates unless its first one was typed: %s", ([call, hint]) =>
    Effect.gen(function*() {
      const { code, stderr } = yield* cli(["summary", ...call.split(" "), "--zone", "UTC"])

      assert.deepStrictEqual([code, stderr], [0, hint])
    }).pipe(Effect.provide(fake)))

  it.effect("of an export must be one, where a zone is given: the file has UTC", () =>
    Effect.gen(function*() {
      const window = ["--clocked-in-gte", "2026-03-09T00:00:00Z"]
      const { code, stderr } = yield* cli(["export", "--output", "punches", "--zone", "UTC", ...window])

      assert.strictEqual(code, 2)
      assert.match(stderr, /--zone goes with a period/)
    }).pipe(Effect.provide(fake)))

  it.effect("lets --last of a list resume on another day, by its window", () =>
    Effect.gen(function*() {
      yield* atNoon
      const service = yield* FakeService
      yield* service.inject(Fault.status(404), { requests: 2, times: 1 })
      const call = ["list", "--format", "ndjson", "--page-size", "100"]
      const broken = yield* cli([...call, "--last", "7d", "--zone", "UTC"])
      const [, from = ""] = /--cursor='([^']+)'/.exec(broken.stderr) ?? []
      const [, window = ""] = /replace --last by (.*)\n/.exec(broken.stderr) ?? []
      yield* TestClock.adjust("2 days")
      const rest = yield* cli([...call, `--cursor=${from}`, ...window.split(" ")])

      assert.deepStrictEqual([broken.code, rest.code], [7, 0])
      assert.include(broken.stderr, "--last 7d: 2026-03-05 to 2026-03-11\n")
      assert.deepStrictEqual(idsIn(broken.stdout + rest.stdout), idsAt("UTC", "2026-03-05", "2026-03-11"))
    }).pipe(Effect.provide(fake)))
})

describe("an unfinished export of --last", () => {
  const begunWith = Effect.fnUntraced(function*(...period: ReadonlyArray<string>) {
    yield* atNoon
    const output = `${yield* temporaryFolder}/punches`
    const service = yield* FakeService
    yield* service.inject(Fault.status(404), { requests: 3, times: 1 })
    const call = ["export", "--page-size", "100", "--output", output]
    const first = yield* cli([...call, ...period, "--zone", "UTC"])
    assert.deepStrictEqual([first.code, linesOf(read(`${output}.part`)).length], [7, 200])
    return { call, first, output }
  })

  const begun = begunWith("--last", "7d")

  const expected = idsAt("UTC", "2026-03-05", "2026-03-11")

  it.effect("resumes on the same day, also as another flag for the same window", () =>
    Effect.gen(function*() {
      const { call, output } = yield* begun
      yield* TestClock.adjust("11 hours")
      const ran = yield* cli([...call, "--from", "2026-03-05", "--to", "2026-03-11", "--zone", "UTC"])

      assert.strictEqual(ran.code, 0)
      assert.match(ran.stderr, /^resuming after 200 punches/)
      assert.deepStrictEqual(idsIn(read(output)), expected)
    }).pipe(Effect.scoped, Effect.provide(fake)))

  it.effect("of a month by a word resumes with its date, and is refused with the word in another month", () =>
    Effect.gen(function*() {
      const { call, first, output } = yield* begunWith("--month", "current")
      yield* TestClock.adjust("30 days")
      const refused = yield* cli([...call, "--month", "current", "--zone", "UTC"])
      const resumed = yield* cli([...call, "--month", "2026-03", "--zone", "UTC"])

      assert.match(first.stderr, /^--month current: 2026-03-01 to 2026-03-31\n/)
      assert.strictEqual(refused.code, 2)
      assert.deepStrictEqual([resumed.code, resumed.stderr.startsWith("resuming after 200 punches")], [0, true])
      assert.deepStrictEqual(
        idsIn(read(output)),
        idsAt("UTC", "2026-03-01", "2026-03-31")
      )
    }).pipe(Effect.scoped, Effect.provide(fake)))

  it.effect("is refused on another day, keeps its rows, and resumes with the window that is named", () =>
    Effect.gen(function*() {
      const { call, output } = yield* begun
      const part = read(`${output}.part`)
      yield* TestClock.adjust("12 hours")
      const refused = yield* cli([...call, "--last", "7d", "--zone", "UTC"])
      const left = read(`${output}.part`)
      const [, window = ""] = /Its window, in place of a period: (.*)\n/.exec(refused.stderr) ?? []
      const resumed = yield* cli([...call, ...window.split(" ")])

      assert.strictEqual(refused.code, 2)
      assert.include(refused.stderr, "--clocked-in-lt 2026-03-12T00:00:00Z, now 2026-03-13T00:00:00Z")
      assert.strictEqual(left, part)
      assert.strictEqual(resumed.code, 0)
      assert.match(resumed.stderr, /^resuming after 200 punches/)
      assert.deepStrictEqual(idsIn(read(output)), expected)
    }).pipe(Effect.scoped, Effect.provide(fake)))
})
