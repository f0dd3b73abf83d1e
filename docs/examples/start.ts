/** The first program: who is clocked in right now. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, DateTime, Effect, Layer, Option, Stream } from "effect"
import { CompanyId, TimePunches } from "effect-time-punches"
import { NodeTransport } from "effect-time-punches/node"

const clockedIn = TimePunches.list(CompanyId.make(4021)).pipe(
  Stream.filter((punch) => Option.isNone(punch.clockedOut)),
  Stream.runForEach((punch) => Console.log(`user ${punch.userId} since ${DateTime.formatIso(punch.clockedIn)}`))
)

const app = TimePunches.layerFromConfig.pipe(Layer.provide(NodeTransport.layer()))

NodeRuntime.runMain(Effect.provide(clockedIn, app))
