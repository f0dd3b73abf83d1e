/** How far the copy of a company is: what a sync stores with the rows, and its text. */
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { CompanyId, Cursor } from "../Ids.ts"
import { formatInstant, isWritable } from "../internal/wire/instant.ts"
import { firstIssue } from "../internal/wire/issue.ts"
import { Mark } from "../internal/wire/mark.ts"
import { Instant } from "../internal/wire/schema.ts"
import { Asking } from "../internal/wire/spelling.ts"
import { mayBeWholeUnits, versionWarning } from "../internal/wire/version.ts"

/** A range of clock-ins, half-open: `gte` is inside, `lt` is not. A side that is left out is open. */
export const SweepWindow = Schema.Struct({
  /** The first instant of the window. Absent: no first one. */
  gte: Schema.optionalKey(Instant),
  /** The first instant after the window. Absent: none. */
  lt: Schema.optionalKey(Instant)
})

export type SweepWindow = typeof SweepWindow.Type

/**
 * What a pass reads.
 *
 * - `first`: every row, without `modified_since`.
 * - `increment`: what changed since the last pass.
 * - `sweep`: every row of a window, to find what increments cannot see.
 * - `confirm`: the increment after a sweep, with whose last page rows are marked as missing.
 */
export const PassKind = Schema.Literals(["first", "increment", "sweep", "confirm"])

export type PassKind = typeof PassKind.Type

/** A pass that is not complete. */
export const RunningPass = Schema.Struct({
  /** What the pass reads. */
  kind: PassKind,
  /** The number of this attempt, with which its rows are stamped. Before its first page: the highest number so far. */
  pass: Schema.Natural,
  /** The `modified_since` of its requests; `None` in a first load and a sweep, which send none. */
  since: Schema.OptionFromNullOr(Instant),
  /** The service's clock at the first page of the attempt; `None` before it, and if it came without a valid `Date`. */
  horizon: Schema.OptionFromNullOr(Instant),
  /**
   * The local clock when the first page of the attempt was requested. Before that page: when a page was requested that was
   * discarded because the service's clock was set back, else `None`.
   */
  at: Schema.OptionFromNullOr(Instant),
  /** The latest `modified` seen, less the time since the first page: the watermark of a pass without a `Date`. */
  latest: Schema.OptionFromNullOr(Instant),
  /** The cursor of the next page; `None` before the first page of the attempt. */
  cursor: Schema.OptionFromNullOr(Cursor),
  /** A cursor that the attempt has met, replaced at pages 1, 2, 4, 8 …: a page that leads to it again closes a cycle. */
  cycleGuard: Schema.OptionFromNullOr(Cursor),
  /** Pages that the attempt has read. */
  pages: Schema.Natural,
  /** How many times the pass began again because its cursors were refused or led in a circle. */
  restarts: Schema.Natural,
  /** The window of a sweep and of its confirm; `None` in a first load and an increment. */
  window: Schema.OptionFromNullOr(SweepWindow),
  /** In a confirm, the number of its sweep: rows of the window with a lower one were not seen. */
  before: Schema.OptionFromNullOr(Schema.Natural),
  /** Whether the pass asks for the order of ids. Absent: it asks for no order. */
  sorted: Schema.optionalKey(Schema.Boolean),
  /**
   * Of a pass of two listings: the one that it reads, first the punches that are not deleted, and in a confirm these again at its
   * end. Absent: one listing has both.
   */
  deleted: Schema.optionalKey(Schema.Literals(["exclude", "only", "again"])),
  /** The oldest version that answered a page of a pass that reads every row. Absent: none is known. */
  oldestVersion: Schema.optionalKey(Schema.String),
  /** The marks of a pass that reads every row. Absent: none. */
  marks: Schema.optionalKey(Schema.Array(Mark))
})

export type RunningPass = typeof RunningPass.Type

/** How far the copy of a company is. A store commits it in one transaction with the rows of its batch. */
export class Checkpoint extends Schema.Opaque<Checkpoint>()(
  Schema.Struct({
    /** The version of this form. */
    v: Schema.Literal(1),
    /** The company of the copy. */
    companyId: CompanyId,
    /** The highest pass number ever used, also by an attempt that was abandoned. */
    pass: Schema.Natural,
    /** The copy has every change that the service showed before this instant of its clock; `None` before a first load. */
    watermark: Schema.OptionFromNullOr(Instant),
    /** The local clock when the first page of the last pass with a `Date` was requested, or of a first load without one. */
    at: Schema.OptionFromNullOr(Instant),
    /**
     * The service's clock at `at`: the watermark of the last pass with a `Date`, or of a first load without one. Other passes
     * without a `Date` move the watermark and keep this. Absent: no first load is complete, or none had a watermark.
     */
    horizon: Schema.optionalKey(Instant),
    /** The local clock at the end of the last complete pass. */
    completedAt: Schema.OptionFromNullOr(Instant),
    /**
     * The last complete sweep whose window has no end: the local clock at its end, and the beginning of its window. Absent: none
     * since the first load.
     */
    swept: Schema.optionalKey(Schema.Struct({
      /** The local clock at its end. */
      at: Instant,
      /** The first clock-in of its window. Absent: every punch was compared. */
      gte: Schema.optionalKey(Instant)
    })),
    /**
     * How requests name deleted punches and others alike, also the one that gave the cursor, or that two listings are read.
     * Absent: `deleted=null`.
     */
    spelling: Schema.optionalKey(Asking),
    /** The local clock at the last look for deleted punches. Absent: none since the spelling changed. */
    looked: Schema.optionalKey(Instant),
    /**
     * Deletions that the copy may not have. Absent: none that is known.
     *
     * - `hidden`: the service leaves deleted punches out of its answers.
     * - `unswept`: it did, and does not in the present spelling. A sweep without a window ends it.
     */
    deletions: Schema.optionalKey(Schema.Literals(["hidden", "unswept"])),
    /**
     * The oldest version of the interface that answered a page since the beginning of the last pass that read every row, a first load
     * or a sweep without a window. Absent: no answer named its version.
     */
    oldestVersion: Schema.optionalKey(Schema.String),
    /** The version that the last page asked for. Absent: none. */
    askedVersion: Schema.optionalKey(Schema.String),
    /**
     * Fields that the release does not know and that take away by their name, since the beginning of the last pass that read every
     * row. Absent: none.
     */
    marks: Schema.optionalKey(Schema.Array(Mark)),
    /** Random, one for each call, so that no two calls write the same text. */
    writer: Schema.String,
    /** The pass that is not complete; `None` between two passes. */
    running: Schema.OptionFromNullOr(RunningPass)
  }).pipe(Schema.encodeKeys({ companyId: "company" }))
) {
  /**
   * The codec between a checkpoint and its text: JSON with its keys in one order, `v` first. It fails for any version but
   * 1.
   */
  static get Json(): Schema.Codec<Checkpoint, string> {
    return text
  }
}

/** The checkpoint of a company before its first commit. @internal */
export const blankCheckpoint = (companyId: CompanyId, writer: string, pass = 0): Checkpoint => ({
  v: 1,
  companyId,
  pass,
  watermark: Option.none(),
  at: Option.none(),
  completedAt: Option.none(),
  writer,
  running: Option.none()
})

const text: Schema.Codec<Checkpoint, string> = Schema.fromJsonString(Checkpoint)

/**
 * The text as the codec writes it, for a tenth of its time: a commit writes one for each page. An instant that no text can
 * hold is left to the codec, which refuses it.
 */
const write = ({ at, completedAt, horizon, looked, running, swept, watermark, ...plain }: Checkpoint): string =>
  JSON.stringify({
    v: plain.v,
    company: plain.companyId,
    pass: plain.pass,
    watermark: Option.match(watermark, nullOrText),
    at: Option.match(at, nullOrText),
    horizon: horizon && instantText(horizon),
    completedAt: Option.match(completedAt, nullOrText),
    swept: swept && { at: instantText(swept.at), gte: swept.gte && instantText(swept.gte) },
    spelling: plain.spelling,
    looked: looked && instantText(looked),
    deletions: plain.deletions,
    oldestVersion: plain.oldestVersion,
    askedVersion: plain.askedVersion,
    marks: plain.marks?.map(markJson),
    writer: plain.writer,
    running: Option.match(running, { onNone: () => null, onSome: runningJson })
  })

const runningJson = ({ at, before, cursor, cycleGuard, horizon, latest, since, window, ...running }: RunningPass) => ({
  kind: running.kind,
  pass: running.pass,
  since: Option.match(since, nullOrText),
  horizon: Option.match(horizon, nullOrText),
  at: Option.match(at, nullOrText),
  latest: Option.match(latest, nullOrText),
  cursor: Option.getOrNull(cursor),
  cycleGuard: Option.getOrNull(cycleGuard),
  pages: running.pages,
  restarts: running.restarts,
  window: Option.match(window, {
    onNone: () => null,
    onSome: ({ gte, lt }) => ({ gte: gte && instantText(gte), lt: lt && instantText(lt) })
  }),
  before: Option.getOrNull(before),
  sorted: running.sorted,
  deleted: running.deleted,
  oldestVersion: running.oldestVersion,
  marks: running.marks?.map(markJson)
})

const markJson = ({ count, path, punchId }: Mark) => ({ path, punchId, count })

const encodeInstant = Schema.encodeSync(Instant)

const instantText = (instant: DateTime.Utc): string =>
  isWritable(instant.epochMilliseconds) ? formatInstant(instant.epochMilliseconds) : encodeInstant(instant)

const nullOrText = { onNone: () => null, onSome: instantText }

/** Texts that were written: a commit compares the text of the commit before it. */
const texts = new WeakMap<Checkpoint, string>()

/** The text of a checkpoint. Equal checkpoints have equal texts, which stores compare. @internal */
export const checkpointText = (checkpoint: Checkpoint): string => {
  const known = texts.get(checkpoint)
  if (known !== undefined) return known
  const written = write(checkpoint)
  texts.set(checkpoint, written)
  return written
}

const decodeText = Schema.decodeUnknownResult(text)
const decodeKnown = Schema.decodeUnknownResult(text, { onExcessProperty: "error" })
const decodeJson = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))

/** Why a text is not the checkpoint of a company. @internal */
export interface NoCheckpoint {
  readonly reason: "Checkpoint" | "NewerCheckpoint"
  readonly detail: string
}

const invalid = (detail: string): NoCheckpoint => ({ reason: "Checkpoint", detail })

const newer = (how: string): NoCheckpoint => ({
  reason: "NewerCheckpoint",
  detail: `it was written by a newer release: ${how}`
})

/**
 * Reads the checkpoint of a company, or says why it cannot be one. A key that is not known is of a newer release: to leave it
 * out would undo what that release has stored. A text that this library would write otherwise was edited by hand, and no commit
 * could replace it: stores compare texts. No part of the text is quoted. @internal
 */
export const readCheckpoint = (stored: string, company: CompanyId): Result.Result<Checkpoint, NoCheckpoint> => {
  const json = decodeJson(stored)
  if (Result.isFailure(json)) return Result.fail(invalid("the text is not JSON"))
  if (Predicate.hasProperty(json.success, "v") && Predicate.isNumber(json.success.v) && json.success.v !== 1) {
    const how = `it has version ${json.success.v}; this release reads version 1`
    return Result.fail(json.success.v > 1 ? newer(how) : invalid(how))
  }
  return decodeText(stored).pipe(
    Result.mapError((error) => {
      const { detail, path } = firstIssue(error)
      return invalid(path === "" ? detail : `${path}: ${detail}`)
    }),
    Result.filterOrFail(
      (checkpoint) => checkpoint.companyId === company,
      (checkpoint) => invalid(`it is of company ${checkpoint.companyId}`)
    ),
    Result.filterOrFail(
      () => Result.isSuccess(decodeKnown(stored)),
      () => newer("it has a key that this release does not know")
    ),
    Result.filterOrFail(
      (checkpoint) => checkpointText(checkpoint) === stored,
      () => invalid("its text was edited: it is not in the form that this library writes")
    )
  )
}

/** What a reader of a copy must know of deletions that it may not have. @internal */
export const missedDeletions = (
  { deletions }: { readonly deletions?: Checkpoint["deletions"] | undefined }
): string | undefined =>
  deletions === undefined
    ? undefined
    : "the copy may have punches that were deleted: " + (
      deletions === "hidden"
        ? "the service leaves deleted ones out of its answers"
        : "it did not hear of deletions for a while. Run a sweep without a window"
    )

/** What a reader of a copy must know of the versions that answered its pages. @internal */
export const versionsOf = (
  { askedVersion, oldestVersion }: { readonly askedVersion?: string; readonly oldestVersion?: string }
): { readonly warning: string | undefined; readonly isRefused: boolean } => {
  if (oldestVersion === undefined) {
    return { warning: "it is unknown which version of the interface the rows of the copy are of", isRefused: false }
  }
  const version = { answered: oldestVersion, asked: Option.fromUndefinedOr(askedVersion) }
  const warning = versionWarning(version)
  return { warning: warning === undefined ? undefined : `the copy: ${warning}`, isRefused: mayBeWholeUnits(version) }
}

const first = Date.parse("0001-01-01T00:00:00.000Z")
const last = Date.parse("9999-12-31T23:59:59.999Z")

/** An instant that the text of a checkpoint can hold: years 0001 to 9999. @internal */
export const instant = (millis: number): DateTime.Utc =>
  DateTime.toUtc(DateTime.makeUnsafe(Math.min(Math.max(millis, first), last)))
