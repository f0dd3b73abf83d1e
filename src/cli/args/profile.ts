/** `--profile` and `--env-file`: settings and defaults of flags from files, below the environment and the flags. */
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as UserDirectories from "effect/persistence/UserDirectories"
import type * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Struct from "effect/Struct"
import { printable } from "../../internal/wire/issue.ts"
import { CommandFailure, exitCode, usage } from "../failure.ts"
import { takeFlags } from "./arguments.ts"

/** What a profile may set instead of a variable. None is a secret. */
export const settings = {
  baseUrl: "TIME_PUNCHES_BASE_URL",
  authUrl: "TIME_PUNCHES_AUTH_URL",
  clientId: "TIME_PUNCHES_CLIENT_ID",
  scopes: "TIME_PUNCHES_SCOPES",
  company: "TIME_PUNCHES_COMPANY_ID",
  guid: "TIME_PUNCHES_COMPANY_GUID",
  apiVersion: "TIME_PUNCHES_API_VERSION"
} as const

/** The company and its guid belong together: they come from one source. */
const ofCompany: ReadonlyArray<string> = [settings.company, settings.guid]

const payroll = (...verbs: ReadonlyArray<string>) => verbs.map((verb) => `payroll ${verb}`)

const zoned = ["list", "export", "summary", "report", ...payroll("check", "close", "diff", "file")]

const ofRecord = payroll("correct", "due")

/** The flags that a profile gives a default, and the subcommands that take it. */
export const defaults = {
  zone: { flag: "zone", of: zoned },
  zoneFile: { flag: "zone-file", of: [...zoned, ...ofRecord] },
  dayStarts: { flag: "day-starts", of: [...zoned, ...ofRecord] },
  weekStarts: { flag: "week-starts", of: zoned },
  calendar: { flag: "calendar", of: zoned },
  names: {
    flag: "names",
    of: ["list", "summary", "report", ...payroll("check", "close", "show", "file", "diff"), ...ofRecord]
  },
  codes: { flag: "codes", of: payroll("file") },
  mapping: { flag: "mapping", of: payroll("file") },
  database: {
    flag: "database",
    of: [
      ...payroll("check", "close", "void", "list", "show", "file", "verify", "diff"),
      ...ofRecord,
      "summary",
      "report",
      "sync",
      "copy sync",
      "copy status",
      "copy erase",
      "mcp"
    ]
  }
} as const satisfies Record<string, { readonly flag: string; readonly of: ReadonlyArray<string> }>

type DefaultKey = keyof typeof defaults

/** Defaults that name a file, relative to the folder of the profiles. */
const files: ReadonlySet<string> = new Set<DefaultKey>(["zoneFile", "names", "codes", "mapping", "database"])

/** Where a variable may come from, the first one that has it. */
interface SettingSource {
  /** For people: `environment`, a file, or a profile. */
  readonly name: string
  readonly provider: ConfigProvider.ConfigProvider
}

/** The profile of a run. */
export class Profile extends Context.Reference<{
  /** The file of the profiles. */
  readonly file: Effect.Effect<string, PlatformError.PlatformError>
  readonly sources: ReadonlyArray<SettingSource>
  /** The defaults of flags, by key. */
  readonly defaults: Readonly<Partial<Record<DefaultKey, string>>>
  /** `profile NAME`, if one is selected. */
  readonly name: Option.Option<string>
}>("effect-time-punches/cli/Profile", {
  defaultValue: () => ({ file: Effect.succeed(""), sources: [], defaults: {}, name: Option.none() })
}) {}

const variable = "TIME_PUNCHES_PROFILE"

/** Declared for the help: their values are taken before the arguments are parsed. */
export const profileFlags = [
  GlobalFlag.Setting("profile")({
    flag: Flag.String("profile").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription(`Settings and defaults of flags from this table of config.json (default: ${variable})`),
      Flag.optional
    )
  }),
  GlobalFlag.Setting("env-file")({
    flag: Flag.String("env-file").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("Variables from this file, such as secrets; those of the environment come first"),
      Flag.optional
    )
  })
]

/** Runs with the arguments that the defaults of the profile complete, and with its settings below the environment. */
export const withProfile = <A, E, R>(
  args: ReadonlyArray<string>,
  use: (args: ReadonlyArray<string>) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function*() {
    const { values, rest } = yield* Effect.fromResult(
      takeFlags(args, { profile: "a name", "env-file": "the name of a file" })
    )
    const fromFlag = Option.fromUndefinedOr(values.get("profile"))
    const envFile = Option.fromUndefinedOr(values.get("env-file"))
    const environment = yield* ConfigProvider.ConfigProvider
    // Only a profile needs the folder: a run without one does not fail if this user has no home.
    const file = yield* Effect.cached(Effect.provideContext(fileOfProfiles, yield* Effect.context<Path.Path>()))
    const given = [
      { name: "environment", provider: environment },
      ...(Option.isNone(envFile) ? [] : [yield* readEnvFile(envFile.value)])
    ]
    const fromVariable = yield* firstOf(given, variable)
    const name = Option.orElse(fromFlag, () => Option.fromUndefinedOr(fromVariable?.value))
    const profile = Option.isNone(name) ? undefined : yield* readProfile(yield* file, name.value)
    const sources = yield* withoutForeignGuid([
      ...given,
      ...(profile === undefined ? [] : [{ name: profile.name, provider: profile.provider }])
    ])
    const own = profile?.values[settings.company]
    const other = (yield* firstOf(sources, settings.company))?.value
    if (Option.isSome(fromFlag) && own !== undefined && other !== own) {
      return yield* usage(
        `${settings.company} is ${printable(`${other}`)}, and --profile ${
          printable(fromFlag.value)
        } is of company ${own}`,
        "Unset the variable, or select the profile of that company."
      )
    }
    const provider = sources.map(({ provider }) => provider).reduce((one, other) => ConfigProvider.orElse(one, other))
    const hasDatabase = (yield* firstOf(sources, "TIME_PUNCHES_DATABASE_URL")) !== undefined
    return yield* use(complete(rest, profile?.defaults ?? {}, hasDatabase)).pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, provider),
      Effect.provideService(Profile, {
        file,
        sources,
        defaults: profile?.defaults ?? {},
        name: Option.fromUndefinedOr(profile?.name)
      })
    )
  })

const fileOfProfiles = Effect.gen(function*() {
  const path = yield* Path.Path
  const directories = yield* UserDirectories.UserDirectories
  return path.join(yield* directories.config("time-punches"), "config.json")
}).pipe(Effect.provide(UserDirectories.layer))

const readEnvFile = Effect.fnUntraced(
  function*(file: string): Effect.fn.Return<SettingSource, CommandFailure, FileSystem.FileSystem> {
    const text = yield* Effect.mapError(
      readBounded(file),
      (why) => usage(`--env-file ${printable(file)}: ${why}`)
    )
    return { name: file, provider: ConfigProvider.fromDotEnvContents(text) }
  }
)

const maxBytes = 1_048_576

/** The text of a small file, which may be a pipe. Fails with the reason, also for a device that never ends. */
const readBounded = Effect.fnUntraced(function*(file: string) {
  const fs = yield* FileSystem.FileSystem
  const bytes = yield* Stream.mkUint8Array(fs.stream(file, { bytesToRead: maxBytes + 1 })).pipe(
    Effect.mapError(({ reason }) => reason._tag === "NotFound" ? "there is no such file" : `${reason._tag}`)
  )
  if (bytes.length > maxBytes) return yield* Effect.fail("it is larger than 1 MiB")
  return new TextDecoder().decode(bytes)
})

const invalid = (message: string, ...advice: ReadonlyArray<string>) =>
  new CommandFailure({ message, advice, code: exitCode.configuration })

const decodeProfiles = Schema.decodeEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)))

const secret = /token|secret|cookie|password/i

/** A URL with a password, however it is written. */
const password = /^\s*[a-z][a-z0-9+.-]*:\/*[^/?#]*:[^/?#]*@/i

/** Reads a table of the file. Fails for a key that is unknown, a value that is not a text, and a secret, each by name. */
const readProfile = Effect.fnUntraced(function*(file: string, name: string) {
  const path = yield* Path.Path
  const shown = printable(file)
  const text = yield* Effect.mapError(
    readBounded(file),
    (why) => invalid(`profile ${printable(name)} is not known: ${shown}: ${why}`)
  )
  const profiles = yield* Effect.mapError(
    decodeProfiles(text),
    () => invalid(`${shown} must be a JSON object with an object for each profile`)
  )
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (profile === undefined) {
    return yield* invalid(
      `${shown} has no profile ${printable(name)}`,
      `It has ${Object.keys(profiles).map(printable).join(", ") || "none"}.`
    )
  }
  if (!Predicate.isReadonlyObject(profile) || Array.isArray(profile)) {
    return yield* invalid(`${shown}: profile ${printable(name)} must be an object`)
  }
  const values: Record<string, string> = {}
  const found: Partial<Record<DefaultKey, string>> = {}
  for (const [key, value] of Object.entries(profile)) {
    const where = `${shown}: ${printable(name)}.${printable(key)}`
    if (secret.test(key)) {
      return yield* invalid(`${where} is a secret`, "Keep it in the environment, or in the file of --env-file.")
    }
    if (typeof value !== "string" && typeof value !== "number") return yield* invalid(`${where} must be a text`)
    if (`${value}`.trim() === "") return yield* invalid(`${where} is empty`, "Leave it out.")
    if (password.test(`${value}`)) {
      return yield* invalid(
        `${where} has a password`,
        "Keep it in the environment, or in the file of --env-file, such as PGPASSWORD or TIME_PUNCHES_DATABASE_URL."
      )
    }
    if (isKey(settings, key)) values[settings[key]] = `${value}`
    else if (isKey(defaults, key)) found[key] = files.has(key) ? resolve(path, file, `${value}`) : `${value}`
    else {
      return yield* invalid(
        `${where} is not a setting`,
        `Settings are ${[...Struct.keys(settings), ...Struct.keys(defaults)].join(", ")}.`
      )
    }
  }
  if (found.zone !== undefined && found.zoneFile !== undefined) {
    return yield* invalid(`${shown}: ${printable(name)} has zone and zoneFile`, "Keep one of them.")
  }
  return { name: `profile ${name}`, values, defaults: found, provider: ConfigProvider.fromEnv({ env: values }) }
})

const isKey = <T extends object>(table: T, key: string): key is Extract<keyof T, string> => Object.hasOwn(table, key)

/** A file beside the profiles; a URL of a database stays as it is. */
const resolve = (path: Path.Path, file: string, value: string): string =>
  /^[a-z][a-z0-9+.-]+:\/\//i.test(value) ? value : path.resolve(path.dirname(file), value)

/** A variable of a source; both kinds of source are in memory and cannot fail. */
const loadText = (provider: ConfigProvider.ConfigProvider, name: string) =>
  Effect.map(Effect.orDie(provider.load([name])), (node) => node?.value === "" ? undefined : node?.value)

/** Only the source that names the company gives its guid: any other guid would be of another company. */
const withoutForeignGuid = Effect.fnUntraced(function*(sources: ReadonlyArray<SettingSource>) {
  const companies = yield* Effect.forEach(sources, ({ provider }) => loadText(provider, settings.company))
  const naming = companies.findIndex((company) => company !== undefined)
  return sources.map(({ name, provider }, at): SettingSource => ({
    name,
    provider: naming === -1 || at === naming
      ? provider
      : ConfigProvider.make((path) =>
        ofCompany.includes(`${path[0]}`) ? Effect.succeed(undefined) : provider.load(path)
      )
  }))
})

/** A variable of the first source that has it, with the name of the source. */
export const firstOf = Effect.fnUntraced(function*(sources: ReadonlyArray<SettingSource>, name: string) {
  for (const { name: from, provider } of sources) {
    const value = yield* loadText(provider, name)
    if (value !== undefined) return { value, from }
  }
  return undefined
})

/** The flags before a subcommand whose value is the next argument. */
const valued = /^--(log-level|completions)$/

const periods = ["week", "month", "pay-period", "last", "from", "to"]

/**
 * The arguments with the defaults of a profile. A default counts only where its flag is legal, and a given flag replaces it:
 * `--zone` replaces a zones file, and `--close` all clocks, which its record has.
 */
export const complete = (
  args: ReadonlyArray<string>,
  profile: Readonly<Partial<Record<DefaultKey, string>>>,
  hasDatabase: boolean
): ReadonlyArray<string> => {
  const end = args.indexOf("--")
  const flags = end === -1 ? args : args.slice(0, end)
  const words = args.filter((arg, at) => !arg.startsWith("-") && !valued.test(args[at - 1] ?? ""))
  const [first, verb] = words
  const subcommand = first === "payroll" || first === "copy" ? `${first} ${verb}` : first
  const has = (name: string) => flags.some((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`))
  const hasPeriod = periods.some(has)
  const countsDays = flags.some((arg, at) => /^--by(=|$)/.test(arg) && /day|week/.test(`${arg} ${flags[at + 1]}`))
  const countsWeeks = flags.some((arg, at) => /^--by(=|$)/.test(arg) && /week/.test(`${arg} ${flags[at + 1]}`))
  const hasClock = has("zone") || has("zone-file")
  const isReport = subcommand === "report"
  const readsService = flags.some((arg, at) =>
    arg === "--source=service" || (arg === "service" && flags[at - 1] === "--source")
  )
  const hasThreshold = ["weekly-threshold", "daily-threshold", "double-threshold"].some(has)
  const hasRecord = ofRecord.some((name) => name === subcommand)
  const needsClock = (hasPeriod || countsDays || hasThreshold || hasRecord) && !has("close")
  const applies: Readonly<Record<DefaultKey, boolean>> = {
    zone: needsClock && !hasClock,
    zoneFile: needsClock && !hasClock,
    dayStarts: needsClock && (hasClock || profile.zone !== undefined || profile.zoneFile !== undefined),
    weekStarts: (has("week") || has("weekly-threshold") || countsWeeks || (isReport && hasPeriod)) && !has("close"),
    calendar: has("pay-period"),
    names: true,
    codes: true,
    mapping: true,
    database: !hasDatabase && !readsService
  }
  const added = Struct.keys(defaults).flatMap((key) => {
    const { flag, of } = defaults[key]
    const value = profile[key]
    const isLegal = subcommand !== undefined && of.some((name) => name === subcommand)
    return value === undefined || !isLegal || !applies[key] || has(flag) ? [] : [`--${flag}=${value}`]
  })
  return end === -1 ? [...args, ...added] : [...flags, ...added, ...args.slice(end)]
}
