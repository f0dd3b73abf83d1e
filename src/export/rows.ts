/** Maps a stream row by row: a failure loses no row before it, and chunks are bounded. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { TimePunch } from "../TimePunch.ts"

/** Columns that follow those of a punch, such as names. A cell without a value is empty, and null in JSON. */
export interface FurtherColumns {
  readonly columns: ReadonlyArray<string>
  /** As many as `columns`, in their order. */
  readonly cells: (punch: TimePunch) => ReadonlyArray<string | undefined>
}

/** Rows that are written together: some hundred kilobytes, also where a stream comes as one huge chunk. */
const batch = 256

/**
 * Maps every row. The rows before one that fails are emitted first, so what is written does not depend on how the
 * stream was chunked.
 */
export const mapRows = <A, B, E, E2, R>(
  self: Stream.Stream<A, E, R>,
  f: (row: A) => Result.Result<B, E2>
): Stream.Stream<B, E | E2, R> =>
  Stream.transformPull(self, (upstream) =>
    Effect.sync(() => {
      let rows: ReadonlyArray<A> = []
      let at = 0

      // A row that fails behind others stays: the next pull starts with it.
      const emit = (): Pull.Pull<Arr.NonEmptyReadonlyArray<B>, E | E2> => {
        const mapped: Array<B> = []
        for (const row of rows.slice(at, at + batch)) {
          const result = f(row)
          if (Result.isFailure(result)) {
            if (mapped.length === 0) return Effect.fail(result.failure)
            break
          }
          mapped.push(result.success)
        }
        at += mapped.length
        return Arr.isArrayNonEmpty(mapped) ? Effect.succeed(mapped) : pull
      }

      const pull: Pull.Pull<Arr.NonEmptyReadonlyArray<B>, E | E2> = Effect.suspend(() => {
        if (at < rows.length) return emit()
        return Effect.flatMap(upstream, (next) => {
          rows = next
          at = 0
          return emit()
        })
      })
      return pull
    }))

/** Joins the texts of a chunk, so that a sink writes once a chunk. */
export const joined = <E, R>(self: Stream.Stream<string, E, R>): Stream.Stream<string, E, R> =>
  Stream.mapArray(self, (texts) => [texts.join("")])
