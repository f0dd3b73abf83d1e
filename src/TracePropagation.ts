/** Whether trace headers are sent to the service. */
import * as Context from "effect/Context"

/**
 * Whether requests carry `traceparent` and `b3`. Default: `false`, since the service is a third party. Provide
 * it to `TimePunches.layer` and `TokenEndpoint.layer`, or to a run: its page requests then follow it, and token requests,
 * which runs share, follow their layer. `TracerPropagationEnabled` of `HttpClient`, provided to a run, has no effect on either.
 */
export class TracePropagation extends Context.Reference<boolean>("effect-time-punches/TracePropagation", {
  defaultValue: () => false
}) {}
