/** Profiles: which settings and defaults they give, what comes before them, and what they refuse. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import { defaultCompany, FakeService } from "../../../src/testing/index.ts"
import { servicePunch } from "../../support/wire.ts"
import {
  cli,
  type Environment,
  environment,
  execute,
  inCopyOf,
  inFakeOf,
  queries,
  temporaryFolder,
  without
} from "../support.ts"

const inFake = inFakeOf([])

const { TIME_PUNCHES_CLIENT_SECRET: secret = "" } = environment

const defaultLocation = 301

/** A folder for settings that holds these profiles, and a call of the command that reads them. */
const withProfiles = Effect.fnUntraced(function*(profiles: unknown) {
  const folder = yield* temporaryFolder
  Fs.mkdirSync(`${folder}/time-punches`)
  const file = `${folder}/time-punches/config.json`
  Fs.writeFileSync(file, typeof profiles === "string" ? profiles : JSON.stringify(profiles))
  const call = (args: ReadonlyArray<string>, env: Environment = {}) =>
    cli(args, { env: { XDG_CONFIG_HOME: folder, ...env } })
  return { call, file, folder }
})

const layerOfOnePunch = FakeService.layer({
  punches: [servicePunch({
    id: 1,
    user_id: 501,
    location_id: defaultLocation,
    clocked_in: "2026-03-02T14:00:00Z",
    clocked_out: "2026-03-02T22:00:00Z"
  })]
})

/** The files that a profile may name. */
const writeFiles = (folder: string) => {
  const write = (name: string, text: string) => Fs.writeFileSync(`${folder}/time-punches/${name}`, text)
  write("zones.csv", `location_id,zone\n${defaultLocation},America/New_York\n`)
  write("names.csv", "kind,id,name\nuser,501,Dana Levi\n")
  write("codes.csv", "kind,id,code\nuser,501,E-1\n")
  write("other.csv", "kind,id,code\nuser,501,E-2\n")
  write(
    "map.json",
    JSON.stringify({
      v: 1,
      by: ["user"],
      hours: "minutes",
      rounding: "down",
      columns: [{ header: "employee", value: "userCode" }, { header: "net", value: "hours" }]
    })
  )
}

const north = {
  baseUrl: environment["TIME_PUNCHES_BASE_URL"],
  clientId: environment["TIME_PUNCHES_CLIENT_ID"],
  company: defaultCompany.id,
  guid: defaultCompany.guid,
  requestsPerSecond: "none"
}

describe("a profile", () => {
  it.effect("gives the settings, and a secret stays in the environment or in a file of variables", () =>
    inFake(Effect.gen(function*() {
      const { call, folder } = yield* withProfiles({ north })
      Fs.writeFileSync(`${folder}/secrets.env`, `TIME_PUNCHES_CLIENT_SECRET=${secret}\n`)
      const byVariable = yield* call(["list", "--json"], {
        TIME_PUNCHES_PROFILE: "north",
        TIME_PUNCHES_CLIENT_SECRET: secret
      })
      const byFlag = yield* call(["--profile=north", "list", "--json", "--variables", `${folder}/secrets.env`])

      assert.deepStrictEqual([byVariable.code, byFlag.code], [0, 0], byVariable.stderr + byFlag.stderr)
      assert.lengthOf(yield* queries, 2)
    })))

  it.effect("stands below the environment, and never lends its guid to another company", () =>
    inFake(Effect.gen(function*() {
      const { call } = yield* withProfiles({ north })
      const shown = yield* call(["config", "show", "--json"], {
        TIME_PUNCHES_PROFILE: "north",
        TIME_PUNCHES_COMPANY_ID: "77"
      })
      const rows: ReadonlyArray<{ name: string; value: string | null; from: string | null }> = JSON.parse(shown.stdout)
      const valueOf = (name: string) => rows.find((row) => row.name === name)

      assert.deepInclude(valueOf("TIME_PUNCHES_COMPANY_ID"), { value: "77", from: "environment" })
      assert.deepInclude(valueOf("TIME_PUNCHES_COMPANY_GUID"), { value: null, from: null })
      assert.deepInclude(valueOf("TIME_PUNCHES_BASE_URL"), { from: "profile north" })
    })))

  it.effect("of another company than the environment is refused if a flag names it", () =>
    inFake(Effect.gen(function*() {
      const { call } = yield* withProfiles({ north })
      const { code, stderr } = yield* call(["list", "--profile", "north"], { TIME_PUNCHES_COMPANY_ID: "77" })

      assert.strictEqual(code, 2)
      assert.include(stderr, "TIME_PUNCHES_COMPANY_ID is 77, and --profile north is of company 4021")
      assert.lengthOf(yield* queries, 0)
    })))

  it.effect.each<readonly [what: string, profiles: unknown, text: string]>([
    ["clientSecret", { north: { clientSecret: "hunter2" } }, "is a secret"],
    ["an unknown key", { north: { zon: "UTC" } }, "north.zon is not a setting"],
    ["a list", { north: { zone: ["UTC"] } }, "north.zone must be a text"],
    ["no such profile", { south: {} }, "has no profile north\n"],
    ["no such profile, but one of nearly its name", { nroth: {} }, "has no profile north; did you mean nroth?"],
    ["a key of nearly its name", { north: { dayStart: "hunter2" } }, "is not a setting; did you mean dayStarts?"],
    ["two clocks", { north: { zone: "UTC", zoneFile: "zones.csv" } }, "has zone and zoneFile"],
    ["an array", { north: [] }, "must be an object"],
    ["no JSON", `{\n"north": hunter2 }\n`, "is not JSON: look at line 2"],
    ["JSON that is no object", "3", "must be a JSON object"],
    [
      "a URL with a password",
      { north: { database: "postgres://me:hunter2@localhost/a" } },
      "north.database has a password"
    ],
    ["a base URL with a password", { north: { baseUrl: "https://me:hunter2@localhost" } }, "baseUrl has a password"],
    ["a base URL with a user", { north: { baseUrl: "https://hunter2@localhost" } }, "baseUrl must be a URL without"],
    ["a URL with a token", { north: { authUrl: "https://localhost/?t=hunter2" } }, "authUrl must be a URL without"],
    [
      "a password with a slash",
      { north: { baseUrl: "https://me:12/hunter2@localhost" } },
      "baseUrl must be a URL without"
    ],
    [
      "a database that is not quite a URL",
      { north: { database: "host=h password=hunter2" } },
      "north.database must be the name of a file, or a URL of PostgreSQL"
    ],
    [
      "a database whose password has a slash",
      { north: { database: "postgres://me:12/hunter2@localhost/a" } },
      "north.database has an @ after its host"
    ],
    ["a URL for a file", { north: { names: "https://h/?token=hunter2" } }, "north.names must be the name of a file"],
    ["an empty text", { north: { company: "" } }, "north.company is empty"],
    ["the name of a prototype", `{ "north": { "__proto__": "x", "constructor": "y" } }`, "is not a setting"],
    ["more than a file of settings", " ".repeat(2 ** 20) + "{}", "larger than 1 MiB"]
  ])("is refused for %s, by name and without its value", ([, profiles, text]) =>
    inFake(Effect.gen(function*() {
      const { call } = yield* withProfiles(profiles)
      const { code, stderr, stdout } = yield* call(["list", "--profile", "north"])

      assert.strictEqual(code, 3)
      assert.include(stderr, text)
      assert.notInclude(stderr + stdout, "hunter2")
    })))

  it.effect.each<readonly [args: ReadonlyArray<string>, text: string]>([
    [["list", "--profile"], "--profile needs a name"],
    [["list", "--profile", "--json"], "--profile needs a name"],
    [["--profile", "a", "list", "--profile=b"], "--profile is given twice"],
    [["list", "--profile="], "--profile needs a name"],
    [["list", "--variables", "-"], "--variables must be the name of a file, not -\n  Standard input is /dev/stdin."],
    [["list", "--env-file", "x.env"], "--env-file is a flag of Node, which reads it first\n  --variables FILE"],
    [["list", "--env-file=x.env", "--json"], "--env-file is a flag of Node"],
    [["--env-file-if-exists=x.env", "list"], "--env-file-if-exists is a flag of Node"],
    [["list", "--", "--env-file"], "Unexpected positional argument"]
  ])("is refused in %j", ([args, text]) =>
    inFake(Effect.gen(function*() {
      const { code, stderr } = yield* cli(args)

      assert.strictEqual(code, 2)
      assert.include(stderr, text)
    })))

  it.effect("is not combined with a guid from elsewhere", () =>
    inFake(Effect.gen(function*() {
      const { guid: _, ...bare } = north
      const { call } = yield* withProfiles({ north: bare })
      const { stdout } = yield* call(["config", "show", "--json", "--profile", "north"], {
        TIME_PUNCHES_COMPANY_GUID: "11111111-1111-4111-8111-111111111111"
      })

      assert.deepInclude(JSON.parse(stdout), { name: "TIME_PUNCHES_COMPANY_GUID", value: null, from: null })
    })))

  it.effect("gives no database where the file of variables has one, and is named there too", () =>
    inFake(Effect.gen(function*() {
      const { call, folder } = yield* withProfiles({ north: { ...north, database: "profile.db" } })
      Fs.writeFileSync(
        `${folder}/secrets.env`,
        `TIME_PUNCHES_PROFILE=north\nTIME_PUNCHES_CLIENT_SECRET=${secret}\nTIME_PUNCHES_DATABASE_URL=${folder}/variable.db\n`
      )
      const { code, stderr } = yield* call(["sync", "--variables", `${folder}/secrets.env`])

      assert.strictEqual(code, 0, stderr)
      assert.isTrue(Fs.existsSync(`${folder}/variable.db`))
      assert.isFalse(Fs.existsSync(`${folder}/time-punches/profile.db`))
    })))

  it.effect.each<readonly [name: string, env: Environment]>([
    ["no folder", {}],
    ["a folder that depends on where a run begins", { HOME: "home", XDG_CONFIG_HOME: "settings" }]
  ])(
    "needs no folder for settings if none is selected, and names what is not set: %s",
    ([, env]) =>
      inFake(Effect.gen(function*() {
        const given = { ...without("HOME", "XDG_CONFIG_HOME"), ...env }
        const listed = yield* cli(["list", "--json"], { env: given })
        const shown = yield* cli(["config", "show"], { env: given })
        const selected = yield* cli(["list", "--profile", "north"], { env: given })
        const byVariable = yield* cli(["list"], { env: { ...given, TIME_PUNCHES_PROFILE: "north" } })

        assert.strictEqual(listed.code, 0, listed.stderr)
        assert.deepStrictEqual([shown.code, selected.code, byVariable.code], [0, 3, 3])
        assert.include(shown.stdout, "TIME_PUNCHES_BASE_URL")
        for (const { stderr } of [shown, selected, byVariable]) {
          assert.include(stderr, "there is no folder for profiles: neither HOME nor XDG_CONFIG_HOME names one; set XDG")
        }
      }))
  )
})

describe("a variable that is no setting", () => {
  const meant: ReadonlyArray<readonly [name: string, text: string]> = [
    ["TIME_PUNCHES_DATABASE", "; did you mean TIME_PUNCHES_DATABASE_URL?"],
    ["TIME_PUNCHES_BASEURL", "; did you mean TIME_PUNCHES_BASE_URL?"],
    ["TIME_PUNCHES_TOKEN", "; did you mean TIME_PUNCHES_ACCESS_TOKEN?"],
    ["TIME_PUNCHES_ACCES_TOKEN", "; did you mean TIME_PUNCHES_ACCESS_TOKEN?"],
    ["TIME_PUNCHES_SECRET", "; did you mean TIME_PUNCHES_CLIENT_SECRET?"],
    ["TIME_PUNCHES_COMPANY", "; did you mean TIME_PUNCHES_COMPANY_ID?"],
    ["TIME_PUNCHES_REQUESTS_PER_SECONDS", "; did you mean TIME_PUNCHES_REQUESTS_PER_SECOND?"],
    ["TIME_PUNCH_PAGE_SIZE", "; did you mean TIME_PUNCHES_PAGE_SIZE?"],
    ["TIMEPUNCHES_API_VERSION", "; did you mean TIME_PUNCHES_API_VERSION?"],
    ["time_punches_profile", "; did you mean TIME_PUNCHES_PROFILE?"],
    ["TIME_PUNCHES_ZEBRA", "\ntime-punches help environment lists the variables."]
  ]

  it.effect.each(meant)("is warned of once, by its name: %s", ([name, text]) =>
    inFake(Effect.gen(function*() {
      const folder = yield* temporaryFolder
      Fs.writeFileSync(`${folder}/x.env`, `# TIME_PUNCHES_IN_A_COMMENT=1\n${name}=hunter2\nOTHER=1\n`)
      const ofEnvironment = yield* cli(["config", "show", "--json", "-q"], {
        env: { ...environment, [name]: "hunter2" }
      })
      const ofFile = yield* cli(["config", "show", "--json", "-q", "--variables", `${folder}/x.env`])

      assert.deepStrictEqual([ofEnvironment.code, ofFile.code], [0, 0])
      assert.strictEqual(ofEnvironment.stderr, `${name} is not a setting${text}\n`)
      assert.strictEqual(ofFile.stderr, `${name} is not a setting, in ${folder}/x.env${text}\n`)
    })))

  it.effect("is none of those that are read, and none of another program", () =>
    inFake(Effect.gen(function*() {
      const others = {
        TIME: "1",
        TIME_ZONE: "UTC",
        TIMEOUT_MS: "5",
        TIME_PUNCHES_KNOWN_KEYS: "data[].voided",
        PGHOST: "x"
      }
      const { code, stderr } = yield* cli(["config", "show", "--json", "-q"], { env: { ...environment, ...others } })

      assert.deepStrictEqual([code, stderr], [0, ""])
    })))
})

describe("a file of --variables", () => {
  it.effect.each<readonly [line: string, value: string]>([
    ["N=ab#cd", "ab#cd"],
    ["N=#ab", "#ab"],
    ["N=ab # cd", "ab"],
    ["N=ab\t#cd", "ab"],
    ["N=ab#cd # ef", "ab#cd"],
    ["N=\"ab # cd\" # ef", "ab # cd"],
    ["N='ab#cd'", "ab#cd"],
    ["N=`ab#cd`", "ab#cd"],
    ["N=\"ab\"#cd", "\"ab\"#cd"],
    ["export N = ab#cd", "ab#cd"],
    ["N: ab#cd", "ab#cd"],
    ["N=ab#cd\r", "ab#cd"],
    ["A=1\n  # B=2\nN=a=b#c", "a=b#c"],
    ["N=\"ab\\ncd\"", "ab\\u000acd"],
    ["N=it's", "it's"]
  ])(
    "has a comment only at the start of a line or behind a blank: %j",
    ([line, value]) =>
      inFake(Effect.gen(function*() {
        const folder = yield* temporaryFolder
        Fs.writeFileSync(
          `${folder}/x.env`,
          `${line.replace("N", "TIME_PUNCHES_CLIENT_ID")}\nB=1\n`
        )
        const { code, stdout } = yield* cli(["config", "show", "--json", "--variables", `${folder}/x.env`], { env: {} })

        assert.strictEqual(code, 0)
        const rows: ReadonlyArray<{ readonly name: string; readonly value: string }> = JSON.parse(stdout)
        assert.strictEqual(
          JSON.stringify(rows.find(({ name }) => name === "TIME_PUNCHES_CLIENT_ID")?.value),
          JSON.stringify(value).replace("\\\\u000a", "\\n")
        )
      }))
  )
})

describe("time-punches config show", () => {
  it.effect("says where each value comes from, and of a secret only that it is set", () =>
    inFake(Effect.gen(function*() {
      const { call, file } = yield* withProfiles({ north: { ...north, zone: "America/New_York", names: "names.csv" } })
      const { code, stderr, stdout } = yield* call(["config", "show", "--profile", "north"], {
        TIME_PUNCHES_CLIENT_SECRET: "hunter2",
        TIME_PUNCHES_AUTH_URL: "https://me:hunter2@localhost",
        TIME_PUNCHES_DATABASE_URL: "postgres://me:hunter2@localhost/a"
      })

      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /TIME_PUNCHES_CLIENT_SECRET +set +environment/)
      assert.match(stdout, /TIME_PUNCHES_DATABASE_URL +set +environment/)
      assert.match(stdout, /--zone +America\/New_York +profile north/)
      assert.match(stdout, new RegExp(`--names +${file.replace("config.json", "names.csv")}`))
      assert.include(stderr, file)
      assert.notInclude(stdout + stderr, "hunter2")
    })))

  it.effect("shows an address of the service that is plain, and enough of a guid to recognize it", () =>
    inFake(Effect.gen(function*() {
      const { call } = yield* withProfiles({})
      const valueOf = (name: string, value: string) =>
        Effect.map(call(["config", "show", "--json"], { [name]: value }), ({ stdout }) => {
          const rows: ReadonlyArray<{ readonly name: string; readonly value: string | null }> = JSON.parse(stdout)
          return rows.find((row) => row.name === name)?.value
        })

      assert.strictEqual(yield* valueOf("TIME_PUNCHES_BASE_URL", "https://API.test/a"), "https://api.test/a")
      assert.strictEqual(yield* valueOf("TIME_PUNCHES_AUTH_URL", "hunter2"), "set, not a plain URL")
      assert.strictEqual(
        yield* valueOf("TIME_PUNCHES_BASE_URL", "https://u:to+/k@h/"),
        "set, not a plain URL"
      )
      assert.strictEqual(yield* valueOf("TIME_PUNCHES_CLIENT_ID", "postgres://me:hunter2@h/a"), "set, not a plain URL")
      assert.strictEqual(yield* valueOf("TIME_PUNCHES_SCOPES", "a:read https://b.test/c"), "a:read https://b.test/c")
      assert.strictEqual(
        yield* valueOf("TIME_PUNCHES_COMPANY_GUID", "3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60"),
        "3b2f…4f60"
      )
      assert.strictEqual(yield* valueOf("TIME_PUNCHES_COMPANY_GUID", "hunter2"), "set, not a uuid")
    })))
})

describe("the defaults of flags", () => {
  const accept = "--accept unapproved,overlap,tooLong,anomaly,zeroWage,autoClockedOut,open,stale,gap"
  const clock = "--zone-file=zones.csv --day-starts=04:00"

  it.live("count where they decide on something, as if they were given", () =>
    Effect.gen(function*() {
      const { call, folder } = yield* withProfiles({
        north: {
          zoneFile: "zones.csv",
          dayStarts: "04:00",
          weekStarts: "sunday",
          calendar: "1,16",
          names: "names.csv",
          codes: "codes.csv",
          mapping: "map.json",
          database: "punches.db"
        }
      })
      writeFiles(folder)
      const inFolder = (words: string) =>
        words.replaceAll(
          /\b(?:zones|names|codes|other)\.csv|(?:map|new|newer)\.json|punches\.db/g,
          `${folder}/time-punches/$&`
        )
          .split(" ")
      const ran = Effect.fnUntraced(function*(words: string, env: Environment) {
        const before = (yield* queries).length
        const { code, stderr, stdout } = yield* call(inFolder(words), { ...environment, ...env })
        return {
          code,
          stderr: stderr.replaceAll(/, \d+\w+ old|\d+ s\b/g, ""),
          stdout: stdout.replaceAll(/\b\d+s\b/g, ""),
          queries: (yield* queries).slice(before)
        }
      })
      yield* ran("sync --history --database punches.db", {})
      const closed = yield* ran(`payroll close --from 2026-03-01 --to 2026-03-07 ${accept}`, {
        TIME_PUNCHES_PROFILE: "north"
      })
      assert.strictEqual(closed.code, 0, closed.stderr)
      for (
        const [words, expected] of [
          ["list", "list --names=names.csv --database=punches.db"],
          [
            "list --week 2026-03-04",
            `list --week 2026-03-04 ${clock} --week-starts=sunday --names=names.csv --database=punches.db`
          ],
          [
            "list --week last --source service",
            `list --week last --source service ${clock} --week-starts=sunday --names=names.csv`
          ],
          [
            "list --week last",
            `list --week last ${clock} --week-starts=sunday --names=names.csv --database=punches.db`
          ],
          [
            "summary --month 2026-03 --zone UTC --by day",
            "summary --month 2026-03 --zone UTC --by day --day-starts=04:00 --names=names.csv --database=punches.db"
          ],
          [
            "summary --pay-period 2026-03-02",
            `summary --pay-period 2026-03-02 ${clock} --calendar=1,16 --names=names.csv --database=punches.db`
          ],
          ["summary --by day", `summary --by day ${clock} --names=names.csv --database=punches.db`],
          [
            "summary --by user,week",
            `summary --by user,week ${clock} --week-starts=sunday --names=names.csv --database=punches.db`
          ],
          [
            "summary --by user --daily-threshold 8h",
            `summary --by user --daily-threshold 8h ${clock} --names=names.csv --database=punches.db`
          ],
          [
            "summary --by user --weekly-threshold 9h",
            `summary --by user --weekly-threshold 9h ${clock} --week-starts=sunday --names=names.csv --database=punches.db`
          ],
          [
            "report --month 2026-03",
            `report --month 2026-03 ${clock} --week-starts=sunday --names=names.csv --database=punches.db`
          ],
          ["report --close 1 --database punches.db", "report --close 1 --database punches.db --names=names.csv"],
          ["report --close 1", "report --close 1 --names=names.csv --database=punches.db"],
          [
            "payroll check --week 2026-03-04 --source service",
            `payroll check --week 2026-03-04 --source service ${clock} --week-starts=sunday --names=names.csv`
          ],
          [
            "payroll check --week 2026-03-04",
            `payroll check --week 2026-03-04 ${clock} --week-starts=sunday --names=names.csv --database=punches.db`
          ],
          [
            "payroll file --preview --mapping map.json --month 2026-03",
            `payroll file --preview --mapping map.json --month 2026-03 ${clock} --names=names.csv --codes=codes.csv --database=punches.db`
          ],
          ["payroll diff --close 1", "payroll diff --close 1 --names=names.csv --database=punches.db"],
          ["payroll correct 1", `payroll correct 1 ${clock} --names=names.csv --database=punches.db`],
          ["payroll list", "payroll list --database=punches.db"],
          ["payroll show 1 --json", "payroll show 1 --json --names=names.csv --database=punches.db"],
          [
            "payroll file 1.1 --pay-date 2026-03-09",
            "payroll file 1.1 --pay-date 2026-03-09 --names=names.csv --codes=codes.csv --mapping=map.json --database=punches.db"
          ],
          [
            "payroll file 1.1 --codes other.csv",
            "payroll file 1.1 --codes other.csv --mapping=map.json --database=punches.db"
          ],
          [
            "payroll file 1.1 --mapping map.json",
            "payroll file 1.1 --mapping map.json --codes=codes.csv --database=punches.db"
          ],
          [
            "payroll show 1 --json --output new.json",
            "payroll show 1 --json --output newer.json --names=names.csv --database=punches.db"
          ],
          ["copy status", "copy status --database=punches.db"]
        ] as const
      ) {
        const byProfile = yield* ran(words, { TIME_PUNCHES_PROFILE: "north" })
        assert.deepStrictEqual(byProfile, yield* ran(expected, {}), words)
        assert.strictEqual(byProfile.code, 0, byProfile.stderr)
      }
      const { stdout } = yield* ran("payroll show 1 --json", { TIME_PUNCHES_PROFILE: "north" })
      assert.match(stdout, /"firstDay":"monday"/, "a close without weeks keeps the usual first day")
    }).pipe(Effect.scoped, Effect.provide(layerOfOnePunch)))

  it.effect("are refused where they are read, with their key", () =>
    inFake(Effect.gen(function*() {
      const { call } = yield* withProfiles({ north: { zone: "nowhere" } })
      const env = { ...environment, TIME_PUNCHES_PROFILE: "north" }
      const { code, stderr } = yield* call(["list", "--week", "last"], env)

      assert.strictEqual(code, 2)
      assert.include(stderr, "profile north: zone must be the name of a time zone")
      assert.strictEqual((yield* call(["list"], env)).code, 0)
    })))

  it.effect("are refused with a zone that is no place", () =>
    inFake(Effect.gen(function*() {
      const { call } = yield* withProfiles({ north: { zone: "CST" } })
      const { code, stderr } = yield* call(["list", "--week", "last"], {
        ...environment,
        TIME_PUNCHES_PROFILE: "north"
      })

      assert.strictEqual(code, 2)
      assert.include(stderr, "profile north: zone must be the name of a place, such as America/Chicago: CST would be ")
    })))

  it.effect("leave the database to its variable", () =>
    inFake(Effect.gen(function*() {
      const { call, folder } = yield* withProfiles({ north: { database: "punches.db" } })
      const env = { ...environment, TIME_PUNCHES_PROFILE: "north" }
      for (const words of [["mcp"], ["summary"]]) {
        const byProfile = yield* call(words, env)
        const byVariable = yield* call(words, { ...env, TIME_PUNCHES_DATABASE_URL: `${folder}/variable.db` })

        assert.include(byProfile.stderr, `${folder}/time-punches/punches.db`)
        assert.include(byVariable.stderr, `${folder}/variable.db`)
      }
    })))

  it.live.each<readonly [what: string, clock: Readonly<Record<string, string>>]>([
    ["a zone", { zone: "America/New_York" }],
    ["a file of zones", { zoneFile: "zones.csv" }]
  ])("make no legal call illegal, with %s", ([, clock]) =>
    Effect.gen(function*() {
      const { call, folder } = yield* withProfiles({
        north: {
          ...clock,
          dayStarts: "04:00",
          weekStarts: "sunday",
          calendar: "1,16",
          names: "names.csv",
          codes: "codes.csv",
          mapping: "map.json",
          database: "punches.db"
        }
      })
      writeFiles(folder)
      const database = `--database ${folder}/time-punches/punches.db`
      const illegal: Array<string> = []
      let since = ""
      for (
        const words of [
          "sync --history",
          "sync",
          "list",
          "list --week 2026-03-01",
          "list --month 2026-03 --format csv",
          `export --week 2026-03-01 --output ${folder}/x.csv`,
          "summary --week 2026-03-01",
          "summary --month 2026-03 --by day",
          "summary --pay-period 2026-03-02",
          "summary --by user,week --week 2026-03-01 --weekly-threshold 40h",
          "summary --by user --weekly-threshold 40h",
          "summary --by user --daily-threshold 8h",
          "summary --from 2026-03-01 --to 2026-03-07 --daily-threshold 8h --by user",
          "payroll check --week 2026-03-01",
          "payroll check --pay-period 2026-03-02",
          `payroll close --week 2026-03-01 ${accept}`,
          `payroll close --from 2026-03-08 --to 2026-03-14 --weekly-threshold 40h ${accept}`,
          "payroll list",
          "payroll list --json",
          "payroll show 1",
          "payroll show 1.1",
          "payroll show 1 --json",
          "payroll file 1.1",
          "payroll file --preview --week 2026-03-01",
          "payroll due",
          "payroll due 1",
          "payroll verify 1",
          "payroll correct",
          "payroll correct 1 --dry-run",
          "payroll diff --week 2026-03-01 --since SINCE",
          "payroll diff --month 2026-03 --since SINCE",
          "payroll diff --close 1",
          "copy status",
          "report --week 2026-03-01",
          "report --month 2026-03",
          "report --pay-period 2026-03-02 --weekly-threshold 40h",
          `report --close 1 ${database}`,
          "payroll void 1.1 --note x",
          "doctor",
          "fleet --help"
        ]
      ) {
        const { code, stderr } = yield* call(words.replace("SINCE", since).split(" "), {
          ...environment,
          TIME_PUNCHES_PROFILE: "north"
        })
        if (since === "") since = DateTime.formatIso(yield* DateTime.now)
        if (code === 1 || code === 2 || code === 3) illegal.push(`${words}: ${code}: ${stderr}`)
      }
      assert.deepStrictEqual(illegal, [])
    }).pipe(
      Effect.scoped,
      Effect.provide(layerOfOnePunch)
    ))
})

describe("the help", () => {
  it.effect("offers no wizard", () =>
    inFake(Effect.map(cli(["--help"]), ({ stdout }) => {
      assert.notInclude(stdout, "--wizard")
      assert.include(stdout, "--profile")
    })))
})

describe("a command that a message advises", () => {
  it.effect("runs as it is printed, with the settings of the run that advised it", () =>
    inCopyOf([servicePunch({ id: 1 })])(
      Effect.fnUntraced(function*(file) {
        // A name that a shell splits, and no other setting.
        const variables = `${file} it's.env`
        const lines = Object.entries({ ...environment, TIME_PUNCHES_DATABASE_URL: file })
        Fs.writeFileSync(variables, lines.map(([name, value]) => `${name}=${value}\n`).join(""))
        const call = (...args: ReadonlyArray<string>) => cli(args, { env: {} })
        const given = (...args: ReadonlyArray<string>) => call(...args, "--variables", variables)
        const loaded = yield* given("sync", "--history", "--database", file)
        assert.strictEqual(loaded.code, 0, loaded.stderr)
        yield* TestClock.adjust("1 hour")
        const stderr: Array<string> = []
        // It prints nothing when it has begun to follow.
        for (let wait = 250; stderr.length === 0 && wait < 20_000; wait *= 2) {
          const following = yield* Effect.forkChild(
            cli(["copy", "feed", "--follow=1s", "--variables", variables], { env: {}, stderr })
          )
          yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, wait)))
          yield* Fiber.interrupt(following)
        }
        const period = ["--from", "2026-01-01", "--to", "2026-01-07", "--zone", "UTC"]
        const old = yield* given("summary", ...period, "--database", file, "--max-age", "30m")
        const closed = yield* given("payroll", "close", ...period, "--accept", "empty", "--database", file)
        const companies = Array.from({ length: 21 }, (_, at) => at + 1).join(",")
        const many = yield* given("sync", "--company", companies, "--database", file)
        const erasing = yield* given("copy", "erase", "--closes-too", "--database", file)
        execute(file, "UPDATE time_punches_sync SET checkpoint = NULL")
        const doctor = yield* given("doctor", "--database", file)
        const advised = [
          [stderr.join(""), /To continue: (time-punches .* --after \S+)/],
          [old.stderr, /Run (time-punches .*), then try again/],
          [closed.stderr, /The record: (time-punches .*)/],
          [doctor.stdout, /Run (time-punches .*), then check again/],
          [many.stderr, /A fleet keeps many in sync: see (time-punches .*)\./],
          [erasing.stderr, /To erase this: (time-punches .*)/]
        ] as const
        for (const [text, form] of advised) {
          const [, line = assert.fail(text)] = form.exec(text) ?? []
          const words = execFileSync("sh", ["-c", `printf '%s\\0' ${line}`], { encoding: "utf8" }).split("\0")
          const { code, stderr } = yield* call(...words.slice(1, -1))
          assert.strictEqual(code, 0, `${line}\n${stderr}`)
        }
      })
    ))

  it.live.each(["/dev/fd", "/proc/self/fd"])(
    "names no pipe of this run: %s",
    (folder) =>
      inFake(Effect.gen(function*() {
        const file = `${yield* temporaryFolder}/open.env`
        Fs.writeFileSync(file, "")
        const open = Fs.openSync(file, "r")
        const given = ["--company", "1", "--database", `${file}.db`, "--variables", `${folder}/${open}`]
        const { stderr } = yield* cli(["copy", "status", ...given], { env: {} })
        Fs.closeSync(open)

        assert.include(stderr, "run time-punches sync --history --company 1")
      }))
  )

  it.effect.each(["copy feed", "payroll diff", "payroll list"])(
    "has no flags of this run in a sentence that is no command: %s",
    (words) =>
      inFake(Effect.gen(function*() {
        const { call } = yield* withProfiles({ north })
        const { stderr } = yield* call([...words.split(" "), "--profile", "north"])

        assert.match(stderr, /needs a database: .*\n.* synced with --history/)
        assert.notInclude(stderr, "--profile")
      }))
  )
})
