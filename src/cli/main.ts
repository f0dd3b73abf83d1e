#!/usr/bin/env node
/** Entry point of the `time-punches` command: starts it, or names the package that is missing. */

const isMissing = (error: unknown, name: string): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND" && error.message.includes(name)

// The library does not need this package, so a project may not have it.
const platform = "@effect/platform-node"

try {
  const { main } = await import("./run.ts")
  main()
} catch (error) {
  if (!isMissing(error, platform)) throw error
  process.stderr.write(`time-punches needs ${platform} beside it: npm install ${platform}\n`)
  process.exitCode = 3
}
