import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import * as Fs from "node:fs"
import { churn, churnRate } from "../../../src/cli/sandbox/churn.ts"
import { manyCompanies, withWorld, type World } from "../../../src/cli/sandbox/companies.ts"
import { defaultOAuthClient, FakeService } from "../../../src/testing/index.ts"
import { started } from "../child.ts"
import { cli, temporaryFolder } from "../support.ts"

const listing = (world: World, index: number) =>
  Effect.map(
    FakeService.use(({ respond }) => {
      const company = world.companies[index]
      return respond({
        method: "GET",
        url: `/v2/company/${company?.id}/time_punches?limit=200`,
        headers: { authorization: `Bearer ${company?.accessToken}` },
        body: ""
      })
    }),
    ({ body }): ReadonlyArray<{ readonly id: number; readonly modified: string }> => JSON.parse(String(body)).data
  )

/** A process that ends with the scope. */
const spawn = (args: ReadonlyArray<string>, env: Record<string, string> = {}) =>
  started(args, { ...env, PATH: process.env["PATH"] ?? "" })

/** Standard error of a process, once it contains `text`. */
const said = ({ child }: Effect.Success<ReturnType<typeof spawn>>, text: string) =>
  Effect.promise(() =>
    new Promise<string>((resolve) => {
      let all = ""
      child.stderr.on("data", (some: string) => {
        all += some
        if (all.includes(text)) resolve(all)
      })
    })
  )

describe("the companies of a sandbox", () => {
  it("have ids from 5001 on and guids of the seed, whatever their number", () => {
    const few = manyCompanies(3, 10, 7).companies
    const many = manyCompanies(2000, 10, 7).companies

    assert.deepStrictEqual(few.map(({ id }) => id), [5001, 5002, 5003])
    assert.deepStrictEqual(many.slice(0, 3), few)
    assert.strictEqual(new Set(many.map(({ guid }) => guid)).size, 2000)
    for (const { guid } of many) assert.match(guid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.notStrictEqual(manyCompanies(1, 10, 8).companies[0]?.guid, few[0]?.guid)
  })

  it("have separate punches, and no id twice", () => {
    const world = manyCompanies(20, 50, 7)
    const punches = world.companies.flatMap((_, index) => world.punchesOf(index))

    assert.strictEqual(punches.filter(({ deleted }) => deleted !== true).length, 20 * 50)
    assert.strictEqual(new Set(punches.map(({ id }) => id)).size, punches.length)
    assert.deepStrictEqual(
      [...new Set(punches.map(({ company_id }) => company_id))],
      world.companies.map(({ id }) => id)
    )
  })

  it("have ids below 2³¹, also the last of twenty thousand", () => {
    assert.isBelow(manyCompanies(20_000, 500, 1).punchesOf(19_999).at(-1)?.id ?? Infinity, 2 ** 31 - 100_000)
  })

  it.effect("are filled when they are first listed, once", () =>
    Effect.gen(function*() {
      const world = manyCompanies(3, 30, 1)
      const { isFilled, service } = withWorld(yield* FakeService, world)
      const read = (index: number) => Effect.provideService(listing(world, index), FakeService, service)
      const first = yield* read(1)
      yield* service.edit(first.slice(0, 1).map(({ id }) => id), { notes: "seen" })
      const again = yield* read(1)

      assert.deepStrictEqual([0, 1, 2].map(isFilled), [false, true, false])
      assert.lengthOf(first, 30)
      assert.notStrictEqual(again[0]?.modified, first[0]?.modified)
      assert.deepStrictEqual(again.slice(1), first.slice(1))
    }).pipe(Effect.provide(FakeService.layer({ companies: manyCompanies(3, 30, 1).companies }))))
})

describe("the churn of a sandbox", () => {
  it.effect.each([[1, 2], [100, 2], [400, 8]] as const)(
    "changes punches of %d companies %d times a second, and only of those that were listed",
    ([count, perSecond]) =>
      Effect.gen(function*() {
        const world = manyCompanies(count, 20, 1)
        const service = yield* FakeService
        let changes = 0
        const counting = FakeService.of({
          ...service,
          add: (punches) => Effect.tap(service.add(punches), () => Effect.sync(() => changes++)),
          edit: (ids, patch) => Effect.tap(service.edit(ids, patch), () => Effect.sync(() => changes++))
        })
        const listed = (index: number) => index % 2 === 0
        const fiber = yield* Effect.forkChild(
          churn(count, (index) => listed(index) ? Option.some(world.punchesOf(index)) : Option.none(), 1).pipe(
            Effect.provideService(FakeService, counting)
          )
        )
        yield* TestClock.adjust("100 seconds")
        yield* Fiber.interrupt(fiber)

        const expected = perSecond * 100 * (count === 1 ? 1 : 0.5)
        assert.approximately(changes, expected, expected * 0.25)
        assert.include(churnRate(count), perSecond === 2 ? "twice a second" : `${perSecond} times a second`)
      }).pipe(Effect.provide(FakeService.layer({ companies: manyCompanies(count, 1, 1).companies })))
  )
})

describe("time-punches sandbox --write-env", () => {
  it.live(
    "writes the variables that it prints to a new file for its owner, and says where its page is",
    () =>
      Effect.gen(function*() {
        const file = `${yield* temporaryFolder}/.env`
        const sandbox = yield* spawn(["sandbox", "--json", "--port", "0", "--punches", "3", "--write-env", file])
        const variables: Record<string, string> = JSON.parse(yield* Effect.promise(() => sandbox.printed("\n")))
        const [mark, ...lines] = Fs.readFileSync(file, "utf8").trimEnd().split("\n")
        const url = variables["TIME_PUNCHES_BASE_URL"] ?? ""
        const page = yield* Effect.promise(() => fetch(`${url}/`).then((answer) => answer.text()))
        sandbox.child.kill("SIGINT")
        const { stderr } = yield* Effect.promise(() => sandbox.ended)

        assert.match(mark ?? "", /^# Written by time-punches sandbox/)
        assert.deepStrictEqual(lines, Object.entries(variables).map((pair) => pair.join("=")))
        assert.deepStrictEqual(Object.keys(variables).length, 7)
        assert.strictEqual(Fs.statSync(file).mode & 0o777, 0o600)
        assert.include(stderr, `${url}/ shows its requests, faults and punches.\n`)
        assert.include(page, "<h1>Sandbox</h1>")
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    60_000
  )

  it.live("replaces the file of the sandbox before it, whose port is another one", () =>
    Effect.gen(function*() {
      const file = `${yield* temporaryFolder}/.env`
      for (const _ of ["one day", "the next"]) {
        const sandbox = yield* spawn(["sandbox", "--json", "--port", "0", "--punches", "3", "--write-env", file])
        const variables: Record<string, string> = JSON.parse(yield* Effect.promise(() => sandbox.printed("\n")))
        const url = variables["TIME_PUNCHES_BASE_URL"] ?? ""
        assert.include(Fs.readFileSync(file, "utf8"), `TIME_PUNCHES_BASE_URL=${url}\n`)
        assert.strictEqual(Fs.statSync(file).mode & 0o777, 0o600)
        sandbox.child.kill("SIGINT")
        yield* Effect.promise(() => sandbox.ended)
      }
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)), 60_000)

  it.effect("leaves a file that no sandbox wrote as it is", () =>
    Effect.gen(function*() {
      const file = `${yield* temporaryFolder}/.env`
      Fs.writeFileSync(file, "MINE=1\n")
      const { code, stderr } = yield* cli(["sandbox", "--port", "0", "--punches", "3", "--write-env", file])

      assert.strictEqual(code, 8)
      assert.include(stderr, "exists, and no sandbox wrote it")
      assert.strictEqual(Fs.readFileSync(file, "utf8"), "MINE=1\n")
    }).pipe(Effect.scoped, Effect.provide([FakeService.layer(), NodeServices.layer])))
})

describe("time-punches sandbox --companies", () => {
  it.live("serves them to one OAuth client, and writes their ids and guids", () =>
    Effect.gen(function*() {
      const file = `${yield* temporaryFolder}/companies.csv`
      const sandbox = yield* spawn(
        ["sandbox", "--json", "--port", "0", "--companies", "12", "--punches", "40", "--companies-csv", file]
      )
      const variables: Record<string, string> = JSON.parse(yield* Effect.promise(() => sandbox.printed("\n")))
      const [head, ...rows] = Fs.readFileSync(file, "utf8").trimEnd().split("\n")
      const counts: Array<number> = []
      for (const row of [rows[0], rows[11]]) {
        const [company = "", guid = ""] = row?.split(",") ?? []
        const command = ["list", "--format", "ndjson", "--company", `${company}=${guid}`]
        const list = yield* Effect.flatMap(spawn(command, variables), ({ ended }) => Effect.promise(() => ended))
        counts.push(list.stdout.trimEnd().split("\n").length)
        assert.include(list.stdout, `"company_id":${company},`)
      }
      sandbox.child.kill("SIGINT")
      const { code, stderr } = yield* Effect.promise(() => sandbox.ended)

      assert.deepStrictEqual(Object.keys(variables), [
        "TIME_PUNCHES_BASE_URL",
        "TIME_PUNCHES_AUTH_URL",
        "TIME_PUNCHES_CLIENT_ID",
        "TIME_PUNCHES_CLIENT_SECRET",
        "TIME_PUNCHES_REQUESTS_PER_SECOND"
      ])
      assert.strictEqual(variables["TIME_PUNCHES_CLIENT_ID"], defaultOAuthClient.clientId)
      assert.deepStrictEqual([head, rows.length, Fs.statSync(file).mode & 0o777], ["company_id,guid", 12, 0o600])
      assert.deepStrictEqual(counts, [40, 40])
      assert.strictEqual(code, 130)
      assert.match(
        stderr,
        /^http:\/\/127\.0\.0\.1:\d+ serves 12 companies, 5001 to 5012\. Ctrl-C stops it\.\n\S+\/ shows its requests, faults and punches\.\n$/
      )
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)), 60_000)

  it.live("prints the companies in place of the variables with --companies-csv -", () =>
    Effect.gen(function*() {
      const sandbox = yield* spawn(["sandbox", "--port", "0", "--companies", "2", "--companies-csv", "-"])
      yield* said(sandbox, "Ctrl-C")
      sandbox.child.kill("SIGINT")
      const { stderr, stdout } = yield* Effect.promise(() => sandbox.ended)

      assert.match(stdout, /^company_id,guid\n5001,[0-9a-f-]{36}\n5002,[0-9a-f-]{36}\n$/)
      assert.match(stderr, /^# OAuth client:\nexport TIME_PUNCHES_BASE_URL=.*\n/)
      assert.notInclude(stderr + stdout, "COMPANY_ID")
    }).pipe(Effect.scoped), 60_000)

  it.effect.each(
    [
      [["--companies", "0"], /companies/],
      [["--punches", "99999999"], /a whole number from 0 to 5000000/],
      [["--latency", "86400001ms"], /a time from 0ms to 1d, such as 200ms or 2s/],
      [["--latency", "200"], /a time from 0ms to 1d, such as 200ms or 2s/],
      [["--churn=60"], /a time from 1s to 366d, such as 60s/],
      [["--seed", "99999999999999999"], /a whole number from 0 to 9007199254740991/],
      [["--write-env", " "], /the name of a file/],
      [["--write-env", "-"], /the name of a file, not -/],
      [["--companies", "20001"], /a whole number from 1 to 20000/],
      [["--companies-csv", "companies.csv"], /--companies-csv goes with --companies/],
      [["--companies", "2", "--companies-csv", ""], /the name of a file, or -/]
    ] as const
  )("refuses %j", ([flags, message]) =>
    Effect.gen(function*() {
      const { code, stderr } = yield* cli(["sandbox", "--port", "0", ...flags])

      assert.strictEqual(code, 2)
      assert.match(stderr, message)
    }).pipe(Effect.provide(FakeService.layer())))
})
