/** What `npm publish` runs first: stops a release whose users could not find the repository, or a place to report a bug. */
import * as Fs from "node:fs"
import { fileURLToPath } from "node:url"

/** The keys of package.json that a release needs, and that this one lacks. */
export const missingKeys = (manifest: Readonly<Record<string, unknown>>): ReadonlyArray<string> =>
  ["repository", "bugs", "homepage"].filter((key) => manifest[key] === undefined)

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const missing = missingKeys(JSON.parse(Fs.readFileSync("package.json", "utf8")))
  if (missing.length > 0) {
    process.stderr.write(`package.json lacks ${missing.join(", ")}: CONTRIBUTING.md has the steps of a release\n`)
    process.exitCode = 1
  }
}
