/** A stored punch beside what filters and orders ask of it, worked out once. */
import { parseInstant, type Zones } from "../base/wireDate.ts"
import {
  type ApprovalStatus,
  type PunchFlag,
  type StoredPunch,
  toStored,
  toWire,
  type WirePunch
} from "../base/WirePunch.ts"

/** One row of the service's table. Instants are milliseconds since 1970, and undefined where the punch has none. */
export interface Row {
  readonly id: number
  readonly companyId: number
  readonly wire: WirePunch
  readonly deleted: boolean
  readonly employeeApprovalStatus: ApprovalStatus
  readonly flags: ReadonlyArray<PunchFlag>
  readonly clockedIn: number | undefined
  readonly clockedOut: number | undefined
  readonly modified: number | undefined
  readonly created: number | undefined
  /** What the wall clock of the punch's place showed at an instant of it. */
  readonly localClockedIn: number | undefined
  readonly localClockedOut: number | undefined
  /** The JSON text of the wire punch. */
  readonly text: string
}

const instantOf = (text: string | null): number | undefined => text === null ? undefined : parseInstant(text)?.epoch

/** The row of a punch. A text that is not an instant counts as none: the row is listed, and no date filter matches it. */
export const makeRow = (punch: StoredPunch | WirePunch, zones: Zones): Row => new LazyRow(toStored(punch), zones)

/** Dates, local clocks and text cost more than the rest, so a row works them out when it is first asked. */
class LazyRow implements Row {
  readonly id: number
  readonly companyId: number
  readonly wire: WirePunch
  readonly deleted: boolean
  readonly employeeApprovalStatus: ApprovalStatus
  readonly flags: ReadonlyArray<PunchFlag>
  readonly clockedIn: number | undefined
  readonly clockedOut: number | undefined
  readonly modified: number | undefined
  private readonly zones: Zones
  private readonly timeZone: string
  private cachedText: string | undefined = undefined

  constructor(punch: StoredPunch, zones: Zones) {
    this.id = punch.id
    this.companyId = punch.company_id
    this.wire = toWire(punch)
    this.deleted = punch.deleted ?? false
    this.employeeApprovalStatus = punch.employeeApprovalStatus
    this.flags = punch.flags
    this.clockedIn = instantOf(punch.clocked_in)
    this.clockedOut = instantOf(punch.clocked_out)
    this.modified = instantOf(punch.modified)
    this.zones = zones
    this.timeZone = punch.timeZone
  }

  get created(): number | undefined {
    return instantOf(this.wire.created)
  }

  get localClockedIn(): number | undefined {
    return this.clockedIn === undefined ? undefined : this.zones.wallAt(this.clockedIn, this.timeZone)
  }

  get localClockedOut(): number | undefined {
    return this.clockedOut === undefined ? undefined : this.zones.wallAt(this.clockedOut, this.timeZone)
  }

  get text(): string {
    return this.cachedText ??= JSON.stringify(this.wire)
  }
}
