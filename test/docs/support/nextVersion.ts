/** The next number of a version, by the listing of the public names: `npm run next-version -- v0.1.0`. */
import { spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import { fileURLToPath } from "node:url"

/** Each declaration of a listing, under the module that has it. */
const declarations = (listing: string): ReadonlySet<string> =>
  new Set(
    listing.split(/^(?=\/\/ )/m).flatMap((section) => {
      const [module = "", ...lines] = section.trim().split("\n")
      return lines.join("\n").split(/^(?=\S)(?!\})/m)
        .filter((text) => text.startsWith("export"))
        .map((text) => `${module}\n${text.trim()}`)
    })
  )

export interface NextVersion {
  readonly version: string
  /** Declarations that a program may have used: removed, or changed in any way. */
  readonly removed: ReadonlyArray<string>
  readonly added: ReadonlyArray<string>
}

/**
 * Compares two listings. A removed or changed declaration raises the first number, or the second before 1.0.0; an added one the
 * second, or the third before 1.0.0. Anything else raises the third.
 */
export const nextVersion = (last: string, before: string, after: string): NextVersion => {
  const [major = NaN, minor = NaN, patch = NaN] = last.replace(/^v/, "").split(".").map(Number)
  if (![major, minor, patch].every(Number.isSafeInteger)) throw new Error(`${last} is not a version such as 0.1.0`)
  const [old, current] = [declarations(before), declarations(after)]
  const removed = [...old].filter((text) => !current.has(text))
  const added = [...current].filter((text) => !old.has(text))
  const breaking = major === 0 ? `0.${minor + 1}.0` : `${major + 1}.0.0`
  const compatible = major === 0 ? `0.${minor}.${patch + 1}` : `${major}.${minor + 1}.0`
  const version = removed.length > 0 ? breaking : added.length > 0 ? compatible : `${major}.${minor}.${patch + 1}`
  return { version, removed, added }
}

const nameOf = (declaration: string): string => declaration.split("\n").slice(0, 2).join(": ").slice(3, 120)

/** The listing at a tag. Ends the process with one line if there is none. */
const listingAt = (tag: string, cwd: string): string => {
  const { error, status, stderr, stdout } = spawnSync("git", ["show", `${tag}:docs/api/listing.txt`], {
    cwd,
    encoding: "utf8"
  })
  if (status === 0) return stdout
  const reason = error?.message ?? stderr.trim().split("\n")[0]
  process.stderr.write(`no listing at ${tag}: name the tag of the last release (${reason})\n`)
  return process.exit(1)
}

if (import.meta.main) {
  const [tag = "the last release"] = process.argv.slice(2)
  const root = fileURLToPath(new URL("../../../", import.meta.url))
  const before = listingAt(tag, root)
  const after = Fs.readFileSync(`${root}docs/api/listing.txt`, "utf8")
  const { added, removed, version } = nextVersion(tag, before, after)
  const lines = [
    ...removed.map((text) => `- ${nameOf(text)}`),
    ...added.map((text) => `+ ${nameOf(text)}`),
    `${removed.length} removed or changed, ${added.length} added or changed: the next version is ${version}`
  ]
  process.stdout.write(`${lines.join("\n")}\n`)
}
