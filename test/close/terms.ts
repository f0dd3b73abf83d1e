/** Terms of a close and punches of one person, for tests of what is computed of a close. */
import { DateTime, Result, Stream } from "effect"
import * as CloseSums from "../../src/close/CloseSums.ts"
import * as CloseTerms from "../../src/close/CloseTerms.ts"
import { BusinessDate, CompanyId, LocationId, TimePunchId } from "../../src/Ids.ts"
import type { TimePunch } from "../../src/TimePunch.ts"
import { shift as shiftOf } from "../support/arbitraryPunch.ts"

const zoneOf = DateTime.zoneMakeNamedUnsafe
export const [newYork, berlin] = [zoneOf("America/New_York"), zoneOf("Europe/Berlin")]
export const [east, far] = [LocationId.make(301), LocationId.make(303)]
export const date = (text: string) => BusinessDate.make(text)

export const termsOptions: CloseTerms.CloseTermsOptions = {
  companyId: CompanyId.make(7),
  first: date("2026-03-02"),
  last: date("2026-03-15"),
  dayRule: newYork,
  rounding: "halfUp"
}

export const terms = (options: Partial<CloseTerms.CloseTermsOptions> = {}) =>
  Result.getOrThrow(CloseTerms.make({ ...termsOptions, ...options }))

let ids = 0
/** A punch of so many hours, with the next id. */
export const shift = (clockedIn: string, hours: number, changes: Partial<TimePunch> = {}) =>
  shiftOf(clockedIn, hours, { id: TimePunchId.make(++ids), ...changes })

export const run = (punches: ReadonlyArray<TimePunch>, of: CloseTerms.CloseTerms) =>
  Stream.run(Stream.fromArray(punches), CloseSums.sum(of))
