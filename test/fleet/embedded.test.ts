import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Layer, Option, Result, Scope, Stream, Tracer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Fs from "node:fs"
import { Fleet, type FleetError } from "../../src/fleet/index.ts"
import { FleetRunner, type SqliteRunnerOptions } from "../../src/fleet/node/index.ts"
import { startEmbedded } from "../../src/fleet/node/run.ts"
import {
  CompanyGuid,
  CompanyId,
  type InvalidRequest,
  type ListError,
  TimePunches,
  UnexpectedStatus
} from "../../src/index.ts"
import { PunchCopy } from "../../src/sql/index.ts"
import { readRows } from "../../src/sql/read.ts"
import { FakeService, Fault, generatePunches } from "../../src/testing/index.ts"
import { temporaryFolder } from "../cli/support.ts"
import { app, oauth } from "../support/client.ts"
import { recorder } from "../support/recorder.ts"

const id = CompanyId.make
const guidOf = (company: number) => CompanyGuid.make(`3b2f7c1e-5a94-4d0b-8e6f-${String(company).padStart(12, "0")}`)
const companies = [5001, 5002, 5003].map((company) => ({ id: id(company), guid: guidOf(company) }))

const everyMinute = companies.map((company) => Object.assign({ every: "1 minute" as const }, company))

const punches = companies.flatMap(({ id }, at) =>
  generatePunches({ seed: at, count: 450, companyId: id, firstId: at * 10_000 + 1 })
    // A database keeps U+FFFD for U+0000.
    .map((punch) => Object.assign(punch, { notes: punch.notes?.replaceAll("\0", " ") }))
)

const service = app({
  companies: companies.map(({ guid, id }) => ({ id, guid, accessToken: `token-${id}` })),
  punches
}, oauth)

/** A fleet in this file; it ends with the scope that is given, as the process does. */
const running = (filename: string, options: Partial<SqliteRunnerOptions> = {}) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    const context = yield* Scope.provide(Layer.build(FleetRunner.layerSqlite({ filename, ...options })), scope)
    return { context, end: Scope.close(scope, Exit.void) }
  })

const file = Effect.map(temporaryFolder, (folder) => `${folder}/punches.db`)

/** Lets time pass, second by second, so that each loop has its turns. */
const passing = (duration: Duration.Input, step: Duration.Input = "1 second") =>
  Effect.gen(function*() {
    const steps = Math.ceil(Duration.toMillis(duration) / Duration.toMillis(step))
    for (let at = 0; at < steps; at++) yield* TestClock.adjust(step)
  })

/** The punches of a company in the copy, and those that the service lists. */
const both = (company: (typeof companies)[number]) =>
  Effect.gen(function*() {
    const rows = yield* readRows(company.id, { _tag: "After", id: -1, count: 100_000 })
    const copy = rows.filter(({ isMissing }) => !isMissing).map(({ punch }) => Result.getOrThrow(punch))
    const source = yield* Stream.runCollect(TimePunches.list(company, { deleted: "include" }))
    return { copy, source: source.toSorted((one, other) => one.id - other.id) }
  })

const assertEqual = Effect.forEach(companies, (company) =>
  Effect.map(both(company), ({ copy, source }) => {
    assert.isAbove(source.length, 400)
    assert.deepStrictEqual(copy, source)
  }), { discard: true })

/** Runs what uses the fleet of a runner over a separate file. */
const inRunner = <A, E, R>(
  options: Partial<SqliteRunnerOptions>,
  use: (fleet: Fleet["Service"]) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function*() {
    const { context } = yield* running(yield* file, options)
    return yield* Effect.provideContext(Effect.flatMap(Fleet, use), context)
  })

const noon = Date.UTC(2026, 3, 5, 12)

const test = <E>(title: string, body: Effect.Effect<void, E, Scope.Scope | TimePunches | FakeService>) =>
  it.effect(title, () => Effect.andThen(TestClock.setTime(noon), body).pipe(Effect.provide(service)))

const reasonOf = (error: FleetError | InvalidRequest) => error._tag === "FleetError" ? error.reason._tag : error._tag

describe("FleetRunner.layerSqlite", () => {
  test(
    "ends once its file was removed",
    Effect.gen(function*() {
      const filename = yield* file
      const { lost } = yield* startEmbedded({ filename })
      const ending = yield* Effect.forkChild(Effect.flip(lost))
      yield* passing("1 minute")
      assert.isUndefined(ending.pollUnsafe())
      Fs.rmSync(filename)
      yield* passing("1 minute")

      const error = yield* Fiber.join(ending)
      assert.deepStrictEqual([error.reason._tag, error.reason.message], [
        "Store",
        `the fleet cannot continue: the file ${filename} was removed, after this process had opened it`
      ])
    })
  )

  test(
    "loads what is added, follows it on its interval, and sweeps on its own",
    inRunner({ sweepEvery: "5 minutes", sweepWindow: "1000 days" }, (fleet) =>
      Effect.gen(function*() {
        const fake = yield* FakeService
        yield* fleet.add(everyMinute)
        yield* passing("5 seconds")
        yield* assertEqual
        const loaded = yield* fleet.list()
        assert.deepStrictEqual(
          loaded.map((
            { failures, late, phase, rows, state }
          ) => [state, phase, rows, failures, Duration.toMillis(late)]),
          companies.map(() => ["active", "increment", 450, 0, 0])
        )

        yield* fake.edit(punches.filter((_, at) => at % 10 === 0).map(({ id }) => id), { notes: "corrected" })
        yield* passing("65 seconds")
        yield* assertEqual

        yield* fake.remove(punches.filter((_, at) => at % 50 === 0).map(({ id }) => id))
        yield* passing("6 minutes", "10 seconds")
        yield* assertEqual
        const swept = yield* fleet.list()
        const runs = yield* fleet.turns(id(5001))
        assert.isTrue(
          swept.every(({ late, state }) => state === "active" && Duration.isLessThan(late, Duration.minutes(1)))
        )
        assert.isAtMost(runs.length, 50)
      }))
  )

  test(
    "begins the next company as soon as one ends, while more are due than it may sync at once",
    inRunner({ maxConcurrentSyncs: 1 }, (fleet) =>
      Effect.gen(function*() {
        yield* fleet.add(everyMinute)
        yield* passing("1500 millis", "5 millis")
        yield* assertEqual
      }))
  )

  test(
    "has the spans of the listing in the span of the turn",
    Effect.gen(function*() {
      const { spans, tracer } = recorder()
      const { context } = yield* Effect.provideService(running(yield* file), Tracer.Tracer, tracer)
      yield* Effect.provideContext(Effect.flatMap(Fleet, (fleet) => fleet.add(companies.slice(0, 1))), context)
      yield* passing("5 seconds")
      /** The names of a span and of those around it, the outermost first. */
      const pathOf = (span: Tracer.AnySpan): ReadonlyArray<string> =>
        span._tag === "ExternalSpan"
          ? []
          : [...Option.match(span.parent, { onNone: () => [], onSome: pathOf }), span.name]
      const turn = spans.find(({ name }) => name === "Fleet.turn")
      const paths = spans.map(pathOf).filter((path) => path.at(-1) === "TimePunches.page")

      assert.deepInclude(Object.fromEntries(turn?.attributes ?? []), { company: 5001, phase: "first" })
      assert.isAbove(paths.length, 2, `the pages of 450 punches: ${JSON.stringify(spans.map(({ name }) => name))}`)
      for (const path of paths) assert.strictEqual(path.slice(0, 2).join(), "Fleet.turn,Sync.run")
    })
  )

  test(
    "marks what was removed at the source by a sweep on request",
    inRunner({ sweepWindow: "1000 days" }, (fleet) =>
      Effect.gen(function*() {
        yield* fleet.add(companies)
        yield* passing("3 seconds")
        yield* (yield* FakeService).remove(punches.filter((_, at) => at % 50 === 0).map(({ id }) => id))
        assert.lengthOf((yield* fleet.sweep(companies.map(({ id }) => id))).changed, 3)
        yield* passing("3 seconds")
        yield* assertEqual
      }))
  )

  test(
    "takes turns of its pages, and counts a company as first until it is whole",
    inRunner({ pagesPerTurn: 1 }, (fleet) =>
      Effect.gen(function*() {
        yield* fleet.add(companies)
        yield* passing("1 second")
        assert.isTrue((yield* fleet.list()).every(({ phase, rows }) => phase === "first" && rows > 0))
        yield* passing("30 seconds")
        yield* assertEqual
        const outcomes = (yield* fleet.turns(id(5001))).map(({ outcome, pages }) => [outcome, pages]).toReversed()
        assert.deepStrictEqual(outcomes.slice(0, 2), [["TurnOver", 1], ["TurnOver", 1]])
        assert.include(outcomes.map(([outcome]) => outcome), "Complete")
      }))
  )

  test(
    "reads to the end in the turn after a cursor that died while the company waited: others would die too",
    inRunner({ pagesPerTurn: 1 }, (fleet) =>
      Effect.gen(function*() {
        yield* (yield* FakeService).inject(Fault.status(410), { requests: 2 })
        yield* fleet.add(companies.slice(0, 1))
        yield* passing("10 seconds")
        const turns = (yield* fleet.turns(id(5001))).map(({ outcome, pages }) => [outcome, pages]).toReversed()

        assert.deepStrictEqual(turns.slice(0, 3), [["TurnOver", 1], ["TurnOver", 1], ["Complete", 2]])
      }))
  )

  test(
    "keeps no token in the file: each process has its own cache",
    Effect.gen(function*() {
      const filename = yield* file
      const { context } = yield* running(filename)
      yield* Effect.provideContext(Effect.flatMap(Fleet, (fleet) => fleet.add(companies)), context)
      yield* passing("5 seconds")
      const sent = (yield* (yield* FakeService).requests).flatMap(({ endpoint, headers }) =>
        endpoint === "page" ? [headers["authorization"]?.replace("Bearer ", "") ?? ""] : []
      )
      const tokens = [...new Set(sent)]
      const files = Fs.globSync(`${filename}*`).map((path) => Fs.readFileSync(path))

      assert.strictEqual(tokens.length, yield* (yield* FakeService).tokensIssued)
      assert.isTrue(
        files.some((bytes) => bytes.includes(companies[0]?.guid ?? "")),
        "the rows of the companies are found"
      )
      for (const token of tokens) {
        assert.isAbove(token.length, 8)
        assert.isFalse(files.some((bytes) => bytes.includes(token)))
      }
    })
  )

  test(
    "continues where it ended, whatever it was doing",
    Effect.gen(function*() {
      const filename = yield* file
      const first = yield* running(filename)
      yield* Effect.provideContext(Effect.flatMap(Fleet, (fleet) => fleet.add(companies)), first.context)
      yield* (yield* FakeService).inject(Fault.stallBeforeHeaders, { requests: [4, 5, 6] })
      yield* passing("3 seconds")
      yield* first.end
      yield* (yield* FakeService).clearFaults
      const second = yield* running(filename)
      yield* Effect.gen(function*() {
        const [row] = yield* (yield* SqlClient
          .SqlClient)`SELECT count(*) AS held FROM fleet_company WHERE heartbeat_at IS NOT NULL OR starts > 0`
        assert.deepStrictEqual({ ...row }, { held: 0 }, "an interrupted turn is not held, and is no failed start")
        yield* passing("5 seconds")
        yield* assertEqual
      }).pipe(Effect.provideContext(second.context))
    })
  )

  test(
    "is refused a second time on the same file, by another name of it too",
    Effect.gen(function*() {
      const filename = yield* file
      const first = yield* running(filename)
      const refused = yield* Effect.flip(running(filename))
      const link = filename.replace("/punches.db", "/link.db")
      Fs.symlinkSync(filename, link)
      const others = yield* Effect.forEach(
        [filename.replace("/punches.db", "/./punches.db"), link],
        (name) => Effect.flip(running(name))
      )
      assert.deepStrictEqual([refused, ...others].map(reasonOf), Array.from({ length: 3 }, () => "AlreadyRunning"))
      assert.include(refused.message, filename)
      yield* first.end
      yield* running(filename)
    })
  )

  test(
    "refuses what is no file, and settings that are invalid",
    Effect.gen(function*() {
      const memory = yield* Effect.flip(running(":memory:"))
      const folder = yield* Effect.flip(running("/no/such/folder/punches.db"))
      const setting = yield* Effect.flip(running(yield* file, { takeover: "1 second" }))
      assert.deepStrictEqual([memory, folder, setting].map(reasonOf), ["InvalidRequest", "Store", "InvalidRequest"])
      assert.include(setting.message, "takeover")
      const untyped: Partial<SqliteRunnerOptions> = JSON.parse(`{"keepTurn":5}`)
      const unknown = yield* Effect.flip(running(yield* file, untyped))
      assert.strictEqual(unknown.message, "invalid keepTurn: is not an option; did you mean keepTurns?")
    })
  )

  test(
    "ends at the start where its file cannot be written: it would wait for ever, and look as if it ran",
    Effect.gen(function*() {
      const filename = yield* file
      const first = yield* running(filename)
      yield* Effect.provideContext(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) =>
            sql`CREATE TRIGGER refused BEFORE UPDATE ON fleet_solo BEGIN SELECT RAISE(ABORT, 'cannot be written'); END`
        ),
        first.context
      )
      yield* first.end
      const error = yield* Effect.flip(running(filename))

      assert.strictEqual(reasonOf(error), "Store")
      assert.include(error.message, "cannot be written")
    })
  )

  test(
    "corrects what a clock that was ahead has written, so that companies are synced by the clock that is right",
    inRunner({}, (fleet) =>
      Effect.gen(function*() {
        yield* fleet.add(companies)
        yield* passing("3 seconds")
        const ahead = 10 * 365 * 86_400_000
        yield* (yield* SqlClient
          .SqlClient)`UPDATE fleet_company SET next_at = next_at + ${ahead}, last_ok_at = last_ok_at + ${ahead}`
        yield* passing("70 seconds")
        const list = yield* fleet.list()

        assert.isTrue(list.every(({ nextAt }) => nextAt.epochMilliseconds <= noon + 1_000_000))
        assert.lengthOf(yield* fleet.turns(id(5001)), 2)
      }))
  )

  test(
    "does not block a company whose checkpoint a newer release wrote, and continues as soon as it can read it",
    inRunner({}, (fleet) =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const lookAt = Effect.map(
          fleet.status(id(5001)),
          Option.map(({ lastError, state }) => [state, Option.getOrUndefined(Option.map(lastError, ({ tag }) => tag))])
        )
        yield* fleet.add(everyMinute)
        yield* passing("5 seconds")
        yield* sql`UPDATE time_punches_sync SET checkpoint = replace(checkpoint, '"v":1', '"v":1,"later":"x"') WHERE company_id = 5001`
        yield* passing("5 minutes", "5 seconds")
        assert.deepStrictEqual(yield* lookAt, Option.some(["active", "SyncError.NewerCheckpoint"]))

        yield* sql`UPDATE time_punches_sync SET checkpoint = replace(checkpoint, ',"later":"x"', '') WHERE company_id = 5001`
        yield* passing("35 seconds")
        assert.deepStrictEqual(yield* lookAt, Option.some(["active", undefined]))
        yield* assertEqual
      }))
  )

  test(
    "lets a program hold a snapshot on its own connection",
    inRunner({}, (fleet) =>
      Effect.gen(function*() {
        yield* fleet.add(companies)
        yield* Stream.runForEach(Stream.take(PunchCopy.list(id(5001)), 1), () => Effect.void)
        const pulled = Stream.runForEach(
          Stream.take(Stream.concat(PunchCopy.list(id(5001)), Stream.never), 1),
          () => passing("10 seconds")
        )
        yield* Effect.timeoutOption(pulled, "20 seconds").pipe(Effect.forkScoped)
        yield* passing("10 seconds")
        yield* assertEqual
      }))
  )

  test(
    "pauses for all when the service throttles, and continues by itself",
    inRunner({}, (fleet) =>
      Effect.gen(function*() {
        yield* (yield* FakeService).inject(Fault.retryAfter("120"))
        yield* fleet.add(companies)
        yield* passing("5 seconds")
        const [pause] = yield* fleet.pauses
        assert.strictEqual(pause?.reason, "RateLimited")
        assert.isTrue(Option.isSome(pause?.until ?? Option.none()))
        yield* (yield* FakeService).clearFaults
        yield* passing("4 minutes", "5 seconds")
        assert.deepStrictEqual(yield* fleet.pauses, [])
        yield* assertEqual
      }))
  )

  test(
    "pauses for all when the credential is refused, asks for a token once a minute, and continues when one is granted",
    inRunner({}, (fleet) =>
      Effect.gen(function*() {
        const fake = yield* FakeService
        yield* fake.inject(Fault.status(401), { target: "token" })
        yield* fleet.add(companies)
        yield* passing("5 seconds")
        assert.deepStrictEqual((yield* fleet.pauses).map(({ reason }) => reason), ["InvalidClient"])
        yield* fake.clearRequests
        yield* passing("5 minutes")
        const asked = (yield* fake.requests).map(({ endpoint }) => endpoint)
        assert.isTrue(asked.length >= 4 && asked.length <= 8, `${asked.length} requests`)
        assert.isTrue(asked.every((endpoint) => endpoint === "token"), "no company is listed")
        yield* fake.clearFaults
        yield* passing("70 seconds")
        assert.deepStrictEqual(yield* fleet.pauses, [])
        yield* passing("1 minute")
        yield* assertEqual
        assert.isTrue((yield* fleet.list()).every(({ state }) => state === "active"))
      }))
  )
})

/** The service, but for the pages of company 5002. */
const spoilt = (pages: Stream.Stream<never, ListError>) =>
  Layer.effect(
    TimePunches,
    Effect.map(TimePunches, (punches) => ({
      ...punches,
      pages: (...args: Parameters<typeof punches.pages>) => {
        const [company] = args
        return (typeof company === "number" ? company : company.id) === 5002 ? pages : punches.pages(...args)
      }
    }))
  ).pipe(Layer.provideMerge(service))

describe("a company that always fails", () => {
  it.effect.each<
    {
      title: string
      pages: Stream.Stream<never, ListError>
      duration: Duration.Input
      state: string
      reason: string
      tag: string
    }
  >([
    {
      title: "is blocked after three pages that cannot be read",
      pages: Stream.fail(new UnexpectedStatus({ status: 404 })),
      duration: "5 minutes",
      state: "blocked",
      reason: "UnexpectedStatus",
      tag: "UnexpectedStatus"
    },
    {
      title: "is quarantined after five defects",
      pages: Stream.die(new Error("a bug")),
      duration: "16 minutes",
      state: "quarantined",
      reason: "Defect",
      tag: "Defect"
    }
  ])("$title, and the others continue", ({ duration, pages, reason, state, tag }) =>
    Effect.gen(function*() {
      yield* TestClock.setTime(noon)
      const { context } = yield* running(yield* file)
      yield* Effect.gen(function*() {
        const fleet = yield* Fleet
        yield* fleet.add(everyMinute)
        yield* passing(duration, "30 seconds")
        const states = (yield* fleet.list()).map(({ lastError, reason, state }) => [
          state,
          Option.getOrNull(reason),
          Option.getOrNull(Option.map(lastError, ({ tag }) => tag))
        ])
        assert.deepStrictEqual(states, [["active", null, null], [state, reason, tag], ["active", null, null]])
        assert.deepStrictEqual((yield* fleet.resumeWhere({ state: "blocked" })).length, state === "blocked" ? 1 : 0)
      }).pipe(Effect.provideContext(context))
    }).pipe(Effect.provide(spoilt(pages))))
})

describe("an outage in front of the service", () => {
  const html = { body: "html" } as const

  it.effect.each<readonly [string, Fault, "page" | "token"]>([
    ["522 of a content network", Fault.status(522, html), "page"],
    ["403 with a page for a browser", Fault.status(403, html), "page"],
    ["511 for a token", Fault.status(511, html), "token"]
  ])(
    "of ten minutes, %s, blocks none of three companies and pauses nothing",
    ([, fault, target]) =>
      Effect.gen(function*() {
        yield* TestClock.setTime(noon)
        const fake = yield* FakeService
        yield* inRunner({}, (fleet) =>
          Effect.gen(function*() {
            yield* fake.inject(fault, { target })
            yield* fleet.add(everyMinute)
            yield* passing("10 minutes", "10 seconds")
            const during = yield* fleet.list()
            assert.isTrue(during.every(({ lastError, state }) => state === "active" && Option.isSome(lastError)))
            assert.deepStrictEqual(yield* fleet.pauses, [])

            yield* fake.clearFaults
            yield* passing("35 minutes", "30 seconds")
            yield* assertEqual
            const after = yield* fleet.list()
            assert.deepStrictEqual(
              after.map(({ failures, lastError, state }) => [state, failures, Option.isNone(lastError)]),
              companies.map(() => ["active", 0, true])
            )
          }))
      }).pipe(Effect.provide(service))
  )

  test(
    "is no success of the probe of a pause",
    inRunner({}, (fleet) =>
      Effect.gen(function*() {
        const fake = yield* FakeService
        const reasons = Effect.map(fleet.pauses, (pauses) => pauses.map(({ reason }) => reason))
        yield* fake.inject(Fault.status(500, { problem: { error: "invalid_client" } }), { target: "token" })
        yield* fleet.add(everyMinute)
        yield* passing("1 minute")
        assert.deepStrictEqual(yield* reasons, ["InvalidClient"])

        // The token is granted again, and the process has the pause tried.
        yield* fake.clearFaults
        yield* fake.inject(Fault.status(522, html))
        yield* passing("5 minutes", "2 seconds")
        const runs = (yield* Effect.forEach(companies, ({ id }) => fleet.turns(id))).flat()
        assert.isAbove(runs.filter(({ outcome }) => outcome === "ServiceUnavailable").length, 0)
        assert.deepStrictEqual(yield* reasons, ["InvalidClient"])

        yield* fake.clearFaults
        yield* passing("2 hours", "30 seconds")
        assert.deepStrictEqual(yield* reasons, [])
        yield* assertEqual
      }))
  )
})
