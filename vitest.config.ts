import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { faultReporter } from "./test/support/faultReporter.ts"

export default defineConfig({
  resolve: { conditions: ["effect-time-punches:source"] },
  ssr: { resolve: { conditions: ["effect-time-punches:source"] } },
  test: {
    include: ["test/**/*.test.ts"],
    // What passes is a dot: what fails, and what is skipped, is not to be looked for.
    reporters: ["dot", faultReporter({ script: "test", failsOnSkip: false })],
    silent: "passed-only",
    globalSetup: "test/cli/bundle.ts",
    setupFiles: "test/support/seeded.ts",
    exclude: ["test/full/**", "test/soak/**", "**/node_modules/**"],
    // One more than the cores: some files wait more than they work.
    maxWorkers: availableParallelism() + 1,
    // Half of the processor's time went into loading the same modules again for each file. No test keeps state in a module.
    isolate: false,
    // A hung test must end; a slow machine must not fail one.
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
