/** The options of a sync, and what it reports. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { InvalidRequest } from "../ApiError.ts"
import type { Company } from "../Company.ts"
import type { CompanyId } from "../Ids.ts"
import { isWritable } from "../internal/wire/instant.ts"
import { invalid, validateCount } from "../listing/request.ts"
import type { Checkpoint, Window } from "./Checkpoint.ts"
import type { Call, Goal } from "./passes.ts"
import { unreadable } from "./SyncError.ts"

/** How a sync reads. */
export interface BatchesOptions {
  /**
   * How far before the watermark an increment begins: at least as long as a change may take to show, plus the difference of
   * the service's clocks. Default 15 minutes; at least 1 minute.
   */
  readonly overlap?: Duration.Input | undefined
  /** Pages to read ahead of the consumer. Default 0. */
  readonly prefetchPages?: number | undefined
}

/** How a sweep reads, and which part of the copy. */
export interface SweepBatchesOptions extends BatchesOptions {
  /** The clock-ins to compare. Default: all. */
  readonly window?: Window | undefined
}

/** How a sync reads, writes and stops. */
export interface RunOptions extends BatchesOptions {
  /** Where to stop, at the end of a page. What was read is committed, and the next call continues there. Default: at the end. */
  readonly stopAfter?: StopAfter | undefined
  /**
   * Whether the call first commits the stored checkpoint under its own name, so that no older call can commit any more.
   * Default `false`: the first page does that.
   */
  readonly claim?: boolean | undefined
  /** Called after each commit, with the counts of this call. `false` stops the call here. */
  readonly onCommit?: ((soFar: SyncSummary) => Effect.Effect<boolean>) | undefined
}

/** Where a call stops before it is complete. */
export interface StopAfter {
  /** Pages of the service, over all passes of the call. No page is read ahead beyond them. Default: no limit. */
  readonly pages?: number | undefined
  /** The time after which no further page is read. Default: no limit. */
  readonly duration?: Duration.Input | undefined
}

/** How a sweep reads, writes and stops. */
export interface SweepOptions extends RunOptions {
  /** The clock-ins to compare. Default: all. */
  readonly window?: Window | undefined
  /** Whether the sweep may mark more than 20 % of its window and more than 100 rows. Default `false`. */
  readonly acceptGone?: boolean | undefined
}

/** What a call did. All counts are of this call. */
export interface SyncSummary {
  /** What the last pass of the call was. */
  readonly kind: "first" | "increment" | "sweep"
  /** Whether the call did all that it is for; `false` where it was stopped. */
  readonly complete: boolean
  /** Whether it continued a stored pass. Such a pass only proves what was there when that pass began. */
  readonly resumed: boolean
  /** Pages of the service that were read. */
  readonly pages: number
  /** Rows in those pages. */
  readonly punches: number
  /** Rows that were inserted or changed. */
  readonly written: number
  /** Rows that were equal already. */
  readonly unchanged: number
  /** Rows that were marked as gone. */
  readonly gone: number
  /** How many times a pass began again, since its cursors were refused. */
  readonly restarts: number
  /** The watermark of the copy. */
  readonly watermark: Option.Option<DateTime.Utc>
  /** How late the latest change showed: the watermark before an increment less the earliest `modified` that it wrote. */
  readonly lateness: Option.Option<Duration.Duration>
}

// MERGED options.ts: From the options of a sync to a call, or to the first reason not to send anything.

const defaultOverlap = Duration.minutes(15)
const leastOverlap = Duration.minutes(1)

/** What a call needs beside its goal. */
interface Bounds {
  readonly call: Omit<Call, "goal">
  /** Milliseconds after which no further page is read. */
  readonly duration: number
}

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
        return yield* invalid(named.id, "overlap", "must be a duration of at least 1 minute")
      }
      const prefetchPages = options.prefetchPages ?? 0
      yield* validateCount(named.id, "prefetchPages", prefetchPages, 0, 100)
      const { duration, pages } = options.stopAfter ?? {}
      if (pages !== undefined) yield* validateCount(named.id, "stopAfter.pages", pages, 1)
      const limit = Duration.fromInput(duration ?? Duration.infinity)
      if (Option.isNone(limit) || !Duration.isPositive(limit.value)) {
        return yield* invalid(named.id, "stopAfter.duration", "must be a positive duration")
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
      return Effect.fromResult(invalid(companyId, `window.${at}`, "must be an instant of the years 0001 to 9999"))
    }
    if (gte !== undefined && lt !== undefined && gte.epochMilliseconds >= lt.epochMilliseconds) {
      return Effect.fromResult(invalid(companyId, "window.lt", "must be after window.gte"))
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
