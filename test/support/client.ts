/** The client with the layers of an application, over the fake service in process. */
import { Effect, Layer, Redacted } from "effect"
import type { Config } from "effect"
import type { HttpClient } from "effect/http"
import { type Company, CompanyGuid, CompanyId, Credentials, Endpoints, TimePunches } from "../../src/index.ts"
import {
  defaultCompany,
  defaultOAuthClient,
  FakeService,
  type FakeServiceOptions,
  type Fault,
  type FaultWhen
} from "../../src/testing/index.ts"
import { defaultSession, otherCompany } from "../../src/testing/service/options.ts"

const toCompany = ({ guid, id }: { readonly id: number; readonly guid: string }) =>
  ({
    id: CompanyId.make(id),
    guid: CompanyGuid.make(guid)
  }) satisfies Company

/** The default companies of the fake service. */
export const company = toCompany(defaultCompany)
export const stranger = toCompany(otherCompany)

/** The three kinds of credential. */
export const accessToken = Credentials.layerAccessToken(Redacted.make(defaultCompany.accessToken))
export const sessionCookie = Credentials.layerSessionCookie(Redacted.make(defaultSession.cookie))
export const oauth = Credentials.layerOAuth({
  clientId: defaultOAuthClient.clientId,
  clientSecret: Redacted.make(defaultOAuthClient.clientSecret)
})

export const credentialKinds = [
  ["an access token", accessToken],
  ["a session cookie", sessionCookie],
  ["an OAuth client", oauth]
] as const

export const endpoints = Endpoints.layer({ baseUrl: "http://localhost" })

type CredentialsLayer = Layer.Layer<Credentials, Config.ConfigError, HttpClient.HttpClient | Endpoints>

/** A client with these credentials, over the provided `HttpClient`. */
export const client = (credentials: CredentialsLayer = accessToken) =>
  TimePunches.layer.pipe(
    Layer.provide(credentials),
    Layer.provide(endpoints)
  )

/** A client over a fake service; each call makes a separate service. */
export const app = (options: FakeServiceOptions = {}, credentials: CredentialsLayer = accessToken) =>
  client(credentials).pipe(
    Layer.provide(FakeService.layerClient),
    Layer.provideMerge(FakeService.layer(options))
  )

export const inject = (fault: Fault, when?: FaultWhen) => FakeService.use((service) => service.inject(fault, when))

/** The requests for pages so far. */
export const pageRequests = FakeService.use((service) =>
  Effect.map(service.requests, (all) => all.filter(({ endpoint }) => endpoint === "page"))
)
