/** The clock of the fake service: the `Clock` of the program, moved by an offset. */

/** Instants are milliseconds since 1970; `now` is the time of the `Clock`. */
export interface ServiceClock {
  /** The service's time at `now`. */
  readonly at: (now: number) => number
  /** Moves the service's clock by this many milliseconds, back if negative. */
  readonly step: (by: number) => void
  /** Sets the clock, which continues from there. */
  readonly set: (to: number, now: number) => void
}

/** A clock that is ahead of the `Clock` by `offset` milliseconds. */
export const makeServiceClock = (offset: number): ServiceClock => {
  let ahead = offset
  return {
    at: (now) => now + ahead,
    step: (by) => {
      ahead += by
    },
    set: (to, now) => {
      ahead = to - now
    }
  }
}
