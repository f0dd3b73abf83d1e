/** Settings from an environment, and everything that an error may print of them. */
import { Cause, ConfigProvider, Effect, Layer } from "effect"
import { inspect } from "node:util"

/** An environment of these variables and no others. */
export const environment = (env: Readonly<Record<string, string>>) =>
  ConfigProvider.layer(ConfigProvider.fromEnv({ env: { ...env } }))

/** Builds a layer and closes it; fails as the build does. */
export const building = <A, E, R>(layer: Layer.Layer<A, E, R>) => Effect.scoped(Effect.asVoid(Layer.build(layer)))

/** Everything that a log, a reporter or a debugger shows of a value, in one text. */
export const surfaces = (value: unknown): string =>
  [
    String(value),
    JSON.stringify(value),
    inspect(value, { depth: Infinity }),
    inspect(value, { depth: Infinity, customInspect: false, showHidden: true }),
    Cause.pretty(Cause.fail(value)),
    value instanceof Error ? `${value.message} ${value.stack}` : ""
  ].join("\n")
