/** Punches and files for the tests of `payroll`. */
import * as Fs from "node:fs"
import type { StoredPunch, WireBreak, WirePunch } from "../../../src/testing/index.ts"
import { servicePunch } from "../../support/wire.ts"
import type { Found } from "./checkModel.ts"

const hour = 3_600_000

export const isoOf = (millis: number): string => new Date(millis).toISOString().replace(".000Z", "Z")

/** A closed, approved punch that a check has nothing to say about; `hours` from its clock-in. */
export const punch = (
  id: number,
  clockedIn: string,
  hours: number | null,
  given: Partial<StoredPunch> = {}
): StoredPunch => ({
  ...servicePunch({
    id,
    clocked_in: isoOf(Date.parse(clockedIn)),
    clocked_out: hours === null ? null : isoOf(Date.parse(clockedIn) + hours * hour),
    created: isoOf(Date.parse(clockedIn)),
    modified: isoOf(Date.parse(clockedIn))
  }),
  employeeApprovalStatus: "approved",
  flags: [],
  timeZone: "UTC",
  ...given
})

/** A punch of eight hours of a date in New York, of user 500 + id at 15.00 an hour. */
export const shift = (id: number, date: string, given: Partial<StoredPunch> = {}): StoredPunch =>
  punch(id, `${date}T14:00:00Z`, 8, { user_id: 500 + id, hourly_wage: 1500, ...given })

/** A break. */
export const rest = (begin: string, end: string | null, given: Partial<WireBreak> = {}): WireBreak => ({
  id: 1,
  user_id: 1,
  custom_break_id: 0,
  paid: false,
  in: begin,
  out: end,
  ...given
})

/** The zones of the locations of the tests. */
export const zones: Readonly<Record<number, string>> = {
  301: "America/New_York",
  302: "Europe/Berlin",
  303: "Pacific/Honolulu"
}

/** The date of a clock-in on the wall clock of its location, by the calendar of the platform. */
export const dateIn = (zones: Readonly<Record<number, string>>) => {
  const calendars = new Map(
    Object.entries(zones).map(([id, timeZone]) => [
      Number(id),
      new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short" })
    ])
  )
  return (punch: WirePunch) => calendars.get(punch.location_id)?.format(Date.parse(punch.clocked_in)) ?? ""
}

/** Writes a file for `--zone-file`, of all these locations or of some. */
export const writeZones = (
  folder: string,
  locations: ReadonlyArray<readonly [string, string]> = Object.entries(zones)
): string => {
  const file = `${folder}/zones.csv`
  Fs.writeFileSync(file, `location_id,zone\n${locations.map((row) => `${row.join()}\n`).join("")}`)
  return file
}

export const issuesIn = (json: string): ReadonlyArray<Found> => JSON.parse(json)
