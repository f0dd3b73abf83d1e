/** Counts the pages and punches of a run, and shows the totals on one line of a terminal's standard error. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stdio from "effect/Stdio"
import { counted, countedPunches, formatNumber } from "./format.ts"
import { eraseLine, writeStderr } from "./output.ts"

export interface Totals {
  readonly pages: number
  readonly punches: number
}

export interface Progress {
  /** The current totals, with those of a resumed run. */
  readonly totals: () => Totals
  /** Adds a page of so many punches, and shows the totals if the line is due. */
  readonly add: (punches: number) => Effect.Effect<void, never, Stdio.Stdio>
}

/** Milliseconds between two updates of the line: it looks alive and costs nothing. */
const interval = 100

/**
 * Starts at the totals of the run that this one resumes. The line is erased when the scope closes.
 *
 * `printsResults` says that results are printed during the run: on the same terminal, a progress line would break them.
 */
export const makeProgress = Effect.fnUntraced(function*(
  { printsResults, resumed = { pages: 0, punches: 0 } }: {
    readonly printsResults: boolean
    readonly resumed?: Totals
  }
) {
  const stdio = yield* Stdio.Stdio
  const isShown = (yield* stdio.stderrIsTerminal) && !(printsResults && (yield* stdio.stdoutIsTerminal))
  if (isShown) yield* Effect.addFinalizer(() => writeStderr(eraseLine))
  const started = yield* Clock.currentTimeMillis
  let shownAt = -Infinity
  let { pages, punches } = resumed

  const show = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    if (now - shownAt < interval) return Effect.void
    shownAt = now
    const seconds = (now - started) / 1000
    const perSecond = formatNumber(Math.round((punches - resumed.punches) / seconds))
    const rate = seconds < 1 ? "" : `, ${perSecond} a second`
    return writeStderr(`${eraseLine}${counted(pages, "page")}, ${countedPunches(punches)}${rate}`)
  })

  return {
    totals: () => ({ pages, punches }),
    add: (more) =>
      Effect.suspend(() => {
        pages += 1
        punches += more
        return isShown ? show : Effect.void
      })
  } satisfies Progress
})
