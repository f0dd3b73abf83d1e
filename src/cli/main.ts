#!/usr/bin/env node
/** The file behind the `time-punches` command. It starts the rest, or says what is missing. */

const isMissing = (error: unknown, name: string): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND" && error.message.includes(name)

// The library does without this package, so a project may well not have it.
const platform = "@effect/platform-node"

try {
  const { main } = await import("./run.ts")
  main()
} catch (error) {
  if (!isMissing(error, platform)) throw error
  process.stderr.write(`time-punches needs ${platform} beside it: npm install ${platform}\n`)
  process.exitCode = 3
}
