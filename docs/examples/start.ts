/** The first program: the hours and the cost of each person in a week. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, DateTime, Duration, Effect, Layer, Stream } from "effect"
import { BusinessDate, CompanyId, TimePunches } from "effect-time-punches"
import { NodeTransport } from "effect-time-punches/node"
import { Labor, Period } from "effect-time-punches/payroll"

const week = Period.week(DateTime.zoneMakeNamedUnsafe("America/New_York"), BusinessDate.make("2026-03-09"))

const hours = TimePunches.list(CompanyId.make(4021), { clockedIn: week }).pipe(
  Stream.run(Labor.rollup((punch) => punch.userId, { rounding: "halfUp" })),
  Effect.flatMap(
    Effect.forEach(([user, { cost, net }]) =>
      Console.log(`user ${user}: ${Duration.toHours(net).toFixed(2)} h, ${(cost / 100).toFixed(2)}`)
    )
  )
)

const app = TimePunches.layerFromConfig.pipe(Layer.provide(NodeTransport.layer()))

NodeRuntime.runMain(Effect.provide(hours, app))
