/** Backfill against the cursor chain behind latency, in virtual time: exact, so one sample is enough. */
import type { BackfillRow } from "../backfill.ts"
import { called } from "../measure.ts"
import { atLeast, atMost, number, type Section, type Setting, table, type Target } from "../report.ts"

const tableOf = (title: string, rows: ReadonlyArray<BackfillRow>) =>
  table(
    [title, "order", "windows at once", "× the cursor chain", "requests, × the chain's"],
    rows.map((row) => [row.density, row.order, row.workers, number(row.speedup), number(row.requests)])
  )

const slowest = (rows: ReadonlyArray<BackfillRow>, workers: number) =>
  Math.min(...rows.filter((row) => row.workers === workers).map((row) => row.speedup))

const requests = (rows: ReadonlyArray<BackfillRow>) =>
  Math.max(...rows.filter((row) => row.workers === 8).map((row) => row.requests))

const smallTable = (rows: ReadonlyArray<BackfillRow>) =>
  table(
    ["density", "order", "pages", "× the cursor chain", "the bound", "requests, × the chain's"],
    rows.map((row) => [row.density, row.order, row.pages, number(row.speedup), number(row.bound), number(row.requests)])
  )

/** The targets of 500 pages. */
const large = (rows: ReadonlyArray<BackfillRow>): ReadonlyArray<Target> => [
  atLeast("backfill of 500 pages, 8 windows, any density and order, × the chain", 6, slowest(rows, 8)),
  atLeast("backfill of 500 pages, 16 windows, any density and order, × the chain", 11, slowest(rows, 16)),
  atMost("backfill of 500 pages, 8 windows, requests × the chain's", 1.25, requests(rows))
]

/** The targets of 53 pages. Bursts in order of time have none: rows of one instant cannot be split. */
const small = (rows: ReadonlyArray<BackfillRow>): ReadonlyArray<Target> => [
  atLeast(
    "backfill of 53 pages, 8 windows, all but bursts, both orders, × the chain",
    5.5,
    slowest(rows.filter(({ density }) => density !== "bursts"), 8)
  ),
  atLeast(
    "backfill of 53 pages, 8 windows, bursts as completed, × the chain",
    4.5,
    slowest(rows.filter(({ density, order }) => density === "bursts" && order === "asCompleted"), 8)
  )
]

const measured = (count: number, workers: ReadonlyArray<number>) =>
  called<ReadonlyArray<BackfillRow>>("backfill.ts", "backfill", { count, workers })

export const backfill = ({ quick }: Setting): Section => {
  const few = called<ReadonlyArray<BackfillRow>>("backfill.ts", "smallBackfills", quick ? [53] : [5, 20, 53])
  const many = quick ? [] : measured(100_000, [8, 16])
  return {
    name: "backfill",
    text: [smallTable(few), ...(quick ? [] : [tableOf("500 pages", many)])].join("\n\n"),
    targets: [...small(few.filter(({ pages }) => pages === 53)), ...(quick ? [] : large(many))]
  }
}
