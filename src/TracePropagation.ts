/** Whether trace headers leave the house. */
import * as Context from "effect/Context"

/**
 * Sends `traceparent` and `b3` with each request; `false` unless set, since the service is a third party. It is read
 * when `TimePunches.layer` is built, so provide it *to* that layer.
 *
 * @since 0.1.0
 */
export class TracePropagation extends Context.Reference<boolean>("effect-time-punches/TracePropagation", {
  defaultValue: () => false
}) {}
