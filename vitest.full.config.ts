import { defineConfig } from "vitest/config"

/** What takes too long for every run of the tests and not too long for every change: `npm run test:full`. */
export default defineConfig({
  resolve: { conditions: ["effect-time-punches:source"] },
  ssr: { resolve: { conditions: ["effect-time-punches:source"] } },
  test: {
    include: ["test/full/**/*.test.ts"],
    testTimeout: 600_000,
    typecheck: { enabled: false }
  }
})
