import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { displayWidth } from "effect/cli/CliOutput"
import * as Fs from "node:fs"
import { eraseLine } from "../../../src/cli/print/messages.ts"
import { FakeService, Fault, type StoredPunch } from "../../../src/testing/index.ts"
import { cli, inFolder, linesOf, queries } from "../support.ts"
import { issuesIn, punch, writeZones } from "./checkSupport.ts"

const days = ["02", "03", "04", "05", "06", "07", "08"]

/** A week of nine persons at three locations, from 09:00 to 17:00 of their clocks. */
const calm = [["301", "14:00"], ["302", "08:00"], ["303", "19:00"]].flatMap(([location, time], place) =>
  [1, 2, 3].flatMap((person) =>
    days.map((day, at) =>
      punch(1000 + place * 100 + person * 10 + at, `2026-03-${day}T${time}:00Z`, 8, {
        user_id: place * 3 + person,
        location_id: Number(location)
      })
    )
  )
)

const thursday = "2026-03-05T14:00:00Z"

/** Each with its person, so that none overlaps another; a number of hours, or no end. */
const alone = (id: number, clockedIn: string, hours: number | null, given: Partial<StoredPunch> = {}) =>
  punch(id, clockedIn, hours, { user_id: 100 + id, ...given })

const unapproved = { approved: false }

/** What a check finds something about, two of them at once at two locations; `checkRandom.test.ts` has what it finds of any punches. */
const troubled = [
  alone(1, thursday, null),
  alone(2, thursday, 16.25, unapproved),
  punch(4, "2026-03-04T14:00:00Z", 8, { user_id: 50, location_id: 301 }),
  punch(5, "2026-03-04T21:00:00Z", 2, { user_id: 50, location_id: 302 })
]

const week = ["payroll", "check", "--week", "2026-03-02"]

const newYork = [...week, "--zone", "America/New_York"]

const everything = [...calm, ...troubled]

describe("time-punches payroll check", () => {
  it.effect("says how many issues it found, of how many punches", () =>
    inFolder(everything, (folder) =>
      Effect.gen(function*() {
        const { code, stderr } = yield* cli([...week, "--zone-file", writeZones(folder), "--json"])

        assert.deepStrictEqual([code, stderr], [9, "5 issues of 4 punches; 67 punches were checked\n"])
      })))

  it.effect("finds nothing in a calm week, and says how much it checked", () =>
    inFolder(calm, (folder) =>
      Effect.gen(function*() {
        const zones = ["--zone-file", writeZones(folder)]
        const table = yield* cli([...week, ...zones])
        const json = yield* cli([...week, ...zones, "--json"])
        const one = yield* cli([
          "payroll",
          "check",
          "--from",
          "2026-03-02",
          "--to",
          "2026-03-02",
          ...zones,
          "--user-id",
          "1"
        ])

        assert.deepStrictEqual([table.code, table.stdout, table.stderr], [
          0,
          "",
          "no issues: 63 punches were checked\n"
        ])
        assert.deepStrictEqual([json.code, json.stdout], [0, "[]\n"])
        assert.deepStrictEqual([one.code, one.stderr], [0, "no issues: 1 punch was checked\n"])
      })))

  it.effect("[M2] exits with 9 if it checked nothing, unless that is allowed", () =>
    inFolder(calm, () =>
      Effect.gen(function*() {
        const args = [...newYork, "--user-id", "99", "--format", "csv"]
        const refused = yield* cli(args)
        const allowed = yield* cli([...args, "--accept", "empty"])
        const none = "punch_id,user_id,location_id,kind,at,at_local,text\r\n"

        assert.deepStrictEqual([refused.code, refused.stdout, refused.stderr], [
          9,
          none,
          "no punch of the period matches: nothing was checked; --accept empty lets it pass\n"
        ])
        assert.deepStrictEqual([allowed.code, allowed.stdout, allowed.stderr], [
          0,
          none,
          "no punch of the period matches: nothing was checked\n"
        ])
      })))

  it.effect("reads --max-shift more on each side by clock-in, and the disputed and flagged punches of the period", () =>
    inFolder(calm, () =>
      Effect.gen(function*() {
        yield* cli([...newYork, "--max-shift", "90m", "--location-id", "301", "--user-id", "2", "--page-size", "50"])
        const [disputed, all, ...notes] = yield* queries

        const common = { limit: "50", user_id: "2" }
        const inPeriod = {
          ...common,
          location_id: "301",
          "clocked_in[gte]": "2026-03-02T05:00:00Z",
          "clocked_in[lte]": "2026-03-09T04:00:00Z"
        }
        assert.deepStrictEqual(notes, [{ ...inPeriod, flags: "late" }, { ...inPeriod, flags: "missed_break" }])
        assert.deepStrictEqual(disputed, { ...inPeriod, employee_approval_statuses: "disputed" })
        assert.deepStrictEqual(all, {
          ...common,
          "clocked_in[gte]": "2026-03-02T03:30:00Z",
          "clocked_in[lte]": "2026-03-09T05:30:00Z"
        })
      })))

  it.effect.each(
    [
      [["payroll", "check", "--zone", "UTC"], /check needs a period\n.*--week DATE/],
      [week, /--week has no zone/],
      [[...newYork, "--max-shift", "tooLong"], /--max-shift.*a time from 1m to 366d, such as 16h/],
      [[...newYork, "--approved", "true"], /--approved/],
      [[...newYork, "--deleted", "include"], /--deleted/],
      [[...newYork, "--flags", "late"], /--flags/],
      [[...newYork, "--employee-approval-statuses", "approved"], /--employee-approval-statuses/],
      [[...newYork, "--clocked-in-gte", "2026-03-02T00:00:00Z"], /--clocked-in-gte/]
    ] as const
  )(
    "refuses what would hide something, and a check without a period: %j",
    ([args, message]) =>
      inFolder(calm, () =>
        Effect.gen(function*() {
          const { code, stderr, stdout } = yield* cli(args)

          assert.deepStrictEqual([code, stdout], [2, ""])
          assert.match(stderr, message)
          assert.deepStrictEqual(yield* queries, [])
        }))
  )

  it.effect.each(
    [
      ["in the period", "2026-03-05T14:00:00Z"],
      // By the clock of Auckland it is Monday, and by that of Honolulu Sunday.
      ["before it by every clock of the file", "2026-03-01T13:30:00Z"],
      ["after it by every clock of the file", "2026-03-09T09:45:00Z"]
    ] as const
  )(
    "names a location that the file of --zone-file does not have: %s",
    ([_, clockedIn]) =>
      inFolder([...calm, alone(1, clockedIn, 8, { location_id: 307 })], (folder) =>
        Effect.gen(function*() {
          const zones = writeZones(folder, [["301", "America/New_York"], ["302", "Europe/Berlin"]])
          const { code, stderr, stdout } = yield* cli([
            ...week,
            "--zone-file",
            zones,
            "--max-shift",
            "1h",
            "--user-id",
            "101"
          ])

          assert.deepStrictEqual([code, stdout], [2, ""])
          assert.match(
            stderr,
            /^time-punches: location 307 has no zone\n {2}Add it and its zone to the file of --zone-file/
          )
        }))
  )

  it.effect("notes which checked punches are late or miss a break, and never as an issue", () => {
    const flagged = Array.from({ length: 12 }, (_, at) => alone(at + 1, thursday, 8, { flags: ["late"] }))
    const others = [
      alone(21, thursday, 8, { flags: ["missed_break", "auto_clocked_out"] }),
      // Of the week after, and deleted.
      alone(22, "2026-03-09T14:00:00Z", 8, { flags: ["late", "missed_break"] }),
      alone(23, thursday, 8, { flags: ["late", "missed_break"], deleted: true })
    ]
    return inFolder([...calm, ...flagged, ...others], () =>
      Effect.gen(function*() {
        const noted = yield* cli(newYork)
        const unflagged = yield* cli([...newYork, "--user-id", "2"])

        assert.deepStrictEqual([noted.code, noted.stdout], [0, ""])
        assert.deepStrictEqual(linesOf(noted.stderr), [
          "no issues: 76 punches were checked",
          "note: late: 12 punches (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …)",
          "note: missed_break: 1 punch (21)"
        ])
        assert.deepStrictEqual([unflagged.code, unflagged.stderr], [0, "no issues: 7 punches were checked\n"])
      }))
  })

  it.effect("says that a note is not known, and still exits with 0, where the service refuses a flag", () =>
    inFolder(calm, () =>
      Effect.gen(function*() {
        const service = yield* FakeService
        yield* service.inject(Fault.status(422), { requests: [3, 4] })
        const { code, stderr } = yield* cli(newYork)

        assert.strictEqual(code, 0)
        assert.match(stderr, /^no issues: 63 .*\nnote: late is not known: .*\nnote: missed_break is not known: .*\n$/)
      })))

  it.effect("reports a wage above --max-wage, of any number of people", () =>
    inFolder([
      alone(1, thursday, 8, { hourly_wage: 20_000 }),
      alone(2, thursday, 8, { hourly_wage: 20_001 }),
      alone(3, thursday, 8, { hourly_wage: 2_500_000 })
    ], () =>
      Effect.gen(function*() {
        const [given, none] = [yield* cli([...newYork, "--max-wage", "200", "--json"]), yield* cli(newYork)]
        const refused = yield* cli([...newYork, "--max-wage", "200,00"])

        assert.deepStrictEqual(issuesIn(given.stdout).map(({ kind, punchId, text }) => [punchId, kind, text]), [
          [2, "wageFar", "Its hourly wage is 200.01, above 200.00."],
          [3, "wageFar", "Its hourly wage is 25000.00, above 200.00."]
        ])
        // Three people have no usual wage.
        assert.deepStrictEqual([none.code, refused.code], [0, 2])
        assert.match(refused.stderr, /--max-wage.*at most two decimals, up to 999999999999\.99/)
      })))

  it.effect("sends one request for a token, however many listings it has", () =>
    inFolder(everything, () =>
      Effect.gen(function*() {
        yield* cli(newYork)
        const requests = yield* FakeService.use((service) => service.requests)

        assert.lengthOf(requests.filter(({ endpoint }) => endpoint === "token"), 1)
        assert.isAbove(requests.filter(({ endpoint }) => endpoint === "page").length, 1)
      })))

  it.effect("prints nothing but the error where a page fails", () =>
    inFolder(everything, () =>
      Effect.gen(function*() {
        const service = yield* FakeService
        yield* service.inject(Fault.status(403), { requests: [4] })
        const { code, stderr, stdout } = yield* cli([...newYork, "--page-size", "20"])

        assert.deepStrictEqual([code, stdout], [5, ""])
        assert.notInclude(stderr, "checked")
      })))
})

const found = [
  punch(5, "2026-03-03T14:00:00Z", null, { ...unapproved, user_id: 501, location_id: 301 }),
  punch(6, "2026-03-09T01:00:00Z", 8, { ...unapproved, user_id: 502, location_id: 303 })
]

const namesOf = (folder: string) => {
  Fs.writeFileSync(`${folder}/names.csv`, "kind,id,name\nuser,501,\"=cmd|'x'\u001b[2J\"\nlocation,303,東京 駅\n")
  return `${folder}/names.csv`
}

describe("what a check found", () => {
  it.effect("is a table in local time, with names that cannot control the terminal", () =>
    inFolder(found, (folder) =>
      Effect.gen(function*() {
        const plain = yield* cli([...week, "--zone-file", writeZones(folder)])
        const named = yield* cli([...week, "--zone-file", writeZones(folder), "--names", namesOf(folder)])

        assert.deepStrictEqual(linesOf(plain.stdout), [
          "user_id  location_id  punch_id  clocked_in                 kind        text",
          "    501          301         5  2026-03-03T09:00:00-05:00  open        It has no clock-out.",
          "    501          301         5  2026-03-03T09:00:00-05:00  unapproved  It is not approved.",
          "    502          303         6  2026-03-08T15:00:00-10:00  unapproved  It is not approved."
        ])
        assert.deepStrictEqual(linesOf(named.stdout).slice(1).map((line) => line.split(/ {2,}/).slice(1, 5)), [
          ["501", "=cmd|'x'\\u001b[2J", "301", "5"],
          ["501", "=cmd|'x'\\u001b[2J", "301", "5"],
          ["502", "303", "東京 駅", "6"]
        ])
        assert.match(linesOf(named.stdout)[0] ?? "", /^user_id +user +location_id +location +punch_id +clocked_in /)
      })))

  it.effect.each([60, 80, 100, 140])(
    "fits a terminal of %d columns, and still names the other punch",
    (columns) =>
      inFolder(everything, (folder) =>
        Effect.gen(function*() {
          const flags = ["--zone-file", writeZones(folder), "--names", namesOf(folder)]
          const { stdout } = yield* cli([...week, ...flags], { terminal: true, columns })
          const lines = linesOf(stdout)

          for (const line of lines) assert.isAtMost(displayWidth(line), columns, line)
          // Without room the text alone says the kind.
          assert.match(lines[0] ?? "", /^user(_id)? +.*punch_id +clocked_in( +kind)? +text$/)
          if (columns >= 80) assert.match(lines[0] ?? "", / kind /)
          assert.match(stdout, /It overlaps punch \d+/)
        }))
  )

  it.effect("is CSV with the instant and the local time, guarded against formulas", () =>
    inFolder(found, (folder) =>
      Effect.gen(function*() {
        const flags = ["--zone-file", writeZones(folder), "--names", namesOf(folder), "--format", "csv"]
        const { code, stdout } = yield* cli([...week, ...flags])

        assert.strictEqual(code, 9)
        assert.deepStrictEqual(stdout.split("\r\n"), [
          "punch_id,user_id,location_id,kind,at,at_local,text,user_name,location_name",
          "5,501,301,open,2026-03-03T14:00:00Z,2026-03-03T09:00:00-05:00,It has no clock-out.,'=cmd|'x'\u001b[2J,",
          "5,501,301,unapproved,2026-03-03T14:00:00Z,2026-03-03T09:00:00-05:00,It is not approved.,'=cmd|'x'\u001b[2J,",
          "6,502,303,unapproved,2026-03-09T01:00:00Z,2026-03-08T15:00:00-10:00,It is not approved.,,東京 駅",
          ""
        ])
      })))

  it.effect("is JSON with these keys, and names or null", () =>
    inFolder(found, (folder) =>
      Effect.gen(function*() {
        const flags = ["--zone-file", writeZones(folder)]
        const plain = yield* cli([...week, ...flags, "--format", "json"])
        const named = yield* cli([...week, ...flags, "--json", "--names", namesOf(folder)])
        const last = {
          punchId: 6,
          userId: 502,
          locationId: 303,
          kind: "unapproved",
          at: "2026-03-09T01:00:00Z",
          text: "It is not approved."
        }

        assert.strictEqual(plain.stdout.split("\n").at(-3), JSON.stringify(last))
        assert.strictEqual(
          named.stdout.split("\n").at(-3),
          JSON.stringify({ ...last, userName: null, locationName: "東京 駅" })
        )
      })))

  it.effect("erases the progress line before it, and ends with the verdict", () =>
    inFolder(found, () =>
      Effect.gen(function*() {
        const screen: Array<string> = []
        const { stdout } = yield* cli(newYork, { terminal: true, screen })
        const transcript = screen.join("")
        const shown = transcript.split("\n").map((line) => line.split(eraseLine).at(-1))

        assert.include(transcript, `${eraseLine}2 punches`)
        assert.deepStrictEqual(shown.slice(0, -2), [...linesOf(stdout)])
        assert.match(shown.at(-2) ?? "", /^3 issues of 2 punches; 2 punches were checked$/)
      })))
})
