/** `time-punches sandbox`: a service on this machine to try everything against, with faults on demand. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"

/** Flags of the sandbox: what it holds and how badly it behaves. */
const flags = {
  port: Flag.Int("port").pipe(
    Flag.withDescription("Port to listen on, on this machine only; 0 takes a free one (default: 0)"),
    Flag.filter((port) => port >= 0 && port <= 65_535, () => "a port, 0 to 65535"),
    Flag.withDefault(0)
  ),
  punches: Flag.Int("punches").pipe(
    Flag.withDescription("Number of punches (default: 50000)"),
    Flag.filter((count) => count >= 0 && count <= 5_000_000, () => "a number from 0 to 5000000"),
    Flag.withDefault(50_000)
  ),
  seed: Flag.Int("seed").pipe(
    Flag.withDescription("The same seed gives the same punches (default: 1)"),
    Flag.withDefault(1)
  ),
  fail: Flag.Finite("fail").pipe(
    Flag.withDescription("Share of the page requests, 0 to 1, that are answered with 503 (default: 0)"),
    Flag.filter((share) => share >= 0 && share <= 1, () => "a share from 0 to 1"),
    Flag.withDefault(0)
  ),
  latency: Flag.Int("latency").pipe(
    Flag.withMetavar("MILLIS"),
    Flag.withDescription("Time from a request to its answer (default: 0)"),
    Flag.filter((millis) => millis >= 0, () => "a number of milliseconds"),
    Flag.withDefault(0)
  )
}

export const sandbox = Command.make(
  "sandbox",
  flags,
  // The service is no part of what the other subcommands need, so it is loaded when it is asked for.
  (options) => Effect.flatMap(Effect.promise(() => import("./sandboxService.ts")), ({ serve }) => serve(options))
).pipe(
  Command.withDescription(
    `Run a time-punch service on this machine, filled with made-up punches, until Ctrl-C.

  It prints the variables to export in another terminal, for an OAuth client, an access token or a session.`
  ),
  Command.withShortDescription("Run a local service to try things against"),
  Command.withExamples([
    { command: "time-punches sandbox --port 4010", description: "50,000 punches on port 4010" },
    {
      command: "time-punches sandbox --port 4010 --fail 0.1 --latency 200",
      description: "A slow service that often fails"
    }
  ])
)
