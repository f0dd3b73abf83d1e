/** The testing subpath: a fake service to test against and punches to fill it with. No test runner is needed. */
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
} from "./accounts.ts"
export { arbitraryPunches } from "./arbitrary.ts"
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
} from "./Fault.ts"
export { type GenerateOptions, generatePunches } from "./generate.ts"
export type { Density } from "./generateMoments.ts"
export type { FakeServiceOptions } from "./options.ts"
export type { Delivery, Endpoint, PlainRequest, PlainResponse, RecordedRequest } from "./Plain.ts"
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
} from "./WirePunch.ts"
