/** How far a listing is: its rows, the date that it has reached, its time and its rate. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Stdio from "effect/Stdio"
import type { InstantRange } from "../../PunchFilter.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { countedPunches, formatElapsed, formatNumber } from "./format.ts"
import { startReport } from "./messages.ts"

/** What a run has received so far. */
interface Totals {
  readonly pages: number
  readonly punches: number
}

/** The window of clock-ins of a listing, and the zone of its dates; without one they are in UTC. */
interface ProgressWindow {
  readonly clockedIn: InstantRange | undefined
  readonly zone: Option.Option<DateTime.TimeZone>
}

/** The order of the clock-ins that were seen, and the last of them. `mixed`: they say nothing about the rows to come. */
interface Seen {
  readonly order: "unknown" | "ascending" | "descending" | "mixed"
  readonly last: Option.Option<DateTime.Utc>
}

export const nothingSeen: Seen = { order: "unknown", last: Option.none() }

/** What was seen after further rows. */
export const seenAfter = (before: Seen, rows: ReadonlyArray<TimePunch>): Seen => {
  let { order } = before
  let last = Option.getOrUndefined(before.last)
  for (const { clockedIn } of rows) {
    if (order === "mixed") break
    const step = last === undefined ? 0 : clockedIn.epochMilliseconds - last.epochMilliseconds
    const direction = step > 0 ? "ascending" : "descending"
    if (step !== 0) order = order === "unknown" || order === direction ? direction : "mixed"
    last = clockedIn
  }
  return { order, last: Option.fromUndefinedOr(last) }
}

/** The date that rows in order have reached, and its share of the window. */
interface Position {
  /** As YYYY-MM-DD in the zone of the window, without one in UTC. */
  readonly reached: string
  /** From 0 to 1. */
  readonly share: number
}

/** None without a window of two ends, and for rows that are not in order: a date in the middle of them says nothing. */
export const positionOf = ({ last, order }: Seen, { clockedIn, zone }: ProgressWindow): Option.Option<Position> => {
  const { gte, lt, lte } = clockedIn ?? {}
  const end = lt ?? lte
  if (gte === undefined || end === undefined || order === "unknown" || order === "mixed") return Option.none()
  const length = end.epochMilliseconds - gte.epochMilliseconds
  return Option.map(last, (at) => {
    const done = order === "ascending"
      ? at.epochMilliseconds - gte.epochMilliseconds
      : end.epochMilliseconds - at.epochMilliseconds
    return {
      reached: Option.match(zone, {
        onNone: () => DateTime.formatIsoDateUtc(at),
        onSome: (zone) => DateTime.formatIsoDate(DateTime.setZone(at, zone))
      }),
      share: length <= 0 ? 1 : Math.min(1, Math.max(0, done / length))
    }
  })
}

/** How fast a run is. */
interface Pace {
  /** Punches of this run, which has its own rate: those of a run that it resumes are not among them. */
  readonly received: number
  /** Milliseconds since the run began. */
  readonly elapsed: number
}

/** What a progress line says. */
interface ProgressState extends Pace {
  readonly totals: Totals
  readonly position: Option.Option<Position>
}

const perSecondOf = ({ elapsed, received }: Pace): number => Math.round(received / (elapsed / 1000))

/** `8 s, 1,550/s`; nothing within the first second, which says too little. */
export const paceText = (pace: Pace): ReadonlyArray<string> =>
  pace.elapsed < 1000 ? [] : [formatElapsed(pace.elapsed), `${formatNumber(perSecondOf(pace))}/s`]

/** `12,400 punches, reached 2026-03-05 (43 %), 8 s, 1,550/s`. */
export const progressText = (state: ProgressState): string =>
  [
    countedPunches(state.totals.punches),
    ...Option.match(state.position, {
      onNone: () => [],
      onSome: ({ reached, share }) => [`reached ${reached} (${Math.floor(share * 100)} %)`]
    }),
    ...paceText(state)
  ].join(", ")

/** The same as the members of an event. */
export const progressFields = (state: ProgressState) => ({
  ...state.totals,
  ...Option.match(state.position, {
    onNone: () => ({}),
    onSome: ({ reached, share }) => ({ reached, share: Math.floor(share * 1000) / 1000 })
  }),
  ...paceFields(state)
})

export const paceFields = (pace: Pace) => ({
  elapsedSeconds: Math.round(pace.elapsed / 100) / 10,
  ...(pace.elapsed < 1000 ? {} : { perSecond: perSecondOf(pace) })
})

const noWindow: ProgressWindow = { clockedIn: undefined, zone: Option.none() }

/** Shows the counts of a listing as it proceeds. Starts at the totals of the run that this one resumes. The line is erased when the scope closes. */
export const makeProgress = Effect.fnUntraced(function*(
  { printsResults, resumed = { pages: 0, punches: 0 }, window = noWindow }: {
    /** Whether results are printed during the run: on the same terminal, a progress line would break them. */
    readonly printsResults: boolean
    readonly resumed?: Totals
    readonly window?: ProgressWindow
  }
) {
  const { clear, show } = yield* startReport({ printsResults })
  yield* Effect.addFinalizer(() => clear)
  let { pages, punches } = resumed
  let seen = nothingSeen
  return {
    /** The current totals, which include those of a resumed run. */
    totals: (): Totals => ({ pages, punches }),
    /** Adds a page with its number of punches, and shows the totals if they are due. `rows`: all of the page, for the position. */
    add: (more: number, rows: ReadonlyArray<TimePunch> = []): Effect.Effect<void, never, Stdio.Stdio> =>
      Effect.suspend(() => {
        pages += 1
        punches += more
        seen = seenAfter(seen, rows)
        return show((elapsed) => {
          const received = punches - resumed.punches
          const state = { totals: { pages, punches }, received, position: positionOf(seen, window), elapsed }
          return { text: progressText(state), fields: progressFields(state) }
        })
      })
  }
})
