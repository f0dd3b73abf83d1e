/** `npm run test:mutation [group …]`: changes the code in small ways and counts the changes that the tests notice. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { groups } from "./groups.ts"

const stryker = join(import.meta.dirname, "node_modules/@stryker-mutator/core/bin/stryker.js")
const config = join(import.meta.dirname, "stryker.json")
const selected = process.argv.slice(2)

const failed = Object.entries(groups).filter(([group, { modules }]) => {
  if (selected.length > 0 && !selected.includes(group)) return false
  process.stdout.write(`\n${group}: ${modules.join(" ")}\n`)
  const { status } = spawnSync(process.execPath, [stryker, "run", config, "--mutate", modules.join()], {
    stdio: "inherit",
    env: { ...process.env, MUTATION_GROUP: group }
  })
  return status !== 0
})
process.exitCode = failed.length
