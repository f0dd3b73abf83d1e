/** A promise with the read of a body: nothing reads it again, so that the transport need not keep it. */
import * as Context from "effect/Context"

/**
 * Whether a read of a body is the last one. The core tracks responses in a way that keeps them for a while: with their
 * bytes, they make the collector work harder than the page is worth.
 */
export class LastRead extends Context.Reference<boolean>("effect-time-punches/internal/http/LastRead", {
  defaultValue: () => false
}) {}
