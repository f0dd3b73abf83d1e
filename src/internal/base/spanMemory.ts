/** Finds the spans that share time with a new one, and keeps no more of them than a limit. */

/** A half-open range of numbers; one whose end is not after its start shares time with none. */
export interface Span {
  readonly start: number
  readonly end: number
}

/**
 * Adds a span and returns those added before that share time with it: all of them, or `undefined` if one that is no
 * longer kept might be among them. Beyond the limit it drops those farthest from the new span, down to half of the
 * limit, but never one that shares time with it. So spans in the order of their start never meet a dropped one, and up
 * to `limit` spans may have any order.
 */
export type SpanMemory<S extends Span> = (span: S) => ReadonlyArray<S> | undefined

export const makeSpanMemory = <S extends Span>(limit: number): SpanMemory<S> => {
  let kept: Array<S> = []
  /** The least span that covers all dropped ones. */
  let dropped: Span = { start: Number.POSITIVE_INFINITY, end: Number.NEGATIVE_INFINITY }

  return (span) => {
    if (span.end <= span.start) return []
    if (shareTime(span, dropped)) return undefined
    const found = kept.filter((each) => shareTime(each, span))
    kept.push(span)
    if (kept.length > limit) {
      const apart = kept.filter((each) => !shareTime(each, span))
        .toSorted((a, b) => distance(b, span) - distance(a, span))
        .slice(0, kept.length - Math.floor(limit / 2))
      for (const each of apart) {
        dropped = { start: Math.min(dropped.start, each.start), end: Math.max(dropped.end, each.end) }
      }
      const leaving = new Set(apart)
      kept = kept.filter((each) => !leaving.has(each))
    }
    return found
  }
}

const shareTime = (a: Span, b: Span): boolean => a.start < b.end && b.start < a.end

const distance = (a: Span, b: Span): number => a.start >= b.end ? a.start - b.end : b.start - a.end
