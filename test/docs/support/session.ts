/** Runs the shell commands of a page in order, as a reader does who has the sandbox in another terminal. */
import { Effect } from "effect"
import { execFile } from "node:child_process"
import * as Fs from "node:fs"
import { commandOf, environmentOf, started } from "../../cli/child.ts"
import { pages } from "./pages.ts"

/** Whether the machine has `curl`. */
export const hasCurl = (process.env["PATH"] ?? "").split(":").some((folder) => Fs.existsSync(`${folder}/curl`))

/** The commands of one fence, and what the page shows as their output. */
export interface Step {
  readonly code: string
  readonly shown: string
}

/** The `sh` fences of a page, each with the `txt` fence that follows it. */
export const stepsOf = (path: string): ReadonlyArray<Step> => {
  const text = pages.find((page) => page.path === path)?.text ?? ""
  const fences = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = "", code = ""]) => ({
    language,
    code
  }))
  return fences.flatMap(({ code, language }, at) => {
    const next = fences[at + 1]
    return language === "sh" ? [{ code, shown: next?.language === "txt" ? next.code : "" }] : []
  })
}

/** Starts the sandbox as a command of a page does, on a free port, and ends it with the scope. */
export const startSandbox = (command: string) =>
  Effect.gen(function*() {
    const args = command.trim().split(/\s+/)
    const own = args.slice(args.indexOf("time-punches") + 1)
      .map((word, at, words) => words[at - 1] === "--port" ? "0" : word)
    const { child, ended, printed } = yield* started(own, { PATH: process.env["PATH"] ?? "" })
    const settings = yield* Effect.promise(() => printed("# a first page"))
    return {
      url: /TIME_PUNCHES_BASE_URL=(\S+)/.exec(settings)?.[1] ?? "",
      /** Ends the sandbox, and returns what it wrote to standard error. */
      stop: Effect.promise(() => {
        child.kill("SIGINT")
        return ended
      })
    }
  })

const mark = "=== end of a step ==="

/** Runs steps in one shell, in a folder, against a service: both outputs of each step, in the order of writing. */
export const runSteps = (
  steps: ReadonlyArray<string>,
  folder: string,
  url: string
): Effect.Effect<ReadonlyArray<string>> =>
  Effect.callback((resume) => {
    Fs.mkdirSync(`${folder}/bin`)
    Fs.writeFileSync(
      `${folder}/bin/time-punches`,
      `#!/bin/sh\nexec ${[process.execPath, ...commandOf([])].map((word) => `'${word}'`).join(" ")} "$@"\n`,
      { mode: 0o755 }
    )
    const env = environmentOf(url)
    const script = steps.map((code) => `${code}\necho '${mark}'\n`).join("")
    const shell = execFile(
      "sh",
      ["-c", `exec 2>&1\n${script}`],
      { cwd: folder, env: { ...env, PATH: `${folder}/bin:${env["PATH"]}` } },
      (_error, stdout) => resume(Effect.succeed(stdout.split(`${mark}\n`).slice(0, -1)))
    )
    return Effect.sync(() => shell.kill())
  })
