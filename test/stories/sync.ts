/** Stories of a sync: what the service does, how a sync ends, and what the copy has then. */
import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { FakeService, Fault } from "../../src/testing/index.ts"
import { company } from "../support/client.ts"
import { generatePlain } from "../support/densities.ts"
import { Refused } from "./story.ts"
import { tell } from "./tell.ts"

/** What a sync did. */
export interface Summary {
  readonly kind: string
  readonly resumed: boolean
  readonly complete: boolean
  readonly pages: number
  readonly written: number
  readonly unchanged: number
  readonly missing: number
  readonly restarts: number
}

/** A row of the copy. */
export interface CopyLine {
  readonly id: number
  readonly notes: string
  readonly isDeleted: boolean
  readonly isMissing: boolean
}

/** The passes of a call, the one that it resumed and a new one behind it. What fails is `Refused` with one word. */
export type Passes = Effect.Effect<ReadonlyArray<Summary>, Refused, FakeService>

/** Who keeps the copy. `isTroubled`: the service answers a request with a fault, which may be tried again. */
export interface Copier {
  readonly sync: (isTroubled: boolean) => Passes
  readonly sweep: (isTroubled: boolean, allowMissing: boolean) => Passes
  /** By id. */
  readonly rows: Effect.Effect<ReadonlyArray<CopyLine>>
}

/** The ids of `7` or `1-450`. */
const idsOf = (word: string): ReadonlyArray<number> => {
  const [, first = "", last = first] = /^(\d+)(?:-(\d+))?$/.exec(word) ?? assert.fail(`no ids: ${word}`)
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => Number(first) + at)
}

const template = generatePlain({ count: 1, companyId: company.id })[0] ?? assert.fail("no punch")

/** Punches of these ids, long before the story. */
const punchesOf = (word: string, notes = "a") =>
  idsOf(word).map((id) => Object.assign({}, template, { id, notes, breaks: [], modified: "2026-04-01T08:00:00Z" }))

const summaryLine = ({ complete, kind, missing, pages, restarts, resumed, unchanged, written }: Summary): string =>
  [
    `${kind}: ${pages} pages`,
    `${written} written`,
    ...unchanged === 0 ? [] : [`${unchanged} unchanged`],
    ...missing === 0 ? [] : [`${missing} missing`],
    ...restarts === 0 ? [] : [`${restarts} restarts`],
    ...resumed ? ["resumed"] : [],
    ...complete ? [] : ["not complete"]
  ].join(", ")

const copyLines = (rows: ReadonlyArray<CopyLine>): ReadonlyArray<string> => {
  const lines: Array<{ readonly first: number; readonly last: number; readonly text: string }> = []
  for (const { id, isDeleted, isMissing, notes } of rows) {
    const text = `${notes}${isDeleted ? ", deleted" : ""}${isMissing ? ", missing" : ""}`
    const before = lines.at(-1)
    if (before?.text === text && before.last === id - 1) lines[lines.length - 1] = { ...before, last: id }
    else lines.push({ first: id, last: id, text })
  }
  return lines.length === 0
    ? ["nothing"]
    : lines.map(({ first, last, text }) => `${first === last ? first : `${first}-${last}`} ${text}`)
}

const faultOf = (word: string): Fault =>
  word === "cut"
    ? Fault.cutBody()
    : word === "unreadable"
    ? Fault.badRow(0, { user_id: "x" })
    : Fault.status(Number(word))

/** Plays a story of a sync over the fake service. */
export const playSync = (story: string, { rows, sweep, sync }: Copier): Effect.Effect<string, never, FakeService> =>
  Effect.flatMap(FakeService, (service) => {
    const asked = Effect.map(
      service.requests,
      (all) => all.filter(({ endpoint }) => endpoint === "page").length
    )
    let isTroubled = false
    const ran = (call: Passes) => Effect.map(call, (passes) => passes.map(summaryLine))
    /** Kills the call when its page of this number is on its way. */
    const killed = (call: Passes, page: number) =>
      Effect.gen(function*() {
        const before = yield* asked
        yield* service.inject(Fault.stallBeforeHeaders, { requests: before + page })
        const fiber = yield* Effect.forkChild(call)
        // A driver answers outside of the scheduler.
        while ((yield* asked) < before + page) yield* TestClock.withLive(Effect.sleep(1))
        yield* Fiber.interrupt(fiber)
        yield* service.clearFaults
        return ["killed"]
      })
    return tell(story, ([verb, ...words]) => {
      const [first = "", , third] = words
      switch (verb) {
        case "punches":
          return Effect.as(service.seed(punchesOf(first)), [])
        case "add":
          return Effect.as(service.add(punchesOf(first, third)), [])
        case "edit":
          return Effect.as(service.edit(idsOf(first), { notes: third ?? "" }), [])
        case "delete":
          return Effect.as(service.edit(idsOf(first), { deleted: true }), [])
        case "undelete":
          return Effect.as(service.edit(idsOf(first), { deleted: false }), [])
        case "remove":
          return Effect.as(service.remove(idsOf(first)), [])
        case "answer":
          // `answer 503 from page 2`, of the next call and in each retry, or `answer 422 at page 2 4`, to those alone.
          return Effect.gen(function*() {
            isTroubled = first !== "well"
            if (!isTroubled) return yield* Effect.as(service.clearFaults, [])
            const before = yield* asked
            const pages = words.slice(3).map(Number)
            const from = pages[0] ?? assert.fail("no page")
            const all = words[1] === "from" ? Array.from({ length: 50 }, (_, at) => from + at) : pages
            yield* service.inject(faultOf(first), { requests: all.map((page) => before + page) })
            return []
          })
        case "wait":
          return Effect.as(TestClock.adjust(`${Number(first.slice(0, -1))} hours`), [])
        case "sync":
          return first === "killed" ? killed(sync(false), Number(words[3])) : ran(sync(isTroubled))
        case "sweep":
          return first === "killed"
            ? killed(sweep(false, false), Number(words[3]))
            : ran(sweep(isTroubled, first === "allowing"))
        case "copy":
          return Effect.map(rows, copyLines)
        default:
          return assert.fail(`no such step: ${verb}`)
      }
    })
  })
