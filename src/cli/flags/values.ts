/** START HERE. Flags that several commands share. These parse one value strictly: ids, instants, dates, words, zones, formats. */
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { BusinessDate } from "../../Ids.ts"
import { printable } from "../../internal/text/printable.ts"
import { parseInstant } from "../../internal/wire/instant.ts"
import { timePunchNames } from "../../internal/wire/names.ts"
import { PayCalendar } from "../../payroll/PayCalendar.ts"
import { Rounding } from "../../payroll/Rounding.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { type CommandFailure, refused } from "../failure.ts"
import type { CsvStyle } from "../print/machine.ts"

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

/** An optional flag whose text must not be blank. */
export const nonBlank = (name: string, metavar: string, description: string, expected: string) =>
  text(name, metavar, description, expected, (text) => text.trim() === "" ? Option.none() : Option.some(text))

/** An optional flag that names a file. `-`, which is a stream elsewhere, would be a file of that name. */
export const fileFlag = (name: string, description: string) =>
  text(
    name,
    "FILE",
    description,
    "the name of a file, not -",
    (file) => file.trim() === "" || file === "-" ? Option.none() : Option.some(file)
  )

/** A flag without a value, off by default. */
export const onFlag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(
    Flag.withDescription(description),
    Flag.withoutNegation,
    // Without it, a 1 or a 0 behind the flag is its value, and no close and no company.
    Flag.withOptionalValue("true"),
    Flag.withDefault(false)
  )

/** What `readWhole` expects; it completes "must be …". */
export const wholeNumber = (least: number, most: number = Number.MAX_SAFE_INTEGER): string =>
  `a whole number from ${least} to ${most}`

/** Reads decimal digits only, so that neither `1e3` nor a blank is a number. */
export const readWhole = (
  text: string,
  least = 0,
  most: number = Number.MAX_SAFE_INTEGER
): Option.Option<number> => {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN
  return value >= least && value <= most ? Option.some(value) : Option.none()
}

/** An optional flag that is a whole number in decimal digits: an empty text is not 0. */
export const whole = (name: string, metavar: string, description: string, least: number, most?: number) =>
  text(name, metavar, description, wholeNumber(least, most), (text) => readWhole(text, least, most))

export const id = <A>(name: string, make: (value: number) => Option.Option<A>, description: string) =>
  text(name, "ID", description, wholeNumber(0), (text) => Option.flatMap(readWhole(text), make))

export const readInstant = (text: string): Option.Option<DateTime.Utc> => {
  const millis = parseInstant(text)
  return Number.isNaN(millis) ? Option.none() : Option.some(DateTime.makeUnsafe(millis))
}

/** `ofDates`: the flags that take a local date instead. */
export const instant = (name: string, description: string, ofDates = "") =>
  text(
    name,
    "INSTANT",
    description,
    (ofDates === "" ? "" : `${ofDates}, or `) +
      "an RFC 3339 instant with a zone, of the years 0001 to 9999, such as 2026-03-01T00:00:00Z or 2026-03-01T08:00:00+01:00",
    readInstant
  )

export const readDate: (text: string) => Option.Option<BusinessDate> = Schema.decodeUnknownOption(BusinessDate)

export const date = (name: string, description: string) => text(name, "DATE", description, dateForm, readDate)

/** What `readDate` expects; it completes "must be …". */
export const dateForm = "a date of the calendar as YYYY-MM-DD, from 0001-01-01 to 9999-12-31"

/** A list of known words, joined by commas, as on the wire. */
export const words = <A extends string>(
  name: string,
  known: ReadonlyArray<A>,
  description: string,
  metavar: string = known.join(",")
) => text(name, metavar, description, `some of ${known.join(", ")}, joined by commas`, readWords(known))

/** Reads such a list. */
export const readWords =
  <A extends string>(known: ReadonlyArray<A>) => (text: string): Option.Option<ReadonlyArray<A>> =>
    Option.all(text.split(",").map((word) => Option.fromUndefinedOr(known.find((candidate) => candidate === word))))

type SortKey = readonly [keyof TimePunch, "asc" | "desc"]

const isField = (name: string): name is keyof TimePunch => Object.hasOwn(timePunchNames, name)

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
export const zoneForm =
  "the name of a time zone, such as Europe/Berlin, or an offset from -12:00 to +14:00, such as +01:00"

/** Reads a zone. Rejects offsets outside -12:00 to +14:00, which no place uses. */
export const readZone = (text: string): Option.Option<DateTime.TimeZone> =>
  Option.filter(
    DateTime.zoneFromString(text),
    (zone) =>
      zone._tag === "Named" || (/[0-5]\d$/.test(text) && zone.offset >= -12 * units.h && zone.offset <= 14 * units.h)
  )

export const zone = text(
  "zone",
  "ZONE",
  "Time zone of local dates and times, such as America/New_York or +01:00",
  zoneForm,
  readZone
)

/** Reads `04:00` or `-02:00`, from -12:00 to 12:00. */
export const readDayStarts = (text: string): Option.Option<Duration.Duration> => {
  const [, sign, hours, minutes] = /^(-?)(\d\d):([0-5]\d)$/.exec(text) ?? []
  const millis = Number(hours) * units.h + Number(minutes) * units.m
  return millis <= 12 * units.h ? Option.some(Duration.millis(sign === "-" ? -millis : millis)) : Option.none()
}

/** Writes it in the same form. `millis`: from midnight. */
export const dayStartsText = (millis: number): string => {
  const minutes = Math.abs(millis) / units.m
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60].map((part) => `${part}`.padStart(2, "0"))
  return `${millis < 0 ? "-" : ""}${hour}:${minute}`
}

/** What `readDayStarts` expects; it completes "must be …". */
export const dayStartsForm = "a time from 00:00 to 12:00, such as 04:00, or before midnight, such as -02:00"

export const dayStarts = text(
  "day-starts",
  "HH:MM",
  "When a local day begins (default: 00:00); --day-starts=-02:00 is 22:00 of the day before",
  dayStartsForm,
  readDayStarts
)

/** A word for the date of a period: the one before today's, or today's. */
export type PeriodWord = "last" | "current"

export const isPeriodWord = (text: string): text is PeriodWord => text === "last" || text === "current"

/** A date, or a word for it. */
export const dateOrWord = (
  name: string,
  metavar: string,
  description: string,
  expected: string,
  read: typeof readDate
) =>
  text(
    name,
    `${metavar}|last|current`,
    description,
    `${expected}, or last or current`,
    (text): Option.Option<BusinessDate | PeriodWord> => isPeriodWord(text) ? Option.some(text) : read(text)
  )

/** Reads `14d:2026-01-05`, `1,16` or `26`. */
export const readCalendar = (text: string): Option.Option<PayCalendar> => {
  const [, days, anchor] = /^(\d{1,8})d:(.*)$/.exec(text) ?? []
  return decodeCalendar(
    days !== undefined
      ? { kind: "days", days: Number(days), anchor }
      : { kind: "months", firstDays: /^\d{1,2}(,\d{1,2})?$/.test(text) ? text.split(",").map(Number) : [] }
  )
}

const decodeCalendar = Schema.decodeUnknownOption(PayCalendar)

/** What `readCalendar` expects; it completes "must be …". */
export const calendarForm =
  "days from 1d to 10000000d with a date on which a period begins, such as 14d:2026-01-05, or one or two days of a month, " +
  "such as 26 or 1,16, the first of two at most 27"

export const calendar = text(
  "calendar",
  "CALENDAR",
  "The pay periods of --pay-period: 14d:2026-01-05 (every 14 days), 1,16 (twice a month) or 26 (from the 26th)",
  calendarForm,
  readCalendar
)

export const asOf = instant("as-of", "Count open punches up to this instant; without it their time is not counted")

/** How cost is rounded; none if not given. */
export const optionalRounding = Flag.Literals("rounding", Rounding.literals).pipe(
  Flag.withDescription("How the cost of each punch is rounded to the cent (default: halfUp)"),
  Flag.optional
)

/** The rounding of the flag, else the usual one. */
export const orHalfUp = Option.getOrElse(() => "halfUp" as const)

export const rounding = Flag.map(optionalRounding, orHalfUp)

/** What a terminal does not show as it is: controls, invisible and unassigned characters, and blanks except the space. */
const unprintable = /[\p{C}\p{Z}]/u

const isPlain = (char: string): boolean => char === " " || !unprintable.test(char)

/**
 * One word of a shell for a text without NUL: `'…'`, or `$'…'` (bash, zsh and ksh) where characters have to be escaped.
 * These are written as the bytes of their UTF-8, since `\u` depends on the locale.
 */
export const shellWord = (text: string): string => {
  const characters = Array.from(text)
  if (characters.every(isPlain)) return `'${text.replaceAll("'", "'\\''")}'`
  return `$'${characters.map((char) => isPlain(char) && !/['"\\!]/.test(char) ? char : bytesOf(char)).join("")}'`
}

const encoder = new TextEncoder()

const bytesOf = (char: string): string =>
  Array.from(encoder.encode(char), (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

const isUnit = (text: string | undefined): text is keyof typeof units => text !== undefined && text in units

/** What `readInterval` expects; it completes "must be …". */
export const intervalForm = (example: string): string => `a time from 1s to 366d, such as ${example}`

/** Reads `5s`, `15m`, `2h` or `1d`; at least a second, at most a year. */
export const readInterval = (text: string): Option.Option<Duration.Duration> => {
  const [, count, unit] = /^([1-9]\d{0,7})([smhd])$/.exec(text) ?? []
  if (count === undefined || !isUnit(unit)) return Option.none()
  const millis = Number(count) * units[unit]
  return millis <= 366 * units.d ? Option.some(Duration.millis(millis)) : Option.none()
}

/** Reads a number of days, `1d` to `366d`. A local day is not always 24 hours, so no other unit will do. */
export const readLastDays = (text: string): Option.Option<number> =>
  text.endsWith("d") ? Option.map(readInterval(text), (interval) => Duration.toDays(interval)) : Option.none()

/** A century: no punch is older, and an instant must be in the calendar. */
const mostKept = 36_525

/** `--keep-history`: for how many days a version that was replaced is kept; without it for ever. */
export const keepHistory = (description: string) =>
  text(
    "keep-history",
    "DAYS",
    description,
    `a number of days from 1d to ${mostKept}d, such as 400d`,
    (text) => text.endsWith("d") ? readWhole(text.slice(0, -1), 1, mostKept) : Option.none()
  )

/** What `readHours` expects; it completes "must be …". */
export const hoursForm = "hours up to 99999.99h or minutes up to 9999999m, such as 40h, 37.5h or 450m"

/** Reads a length of work: hours with up to two decimals, or whole minutes. `1d` is rejected: a day of work has no length. */
export const readHours = (text: string): Option.Option<Duration.Duration> => {
  const [, hours, minutes] = /^(?:(\d{1,5}(?:\.\d{1,2})?)h|(\d{1,7})m)$/.exec(text) ?? []
  if (hours !== undefined) return Option.some(Duration.millis(Math.round(Number(hours) * units.h)))
  return minutes === undefined ? Option.none() : Option.some(Duration.millis(Number(minutes) * units.m))
}

/** Writes such a length: what `readHours` reads, to the hundredth of an hour or the minute. */
export const hoursText = (hours: Duration.Duration): string => {
  const millis = Duration.toMillis(hours)
  return millis % (units.h / 100) === 0 ? `${millis / units.h}h` : `${millis / units.m}m`
}

/** The form of a result: a table or a page for people, the others for programs. */
type Format = "table" | "html" | "json" | FileFormat

/** The forms by the endings of files. */
const endings: Readonly<Partial<Record<string, Format>>> = {
  csv: "csv",
  html: "html",
  json: "json",
  jsonl: "ndjson",
  ndjson: "ndjson",
  txt: "table"
}

/** The endings of forms that no command writes: a program that opens such a file would refuse it. */
const foreign =
  /\.(?:7z|avro|bz2|docx?|gz|htm|md|numbers|odt|ods|parquet|pdf|rtf|tar|tgz|tsv|xls[bmx]?|xml|xz|ya?ml|zip|zst)$/i

/** Refuses a file whose ending is that of a form that no command writes. */
export const refuseForeign = (
  output: Option.Option<string>,
  writes: string,
  advice = "Choose another ending."
): Result.Result<void, CommandFailure> => {
  const file = Option.getOrElse(output, () => "")
  return foreign.test(file)
    ? refused(`--output ${printable(file)} ends like another form: this command writes ${writes}`, advice)
    : Result.void
}

/** The forms of a file of punches, which `list` and `export` share. `pageText` writes them. */
export const fileFormats = ["ndjson", "csv"] as const

/** A form of a file of punches. */
export type FileFormat = typeof fileFormats[number]

/** What a user chose: `--format`, `--json` for every command that prints, and the ending of the file of `--output`. */
interface FormatInput<F extends Format> {
  readonly format: Option.Option<F>
  readonly json?: boolean
  readonly output?: Option.Option<string>
}

/** `--format` with these forms, the first one as default. */
export const formatFlag = <const F extends Format>(forms: readonly [F, ...ReadonlyArray<F>], description: string) =>
  Flag.Literals("format", forms).pipe(Flag.withDescription(`${description} (default: ${forms[0]})`))

/** `--format` and `--json`. `formatOf` makes one form of the two. */
export const formatFlags = <const F extends Format>(
  forms: readonly [F, ...ReadonlyArray<F>],
  description: string,
  json = "Print one JSON value"
) => ({
  format: Flag.optional(formatFlag(forms, description)),
  json: onFlag("json", json)
})

/**
 * The form that `--format`, `--json` and the ending of `--output` choose together, else the first of `forms`. Two that name
 * different forms contradict each other.
 */
export const formatOf = <F extends Format>(
  { format, json = false, output = Option.none() }: FormatInput<F>,
  forms: readonly [F, ...ReadonlyArray<F>]
): Result.Result<F, CommandFailure> => {
  const named = Option.getOrUndefined(format)
  if (json && named !== undefined && named !== "json") {
    return refused(`--json and --format ${named} are two forms`, "Give one or the other.")
  }
  const file = Option.getOrElse(output, () => "")
  const ending = endings[/\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase() ?? ""]
  const given = named ?? (json ? "json" : undefined)
  const own = Object.entries(endings).flatMap(([ending, form]) =>
    forms.some((each) => each === form) ? [`.${ending}`] : []
  )
  const advice = `Choose another ending: ${own.join(", ")}.`
  const allowed = refuseForeign(output, forms.join(" or "), advice)
  if (Result.isFailure(allowed)) return Result.fail(allowed.failure)
  // A text may have any form.
  if (given !== undefined && ending !== undefined && ending !== "table" && ending !== given) {
    return refused(`--output ${printable(file)} ends like ${ending}, and the form is ${given}`, "Choose one of them.")
  }
  const wanted = given ?? ending
  const form = forms.find((each) => each === wanted)
  return wanted === undefined || form !== undefined
    ? Result.succeed(form ?? forms[0])
    : refused(
      `--output ${printable(file)} ends like ${wanted}, and this command writes ${forms.join(" or ")}`,
      advice
    )
}

/** The forms of a command that prints for people, or one JSON value. */
const tableOrJson = ["table", "json"] as const

/** `--format` and `--json` of such a command; `json` says what it prints then. `isJson` reads them. */
export const makeJsonFlags = (json?: string) => formatFlags(tableOrJson, "table for people, json for programs", json)

export const jsonFlags = makeJsonFlags()

export type JsonInput = FormatInput<typeof tableOrJson[number]>

export const isJson = (flags: JsonInput): Result.Result<boolean, CommandFailure> =>
  Result.map(formatOf(flags, tableOrJson), (form) => form === "json")

/** `--excel` and `--separator`, for every command that writes CSV. `csvStyleOf` makes one style of the two. */
export const csvFlags = {
  excel: onFlag(
    "excel",
    "With --format csv: begin with a byte order mark, so that Excel reads Jürgen and Zoë correctly"
  ),
  separator: Flag.ChoiceWithValue("separator", [["comma", ","], ["semicolon", ";"]]).pipe(
    Flag.withDescription("With --format csv: what stands between two cells (default: comma)"),
    Flag.optional
  )
}

/** How the CSV of a format is written. Fails if a flag of CSV is given and the format is another one. */
export const csvStyleOf = (
  { excel, separator }: { readonly excel: boolean; readonly separator: Option.Option<CsvStyle["separator"]> },
  format: Format
): Result.Result<CsvStyle, CommandFailure> => {
  const flag = excel ? "--excel" : Option.isSome(separator) ? "--separator" : undefined
  return flag === undefined || format === "csv"
    ? Result.succeed({ start: excel ? "\uFEFF" : "", separator: Option.getOrElse(separator, () => "," as const) })
    : refused(`${flag} goes with --format csv, and this output is ${format}`, "Add --format csv.")
}
