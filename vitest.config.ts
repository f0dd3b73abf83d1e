import { defineConfig } from "vitest/config"

export default defineConfig({
  resolve: { conditions: ["effect-time-punches:source"] },
  ssr: { resolve: { conditions: ["effect-time-punches:source"] } },
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/full/**", "test/soak/**"],
    typecheck: { enabled: false }
  }
})
