/** What can be set outside of the arguments: every variable, and every default of a flag that a profile may have. */
import type * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Struct from "effect/Struct"
import { printable } from "../../internal/text/printable.ts"
import { type CommandFailure, usage } from "../failure.ts"
import { type Form, formFor } from "./values.ts"

interface Setting {
  /** The key of a profile; without one a profile cannot have it. */
  readonly key?: string
  /** Its value is printed nowhere: `config show` says only that it is set. */
  readonly isSecret?: true
  /** An address of the service, of which a plain URL is shown. */
  readonly isUrl?: true
  /** For the help and for docs/commands.md. */
  readonly what: string
}

/** What the library reads too, by variable. */
const ofLibrary: Readonly<Record<string, Setting>> = {
  TIME_PUNCHES_BASE_URL: {
    key: "baseUrl",
    isUrl: true,
    what: "address of the service: https, or http on this machine"
  },
  TIME_PUNCHES_AUTH_URL: { key: "authUrl", isUrl: true, what: "address of its token endpoint, if it differs" },
  TIME_PUNCHES_ACCESS_TOKEN: { isSecret: true, what: "the access token of one company" },
  TIME_PUNCHES_CLIENT_ID: { key: "clientId", what: "instead of a token: an OAuth client, with the next one" },
  TIME_PUNCHES_CLIENT_SECRET: { isSecret: true, what: "its secret" },
  TIME_PUNCHES_SCOPES: { key: "scopes", what: "its scopes, separated by spaces (default: time_punches:read)" },
  TIME_PUNCHES_SESSION_COOKIE: { isSecret: true, what: "instead of a token or a client: a session" },
  TIME_PUNCHES_COMPANY_ID: { key: "company", what: "the company; --company comes first" },
  TIME_PUNCHES_COMPANY_GUID: { key: "guid", what: "its guid" },
  TIME_PUNCHES_API_VERSION: { key: "apiVersion", what: "version to request, as YYYY-MM-DD (default: 2026-06-01)" }
}

/** What the command alone reads. */
const ofCommand: Readonly<Record<string, Setting>> = {
  TIME_PUNCHES_REQUESTS_PER_SECOND: {
    key: "requestsPerSecond",
    what: "the most requests a second, or none (default: 8); --requests-per-second comes first"
  },
  TIME_PUNCHES_KNOWN_KEYS: {
    key: "knownKeys",
    what: "fields that take nothing away for payroll check and close, such as data[].voided, separated by commas"
  },
  TIME_PUNCHES_PAGE_SIZE: {
    key: "pageSize",
    what: "punches to request per page (default: 200); --page-size comes first"
  },
  TIME_PUNCHES_PROFILE: { what: "a profile of the command; --profile comes first" },
  TIME_PUNCHES_DATABASE_URL: {
    isSecret: true,
    what: "the database of a copy, maybe with a password; --database comes first"
  },
  PGPASSWORD: { isSecret: true, what: "the password for PostgreSQL, if the URL has none" },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    isUrl: true,
    what: "a collector of OpenTelemetry, for fleet run, sync and export"
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    isSecret: true,
    what: "headers for it, such as its key: name=value, separated by commas"
  }
}

const readBy = (reader: "library, command" | "command", table: Readonly<Record<string, Setting>>) =>
  Object.entries(table).map(([variable, each]) => Struct.assign(each, { variable, readBy: reader }))

/** Every variable, in the order in which it is listed. */
export const settings = [...readBy("library, command", ofLibrary), ...readBy("command", ofCommand)]

/** The keys of a profile that are a variable. */
export const keyed = settings.flatMap(({ key, ...each }) => key === undefined ? [] : [{ key, ...each }])

/** The flags to which a profile gives a default. What `isFile` is relative to the folder of the profiles. */
export const defaults = {
  zone: { flag: "zone", isFile: false },
  zoneFile: { flag: "zone-file", isFile: true },
  dayStarts: { flag: "day-starts", isFile: false },
  weekStarts: { flag: "week-starts", isFile: false },
  calendar: { flag: "calendar", isFile: false },
  names: { flag: "names", isFile: true },
  codes: { flag: "codes", isFile: true },
  mapping: { flag: "mapping", isFile: true },
  database: { flag: "database", isFile: true }
} as const

export type DefaultKey = keyof typeof defaults

/** Where a variable may come from, the first one that has it. */
export interface SettingSource {
  /** For people: `environment`, a file, or a profile. */
  readonly name: string
  readonly provider: ConfigProvider.ConfigProvider
}

/** What is said where a profile is looked for, and this user has no folder for settings. */
export const noFolder =
  "no folder for profiles: neither HOME nor XDG_CONFIG_HOME names one; set XDG_CONFIG_HOME to an absolute path"

/** The profile of a run. */
export class Profile extends Context.Reference<{
  /** The file of the profiles; `None` without a folder for settings. */
  readonly file: Option.Option<string>
  readonly sources: ReadonlyArray<SettingSource>
  /** The defaults of flags, by key. */
  readonly defaults: Readonly<Partial<Record<DefaultKey, string>>>
  /** `profile NAME`; empty if none is selected. */
  readonly name: string
}>("effect-time-punches/cli/Profile", {
  defaultValue: () => ({ file: Option.none(), sources: [], defaults: {}, name: "" })
}) {}

/** The text of a flag, or the default that the profile has for it. */
export const orDefault = (given: Option.Option<string>, key: DefaultKey) =>
  Effect.map(Profile, ({ defaults }) => Option.orElse(given, () => Option.fromUndefinedOr(defaults[key])))

/** The same for a flag that is not a text. `form` completes "must be …". */
export const orReadDefault = Effect.fnUntraced(function*<A>(
  given: Option.Option<A>,
  key: DefaultKey,
  read: (text: string) => Option.Option<A>,
  form: Form
): Effect.fn.Return<Option.Option<A>, CommandFailure> {
  const { defaults, name } = yield* Profile
  const text = defaults[key]
  if (Option.isSome(given) || text === undefined) return given
  const value = read(text)
  return Option.isSome(value) ? value : yield* usage(`${printable(name)}: ${key} must be ${formFor(form, text)}`)
})
