/** The tests of one group; the mutation tester names the group in `MUTATION_GROUP`. */
import { defineConfig } from "vitest/config"
import { groups } from "./groups.ts"

export default defineConfig({
  resolve: { conditions: ["effect-time-punches:source"] },
  ssr: { resolve: { conditions: ["effect-time-punches:source"] } },
  test: {
    include: [...(groups[process.env["MUTATION_GROUP"] ?? ""]?.tests ?? [])],
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
