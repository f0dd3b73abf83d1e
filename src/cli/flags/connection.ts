/** Which service and company a command reads: flags before the environment, secrets from the environment only. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { ApiVersion } from "../../ApiVersion.ts"
import type { Company } from "../../Company.ts"
import { Endpoints } from "../../Endpoints.ts"
import { CompanyGuid, CompanyId } from "../../Ids.ts"
import { invalidSetting } from "../../internal/wire/issue.ts"
import { TimePunches } from "../../TimePunches.ts"
import { type CommandFailure, usage } from "../failure.ts"
import { readWhole, text, wholeNumber } from "./values.ts"

const variable = { id: "TIME_PUNCHES_COMPANY_ID", guid: "TIME_PUNCHES_COMPANY_GUID" } as const

const readGuid = (text: string) => CompanyGuid.makeOption(text)

/** Reads `4021`, or `4022=GUID`. */
export const readCompany = (value: string): Option.Option<Company> => {
  const [id = "", guid, ...rest] = value.split("=")
  return rest.length > 0
    ? Option.none()
    : Option.all({
      id: Option.flatMap(readWhole(id), CompanyId.makeOption),
      guid: guid === undefined ? Option.some(undefined) : CompanyGuid.makeOption(guid)
    })
}

/** What `readCompany` expects; it completes "must be …". */
export const companyForm = `the id of a company, ${wholeNumber(1)}, or ID=GUID`

export const companyFlags = {
  company: text(
    "company",
    "ID[=GUID]",
    `The company; its guid is required for an OAuth client (default: ${variable.id}, ${variable.guid})`,
    companyForm,
    readCompany
  ),
  // For scripts that have the guid in a separate variable; the help shows one way.
  guid: Flag.withHidden(text("guid", "UUID", "The guid of the company", "a uuid", readGuid))
}

/** The parsed company flags. */
export type CompanyInput = Command.Command.Config.Infer<typeof companyFlags>

/** Fails on a variable that is set but invalid: to ignore it could select another company. */
const setting = Effect.fnUntraced(function*<A>(
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
  function*(
    flags: Pick<CompanyInput, "company"> & Partial<CompanyInput>
  ): Effect.fn.Return<Company, CommandFailure | Config.ConfigError> {
    const idFromEnvironment = yield* setting(
      variable.id,
      wholeNumber(1),
      (text) => Option.flatMap(readWhole(text), CompanyId.makeOption)
    )
    const guidFromEnvironment = yield* setting(variable.guid, "a uuid", readGuid)
    const given = Option.getOrUndefined(flags.company)
    const flag = Option.getOrUndefined(flags.guid ?? Option.none())
    const id = given?.id ?? Option.getOrUndefined(idFromEnvironment)
    if (id === undefined) return yield* usage(`no company: give --company ID or set ${variable.id}`)
    if (given?.guid !== undefined && flag !== undefined) {
      return yield* usage("--guid beside --company ID=GUID does not say which of the two counts", "Leave --guid out.")
    }
    const isSame = Option.contains(idFromEnvironment, id)
    const guid = given?.guid ?? flag ?? (isSame ? Option.getOrUndefined(guidFromEnvironment) : undefined)
    return { id, guid }
  }
)

/**
 * Hides the company's variables from the layers of the library. `companyOf` has combined them with the flags;
 * `Credentials` would reject an id without its guid although a flag gives the guid.
 */
export const layerCompanyHidden = Layer.effect(
  ConfigProvider.ConfigProvider,
  Effect.map(
    ConfigProvider.ConfigProvider,
    (provider) =>
      ConfigProvider.make((path) =>
        path[0] === variable.id || path[0] === variable.guid ? Effect.succeed(undefined) : provider.load(path)
      )
  )
)

/** The client with its endpoints and API version, from the environment. Needs an `HttpClient`. */
export const layerClient = TimePunches.layerFromConfig.pipe(
  Layer.provide(layerCompanyHidden),
  Layer.merge(Endpoints.layerFromConfig),
  Layer.merge(ApiVersion.layerFromConfig)
)
