/** The `./testing` subpath: a fake service, generated punches, a client for tests, and the rules of a `SyncStore`. It needs no test runner and no Node. */
export type { Delivery, Endpoint, FakeRequest, FakeResponse, RecordedRequest } from "./base/message.ts"
export type { ApprovalStatus, StoredPunch, WireBreak, WirePunch } from "./base/WirePunch.ts"
export { toWire } from "./base/WirePunch.ts"
export { FakeService } from "./FakeService.ts"
export { Fault } from "./faults/Fault.ts"
export type { FaultBody, FaultWhen, Json, RawJson, RowPatch, StatusOptions, TokenDefect } from "./faults/Fault.ts"
export type { ActiveFault } from "./faults/queue.ts"
export { arbitraryPunches, type GenerateOptions, generatePunches } from "./generate/punches.ts"
export { generateWeeks, type WeeksOptions, type WeeksOptionsBase } from "./generate/weeks.ts"
export { defaultCompany, defaultOAuthClient } from "./service/options.ts"
export type {
  FakeAccess,
  FakeCompany,
  FakeOAuthClient,
  FakeServiceOptions,
  FakeSession,
  VisibilityLag
} from "./service/options.ts"
export type { PunchPatch } from "./service/table.ts"
export { syncStoreRules } from "./syncStoreRules.ts"
export type { SyncStoreRule, SyncStoreRulesOptions } from "./syncStoreRules.ts"
export * as TestClient from "./TestClient.ts"
export type { BreakInput, Given, InstantInput, PunchInput, TestClientOptions } from "./TestClient.ts"
