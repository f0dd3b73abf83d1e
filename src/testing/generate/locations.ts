/** The locations of generated punches, with their time zones. */

/** A location, with its time zone and the usual offset of that zone in minutes. */
export interface Location {
  readonly id: number
  readonly timeZone: string
  readonly offset: number
}

/** Three in usual zones, then two whose offsets are no whole hours, and one in UTC. */
export const locations: readonly [Location, ...ReadonlyArray<Location>] = [
  { id: 301, timeZone: "America/New_York", offset: -300 },
  { id: 302, timeZone: "America/Los_Angeles", offset: -480 },
  { id: 303, timeZone: "Europe/Berlin", offset: 60 },
  { id: 304, timeZone: "Asia/Kolkata", offset: 330 },
  { id: 305, timeZone: "Australia/Lord_Howe", offset: 630 },
  { id: 306, timeZone: "UTC", offset: 0 }
]
