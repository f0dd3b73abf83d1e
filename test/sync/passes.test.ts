/** What a call does next, and what the outcome of a request does: each state with each outcome, without a service. */
import { assert, describe, it } from "@effect/vitest"
import { Option, Result } from "effect"
import {
  Cursor,
  type ListError,
  PaginationError,
  ServiceUnavailable,
  UnexpectedStatus,
  UnprocessableEntity
} from "../../src/index.ts"
import type { Checkpoint, RunningPass, SweepWindow } from "../../src/sync/index.ts"
import { begin, restart } from "../../src/sync/pass.ts"
import {
  type Call,
  type Goal,
  initialState,
  nextRequest,
  type Reading,
  type State,
  step
} from "../../src/sync/passes.ts"
import { company } from "../support/client.ts"
import { type Answer, atNoon, blank, noon, page, utc } from "./support.ts"

const hour = 3_600_000
const overlap = 900_000
const reads = { overlap, sortById: false }

const call = (changes: Partial<Call> = {}): Call => ({
  company,
  goal: { _tag: "Pass" },
  ...reads,
  prefetchPages: 0,
  maxPages: Infinity,
  deadline: Infinity,
  writer: "me",
  ...changes
})

const sweepOf = (window: SweepWindow, allowMissing = false): Goal => ({ _tag: "Sweep", window, allowMissing })

/** The pass that is read next from here. */
const reading = (from: Checkpoint, given = call()): Reading => readingOf(initialState(given, Option.some(from)), given)

const readingOf = (state: State, given = call()): Reading => {
  const request = nextRequest(given, state, 0)
  return request._tag === "Read" ? request.state : assert.fail(`it does not read: ${request._tag}`)
}

/** The step that a page makes. */
const answered = (state: Reading, answer: Answer, given = call()) =>
  Result.getOrThrow(step(given, state, Result.succeed(page(answer)), { local: noon + 2 * hour, monotonic: 0 }))

const failed = (state: Reading, error: ListError, given = call()) =>
  step(given, state, Result.fail(error), { local: noon + 2 * hour, monotonic: 0 })

const cursor = Option.some(Cursor.make("2"))
const where = { companyId: company.id, resumeFrom: cursor }

/** An increment behind its first page. */
const begun = (given = call()) =>
  readingOf(answered(reading(atNoon, given), { asOf: noon + hour, next: "2" }, given).state)

describe("a call begins", () => {
  const window = { gte: utc(noon) }

  it.each<readonly [string, Checkpoint, Goal, RunningPass]>([
    ["a first load without a watermark", blank, { _tag: "Pass" }, begin(blank, "first", reads)],
    ["a first load without a watermark, also as a sweep", blank, sweepOf({}), begin(blank, "first", reads)],
    ["an increment", atNoon, { _tag: "Pass" }, begin(atNoon, "increment", reads)],
    ["a sweep of its window", atNoon, sweepOf(window), begin(atNoon, "sweep", reads, { window })]
  ])("%s", (_, from, goal, running) => {
    assert.deepInclude(reading(from, call({ goal })), { running, isAnswer: true, isStored: true, kind: running.kind })
  })

  const increment = begin(atNoon, "increment", reads)
  const first = begin(blank, "first", reads)
  const sweep = begin(atNoon, "sweep", reads, { window })
  const confirm = begin(atNoon, "confirm", reads, { window, sweepPass: 7 })

  it.each<readonly [string, RunningPass, Goal, boolean]>([
    ["an increment, which is what a pass is for", increment, { _tag: "Pass" }, true],
    ["a sweep, which a pass completes", sweep, { _tag: "Pass" }, true],
    ["an increment, before the sweep begins", increment, sweepOf({}), false],
    ["a first load, which takes the place of a sweep", first, sweepOf({}), true],
    ["a sweep whose window has that of the call", sweep, sweepOf({ gte: utc(noon + hour) }), true],
    ["a confirm whose window has that of the call", confirm, sweepOf({ gte: utc(noon + hour) }), true],
    ["a sweep of a smaller window, before its own", sweep, sweepOf({}), false]
  ])("with what is running: %s", (_, running, goal, isAnswer) => {
    const checkpoint = { ...atNoon, running: Option.some(running) }

    assert.deepInclude(reading(checkpoint, call({ goal })), { running, isAnswer, checkpoint })
  })
})

describe("a call", () => {
  it("is complete with the last page of its pass, and ends", () => {
    const { batch, isEnded, state } = answered(begun(), {})

    assert.deepInclude(state, { _tag: "Complete", pages: 2, kind: "increment" })
    assert.isTrue(isEnded)
    assert.deepStrictEqual(Option.map(batch, ({ checkpoint }) => checkpoint), Option.some(state.checkpoint))
    assert.deepStrictEqual(nextRequest(call(), state, 0), { _tag: "End" })
  })

  it("reads on in the same attempt behind a page that has a next", () => {
    const { batch, isEnded, state } = answered(reading(atNoon), { asOf: noon + hour, next: "2" })

    assert.isFalse(isEnded)
    assert.isTrue(Option.isSome(batch))
    assert.deepInclude(state, { _tag: "Reading", pages: 1, isStored: true })
  })

  it("continues a sweep with its confirm in another attempt, and marks with the last page of that", () => {
    const given = call({ goal: sweepOf({}, true) })
    const swept = answered(reading(atNoon, given), { asOf: noon + hour }, given)
    assert.isTrue(swept.isEnded)
    const confirm = readingOf(swept.state, given)
    assert.strictEqual(confirm.kind, "confirm")
    const last = answered(confirm, { asOf: noon + hour + 1 }, given)

    assert.deepStrictEqual(
      Option.flatMap(last.batch, ({ missing }) => missing),
      Option.some({ window: {}, before: noon + hour, allowed: true })
    )
    assert.strictEqual(last.state._tag, "Complete")
  })

  it("accepts nothing on behalf of a sweep that it only completes", () => {
    const given = call({ goal: sweepOf({}, true) })
    const window: SweepWindow = { lt: utc(noon) }
    const running = Option.some(begin(atNoon, "confirm", reads, { window, sweepPass: 7 }))
    const { batch, state } = answered(reading({ ...atNoon, running }, given), { asOf: noon + hour }, given)

    assert.deepStrictEqual(
      Option.map(batch, ({ missing }) => missing),
      Option.some(Option.some({ window, before: 7, allowed: false }))
    )
    assert.strictEqual(state._tag, "Due")
    assert.strictEqual(readingOf(state, given).kind, "sweep")
  })

  it.each<readonly [string, Partial<Call>, number]>([
    ["pages", { maxPages: 1 }, 0],
    ["time", { deadline: 50 }, 50]
  ])("[Y71] stops where it may not read on, and reads one page at least: %s", (_, changes, monotonic) => {
    const given = call(changes)
    assert.strictEqual(nextRequest(given, initialState(given, Option.some(atNoon)), monotonic)._tag, "Read")

    assert.deepStrictEqual(nextRequest(given, begun(given), monotonic), { _tag: "End" })
  })

  it("[Y71] stores a pass that began again before it stops", () => {
    const given = call({ maxPages: 1 })
    const { batch, isEnded, state } = answered(reading(atNoon, given), { asOf: noon - 5 * hour }, given)
    assert.deepStrictEqual([batch, isEnded], [Option.none(), true])
    const request = nextRequest(given, state, 0)

    if (request._tag !== "Store") return assert.fail(`it is not stored: ${request._tag}`)
    const running = Option.getOrThrow(request.batch.checkpoint.running)
    assert.deepInclude(request.batch, { kind: "increment", pass: noon, punches: [], missing: Option.none() })
    assert.deepStrictEqual(running.since, Option.some(utc(noon - 6 * hour - overlap)))
    assert.deepStrictEqual(nextRequest(given, request.state, 0), { _tag: "End" })
  })
})

describe("a failed request", () => {
  it.each<readonly [string, ListError]>([
    ["422", new UnprocessableEntity(where)],
    ["400", new UnexpectedStatus({ ...where, status: 400 })],
    ["404", new UnexpectedStatus({ ...where, status: 404 })],
    ["410", new UnexpectedStatus({ ...where, status: 410 })],
    ["a cycle of cursors", new PaginationError({ ...where, reason: "CursorCycle" })]
  ])("with a cursor that is refused begins the pass again, without a batch: %s", (_, error) => {
    const state = begun()
    const { batch, isEnded, state: after } = Result.getOrThrow(failed(state, error))

    assert.deepStrictEqual([batch, isEnded], [Option.none(), true])
    assert.deepInclude(after, {
      _tag: "Reading",
      running: restart(state.running, true),
      restarts: 1,
      isStored: false,
      pages: error._tag === "PaginationError" ? 2 : 1
    })
  })

  it("keeps the order of a pass whose cursor an earlier call was given", () => {
    const given = call({ sortById: true })
    const state = begun(given)
    const refused = new UnprocessableEntity(where)
    const orderAfter = (state: Reading) => readingOf(Result.getOrThrow(failed(state, refused)).state).running.sorted

    assert.deepStrictEqual([orderAfter(state), orderAfter(reading(state.checkpoint, given))], [undefined, true])
  })

  it.each<readonly [string, ListError]>([
    ["[Y9] 422 without a cursor", new UnprocessableEntity({ companyId: company.id })],
    ["404 without a cursor", new UnexpectedStatus({ companyId: company.id, status: 404 })],
    ["409", new UnexpectedStatus({ ...where, status: 409 })],
    ["503", new ServiceUnavailable(where)],
    ["a wrong count", new PaginationError({ ...where, reason: "CountMismatch" })]
  ])("ends the call with its error: %s", (_, error) => {
    assert.deepStrictEqual(failed(begun(), error), Result.fail(error))
  })

  it("[Y37] continues at its cursor behind a hundred empty pages, a thousand times without a row", () => {
    const empty = new PaginationError({ ...where, reason: "EmptyPages" })
    const first = begun()
    const again = (state: Reading) => {
      const { batch, isEnded, state: after } = Result.getOrThrow(failed(state, empty))
      assert.deepStrictEqual([batch, isEnded], [Option.none(), true])
      return readingOf(after)
    }
    let state = first
    for (let runs = 0; runs < 1000; runs++) state = again(state)

    assert.deepStrictEqual({ ...state, emptyRuns: 0 }, first)
    assert.deepStrictEqual(failed(state, empty), Result.fail(empty))
    const row = readingOf(answered(state, { next: "3", modified: [noon] }).state)
    assert.strictEqual(row.emptyRuns, 0)
    assert.strictEqual(readingOf(answered(state, { next: "3" }).state).emptyRuns, 1000)
  })

  it("[Y10] drops the pass at the fourth time: that is stored first, then said", () => {
    const refused = new UnprocessableEntity(where)
    const running = { ...begun().running, restarts: 3 }
    const state = { ...begun(), running }
    const { batch, isEnded, state: lost } = Result.getOrThrow(failed(state, refused))

    assert.isTrue(isEnded)
    assert.deepInclude(Option.getOrThrow(batch), { kind: "increment", pass: noon + hour, punches: [] })
    assert.deepInclude(lost.checkpoint, {
      pass: noon + hour,
      watermark: atNoon.watermark,
      running: Option.none(),
      writer: "me"
    })
    const request = nextRequest(call(), lost, 0)
    if (request._tag !== "Fail") return assert.fail(`it does not fail: ${request._tag}`)
    assert.strictEqual(request.error.reason._tag, "CursorLost")
    assert.deepStrictEqual(request.error.checkpoint, Option.some(lost.checkpoint))
  })
})

describe("a page that leads to the cycle guard of its attempt", () => {
  it("[Y12] is discarded and counted, and begins the pass again", () => {
    const state = begun()
    const { batch, state: after } = answered(state, { next: "2" })

    assert.deepStrictEqual(batch, Option.none())
    assert.deepInclude(after, { running: restart(state.running, true), restarts: 1, pages: 2, isStored: false })
  })
})

describe("the time since the attempt began", () => {
  it("is that of the call that began it, and unknown to a later one", () => {
    const given = call()
    const start = nextRequest(given, initialState(given, Option.some(atNoon)), 700)
    if (start._tag !== "Read") return assert.fail(start._tag)
    const { state } = answered(start.state, { asOf: noon + hour, next: "2" })

    assert.deepStrictEqual(readingOf(state).begunAt, Option.some(700))
    assert.deepStrictEqual(reading(state.checkpoint).begunAt, Option.none())
  })
})
