/** `time-punches payroll check --database`: a copy has what the service has, but for disputes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import { defaultCompany, generatePunches } from "../../../src/testing/index.ts"
import { needs } from "../../support/needs.ts"
import { emptyDatabase, hasPostgres, noPostgres } from "../../support/postgres.ts"
import { cli, inCopyOf, inFakeOf, onCopy, queries, temporaryFolder } from "../support.ts"
import { issuesIn, writeZones } from "./checkSupport.ts"

/** Of few persons, so that some of their punches overlap. */
const punches = generatePunches({
  seed: 8,
  count: 450,
  companyId: defaultCompany.id,
  users: 12,
  openShare: 0.1,
  deletedShare: 0.1
})

const calls = (zones: string): ReadonlyArray<ReadonlyArray<string>> => [
  ["--month", "2026-03", "--zone", "America/New_York"],
  ["--week", "2026-03-09", "--zone-file", zones],
  ["--week", "2026-03-23", "--zone-file", zones, "--max-shift", "6h", "--as-of", "2026-04-01T00:00:00Z"],
  ["--from", "2026-03-05", "--to", "2026-03-20", "--zone", "Asia/Kolkata", "--location-id", "303"],
  ["--month", "2026-03", "--zone", "+05:30", "--user-id", "507", "--role-id", "12"],
  ["--month", "2026-03", "--zone", "UTC", "--department-id", "22"],
  ["--month", "2026-05", "--zone", "UTC"]
]

const assertSame = Effect.fn(function*(database: string) {
  const locations = ["301", "302", "303", "304", "305", "306"].map((id) => [id, "Europe/Berlin"] as const)
  const zones = writeZones(yield* temporaryFolder, locations)
  assert.strictEqual((yield* cli(["sync", "--database", database])).code, 0)
  for (const flags of calls(zones)) {
    const service = yield* cli(["payroll", "check", ...flags, "--accept", "empty", "--json"])
    const requests = (yield* queries).length
    const copy = yield* onCopy(database)("payroll", "check", ...flags, "--accept", "empty", "--json")
    const expected = issuesIn(service.stdout).filter(({ kind }) => kind !== "disputed")

    assert.deepStrictEqual(issuesIn(copy.stdout), expected, flags.join(" "))
    assert.strictEqual(copy.code, expected.length === 0 ? 0 : 9)
    assert.match(copy.stderr, /^copy in .*\n.*\nDisputes are not in a copy: only the service knows them\.\n$/)
    assert.strictEqual((yield* queries).length, requests)
  }
})

describe("time-punches payroll check --database", () => {
  it.effect(
    "finds in SQLite what it finds in the service, but for disputes, and says so",
    () => inCopyOf(punches)(assertSame),
    60_000
  )

  it.live("finds the same in PostgreSQL", (context) => {
    needs(context, hasPostgres, noPostgres)
    return inFakeOf(punches)(Effect.flatMap(emptyDatabase, assertSame))
  }, 60_000)

  it.effect("refuses a file that is no copy, and does not create it", () =>
    inCopyOf(punches)(Effect.fnUntraced(function*(file) {
      const { code, stdout } = yield* onCopy(file)("payroll", "check", "--month", "2026-03", "--zone", "UTC")

      assert.deepStrictEqual([code, stdout, Fs.existsSync(file)], [8, "", false])
    })))
})
