#!/usr/bin/env node
/** START HERE. Entry point of the `time-punches` command: starts it, or names the Node that it needs. */

// A report of a crash is a file that others can read, and would have the secrets of the environment.
if (process.report !== undefined) process.report.excludeEnv = true

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)

/** Before anything is imported: an older Node ends in the middle of an import, with a stack trace. */
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`time-punches needs Node 22.19 or later; this is Node ${process.versions.node}\n`)
  process.exitCode = 3
} else {
  try {
    const { main } = await import("./run.ts")
    main()
  } catch (error) {
    if (!(error instanceof Error && "code" in error && /^E[MN]FILE$/.test(`${error.code}`))) throw error
    process.stderr.write(
      "time-punches: too many files are open (EMFILE)\n  Raise the limit (ulimit -n), or end other programs.\n"
    )
    process.exitCode = 8
  }
}
