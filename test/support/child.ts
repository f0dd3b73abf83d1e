/** Scripts of the tests in processes of their own, where a heap and its handles belong to nobody else. */
import { Data, Effect, Option, type Scope, Stream } from "effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

/** A process that ended otherwise than it should. */
export class ChildFailed extends Data.TaggedError("ChildFailed")<{ readonly script: string; readonly said: string }> {
  override get message(): string {
    return `${this.script}: ${this.said}`
  }
}

/** A running script: the lines that it prints. The process ends with the scope. */
const start = (
  script: URL,
  args: ReadonlyArray<string>
): Effect.Effect<Stream.Stream<string, ChildFailed>, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() =>
        spawn(
          process.execPath,
          ["--expose-gc", "--conditions=effect-time-punches:source", fileURLToPath(script), ...args],
          { stdio: ["ignore", "pipe", "pipe"] }
        )
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    ),
    (child) => {
      const said: Array<string> = []
      child.stderr.on("data", (bytes) => said.push(String(bytes)))
      return Stream.fromAsyncIterable(child.stdout, (error) =>
        new ChildFailed({ script: script.pathname, said: String(error) })).pipe(
          Stream.decodeText,
          Stream.splitLines,
          Stream.concat(Stream.suspend(() =>
            said.length === 0
              ? Stream.empty
              : Stream.fail(new ChildFailed({ script: script.pathname, said: said.join("") }))
          ))
        )
    }
  )

const firstLine = (script: URL, lines: Stream.Stream<string, ChildFailed>) =>
  Effect.flatMap(Stream.runHead(lines), (line) =>
    Option.isSome(line)
      ? Effect.succeed(line.value)
      : Effect.fail(new ChildFailed({ script: script.pathname, said: "it ended without a word" })))

/** Starts a server, which prints its address and then serves until the scope is closed. */
export const serverOf = (script: URL, ...args: ReadonlyArray<string>) =>
  Effect.flatMap(start(script, args), (lines) => firstLine(script, lines))

/** Runs a script to its end; its last line is its result as JSON. What it writes to standard error is a failure. */
export const resultOf = Effect.fnUntraced(function*(script: URL, ...args: ReadonlyArray<string>) {
  const lines = yield* Stream.runCollect(yield* start(script, args))
  const result: unknown = JSON.parse(lines.at(-1) ?? "null")
  return result
}, Effect.scoped)
