/** The migrations of a copy: the text of each is published with the first release that has it. */
import { describe, expect, it } from "@effect/vitest"
import { SqlStore } from "../../src/sql/index.ts"

describe("the migrations that were published", () => {
  it("have the text that they were published with", async () => {
    const texts = (["sqlite", "pg"] as const).map((dialect) => {
      const statements = SqlStore.migrations.ddl(dialect)
      return [`-- ${dialect}`, ...statements.map((text) => `${text};`)].join("\n\n")
    })

    await expect(`${texts.join("\n\n")}\n`).toMatchFileSnapshot("migrations.sql")
  })
})
