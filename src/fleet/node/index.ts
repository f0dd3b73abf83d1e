/** The `./fleet/node` subpath: runs a fleet in this process. */
export type { FleetSettings } from "../Settings.ts"
export * as FleetRunner from "./FleetRunner.ts"
export type { FleetOptions, PgAddress, PgClientOptions, RunnerOptions, SqliteRunnerOptions } from "./FleetRunner.ts"
