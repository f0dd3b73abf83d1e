/** From page to page: only a null `next` ends the walk; every other reason to stop is a failure. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { LimitReached, type ListError, PaginationError } from "../ApiError.ts"
import type { CompanyId, Cursor } from "../Ids.ts"
import type { PageResponse } from "../Page.ts"
import type { FetchedPage } from "./rows.ts"

/** The most empty pages in a row. A service may send some; one that sends only those would be read forever. */
export const mostEmptyPages = 100

/** The page that would come next is not requested. */
const unsent = { attempts: 0, requestId: Option.none<string>() }

/** Reads the page at a cursor; `index` counts the pages of the run. */
export type Fetch<A> = (cursor: Option.Option<Cursor>, index: number) => Effect.Effect<FetchedPage<A>, ListError>

/**
 * Reads the pages of one query in sequence. A page whose `next` was seen before in this run fails, whatever the length
 * of the cycle.
 */
export const follow = <A>(options: {
  readonly companyId: CompanyId
  readonly from: Option.Option<Cursor>
  readonly maxPages: number
  readonly fetch: Fetch<A>
}): (cursor: Option.Option<Cursor>) => Effect.Effect<FetchedPage<A>, ListError> => {
  const { companyId, fetch, from, maxPages } = options
  const seen = new Set<Cursor>(Option.toArray(from))
  let index = 0
  let empty = 0
  const stop = (
    reason: PaginationError["reason"],
    resumeFrom: Option.Option<Cursor>,
    { attempts, requestId }: Pick<PageResponse, "attempts" | "requestId"> = unsent
  ) => Effect.fail(new PaginationError({ companyId, reason, resumeFrom, pagesCompleted: index, attempts, requestId }))

  return (sent) => {
    if (index >= maxPages) {
      return Effect.fail(
        new LimitReached({ companyId, reason: "MaxPages", resumeFrom: sent, pagesCompleted: index, ...unsent })
      )
    }
    if (empty >= mostEmptyPages) return stop("EmptyPages", sent)
    return Effect.flatMap(fetch(sent, index), (page) => {
      const { cursor, response, rows } = page
      if (Option.isSome(cursor.next)) {
        if (seen.has(cursor.next.value)) return stop("CursorCycle", sent, response)
        seen.add(cursor.next.value)
      }
      empty = rows.length === 0 ? empty + 1 : 0
      index++
      return Effect.succeed(page)
    })
  }
}

/** Fetches a page when it is pulled, and emits what `select` takes from it as one chunk. */
export const walk = <A, B>(options: {
  readonly companyId: CompanyId
  readonly from: Option.Option<Cursor>
  readonly maxPages: number
  readonly prefetchPages: number
  readonly fetch: Fetch<A>
  readonly select: (page: FetchedPage<A>) => ReadonlyArray<B>
}): Stream.Stream<B, ListError> => {
  const { from, prefetchPages, select } = options
  const steps = Stream.suspend(() => {
    const read = follow(options)
    return Stream.paginate(
      from,
      (sent) => Effect.map(read(sent), (page) => [select(page), Option.map(page.cursor.next, Option.some)] as const)
    )
  })
  // The page that waits for room in the buffer is read ahead too.
  return prefetchPages === 0 ? steps : Stream.bufferArray(steps, { capacity: prefetchPages - 1 })
}
