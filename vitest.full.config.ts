import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { faultReporter } from "./test/support/faultReporter.ts"

/** What real time bounds, at several times what a quiet machine needs: these files run behind all others, one at a time. */
const timed = ["test/full/fleetAwake.test.ts", "test/full/fleetKilled.test.ts", "test/full/requestLimit.test.ts"]

/** What takes too long for every run of the tests and not too long for every change: `npm run test:full`. */
export default defineConfig({
  resolve: { conditions: ["effect-time-punches:source"] },
  ssr: { resolve: { conditions: ["effect-time-punches:source"] } },
  test: {
    reporters: ["default", faultReporter({ script: "test:full", failsOnSkip: true })],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    setupFiles: "test/support/seeded.ts",
    // Tests that wait at the same time: all rows of `fleetAwake.test.ts`.
    maxConcurrency: 10,
    typecheck: { enabled: false },
    projects: [
      // By default one core stays idle, so that files run one at a time on a machine with two.
      {
        extends: true,
        test: {
          name: "full",
          include: ["test/full/**/*.test.ts"],
          exclude: timed,
          maxWorkers: Math.max(2, availableParallelism() - 1)
        }
      },
      { extends: true, test: { name: "timed", include: timed, sequence: { groupOrder: 1 }, fileParallelism: false } }
    ]
  }
})
