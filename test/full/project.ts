/** An empty project of a user, with the package installed as it would be published. */
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert } from "vitest"
import { type Ran, run } from "./run.ts"

const root = join(import.meta.dirname, "../..")

/** A version that this repository is tested with, in the form that npm takes. */
export const versionOf = async (name: string): Promise<string> => {
  const lock: { readonly packages: Record<string, { readonly version?: string }> } = JSON.parse(
    await readFile(join(root, "package-lock.json"), "utf8")
  )
  return `${name}@${lock.packages[`node_modules/${name}`]?.version ?? "latest"}`
}

/** Runs a command that must succeed. */
export const succeed = async (cwd: string, command: string, ...args: ReadonlyArray<string>): Promise<Ran> => {
  const ran = await run(command, args, { cwd })
  assert.strictEqual(ran.code, 0, `${command} ${args.join(" ")}\n${ran.stdout}\n${ran.stderr}`)
  return ran
}

/** Makes what a clone would hold after `npm ci`: the files that git knows or would add, and nothing that was built here. */
export const makeClone = async (): Promise<string> => {
  const clone = await mkdtemp(join(tmpdir(), "time-punches-clone-"))
  const { stdout } = await succeed(root, "git", "ls-files", "--cached", "--others", "--exclude-standard")
  for (const name of stdout.split("\n").filter((name) => name !== "")) {
    await cp(join(root, name), join(clone, name), { recursive: true }).catch((error: NodeJS.ErrnoException) => {
      // Removed, and not committed yet.
      if (error.code !== "ENOENT") throw error
    })
  }
  // The tools that build the package.
  await symlink(join(root, "node_modules"), join(clone, "node_modules"))
  return clone
}

/** Packs what a clone would hold. */
export const packClone = async (destination: string): Promise<string> => {
  const clone = await makeClone()
  try {
    const packed = await succeed(clone, "npm", "pack", "--silent", "--pack-destination", destination)
    return join(destination, packed.stdout.trim().split("\n").at(-1) ?? "")
  } finally {
    await rm(clone, { recursive: true, force: true })
  }
}

/** Makes a project with these files and packages, and the package itself. */
export const makeProject = async (
  files: Readonly<Record<string, string>>,
  packages: ReadonlyArray<string>
): Promise<{ readonly folder: string; readonly tarball: string }> => {
  const folder = await mkdtemp(join(tmpdir(), "time-punches-consumer-"))
  const tarball = await packClone(folder)
  const manifest = {
    name: "consumer",
    private: true,
    type: "module",
    // These packages bring a binary; npm asks before it runs their install scripts.
    allowScripts: { bun: true, deno: true, esbuild: true }
  }
  for (const [name, text] of Object.entries({ ...files, "package.json": JSON.stringify(manifest) })) {
    await writeFile(join(folder, name), text)
  }
  await succeed(folder, "npm", "install", "--no-audit", "--no-fund", tarball, ...packages)
  return { folder, tarball }
}

/** A command of the project's packages. */
export const bin = (folder: string, name: string) => join(folder, "node_modules/.bin", name)
