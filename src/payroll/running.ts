/** What is counted punch by punch, such as sums: alone as a sink, or several at once over one reading. */
import * as Effect from "effect/Effect"
import * as Function from "effect/Function"
import * as Result from "effect/Result"
import * as Sink from "effect/Sink"
import type { TimePunch } from "../TimePunch.ts"

/** After a punch that cannot be counted, what was counted is of no use. */
export interface Running<out E> {
  readonly add: (punch: TimePunch) => Result.Result<void, E>
}

/** Adds punches, up to the first that cannot be counted. */
export const addAll = <E>({ add }: Running<E>, punches: ReadonlyArray<TimePunch>): Result.Result<void, E> => {
  for (const punch of punches) {
    const added = add(punch)
    if (Result.isFailure(added)) return added
  }
  return Result.void
}

/** The sink that adds every punch. */
export const toSink = <A extends Running<E>, B, E>(
  make: () => A & Running<E>,
  result: (running: A) => B
): Sink.Sink<B, TimePunch, never, E> =>
  Sink.foldArray(
    make,
    Function.constTrue,
    (running, punches: ReadonlyArray<TimePunch>) =>
      Effect.fromResult(Result.map(addAll<E>(running, punches), () => running))
  ).pipe(Sink.map(result))
