/** START HERE. `@effect/platform-node`, the peer that a program may do without: loaded where it is first needed. */
import * as Effect from "effect/Effect"

/** Loads a module of the peer for a subpath. Without the peer it dies with what to install, since no retry brings it. */
export const loadPlatformNode = <A>(subpath: string, load: () => Promise<A>): Effect.Effect<A> =>
  Effect.promise(() =>
    load().catch((cause: unknown) => {
      throw new Error(
        `effect-time-punches/${subpath} needs @effect/platform-node: npm install @effect/platform-node@~4.1.0`,
        { cause }
      )
    })
  )
