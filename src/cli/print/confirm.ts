/** A question to the person at the terminal. */
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Terminal from "effect/Terminal"
import { Colours, plain } from "./colour.ts"

/** Whether someone can answer: standard input and standard error are terminals. */
export const canAsk = Stdio.Stdio.use(({ stderrIsTerminal, stdinIsTerminal }) =>
  Effect.map(Effect.all([stdinIsTerminal, stderrIsTerminal]), ([reads, shows]) => reads && shows)
)

/** Asks on standard error, since standard output is for results. Enter, Escape and Ctrl-C are a no. */
export const confirm = Effect.fnUntraced(function*(message: string) {
  const stdio = yield* Stdio.Stdio
  const terminal = yield* Terminal.Terminal
  const { stderr } = yield* Colours
  const shown = Terminal.make({
    ...terminal,
    display: (text) => Stream.run(Stream.make(text), stdio.stderr())
  })
  return yield* Prompt.run(Prompt.Confirm({ message, theme: { colors: stderr !== plain } })).pipe(
    Effect.provideService(Terminal.Terminal, shown),
    Effect.catchTag("QuitError", () => Effect.succeed(false))
  )
})
