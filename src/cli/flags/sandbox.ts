/** The flags of the sandbox: what it serves, and how badly it behaves. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { jsonFlag } from "./format.ts"
import { wholeNumber } from "./values.ts"

export const sandboxFlags = {
  json: jsonFlag,
  port: Flag.Int("port").pipe(
    Flag.withDescription("Port to listen on, for this machine only; 0 takes a free one (default: 0)"),
    Flag.filter((port) => port >= 0 && port <= 65_535, () => wholeNumber(0, 65_535)),
    Flag.withDefault(0)
  ),
  punches: Flag.Int("punches").pipe(
    Flag.withDescription("Number of punches that a listing has, deleted ones not counted (default: 50000)"),
    Flag.filter((count) => count >= 0 && count <= 5_000_000, () => wholeNumber(0, 5_000_000)),
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
    Flag.filter((millis) => millis >= 0, () => wholeNumber(0)),
    Flag.withDefault(0)
  ),
  churn: Flag.Boolean("churn").pipe(
    Flag.withDescription("Add, edit, delete and restore punches twice a second"),
    Flag.withoutNegation,
    Flag.withDefault(false)
  ),
  churnFor: Flag.Int("churn-for").pipe(
    Flag.withMetavar("SECONDS"),
    Flag.withDescription("The same, and stop after so many seconds; the service runs on"),
    Flag.filter((seconds) => seconds >= 1, () => wholeNumber(1)),
    Flag.optional
  )
}

/** The parsed flags. */
export type SandboxInput = Command.Command.Config.Infer<typeof sandboxFlags>
