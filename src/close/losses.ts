/** The people who lose all their hours with a correction, and what became of their punches. */
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import type { UserId } from "../Ids.ts"
import { type PunchState, punchStatesOf, rowColumns } from "../sql/row.ts"
import type { SyncError } from "../sync/SyncError.ts"
import type { CopiedBooks } from "./books.ts"
import { contains, queryWindow } from "./CloseTerms.ts"
import type { CloseNumber } from "./ids.ts"
import type { CloseTables } from "./rows.ts"
import { type Corrected, punchesIn } from "./verdict.ts"
import { chunkSize } from "./write.ts"

/**
 * What became of a punch that counted in a revision:
 *
 * - `missing`: the service does not list it any more. A permission that was withdrawn looks like that too.
 * - `deleted`: it is deleted.
 * - `moved`: it was moved out of the close, or to another person.
 * - `edited`: it counts, and has no hours any more: it is open, or its clock-out was moved.
 */
export const LossCause = Schema.Literals(["missing", "deleted", "moved", "edited"])

export type LossCause = typeof LossCause.Type

/** A person who had hours in a revision, and has none in the next one. */
export interface LostHours {
  /** The number of the close. */
  readonly close: CloseNumber
  /** The person. */
  readonly userId: UserId
  /**
   * How many punches of the person had each cause. If the history does not reach the revision before, only `missing` and
   * `deleted` are known.
   */
  readonly causes: Readonly<Partial<Record<LossCause, number>>>
}

/** The people of a correction who lost all their hours, and what became of their punches. */
export const lossesOf = Effect.fnUntraced(function*(books: CopiedBooks, corrected: Corrected) {
  const { close, due, sums } = corrected
  const now = new Set(sums.rows.flatMap(({ net, userId }) => Duration.toMillis(net) === 0 ? [] : [userId]))
  const losses = new Map(
    due.rows.filter(({ net, userId }) => Duration.toMillis(net) < 0 && !now.has(userId)).map(({ userId }) =>
      [userId, new Map<LossCause, number>()] as const
    )
  )
  if (losses.size === 0) return []
  const lost = close.newest.at.epochMilliseconds < books.copy.since.epochMilliseconds
    ? yield* lostWithoutHistory(books, corrected)
    : yield* lostSince(books, corrected, (userId) => losses.has(userId))
  for (const { cause, userId } of lost) {
    const causes = losses.get(userId)
    causes?.set(cause, (causes.get(cause) ?? 0) + 1)
  }
  return Array.from(losses, ([userId, causes]): LostHours => ({
    close: close.close,
    userId,
    causes: Object.fromEntries(causes)
  })).toSorted((one, other) => one.userId - other.userId)
})

/** The punches of the close that are missing or deleted now. */
const lostWithoutHistory = Effect.fnUntraced(function*(tables: CloseTables, { terms }: Corrected) {
  const { dialect: { timestamp }, sql } = tables.database
  const { gte, lt } = queryWindow(terms)
  const rows = yield* readRows(
    tables,
    sql`clocked_in >= ${timestamp(gte.epochMilliseconds)}
      AND clocked_in < ${timestamp(lt.epochMilliseconds)}
      AND (deleted OR missing_at IS NOT NULL)`
  )
  const isWithin = contains(terms)
  return rows.filter(({ punch }) => isWithin(punch)).map(({ isMissing, punch: { userId } }) => ({
    userId,
    cause: isMissing ? "missing" as const : "deleted" as const
  }))
})

/** The punches that these people had in the close when its newest revision was summed. */
const lostSince = Effect.fnUntraced(function*(
  tables: CloseTables,
  { close, terms }: Corrected,
  isWanted: (userId: UserId) => boolean
) {
  const isWithin = contains(terms)
  const then = yield* punchesIn(tables.company, queryWindow(terms), { at: close.newest.at }).pipe(
    Stream.filter((punch) => isWanted(punch.userId) && isWithin(punch)),
    Stream.runCollect
  )
  const causeOf = (userId: UserId, row: PunchState | undefined): LossCause => {
    if (row === undefined || row.isMissing) return "missing"
    if (row.punch.deleted) return "deleted"
    return isWithin(row.punch) && row.punch.userId === userId ? "edited" : "moved"
  }
  const { dialect: { bigint }, sql } = tables.database
  const chunks = yield* Effect.forEach(
    Arr.chunksOf(then, chunkSize),
    (chunk) => readRows(tables, sql`id IN (${Statement.csv(chunk.map(({ id }) => bigint(id)))})`)
  )
  const byId = new Map(chunks.flat().map((row) => [row.punch.id, row]))
  return then.map(({ id, userId }) => ({ userId, cause: causeOf(userId, byId.get(id)) }))
})

/** Punches as the copy has them now. */
const readRows = (
  { company, database: { dialect, sql } }: CloseTables,
  condition: Statement.Fragment
): Effect.Effect<ReadonlyArray<PunchState>, SqlError | SyncError> =>
  Effect.gen(function*() {
    const rows = yield* sql`SELECT ${rowColumns(dialect)}
      FROM ${dialect.tables.rows}
      WHERE company_id = ${dialect.bigint(company)} AND ${condition}`.values
    return yield* Effect.fromResult(punchStatesOf(company, rows))
  })
