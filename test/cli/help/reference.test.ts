/** `help columns` and `help messages` name the keys and columns that the command writes, in their order. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import { feedFields } from "../../../src/cli/copy/feed.ts"
import { reference, type Table } from "../../../src/cli/help/reference.ts"
import { nothingSeen, positionOf, progressFields, seenAfter } from "../../../src/cli/print/progress.ts"
import { columns as csvColumns } from "../../../src/export/Csv.ts"
import { FakeService, Fault } from "../../../src/testing/index.ts"
import { punch } from "../../support/arbitraryPunch.ts"
import { servicePunch, wirePunch } from "../../support/wire.ts"
import { cli, inCopyOf, inFolder, linesOf, type Ran } from "../support.ts"

const [columns] = reference.columns
const [messages] = reference.messages

/** The words in backticks of a row. */
const wordsOf = ({ rows }: Table, term: string): ReadonlyArray<string> => {
  const [, meaning] = rows.find(([each]) => each === term) ?? assert.fail(`no row of ${term}`)
  return [...meaning.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word)
}

/** The keys of a value, each before those inside of it. The first element of an array counts, and a punch has none. */
const keysIn = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value)
    ? keysIn(value[0])
    : typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => [key].concat(/before|after/.test(key) ? [] : keysIn(inner)))
    : []

const keysOf = ({ stdout }: Ran) => keysIn(JSON.parse(stdout))

const headerOf = ({ stdout }: Ran) => stdout.split("\r\n")[0]?.split(",") ?? []

const camelCase = (name: string): string => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

const stored = [1, 2].map((day) =>
  servicePunch({
    id: day,
    approved: false,
    clocked_in: `2026-06-0${day}T09:00:00Z`,
    clocked_out: `2026-06-0${day}T17:00:00Z`
  })
)

const period = "--week 2026-06-01 --zone UTC"

describe("help columns", () => {
  it.live("names what each command writes", () =>
    inFolder(
      stored,
      Effect.fnUntraced(function*(folder) {
        const service = yield* FakeService
        const seen = new Map<string, Ran>()
        const call = (term: string, ...further: ReadonlyArray<string>) =>
          Effect.map(cli([term, ...further].join(" ").split(" ")), (ran) => {
            seen.set(term, ran)
            return ran
          })
        const database = `--database ${folder}/punches.db`
        yield* cli(`copy sync --history ${database}`.split(" "))
        yield* Effect.sleep("5 millis")
        const changed = [period, "--since", DateTime.formatIso(yield* DateTime.now), database]
        yield* Effect.sleep("5 millis")
        yield* service.edit([1, 2], { tips: 1 })
        const list = yield* call("list --format csv")
        const rows = yield* call("list --format json")
        const thresholds = [
          "--by user --weekly-threshold 1h --daily-threshold 1h --double-threshold 2h",
          period,
          database
        ]
        const sums = yield* call("summary --format csv", ...thresholds)
        const sumsJson = yield* call("summary --format json", ...thresholds)
        const issues = yield* call("payroll check --format csv", period, database)
        const issuesJson = yield* call("payroll check --format json", period, database)
        const sync = yield* call("copy sync --json", database)
        const people = yield* call("payroll diff --format csv", ...changed)
        const versions = yield* call("payroll diff --format csv --rows punches", ...changed)
        const both = yield* call("payroll diff --json", ...changed)
        const closed = yield* cli(
          `payroll close ${period} --weekly-threshold 1h --accept unapproved --json ${database}`.split(" ")
        )
        const revisions = yield* call("payroll list --json", database)
        const record = yield* call("payroll show --json", "1", database)
        const revision = yield* cli(`payroll show 1.1 --json ${database}`.split(" "))
        const verified = yield* call("payroll verify --json", database)
        yield* service.edit([1], { clocked_out: "2026-06-01T18:00:00Z" })
        yield* cli(`copy sync ${database}`.split(" "))
        const due = yield* call("payroll due --json", database)
        const feed = yield* call("copy feed", database)
        const fleet = `--database ${folder}/fleet.db`
        yield* cli(`fleet add 4021=3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60 ${fleet}`.split(" "))
        const companies = yield* call("fleet list --json", fleet)
        const oneCompany = yield* call("fleet status --json", "4021", fleet)
        yield* service.inject(Fault.status(403))
        yield* cli(`copy sync ${database}`.split(" "))
        const status = yield* call("copy status --json", database)
        yield* service.clearFaults
        const doctor = yield* call("doctor --json", database)

        assert.deepStrictEqual([...seen.keys()].toSorted(), columns.rows.map(([term]) => term).toSorted())
        const words = (term: string) => wordsOf(columns, term)
        assert.deepStrictEqual(headerOf(list), words("list --format csv"))
        assert.deepStrictEqual(keysOf(rows).toSorted(), Object.keys(wirePunch()).toSorted())
        assert.deepStrictEqual(headerOf(sums), words("summary --format csv"))
        assert.deepStrictEqual(keysOf(sumsJson), headerOf(sums).map(camelCase))
        assert.deepStrictEqual(headerOf(issues), words("payroll check --format csv"))
        assert.deepStrictEqual(
          keysOf(issuesJson),
          headerOf(issues).filter((name) => name !== "at_local").map(camelCase)
        )
        assert.deepStrictEqual(headerOf(people), words("payroll diff --format csv"))
        const [id, user, kind, ...sides] = words("payroll diff --format csv --rows punches")
        const twice = csvColumns.flatMap((name) =>
          name === "id" || name === "company_id" ? [] : [`before_${name}`, `after_${name}`]
        )
        assert.deepStrictEqual(headerOf(versions), [id, user, kind, ...twice])
        assert.deepStrictEqual(sides, twice.slice(0, 2))
        assert.deepStrictEqual(keysOf(both), words("payroll diff --json"))
        assert.deepStrictEqual(keysOf(revisions), words("payroll list --json"))
        assert.deepStrictEqual([closed.stdout, revision.stdout], [revisions.stdout, revisions.stdout])
        assert.deepStrictEqual(Object.keys(JSON.parse(record.stdout)), words("payroll show --json"))
        assert.deepInclude(JSON.parse(record.stdout).revisions[0], JSON.parse(revisions.stdout)[0])
        assert.deepStrictEqual(keysOf(verified), words("payroll verify --json"))
        const [amounts] = JSON.parse(due.stdout)
        assert.deepStrictEqual(Object.keys(amounts), words("payroll due --json"))
        assert.deepStrictEqual(Object.keys(amounts.rows[0]), Object.keys(JSON.parse(revisions.stdout)[0].rows[0]))
        for (const line of feed.stdout.trimEnd().split("\n")) {
          assert.deepStrictEqual(Object.keys(JSON.parse(line)), words("copy feed"))
        }
        assert.deepStrictEqual(keysOf(companies), words("fleet list --json"))
        assert.deepStrictEqual(keysOf(oneCompany), [...keysOf(companies), ...words("fleet status --json")])
        assert.deepStrictEqual(keysOf(sync), words("copy sync --json"))
        assert.deepStrictEqual(keysOf(status), words("copy status --json"))
        assert.deepStrictEqual(keysOf(doctor), words("doctor --json"))
      })
    ))
})

/** The common keys of an event. */
const common = ["message", "level", "timestamp", "event"]

/** The events of standard error, each with its further keys. */
const eventsOf = ({ stderr }: Ran): ReadonlyArray<readonly [event: string, keys: ReadonlyArray<string>]> =>
  linesOf(stderr).map((line) => {
    const keys = Object.keys(JSON.parse(line))
    assert.deepStrictEqual(keys.slice(0, common.length), common)
    return [JSON.parse(line).event, keys.slice(common.length)]
  })

const at = (text: string) => DateTime.toUtc(DateTime.makeUnsafe(text))

/** The keys of the progress of a listing with a window. */
const ofListing = Object.keys(progressFields({
  totals: { pages: 1, punches: 2 },
  received: 2,
  elapsed: 2000,
  position: positionOf(
    seenAfter(nothingSeen, ["2026-03-01", "2026-03-02"].map((day) => punch({ clockedIn: at(day) }))),
    { clockedIn: { gte: at("2026-03-01"), lt: at("2026-03-05") }, zone: Option.none() }
  )
}))

/** The keys of the progress of a feed. */
const ofFeed = Object.keys(feedFields(1, undefined))

describe("help messages", () => {
  const later = FakeService.use((service) => service.inject(Fault.retryAfter("30", 503), { times: 1, target: "page" }))

  it.effect("names the keys of each event", () =>
    inCopyOf(stored)(Effect.fnUntraced(function*(file) {
      const ended = (call: string) =>
        Effect.gen(function*() {
          const fiber = yield* Effect.forkChild(cli(call.split(" ")))
          while (fiber.pollUnsafe() === undefined) {
            yield* TestClock.adjust("5 seconds")
            yield* Effect.promise(() => new Promise(setImmediate))
          }
          return eventsOf(yield* Fiber.join(fiber))
        })
      yield* later
      const synced = yield* ended(`copy sync --database ${file} --log-format json`)
      yield* FakeService.use((service) => service.inject(Fault.status(403)))
      const failed = yield* ended("list --log-format json")
      const seen = [...synced, ...failed]

      const words = (event: string) => wordsOf(messages, event)
      assert.deepStrictEqual(seen, [
        ["retry", words("retry")],
        ["progress", words("progress").slice(ofListing.length, -ofFeed.length)],
        ["error", words("error")]
      ])
      assert.deepStrictEqual(words("progress").slice(0, ofListing.length), ofListing)
      assert.deepStrictEqual(words("progress").slice(-ofFeed.length), ofFeed)
    })))
})
