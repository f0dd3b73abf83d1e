/** A sync over the fake service, into a copy that a test can read, lose and put back. */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Result, type Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import {
  type CompanyId,
  Cursor,
  type Page,
  RetryPolicy,
  type TimePunch,
  TimePunches,
  TimePunchId
} from "../../src/index.ts"
import { checkpointText, readCheckpoint } from "../../src/sync/Checkpoint.ts"
import { type Checkpoint, Sync, SyncStore } from "../../src/sync/index.ts"
import { type Copy, makeStoreOf } from "../../src/sync/memoryStore.ts"
import { FakeService, type FakeServiceOptions } from "../../src/testing/index.ts"
import { punch } from "../support/arbitraryPunch.ts"
import { app, company, pageRequests } from "../support/client.ts"
import { generatePlain } from "../support/densities.ts"
import { pageOf } from "../support/page.ts"

export const noon = Date.UTC(2026, 3, 5, 12)

/** Three pages: a sync asks for 200 rows at a time. All of them were modified long before noon. */
export const punches = generatePlain({ count: 450, companyId: company.id })
  .map((punch) => Object.assign(punch, { modified: "2026-04-01T08:00:00Z" }))

export const firstId = punches[0]?.id ?? 0
export const lastId = punches.at(-1)?.id ?? 0

/** The service, at noon, with the punches. */
export const seeded = Effect.gen(function*() {
  yield* TestClock.setTime(noon)
  const service = yield* FakeService
  yield* service.seed(punches)
  return service
})

/** The service after a first load of the punches. */
export const loaded = Effect.tap(seeded, Sync.run(company))

/** A punch with this id, changed at this instant. */
export const toPunch = (id: number, modified?: number): TimePunch =>
  punch({
    id: TimePunchId.make(id),
    companyId: company.id,
    clockedIn: DateTime.makeUnsafe(noon + id * 1000),
    clockedOut: Option.none(),
    modified: Option.map(Option.fromUndefinedOr(modified), (at) => DateTime.makeUnsafe(at))
  })

/** A copy in memory. */
export const makeCopy = () => {
  const copies = new Map<CompanyId, Copy>()
  const store = makeStoreOf(copies)
  const row = (id: number) => [...copies.get(company.id)?.rows.values() ?? []].find(({ punch }) => punch.id === id)
  return {
    store,
    layer: Layer.succeed(SyncStore, store),
    row,
    /** The rows that are not missing, by id. */
    present: (): ReadonlyArray<TimePunch> =>
      [...copies.get(company.id)?.rows.values() ?? []].flatMap(({ isMissing, punch }) => isMissing ? [] : [punch])
        .toSorted((one, other) => one.id - other.id),
    checkpoint: (): Checkpoint => {
      const text = copies.get(company.id)?.checkpoint
      assert.isDefined(text)
      return Result.getOrThrow(readCheckpoint(text, company.id))
    },
    hasCheckpoint: () => copies.get(company.id)?.checkpoint !== undefined,
    replaceText: (checkpoint: string) => {
      copies.set(company.id, { rows: new Map(), checkpoint })
    },
    replace: (checkpoint: Checkpoint | undefined) => {
      const rows = copies.get(company.id)?.rows ?? new Map()
      copies.set(company.id, { rows, checkpoint: checkpoint && checkpointText(checkpoint) })
    }
  }
}

export type TestCopy = ReturnType<typeof makeCopy>

/** Without the look for deleted punches, which asks for single pages: requests are those of the passes alone. */
const layerPasses = Layer.effect(
  TimePunches,
  Effect.map(TimePunches, (punches) => ({ ...punches, page: () => Effect.die("no look") }))
)

/** The client over a fake service, which sends each request once, and the store of a copy. */
export const over = (copy: TestCopy, options: FakeServiceOptions = {}) =>
  Layer.merge(Layer.provideMerge(layerPasses, app(options).pipe(Layer.provide(RetryPolicy.layerNone))), copy.layer)

type Provided = Layer.Success<ReturnType<typeof over>> | Scope.Scope

/** A test over its own fake service, with an empty copy; `each` makes one for each row. */
export const itWithCopy = Object.assign(
  <E>(title: string, test: (copy: TestCopy) => Effect.Effect<void, E, Provided>, options?: FakeServiceOptions) =>
    it.effect(title, () => {
      const copy = makeCopy()
      return Effect.provide(test(copy), over(copy, options))
    }),
  {
    each:
      <A>(rows: ReadonlyArray<A>) =>
      <E>(title: string, test: (copy: TestCopy, row: A) => Effect.Effect<void, E, Provided>) =>
        it.effect.each([...rows])(title, (row) => {
          const copy = makeCopy()
          return Effect.provide(test(copy, row), over(copy))
        })
  }
)

/** Fails unless the copy has the rows of the service and no others. */
export const assertEqual = (copy: TestCopy) =>
  Effect.map(
    Stream.runCollect(TimePunches.list(company, { deleted: "include" })),
    (rows) => assert.deepStrictEqual(copy.present(), [...rows].toSorted((one, other) => one.id - other.id))
  )

/** The values of a parameter in the requests for pages so far. */
export const sent = (name: string) => Effect.map(pageRequests, (all) => all.map(({ query }) => query[name]))

export const watermarkOf = (copy: TestCopy): number | undefined =>
  Option.getOrUndefined(Option.map(copy.checkpoint().watermark, ({ epochMilliseconds }) => epochMilliseconds))

export const utc = (millis: number) => DateTime.makeUnsafe(millis)

/** A checkpoint whose watermark and `at` are noon. */
export const atNoon: Checkpoint = {
  v: 1,
  companyId: company.id,
  pass: noon,
  watermark: Option.some(utc(noon)),
  at: Option.some(utc(noon)),
  completedAt: Option.some(utc(noon)),
  writer: "before",
  running: Option.none()
}

/** The checkpoint of a company before its first load. */
export const blank: Checkpoint = {
  ...atNoon,
  pass: 0,
  watermark: Option.none(),
  at: Option.none(),
  completedAt: Option.none()
}

/** What a page is made of. */
export interface Answer {
  readonly sentAt?: number
  readonly asOf?: number | undefined
  readonly next?: string
  readonly modified?: ReadonlyArray<number | undefined>
}

/** A page as the client reads it, sent an hour after noon. */
export const page = ({ asOf, modified = [], next, sentAt = noon + 3_600_000 }: Answer): Page =>
  pageOf(utc(sentAt), {
    asOf: Option.map(Option.fromUndefinedOr(asOf), utc),
    items: modified.map((at, index) => toPunch(index + 1, at)),
    next: Option.map(Option.fromUndefinedOr(next), (text) => Cursor.make(text))
  })
