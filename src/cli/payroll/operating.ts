/** What the verbs of `time-punches payroll` load only when they run. */
import * as Effect from "effect/Effect"

/** The drivers of the databases are large, so they are loaded only by what needs them. */
export const operating = Effect.promise(() => import("./operate.ts"))
