import { defineConfig } from "vitest/config"
import { faultReporter } from "./test/support/faultReporter.ts"

/** What takes too long for every run of the tests and not too long for every change: `npm run test:full`. */
export default defineConfig({
  resolve: { conditions: ["effect-time-punches:source"] },
  ssr: { resolve: { conditions: ["effect-time-punches:source"] } },
  test: {
    include: ["test/full/**/*.test.ts"],
    reporters: ["default", faultReporter({ script: "test:full", failsOnSkip: true })],
    testTimeout: 600_000,
    // Tests that wait at the same time: all rows of `fleetAwake.test.ts`.
    maxConcurrency: 10,
    typecheck: { enabled: false }
  }
})
