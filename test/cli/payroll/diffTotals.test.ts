/** The law of a correction run: the totals at an instant and the changes since are the totals now, through the command. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import * as Fs from "node:fs"
import { defaultCompany, FakeService, generatePunches, type PunchPatch } from "../../../src/testing/index.ts"
import { needs } from "../../support/needs.ts"
import { emptyDatabase, hasPostgres, noPostgres } from "../../support/postgres.ts"
import { cli, type Environment, environment, inFakeOf, temporaryFolder } from "../support.ts"

/** Three weeks around the one that is closed, in which the clocks change in New York. */
const given = { companyId: defaultCompany.id, from: "2026-03-01T00:00:00Z", days: 21, users: 12 }
const punches = generatePunches({ ...given, seed: 11, count: 240 })

const zones = [
  [301, "America/New_York"],
  [302, "America/Los_Angeles"],
  [303, "Europe/Berlin"],
  [304, "Asia/Kolkata"],
  [305, "Australia/Lord_Howe"],
  [306, "UTC"]
] as const

interface Sums {
  readonly netSeconds: number
  readonly costCents: number
  readonly tipsCents: number
}

const zero: Sums = { netSeconds: 0, costCents: 0, tipsCents: 0 }

const add = (one: Sums, other: Sums): Sums => ({
  netSeconds: one.netSeconds + other.netSeconds,
  costCents: one.costCents + other.costCents,
  tipsCents: one.tipsCents + other.tipsCents
})

/** To the millisecond: a sum of seconds is not an exact fraction. */
const exact = ({ costCents, netSeconds, tipsCents }: Sums) => [Math.round(netSeconds * 1000), costCents, tipsCents]

/** What is not zero, by person: a person without punches is in no summary. */
const worked = (sums: ReadonlyMap<number, Sums>) =>
  Object.fromEntries(
    [...sums].map(([user, each]) => [user, exact(each)] as const).filter(([, each]) => each.some((n) => n !== 0))
  )

const run = (env: Environment, ...args: ReadonlyArray<string>) =>
  Effect.map(cli(args, { env }), (ran) => {
    assert.strictEqual(ran.code, 0, ran.stderr)
    return ran.stdout
  })

/** The sums of each person, as the service has them now. */
const totals = (env: Environment, flags: ReadonlyArray<string>) =>
  Effect.map(run(env, "summary", "--by", "user", "--json", ...flags), (json) => {
    const rows: Found["people"] = JSON.parse(json)
    return new Map<number, Sums>(rows.map((row) => [row.userId, row]))
  })

interface Found {
  readonly punches: ReadonlyArray<{ readonly kind: string }>
  readonly people: ReadonlyArray<Sums & { readonly userId: number }>
}

const changesSince = (env: Environment, since: string, flags: ReadonlyArray<string>) =>
  Effect.map(run(env, "payroll", "diff", "--since", since, "--json", ...flags), (json): Found => JSON.parse(json))

const iso = (day: number, hour: number) => DateTime.formatIso(DateTime.makeUnsafe(Date.UTC(2026, 2, day, hour)))

/** The punches of some of the ids, round after round others. */
const every = (count: number, from: number) => punches.flatMap(({ id }, at) => at % count === from ? [id] : [])

/** What people do to punches between two passes, each round to others. */
const rounds: ReadonlyArray<Effect.Effect<void, never, FakeService>> = [
  { ids: every(23, 1), patch: { clocked_in: iso(10, 8), clocked_out: iso(10, 17), tips: 700 } },
  { ids: every(29, 2), patch: { clocked_in: iso(20, 8), clocked_out: iso(20, 17) } },
  { ids: every(19, 3), patch: { hourly_wage: 1999, breaks: [] } },
  { ids: every(31, 4), patch: { user_id: 501, tips: -25 } },
  { ids: every(37, 5), patch: { clocked_in: iso(9, 22), clocked_out: null } }
].map(({ ids, patch }: { readonly ids: ReadonlyArray<number>; readonly patch: PunchPatch }, round) =>
  Effect.gen(function*() {
    const service = yield* FakeService
    yield* service.edit(ids, patch)
    yield* service.edit(every(13, round), { deleted: true })
    yield* service.edit(
      round === 0 ? punches.flatMap((each) => each.deleted === true ? [each.id] : []) : every(13, round - 1),
      { deleted: false }
    )
    yield* service.remove(every(43, round))
    yield* service.add(generatePunches({ ...given, seed: 50 + round, count: 9, firstId: 900_000 + 1000 * round }))
    // What was removed a round ago shows again, as it was.
    if (round > 0) yield* service.seed(punches.filter((_, at) => at % 43 === round - 1))
  })
)

/** The instant of the copy as it is. */
const lastCommit = (env: Environment) =>
  Effect.map(run(env, "copy", "status", "--json"), (json): string => JSON.parse(json).history.last)

const check = (env: Environment, folder: string, [flag, value]: readonly [flag: string, value: string]) =>
  Effect.gen(function*() {
    Fs.writeFileSync(`${folder}/zones.csv`, `location_id,zone\n${zones.map((row) => `${row.join()}\n`).join("")}`)
    const flags = ["--week", "2026-03-11", "--as-of", "2026-03-25T00:00:00Z", "--rounding", "halfEven"].concat(
      [flag, value.replace(/^(?=zones\.csv$)/, `${folder}/`)]
    )
    const sync = Effect.andThen(run(env, "sync", "--history"), run(env, "sync", "--history", "--sweep", "all"))
    yield* sync
    const closed: Array<{ readonly at: string; readonly sums: ReadonlyMap<number, Sums> }> = []
    for (const round of rounds) {
      closed.push({ at: yield* lastCommit(env), sums: yield* totals(env, flags) })
      yield* round
      yield* sync
    }
    const now = yield* totals(env, flags)
    const kinds = new Set<string>()
    for (const { at, sums } of closed) {
      const { people, punches } = yield* changesSince(env, at, flags)
      const added = new Map(sums)
      for (const { userId, ...change } of people) added.set(userId, add(added.get(userId) ?? zero, change))

      assert.deepStrictEqual(worked(added), worked(now), at)
      assert.strictEqual(people.length, new Set(people.map(({ userId }) => userId)).size)
      for (const { kind } of punches) kinds.add(kind)
    }

    assert.deepStrictEqual(
      [...kinds].toSorted(),
      ["added", "back", "deleted", "edited", "missing", "movedIn", "movedOut", "undeleted"]
    )
    assert.isAbove(Object.keys(worked(now)).length, 10)
  })

const inFake = inFakeOf(punches)

const clocks = [["--zone", "America/New_York"], ["--zone-file", "zones.csv"]] as const

describe("the totals of a closed week and the changes since", () => {
  it.live.each(clocks)(
    "are the totals now for every person, over a copy in SQLite, with %s %s",
    (by) =>
      inFake(Effect.gen(function*() {
        const folder = yield* temporaryFolder
        yield* check({ ...environment, TIME_PUNCHES_DATABASE_URL: `${folder}/punches.db` }, folder, by)
      })),
    60_000
  )

  it.live("are the totals now for every person, over a copy in PostgreSQL", (context) =>
    inFake(Effect.gen(function*() {
      needs(context, hasPostgres, noPostgres)
      const env = { ...environment, TIME_PUNCHES_DATABASE_URL: yield* emptyDatabase }
      yield* check(env, yield* temporaryFolder, clocks[1])
    })), 60_000)
})
