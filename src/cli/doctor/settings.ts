/** The checks that need no service: the settings of the environment and the company flags. */
import * as Config from "effect/Config"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Struct from "effect/Struct"
import { ApiVersion } from "../../ApiVersion.ts"
import type { Company } from "../../Company.ts"
import { Credentials } from "../../Credentials.ts"
import { Endpoints } from "../../Endpoints.ts"
import { credentialVariables } from "../../internal/wire/names.ts"
import { exitCode } from "../failure.ts"
import { type CompanyInput, companyOf, layerCompanyHidden, type LimitInput, limitOf } from "../flags/connection.ts"
import { type CheckResult, fail, failed, makeCheck, ok } from "./report.ts"

/** The results, and the company if every setting is valid. */
export const checkSettings = Effect.fnUntraced(function*(flags: CompanyInput & LimitInput) {
  const addresses = yield* Effect.result(Effect.provide(Endpoints, Endpoints.layerFromConfig))
  const credentials = yield* Effect.result(Effect.provide(credentialKind, layerCredentials))
  const version = yield* Effect.result(Effect.provide(ApiVersion, ApiVersion.layerFromConfig))
  const limit = yield* Effect.result(limitOf(flags))
  const company = yield* Effect.result(companyOf(flags))
  const defaultVersion = yield* ApiVersion
  const now = yield* DateTime.now

  const results: ReadonlyArray<CheckResult> = [
    Result.match(addresses, {
      onFailure: (error) => failed("addresses", error, "settings"),
      onSuccess: ({ authUrl, baseUrl }) =>
        ok("addresses", authUrl === baseUrl ? baseUrl : `${baseUrl}, tokens from ${authUrl}`)
    }),
    Result.match(credentials, {
      onFailure: (error) => failed("credential", error, "settings"),
      onSuccess: (kind) => ok("credential", kinds[kind].name)
    }),
    Result.match(version, {
      onFailure: (error) => failed("version", error, "settings"),
      onSuccess: (version) => checkVersion(version, defaultVersion, DateTime.formatIsoDateUtc(now))
    }),
    ...(Result.isFailure(limit) ? [failed("limit", limit.failure, "settings")] : []),
    Result.match(company, {
      onFailure: (error) =>
        error._tag === "CommandFailure"
          ? fail("company", error.message, "settings", "Give --company, or set TIME_PUNCHES_COMPANY_ID.", error.code)
          : failed("company", error, "settings"),
      onSuccess: (company) => checkCompany(company, Result.getSuccess(credentials))
    })
  ]
  const isValid = results.every(({ status }) => status !== "FAIL")
  return { results, company: isValid ? Result.getSuccess(company) : Option.none() }
})

type CredentialKind = keyof typeof credentialVariables

/** What is said of each kind of credential; a new kind needs a row here to compile. */
const kinds: Readonly<Record<CredentialKind, { readonly name: string; readonly needsGuid: boolean }>> = {
  accessToken: { name: "access token", needsGuid: false },
  oauth: { name: "OAuth client", needsGuid: true },
  sessionCookie: { name: "session cookie", needsGuid: false }
}

/** Built only for its errors. The base URL is a placeholder: `addresses` checks the real one. */
const layerCredentials = Credentials.layerFromConfig.pipe(
  Layer.provide(layerCompanyHidden),
  Layer.provide(Endpoints.layer({ baseUrl: "https://localhost" }))
)

/** The kind whose variables are set: the layer rejects none, two of them, and a part of one. */
const credentialKind = Effect.gen(function*() {
  yield* Credentials
  for (const kind of Struct.keys(credentialVariables)) {
    const isSet = Effect.map(Config.option(Config.Redacted(credentialVariables[kind][0])), Option.isSome)
    if (yield* isSet) return kind
  }
  return yield* Effect.die(new Error("a credential without its variables"))
})

/** The first version with tips in cents; earlier ones have major units. */
const centsSince = "2022-07-01"

const ofVersion = makeCheck("version", "version")

const checkVersion = (
  version: Option.Option<string>,
  defaultVersion: Option.Option<string>,
  today: string
): CheckResult => {
  if (Option.isNone(version)) return ofVersion.ok("none is sent; the default of the token applies")
  const date = version.value
  if (date < centsSince) {
    return ofVersion.warn(
      `${date} may send tips as decimals`,
      "Set TIME_PUNCHES_API_VERSION to a later one, or unset it."
    )
  }
  return date > today && !Option.contains(defaultVersion, date)
    ? ofVersion.warn(
      `${date} is in the future`,
      "Use a version that exists: a service may answer an unknown version with its oldest one."
    )
    : ofVersion.ok(date)
}

const checkCompany = ({ guid, id }: Company, kind: Option.Option<CredentialKind>): CheckResult => {
  if (Option.isNone(kind)) return ok("company", `${id}`)
  const { name, needsGuid } = kinds[kind.value]
  if (needsGuid && guid === undefined) {
    return fail(
      "company",
      `${id} without a guid, which an OAuth client must send`,
      "settings",
      "Give --company ID=GUID, or set TIME_PUNCHES_COMPANY_GUID with TIME_PUNCHES_COMPANY_ID.",
      exitCode.usage
    )
  }
  const guidNote = guid === undefined ? "" : needsGuid ? ", with its guid" : `; its guid is not sent with ${name}s`
  return ok("company", `${id}${guidNote}`)
}
