/** The `./testing` subpath: a fake service and generated punches. It needs no test runner and no Node. */
export type { Delivery, Endpoint, FakeRequest, FakeResponse, RecordedRequest } from "./base/message.ts"
export {
  type ApprovalStatus,
  approvalStatuses,
  punchFlags,
  type StoredPunch,
  toStored,
  toWire,
  type WireBreak,
  type WirePunch
} from "./base/WirePunch.ts"
export { FakeService } from "./FakeService.ts"
export { Fault } from "./faults/Fault.ts"
export type { FaultWhen } from "./faults/Fault.ts"
export type { FaultBody, Json, RawJson, RowPatch, StatusOptions, TokenDefect } from "./faults/Fault.ts"
export { arbitraryPunches } from "./generate/punches.ts"
export type { Density } from "./generate/punches.ts"
export { type GenerateOptions, generatePunches } from "./generate/punches.ts"
export { generateWeeks, type WeeksOptions } from "./generate/weeks.ts"
export type { PunchPatch } from "./service/changes.ts"
export {
  defaultCompany,
  defaultLimit,
  defaultOAuthClient,
  defaultSession,
  defaultTokenLifetime,
  type FakeCompany,
  type FakeOAuthClient,
  type FakeSession,
  knownScopes,
  maxLimit,
  otherCompany,
  sessionCookieName
} from "./service/options.ts"
export type { FakeServiceOptions, VisibilityLag } from "./service/options.ts"
