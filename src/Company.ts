/** A company: its id, and the guid that an OAuth client sends for it. */
import * as Schema from "effect/Schema"
import { CompanyGuid, CompanyId } from "./Ids.ts"

/**
 * A company, with the guid that an OAuth client sends for it (spec 5.3). A bare `CompanyId` is accepted wherever a
 * `Company` is.
 *
 * @since 0.1.0
 */
export interface Company {
  readonly id: CompanyId
  readonly guid?: CompanyGuid | undefined
}

/** What a company from untyped code must be. @internal */
export const CompanySchema = Schema.Struct({ id: CompanyId, guid: Schema.optional(CompanyGuid) })
