/** The client of a run. Loaded when a command lists. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ApiVersion } from "../../ApiVersion.ts"
import { Endpoints } from "../../Endpoints.ts"
import { RateLimit } from "../../RateLimit.ts"
import { TimePunches } from "../../TimePunches.ts"
import { layerCompanyHidden, type LimitInput, limitOf } from "./connection.ts"

/** The client with its endpoints and API version, from the environment, without a limit. Needs an `HttpClient`. */
export const layerUnlimited = TimePunches.layerFromConfig.pipe(
  Layer.provide(layerCompanyHidden),
  Layer.merge(Endpoints.layerFromConfig),
  Layer.merge(ApiVersion.layerFromConfig)
)

/** The same within the limit of the flags and the environment. */
export const layerClient = (flags: LimitInput) =>
  Layer.unwrap(
    Effect.map(limitOf(flags), (perSecond) =>
      perSecond === undefined ? layerUnlimited : Layer.provide(layerUnlimited, RateLimit.layer({ perSecond })))
  )
