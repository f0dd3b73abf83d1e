import { defineConfig } from "vitest/config"

export default defineConfig({
  resolve: { conditions: ["effect-time-punches:source"] },
  ssr: { resolve: { conditions: ["effect-time-punches:source"] } },
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/full/**", "test/soak/**", "**/node_modules/**"],
    // Vitest leaves a core free by itself, which is half of a small machine.
    maxWorkers: 2,
    // A hung test must end; a slow machine must not fail one.
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
