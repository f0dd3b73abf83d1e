/** The files of a payroll program: `payroll file --mapping` and `--preview`, over a copy of the fake service. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import { FakeService, type WirePunch } from "../../../src/testing/index.ts"
import { byCode } from "../../support/mappings.ts"
import { servicePunch } from "../../support/wire.ts"
import { cli, execute, inFakeOf, onCopy, read, temporaryFolder } from "../support.ts"

const places = [301, 302, 303]
const people = [501, 502, 503, 504, 505, 506]

/** Ten days of six people at three locations, in two roles, with odd seconds and tips. */
const punches = people.flatMap((user, person) =>
  [2, 3, 4, 5, 6, 9, 10, 11, 12, 13].map((day, at): WirePunch => {
    const date = `2026-03-${String(day).padStart(2, "0")}`
    const seconds = String((17 * at + 7 * person) % 60).padStart(2, "0")
    return servicePunch({
      id: 100 * person + day,
      user_id: user,
      location_id: places[(person + (at % 4 === 3 ? 1 : 0)) % 3] ?? 301,
      role_id: at % 3 === 0 ? 12 : 11,
      department_id: person % 2 === 0 ? 21 : null,
      hourly_wage: 1500 + 37 * person,
      tips: person * at * 11,
      breaks: [],
      approved: true,
      clocked_in: `${date}T15:0${person}:00Z`,
      clocked_out: `${date}T23:5${person}:${seconds}Z`
    })
  })
)

const zones = "location_id,zone\n301,America/New_York\n302,America/Los_Angeles\n303,Europe/Berlin\n304,Europe/Berlin\n"

const codes = ["kind,id,code"]
  .concat(people.map((user) => `user,${user},00${user}`))
  .concat([
    "location,301,NY",
    "location,302,LA",
    "location,303,BE",
    "role,11,cook",
    "role,12,host",
    "department,21,BAR"
  ])
  .join("\n")

const names = "kind,id,name\n" + people.map((user) => `user,${user},"Name, of ${user}"\n`).join("")

const mappings = {
  codes: byCode,
  centres: {
    v: 1,
    by: ["location", "department", "role"],
    hours: "minutes",
    rounding: "down",
    columns: [
      { header: "Location", value: "locationCode" },
      { header: "Department", value: "departmentId" },
      { header: "Role", value: "roleCode" },
      { header: "Minutes", value: "hours" },
      { header: "Cost", value: "cost" },
      { header: "Tips", value: "tips" },
      { header: "Punches", value: "punches" }
    ],
    decimal: ",",
    separator: ";"
  },
  people: {
    v: 1,
    by: ["user", "location"],
    hours: "h:mm",
    rounding: "halfEven",
    columns: [
      { header: "Revision", value: "revisionId" },
      { header: "User", value: "userId" },
      { header: "Name", value: "userName" },
      { header: "Location", value: "locationCode" },
      { header: "Hours", value: "hours" },
      { header: "Cost", value: "cost" },
      { header: "Paid", value: "payDate", format: "YYYYMMDD" }
    ],
    separator: "\t",
    quote: "always",
    encoding: "utf-8-bom"
  }
} as const

type MappingName = keyof typeof mappings

const numbers = ["Hours", "Minutes", "Amount", "Cost", "Tips", "Punches"]

/** The numbers of a file in its smallest units, by the texts of their row and their column; zeros left out. */
const cellsOf = (name: MappingName, text: string): ReadonlyMap<string, number> => {
  const separator = name === "codes" ? "," : name === "centres" ? ";" : "\t"
  const records = text.replace("\uFEFF", "").trimEnd().split("\r\n").map((line) =>
    line.split(separator).map((cell) => cell.replaceAll("\"", ""))
  )
  const [titles = [], ...rows] = records
  const found = new Map<string, number>()
  for (const row of rows) {
    // A preview is of no revision.
    const key = row.filter((_, at) => ![...numbers, "Revision"].includes(titles[at] ?? "")).join("|")
    for (const [at, cell] of row.entries()) {
      if (!numbers.includes(titles[at] ?? "") || cell === "") continue
      const [, sign, whole, part = ""] = /^(-?)(\d+)(?:[.,:](\d\d))?$/.exec(cell) ?? []
      assert.isDefined(whole, cell)
      const scale = cell.includes(":") ? 60 : part === "" ? 1 : 100
      const value = (Number(whole) * scale + Number(part)) * (sign === "-" ? -1 : 1)
      if (value !== 0) found.set(`${key} ${titles[at]}`, value)
    }
  }
  return found
}

const sumOf = (files: ReadonlyArray<ReadonlyMap<string, number>>) => {
  const sums = new Map<string, number>()
  for (const [key, value] of files.flatMap((each) => [...each])) sums.set(key, (sums.get(key) ?? 0) + value)
  return [...sums].filter(([, value]) => value !== 0).toSorted()
}

const period = [
  "--pay-period",
  "2026-03-10",
  "--calendar",
  "14d:2026-03-02",
  "--zone-file",
  "zones.csv",
  "--weekly-threshold",
  "40h"
]

const printed = (name: MappingName) => [
  "--mapping",
  `${name}.json`,
  "--codes",
  "codes.csv",
  "--names",
  "names.csv",
  "--pay-date",
  "2026-03-20"
]

/** A folder with a copy, the zones, the codes and the mappings; `run` has no credential and no address. */
const opened = Effect.gen(function*() {
  const folder = yield* temporaryFolder
  const write = (name: string, text: string) => Fs.writeFileSync(`${folder}/${name}`, text)
  write("zones.csv", zones)
  write("codes.csv", codes)
  write("names.csv", names)
  for (const [name, mapping] of Object.entries(mappings)) write(`${name}.json`, JSON.stringify(mapping))
  const inFolder = (args: ReadonlyArray<string>) =>
    args.map((arg) => /^[\w-]+\.(csv|json|db|txt)$/.test(arg) ? `${folder}/${arg}` : arg)
  const run = (...args: ReadonlyArray<string>) => onCopy(`${folder}/punches.db`)(...inFolder(args))
  const sync = Effect.map(
    cli(["sync", "--database", `${folder}/punches.db`, "--history"]),
    ({ code, stderr }) => assert.strictEqual(code, 0, stderr)
  )
  const file = (name: MappingName, revision: string) =>
    Effect.map(
      run(
        "payroll",
        "file",
        revision,
        ...printed(name)
      ),
      ({ code, stderr, stdout }) => {
        assert.strictEqual(code, 0, stderr)
        return { text: stdout, stderr }
      }
    )
  yield* sync
  return { folder, run, sync, file, write }
})

const done = (ran: { readonly code: number; readonly stderr: string }) => assert.strictEqual(ran.code, 0, ran.stderr)

const inFake = inFakeOf(punches)

describe("time-punches payroll file --mapping", () => {
  it.live("prints a fortnight of three locations, corrected twice, by three mappings: the files add up, cell by cell", () =>
    inFake(Effect.gen(function*() {
      const { file, folder, run, sync } = yield* opened
      const service = yield* FakeService
      done(yield* run("payroll", "close", ...period))
      // Longer, into the excess; another role; a punch at another location; deleted; another tip.
      yield* service.edit([5], { clocked_out: "2026-03-06T03:10:09Z" })
      yield* service.edit([103], { role_id: 12, department_id: 21 })
      yield* service.edit([204], { location_id: 302, tips: 77 })
      yield* sync
      done(yield* run("payroll", "correct", "--note", "first"))
      yield* service.remove([310])
      yield* service.edit([5], { clocked_out: "2026-03-05T23:50:26Z" })
      yield* service.edit([412, 413], { hourly_wage: 1999, clocked_in: "2026-03-12T15:04:31Z" })
      yield* sync
      done(yield* run("payroll", "correct", "--note", "second"))

      for (const name of ["codes", "centres", "people"] as const) {
        const files = yield* Effect.forEach(["1.1", "1.2", "1.3"], (revision) => file(name, revision))
        const again = yield* Effect.forEach(["1.1", "1.2", "1.3"], (revision) => file(name, revision))
        assert.deepStrictEqual(again.map(({ text }) => text), files.map(({ text }) => text))
        const cells = files.map(({ text }) => cellsOf(name, text))
        // The sums of now in the same form, by a preview, which knows no revision.
        const preview = yield* run(
          "payroll",
          "file",
          "--preview",
          ...period,
          ...printed(name)
        )
        done(preview)

        assert.isAbove(cells[1]?.size ?? 0, 1)
        assert.isAbove(cells[2]?.size ?? 0, 1)
        assert.deepStrictEqual(sumOf(cells), sumOf([cellsOf(name, preview.stdout)]))
      }

      // By hand: 501 has 30,285 s over 40 hours a week, then 42,243, then 30,260: 8.41, 11.73 and 8.41 h.
      const [first, second, third] = yield* Effect.forEach(["1.1", "1.2", "1.3"], (revision) => file("codes", revision))
      assert.match(
        first?.stderr ?? "",
        /^1\.1: 17 rows\nHours: the rows add up to .*the exact sum\ncost [\d,.]+ of \d people: in no column of this file\n$/
      )
      assert.match(first?.text ?? "", /\r\n00501,OT,8\.41,,03\/15\/2026\r\n/)
      assert.match(second?.text ?? "", /\r\n00501,OT,3\.32,,03\/15\/2026\r\n/)
      assert.match(third?.text ?? "", /\r\n00501,OT,-3\.32,,03\/15\/2026\r\n/)

      // A history that was edited by hand: the command says so, and names the people.
      done(yield* run("payroll", "verify"))
      execute(
        `${folder}/punches.db`,
        "UPDATE time_punches_history SET hourly_wage = hourly_wage + 1 WHERE user_id IN (501, 503)"
      )
      const { code, stderr, stdout } = yield* run("payroll", "verify")
      assert.deepStrictEqual([code, stdout], [7, ""])
      assert.match(stderr, /1\.1: its history was edited, users 501, 503; 1\.2: its history was edited, users 501/)
    })))

  it.live("prints the files of 1.1 and 1.4 where 1.3 voids 1.2, and no other", () =>
    inFake(Effect.gen(function*() {
      const { file, run, sync } = yield* opened
      const service = yield* FakeService
      done(yield* run("payroll", "close", ...period))
      assert.deepStrictEqual(yield* file("codes", "1"), yield* file("codes", "1.1"))
      yield* service.edit([2], { tips: 200 })
      yield* sync
      done(yield* run("payroll", "correct"))
      done(yield* run("payroll", "void", "1.2", "--note", "not sent"))
      yield* service.edit([2], { tips: 300 })
      yield* sync
      done(yield* run("payroll", "correct"))

      const { stderr, text } = yield* file("codes", "1.4")
      assert.strictEqual(text, "Employee,Code,Hours,Amount,End\r\n00501,TIPS,,3.00,03/15/2026\r\n")
      assert.match(stderr, /^1\.4 less 1\.1: 1 row\n/)
      assert.deepStrictEqual(
        JSON.parse((yield* run("payroll", "show", "1.3", "--json")).stdout).map((
          { revision }: { readonly revision: string }
        ) => revision),
        ["1.3"]
      )
    })))

  it.live("writes a file that its owner alone may read, and replaces one as a whole with its rights", () =>
    inFake(Effect.gen(function*() {
      const { file, folder, run, write } = yield* opened
      done(yield* run("payroll", "close", ...period))
      const { text } = yield* file("codes", "1.1")
      const args = ["payroll", "file", "1.1", "--mapping", "codes.json", "--codes", "codes.csv", "--output"]
      const written = yield* run(...args, "pay.csv")

      assert.deepStrictEqual([written.code, written.stdout], [0, ""], written.stderr)
      assert.strictEqual(read(`${folder}/pay.csv`), text)
      assert.strictEqual(Fs.statSync(`${folder}/pay.csv`).mode & 0o777, 0o600)
      write("old.csv", "the file of last week")
      Fs.chmodSync(`${folder}/old.csv`, 0o640)
      const refused = yield* run(...args, "old.csv")
      assert.deepStrictEqual([refused.code, read(`${folder}/old.csv`)], [2, "the file of last week"])
      done(yield* run(...args, "old.csv", "--force"))
      assert.strictEqual(read(`${folder}/old.csv`), text)
      assert.strictEqual(Fs.statSync(`${folder}/old.csv`).mode & 0o777, 0o640)
      // A file is replaced by a whole one, or not at all.
      write("some.csv", "kind,id,code\nuser,501,1\n")
      const failed = yield* run(
        "payroll",
        "file",
        "1.1",
        "--mapping",
        "codes.json",
        "--codes",
        "some.csv",
        "--output",
        "old.csv",
        "--force"
      )
      assert.strictEqual(failed.code, 2)
      assert.strictEqual(read(`${folder}/old.csv`), text)
      const toStream = yield* run(...args, "-")
      assert.deepStrictEqual([toStream.code, toStream.stdout], [0, text])
      assert.deepStrictEqual(
        Fs.readdirSync(folder).filter((name) => name.endsWith(".tmp") || name.endsWith(".part")),
        []
      )
    })))

  it.live("notes what it writes to a file, and names what a later file has that differs", () =>
    inFake(Effect.gen(function*() {
      const { folder, run, sync, write } = yield* opened
      const service = yield* FakeService
      done(yield* run("payroll", "close", ...period))
      yield* service.edit([5], { clocked_out: "2026-03-06T03:10:09Z" })
      yield* sync
      done(yield* run("payroll", "correct"))
      const mapped = (mapping = "codes.json", used = "codes.csv") => ["--mapping", mapping, "--codes", used]
      const written = (revision: string, ...how: ReadonlyArray<string>) =>
        Effect.map(run("payroll", "file", revision, ...how, "--output", "pay.csv", "--force"), (ran) => {
          done(ran)
          return ran.stderr.split("\n").filter((line) => !/^$|exact sum|in no column|^1\.\d( less 1\.\d)?: /.test(line))
        })
      // What a run has printed is kept with it.
      const filesOf = Effect.suspend(() =>
        Effect.map(
          run("payroll", "show", "1", "--json"),
          ({ stdout }) =>
            JSON.parse(stdout).revisions.map(({ files }: { readonly files: ReadonlyArray<unknown> }) => files)
        )
      )
      const counts = Effect.map(filesOf, (files) => files.map(({ length }: ReadonlyArray<unknown>) => length))
      // Neither standard output nor a preview is a file that was written out.
      done(yield* run("payroll", "file", "1.1", ...mapped()))
      done(yield* run("payroll", "file", "1.1", ...mapped(), "--output", "-"))
      done(yield* run("payroll", "file", "--preview", ...period, ...mapped(), "--output", "preview.csv"))
      assert.deepStrictEqual(yield* counts, [0, 0])
      assert.notMatch((yield* run("payroll", "list")).stdout, / file /)

      assert.deepStrictEqual(yield* written("1.1", ...mapped()), [])
      assert.deepStrictEqual(yield* counts, [1, 0])
      const [[noted]] = yield* filesOf
      assert.hasAllKeys(noted, ["at", "user", "mappingHash", "codesHash"])
      const [titles = "", first = "", second = ""] = (yield* run("payroll", "list")).stdout.split("\n")
      const at = titles.indexOf(" file ")
      assert.strictEqual(first.slice(at + 1, at + 18), `${noted.at.slice(0, 16)}Z`)
      assert.strictEqual(second.slice(at + 1, at + 18).trim(), "")

      // A code that the file does not use, and a default that is written out, change nothing.
      write("more.csv", `${codes}\nuser,999,00999\n`)
      write("same.json", JSON.stringify({ quote: "whenNeeded", ...mappings.codes }))
      assert.deepStrictEqual(yield* written("1.2", ...mapped("same.json", "more.csv")), [])
      const columns = [...mappings.codes.columns.slice(0, 4), { header: "End", value: "periodEnd", format: "YYYYMMDD" }]
      write("other.json", JSON.stringify({ ...mappings.codes, rounding: "down", columns }))
      write("moved.csv", codes.replace("user,501,00501", "user,501,0018"))
      const warned = yield* written("1.2", ...mapped("other.json", "moved.csv"))
      assert.lengthOf(warned, 2)
      assert.match(
        warned[0] ?? "",
        /the file of 1\.1, written out \S+Z, has another mapping \(columns\[4\]\.format, rounding\) and other codes \(user 501: 00501, now 0018\)$/
      )
      assert.include(warned[1], "add up only with one mapping and one code of each id")
      // Only what is written out is compared.
      assert.notMatch((yield* run("payroll", "file", "1.2", ...mapped("other.json"))).stderr, /add up only/)
      assert.deepStrictEqual(yield* counts, [1, 2])

      // A record that cannot be written to: the file is as good as without a note.
      execute(
        `${folder}/punches.db`,
        "CREATE TRIGGER refused BEFORE INSERT ON time_punches_close_file BEGIN SELECT RAISE(ABORT, 'no rights'); END"
      )
      Fs.rmSync(`${folder}/pay.csv`)
      const [unnoted = ""] = yield* written("1.1", ...mapped())
      assert.match(unnoted, /the file was written, and close 1 has no note of it: .*cannot be noted/)
      assert.include(read(`${folder}/pay.csv`), "00501,OT,8.41,")
      assert.deepStrictEqual(yield* counts, [1, 2])
    })))

  it.live("fails with all ids that have no code, and names users of one code; the record stays", () =>
    inFake(Effect.gen(function*() {
      const { run, write } = yield* opened
      done(yield* run("payroll", "close", ...period))
      write("some.csv", "kind,id,code\nuser,501,007\nuser,502,007\nuser,504,8\nuser,505,9\n")
      const map = ["payroll", "file", "1", "--mapping", "codes.json", "--codes"]
      const { code, stderr, stdout } = yield* run(...map, "some.csv")
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.match(stderr, /some\.csv: no code for user 503, user 506\n/)
      write("all.csv", "kind,id,code\nuser,501,007\nuser,502,007\nuser,503,7\nuser,504,8\nuser,505,9\nuser,506,10\n")
      const shared = yield* run(...map, "all.csv")
      done(shared)
      assert.match(
        shared.stderr,
        /users 501, 502 have the same code, 007: the file pays them as one person in row 1, 2, 3; hours over/
      )
      // Told for any mapping with their code: a doubled line of codes.csv pays one person the hours of both.
      const hours = { ...mappings.codes, payCodes: { hours: "H" } }
      write(
        "hours.json",
        JSON.stringify({ ...hours, columns: hours.columns.filter(({ value }) => value !== "amount") })
      )
      assert.match(
        (yield* run("payroll", "file", "1", "--mapping", "hours.json", "--codes", "all.csv")).stderr,
        /users 501, 502 have the same code, 007: the file pays them as one person in row 1; hours over/
      )
      assert.lengthOf(JSON.parse((yield* run("payroll", "list", "--json")).stdout), 1)
      for (
        const [code, why] of [
          ["=HYPERLINK(0)", "a spreadsheet could run the code \"=HYPERLINK(0)\" as a formula; \"formulas\": \"keep\""],
          ["-19", "a spreadsheet could run the code \"-19\""],
          ["0017 ", "the code \"0017 \" begins or ends with a blank"],
          [" 0017", "the code \" 0017\" begins or ends with a blank"]
        ] as const
      ) {
        write("wrong.csv", `kind,id,code\nuser,501,1\nuser,502,${code}\n`)
        const wrong = yield* run(...map, "wrong.csv")
        assert.deepStrictEqual([wrong.code, wrong.stdout], [2, ""])
        assert.include(wrong.stderr, `wrong.csv, line 3: ${why}`)
      }
      write("kept.csv", "kind,id,code\n" + people.map((user) => `user,${user},=${user}\n`).join(""))
      write("keep.json", JSON.stringify({ ...mappings.codes, formulas: "keep" }))
      assert.include(
        (yield* run("payroll", "file", "1", "--mapping", "keep.json", "--codes", "kept.csv")).stdout,
        "\r\n=501,REG"
      )
      write("twice.csv", "kind,id,code\nuser,501,1\nuser,501,2\n")
      assert.match(
        (yield* run(...map, "twice.csv")).stderr,
        /twice\.csv, line 3: line 2 has a code for user 501 already/
      )
    })))

  it.live("refuses what it cannot mean, before it reads the copy", () =>
    inFake(Effect.gen(function*() {
      const { run, write } = yield* opened
      done(yield* run("payroll", "close", ...period))
      const why = (...args: ReadonlyArray<string>) =>
        Effect.map(run(...args), ({ code, stderr, stdout }) => {
          assert.deepStrictEqual([code, stdout], [2, ""], stderr)
          return stderr
        })
      write("broken.json", "{")
      write("wrong.json", JSON.stringify({ ...mappings.codes, rounding: "bankers" }))
      write("dated.json", JSON.stringify({ ...mappings.people, columns: mappings.people.columns.slice(1) }))
      const map = ["--mapping", "codes.json", "--codes", "codes.csv"]
      assert.match(
        yield* why("payroll", "file", "1", "--mapping", "broken.json"),
        /broken\.json is not JSON: look at line 1\n/
      )
      write("broken.json", "{\n\"v\": 1,\n\"by\": user\n}\n")
      assert.match(
        yield* why("payroll", "file", "1", "--mapping", "broken.json"),
        /broken\.json is not JSON: look at line 3\n/
      )
      assert.match(
        yield* why("payroll", "file", "1", "--mapping", "wrong.json"),
        /wrong\.json: rounding: "bankers" is none of the values\. Expected/
      )
      write("cased.json", JSON.stringify(mappings.codes).replace(/"value":"hours"/, "\"value\":\"Hours\""))
      assert.match(
        yield* why("payroll", "file", "1", "--mapping", "cased.json"),
        /"Hours" is none of the values; did you mean hours\? Expected/
      )
      assert.match(
        yield* why("payroll", "file", "1", "--mapping", "dated.json", "--codes", "codes.csv"),
        /dated\.json: columns\[5\]\.value: no pay date is given\n  Add --pay-date DATE/
      )
      assert.match(yield* why("payroll", "file", ...map), /payroll file prints one revision: name it/)
      assert.match(yield* why("payroll", "file", "1", "--codes", "codes.csv"), /--mapping/)
      assert.match(yield* why("payroll", "file", "1", ...map, "--json"), /--json is not a flag/)
      assert.match(yield* why("payroll", "file", "9", ...map), /9: there is no such close/)
      assert.match(yield* why("payroll", "file", "1", ...map, "--week", "2026-03-02"), /--week goes with --preview/)
      // A record does not age, and no request is sent for it.
      for (const flags of [["--max-age", "1h"], ["--source", "service"], ["--page-size", "50"]]) {
        assert.include(
          yield* why("payroll", "file", "1", ...map, ...flags),
          `${flags[0]} goes with --preview: a revision is printed from its record`
        )
      }
      assert.match(
        yield* why("payroll", "file", "1", ...map, "--weekly-threshold", "40h"),
        /--weekly-threshold goes with --preview/
      )
      assert.match(
        yield* why("payroll", "file", "1", "--preview", ...period, ...map),
        /--preview is of a period, and 1/
      )
      assert.match(yield* why("payroll", "show", "1.x"), /a close such as 7, or a revision such as 7\.2/)
      const preview = ["payroll", "file", "--preview", ...map]
      assert.match(yield* why(...preview), /--preview needs a period of dates/)
      assert.match(yield* why(...preview, "--last", "7d", "--zone", "UTC"), /--preview needs a period of dates/)
      // A close is of the whole company, so a preview takes no filter.
      assert.match(yield* why(...preview, ...period, "--location-id", "301"), /--location-id is not a flag/)
      assert.match(yield* why(...preview, ...period, "--by", "user"), /--by is not a flag/)
    })))
})

describe("time-punches payroll correct", () => {
  it.live("says why a person lost all hours: missing, deleted, moved or edited", () =>
    inFake(Effect.gen(function*() {
      const { run, sync } = yield* opened
      const service = yield* FakeService
      const of = (user: number) => punches.filter((each) => each.user_id === user).map(({ id }) => id)
      done(yield* run("payroll", "close", ...period))
      yield* service.edit(of(501).slice(0, 8), { deleted: true })
      yield* service.edit(of(501).slice(8), { clocked_in: "2026-03-20T15:00:00Z", clocked_out: "2026-03-20T16:00:00Z" })
      yield* service.edit(of(502), { user_id: 503 })
      yield* service.edit(of(504), { clocked_out: null })
      yield* sync
      const { code, stderr } = yield* run("payroll", "correct", "--names", "names.csv")

      assert.strictEqual(code, 0, stderr)
      assert.match(stderr, /close 1: user 501 Name, of 501 lost all hours: 8 punches deleted, 2 punches moved\n/)
      assert.match(stderr, /close 1: user 502 Name, of 502 lost all hours: 10 punches moved\n/)
      assert.match(stderr, /close 1: user 504 Name, of 504 lost all hours: 10 punches edited\n/)
      assert.notMatch(stderr, /503|505|506|permission/)
    })))
})
