import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Result, Stdio } from "effect"
import { Command } from "effect/cli"
import { describeFilter, filterFlags, type FilterInput } from "../../../src/cli/flags/filter.ts"
import { fixedWindowHint, periodFlags, type PeriodInput, withPeriod } from "../../../src/cli/flags/period.ts"

/** What the flags of a call are parsed to; fails as the command does. */
const parse = Effect.fnUntraced(function*(call: string) {
  const inputs: Array<FilterInput & PeriodInput> = []
  const probe = Command.make(
    "probe",
    { ...filterFlags, ...periodFlags },
    (input) => Effect.sync(() => inputs.push(input))
  )
  yield* Command.runWith(probe, { version: "0", renderErrors: false })(call.split(" ")).pipe(
    Effect.provide(Stdio.layerTest({})),
    Effect.provide(NodeServices.layer)
  )
  const [input] = inputs
  return input === undefined ? yield* Effect.die(new Error("the handler did not run")) : input
})

/** Tuesday in New York, Wednesday in Berlin and UTC. */
const now = DateTime.makeUnsafe("2026-03-11T02:30:00Z")

const windowOf = (call: string) =>
  Effect.flatMap(parse(call), (flags) => Effect.map(Effect.fromResult(withPeriod(flags, now)), describeFilter))

describe("a period", () => {
  it.effect.each(
    [
      // Clocks change on Sunday, 8 March, in New York and on Sunday, 29 March, in Berlin.
      ["--week 2026-03-11 --zone America/New_York", "2026-03-09T04:00:00Z", "2026-03-16T04:00:00Z"],
      ["--week 2026-03-08 --zone America/New_York", "2026-03-02T05:00:00Z", "2026-03-09T04:00:00Z"],
      ["--week 2026-03-08 --zone UTC --week-starts sunday", "2026-03-08T00:00:00Z", "2026-03-15T00:00:00Z"],
      [
        "--week 2026-03-08 --zone America/New_York --week-starts sunday",
        "2026-03-08T05:00:00Z",
        "2026-03-15T04:00:00Z"
      ],
      [
        "--week 2026-03-07 --zone America/New_York --week-starts sunday",
        "2026-03-01T05:00:00Z",
        "2026-03-08T05:00:00Z"
      ],
      ["--month 2026-03 --zone Europe/Berlin", "2026-02-28T23:00:00Z", "2026-03-31T22:00:00Z"],
      ["--month 2024-02 --zone +05:30", "2024-01-31T18:30:00Z", "2024-02-29T18:30:00Z"],
      ["--last 1d --zone America/New_York", "2026-03-10T04:00:00Z", "2026-03-11T04:00:00Z"],
      ["--last 7d --zone America/New_York", "2026-03-04T05:00:00Z", "2026-03-11T04:00:00Z"],
      ["--last 7d --zone Europe/Berlin", "2026-03-04T23:00:00Z", "2026-03-11T23:00:00Z"],
      ["--start 2026-03-29 --end 2026-03-29 --zone Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"],
      ["--start 2026-01-01 --end 2026-01-14 --zone Asia/Tokyo", "2025-12-31T15:00:00Z", "2026-01-14T15:00:00Z"]
    ] as const
  )("of %s is a window from %s to before %s", ([call, gte, lt]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* windowOf(call), { "--clocked-in-gte": gte, "--clocked-in-lt": lt })
    }))

  it.effect("leaves the other filters as they are, and flags without one too", () =>
    Effect.gen(function*() {
      const beside = yield* windowOf("--user-id 5 --modified-since 2026-03-01T00:00:00Z --last 1d --zone UTC")
      const without = yield* windowOf("--user-id 5 --clocked-out-lt 2026-03-01T00:00:00Z --zone UTC")

      assert.deepStrictEqual(beside, {
        "--user-id": "5",
        "--modified-since": "2026-03-01T00:00:00Z",
        "--clocked-in-gte": "2026-03-11T00:00:00Z",
        "--clocked-in-lt": "2026-03-12T00:00:00Z"
      })
      assert.deepStrictEqual(without, { "--user-id": "5", "--clocked-out-lt": "2026-03-01T00:00:00Z" })
    }))

  const kinds = ["--week 2026-03-11", "--month 2026-03", "--last 7d", "--start 2026-03-01 --end 2026-03-02"]

  const flagOf = (call: string) => call.split(" ")[0] ?? ""

  const refusal = (call: string) =>
    Effect.flatMap(parse(call), (flags) => {
      const result = withPeriod(flags, now)
      return Result.isFailure(result)
        ? Effect.succeed(result.failure)
        : Effect.die(new Error(`${call} was accepted`))
    })

  it.effect.each(kinds)("of %s without a zone is refused", (kind) =>
    Effect.gen(function*() {
      const { advice, code, message } = yield* refusal(kind)

      assert.strictEqual(code, 2)
      assert.match(message, new RegExp(`^${flagOf(kind)} has no zone: a local date begins and ends by the clocks`))
      assert.match(advice.join(), /--zone America\/New_York/)
    }))

  const pairs = kinds.flatMap((one, at) => kinds.slice(at + 1).map((other): [string, string] => [one, other]))

  it.effect.each(pairs)("of %s is refused beside %s, and both are named", ([one, other]) =>
    Effect.gen(function*() {
      const { message } = yield* refusal(`${other} ${one} --zone UTC`)

      assert.strictEqual(message, `${flagOf(one)} and ${flagOf(other)} are two periods`)
    }))

  const windows = [
    "--clocked-in-gte 2026-03-01T00:00:00Z",
    "--clocked-in-lt 2026-03-01T00:00:00Z",
    "--clocked-in-lte 2026-03-01T00:00:00Z",
    "--clocked-out-gte 2026-03-01T00:00:00Z",
    "--clocked-out-lt 2026-03-01T00:00:00Z",
    "--business-date-start 2026-03-01",
    "--business-date-end 2026-03-01",
    "--localize-search-time"
  ]

  it.effect.each(kinds.flatMap((kind) => windows.map((window): [string, string] => [kind, window])))(
    "of %s is refused beside %s, and both are named",
    ([kind, window]) =>
      Effect.gen(function*() {
        const { message } = yield* refusal(`${kind} ${window} --zone UTC`)

        assert.include(message, `${flagOf(kind)} and ${flagOf(window)} `)
      })
  )

  it.effect.each(
    [
      ["--start 2026-03-01 --zone UTC", /^--start goes with --end, which is missing/],
      ["--end 2026-03-01 --zone UTC", /^--end goes with --start, which is missing/],
      ["--start 2026-03-02 --end 2026-03-01 --zone UTC", /^--end 2026-03-01 is before --start 2026-03-02/],
      [
        "--month 2026-03 --week-starts sunday --zone UTC",
        /^--week-starts is the first day of --week, which is missing/
      ],
      ["--start 2011-12-30 --end 2011-12-30 --zone Pacific/Apia", /^--start has no instant in Pacific\/Apia/]
    ] as const
  )("of %s is refused", ([call, expected]) =>
    Effect.gen(function*() {
      assert.match((yield* refusal(call)).message, expected)
    }))

  it.effect.each([
    "--week 2026-02-30",
    "--week 2026-W11",
    "--week 2026-03-11T00:00:00Z",
    "--month 2026-13",
    "--month 2026-3",
    "--month 2026-03-01",
    "--last 7",
    "--last 0d",
    "--last 24h",
    "--last 1.5d",
    "--last 367d",
    "--start 01.03.2026",
    "--week-starts Sun",
    "--zone Mars/Olympus"
  ])("is not %s", (call) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(parse(call))

      assert.strictEqual(error._tag, "ShowHelp")
      assert.match(error._tag === "ShowHelp" ? error.errors.join() : "", new RegExp(flagOf(call)))
    }))

  it.effect("names its window only where another day would have another one", () =>
    Effect.gen(function*() {
      const hintOf = (call: string) =>
        Effect.map(
          Effect.flatMap(parse(call), (flags) => Effect.fromResult(withPeriod(flags, now))),
          fixedWindowHint
        )

      assert.deepStrictEqual(yield* hintOf("--week 2026-03-11 --zone UTC"), [])
      assert.deepStrictEqual(yield* hintOf("--last 1d --zone UTC"), [
        "On another day, replace --last by --clocked-in-gte 2026-03-11T00:00:00Z --clocked-in-lt 2026-03-12T00:00:00Z"
      ])
    }))
})
