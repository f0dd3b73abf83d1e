import { defineConfig } from "vitest/config"

export default defineConfig({
  resolve: { conditions: ["effect-time-punches:source"] },
  ssr: { resolve: { conditions: ["effect-time-punches:source"] } },
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/full/**", "test/soak/**", "**/node_modules/**"],
    // A hung test must end; a slow machine must not fail one.
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
