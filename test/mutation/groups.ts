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
    tests: ["test/TokenCache*.test.ts", "test/internal/resilience/tokenState.test.ts"]
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
      "test/listing/{envelope,fetch,response,rows,walk}.test.ts",
      "test/hostile.test.ts",
      "test/internal/http/client.test.ts",
      "test/TimePunches.{listResults,requestId}.test.ts",
      "test/faults/{answers,waits}.test.ts"
    ]
  },
  pages: {
    modules: [
      "src/listing/fetch.ts",
      "src/listing/run.ts",
      "src/internal/resilience/retry.ts",
      "src/internal/resilience/deadline.ts",
      "src/listing/walk.ts"
    ],
    tests: [
      "test/listing/{fetch,receipt,walk}.test.ts",
      "test/internal/resilience/*.test.ts",
      "test/{ApiVersion,RetryPolicy,Credentials,Credentials.oauth,TimePunches,TimePunches.runSettings}.test.ts",
      "test/faults/{answers,pages,waits}.test.ts",
      "test/full/outage.test.ts"
    ]
  },
  body: {
    modules: ["src/internal/http/body.ts"],
    tests: ["test/internal/http/body.test.ts", "test/listing/response.test.ts", "test/hostile.test.ts"]
  },
  backfill: {
    modules: ["src/backfill/window.ts", "src/backfill/plan.ts"],
    tests: ["test/backfill/{window,orderedList,forecast,plan,resume}.test.ts"]
  },
  workers: {
    modules: ["src/backfill/workers.ts"],
    tests: ["test/backfill/{reorderBuffer,waiting,failures,resume,bothEnds}.test.ts"]
  },
  close: {
    modules: [
      "src/close/CloseTerms.ts",
      "src/close/CloseSums.ts",
      "src/close/Revision.ts",
      "src/close/holes.ts",
      "src/close/losses.ts"
    ],
    tests: ["test/close/{CloseTerms,CloseSums,holes}.test.ts", "test/stories/closes.test.ts"]
  },
  payroll: {
    modules: ["src/payroll/WorkedTime.ts", "src/payroll/hourClasses.ts", "src/payroll/Rounding.ts"],
    tests: ["test/payroll/{WorkedTime,HoursOverThreshold,Labor,LaborTotals,Rounding}.test.ts"]
  },
  sync: {
    modules: ["src/sync/pass.ts", "src/sync/passes.ts", "src/sync/Checkpoint.ts"],
    tests: [
      "test/sync/{changes,checkpoint,clocks,commits,failures,order,pass,passes}.test.ts",
      "test/stories/sync.test.ts"
    ]
  },
  sql: {
    modules: ["src/sql/row.ts", "src/sql/columns.ts"],
    tests: ["test/sql/{edges,row,values}.test.ts"]
  },
  history: {
    modules: ["src/sql/history.ts"],
    tests: ["test/sql/history.test.ts", "test/stories/closes.test.ts"]
  },
  checkpoint: {
    modules: ["src/cli/export/checkpoint.ts"],
    tests: [
      "test/cli/export/{checkpoint,exportNote,exportFiles,exportDisk}.test.ts",
      "test/cli/**/{period,zones}*.test.ts"
    ]
  }
}
