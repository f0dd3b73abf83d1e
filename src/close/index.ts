/** The `./close` subpath: payroll periods of a copy that are closed, corrected and voided, and their report. */
export { Blocker } from "./Blocker.ts"
export * as Close from "./Close.ts"
export {
  CloseChanged,
  CloseError,
  DifferingRevision,
  isCloseError,
  NotReady,
  OutcomeUnknown,
  PeriodClosed,
  UnknownClose,
  VerificationFailed
} from "./CloseError.ts"
export * as CloseSums from "./CloseSums.ts"
export * as CloseTerms from "./CloseTerms.ts"
export { CloseNumber, RevisionId } from "./ids.ts"
export { type ActiveRevision, ClosedPeriod, RecordedRevision, Revision } from "./Revision.ts"
export * as RevisionName from "./RevisionName.ts"
export { type FileForm, FileNote, type FormChange, type NotedText, type WrittenFile } from "./WrittenFile.ts"
