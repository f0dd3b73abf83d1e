/** A line on a terminal's standard error that says how far a run is, and goes away when it ends. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stdio from "effect/Stdio"
import { eraseLine, tellRaw } from "./output.ts"

export interface Progress {
  readonly at: (pages: number, punches: number) => Effect.Effect<void, never, Stdio.Stdio>
}

/** Often enough to look alive, and seldom enough to cost nothing. */
const every = 100

export const number = new Intl.NumberFormat("en-US")

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${number.format(count)} ${count === 1 ? one : many}`

export const countedPunches = (count: number): string => counted(count, "punch", "punches")

/**
 * `beside` is false where results go to the same terminal, line by line: a progress line would tear them apart.
 * `already` punches were there before, and say nothing of the pace.
 */
export const makeProgress = Effect.fnUntraced(function*(beside: boolean, already = 0) {
  const stdio = yield* Stdio.Stdio
  const shown = (yield* stdio.stderrIsTerminal) && (beside || !(yield* stdio.stdoutIsTerminal))
  if (!shown) return { at: () => Effect.void } satisfies Progress
  yield* Effect.addFinalizer(() => tellRaw(eraseLine))
  const started = yield* Clock.currentTimeMillis
  let last = -Infinity
  return {
    at: (pages, punches) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        if (now - last < every) return Effect.void
        last = now
        const seconds = (now - started) / 1000
        const rate = seconds < 1 ? "" : `, ${number.format(Math.round((punches - already) / seconds))} a second`
        return tellRaw(`${eraseLine}${counted(pages, "page")}, ${countedPunches(punches)}${rate}`)
      })
  } satisfies Progress
})
