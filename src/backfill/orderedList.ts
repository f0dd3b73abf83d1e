/** A list sorted by `gte`; items with the same `gte` stay in the order in which they were added. */

export interface OrderedList<A> {
  readonly add: (item: A) => void
  /** The first item, which stays in the list. */
  readonly first: () => A | undefined
  readonly removeFirst: () => A | undefined
  /** The items in order. */
  readonly items: ReadonlyArray<A>
}

export const makeOrderedList = <A extends { readonly gte: number }>(initial: ReadonlyArray<A> = []): OrderedList<A> => {
  const items = initial.toSorted((a, b) => a.gte - b.gte)
  return {
    add: (item) => {
      const later = items.findIndex(({ gte }) => gte > item.gte)
      items.splice(later === -1 ? items.length : later, 0, item)
    },
    first: () => items[0],
    removeFirst: () => items.shift(),
    items
  }
}
