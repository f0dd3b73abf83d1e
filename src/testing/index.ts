/** The testing subpath: a fake service to test against and punches to fill it with. No test runner is needed. */
export type { Delivery, Endpoint, FakeRequest, FakeResponse, RecordedRequest } from "./base/message.ts"
export {
  type ApprovalStatus,
  approvalStatuses,
  type PunchFlag,
  punchFlags,
  type StoredPunch,
  toStored,
  toWire,
  type WireBreak,
  type WirePunch
} from "./base/WirePunch.ts"
export { FakeService } from "./FakeService.ts"
export {
  Fault,
  type FaultBody,
  type FaultWhen,
  type Json,
  type RawJson,
  type RowPatch,
  type StatusOptions,
  type TokenDefect
} from "./faults/Fault.ts"
export { arbitraryPunches } from "./generate/arbitrary.ts"
export type { Density } from "./generate/moments.ts"
export { type GenerateOptions, generatePunches } from "./generate/punches.ts"
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
} from "./service/accounts.ts"
export type { FakeServiceOptions } from "./service/options.ts"
