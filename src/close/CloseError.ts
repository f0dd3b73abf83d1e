/** Why a close, a correction, a void or a verification failed, and what keeps a period from being closed. */
import * as Schema from "effect/Schema"
import { CompanyId, UserId } from "../Ids.ts"
import * as PeriodCheck from "../payroll/PeriodCheck.ts"
import { CloseNumber, RevisionId } from "./ids.ts"

/** Kinds with their numbers, such as `open 1, gap 2`. */
export const foundText = (found: Readonly<Record<string, number>>): string =>
  Object.entries(found).map(([kind, count]) => `${kind} ${count}`).join(", ")

/** The period has issues to resolve, or to accept by their kind. Nothing was written. */
export class NotReady extends Schema.TaggedError<NotReady>("effect-time-punches/close/NotReady")("NotReady", {
  /** The company. */
  companyId: CompanyId,
  /** How often each kind was found that was not accepted. */
  found: Schema.Record(Schema.String, Schema.Natural),
  /** The issues. */
  issues: Schema.Array(PeriodCheck.Issue),
  /** Gaps and the age of the copy, a sentence each. */
  details: Schema.Array(Schema.String)
}) {
  /** The kinds, with their numbers. */
  override get message(): string {
    return `the period is not ready: ${[foundText(this.found), ...this.details].join("; ")} [company ${this.companyId}]`
  }

  /** Whether the same call may succeed later with nothing changed. No: resolve the issues, or accept them. */
  get isRetryable(): boolean {
    return false
  }
}

/** Instants of the period are in another active close. Nothing was written. */
export class PeriodClosed
  extends Schema.TaggedError<PeriodClosed>("effect-time-punches/close/PeriodClosed")("PeriodClosed", {
    /** The company. */
    companyId: CompanyId,
    /** The other close. */
    close: CloseNumber,
    /** The dates of the other close, and what both have: local dates, or the instants of a part of a day. */
    detail: Schema.String
  })
{
  /** The other close, its dates, and the time that both have. */
  override get message(): string {
    return `close ${this.close} has ${this.detail} [company ${this.companyId}]`
  }

  /** Whether the same call may succeed later with nothing changed. No: the other close has the instants. */
  get isRetryable(): boolean {
    return false
  }
}

/** The name fits no close or revision that the call can take. Nothing was written. */
export class UnknownClose
  extends Schema.TaggedError<UnknownClose>("effect-time-punches/close/UnknownClose")("UnknownClose", {
    /** The company. */
    companyId: CompanyId,
    /** The name that was given. */
    given: Schema.String,
    /** Why it does not fit. */
    detail: Schema.String
  })
{
  /** What was named, and why it does not fit. */
  override get message(): string {
    return `${this.given}: ${this.detail} [company ${this.companyId}]`
  }

  /** Whether the same call may succeed later with nothing changed: no. */
  get isRetryable(): boolean {
    return false
  }
}

/** Why the name of a close or of a revision is refused. */
export const notFound = {
  close: "there is no such close",
  revision: "there is no such revision",
  over: "the close is over: each of its revisions is voided"
} as const

/** Why a voided revision has no file. */
export const voidedBy = (id: string): string => `it was voided by ${id}, so there is nothing to pay of it`

/** Refuses a name of a close or of a revision. */
export const refusal = (companyId: CompanyId, given: string) => (detail: string): UnknownClose =>
  new UnknownClose({ companyId, given, detail })

/** The copy or the closes are not what was read: the copy was erased or pruned, or another process wrote a revision. */
export class CloseChanged
  extends Schema.TaggedError<CloseChanged>("effect-time-punches/close/CloseChanged")("CloseChanged", {
    /** The company. */
    companyId: CompanyId,
    /** What changed. */
    detail: Schema.String
  })
{
  /** What changed. */
  override get message(): string {
    return `${this.detail} [company ${this.companyId}]`
  }

  /** Whether the same call may succeed later with nothing changed. Yes: the next call reads what is there now. */
  get isRetryable(): boolean {
    return true
  }
}

/**
 * The connection was lost before the COMMIT was answered, and the database could not be asked again: all revisions were written,
 * or nothing was. `Close.list` shows which, once the database can be reached.
 */
export class OutcomeUnknown
  extends Schema.TaggedError<OutcomeUnknown>("effect-time-punches/close/OutcomeUnknown")("OutcomeUnknown", {
    /** The company. */
    companyId: CompanyId,
    /** The revisions that may have been written, such as `7.2`. */
    revisions: Schema.Array(RevisionId),
    /** What the database said last. */
    detail: Schema.String
  })
{
  /** The revisions, and what the database said. */
  override get message(): string {
    return `${
      this.revisions.join(", ")
    } may have been written: the database did not answer (${this.detail}) [company ${this.companyId}]`
  }

  /** Whether the same call may succeed later with nothing changed. No: if it wrote, the same call is refused or has nothing due. */
  get isRetryable(): boolean {
    return false
  }
}

/** A revision that is not what the history gives. */
export const DifferingRevision = Schema.Struct({
  /** Its name, such as `7.2`. */
  id: RevisionId,
  /** The people whose sums differ. */
  people: Schema.Array(UserId),
  /** Why. */
  cause: Schema.String
})

export type DifferingRevision = typeof DifferingRevision.Type

/** A revision that is computed again from the history is not what was recorded, or the history reaches none. Nothing was written. */
export class VerificationFailed
  extends Schema.TaggedError<VerificationFailed>("effect-time-punches/close/VerificationFailed")("VerificationFailed", {
    /** The company. */
    companyId: CompanyId,
    /**
     * The revisions that differ, with the people whose sums do; without people if the history does not reach the revision. Empty
     * if it reaches none.
     */
    revisions: Schema.Array(DifferingRevision)
  })
{
  /** The revisions, the people and the cause. */
  override get message(): string {
    if (this.revisions.length === 0)
      return `the history reaches no revision: none was compared [company ${this.companyId}]`
    const revisions = this.revisions.map(({ cause, id, people }) =>
      `${id}: ${cause}${people.length === 0 ? "" : `, users ${people.join(", ")}`}`
    )
    return `the record is not what the history gives: ${revisions.join("; ")} [company ${this.companyId}]`
  }

  /** Whether the same call may succeed later with nothing changed: no. */
  get isRetryable(): boolean {
    return false
  }
}

/** Why a close, a correction, a void or a verification failed. All but `OutcomeUnknown` wrote nothing. */
export const CloseError = Schema.Union([
  NotReady,
  PeriodClosed,
  UnknownClose,
  CloseChanged,
  OutcomeUnknown,
  VerificationFailed
])
export type CloseError = typeof CloseError.Type

/** Whether a value is an error of a close, such as what untyped code caught. */
export const isCloseError: (value: unknown) => value is CloseError = Schema.is(CloseError)
