/** Keeps copies of three companies in a file of SQLite, each on its own schedule. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer, Option } from "effect"
import { CompanyGuid, CompanyId } from "effect-time-punches"
import { Fleet } from "effect-time-punches/fleet"
import { FleetRunner } from "effect-time-punches/fleet/node"
import { app } from "./app.ts"

/** Each with its guid, which an OAuth client sends. */
export const companies = [
  [4021, "3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4021"],
  [4022, "3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4022"],
  [4023, "3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4023"]
].map(([id, guid]) => ({ id: CompanyId.make(Number(id)), guid: CompanyGuid.make(String(guid)) }))

/** The fleet runs in this process for as long as the layer is open. */
export const fleetIn = (filename: string) => FleetRunner.layerSqlite({ filename })

/** Adds the companies, waits until each is loaded or no longer tried, and prints them. */
export const main = Effect.gen(function*() {
  yield* Fleet.add(companies.map((company) => Object.assign({ every: "5 minutes" as const }, company)))
  let list = yield* Fleet.list()
  // A company that is paused or blocked is not tried: its state says so below.
  while (list.some(({ lastOkAt, state }) => state === "active" && Option.isNone(lastOkAt))) {
    yield* Effect.sleep("200 millis")
    list = yield* Fleet.list()
  }
  for (const { companyId, rows, state } of list)
    yield* Console.log(`company ${companyId}: ${state}, ${rows} rows written`)
})

if (import.meta.main) NodeRuntime.runMain(Effect.provide(main, Layer.provide(fleetIn("punches.db"), app)))
