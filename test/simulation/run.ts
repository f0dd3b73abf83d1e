/** Runs a plan like an operator: list, and after a failure remove its cause and resume, until every row is there. */
import { Cause, Clock, Data, Effect, Exit, Option, Result, Schema, Stream } from "effect"
import { type Cursor, InvalidPunch, ListError, type Page, type TimePunch, TimePunches } from "../../src/index.ts"
import { prng } from "../../src/testing/base/prng.ts"
import { FakeService, type RecordedRequest } from "../../src/testing/index.ts"
import { drawFaultAt, type InjectedFault, isCursorCycle } from "./faults.ts"
import { companyId, companyOf, type Plan } from "./plan.ts"

/** A promise of the library that a plan broke. */
export class Broken extends Data.TaggedError("Broken")<{ readonly what: string }> {
  override get message(): string {
    return this.what
  }
}

export const broken = (what: string): Effect.Effect<never, Broken> => Effect.fail(new Broken({ what }))

/** An element of a stream. */
export type Row = Result.Result<TimePunch, InvalidPunch>

/** What running a plan gave. */
export interface Outcome {
  readonly rows: ReadonlyArray<Row>
  /** How each run ended: `Done`, `Stopped`, or the tag of the error. */
  readonly ends: ReadonlyArray<string>
  readonly requests: number
  /** Time by the clock of the service, in milliseconds. */
  readonly elapsed: number
}

/** A request of a run, as it was sent. */
export interface Sent {
  readonly endpoint: RecordedRequest["endpoint"]
  readonly cursor: string
  readonly at: number
}

/** Where a plan runs. In memory the checks are exact to the millisecond; over sockets some would race: skipped. */
export interface Setting {
  readonly strict: boolean
  readonly pause: (millis: number) => Effect.Effect<void>
  /** The requests since the previous call, in their order. */
  readonly sent: Effect.Effect<ReadonlyArray<Sent>>
}

/** More than any plan needs: one run per tolerated failure, some for a consumer that stops early. */
const maxRuns = 400

/**
 * Over sockets, what the faults left behind may still fail after they are removed. A timeout does not count: a machine under
 * load answers late, and a client without budget for retries then makes one request a run. The limit of runs ends that.
 */
const toleratedAfterRepair = 20

const isTimeout = (error: ListError) => error._tag === "TransportError" && error.reason === "Timeout"

/** Longer than the client remembers a throttled token endpoint, in milliseconds. */
const longestMemory = 302_000

/** Times are sums of fractions of milliseconds. */
const rounding = 0.001

const isListError = Schema.is(ListError)

type End =
  | { readonly _tag: "Done" }
  | { readonly _tag: "Stopped"; readonly at: Option.Option<Cursor> }
  | { readonly _tag: "Failed"; readonly error: ListError }

/** The pages of a run so far, in mode `pages`. */
interface Seen {
  pages: number
  next: Option.Option<Cursor>
}

/** Lists until every row is there, and checks each run and each failure; fails at the first broken promise. */
export const operate = Effect.fnUntraced(function*(plan: Plan, setting: Setting) {
  const service = yield* FakeService
  const random = prng(plan.seed + 1)
  const rows: Array<Row> = []
  const ends: Array<string> = []
  const began = yield* Clock.currentTimeMillis
  let from = Option.none<Cursor>()
  let faults = plan.faults
  let requests = 0
  let failures = 0
  // All faults are removed, and the client's memory of them has expired.
  let repaired = faults.length === 0
  let failuresAfterRepair = 0
  yield* injectAll(faults)

  for (let run = 0; run < maxRuns; run++) {
    const { end, seen } = yield* runOnce(plan, setting, from, rows)
    const sent = yield* setting.sent
    requests += sent.length
    yield* checkRequests(plan, setting, sent, from, end)
    ends.push(end._tag === "Failed" ? end.error._tag : end._tag)
    if (end._tag === "Done") return { rows, ends, requests, elapsed: (yield* Clock.currentTimeMillis) - began }
    if (end._tag === "Failed") {
      yield* checkFailure(plan, end.error, from, seen)
      if (
        repaired && (setting.strict || !isTimeout(end.error)) &&
        ++failuresAfterRepair > (setting.strict ? 0 : toleratedAfterRepair)
      ) {
        return yield* broken(`no fault is left, but the run failed: ${end.error.message}`)
      }
      if (failures++ >= plan.patience) {
        faults = []
        repaired = true
        // Before the pause: a token request in flight would otherwise meet them, and the client would remember that.
        yield* service.clearFaults
      }
      yield* setting.pause(repaired ? longestMemory : plan.pauses[run % plan.pauses.length] ?? 0)
      from = end.error.resumeFrom
      if (faults.length > 0 && random.chance(0.3)) {
        faults = [drawFaultAt(random, Option.getOrNull(from)), ...faults]
      }
    } else {
      from = end.at
    }
    faults = faults.filter((injected) => !isCursorCycle(injected))
    yield* service.clearFaults
    yield* injectAll(faults)
  }
  return yield* broken(`not done after ${maxRuns} runs: ${ends.slice(0, 20).join(", ")} …`)
})

const injectAll = (faults: ReadonlyArray<InjectedFault>) =>
  FakeService.use((service) =>
    Effect.forEach(faults, ({ fault, when }) => service.inject(fault, when), { discard: true })
  )

/** Lists from a cursor until the end, a failure, or the stop of the consumer. */
const runOnce = Effect.fnUntraced(function*(
  plan: Plan,
  { pause }: Setting,
  from: Option.Option<Cursor>,
  rows: Array<Row>
) {
  const { list, listResults, pages } = yield* TimePunches
  const company = companyOf(plan)
  const { filter } = plan.selection
  const options = { pageSize: plan.pageSize, prefetchPages: plan.prefetchPages, cursor: from }
  const seen: Seen = { pages: 0, next: from }
  const rest = plan.pace === 0 ? Effect.void : pause(plan.pace)

  const takePage = (page: Page) => {
    const isNext = page.index === seen.pages && Option.getOrNull(page.cursor.sent) === Option.getOrNull(seen.next)
    if (!isNext) return broken(`page ${page.index} arrived where page ${seen.pages} was due`)
    seen.pages++
    seen.next = page.cursor.next
    rows.push(...page.items.map((item) => Result.succeed(item)))
    return rest
  }
  const take = (row: Row) => {
    rows.push(row)
    return rest
  }
  const run = plan.mode === "list"
    ? Stream.runForEach(list(company, filter, options), (punch) => take(Result.succeed(punch)))
    : plan.mode === "listResults"
    ? Stream.runForEach(listResults(company, filter, options), take)
    : Stream.runForEach(Stream.take(pages(company, filter, options), plan.stopAfter ?? Infinity), takePage)

  const exit = yield* Effect.exit(run)
  if (Exit.isFailure(exit)) {
    const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
    if (error === undefined || Cause.hasDies(exit.cause)) return yield* broken(`a defect: ${Cause.pretty(exit.cause)}`)
    if (error._tag === "Broken") return yield* error
    const end: End = { _tag: "Failed", error }
    return { end, seen }
  }
  if (plan.mode === "pages" && seen.pages === 0) return yield* broken("the run ended without a page")
  const end: End = plan.mode === "pages" && Option.isSome(seen.next)
    ? { _tag: "Stopped", at: seen.next }
    : { _tag: "Done" }
  if (end._tag === "Stopped" && seen.pages !== plan.stopAfter) {
    return yield* broken(`the run ended after ${seen.pages} pages, although there is a next one`)
  }
  return { end, seen }
})

/** Checks the fields of a failure. */
const checkFailure = (plan: Plan, error: ListError, from: Option.Option<Cursor>, seen: Seen) => {
  const at = Option.getOrNull(error.resumeFrom)
  if (!isListError(error) || error.message === "") return broken(`not one of the typed errors: ${String(error)}`)
  if (error._tag === "InvalidRequest") return broken(`the client refuses a request of the plan: ${error.message}`)
  if (error.companyId !== companyId) return broken(`the error is of company ${error.companyId}`)
  // A TokenError counts the requests for the token, of which there are three at most.
  const most = error._tag === "TokenError" ? 3 : plan.policy.attempts + 1
  if (error.attempts > most) return broken(`the error counts ${error.attempts} requests`)
  if (plan.mode === "pages" && (error.pagesCompleted !== seen.pages || at !== Option.getOrNull(seen.next))) {
    return broken(`the error says page ${error.pagesCompleted} at ${at}, but the consumer has ${seen.pages} pages`)
  }
  return error.pagesCompleted === 0 && at !== Option.getOrNull(from) && error._tag !== "PaginationError"
    ? broken(`no page was read, but the run would resume at ${at}`)
    : Effect.void
}

/** Checks that a page takes at most five requests, all within its deadline, and that a run requests each page once. */
const checkRequests = Effect.fnUntraced(function*(
  plan: Plan,
  { strict }: Setting,
  sent: ReadonlyArray<Sent>,
  from: Option.Option<Cursor>,
  end: End
) {
  const pages = new Map<string, Array<Sent>>()
  let last = ""
  for (const request of sent.filter(({ endpoint }) => endpoint === "page")) {
    const { cursor } = request
    const earlier = pages.get(cursor)
    if (earlier !== undefined && cursor !== last) return yield* broken(`requested the page at ${cursor} again`)
    pages.set(cursor, [...earlier ?? [], request])
    last = cursor
  }
  const [first] = pages.keys()
  if (first !== undefined && first !== Option.getOrElse(from, () => "")) {
    return yield* broken(`the run should begin at ${Option.getOrNull(from)}, but began at ${first}`)
  }
  for (const requests of pages.values()) {
    if (requests.length > Math.min(plan.policy.attempts + 1, 5)) {
      return yield* broken(`${requests.length} requests for one page`)
    }
    const spent = (requests.at(-1)?.at ?? 0) - (requests[0]?.at ?? 0)
    if (strict && spent > plan.policy.pageTimeout + rounding)
      return yield* broken(`a page was still requested after ${spent} ms`)
  }
  if (!strict || end._tag !== "Failed" || plan.pace > 0 || plan.prefetchPages > 0) return
  // Without a token the page was never requested: then its time starts at the page before it.
  const failing = pages.get(Option.getOrElse(end.error.resumeFrom, () => ""))?.[0]
  const since = failing?.at ?? sent.findLast(({ endpoint }) => endpoint === "page")?.at
  const slack = failing === undefined ? plan.policy.attemptTimeout : 0
  const spent = (yield* Clock.currentTimeMillis) - (since ?? Infinity)
  if (spent > plan.policy.pageTimeout + slack + rounding) return yield* broken(`a page failed after ${spent} ms`)
})
