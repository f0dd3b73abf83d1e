/** What a run says on standard error: its retries, its flags and its events; in a pipe, and in a real terminal. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Schema } from "effect"
import { displayWidth } from "effect/cli/CliOutput"
import * as ChildProcess from "node:child_process"
import { formatElapsed } from "../../../src/cli/print/format.ts"
import { eraseLine, liveText, retryText } from "../../../src/cli/print/messages.ts"
import { nothingSeen, positionOf, progressFields, progressText, seenAfter } from "../../../src/cli/print/progress.ts"
import { FakeServer } from "../../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, Fault, generatePunches } from "../../../src/testing/index.ts"
import { punch } from "../../support/arbitraryPunch.ts"
import { needs } from "../../support/needs.ts"
import { commandOf, environmentOf, start } from "../child.ts"
import { cli, linesOf, queries, subcommands, temporaryFolder } from "../support.ts"

const notice = { what: "page", reason: "503", delay: 1000, attempt: 2, attempts: 4 } as const

const at = (text: string) => DateTime.toUtc(DateTime.makeUnsafe(text))

const clockedIn = (...texts: ReadonlyArray<string>) => texts.map((text) => punch({ clockedIn: at(text) }))

describe("the text of a time", () => {
  it.each([
    [0, "0.1 s"],
    [250, "0.3 s"],
    [949, "0.9 s"],
    [950, "1 s"],
    [8_400, "8 s"],
    [59_500, "1 min 0 s"],
    [125_000, "2 min 5 s"],
    [4_320_000, "1 h 12 min"]
  ])("of %d ms is %s", (millis, text) => {
    assert.strictEqual(formatElapsed(millis), text)
  })
})

describe("the line of a retry", () => {
  it.each([
    [notice, "503, retrying in 1 s (2nd of 4)"],
    [{ ...notice, attempt: 3, delay: 250 }, "503, retrying in 0.3 s (3rd of 4)"],
    [{ ...notice, what: "token" as const, reason: "ECONNRESET" }, "token: ECONNRESET, retrying in 1 s (2nd of 4)"],
    [{ ...notice, attempt: 11, attempts: 22 }, "503, retrying in 1 s (11th of 22)"],
    [{ ...notice, attempt: 21, attempts: 22 }, "503, retrying in 1 s (21st of 22)"]
  ])("of %j is %s", (given, text) => {
    assert.strictEqual(retryText(given), text)
  })

  it("stands before the progress, and is cut to less than the width of the terminal", () => {
    const progress = "12,400 punches, reached 2026-03-05 (43 %), 8 s, 1,550/s"
    const live = { retry: retryText(notice), progress }

    assert.strictEqual(liveText(live, Infinity), `503, retrying in 1 s (2nd of 4); ${progress}`)
    assert.strictEqual(liveText({ retry: "", progress }, 80), progress)
    assert.strictEqual(displayWidth(liveText(live, 80)), 79)
    assert.match(liveText(live, 80), /^503, retrying in 1 s \(2nd of 4\); 12,400 .*…$/)
  })
})

describe("a message", () => {
  it.effect("shows what a terminal would obey as its code, also in a text of the parser", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* cli(["list", "--last", "7d\u202e"])

      assert.strictEqual(code, 2)
      assert.include(stderr, "7d\\u202e")
      assert.notInclude(stderr, "\u202e")
    }).pipe(Effect.provide(FakeService.layer({ punches: [] }))))
})

describe("the position of a listing", () => {
  const march = { clockedIn: { gte: at("2026-03-01T00:00:00Z"), lt: at("2026-03-11T00:00:00Z") }, zone: Option.none() }
  const state = { totals: { pages: 62, punches: 12_400 }, received: 12_400, elapsed: 8000 }

  it("is the date reached and its share of the window", () => {
    const seen = seenAfter(nothingSeen, clockedIn("2026-03-01T09:00:00Z", "2026-03-05T07:12:00Z"))
    const position = positionOf(seen, march)

    assert.deepStrictEqual(position, Option.some({ reached: "2026-03-05", share: 0.43 }))
    assert.strictEqual(
      progressText({ ...state, position }),
      "12,400 punches, reached 2026-03-05 (43 %), 8 s, 1,550/s"
    )
    assert.deepStrictEqual(progressFields({ ...state, position }), {
      pages: 62,
      punches: 12_400,
      reached: "2026-03-05",
      share: 0.43,
      elapsedSeconds: 8,
      perSecond: 1550
    })
  })

  it("goes backwards if the latest come first, and its date is that of the zone", () => {
    const seen = seenAfter(nothingSeen, clockedIn("2026-03-10T12:00:00Z", "2026-03-09T01:00:00Z"))
    const zone = DateTime.zoneFromString("America/New_York")

    assert.deepStrictEqual(
      Option.map(positionOf(seen, { ...march, zone }), ({ reached, share }) => [reached, Math.round(share * 100)]),
      Option.some(["2026-03-08", 20])
    )
  })

  it.each([
    ["rows that are not in order", clockedIn("2026-03-01T09:00:00Z", "2026-03-05T09:00:00Z", "2026-03-02T09:00:00Z")],
    ["rows whose order is not known yet", clockedIn("2026-03-01T09:00:00Z", "2026-03-01T09:00:00Z")],
    ["no row", []]
  ])("is left out for %s", (_, rows) => {
    const position = positionOf(seenAfter(nothingSeen, rows), march)

    assert.deepStrictEqual(position, Option.none())
    assert.strictEqual(progressText({ ...state, position }), "12,400 punches, 8 s, 1,550/s")
  })

  it("is left out for good after one page out of order", () => {
    const first = seenAfter(nothingSeen, clockedIn("2026-03-01T09:00:00Z", "2026-03-05T09:00:00Z"))
    const second = seenAfter(first, clockedIn("2026-03-04T09:00:00Z"))
    const third = seenAfter(second, clockedIn("2026-03-06T09:00:00Z"))

    assert.isTrue(Option.isSome(positionOf(first, march)))
    assert.isTrue(Option.isNone(positionOf(third, march)))
  })

  it("is left out for a window with one end", () => {
    const seen = seenAfter(nothingSeen, clockedIn("2026-03-01T09:00:00Z", "2026-03-05T09:00:00Z"))

    assert.isTrue(Option.isNone(positionOf(seen, { ...march, clockedIn: { gte: at("2026-03-01T00:00:00Z") } })))
  })

  it("has no rate within the first second", () => {
    assert.strictEqual(progressText({ ...state, elapsed: 999, position: Option.none() }), "12,400 punches")
  })
})

const Event = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json))

/** Each line of standard error, which must be JSON. */
const eventsOf = (stderr: string) => linesOf(stderr).map((line) => Schema.decodeUnknownSync(Event)(line))

const three = generatePunches({ seed: 4, count: 3, companyId: defaultCompany.id, deletedShare: 0 })

const fake = FakeService.layer({ punches: three })

const week = ["--from", "2026-01-01", "--to", "2026-12-31", "--zone", "UTC"]

const failOnce = FakeService.use((service) => service.inject(Fault.retryAfter("1", 503), { times: 1, target: "page" }))

describe("standard error", () => {
  it.live("of --quiet has no retry and no hint, and keeps errors and warnings", () =>
    Effect.gen(function*() {
      yield* failOnce
      const list = yield* cli(["list", "--format", "ndjson", "--quiet"])
      const none = yield* cli(["-q", "summary", ...week, "--user-id", "1"])
      const word = yield* cli(["summary", "--week", "last", "--zone", "UTC", "--user-id", "1", "-q"])
      yield* FakeService.use((service) => service.inject(Fault.status(403)))
      const failed = yield* cli(["list", "-q"])

      assert.deepStrictEqual([list.code, list.stderr], [0, ""])
      assert.lengthOf(linesOf(list.stdout), 3)
      assert.deepStrictEqual([none.stderr, word.stderr], ["no punch matches\n", "no punch matches\n"])
      assert.strictEqual(failed.code, 5)
      assert.match(failed.stderr, /^time-punches: .+\n( {2}.+\n)+$/)
    }).pipe(Effect.provide(fake)))

  it.live("has the hints without --quiet", () =>
    Effect.gen(function*() {
      const { stderr } = yield* cli(["summary", "--week", "last", "--zone", "UTC", "--user-id", "1"])

      assert.match(stderr, /^--week last: \S+ to \S+\nno punch matches\n$/)
    }).pipe(Effect.provide(fake)))

  it.live("of --log-format json is one object a line: retries, remarks, hints and the error", () =>
    Effect.gen(function*() {
      yield* failOnce
      const { code, stderr } = yield* cli([
        "summary",
        "--week",
        "last",
        "--zone",
        "UTC",
        "--user-id",
        "1",
        "--log-format=json"
      ])
      yield* FakeService.use((service) => service.inject(Fault.status(403)))
      const failed = yield* cli(["--log-format", "json", "list"], { terminal: true, colour: true })
      const usage = yield* cli(["list", "--page-size", "0", "--log-format", "json"])
      const minus = yield* cli(["-5h", "--log-format", "json"])
      const events = eventsOf(stderr)
      const [error] = eventsOf(failed.stderr)

      assert.strictEqual(code, 0)
      assert.deepStrictEqual(events.map(({ event, level }) => [event, level]), [
        ["hint", "INFO"],
        ["retry", "WARN"],
        ["remark", "INFO"]
      ])
      assert.deepInclude(events[1], {
        message: "503, retrying in 1 s (2nd of 4)",
        what: "page",
        reason: "503",
        attempt: 2,
        attempts: 4,
        waitSeconds: 1
      })
      for (const { timestamp } of events) assert.match(`${timestamp}`, /^\d{4}-.*Z$/)
      assert.lengthOf(linesOf(failed.stderr), 1)
      assert.deepInclude(error, { level: "ERROR", event: "error", code: 5 })
      assert.match(`${error?.["message"]}`, /^403 the credential may not do this/)
      assert.isTrue(Array.isArray(error?.["advice"]))
      for (const [ran, name] of [[usage, "--page-size"], [minus, "-5h"]] as const) {
        const [event, ...others] = eventsOf(ran.stderr)
        assert.deepStrictEqual([ran.code, event?.["event"], event?.["code"], others], [2, "error", 2, []])
        assert.include(`${event?.["message"]}`, name)
      }
    }).pipe(Effect.provide(fake)))

  it.effect.each(
    [
      [["-q", "-v"], "--quiet and --verbose are opposites"],
      [["--quiet", "--verbose"], "--quiet and --verbose are opposites"],
      [["-q", "--quiet"], "--quiet is given twice"],
      [["-v", "-v"], "--verbose is given twice"],
      [["--log-format", "xml"], "--log-format needs lines or json, and not xml"],
      [["--log-format"], "--log-format needs lines or json"],
      [["--log-format="], "--log-format needs lines or json"],
      [["--log-format", "json", "--log-format", "lines"], "--log-format is given twice"]
    ] as const
  )("refuses %j before anything is sent", ([flags, message]) =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* cli(["list", ...flags])

      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.include(stderr, message)
      assert.deepStrictEqual(yield* queries, [])
    }).pipe(Effect.provide(fake)))

  it.effect("has its flags in the help of the command, to which every other help refers", () =>
    Effect.gen(function*() {
      for (const name of subcommands) {
        const { code, stdout } = yield* cli([...name.split(" "), "--help"])
        assert.deepStrictEqual([code, stdout.includes("Flags of every command: time-punches --help")], [0, true], name)
        assert.notInclude(stdout, "--quiet", name)
      }
      const { stdout } = yield* cli(["--help"])
      assert.match(stdout, /--quiet, -q/)
      assert.match(stdout, /--verbose, -v/)
      assert.match(stdout, /--log-format lines\|json/)
      assert.notMatch(stdout, /--version, -v/)
    }).pipe(Effect.provide(fake)))
})

const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({
  punches: generatePunches({ seed: 9, count: 600, companyId: defaultCompany.id, deletedShare: 0 })
})))

const hasScript = ChildProcess.spawnSync("script", ["--version"]).status === 0

const needed = "script of util-linux, which opens a terminal"

/** Runs a call in a terminal of 80 columns, and returns all that it writes. */
const inTerminal = Effect.fnUntraced(function*(args: ReadonlyArray<string>) {
  const { url } = yield* FakeServer
  const call = [process.execPath, ...commandOf(args)].map((arg) => `'${arg}'`).join(" ")
  return yield* Effect.promise(() =>
    new Promise<string>((resolve) => {
      const child = ChildProcess.spawn("script", ["-qec", `stty cols 80 rows 50; ${call}`, "/dev/null"], {
        env: { ...environmentOf(url), TERM: "xterm", NO_COLOR: "1" },
        stdio: ["ignore", "pipe", "ignore"]
      })
      let text = ""
      child.stdout.setEncoding("utf8").on("data", (part: string) => (text += part))
      child.on("close", () => resolve(text.replaceAll("\r\n", "\n")))
    })
  )
})

/** What stands on each line at the end: what was written after it was erased for the last time. */
const linesLeft = (output: string) => output.split("\n").map((line) => line.split(eraseLine).at(-1) ?? "")

const timeout = 60_000

describe("the process", () => {
  const run = Effect.fnUntraced(function*(args: ReadonlyArray<string>) {
    const { url } = yield* FakeServer
    const { ended } = start(args, environmentOf(url))
    return yield* Effect.promise(() => ended)
  })

  const failPage = FakeService.use((service) =>
    service.inject(Fault.retryAfter("1", 503), { times: 1, target: "page" })
  )

  it.live("writes a line for each retry into a pipe, without a line of the log", () =>
    Effect.gen(function*() {
      yield* failPage
      const { code, stderr, stdout } = yield* run(["summary", ...week])

      assert.strictEqual(code, 0)
      assert.isAbove(linesOf(stdout).length, 1)
      assert.match(stderr, /^503, retrying in 1 s \(2nd of 4\)\n/)
      assert.notMatch(stderr, /level=|next attempt/)
    }).pipe(Effect.scoped, Effect.provide(served)), timeout)

  it.live(
    "writes the log of the library with --verbose, and JSON alone with --log-format json",
    () =>
      Effect.gen(function*() {
        yield* failPage
        const verbose = yield* run(["list", "--limit", "1", "--format", "ndjson", "-v"])
        yield* failPage
        const both = yield* run(["list", "--limit", "1", "--format", "ndjson", "-v", "--log-format", "json"])

        assert.deepStrictEqual([verbose.code, both.code], [0, 0])
        assert.match(verbose.stderr, /level=WARN .*page failed \(503\), next attempt in 1s/)
        assert.notInclude(verbose.stderr, "retrying in")
        assert.isTrue(eventsOf(both.stderr).some(({ message }) => `${message}`.startsWith("page failed (503)")))
      }).pipe(Effect.scoped, Effect.provide(served)),
    timeout
  )

  it.live.each([
    ["summary", ...week],
    ["list", "--limit", "5"],
    ["export", "--output", "FILE", "--page-size", "50"]
  ])("rewrites a retry in a terminal, and leaves nothing of it: %s", (args, context) => {
    needs(context, hasScript, needed)
    return Effect.gen(function*() {
      const folder = yield* temporaryFolder
      yield* failPage
      const output = yield* inTerminal(args.map((arg) => arg === "FILE" ? `${folder}/out.ndjson` : arg))

      assert.include(output, `${eraseLine}503, retrying in 1 s (2nd of 4)`)
      const left = linesLeft(output)
      assert.isTrue(left.every((line) => !line.includes("retrying") && !line.endsWith("/s")), output)
      assert.isAbove(left.filter((line) => line !== "").length, 0)
      const rewritten = output.split(eraseLine).filter((part) => part.includes("retrying"))
      for (const part of rewritten) assert.isBelow(displayWidth(part), 80, part)
    }).pipe(Effect.scoped, Effect.provide(served))
  }, timeout)

  it.live("erases the line before the error in a terminal", (context) => {
    needs(context, hasScript, needed)
    return Effect.gen(function*() {
      yield* FakeService.use((service) => service.inject(Fault.status(500), { target: "page" }))
      const output = yield* inTerminal(["list"])
      const left = linesLeft(output).filter((line) => line !== "")

      assert.include(output, "500, retrying in ")
      assert.match(left[0] ?? "", /^time-punches: /)
      assert.isTrue(left.every((line) => !line.includes("retrying")))
    }).pipe(Effect.scoped, Effect.provide(served))
  }, timeout)
})
