/**
 * Runs calls of the command one after the other in this process, whose outputs are a terminal: a start of Node for each of
 * some forty calls would take a minute. Its argument is a file with the calls as JSON; `until` is the text that ends a
 * call which runs until a signal. Before each call it prints a line of `@@` and the call, after it `@=` and the exit code.
 */
import { Effect, Scope } from "effect"
import * as Fs from "node:fs"
import { run } from "../../../src/cli/command.ts"
import { layerProcess } from "../../../src/cli/run.ts"
import { layer as layerTransport } from "../../../src/cli/transport.ts"

export interface Call {
  readonly call: string
  readonly until?: string | undefined
}

/** Called with each text that this process writes. */
let onText = (_: string): void => {}

for (const stream of [process.stdout, process.stderr]) {
  const { write } = stream
  Object.defineProperty(stream, "write", {
    value: (...given: Parameters<typeof write>): boolean => {
      const isFree: boolean = Reflect.apply(write, stream, given)
      onText(`${given[0]}`)
      return isFree
    }
  })
}

const ofCall = ({ call, until }: Call) =>
  Effect.gen(function*() {
    process.stdout.write(`@@ ${call}\n`)
    const ended = until === undefined ? Effect.never : Effect.callback<string>((resume) => {
      let text = ""
      onText = (part) => {
        text += part
        if (text.includes(until)) resume(Effect.succeed("interrupted"))
      }
    })
    const code = yield* Effect.raceFirst(run(call.split(" ")), ended).pipe(
      Effect.timeoutOrElse({ duration: "30 seconds", orElse: () => Effect.succeed("hangs") })
    )
    onText = () => {}
    process.stdout.write(`@= ${code}\n`)
  })

const calls: ReadonlyArray<Call> = JSON.parse(Fs.readFileSync(process.argv[2] ?? "", "utf8"))
await Effect.runPromise(Effect.scoped(
  Effect.flatMap(Effect.scope, (scope) =>
    Effect.forEach(calls, ofCall, { discard: true }).pipe(
      Effect.provide([layerProcess, layerTransport]),
      Effect.provideService(Scope.Scope, scope)
    ))
))
process.exit()
