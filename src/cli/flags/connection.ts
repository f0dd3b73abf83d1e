/** Whom a command asks, and about which company: flags first, then the environment; secrets from there only. */
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { ApiVersion } from "../../ApiVersion.ts"
import type { Company } from "../../Company.ts"
import { Endpoints } from "../../Endpoints.ts"
import { CompanyGuid, CompanyId } from "../../Ids.ts"
import { invalidSetting } from "../../internal/base/setting.ts"
import { TimePunches } from "../../TimePunches.ts"
import { type CommandFailure, usage } from "../failure.ts"
import { id, readWhole, text } from "./values.ts"

const variable = { id: "TIME_PUNCHES_COMPANY_ID", guid: "TIME_PUNCHES_COMPANY_GUID" } as const

const readGuid = (text: string) => CompanyGuid.makeOption(text)

export const companyFlags = {
  company: id("company", CompanyId.makeOption, `The company; without it ${variable.id}`),
  guid: text("guid", "UUID", `Its guid, which an OAuth client needs; without it ${variable.guid}`, "a uuid", readGuid)
}

/** What the company flags were parsed to. */
export interface CompanyInput {
  readonly company: Option.Option<CompanyId>
  readonly guid: Option.Option<CompanyGuid>
}

/** A variable that is there must be readable, or the wrong company could be asked. */
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

/** The guid of the environment is that of its company: it goes with no other. */
export const companyOf = Effect.fnUntraced(
  function*(flags: CompanyInput): Effect.fn.Return<Company, CommandFailure | Config.ConfigError> {
    const ownId = yield* setting(
      variable.id,
      "a whole number from 0 on",
      (text) => Option.flatMap(readWhole(text), CompanyId.makeOption)
    )
    const ownGuid = yield* setting(variable.guid, "a uuid", readGuid)
    const id = Option.orElse(flags.company, () => ownId)
    if (Option.isNone(id)) return yield* usage(`no company: give --company ID or set ${variable.id}`)
    const isOwn = Option.isNone(ownId) || ownId.value === id.value
    const guid = Option.orElse(flags.guid, () => isOwn ? ownGuid : Option.none())
    return { id: id.value, guid: Option.getOrUndefined(guid) }
  }
)

/**
 * The company is settled here, flags and variables together. What reads the same variables further in must not see
 * them: an id there without its guid is refused, although the guid may have come by flag.
 */
export const layerSettled = Layer.effect(
  ConfigProvider.ConfigProvider,
  Effect.map(
    ConfigProvider.ConfigProvider,
    (provider) =>
      ConfigProvider.make((path) =>
        path[0] === variable.id || path[0] === variable.guid ? Effect.succeed(undefined) : provider.load(path)
      )
  )
)

/** The client, where it asks, and with which version. Needs an `HttpClient`. */
export const layerClient = TimePunches.layerFromConfig.pipe(
  Layer.provide(layerSettled),
  Layer.merge(Endpoints.layerFromConfig),
  Layer.merge(ApiVersion.layerFromConfig)
)
