/** Tries how a listing asks for deleted punches and others alike, and keeps to what works: a cursor goes with the spelling that gave it. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import { isRefused, type ListError, refusedInclude } from "../ApiError.ts"
import type { Cursor } from "../Ids.ts"
import { otherSpelling, type Spelling, usualSpelling } from "../internal/wire/spelling.ts"
import { fetchRows } from "./fetch.ts"
import type { Query } from "./request.ts"
import type { Decode, FetchedPage } from "./rows.ts"
import type { Client, Run } from "./run.ts"
import type { Fetch } from "./walk.ts"

/** The spelling that a caller knows. `isOnly`: no other one is tried, and what the service answers is not kept. */
export interface KnownSpelling {
  readonly spelling: Spelling
  readonly isOnly: boolean
}

/** The spelling of a run. By default the one that the client keeps for the company. */
export const RunSpelling = Context.Reference<KnownSpelling | undefined>("effect-time-punches/listing/RunSpelling", {
  defaultValue: () => undefined
})

/**
 * Fetches the pages of a run. A first request that is refused is sent in the other spelling. Before that one is kept, the refused
 * one is sent once more: after a stray refusal, a copy must not stay with a parameter that a later release may ignore.
 */
export const spelled = <A>(
  { spellings: kept }: Pick<Client, "spellings">,
  known: KnownSpelling | undefined,
  query: Query,
  fetch: (query: Query, cursor: Option.Option<Cursor>, index: number) => Effect.Effect<FetchedPage<A>, ListError>
): Fetch<A> => {
  const { company: { id }, targetIn } = query
  if (targetIn === undefined) return (cursor, index) => fetch(query, cursor, index)
  // Of the cursors of this run.
  let used = known?.spelling

  const send = (spelling: Spelling, cursor: Option.Option<Cursor>, index: number) =>
    Effect.map(fetch({ ...query, target: targetIn(spelling) }, cursor, index), (page) => ({ ...page, spelling }))

  /** If both are refused, the first refusal is the error: the other parameter may not exist. */
  const either = (spelling: Spelling, cursor: Option.Option<Cursor>, index: number) =>
    Effect.catchIf(
      send(spelling, cursor, index),
      isRefused,
      (refusal) =>
        send(otherSpelling(spelling), cursor, index).pipe(
          Effect.catchIf(isRefused, () => Effect.fail(Option.isSome(cursor) ? refusal : refusedInclude(refusal))),
          Effect.filterOrElse(
            () => Option.isSome(cursor),
            (page) => Effect.catchIf(send(spelling, cursor, index), isRefused, () => Effect.succeed(page))
          )
        )
    )

  return (cursor, index) =>
    Effect.suspend(() => {
      if (known?.isOnly === true) return send(known.spelling, cursor, index)
      if (used !== undefined && Option.isSome(cursor)) return send(used, cursor, index)
      return Effect.tap(either(known?.spelling ?? kept.get(id) ?? usualSpelling, cursor, index), ({ spelling }) =>
        Effect.sync(() => {
          used = spelling
          // A cursor of another run, perhaps in the other spelling, proves nothing of a first request.
          if (Option.isNone(cursor))
            kept.set(id, spelling)
        }))
    })
}

/** The pages of a run, spelled as the run asks. `more` is done around each page. */
export const spelledPages = <A>(
  run: Run,
  context: Context.Context<never>,
  decode: Decode<A>,
  query: Query,
  more: (page: Effect.Effect<FetchedPage<A>, ListError>) => Effect.Effect<FetchedPage<A>, ListError> = identity
): Fetch<A> =>
  spelled(
    run,
    Context.get(context, RunSpelling),
    query,
    (query, cursor, index) => more(fetchRows(run, decode, query, cursor, index))
  )
