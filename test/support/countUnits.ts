/** The promise of the classes of hours, unit by unit: it counts each minute or second on its own, and shares no code with `src`. */

/** Some time of one person. */
export interface Work {
  readonly day: string
  readonly week: string
  /** Its place among the work of its day. */
  readonly at: number
  readonly units: number
}

/** Thresholds in units; Infinity for none. */
export interface Limits {
  readonly weekly: number
  readonly daily: number
  readonly double: number
}

/** The work of a person in its order, and the classes of each. */
export const countUnits = <W extends Work>(work: ReadonlyArray<W>, { daily, double, weekly }: Limits) => {
  const ofDay: Record<string, number> = {}
  const ofWeek: Record<string, number> = {}
  return work.toSorted((a, b) => a.day === b.day ? a.at - b.at : a.day < b.day ? -1 : 1).map((each) => {
    const counted = { work: each, regular: 0, over: 0, double: 0 }
    for (let unit = 0; unit < each.units; unit++) {
      const inDay = ofDay[each.day] = (ofDay[each.day] ?? 0) + 1
      if (inDay > double) counted.double++
      else if (inDay > daily) counted.over++
      else {
        const inWeek = ofWeek[each.week] = (ofWeek[each.week] ?? 0) + 1
        if (inWeek > weekly) counted.over++
        else counted.regular++
      }
    }
    return counted
  })
}
