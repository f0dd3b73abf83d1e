/** What the mutation tester changes, in groups, and the tests of each group: quick ones, in memory. */

/** Modules and the tests that must notice a change in them, both as globs from the root of the repository. */
export interface Group {
  /** Without a comma, also in braces: the mutation tester takes it for the end of a pattern. */
  readonly modules: ReadonlyArray<string>
  readonly tests: ReadonlyArray<string>
}

export const groups: Readonly<Record<string, Group>> = {
  tokens: {
    modules: ["src/TokenCache.ts", "src/internal/resilience/tokenState.ts"],
    tests: [
      "test/TokenCache{,.renewal,.failure,.waiters,.clock}.test.ts",
      "test/internal/resilience/tokenState.test.ts"
    ]
  },
  responses: {
    modules: [
      "src/listing/rows.ts",
      "src/listing/failure.ts",
      "src/internal/http/problem.ts",
      "src/internal/http/status.ts"
    ],
    tests: [
      "test/Credentials.oauth.test.ts",
      "test/listing/fetch.test.ts",
      "test/listing/rows.test.ts",
      "test/listing/response.test.ts",
      "test/listing/walk.test.ts",
      "test/hostile.test.ts",
      "test/TimePunches.listResults.test.ts",
      "test/faults/answers.test.ts",
      "test/faults/waits.test.ts"
    ]
  },
  pages: {
    modules: [
      "src/listing/fetch.ts",
      "src/internal/resilience/retry.ts",
      "src/internal/resilience/deadline.ts",
      "src/listing/walk.ts"
    ],
    tests: [
      "test/listing/fetch.test.ts",
      "test/listing/walk.test.ts",
      "test/internal/resilience/*.test.ts",
      "test/ApiVersion.test.ts",
      "test/RetryPolicy.test.ts",
      "test/Credentials.test.ts",
      "test/Credentials.oauth.test.ts",
      "test/TimePunches.test.ts",
      "test/faults/waits.test.ts",
      "test/faults/pages.test.ts",
      "test/faults/answers.test.ts",
      "test/full/outage.test.ts"
    ]
  },
  body: {
    modules: ["src/internal/http/body.ts"],
    tests: ["test/internal/http/body.test.ts", "test/listing/response.test.ts", "test/hostile.test.ts"]
  },
  windows: {
    modules: [
      "src/backfill/window.ts",
      "src/backfill/plan.ts",
      "src/backfill/workers.ts",
      "src/backfill/window.ts"
    ],
    tests: ["test/backfill/{window,orderedList,reorderBuffer,forecast}.test.ts"]
  },
  plan: {
    modules: ["src/backfill/plan.ts"],
    tests: ["test/backfill/plan.test.ts", "test/backfill/resume.test.ts"]
  },
  rows: {
    modules: ["src/listing/rows.ts"],
    tests: ["test/listing/rows.test.ts", "test/listing/envelope.test.ts", "test/faults/answers.test.ts"]
  },
  checkpoint: {
    modules: ["src/cli/export/checkpoint.ts"],
    tests: [
      "test/cli/export/checkpoint.test.ts",
      "test/cli/export/exportNote.test.ts",
      "test/cli/export/exportFiles.test.ts",
      "test/cli/export/exportDisk.test.ts",
      "test/cli/flags/periodOfCommand.test.ts",
      "test/cli/flags/zonesOfCommand.test.ts"
    ]
  }
}
