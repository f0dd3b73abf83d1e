/** Runs scripts of the tests in separate processes, whose heap and handles nothing else shares. */
import { Data, Effect, type Scope, Stream } from "effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

/** The unexpected end of a process. */
export class ChildFailed extends Data.TaggedError("ChildFailed")<{ readonly script: string; readonly output: string }> {
  override get message(): string {
    return `${this.script}: ${this.output}`
  }
}

/** Starts a script and returns the lines that it prints. The process ends with the scope. */
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
      const errors: Array<string> = []
      child.stderr.on("data", (bytes) => errors.push(String(bytes)))
      return Stream.fromAsyncIterable(child.stdout, (error) =>
        new ChildFailed({ script: script.pathname, output: String(error) })).pipe(
          Stream.decodeText,
          Stream.splitLines,
          Stream.concat(Stream.suspend(() =>
            errors.length === 0
              ? Stream.empty
              : Stream.fail(new ChildFailed({ script: script.pathname, output: errors.join("") }))
          ))
        )
    }
  )

const firstLine = (script: URL, lines: Stream.Stream<string, ChildFailed>) =>
  Effect.flatMap(Stream.runHead(lines), (line) =>
    Effect.mapError(
      Effect.fromOption(line),
      () => new ChildFailed({ script: script.pathname, output: "it ended without output" })
    ))

/** Starts a server script and returns the address that it prints. It serves until the scope closes. */
export const serverOf = (script: URL, ...args: ReadonlyArray<string>) =>
  Effect.flatMap(start(script, args), (lines) => firstLine(script, lines))

/** Runs a script to its end and parses its last line as JSON. Output on standard error is a failure. */
export const resultOf = Effect.fnUntraced(function*(script: URL, ...args: ReadonlyArray<string>) {
  const lines = yield* Stream.runCollect(yield* start(script, args))
  const result: unknown = JSON.parse(lines.at(-1) ?? "null")
  return result
}, Effect.scoped)
