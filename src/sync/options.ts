/** From the options of a sync to a call, or to the first reason not to send anything. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { InvalidRequest } from "../ApiError.ts"
import type { Company } from "../Company.ts"
import type { CompanyId } from "../Ids.ts"
import { wholeNumber } from "../internal/base/wholeNumber.ts"
import { isWritable } from "../internal/wire/instant.ts"
import type { Checkpoint, Window } from "./Checkpoint.ts"
import type { Call, Goal } from "./passes.ts"
import { unreadable } from "./SyncError.ts"
import type { RunOptions, SweepOptions } from "./SyncOptions.ts"

const defaultOverlap = Duration.minutes(15)
const leastOverlap = Duration.minutes(1)

/** What a call needs beside its goal. */
interface Bounds {
  readonly call: Omit<Call, "goal">
  /** Milliseconds after which no further page is read. */
  readonly duration: number
}

const invalid = (companyId: CompanyId, field: string, mustBe: string) =>
  Result.fail(new InvalidRequest({ companyId, field, detail: `must be ${mustBe}` }))

/** Validates the options that all calls have. */
export const validateOptions = (
  company: CompanyId | Company,
  options: RunOptions = {}
): Effect.Effect<Bounds, InvalidRequest> =>
  Effect.suspend(() =>
    Effect.fromResult(Result.gen(function*() {
      const named: Company = typeof company === "number" ? { id: company } : company
      const overlap = Duration.fromInput(options.overlap ?? defaultOverlap)
      if (
        Option.isNone(overlap) || !Duration.isFinite(overlap.value) ||
        !Duration.isGreaterThanOrEqualTo(overlap.value, leastOverlap)
      ) {
        return yield* invalid(named.id, "overlap", "a duration of at least 1 minute")
      }
      const prefetchPages = options.prefetchPages ?? 0
      yield* validateCount(named.id, "prefetchPages", prefetchPages, 0, 100)
      const { duration, pages } = options.stopAfter ?? {}
      if (pages !== undefined) yield* validateCount(named.id, "stopAfter.pages", pages, 1)
      const limit = Duration.fromInput(duration ?? Duration.infinity)
      if (Option.isNone(limit) || !Duration.isPositive(limit.value)) {
        return yield* invalid(named.id, "stopAfter.duration", "a positive duration")
      }
      return {
        call: {
          company: named,
          overlap: Duration.toMillis(overlap.value),
          prefetchPages,
          maxPages: pages ?? Infinity,
          writer: globalThis.crypto.randomUUID()
        },
        duration: Duration.toMillis(limit.value)
      }
    }))
  )

const validateCount = (companyId: CompanyId, field: string, value: number, least: number, most?: number) =>
  Result.mapError(
    wholeNumber(value, least, most),
    (mustBe) => new InvalidRequest({ companyId, field, detail: `must be ${mustBe}` })
  )

/** Validates the window of a sweep. */
export const validateSweep = (
  company: CompanyId | Company,
  { acceptGone = false, window = {} }: SweepOptions = {}
): Effect.Effect<Goal, InvalidRequest> =>
  Effect.suspend(() => {
    const companyId = typeof company === "number" ? company : company.id
    const { gte, lt } = window
    const at = (["gte", "lt"] as const).find((end) => {
      const instant = window[end]
      return instant !== undefined && !(DateTime.isDateTime(instant) && isWritable(instant.epochMilliseconds))
    })
    if (at !== undefined) {
      return Effect.fromResult(invalid(companyId, `window.${at}`, "an instant of the years 0001 to 9999"))
    }
    if (gte !== undefined && lt !== undefined && gte.epochMilliseconds >= lt.epochMilliseconds) {
      return Effect.fromResult(invalid(companyId, "window.lt", "after window.gte"))
    }
    const valid: Window = { ...(gte === undefined ? {} : { gte }), ...(lt === undefined ? {} : { lt }) }
    return Effect.succeed({ _tag: "Sweep" as const, window: valid, acceptGone })
  })

/** Fails where a checkpoint is of another company, before anything is sent. */
export const validateCheckpoint = ({ company }: Pick<Call, "company">, from: Option.Option<Checkpoint>) =>
  Option.match(Option.filter(from, (checkpoint) => checkpoint.company !== company.id), {
    onNone: () => Effect.void,
    onSome: (other) => Effect.fail(unreadable(company.id, `it is of company ${other.company}`))
  })
