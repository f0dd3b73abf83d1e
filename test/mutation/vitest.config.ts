/** The tests that the mutation tester runs for one group of modules: their own, in memory and quick. */
import { defineConfig } from "vitest/config"

/** What kills the mutants of a group; the tester names the group in the environment. */
const tests: Record<string, ReadonlyArray<string>> = {
  tokens: ["test/TokenCache.test.ts"],
  responses: [
    "test/listing/response.test.ts",
    "test/hostile.test.ts",
    "test/listing/walk.test.ts",
    "test/TimePunches.listResults.test.ts",
    "test/faults/{answers,waits}.test.ts"
  ],
  pages: [
    "test/{walk,deadline,ApiVersion,RetryPolicy,Credentials,Credentials.oauth,TimePunches}.test.ts",
    "test/faults/{waits,pages,answers}.test.ts",
    "test/simulation/outage.test.ts"
  ]
}

export default defineConfig({
  resolve: { conditions: ["effect-time-punches:source"] },
  ssr: { resolve: { conditions: ["effect-time-punches:source"] } },
  test: { include: [...(tests[process.env["MUTATION_GROUP"] ?? ""] ?? [])], testTimeout: 5_000 }
})
