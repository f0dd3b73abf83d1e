/** The options of a sync, and what it reports. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { InvalidRequest } from "../ApiError.ts"
import type { Company } from "../Company.ts"
import type { CompanyId } from "../Ids.ts"
import { monotonicMillis } from "../internal/resilience/retry.ts"
import { isWritable } from "../internal/wire/instant.ts"
import { Instant } from "../internal/wire/schema.ts"
import { checkOptions, validateCount } from "../listing/request.ts"
import type { Checkpoint, SweepWindow } from "./Checkpoint.ts"
import type { Call } from "./passes.ts"
import { unreadable } from "./SyncError.ts"

/** How a sync reads. */
export interface SyncReadOptions {
  /**
   * How far before the watermark an increment begins: at least the time that a change may take to show, plus the difference
   * between the service's clocks, plus 2 seconds. Default 15 minutes; at least 1 minute.
   */
  readonly overlap?: Duration.Input | undefined
  /** Pages to read ahead of the consumer. Default 0. */
  readonly prefetchPages?: number | undefined
  /**
   * Whether each pass asks for the order of ids. If a cursor names a record, an edit that moves the record makes a pass skip the
   * rows between, until a sweep. The order of ids prevents this if the service keeps it with a cursor, and makes it worse if the
   * service drops it there: `time-punches doctor` tests which. Default `false`.
   */
  readonly sortById?: boolean | undefined
}

/** How a sweep reads, and which part of the copy. */
export interface SweepReadOptions extends SyncReadOptions {
  /** The clock-ins to compare. Default: all. */
  readonly window?: SweepWindow | undefined
}

/** How a sync reads, writes and stops. */
export interface SyncOptions extends SyncReadOptions {
  /** When to stop before the end. The call commits what it has read, and the next call continues there. Default: never. */
  readonly stopAfter?: StopAfter | undefined
  /**
   * Whether the call first commits the stored checkpoint under its own name, or a blank one if there is none, and then calls
   * `onCommit`. From then on no older call can commit, not even a first load. Default `false`: the first page does that.
   */
  readonly claim?: boolean | undefined
  /** Called after each commit, with the counts of this call so far. `false` stops the call here. */
  readonly onCommit?: ((soFar: SyncSummary) => Effect.Effect<boolean>) | undefined
}

/** When a call stops before it is complete. It reads at least one page. */
export interface StopAfter {
  /** Pages of the service, over all passes of the call. No page beyond them is read ahead. Default: no limit. */
  readonly pages?: number | undefined
  /** The time after which no further page is read. Default: no limit. */
  readonly duration?: Duration.Input | undefined
}

/** How a sweep reads, writes and stops. */
export interface SweepOptions extends SyncOptions {
  /** The clock-ins to compare. Default: all. */
  readonly window?: SweepWindow | undefined
  /** Whether the sweep may mark more than 20 % of its window and more than 100 rows. Default `false`. */
  readonly allowMissing?: boolean | undefined
}

/** What a call did. All counts are of this call. */
export class SyncSummary extends Schema.Opaque<SyncSummary>()(Schema.Struct({
  /** What the last pass of the call was. */
  kind: Schema.Literals(["first", "increment", "sweep"]),
  /** Whether the call did all that it is for; `false` if it was stopped. */
  complete: Schema.Boolean,
  /** Whether it continued a stored pass. Such a pass only proves what was there when that pass began. */
  resumed: Schema.Boolean,
  /** Pages of the service that were read. */
  pages: Schema.Natural,
  /** Rows in those pages. */
  punches: Schema.Natural,
  /** Rows that were inserted or changed. */
  written: Schema.Natural,
  /** Rows that were equal already. */
  unchanged: Schema.Natural,
  /** Rows that were marked as missing. */
  missing: Schema.Natural,
  /** How many times a pass began again because its cursors were refused. */
  restarts: Schema.Natural,
  /** The watermark of the copy; `None` before the end of a first load. */
  watermark: Schema.OptionFromNullOr(Instant),
  /**
   * How late the latest change showed, in milliseconds when encoded: the watermark before an increment less the earliest
   * `modified` that it wrote. `None` if nothing was late.
   */
  lateness: Schema.OptionFromNullOr(Schema.DurationFromMillis)
})) {}

/** The names of `SyncReadOptions`, and one of `SyncOptions` that holds for a reading too: a program may have one value for both. */
export const readKeys: { readonly [K in keyof SyncReadOptions | "stopAfter"]-?: true } = {
  overlap: true,
  prefetchPages: true,
  sortById: true,
  stopAfter: true
}

const syncKeys: { readonly [K in keyof SyncOptions]-?: true } = {
  ...readKeys,
  claim: true,
  onCommit: true
}

const sweepKeys: { readonly [K in Exclude<keyof SweepOptions, keyof SyncOptions>]-?: true } = {
  window: true,
  allowMissing: true
}

const stopKeys: { readonly [K in keyof StopAfter]-?: true } = { pages: true, duration: true }

const windowKeys: { readonly [K in keyof SweepWindow]-?: true } = { gte: true, lt: true }

const defaultOverlap = Duration.minutes(15)
const leastOverlap = Duration.minutes(1)

/** The call that these options ask for, or the first reason not to send anything. */
export const callOf = (
  company: CompanyId | Company,
  options: SyncOptions = {},
  known: Readonly<Record<string, true>> = syncKeys
): Effect.Effect<Call, InvalidRequest> =>
  Effect.gen(function*() {
    const named: Company = typeof company === "number" ? { id: company } : company
    yield* Effect.fromResult(checkOptions(named.id, options, known))
    const overlap = Duration.fromInput(options.overlap ?? defaultOverlap)
    if (
      Option.isNone(overlap) || !Duration.isFinite(overlap.value) ||
      !Duration.isGreaterThanOrEqualTo(overlap.value, leastOverlap)
    ) {
      return yield* invalid(named.id, "overlap", "a duration of at least 1 minute")
    }
    const prefetchPages = options.prefetchPages ?? 0
    yield* Effect.fromResult(validateCount(named.id, "prefetchPages", prefetchPages, 0, 100))
    yield* Effect.fromResult(checkOptions(named.id, options.stopAfter, stopKeys, "stopAfter"))
    const { duration, pages } = options.stopAfter ?? {}
    if (pages !== undefined) yield* Effect.fromResult(validateCount(named.id, "stopAfter.pages", pages, 1))
    const limit = Duration.fromInput(duration ?? Duration.infinity)
    if (Option.isNone(limit) || !Duration.isPositive(limit.value)) {
      return yield* invalid(named.id, "stopAfter.duration", "a positive duration")
    }
    return {
      company: named,
      goal: { _tag: "Pass" },
      overlap: Duration.toMillis(overlap.value),
      sortById: options.sortById ?? false,
      prefetchPages,
      maxPages: pages ?? Infinity,
      deadline: (yield* monotonicMillis) + Duration.toMillis(limit.value),
      writer: globalThis.crypto.randomUUID()
    }
  })

/** The call of a sweep. */
export const sweepCallOf = (
  company: CompanyId | Company,
  options: SweepOptions = {},
  known: Readonly<Record<string, true>> = { ...syncKeys, ...sweepKeys }
): Effect.Effect<Call, InvalidRequest> =>
  Effect.gen(function*() {
    const call = yield* callOf(company, options, known)
    const companyId = call.company.id
    yield* Effect.fromResult(checkOptions(companyId, options.window, windowKeys, "window"))
    const { allowMissing = false, window: { gte, lt } = {} } = options
    for (const [end, instant] of [["gte", gte], ["lt", lt]] as const) {
      if (instant !== undefined && !(DateTime.isDateTime(instant) && isWritable(instant.epochMilliseconds))) {
        return yield* invalid(companyId, `window.${end}`, "an instant of the years 0001 to 9999")
      }
    }
    if (gte !== undefined && lt !== undefined && gte.epochMilliseconds >= lt.epochMilliseconds) {
      return yield* invalid(companyId, "window.lt", "after window.gte")
    }
    const window: SweepWindow = { ...(gte === undefined ? {} : { gte }), ...(lt === undefined ? {} : { lt }) }
    return { ...call, goal: { _tag: "Sweep", window, allowMissing } }
  })

const invalid = (companyId: CompanyId, field: string, mustBe: string) =>
  new InvalidRequest({ companyId, field, detail: `must be ${mustBe}` })

/** Fails if a checkpoint is of another company, before anything is sent. */
export const validateCheckpoint = ({ company }: Call, from: Option.Option<Checkpoint>) =>
  Option.match(Option.filter(from, (checkpoint) => checkpoint.companyId !== company.id), {
    onNone: () => Effect.void,
    onSome: (other) =>
      Effect.fail(unreadable(company.id, { reason: "Checkpoint", detail: `it is of company ${other.companyId}` }))
  })
