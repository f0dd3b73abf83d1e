/** Whether trace headers are sent to the service. */
import * as Context from "effect/Context"

/**
 * Whether requests carry `traceparent` and `b3`. Default: `false`, since the service is a third party. The setting is
 * read when `TimePunches.layer` and `TokenEndpoint.layer` are built: provide it *to* those layers, not beside them (see
 * "Pitfall: provide settings to the client layer" in the docs).
 */
export class TracePropagation extends Context.Reference<boolean>("effect-time-punches/TracePropagation", {
  defaultValue: () => false
}) {}
