/** `time-punches version`: the version, as `--version` shows it. */
import * as CliOutput from "effect/cli/CliOutput"
import { version } from "../../internal/wire/userAgent.ts"
import { makeVerb } from "../verb.ts"

export const verb = makeVerb(
  "version",
  {},
  () => CliOutput.Presenter.use((presenter) => presenter.present({ _tag: "Version", name: "time-punches", version })),
  { text: "Show the version, as --version does.", examples: [] }
)
