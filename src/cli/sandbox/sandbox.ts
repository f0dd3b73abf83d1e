/** `time-punches sandbox`: the fake service on this machine, with faults on demand. */
import * as Command from "effect/cli/Command"
import { lazyCommand } from "../flags/lazy.ts"
import { sandboxFlags } from "./flags.ts"

export const sandbox = lazyCommand(
  "sandbox",
  sandboxFlags,
  () => import("./serve.ts"),
  ({ serve }) => serve
).pipe(
  Command.withDescription(
    `Run a time-punch service on this machine, filled with made-up punches, until
  Ctrl-C.

  It prints export lines with the settings of an OAuth client, to paste into
  another terminal, and in comments an access token and a session cookie. With
  --companies it prints no company: --companies-csv writes their ids and guids.

  In a browser its address shows the requests that it gets, injects faults, and
  lists and corrects punches; /docs has the reference of the interface.`
  ),
  Command.withShortDescription("Run a local service to try things against"),
  Command.withExamples([
    { command: "time-punches sandbox --port 4010", description: "50,000 punches on port 4010" },
    {
      command: "time-punches sandbox --port 4010 --error-rate 0.1 --latency 200ms",
      description: "A slow service that often fails"
    },
    {
      command: "time-punches sandbox --port 4010 --companies 300 --companies-csv companies.csv",
      description: "Three hundred companies"
    },
    { command: "time-punches sandbox --churn", description: "Punches that change, for time-punches sync" }
  ])
)
