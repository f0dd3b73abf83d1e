/** Runs a command to its end, for tests that look at what a user would see. */
import { spawn } from "node:child_process"

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export const run = (
  command: string,
  args: ReadonlyArray<string>,
  options: { readonly cwd: string; readonly env?: Record<string, string | undefined> }
): Promise<Ran> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => stdout += text)
    child.stderr.setEncoding("utf8").on("data", (text: string) => stderr += text)
    child.once("error", reject)
    child.once("close", (code) => resolve({ code, stdout, stderr }))
  })
