/** Flags that parse one value strictly: an id, an instant, a date, a list of known words, an order, a zone, a rounding. */
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { BusinessDate } from "../../Ids.ts"
import { parseInstant } from "../../internal/wire/instant.ts"
import { TimePunch } from "../../TimePunch.ts"

/** An optional flag whose text `read` must accept; `expected` completes "Expected: …". */
export const text = <A>(
  name: string,
  metavar: string,
  description: string,
  expected: string,
  read: (text: string) => Option.Option<A>
) =>
  Flag.String(name).pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(description),
    Flag.filterMap(read, () => expected),
    Flag.optional
  )

/** What `readWhole` expects; it completes "must be …". */
export const wholeNumber = (least: number, most?: number): string =>
  `a whole number from ${least} ${most === undefined ? "on" : `to ${most}`}`

/** Reads decimal digits only, so that neither `1e3` nor a blank is a number. */
export const readWhole = (
  text: string,
  least = 0,
  most: number = Number.MAX_SAFE_INTEGER
): Option.Option<number> => {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN
  return value >= least && value <= most ? Option.some(value) : Option.none()
}

export const id = <A>(name: string, make: (value: number) => Option.Option<A>, description: string) =>
  text(name, "ID", description, wholeNumber(0), (text) => Option.flatMap(readWhole(text), make))

export const readInstant = (text: string): Option.Option<DateTime.Utc> => {
  const millis = parseInstant(text)
  return Number.isNaN(millis) ? Option.none() : Option.some(DateTime.makeUnsafe(millis))
}

export const instant = (name: string, description: string) =>
  text(
    name,
    "INSTANT",
    description,
    "an RFC 3339 instant with a zone, such as 2026-03-01T00:00:00Z or 2026-03-01T08:00:00+01:00",
    readInstant
  )

export const readDate: (text: string) => Option.Option<BusinessDate> = Schema.decodeUnknownOption(BusinessDate)

export const date = (name: string, description: string) =>
  text(name, "DATE", description, "a real date as YYYY-MM-DD", readDate)

/** A list of known words, joined by commas, as on the wire. */
export const words = <A extends string>(name: string, known: ReadonlyArray<A>, description: string) =>
  text(
    name,
    known.join(","),
    description,
    `some of ${known.join(", ")}, joined by commas`,
    (text) =>
      Option.all(text.split(",").map((word) => Option.fromUndefinedOr(known.find((candidate) => candidate === word))))
  )

type SortKey = readonly [keyof TimePunch, "asc" | "desc"]

const isField = (name: string): name is keyof TimePunch => Object.hasOwn(TimePunch.fields, name)

const readSortKey = (text: string): Option.Option<SortKey> => {
  const [name = "", direction = "asc", ...rest] = text.split(".")
  const field = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const known = /^[a-z_]+$/.test(name) && isField(field)
  return rest.length === 0 && known && (direction === "asc" || direction === "desc")
    ? Option.some<SortKey>([field, direction])
    : Option.none()
}

export const sortBy = text(
  "sort-by",
  "FIELD.asc|desc,…",
  "Order, such as clocked_in.desc,id.asc; some services ignore it and order by id",
  "fields of a punch with .asc or .desc, joined by commas, such as clocked_in.desc,id.asc",
  (text) => Option.all(text.split(",").map(readSortKey))
)

/** What a zone is written as; it completes "must be …". */
export const zoneForm = "the name of a time zone, such as Europe/Berlin, or an offset, such as +01:00"

/** Reads a zone. An offset that is none of the world, such as `+24:00`, would only move the days. */
export const readZone = (text: string): Option.Option<DateTime.TimeZone> =>
  Option.filter(
    DateTime.zoneFromString(text),
    (zone) => zone._tag === "Named" || (/[0-5]\d$/.test(text) && zone.offset >= -12 * hour && zone.offset <= 14 * hour)
  )

const hour = 3_600_000

export const zone = text(
  "zone",
  "ZONE",
  "Time zone of local dates and times, such as America/New_York or +01:00",
  zoneForm,
  readZone
)

export const asOf = instant("as-of", "Count open punches up to this instant; without it their time is left out")

export const rounding = Flag.ChoiceWithValue("rounding", [
  ["half-up", "halfUp"],
  ["half-even", "halfEven"],
  ["down", "down"],
  ["up", "up"]
]).pipe(
  Flag.withDescription("How the cost of each punch is rounded to the cent (default: half-up)"),
  Flag.withDefault("halfUp")
)
