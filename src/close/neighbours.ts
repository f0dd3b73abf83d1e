/** A period beside other closes: the time that both have, and the time between them that none has. */
import * as Arr from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { CompanyId } from "../Ids.ts"
import type { PayPeriod } from "../payroll/PayCalendar.ts"
import type { Books } from "./books.ts"
import { NotReady, PeriodClosed } from "./CloseError.ts"
import * as CloseTerms from "./CloseTerms.ts"
import { besideOf, isEverywhere, openHoles, type Time } from "./holes.ts"
import type { ActiveClose } from "./rows.ts"
import type { Corrected } from "./verdict.ts"

/** A line for each period that no close has: its local dates, or the instants of a part of a day. */
export const gapLines = (gaps: ReadonlyArray<Time>): ReadonlyArray<string> =>
  Object.values(Arr.groupBy(gaps, besideOf)).map((group) => {
    const [{ dates, earlier, interval, later }] = group
    return `no close has ${timeText(dates, interval)}${placesText(group, [earlier, later])}`
  })

const timeText = (dates: Option.Option<PayPeriod>, { from, to }: CloseTerms.Neighbour<unknown>["interval"]): string =>
  Option.match(dates, {
    onNone: () => [from, to].map((millis) => DateTime.formatIso(DateTime.makeUnsafe(millis))).join(" to "),
    onSome: datesText
  })

const datesText = ({ first, last }: PayPeriod): string => first === last ? first : `${first} to ${last}`

/** Where it is; empty if that is wherever one of the closes is. */
const placesText = (
  found: ReadonlyArray<Pick<CloseTerms.Neighbour<unknown>, "locationId">>,
  closes: Parameters<typeof isEverywhere>[1]
): string => {
  const ids = new Set(found.map(({ locationId }) => locationId))
  if (isEverywhere(found, closes)) return ""
  if (ids.size > 3) return ` at ${ids.size} locations`
  return ` at ${[...ids].map((id) => id === undefined ? "every other location" : `location ${id}`).join(", ")}`
}

export const refuseOverlap = (
  company: CompanyId,
  terms: CloseTerms.CloseTerms,
  active: ReadonlyArray<ActiveClose>,
  isCompared: (each: CloseTerms.Neighbour<unknown>) => boolean = () => true
): Effect.Effect<void, PeriodClosed> => {
  const overlaps = CloseTerms.overlaps(terms, active).filter(isCompared)
  const [overlap] = overlaps
  if (overlap === undefined) return Effect.void
  const { interval, other } = overlap
  const both = {
    first: terms.first < other.terms.first ? other.terms.first : terms.first,
    last: terms.last < other.terms.last ? terms.last : other.terms.last
  }
  const time = timeText(both.first > both.last ? Option.none() : Option.some(both), interval)
  const places = placesText(overlaps.filter((each) => each.other === other), [{ terms }, other])
  const detail = `${datesText(other.terms)}; both have ${time}${places}`
  return new PeriodClosed({ companyId: company, close: other.close, detail })
}

/** An added location is compared with the other closes as a new close is. Gives the accepted gaps of each close. */
export const refuseAdded = Effect.fnUntraced(function*(
  { active, all, company: companyId }: Books,
  corrected: ReadonlyArray<Corrected>,
  acceptsGaps: boolean
) {
  const termsNow = active.map((each) => {
    const own = corrected.find(({ close }) => close.close === each.close)
    return { ...each, terms: own?.terms ?? each.terms }
  })
  const open = corrected.some(({ added }) => added.locations.length > 0) ? openHoles(all, termsNow) : []
  const accepted = new Map<number, ReadonlyArray<Time>>()
  for (const { added, close, terms } of corrected) {
    const ids = new Set(added.locations.map((each) => Option.getOrUndefined(each.locationId)))
    const isAdded = ({ locationId }: Pick<CloseTerms.Neighbour<unknown>, "locationId">) => ids.has(locationId)
    if (ids.size > 0)
      yield* refuseOverlap(companyId, terms, termsNow.filter((each) => each.close !== close.close), isAdded)
    const gaps = open.filter((hole) =>
      isAdded(hole) && [hole.earlier, hole.later].some((each) => each?.close === close.close)
    )
    if (gaps.length === 0) continue
    if (!acceptsGaps) {
      return yield* new NotReady({ companyId, found: { gap: gaps.length }, issues: [], details: gapLines(gaps) })
    }
    accepted.set(close.close, gaps)
  }
  return accepted
})
