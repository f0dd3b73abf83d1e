/** A company: its id, and the guid that an OAuth client sends for it. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { CompanyGuid, CompanyId } from "./Ids.ts"
import { invalidSetting } from "./internal/setting/setting.ts"

/** A company. A bare `CompanyId` is accepted wherever a `Company` is. */
export interface Company {
  /** Identifies the company in the path of every request. */
  readonly id: CompanyId
  /**
   * Sent as `x-company-guid` on every request under OAuth, and with no other credential. Default: the guid of
   * `Credentials.layerOAuth`, if it is for this company id; without any, OAuth requests fail with `InvalidRequest`.
   */
  readonly guid?: CompanyGuid | undefined
}

/** A company with the guid that an OAuth client sends for it. */
export interface CompanyWithGuid extends Company {
  readonly guid: CompanyGuid
}

/** Validates a company from untyped code. @internal */
export const CompanySchema = Schema.Struct({ id: CompanyId, guid: Schema.optional(CompanyGuid) })

/** Absent where it is not set, so that `Config.option` and `Config.withDefault` see that; an error names it nevertheless. */
const idText = Schema.String.annotate({ message: "TIME_PUNCHES_COMPANY_ID is not set" }).check(Schema.isNonEmpty())

const config: Config.Config<Company> = Config.all({
  id: Config.schema(idText, "TIME_PUNCHES_COMPANY_ID"),
  guid: Config.option(Config.NonEmptyString("TIME_PUNCHES_COMPANY_GUID"))
}).pipe(Config.mapEffect(Effect.fnUntraced(function*(text) {
  const id = /^\d+$/.test(text.id) ? CompanyId.makeOption(Number(text.id)) : Option.none()
  if (Option.isNone(id)) return yield* invalidSetting("TIME_PUNCHES_COMPANY_ID", "a whole number from 1 on")
  if (Option.isNone(text.guid)) return { id: id.value }
  const guid = CompanyGuid.makeOption(text.guid.value)
  return Option.isSome(guid)
    ? { id: id.value, guid: guid.value }
    : yield* invalidSetting("TIME_PUNCHES_COMPANY_GUID", "a uuid")
})))

/** Where a program gets a company from. To write one in code, make its ids: `{ id: CompanyId.make(4021) }`. */
export const Company = {
  /**
   * Reads `TIME_PUNCHES_COMPANY_ID` and, if it is set, `TIME_PUNCHES_COMPANY_GUID`. Fails with a `ConfigError` that names
   * the variable that is missing or malformed, never its value. `Config.option` and `Config.withDefault` take a missing id.
   */
  config
} as const
