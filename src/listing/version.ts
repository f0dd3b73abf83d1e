/** Looks at the version that answered each page: one warning for each version of a run. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import { isTraced } from "../internal/telemetry/tracing.ts"
import { type Answered, versionWarning } from "../internal/wire/version.ts"

/** The versions that answered in a run. */
export type Versions = Map<string, Answered>

/** What notes the versions of several listings as one run, which then warns once. By default each listing is a run. */
export const RunVersions = Context.Reference<Versions | undefined>("effect-time-punches/listing/RunVersions", {
  defaultValue: () => undefined
})

/** Warns of a version that is new to the run and is not the one that was requested. The span of the page has each. */
export const noteVersion = (versions: Versions, answered: string, asked: Option.Option<string>): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const annotated = isTraced(fiber.context)
      ? Effect.annotateCurrentSpan("time_punches.answered_version", answered)
      : Effect.void
    if (versions.has(answered)) return annotated
    const version = { answered, asked }
    versions.set(answered, version)
    const warning = versionWarning(version)
    return warning === undefined ? annotated : Effect.andThen(annotated, Effect.logWarning(warning))
  })
