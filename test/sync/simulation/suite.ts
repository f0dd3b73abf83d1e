/** What the series of plans share: their stores, and what each of them must have met. */
import { assert } from "@effect/vitest"
import { isReplay } from "../../support/series.ts"
import { collectMarks, marked, unmet } from "./marks.ts"
import { type Figures, series, type Stores } from "./series.ts"
import { openSqlite } from "./sqlite.ts"
import { plant, real } from "./subject.ts"

/** The store of the plans in memory. */
export const inMemory: Stores = ["memory"]

/** Runs plans in memory. Returns the rare branches that none of them met. */
export const unmetInMemory = async (seeds: Iterable<number>): Promise<ReadonlyArray<string>> => {
  const subject = await plant(marked)
  const met = collectMarks()
  assertCoverage(series(seeds, { file: "test/sync/simulation.test.ts", stores: inMemory, subject }))
  return unmet(met)
}

/** Pages in a transaction, and whether there is a history, from which the copy after each commit is rebuilt in the end. */
export const sqliteCases = [[1, false], [3, true]] as const

/** Runs plans in SQLite. */
export const inSqlite = async (seeds: Iterable<number>, pages: number, history: boolean): Promise<void> => {
  const subject = await real()
  const { close, copies } = openSqlite(pages, history)
  try {
    const file = "test/sync/simulationSqlite.test.ts"
    const figures = series(seeds, { file, stores: ["sqlite"], subject, copies })
    assertCoverage(figures)
    if (!isReplay) assert.strictEqual(figures.rebuilt, history ? figures.commits : 0)
  } finally {
    close()
  }
}

/**
 * Fails unless the calls ended in every way: a generator that draws no fault would make every check vacuous. A series that a busy
 * machine has cut short is held to its promises alone.
 */
export const assertCoverage = ({ calls, commits, ends, plans, requests }: Figures): void => {
  if (isReplay || plans < 100) return
  for (
    const end of [
      "complete",
      "stopped",
      "killed",
      "Superseded",
      "CursorLost",
      "Forbidden",
      "ServiceUnavailable",
      "DecodeError",
      "PaginationError"
    ]
  ) {
    assert.isAtLeast(ends.get(end) ?? 0, 10, end)
  }
  assert.isAbove(calls, plans * 5)
  assert.isAbove(requests, calls)
  assert.isAbove(commits, plans * 5)
}
