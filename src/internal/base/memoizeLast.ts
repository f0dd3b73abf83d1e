/** Remembers the last result of a function, for an argument that is mostly the same one. */

/** Calls `f` only for another argument than the last one, by identity. */
export const memoizeLast = <A extends object, B>(f: (a: A) => B): (a: A) => B => {
  let last: { readonly of: A; readonly result: B } | undefined
  return (a) => {
    if (last?.of !== a) last = { of: a, result: f(a) }
    return last.result
  }
}
