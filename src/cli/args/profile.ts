/** `--profile` and `--variables`: settings and defaults of flags from files, below the environment and the flags. */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as UserDirectories from "effect/persistence/UserDirectories"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Stdio } from "effect/Stdio"
import * as Struct from "effect/Struct"
import { meantName } from "../../internal/text/meant.ts"
import { printable } from "../../internal/text/printable.ts"
import { CommandFailure, describeFileError, failure, usage } from "../failure.ts"
import { isAddress, plainUrl, readTarget, shownText } from "../flags/address.ts"
import { companyVariables, withoutCompany } from "../flags/connection.ts"
import { parseJson, readInput, warnOfWriter } from "../flags/file.ts"
import { type DefaultKey, defaults, keyed, noFolder, Profile, settings, type SettingSource } from "../flags/settings.ts"
import { printWarning } from "../print/messages.ts"
import type { Globals } from "./globals.ts"

const variable = "TIME_PUNCHES_PROFILE"

const environmentName = "environment"

/** Runs with the settings and the defaults of the profile, below the environment and the flags. */
export const withProfile = <A, E, R>(
  { values }: Globals,
  self: Effect.Effect<A, E, R>
) =>
  Effect.gen(function*() {
    const fromFlag = Option.fromUndefinedOr(values.get("profile"))
    const variables = Option.fromUndefinedOr(values.get("variables"))
    if (Option.contains(variables, "-")) {
      return yield* usage("--variables must be the name of a file, not -", "Standard input is /dev/stdin.")
    }
    const environment = yield* ConfigProvider.ConfigProvider
    const file = yield* fileOfProfiles
    const given = [
      { name: environmentName, provider: environment },
      ...(Option.isNone(variables) ? [] : [yield* readVariables(variables.value)])
    ]
    yield* Effect.forEach(given, warnOfUnknown, { discard: true })
    const fromVariable = yield* firstOf(given, variable)
    const name = Option.orElse(fromFlag, () => Option.fromUndefinedOr(fromVariable?.value))
    const profile = Option.isNone(name) ? undefined : yield* readProfile(file, name.value)
    const sources = yield* withoutForeignGuid([
      ...given,
      ...(profile === undefined ? [] : [{ name: profile.name, provider: profile.provider }])
    ])
    const own = profile?.values[companyVariables.id]
    const other = (yield* firstOf(sources, companyVariables.id))?.value
    if (Option.isSome(fromFlag) && own !== undefined && other !== own) {
      return yield* usage(
        `${companyVariables.id} is ${printable(shownText(`${other}`))}, and --profile ${
          printable(fromFlag.value)
        } is of company ${own}`,
        "Unset the variable, or select the profile of that company."
      )
    }
    const provider = sources.map(({ provider }) => provider).reduce((one, other) => ConfigProvider.orElse(one, other))
    return yield* self.pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, provider),
      Effect.provideService(Profile, {
        file,
        sources,
        defaults: profile?.defaults ?? {},
        name: profile?.name ?? ""
      })
    )
  })

const prefix = "TIME_PUNCHES_"

/** What a name of one of our variables begins with, well written or not. */
const ours = /^time_?punch(?:es)?_?(?=.)/i

/** Warns of each variable that was meant for a setting, and is none: nothing reads it. The name alone is shown. */
const warnOfUnknown = Effect.fnUntraced(function*({ name: from, provider }: SettingSource) {
  const known = settings.flatMap(({ variable }) => variable.startsWith(prefix) ? [variable.slice(prefix.length)] : [])
  for (const name of yield* namesBelow(provider)) {
    if (!ours.test(name) || settings.some(({ variable }) => variable === name)) continue
    const meant = meantName(name.replace(ours, ""), known).replaceAll(/(?<=mean |or )(?=[A-Z])/g, prefix)
    yield* printWarning(
      `${printable(name)} is not a setting${from === environmentName ? "" : `, in ${printable(from)}`}${meant}`,
      ...(meant === "" ? ["time-punches help environment lists the variables."] : [])
    )
  }
})

/** The names of the variables of a source that have a value, where the first word is near that of ours. */
const namesBelow = (
  provider: ConfigProvider.ConfigProvider,
  path: ReadonlyArray<string> = []
): Effect.Effect<ReadonlyArray<string>> =>
  Effect.flatMap(Effect.orDie(provider.load(path)), (node) => {
    const below = node?._tag === "Record" ? [...node.keys].filter((key) => path.length > 0 || /^time/i.test(key)) : []
    const own = path.length === 0 || node?.value === undefined ? [] : [path.join("_")]
    return Effect.map(
      Effect.forEach(below, (key) => namesBelow(provider, [...path, key])),
      (names) => [...own, ...names.flat()]
    )
  })

/** The file of the profiles; `None` if this user has no folder for settings, as a service of the system may have none. */
const fileOfProfiles = Effect.gen(function*() {
  const path = yield* Path.Path
  const directories = yield* UserDirectories.UserDirectories
  const folder = yield* Effect.option(directories.config("time-punches"))
  return Option.map(Option.filter(folder, path.isAbsolute), (folder) => path.join(folder, "config.json"))
}).pipe(Effect.provide(UserDirectories.layer))

const readVariables = Effect.fnUntraced(
  function*(file: string): Effect.fn.Return<SettingSource, CommandFailure, FileSystem.FileSystem | Stdio> {
    const text = yield* Effect.mapError(readSettings(file), (why) => invalid(`--variables ${why}`))
    return { name: file, provider: ConfigProvider.fromEnv({ env: readEnv(text) }) }
  }
)

/** A line of such a file: the name, and the value with its quotes. Core would begin a comment at any `#`, and cut a secret there. */
const line =
  /^\s*(?:export\s+)?([\w.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|(?:[^#\r\n]|(?<!\s)#)+)?\s*(?:(?<=\s)#.*)?$/gm

/** The variables of a text, as core reads them, except that a comment begins only at the start of a line or behind a blank. */
const readEnv = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.replaceAll(/\r\n?/g, "\n").matchAll(line)].map(([, name = "", given = ""]) => {
      const [, quote, quoted] = /^(['"`])([^]*)\1$/.exec(given.trim()) ?? []
      const value = quoted ?? given.trim()
      return [name, quote === "\"" ? value.replaceAll("\\n", "\n").replaceAll("\\r", "\r") : value]
    })
  )

/** The text of a small file of settings. Fails with the reason. */
const readSettings = (file: string) =>
  Effect.mapError(
    Effect.map(Effect.tap(readInput(file, 1), warnOfWriter(file)), (bytes) => new TextDecoder().decode(bytes)),
    (error) => (error._tag === "CommandFailure" ? error : describeFileError(error)).message
  )

const invalid = (message: string, ...advice: ReadonlyArray<string>) => failure("configuration", message, ...advice)

const decodeProfiles = Schema.decodeUnknownEffect(Schema.Record(Schema.String, Schema.Json))

const secret = /token|secret|cookie|password/i

/** A URL with a password, however it is written. */
const password = /^\s*[a-z][a-z0-9+.-]*:\/*[^/?#]*:[^/?#]*@/i

/** Reads a table of the file. Fails for a key that is unknown, a value that is not a text, and a secret, each by name. */
const readProfile = Effect.fnUntraced(function*(found: Option.Option<string>, name: string) {
  if (Option.isNone(found)) return yield* invalid(`profile ${printable(name)} is not known: there is ${noFolder}`)
  const file = found.value
  const path = yield* Path.Path
  const shown = printable(file)
  const text = yield* Effect.mapError(
    readSettings(file),
    (why) => invalid(`profile ${printable(name)} is not known: ${why}`)
  )
  const json = yield* Effect.fromResult(Result.mapError(parseJson(text), (why) => invalid(`${shown} ${why}`)))
  const profiles = yield* Effect.mapError(
    decodeProfiles(json),
    () => invalid(`${shown} must be a JSON object with an object for each profile`)
  )
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (profile === undefined) {
    return yield* invalid(
      `${shown} has no profile ${printable(name)}${printable(meantName(name, Object.keys(profiles)))}`,
      `It has ${Object.keys(profiles).map(printable).join(", ") || "none"}.`
    )
  }
  if (!Predicate.isReadonlyObject(profile) || Array.isArray(profile)) {
    return yield* invalid(`${shown}: profile ${printable(name)} must be an object`)
  }
  const fileOf = (name: string) => path.resolve(path.dirname(file), name)
  const values: Record<string, string> = {}
  const flags: Partial<Record<DefaultKey, string>> = {}
  for (const [key, value] of Object.entries(profile)) {
    const where = `${shown}: ${printable(name)}.${printable(key)}`
    if (secret.test(key)) {
      return yield* invalid(`${where} is a secret`, "Keep it in the environment, or in the file of --variables.")
    }
    if (typeof value !== "string" && typeof value !== "number") return yield* invalid(`${where} must be a text`)
    if (`${value}`.trim() === "") return yield* invalid(`${where} is empty`, "Leave it out.")
    if (password.test(`${value}`)) {
      return yield* invalid(
        `${where} has a password`,
        "Keep it in the environment, or in the file of --variables, such as PGPASSWORD or TIME_PUNCHES_DATABASE_URL."
      )
    }
    const setting = keyed.find((each) => each.key === key)
    if (setting !== undefined) {
      if ("isUrl" in setting && Option.isNone(plainUrl(`${value}`))) {
        return yield* invalid(`${where} must be a URL without user, query and fragment`)
      }
      values[setting.variable] = `${value}`
    } else if (key === "database") {
      const target = yield* Effect.mapError(
        Effect.fromResult(readTarget(`${value}`, where)),
        ({ advice, message }) => invalid(message, ...advice)
      )
      flags[key] = target._tag === "Sqlite" ? fileOf(target.filename) : `${value}`
    } else if (isDefault(key)) {
      if (defaults[key].isFile && isAddress(`${value}`)) return yield* invalid(`${where} must be the name of a file`)
      flags[key] = defaults[key].isFile ? fileOf(`${value}`) : `${value}`
    } else {
      return yield* invalid(
        `${where} is not a setting${meantName(key, known)}`,
        `Settings are ${known.join(", ")}.`
      )
    }
  }
  if (flags.zone !== undefined && flags.zoneFile !== undefined) {
    return yield* invalid(`${shown}: ${printable(name)} has zone and zoneFile`, "Keep one of them.")
  }
  return { name: `profile ${name}`, values, defaults: flags, provider: ConfigProvider.fromEnv({ env: values }) }
})

/** The keys of a profile. */
const known = [...keyed.map(({ key }) => key), ...Struct.keys(defaults)]

const isDefault = (key: string): key is DefaultKey => Object.hasOwn(defaults, key)

/** A variable of a source; both kinds of source are in memory and cannot fail. */
const loadText = (provider: ConfigProvider.ConfigProvider, name: string) =>
  Effect.map(Effect.orDie(provider.load([name])), (node) => node?.value === "" ? undefined : node?.value)

/** Only the source that names the company gives its guid: any other guid would be of another company. */
const withoutForeignGuid = Effect.fnUntraced(function*(sources: ReadonlyArray<SettingSource>) {
  const companies = yield* Effect.forEach(sources, ({ provider }) => loadText(provider, companyVariables.id))
  const naming = companies.findIndex((company) => company !== undefined)
  return sources.map(({ name, provider }, at): SettingSource => ({
    name,
    provider: naming === -1 || at === naming ? provider : withoutCompany(provider)
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
