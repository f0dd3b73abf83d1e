import { defineConfig } from "vitest/config"
import { faultReporter } from "./test/support/faultReporter.ts"

/** What takes as long as it is given, each test bounded in count and in time: `npm run test:soak`. */
export default defineConfig({
  resolve: { conditions: ["effect-time-punches:source"] },
  ssr: { resolve: { conditions: ["effect-time-punches:source"] } },
  test: {
    include: ["test/soak/**/*.test.ts"],
    reporters: ["default", faultReporter({ script: "test:soak", failsOnSkip: true })],
    // The longest takes an hour; a timeout at the hour would end it before it has told its figures.
    testTimeout: 4_500_000,
    // One file after another: each of them takes what the machine has.
    fileParallelism: false,
    disableConsoleIntercept: true,
    typecheck: { enabled: false }
  }
})
