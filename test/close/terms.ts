/** Terms of a close and punches of one person, for tests of what is computed of a close. */
import { DateTime, Option, Stream } from "effect"
import * as CloseSums from "../../src/close/CloseSums.ts"
import * as CloseTerms from "../../src/close/CloseTerms.ts"
import { BusinessDate, CompanyId, LocationId, TimePunchId, UserId } from "../../src/Ids.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { punch } from "../support/arbitraryPunch.ts"

const zoneOf = DateTime.zoneMakeNamedUnsafe
export const [newYork, berlin] = [zoneOf("America/New_York"), zoneOf("Europe/Berlin")]
export const [east, far] = [LocationId.make(301), LocationId.make(303)]
export const date = (text: string) => BusinessDate.make(text)

export const terms = (options: Partial<CloseTerms.CloseTermsOptions> = {}) =>
  CloseTerms.make({
    companyId: CompanyId.make(7),
    first: date("2026-03-02"),
    last: date("2026-03-15"),
    dayRule: newYork,
    rounding: "halfUp",
    ...options
  })

let ids = 0
export const shift = (clockedIn: string, hours: number, changes: Partial<TimePunch> = {}): TimePunch => {
  const start = DateTime.makeUnsafe(clockedIn)
  return punch({
    id: TimePunchId.make(++ids),
    userId: UserId.make(7),
    locationId: east,
    clockedIn: start,
    clockedOut: Option.some(DateTime.add(start, { hours })),
    breaks: [],
    ...changes
  })
}

export const run = (punches: ReadonlyArray<TimePunch>, of: CloseTerms.CloseTerms) =>
  Stream.run(Stream.fromArray(punches), CloseSums.sum(of))
