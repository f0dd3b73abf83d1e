/** Shows the counts of a pass on one line of a terminal's standard error while it runs. */
import * as Effect from "effect/Effect"
import * as Stdio from "effect/Stdio"
import type { RunOptions } from "../../sync/SyncOptions.ts"
import { counted, formatNumber } from "../terminal/format.ts"
import { eraseLine, writeStderr } from "../terminal/output.ts"

/** The line is erased when the scope closes. */
export const makePassProgress = Effect.gen(function*() {
  const stdio = yield* Stdio.Stdio
  const isShown = yield* stdio.stderrIsTerminal
  if (isShown) yield* Effect.addFinalizer(() => writeStderr(eraseLine))
  const onCommit: RunOptions["onCommit"] = ({ pages, unchanged, written }) =>
    Effect.as(
      isShown
        ? writeStderr(
          `${eraseLine}${counted(pages, "page")}, ${formatNumber(written)} written, ${
            formatNumber(unchanged)
          } unchanged`
        )
        : Effect.void,
      true
    ).pipe(Effect.provideService(Stdio.Stdio, stdio))
  return onCommit
})
