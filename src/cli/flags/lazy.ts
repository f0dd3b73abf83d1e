/** Commands whose code is loaded when they run. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"

/**
 * A command whose module is loaded only when it runs: drivers of databases, charts and protocols are large, and no other run
 * pays for them. `runOf` picks the function of the module that takes the flags.
 */
export const lazyCommand = <
  const Name extends string,
  const Config extends Command.Command.Config,
  Module,
  E,
  R
>(
  name: Name,
  flags: Config,
  load: () => Promise<Module>,
  runOf: (module: Module) => (input: Command.Command.Config.Infer<Config>) => Effect.Effect<void, E, R>
) =>
  Command.make(
    name,
    flags,
    (input) => Effect.flatMap(Effect.promise(load), (module) => runOf(module)(input))
  )
