/** The layers of an application, wired in one file: the client from the environment, over a bounded transport. */
import { Config, Layer, Schema } from "effect"
import { CompanyId, TimePunches } from "effect-time-punches"
import { NodeTransport } from "effect-time-punches/node"

/** The transport for Node: at most 16 sockets, and five seconds to connect one. */
export const transport = NodeTransport.layer()

/** The client: address, credential and version come from the environment. */
export const app = TimePunches.layerFromConfig.pipe(Layer.provide(transport))

/** The company that the examples list. */
export const company = Config.schema(
  Schema.NumberFromString.pipe(Schema.decodeTo(CompanyId)),
  "TIME_PUNCHES_COMPANY_ID"
)
