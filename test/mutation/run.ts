/** `npm run test:mutation`: breaks the code in small ways, a group of modules at a time, and counts what the tests notice. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"

const groups = {
  tokens: "src/TokenCache.ts",
  responses: "src/listing/response.ts",
  pages: "src/listing/fetch.ts,src/internal/resilience/retry.ts,src/internal/resilience/deadline.ts,src/listing/walk.ts"
}

const stryker = join(import.meta.dirname, "node_modules/@stryker-mutator/core/bin/stryker.js")
const config = join(import.meta.dirname, "stryker.json")
const wanted = process.argv.slice(2)

const failed = Object.entries(groups).filter(([group, modules]) => {
  if (wanted.length > 0 && !wanted.includes(group)) return false
  process.stdout.write(`\n${group}: ${modules}\n`)
  const { status } = spawnSync(process.execPath, [stryker, "run", config, "--mutate", modules], {
    stdio: "inherit",
    env: { ...process.env, MUTATION_GROUP: group }
  })
  return status !== 0
})
process.exitCode = failed.length
