/** Which service and company a command reads: flags before the environment, secrets from the environment only. */
import type * as Command from "effect/cli/Command"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Company } from "../../Company.ts"
import { CompanyGuid, CompanyId } from "../../Ids.ts"
import { invalidSetting } from "../../internal/setting/setting.ts"
import { type CommandFailure, usage } from "../failure.ts"
import { readWhole, text, wholeNumber } from "./values.ts"

/** The variables of the company and of its guid, which belong together. */
export const companyVariables = { id: "TIME_PUNCHES_COMPANY_ID", guid: "TIME_PUNCHES_COMPANY_GUID" } as const

/** Reads the id of a company. */
export const readCompanyId = (text: string) => Option.flatMap(readWhole(text), CompanyId.makeOption)

/** Reads `4021`, or `4022=GUID`. */
export const readCompany = (value: string): Option.Option<Company> => {
  const [id = "", guid, ...more] = value.split("=")
  return more.length > 0
    ? Option.none()
    : Option.all({
      id: readCompanyId(id),
      guid: guid === undefined ? Option.some(undefined) : CompanyGuid.makeOption(guid)
    })
}

export const companyFlags = {
  company: text(
    "company",
    "ID[=GUID]",
    `The company; its guid is required for an OAuth client (default: ${companyVariables.id}, ${companyVariables.guid})`,
    `the id of a company, ${wholeNumber(1)}, or ID=GUID`,
    readCompany
  )
}

export type CompanyInput = Command.Command.Config.Infer<typeof companyFlags>

/** The flag as words of a printed call; without the flag the variable names the company. */
export const companyWords = (flag: CompanyInput["company"]): string =>
  Option.match(flag, { onNone: () => "", onSome: ({ id }) => ` --company ${id}` })

/** The most requests a second of a client, or `none`. */
export type RequestLimit = number | "none"

const limitVariable = "TIME_PUNCHES_REQUESTS_PER_SECOND"

const limitForm = `${wholeNumber(1, 100_000)}, or none`

const readLimit = (text: string): Option.Option<RequestLimit> =>
  text === "none" ? Option.some(text) : readWhole(text, 1, 100_000)

/** `--requests-per-second`; `whose` completes "The most requests a second". */
export const makeLimitFlag = (whose: string) =>
  text(
    "requests-per-second",
    "N|none",
    `The most requests a second${whose} (default: ${limitVariable}, else 8)`,
    limitForm,
    readLimit
  )

/** The limit of every command that reads the service. */
export const limitFlags = { requestsPerSecond: makeLimitFlag("") }

export type LimitInput = Command.Command.Config.Infer<typeof limitFlags>

/** For a service that takes ten a second: a client cannot see when the second of the service begins. */
export const usualLimit = 8

/** The limit of the flag, else of the variable, else `usual`; `undefined`: none. */
export const limitOf = Effect.fnUntraced(function*(
  { requestsPerSecond }: LimitInput,
  usual: RequestLimit = usualLimit
): Effect.fn.Return<number | undefined, Config.ConfigError> {
  const fromEnvironment = yield* setting(limitVariable, limitForm, readLimit)
  const limit = Option.getOrElse(Option.orElse(requestsPerSecond, () => fromEnvironment), () => usual)
  return limit === "none" ? undefined : limit
})

/** The paths of fields that take nothing away, whatever their name says. */
export const knownKeys = Config.String("TIME_PUNCHES_KNOWN_KEYS").pipe(
  Config.withDefault(""),
  Config.map((text) => text.split(",").map((path) => path.trim()).filter((path) => path !== ""))
)

/** Fails on a variable that is set but invalid: to ignore it could select another company. */
export const setting = Effect.fnUntraced(function*<A>(
  name: string,
  mustBe: string,
  read: (text: string) => Option.Option<A>
): Effect.fn.Return<Option.Option<A>, Config.ConfigError> {
  const text = yield* Config.option(Config.NonEmptyString(name))
  if (Option.isNone(text)) return Option.none()
  const value = read(text.value.trim())
  return Option.isSome(value) ? value : yield* invalidSetting(name, mustBe)
})

/** The guid of the environment belongs to the company of the environment, so it is used with no other. */
export const companyOf = Effect.fnUntraced(
  function*({ company }: CompanyInput): Effect.fn.Return<Company, CommandFailure | Config.ConfigError> {
    const idFromEnvironment = yield* setting(companyVariables.id, wholeNumber(1), readCompanyId)
    const guidFromEnvironment = yield* setting(companyVariables.guid, "a uuid", (text) => CompanyGuid.makeOption(text))
    const given = Option.getOrUndefined(company)
    const id = given?.id ?? Option.getOrUndefined(idFromEnvironment)
    if (id === undefined) return yield* usage(`no company: give --company ID or set ${companyVariables.id}`)
    const isSame = Option.contains(idFromEnvironment, id)
    const guid = given?.guid ?? (isSame ? Option.getOrUndefined(guidFromEnvironment) : undefined)
    return { id, guid }
  }
)

/** The settings without those of the company. */
export const withoutCompany = (provider: ConfigProvider.ConfigProvider) =>
  ConfigProvider.make((path) =>
    path[0] === companyVariables.id || path[0] === companyVariables.guid
      ? Effect.undefined
      : provider.load(path)
  )

/**
 * Hides the company's variables from the layers of the library. `companyOf` has combined them with the flags;
 * `Credentials` would reject an id without its guid although a flag gives the guid.
 */
export const layerCompanyHidden = Layer.effect(
  ConfigProvider.ConfigProvider,
  Effect.map(ConfigProvider.ConfigProvider, withoutCompany)
)
