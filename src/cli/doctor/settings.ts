/** The checks of `doctor` that need no service: what the environment and the company flags come to. */
import * as Config from "effect/Config"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { ApiVersion } from "../../ApiVersion.ts"
import type { Company } from "../../Company.ts"
import { Credentials } from "../../Credentials.ts"
import { Endpoints } from "../../Endpoints.ts"
import { exitCode } from "../failure.ts"
import { type CompanyInput, companyOf, layerSettled } from "../flags/connection.ts"
import { type CheckResult, fail, failed, ok, warn } from "./checkResult.ts"

/** What the settings come to; a company only where every setting is good. */
export interface Settings {
  readonly findings: ReadonlyArray<CheckResult>
  readonly company: Option.Option<Company>
}

export const checkSettings = Effect.fnUntraced(function*(flags: CompanyInput) {
  const addresses = yield* Effect.result(Effect.provide(Endpoints, Endpoints.layerFromConfig))
  const credentials = yield* Effect.result(Effect.provide(kindOfCredential, layerCredentials))
  const version = yield* Effect.result(Effect.provide(ApiVersion, ApiVersion.layerFromConfig))
  const company = yield* Effect.result(companyOf(flags))
  const usual = yield* ApiVersion
  const now = yield* DateTime.now

  const findings: ReadonlyArray<CheckResult> = [
    Result.match(addresses, {
      onFailure: (error) => failed("addresses", error),
      onSuccess: ({ authUrl, baseUrl }) =>
        ok("addresses", authUrl === baseUrl ? baseUrl : `${baseUrl}, tokens from ${authUrl}`)
    }),
    Result.match(credentials, {
      onFailure: (error) => failed("credential", error),
      onSuccess: (kind) => ok("credential", kind)
    }),
    Result.match(version, {
      onFailure: (error) => failed("version", error),
      onSuccess: (version) => versionFinding(version, usual, DateTime.formatIsoDateUtc(now))
    }),
    Result.match(company, {
      onFailure: (error) =>
        error._tag === "CommandFailure"
          ? fail("company", error.message, error.advice.join(" "), error.code)
          : failed("company", error),
      onSuccess: (company) => companyFinding(company, Result.getOrElse(credentials, () => ""))
    })
  ]
  const good = findings.every(({ status }) => status !== "FAIL")
  return { findings, company: good ? Result.getSuccess(company) : Option.none() } satisfies Settings
})

const oauth = "OAuth client"

/** Built for its refusals alone; where the service is has a check of its own. */
const layerCredentials = Credentials.layerFromConfig.pipe(
  Layer.provide(layerSettled),
  Layer.provide(Endpoints.layer({ baseUrl: "https://localhost" }))
)

/** Which kind it is; two kinds at once are refused while the credential is built. */
const kindOfCredential = Effect.gen(function*() {
  yield* Credentials
  const isSet = (name: string) => Effect.map(Config.option(Config.Redacted(name)), Option.isSome)
  if (yield* isSet("TIME_PUNCHES_ACCESS_TOKEN")) return "access token"
  return (yield* isSet("TIME_PUNCHES_SESSION_COOKIE")) ? "session cookie" : oauth
})

/** Versions before this one had tips in major units, which are no cents. */
const centsSince = "2022-07-01"

const versionFinding = (version: Option.Option<string>, usual: Option.Option<string>, today: string): CheckResult => {
  if (Option.isNone(version)) return ok("version", "none is sent: that of the token counts")
  const date = version.value
  if (date < centsSince) {
    return warn(
      "version",
      `${date} may write tips as decimals`,
      "Set TIME_PUNCHES_API_VERSION to a later one, or unset it."
    )
  }
  return date > today && !Option.contains(usual, date)
    ? warn("version", `${date} lies ahead`, "A service may answer a version that it does not know with its oldest one.")
    : ok("version", date)
}

const companyFinding = ({ guid, id }: Company, kind: string): CheckResult => {
  if (kind === oauth && guid === undefined) {
    return fail(
      "company",
      `${id} without a guid, which an OAuth client must send`,
      "Give --guid, or set TIME_PUNCHES_COMPANY_GUID beside TIME_PUNCHES_COMPANY_ID.",
      exitCode.usage
    )
  }
  const guidNote = guid === undefined ? "" : kind === oauth ? ", with its guid" : `; its guid is not sent with ${kind}s`
  return ok("company", `${id}${guidNote}`)
}
