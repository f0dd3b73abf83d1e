/** A company: its id, and the guid that an OAuth client sends for it. */
import * as Schema from "effect/Schema"
import { CompanyGuid, CompanyId } from "./Ids.ts"

/** A company. A bare `CompanyId` is accepted wherever a `Company` is. */
export interface Company {
  /** Identifies the company in the path of every request. */
  readonly id: CompanyId
  /**
   * Sent as `x-company-guid` on every request under OAuth, and with no other credential. Default: the guid of
   * `Credentials.layerOAuth`, if it is for this company id; without any, OAuth requests fail with `InvalidRequest`.
   */
  readonly guid?: CompanyGuid | undefined
}

/** Validates a company from untyped code. @internal */
export const CompanySchema = Schema.Struct({ id: CompanyId, guid: Schema.optional(CompanyGuid) })
