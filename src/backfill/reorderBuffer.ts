/** Holds completed pages until no unread page can come before them. Without effects. */
import { makeOrderedList } from "./orderedList.ts"

export interface ReorderBuffer<A> {
  /** Adds a page at a position; pages at the same position stay in the order in which they were added. */
  readonly put: (position: number, page: A) => void
  /** Whether `next` returns a page for this frontier. */
  readonly isReady: (frontier: number) => boolean
  /** Removes the first page and returns it, unless its position is beyond `frontier`, the first unread one. */
  readonly next: (frontier: number) => A | undefined
  /** Number of pages in the buffer. */
  readonly held: () => number
}

export const makeReorderBuffer = <A>(): ReorderBuffer<A> => {
  const pages = makeOrderedList<{ readonly gte: number; readonly page: A }>()
  const isReady = (frontier: number): boolean => {
    const first = pages.first()
    return first !== undefined && first.gte <= frontier
  }
  return {
    put: (position, page) => pages.add({ gte: position, page }),
    isReady,
    next: (frontier) => isReady(frontier) ? pages.removeFirst()?.page : undefined,
    held: () => pages.items.length
  }
}
