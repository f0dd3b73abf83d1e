/** An event of a feed. */
import * as Schema from "effect/Schema"
import { CompanyId, TimePunchId, UserId } from "../Ids.ts"
import { Instant, openWord } from "../internal/wire/schema.ts"
import { TimePunch } from "../TimePunch.ts"
import { FeedKind, FeedPosition } from "./feedPosition.ts"

/** One punch, and how one commit changed it. */
export class FeedEvent extends Schema.Opaque<FeedEvent>()(Schema.Struct({
  /** The company of the copy. */
  companyId: CompanyId,
  /** Its place. A feed after this position begins with the next event. */
  position: FeedPosition,
  /** The instant of the commit, by the clock of the database. Of `present`: of the last commit of the state. */
  at: Instant,
  /** What it tells. */
  kind: openWord(FeedKind),
  /** The punch. */
  punchId: TimePunchId,
  /** The person of the punch after the commit. */
  userId: UserId,
  /** The punch before the commit; `None` if the copy did not have it, or it was missing. */
  before: Schema.OptionFromNullOr(TimePunch.Wire),
  /** The punch after it; `None` if it is missing. */
  after: Schema.OptionFromNullOr(TimePunch.Wire)
})) {}
