/** A zone for each location, from a file of the user: `--zones FILE`. */
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Crypto from "node:crypto"
import { LocationId } from "../../Ids.ts"
import { formatInstant } from "../../internal/wire/instant.ts"
import type * as Period from "../../payroll/Period.ts"
import type { CommandFailure } from "../failure.ts"
import { parseCsvFile, readCsvFile, wrongLine } from "./csvFile.ts"
import { readWhole, readZone, wholeNumber, zoneForm } from "./values.ts"

/** The zone of each location that the file names. */
export type LocationZones = ReadonlyMap<LocationId, DateTime.TimeZone>

const columns = "location_id,zone"

export const zonesFlag = Flag.String("zones").pipe(
  Flag.withMetavar("FILE"),
  Flag.withDescription(`Instead of --zone: a zone for each location, from a CSV file with the columns ${columns}`),
  Flag.optional
)

/** The zones of the file, if one is given. Fails on the first line that is wrong, before anything is requested. */
export const readZones = (file: Option.Option<string>) => readCsvFile(file, parseZones)

/** Reads the bytes of such a file, in UTF-8; spaces around a cell do not count. `file` is its name in errors. */
export const parseZones = Effect.fnUntraced(function*(
  bytes: Uint8Array,
  file: string
): Effect.fn.Return<LocationZones, CommandFailure> {
  const zones = new Map<LocationId, DateTime.TimeZone>()
  const lines = new Map<LocationId, number>()
  yield* parseCsvFile(bytes, file, columns, (cells, line) => {
    const [id = "", name = ""] = cells.map((cell) => cell.trim())
    const locationId = Option.flatMap(readWhole(id), LocationId.makeOption)
    if (Option.isNone(locationId)) return `the id must be ${wholeNumber(0)}, not "${id}"`
    const zone = readZone(name)
    if (Option.isNone(zone)) return `the zone must be ${zoneForm}, not "${name}"`
    const earlier = lines.get(locationId.value)
    if (earlier !== undefined) return `line ${earlier} has a zone for location ${locationId.value} already`
    zones.set(locationId.value, zone.value)
    lines.set(locationId.value, line)
    return undefined
  })
  // Without a location every punch would fail, and a file without punches would pass for a complete one.
  if (zones.size === 0) return yield* wrongLine(file, 1, "no location follows the columns")
  return zones
})

/**
 * What decides which punches belong to the period: the zones, as a hash, and the period in each of them. Equal texts are
 * equal choices, whatever the order of the file.
 */
export const describeZones = (
  locations: LocationZones,
  period: (zone: DateTime.TimeZone) => Period.Interval
): Readonly<Record<string, string>> => {
  const rows = [...locations]
    .toSorted(([a], [b]) => a - b)
    .map(([locationId, zone]) => `${locationId},${DateTime.zoneToString(zone)}\n`)
  const hash = Crypto.createHash("sha256").update(rows.join("")).digest("hex")
  const zones = new Map([...locations.values()].map((zone) => [DateTime.zoneToString(zone), zone]))
  const periods = [...zones].map(([name, zone]) => {
    const { gte, lt } = period(zone)
    const [from, to] = [gte, lt].map(({ epochMilliseconds }) => formatInstant(epochMilliseconds))
    return [`period in ${name}`, `${from} to ${to}`] as const
  })
  return { "--zones": `${locations.size} with sha256 ${hash}`, ...Object.fromEntries(periods) }
}
