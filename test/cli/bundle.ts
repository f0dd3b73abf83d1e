/**
 * The command as it is published, for the tests that start it: its sources start slower, and a bundle can lack what they have.
 * Before the first test of a run it is bundled again, if a source is newer.
 */
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"

const root = Path.join(import.meta.dirname, "../..")

/** The file that Node runs. */
export const bundle = Path.join(root, "dist/cli/main.js")

/** The modules of a file of the bundle, by their paths from the root. */
export const modulesOf = (file: string): ReadonlyArray<string> =>
  JSON.parse(Fs.readFileSync(Path.join(Path.dirname(bundle), "modules.json"), "utf8"))[Path.basename(file)] ?? []

const changedAt = (path: string) => Fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Vitest calls it once for a run. */
export default (): void => {
  const sources = Fs.globSync(["src/**/*.ts", "package-lock.json", "rolldown.config.ts"], { cwd: root })
  const newest = Math.max(...sources.map((path) => changedAt(Path.join(root, path))))
  if (newest < changedAt(bundle)) return
  execFileSync(process.execPath, ["node_modules/rolldown/bin/cli.mjs", "-c"], { cwd: root, stdio: "pipe" })
}
