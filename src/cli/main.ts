#!/usr/bin/env node
/** Entry point of the `time-punches` command: starts it, or names the package that is missing. */

const isMissing = (error: unknown, name: string): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND" && error.message.includes(name)

// The library does not need this package, so a project may not have it.
const platform = "@effect/platform-node"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)

/** Before anything is imported: an older Node ends in the middle of an import, with a stack trace. */
const isTooOld = major < 22 || (major === 22 && minor < 19)

const start = async () => {
  const { main } = await import("./run.ts")
  main()
}

try {
  if (!isTooOld) await start()
  else {
    process.stderr.write(`time-punches needs Node 22.19 or later; this is Node ${process.versions.node}\n`)
    process.exitCode = 3
  }
} catch (error) {
  if (!isMissing(error, platform)) throw error
  process.stderr.write(`time-punches needs ${platform} beside it: npm install ${platform}\n`)
  process.exitCode = 3
}
