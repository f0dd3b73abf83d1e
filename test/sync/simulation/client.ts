/**
 * Plans through the whole client over the fake service: URLs, decoding, dates, retries. Each is one sync or two, whose time the
 * driver moves while rows change, requests fail and calls stop; at the end the copy must have what the service lists.
 */
import { assert } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Layer, Option, Predicate, Stream } from "effect"
import { TestClock } from "effect/testing"
import { RetryPolicy, type TimePunch, TimePunches } from "../../../src/index.ts"
import { twoListings } from "../../../src/internal/wire/spelling.ts"
import { Sync } from "../../../src/sync/index.ts"
import { type Prng, prng } from "../../../src/testing/base/prng.ts"
import { FakeService, type FakeServiceOptions, Fault } from "../../../src/testing/index.ts"
import { app, company } from "../../support/client.ts"
import { generatePlain } from "../../support/densities.ts"
import { isReplay, runSeries } from "../../support/series.ts"
import { makeCopy, noon } from "../support.ts"
import { Broken } from "./judge.ts"
import { minute, pickAny, second } from "./plan.ts"

const lunch = {
  id: 1,
  user_id: 1,
  custom_break_id: 0,
  paid: false,
  in: "2026-03-01T12:00:00Z",
  out: "2026-03-01T12:30:00Z"
}

/** What a plan draws once. */
interface ClientPlan {
  readonly options: FakeServiceOptions
  readonly sortById: boolean
  readonly attempts: number
  /** Whether cursors may be refused, so that a pass begins again and gives its order up. */
  readonly losesCursors: boolean
  /** Stops after so many pages. */
  readonly pages: number | undefined
}

/** Seven rows a page: the service ignores the limit of the client. */
const rowsOfPage = 7

const drawPlan = (seed: number, random: Prng, dates: { frozen: string | undefined }): ClientPlan => {
  // From a separate sequence: the other draws stay as they were.
  const spellings = prng(seed ^ 0x51ed27)
  const nulls = spellings.pick(["both", "both", "false", "false", 400, 422] as const)
  const hasOther = spellings.chance(0.6)
  const sortById = random.chance(0.4)
  const defaultOrder = random.pick(["id", "id", "clocked_in", "modified"] as const)
  const isById = defaultOrder === "id"
  const cursors = (isById || sortById) && random.chance(0.6) ? "record" : "position"
  const mode = random.pick(["always", "always", "always", "never", "laterOnly"] as const)
  const ignores = random.pick<ReadonlyArray<string>>([[], [], ["modified_since"], [
    "clocked_in[gte]",
    "clocked_in[lte]"
  ]])
  return {
    sortById,
    attempts: random.pick([1, 3] as const),
    losesCursors: isById || cursors === "position",
    pages: random.chance(0.4) ? random.between(1, 4) : undefined,
    options: {
      nulls,
      refuses: hasOther ? [] : ["include_deleted"],
      defaultOrder,
      cursors,
      defaultLimit: rowsOfPage,
      ignores: ["limit", ...ignores],
      filters: isById && random.chance(0.3) ? "afterPaging" : "beforePaging",
      clockOffset: random.between(-600, 600) * minute,
      latency: random.between(0, 3) * 500,
      ...(random.chance(0.5) ? { visibleAfter: { from: 0, to: "5 minutes", seed: random.between(1, 1000) } } : {}),
      date: (time, { query }) =>
        mode === "never" || (mode === "laterOnly" && query["cursor"] === undefined) ? undefined : dates.frozen ?? time
    }
  }
}

/** Calls by how they ended, and what is known of deletions at the end of a plan. */
type Ends = Map<string, number>

/** Runs the plans of some seeds. Fails with what one of them broke, and unless the calls ended in every way. */
export const runPlans = Effect.fnUntraced(function*(seeds: Iterable<number>) {
  const ends: Ends = new Map()
  yield* TestClock.setTime(noon)
  yield* runSeries(seeds, {
    file: "test/sync/simulationClient.test.ts",
    draw: (seed) => drawRun(seed, ends),
    run: ({ steps }) => steps,
    describe: ({ plan }) => JSON.stringify(plan)
  })

  if (isReplay) return
  for (
    const end of [
      "complete",
      "stopped",
      "Superseded",
      "CursorLost",
      "Forbidden",
      "ServiceUnavailable",
      "RateLimited",
      "TransportError",
      "DecodeError",
      "PaginationError",
      "deletions missed",
      "deletions not seen",
      "two listings"
    ]
  ) assert.isAbove(ends.get(end) ?? 0, 0, end)
})

/** The plan of a seed, and its steps, which fail with what they broke. */
const drawRun = (seed: number, ends: Ends) => {
  const random = prng(seed)
  const dates: { frozen: string | undefined } = { frozen: undefined }
  const plan = drawPlan(seed, random, dates)
  const copy = makeCopy()
  const retries = RetryPolicy.layer({ attempts: plan.attempts, baseDelay: "1 second", maxDelay: "2 seconds" })
  const layer = Layer.merge(app(plan.options).pipe(Layer.provide(retries)), copy.layer)

  const steps = Effect.gen(function*() {
    const service = yield* FakeService
    const ids = Array.from({ length: 30 }, (_, index) => index + 1)
    const template = generatePlain({ count: 1, companyId: company.id })[0]
    if (template === undefined) throw new Error("no punch was made")
    let edits = 0
    const readsFalse = plan.options.nulls === "false"
    // A look asks for a window of seconds, which must fit a page.
    const spread = (id: number) =>
      readsFalse
        ? { clocked_in: new Date(Date.UTC(2026, 1, 1, 0, id)).toISOString(), clocked_out: null, breaks: [] }
        : {}
    const fewOf = (some: ReadonlyArray<number>) => readsFalse ? some.slice(0, 5) : some
    const rowOf = (id: number) => ({
      ...template,
      ...spread(id),
      id,
      notes: `v${++edits}`,
      modified: "2026-01-01T00:00:00Z"
    })
    const dayOf = () => new Date(Date.UTC(2026, 2, random.between(1, 28), 0, readsFalse ? edits : 0)).toISOString()
    yield* service.seed(ids.map(rowOf))

    /** Something that users of the service do. */
    const change = Effect.suspend(() => {
      const some = ids.filter(() => random.chance(0.15))
      const notes = `v${++edits}`
      return pickAny(random, [
        service.edit(some, { notes }),
        service.edit(fewOf(some), { notes, clocked_in: dayOf(), clocked_out: null, breaks: [] }),
        service.edit(some, { notes, deleted: random.chance(0.5) }),
        service.edit(some, { notes, breaks: [{ ...lunch, deleted: random.pick([true, true, false, null]) }] }),
        service.remove(some.slice(0, 1)),
        // Also an id that was free.
        service.add(some.slice(0, 2).map(rowOf)),
        service.add([rowOf(ids.push(ids.length + 1))])
      ]) ?? Effect.void
    })

    const faults = [
      Fault.status(503),
      Fault.status(429),
      Fault.status(403),
      Fault.reset,
      Fault.cutBody(),
      Fault.badRow(0, { user_id: "x" }),
      Fault.countMismatch(),
      Fault.duplicateRow(),
      Fault.emptyPage,
      ...(plan.losesCursors ? [Fault.status(422), Fault.status(404)] : [])
    ]

    const misfortune = Effect.suspend(() => {
      if (random.chance(0.2)) return service.clearFaults
      if (random.chance(0.2)) {
        dates.frozen = dates.frozen === undefined ? new Date(Date.UTC(2026, 3, 1)).toUTCString() : undefined
        return Effect.void
      }
      if (plan.losesCursors && random.chance(0.15))
        return service.inject(Fault.cursorCycle(random.between(1, 3)), { times: 40 })
      const fault = pickAny(random, faults)
      const probability = { chance: 0.7, seed: random.between(1, 1e6) }
      return fault === undefined ? Effect.void : service.inject(fault, { times: random.between(1, 4), probability })
    })

    const call = Effect.suspend(() => {
      const options = {
        sortById: plan.sortById,
        claim: random.chance(0.2),
        prefetchPages: random.chance(0.2) ? 2 : 0,
        ...(plan.pages === undefined ? {} : { stopAfter: { pages: plan.pages } }),
        onCommit: () => Effect.as(random.chance(0.6) ? change : Effect.void, !random.chance(0.03))
      }
      return random.chance(plan.losesCursors ? 0.3 : 0.05)
        ? Sync.sweep(company, { ...options, allowMissing: true })
        : Sync.run(company, options)
    })

    /** Lets the time of a call pass. */
    const ended = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.gen(function*() {
        const fiber = yield* Effect.forkChild(effect)
        for (let seconds = 0; fiber.pollUnsafe() === undefined; seconds++) {
          if (seconds > 4000) throw new Broken("a call does not end")
          yield* TestClock.adjust(second)
        }
        const exit = yield* Fiber.await(fiber)
        if (Exit.isFailure(exit) && Cause.hasDies(exit.cause)) throw new Broken(Cause.pretty(exit.cause))
        return exit
      })

    const met = (end: string) => ends.set(end, (ends.get(end) ?? 0) + 1)

    const count = (
      exit: Exit.Exit<{ readonly complete: boolean }, { readonly _tag: string; readonly reason?: unknown }>
    ) => {
      const error = Exit.isFailure(exit) ? Option.getOrUndefined(Cause.findErrorOption(exit.cause)) : undefined
      const end = Exit.isSuccess(exit)
        ? exit.value.complete ? "complete" : "stopped"
        : error?._tag === "SyncError"
        ? (Predicate.hasProperty(error.reason, "_tag") ? String(error.reason._tag) : String(error.reason))
        : error?._tag ?? "killed"
      met(end)
      return end
    }

    for (let steps = random.between(6, 14); steps > 0; steps--) {
      yield* TestClock.adjust(random.between(0, random.chance(0.2) ? 3600 : 300) * second)
      yield* change
      if (random.chance(0.5)) yield* misfortune
      if (random.chance(0.15)) {
        // Two at once.
        const [one, other] = yield* Effect.all([
          Effect.forkChild(Effect.exit(call)),
          Effect.forkChild(Effect.exit(call))
        ])
        yield* ended(Effect.all([Fiber.join(one), Fiber.join(other)]))
        count(yield* Fiber.join(one))
        count(yield* Fiber.join(other))
      } else count(yield* ended(call))
    }

    // The quiet: what is running, and one more pass; then a sweep.
    yield* service.clearFaults
    dates.frozen = undefined
    yield* TestClock.adjust("10 minutes")
    const complete = (quiet: typeof Sync.run) =>
      Effect.gen(function*() {
        for (let calls = 0; calls < 60; calls++) {
          const stopAfter = plan.pages === undefined ? {} : { stopAfter: { pages: plan.pages } }
          const end = count(yield* ended(quiet(company, { sortById: plan.sortById, ...stopAfter })))
          if (end === "complete") return
          if (!["stopped", "CursorLost"].includes(end)) throw new Broken(`in the quiet a call ended with ${end}`)
          yield* TestClock.adjust(minute)
        }
        throw new Broken("what is running does not end")
      })
    // By two lists: a service may read the query of one for both as "not deleted".
    const listed = Effect.map(
      Effect.forEach(
        ["exclude", "only"] as const,
        (deleted) => ended(Stream.runCollect(TimePunches.list(company, { deleted })))
      ),
      (exits) =>
        exits.flatMap((exit) => [...Exit.getSuccess(exit).pipe(Option.getOrThrow)])
          .toSorted((one, other) => one.id - other.id)
    )
    const textOf = (rows: ReadonlyArray<TimePunch>) =>
      rows.map(({ breaks, deleted, id, notes }) => `${id} ${notes} ${deleted} ${breaks.map((each) => each.deleted)}`)
    yield* complete(Sync.run)
    yield* complete(Sync.run)
    const rows = yield* listed
    if (!readsFalse) {
      const copied = new Set(textOf(copy.present()))
      const missing = textOf(rows).filter((row) => !copied.has(row))
      if (missing.length > 0) throw new Broken(`after a pass the copy lacks ${missing.join(", ")}`)
    }
    // The first pass of a day looks for deleted punches.
    yield* TestClock.adjust("1 day")
    yield* complete(Sync.run)
    const { deletions, spelling } = copy.checkpoint()
    if (spelling === twoListings) met("two listings")
    if (deletions === "unswept") met("deletions missed")
    const isSeen = !readsFalse || spelling !== undefined
    if (!isSeen) {
      met("deletions not seen")
      // A look proves nothing where windows are ignored, or a page is filtered after it was cut.
      const looks = plan.options.filters !== "afterPaging" && !plan.options.ignores?.includes("clocked_in[gte]")
      if (looks && rows.some(({ deleted }) => deleted)) throw new Broken("no look saw that deletions are hidden")
    }
    yield* complete((id, options) => Sync.sweep(id, { ...options, allowMissing: true }))
    // Where they are not seen, rows that are deleted are missing: each that is paid is there, and no other.
    const after = textOf(copy.present().filter(({ deleted }) => isSeen || !deleted))
    const expected = textOf(rows.filter(({ deleted }) => isSeen || !deleted))
    if (after.join("\n") !== expected.join("\n")) {
      throw new Broken(`after a sweep the copy has ${after.join(", ")} of ${expected.join(", ")}`)
    }
    if (isSeen && copy.checkpoint().deletions !== undefined) {
      throw new Broken("after a sweep by a spelling that is proven, deletions count as missed")
    }
  })

  return { plan, steps: Effect.provide(steps, layer) }
}
