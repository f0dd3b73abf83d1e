/** A million punches through the library with its defaults, imported module by module. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { CompanyId, Credentials, Endpoints, TimePunches } from "../src/index.ts"
import { companyId } from "./floor.ts"
import { report } from "./memory.ts"

await report("effect-time-punches, undici, defaults", (url) => {
  const runtime = ManagedRuntime.make(TimePunches.layer.pipe(
    Layer.provide(Credentials.layerAccessToken(Redacted.make("token"))),
    Layer.provide(Endpoints.layer({ baseUrl: url })),
    Layer.provide(NodeHttpClient.layerUndiciOptions({ connections: 16, connect: { timeout: 5000 } }))
  ))
  const count = TimePunches.list(CompanyId.make(companyId)).pipe(Stream.runFold(() => 0, (punches) => punches + 1))
  return () => runtime.runPromise(count)
})
