/** A stored punch with the values that filters and orders read. */
import { parseInstant, type Zones } from "../base/wireDate.ts"
import {
  type ApprovalStatus,
  type StoredPunch,
  toStored,
  toWire,
  type WireFlag,
  type WirePunch
} from "../base/WirePunch.ts"

/** A row of the table. Instants are milliseconds since 1970, `undefined` where the punch has none. */
export interface Row {
  readonly id: number
  readonly companyId: number
  readonly wire: WirePunch
  /** The punch that the row was made of. */
  readonly stored: StoredPunch
  readonly deleted: boolean
  readonly employeeApprovalStatus: ApprovalStatus
  readonly flags: ReadonlyArray<WireFlag>
  readonly clockedIn: number | undefined
  readonly clockedOut: number | undefined
  readonly modified: number | undefined
  readonly created: number | undefined
  /** The local time of the location, in milliseconds as if it were UTC. */
  readonly localClockedIn: number | undefined
  readonly localClockedOut: number | undefined
  /** The JSON text of the wire punch. */
  readonly text: string
}

const instantOf = (text: string | null): number | undefined => text === null ? undefined : parseInstant(text)?.epoch

/** The row of a punch. A text that is not an instant reads as absent: no date filter matches it. */
export const makeRow = (punch: StoredPunch | WirePunch, zones: Zones): Row => new LazyRow(toStored(punch), zones)

/** Computes `stored`, `created`, local times and text on demand, because they cost more than the other fields. */
class LazyRow implements Row {
  readonly id: number
  readonly companyId: number
  readonly wire: WirePunch
  readonly deleted: boolean
  readonly employeeApprovalStatus: ApprovalStatus
  readonly flags: ReadonlyArray<WireFlag>
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

  get stored(): StoredPunch {
    const { employeeApprovalStatus, flags, timeZone, wire } = this
    return { ...wire, employeeApprovalStatus, flags, timeZone }
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
