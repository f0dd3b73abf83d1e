/** The shortest test: the client over a fake service that has one punch. */
import { Effect, Stream } from "effect"
import { TimePunches } from "effect-time-punches"
import { TestClient } from "effect-time-punches/testing"

const open = TestClient.punch({ userId: 7, clockedIn: "2026-03-02T14:00:00Z" })

/** Lists over the real client: requests, pages and decoding included, without a socket. */
export const users = TimePunches.list(open.companyId).pipe(
  Stream.map(({ userId }) => userId),
  Stream.runCollect,
  Effect.provide(TestClient.layer({ punches: [open] }))
)
