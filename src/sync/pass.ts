/** How a page moves the checkpoint of a sync. */
import * as Option from "effect/Option"
import { addMarks } from "../internal/wire/mark.ts"
import { twoListings } from "../internal/wire/spelling.ts"
import type { Page } from "../Page.ts"
import { type Checkpoint, instant, type PassKind, type RunningPass, type SweepWindow } from "./Checkpoint.ts"

const second = 1000
const minute = 60 * second
const day = 24 * 60 * minute

/** What a page does to its pass. */
export type PageStep =
  /** The rows of the page may be stored, with this checkpoint. */
  | {
    readonly _tag: "Kept"
    /** The number of the attempt, with which the rows are stamped. */
    readonly passId: number
    readonly checkpoint: Checkpoint
    readonly missing: Option.Option<SweepWindow>
    /** When the first page of a pass that is complete was requested. Absent: it is not complete. */
    readonly began?: RunningPass["horizon"]
  }
  /** The service's clock was set back: the page is discarded, and the pass begins again, from an earlier instant. */
  | { readonly _tag: "Earlier"; readonly running: RunningPass }
  /** The page leads to a cursor that the attempt has requested before: it is discarded. */
  | { readonly _tag: "Cycle" }

/** How the passes of a call read. */
export interface Reads {
  /** Milliseconds that an increment reads again before the watermark. */
  readonly overlap: number
  /** Whether a pass begins with asking for the order of ids. */
  readonly sortById: boolean
}

/** What a page is judged by, besides the checkpoint and its pass. */
export interface Facts extends Reads {
  /** The local clock, in milliseconds. */
  readonly now: number
  /** Milliseconds of the monotonic clock since the attempt began; `None` if an earlier call began it. */
  readonly elapsed: Option.Option<number>
  /** The name of this call. */
  readonly writer: string
}

/**
 * A pass before its first page. A confirm reads a day more: the service's clock may have been set back since the watermark, and
 * without a `Date` nothing tells. A row that moved while its sweep was read would be marked, though it is there.
 */
export const begin = (
  checkpoint: Checkpoint,
  kind: PassKind,
  { overlap, sortById }: Reads,
  sweep?: { readonly window: SweepWindow; readonly sweepPass?: number; readonly known?: AllRead }
): RunningPass => ({
  kind,
  pass: checkpoint.pass,
  since: kind === "first" || kind === "sweep"
    ? Option.none()
    : Option.map(
      checkpoint.watermark,
      ({ epochMilliseconds }) => sinceOf(epochMilliseconds - (kind === "confirm" ? day : 0), overlap)
    ),
  ...atFirstPage,
  restarts: 0,
  window: Option.fromUndefinedOr(sweep?.window),
  before: Option.fromUndefinedOr(sweep?.sweepPass),
  ...(sortById ? { sorted: true } : {}),
  ...(checkpoint.spelling === twoListings ? { deleted: "exclude" } : {}),
  ...sweep?.known
})

/** What no page has given yet. */
const atFirstPage = {
  horizon: Option.none(),
  at: Option.none(),
  latest: Option.none(),
  cursor: Option.none(),
  cycleGuard: Option.none(),
  pages: 0
}

/**
 * The pass from its first page again. It keeps what it reads and how often it began again, and forgets the attempt. If the
 * second page of a listing of this call (`isFresh`) was refused, the service may know no order beside a cursor: the pass
 * continues without one. A cursor of an earlier call may have died of its age, which says nothing about the order.
 */
export const restart = ({ marks: _, ...running }: RunningPass, isFresh: boolean): RunningPass => ({
  ...(isFresh && running.pages <= 1 ? unsorted(running) : running),
  ...atFirstPage,
  restarts: running.restarts + 1,
  ...(running.deleted === undefined ? {} : { deleted: "exclude" })
})

/** Whether the next page is the first one of an attempt. A later listing continues the attempt of the first. */
export const isAtFirstPage = ({ cursor, deleted }: RunningPass): boolean =>
  Option.isNone(cursor) && (deleted === undefined || deleted === "exclude")

/** The pass with two listings in place of one, or with one in place of two. */
export const otherListings = ({ deleted, ...running }: RunningPass, { sortById }: Reads): RunningPass => ({
  ...running,
  ...(sortById ? { sorted: true } : {}),
  ...(deleted === undefined ? { deleted: "exclude" } : {})
})

/** The pass without an order. */
export const unsorted = ({ sorted: _, ...running }: RunningPass): RunningPass => running

/** `modified_since` has whole seconds. */
const sinceOf = (millis: number, overlap: number) => instant(Math.floor((millis - overlap) / second) * second)

/** Judges a page of a pass: the checkpoint that is true once its rows are stored, or why it is discarded. */
export const stepPage = (checkpoint: Checkpoint, running: RunningPass, page: Page, facts: Facts): PageStep => {
  const isFirst = isAtFirstPage(running)
  const attempt = isFirst ? beginAttempt(checkpoint, running, page, facts) : running
  if ("_tag" in attempt) return attempt
  const { next } = page.cursor
  if (Option.isSome(next) && Option.contains(attempt.cycleGuard, next.value)) return { _tag: "Cycle" }
  const read: RunningPass = {
    ...attempt,
    pages: attempt.pages + 1,
    latest: latestOf(attempt, page, isFirst ? Option.some(0) : facts.elapsed),
    ...(readsAll(attempt) ? { ...older(attempt, page), ...marked(attempt, page) } : undefined)
  }
  const following = Option.isNone(next) ? listingAfter(read) : undefined
  return Option.isNone(next) && following === undefined
    ? complete(checkpoint, read, facts)
    : {
      _tag: "Kept",
      passId: read.pass,
      missing: Option.none(),
      checkpoint: {
        ...checkpoint,
        pass: Math.max(checkpoint.pass, read.pass),
        writer: facts.writer,
        running: Option.some(
          following === undefined
            ? { ...read, cursor: next, cycleGuard: isPowerOfTwo(read.pages) ? next : read.cycleGuard }
            : { ...read, deleted: following, cursor: Option.none(), cycleGuard: Option.none(), pages: 0 }
        )
      }
    }
}

/** Whether the pass, with its confirm, reads every row. */
const readsAll = ({ kind, window }: RunningPass): boolean =>
  kind === "first" || (kind !== "increment" && !Option.exists(window, ({ gte, lt }) => (gte ?? lt) !== undefined))

/** The older one of a known version and the one of a page. */
const older = (
  { oldestVersion: known }: Pick<Checkpoint, "oldestVersion">,
  { response: { apiVersion } }: Page
): Pick<Checkpoint, "oldestVersion"> =>
  Option.match(apiVersion, {
    onNone: () => ({}),
    onSome: (version) => ({ oldestVersion: known === undefined || version < known ? version : known })
  })

/** What a pass that reads every row has seen of it. */
type AllRead = Pick<RunningPass, "marks" | "oldestVersion">

/** Marks with those of a page. */
const marked = ({ marks = [] }: Pick<Checkpoint, "marks">, page: Page): Pick<Checkpoint, "marks"> =>
  page.marks === undefined ? {} : { marks: addMarks(marks, page.marks) }

/** The checkpoint with what a page says of versions, and its marks. */
export const withVersion = ({ askedVersion: _, ...checkpoint }: Checkpoint, page: Page): Checkpoint => {
  const { askedVersion } = page.response
  return {
    ...checkpoint,
    ...older(checkpoint, page),
    ...marked(checkpoint, page),
    ...(Option.isNone(askedVersion) ? undefined : { askedVersion: askedVersion.value })
  }
}

/** The checkpoint after a pass: once every row was read again, only what that pass has seen counts. */
const afterPass = (checkpoint: Checkpoint, running: RunningPass): Checkpoint => {
  if (!readsAll(running)) return checkpoint
  const { marks: _, oldestVersion: _1, ...known } = checkpoint
  return { ...known, ...allRead(running) }
}

const allRead = ({ marks, oldestVersion }: AllRead): AllRead => ({
  ...(marks === undefined ? undefined : { marks }),
  ...(oldestVersion === undefined ? undefined : { oldestVersion })
})

/**
 * The listing that the pass reads next. The horizon stays that of the first request: a row that changes sides in between may be
 * in no listing, and the next increment asks for what changed since that request. A confirm marks what it has not seen, so it
 * reads again what is not deleted: a row that is undeleted while its sweep is read, and again while the confirm is, is in there.
 */
const listingAfter = ({ deleted, kind }: RunningPass): RunningPass["deleted"] =>
  deleted === "exclude" ? "only" : deleted === "only" && kind === "confirm" ? "again" : undefined

/** The attempt takes its horizon and its number from its first page. */
const beginAttempt = (
  checkpoint: Checkpoint,
  running: RunningPass,
  { response: { sentAt, asOf } }: Page,
  { overlap }: Facts
): RunningPass | PageStep => {
  const horizon = Option.filter(
    asOf,
    (date) => isPlausible(date.epochMilliseconds, sentAt.epochMilliseconds, checkpoint)
  )
  const earlier = Option.flatMap(
    horizon,
    (date) => earlierSince(checkpoint, running, date.epochMilliseconds, sentAt.epochMilliseconds, overlap)
  )
  if (Option.isSome(earlier)) {
    return { _tag: "Earlier", running: { ...running, since: earlier, at: Option.some(sentAt) } }
  }
  const clock = Option.getOrElse(horizon, () => sentAt).epochMilliseconds
  return { ...running, pass: Math.max(checkpoint.pass + 1, clock), horizon, at: Option.some(sentAt) }
}

/** Whether a `Date` can be the service's clock: it is near the local clock, or near where the service's clock should stand. */
const isPlausible = (date: number, local: number, { at, horizon, watermark }: Checkpoint): boolean =>
  Math.abs(date - local) <= day ||
  Option.exists(
    Option.all([Option.orElse(Option.fromUndefinedOr(horizon), () => watermark), at]),
    ([{ epochMilliseconds: mark }, { epochMilliseconds: then }]) => Math.abs(date - (mark + local - then)) <= day
  )

/**
 * The instant to begin again from, if the service's clock was set back behind the last watermark, or if passes without a `Date`
 * have moved that: a stamp of the future may have lifted it past changes that show later. The local clock may have been set back
 * too, so the pass begins no later than at the last `Date`. After a first page was discarded, the next one is compared with
 * that: a `Date` that stands still would else be behind the watermark for ever.
 */
const earlierSince = (checkpoint: Checkpoint, running: RunningPass, date: number, local: number, overlap: number) =>
  Option.flatMap(
    Option.all([running.since, checkpoint.watermark, Option.orElse(running.at, () => checkpoint.at)]),
    ([since, { epochMilliseconds: watermark }, at]) => {
      // Where the service's clock stood at the compared request, by its present setting. Time does not pass backwards.
      const expected = date - Math.max(0, local - at.epochMilliseconds)
      const isAgain = Option.isSome(running.at)
      const horizon = checkpoint.horizon?.epochMilliseconds ?? watermark
      const then = isAgain ? expected : Math.min(expected, horizon)
      const isSetBack = isAgain
        ? since.epochMilliseconds > then - overlap + minute
        : since.epochMilliseconds > then - overlap && (horizon < watermark || expected < watermark - minute)
      return isSetBack ? Option.some(sinceOf(then, overlap)) : Option.none()
    }
  )

/**
 * The latest `modified` less the time since the first page: the late pages of a long pass must not lift the watermark. The
 * local clock may be set back meanwhile: the monotonic clock of the call that began the attempt says how long it took at
 * least, and a later call, perhaps of another machine, adds a day.
 */
const latestOf = (
  { at, latest }: RunningPass,
  { items, response: { sentAt } }: Page,
  monotonic: Option.Option<number>
): RunningPass["latest"] => {
  const first = Option.getOrElse(at, () => sentAt)
  const local = sentAt.epochMilliseconds - first.epochMilliseconds
  const elapsed = Option.match(monotonic, {
    onNone: () => Math.max(0, local + day),
    onSome: (monotonic) => Math.max(0, local, Math.ceil(monotonic))
  })
  const known = Option.match(latest, { onNone: () => -Infinity, onSome: (known) => known.epochMilliseconds })
  const seen = items.reduce(
    (seen, { modified }) =>
      Option.match(modified, {
        onNone: () => seen,
        onSome: ({ epochMilliseconds }) => Math.max(seen, epochMilliseconds - elapsed)
      }),
    known
  )
  return seen === -Infinity ? Option.none() : Option.some(instant(seen))
}

/** The checkpoint after the last page. A sweep is followed by its confirm; every other pass moves the watermark. */
const complete = (checkpoint: Checkpoint, running: RunningPass, facts: Facts): PageStep => {
  const { now, writer } = facts
  const counted = { ...checkpoint, pass: Math.max(checkpoint.pass, running.pass), writer }
  const watermark = Option.orElse(running.horizon, () => watermarkWithoutDate(checkpoint, running))
  // A first load leaves no change behind, so a later `Date` may be compared with its beginning.
  const isCompared = Option.isSome(running.horizon) || running.kind === "first"
  const { window } = running
  if (running.kind === "sweep") {
    const sweep = {
      window: Option.getOrElse(window, (): SweepWindow => ({})),
      sweepPass: running.pass,
      known: allRead(running)
    }
    const confirm = Option.some(begin(counted, "confirm", facts, sweep))
    return { _tag: "Kept", passId: running.pass, missing: Option.none(), checkpoint: { ...counted, running: confirm } }
  }
  return {
    _tag: "Kept",
    passId: running.pass,
    missing: running.kind === "confirm" ? window : Option.none(),
    began: Option.orElse(running.horizon, () => running.at),
    checkpoint: {
      ...afterPass(counted, running),
      watermark,
      ...(isCompared && { at: running.at }),
      ...(isCompared && Option.isSome(watermark) && { horizon: watermark.value }),
      completedAt: Option.some(instant(now)),
      ...(running.kind === "confirm" && Option.isSome(window) && window.value.lt === undefined &&
        { swept: { at: instant(now), ...window.value } }),
      running: Option.none()
    }
  }
}

/** `min(first request, max(last watermark, latest modified))`. */
const watermarkWithoutDate = ({ watermark }: Checkpoint, { at, latest }: RunningPass): Checkpoint["watermark"] => {
  const known = [watermark, latest].flatMap(Option.toArray).map(({ epochMilliseconds }) => epochMilliseconds)
  if (known.length === 0) return Option.none()
  const requestedAt = Option.match(at, { onNone: () => Infinity, onSome: ({ epochMilliseconds }) => epochMilliseconds })
  return Option.some(instant(Math.min(Math.max(...known), requestedAt)))
}

export const isPowerOfTwo = (count: number): boolean => (count & (count - 1)) === 0

/** Whether every instant of the second window lies in the first. */
export const contains = (window: SweepWindow, other: SweepWindow): boolean =>
  (window.gte === undefined ||
    (other.gte !== undefined && window.gte.epochMilliseconds <= other.gte.epochMilliseconds)) &&
  (window.lt === undefined || (other.lt !== undefined && window.lt.epochMilliseconds >= other.lt.epochMilliseconds))
