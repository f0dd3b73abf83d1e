/** The client of a run. Loaded when a command lists. */
import * as Layer from "effect/Layer"
import { ApiVersion } from "../../ApiVersion.ts"
import { Endpoints } from "../../Endpoints.ts"
import { TimePunches } from "../../TimePunches.ts"
import { layerCompanyHidden } from "./connection.ts"

/** The client with its endpoints and API version, from the environment. Needs an `HttpClient`. */
export const layerClient = TimePunches.layerFromConfig.pipe(
  Layer.provide(layerCompanyHidden),
  Layer.merge(Endpoints.layerFromConfig),
  Layer.merge(ApiVersion.layerFromConfig)
)
