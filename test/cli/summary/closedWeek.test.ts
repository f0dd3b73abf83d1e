/** A week with a change of clocks, three locations in three zones, names in two scripts: the command against a second count. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import { defaultCompany, generatePunches, toWire, type WireBreak, type WirePunch } from "../../../src/testing/index.ts"
import { dateIn, writeZones } from "../payroll/checkSupport.ts"
import { cli, inFakeOf, linesOf, read, temporaryFolder } from "../support.ts"

const zones: Readonly<Record<number, string>> = {
  301: "America/New_York",
  302: "America/Los_Angeles",
  303: "Asia/Tokyo"
}
const places = [301, 302, 303]

const hour = 3_600_000

const moved = (text: string, by: number) => new Date(Date.parse(text) + by).toISOString()

const movedRest = (rest: WireBreak, by: number): WireBreak => ({
  ...rest,
  in: moved(rest.in, by),
  out: rest.out && moved(rest.out, by)
})

const generated = generatePunches({
  seed: 14,
  count: 900,
  companyId: defaultCompany.id,
  users: 12,
  deletedShare: 0,
  openShare: 0.02
})

/** Odd punches of twelve persons, one after another over three weeks around 8 March 2026, when the clocks of two change. */
const punches = Array.from(generated, (stored, at): WirePunch => {
  const punch = toWire(stored)
  const by = Date.UTC(2026, 1, 27) + at * 0.6 * hour - Date.parse(punch.clocked_in)
  return {
    ...punch,
    location_id: places[at % places.length] ?? 0,
    clocked_in: moved(punch.clocked_in, by),
    clocked_out: punch.clocked_out && moved(punch.clocked_out, by),
    breaks: (punch.breaks ?? []).map((rest) => movedRest(rest, by))
  }
})

/** Names in two scripts. */
const nameOf = (user: number) => user % 2 === 0 ? `Анна Петрова ${user}` : `山田 花子 ${user}`

/** The second count: it shares no code with the product, cuts time at every edge, and asks the platform for the dates. */
const dateOf = dateIn(zones)

const netOf = ({ breaks = [], clocked_in, clocked_out }: WirePunch): number | undefined => {
  if (clocked_out === null || Date.parse(clocked_out) < Date.parse(clocked_in)) return undefined
  const [start, end] = [Date.parse(clocked_in), Date.parse(clocked_out)]
  const unpaid = breaks.filter(({ deleted, paid }) => deleted !== true && !paid)
    .map((rest) => ({ from: Date.parse(rest.in), to: rest.out === null ? end : Date.parse(rest.out) }))
  const edges = [start, end, ...unpaid.flatMap(({ from, to }) => [from, to])]
    .filter((edge) => start <= edge && edge <= end)
    .toSorted((a, b) => a - b)
  let net = 0
  for (const [at, edge] of edges.entries()) {
    const next = edges[at + 1] ?? edge
    if (!unpaid.some(({ from, to }) => from <= edge && next <= to)) net += next - edge
  }
  return net
}

/** Half a cent is a whole one. */
const centsOf = (punch: WirePunch, net: number) =>
  Number((BigInt(net) * BigInt(punch.hourly_wage) * 2n + BigInt(hour)) / (2n * BigInt(hour)))

const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)

const expectedOf = (user: number, own: ReadonlyArray<WirePunch>) => {
  const timed = own.flatMap((punch) => {
    const net = netOf(punch)
    return net === undefined ? [] : [{ punch, net }]
  })
  const days = [...new Set(timed.map(({ punch }) => dateOf(punch)))]
  const dayTimes = days.map((day) => sum(timed.filter(({ punch }) => dateOf(punch) === day).map(({ net }) => net)))
  const net = sum(timed.map(({ net }) => net))
  // What is over 8 hours in a day does not count in the week again.
  const overDay = sum(dayTimes.map((time) => Math.max(0, time - 8 * hour)))
  const over = overDay + Math.max(0, net - overDay - 40 * hour)
  return {
    userId: user,
    userName: nameOf(user),
    regularSeconds: (net - over) / 1000,
    overSeconds: over / 1000,
    punches: own.length,
    incomplete: own.length - timed.length,
    netSeconds: net / 1000,
    costCents: sum(timed.map(({ net, punch }) => centsOf(punch, net))),
    tipsCents: sum(own.map(({ tips }) => tips))
  }
}

const inWeek = punches.filter((punch) => "2026-03-02" <= dateOf(punch) && dateOf(punch) <= "2026-03-08")

const people = [...new Set(inWeek.map((punch) => punch.user_id))].toSorted((a, b) => a - b)

const expected = people.map((user) => expectedOf(user, inWeek.filter((punch) => punch.user_id === user)))

const files = Effect.map(temporaryFolder, (folder) => {
  const names = `${folder}/names.csv`
  Fs.writeFileSync(names, ["kind,id,name", ...people.map((user) => `user,${user},${nameOf(user)}`)].join("\n"))
  return { names, zones: writeZones(folder, Object.entries(zones)) }
})

const inFake = inFakeOf(punches)

describe("a week with a change of clocks at three locations in three zones", () => {
  it("is one in which the count has something to do", () => {
    const utc = punches.filter(({ clocked_in }) => "2026-03-02" <= clocked_in && clocked_in < "2026-03-09")

    assert.isAbove(inWeek.length, 200)
    assert.notDeepEqual(utc.map(({ id }) => id), inWeek.map(({ id }) => id))
    assert.isAbove(sum(expected.map(({ overSeconds }) => overSeconds)), 0)
    assert.isAbove(sum(expected.map(({ incomplete }) => incomplete)), 0)
  })

  it.effect("has the totals of a second count, for each person to the second and the cent", () =>
    inFake(Effect.gen(function*() {
      const { names, zones } = yield* files
      const flags = ["--by", "user", "--week", "2026-03-04", "--zone-file", zones, "--names", names]
      const ran = yield* cli(["summary", ...flags, "--weekly-threshold", "40h", "--daily-threshold", "8h", "--json"])
      const rows: ReadonlyArray<Record<string, unknown>> = JSON.parse(ran.stdout)
      const counted = rows.map((
        { anomalous: _, grossSeconds: _1, paidBreakSeconds: _2, unpaidBreakSeconds: _3, ...row }
      ) => row)

      assert.strictEqual(ran.code, 0)
      assert.deepStrictEqual(counted, expected)
    })))

  it.effect("has the same total by day, by location and in the table, and the same punches in list and export", () =>
    inFake(Effect.gen(function*() {
      const { names, zones } = yield* files
      const flags = ["--week", "2026-03-04", "--zone-file", zones]
      const output = `${yield* temporaryFolder}/week`
      const byDay = yield* cli(["summary", "--by", "day", "--json", ...flags])
      const byPlace = yield* cli(["summary", "--by", "location", "--json", ...flags])
      const table = yield* cli(["summary", "--by", "user", "--names", names, ...flags])
      const listed = yield* cli(["list", "--format", "ndjson", ...flags])
      const exported = yield* cli(["export", "--output", output, ...flags])
      const cents = sum(expected.map(({ costCents }) => costCents))

      for (const { stdout } of [byDay, byPlace]) {
        const rows: ReadonlyArray<{ costCents: number; punches: number }> = JSON.parse(stdout)
        assert.strictEqual(sum(rows.map((row) => row.costCents)), cents)
        assert.strictEqual(sum(rows.map((row) => row.punches)), inWeek.length)
      }
      const total = (cents / 100).toLocaleString("en-US", { minimumFractionDigits: 2 })
      assert.include(linesOf(table.stdout).at(-1) ?? "", ` ${total} `)
      for (const user of people) assert.match(table.stdout, new RegExp(`^${user} +${nameOf(user)} `, "m"))
      assert.deepStrictEqual(
        linesOf(listed.stdout).map((line): number => JSON.parse(line).id),
        inWeek.map(({ id }) => id).toSorted((a, b) => a - b)
      )
      assert.strictEqual(exported.code, 0)
      assert.strictEqual(read(output), listed.stdout)
    })))
})
