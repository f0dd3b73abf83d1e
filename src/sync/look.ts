/**
 * Whether the listings of a sync show deleted punches. A service may read the spelling of "both" as "not deleted", in silence: a copy
 * then keeps a punch that was deleted. One deleted punch proves it, asked for by its own clock-in, without a word about the copy.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ListError } from "../ApiError.ts"
import type { Company } from "../Company.ts"
import { dayMillis } from "../internal/wire/instant.ts"
import { type Asking, otherSpelling, type Spelling, twoListings, usualSpelling } from "../internal/wire/spelling.ts"
import { RunSpelling } from "../listing/spelling.ts"
import type { TimePunch } from "../TimePunch.ts"
import type { TimePunches } from "../TimePunches.ts"
import { type Checkpoint, instant, type RunningPass } from "./Checkpoint.ts"

/**
 * What a look saw.
 *
 * - `shown`: a listing in the spelling has a deleted punch.
 * - `hidden`: it leaves one out that the service has. `proven` is the other spelling if that one shows it, else two listings.
 * - `nothing`: the service has no deleted punch.
 * - `unclear`: a request failed, or its answer was not whole, or the punch changed meanwhile.
 */
export type Look =
  | { readonly _tag: "shown" | "nothing" | "unclear" }
  | { readonly _tag: "hidden"; readonly proven: Asking }

const unclear: Look = { _tag: "unclear" }

/** A look is worth no wait: the next one is tomorrow's. */
const patience = { retry: { attempts: 1 }, deadline: "30 seconds" } as const

/** Looks with two requests, four if the punch is hidden. It never fails. */
export const look = (
  service: TimePunches["Service"],
  company: Company,
  spelling: Spelling
): Effect.Effect<Look> =>
  Effect.gen(function*() {
    const first = yield* service.page(company, { deleted: "only" }, { ...patience, pageSize: 1 })
    const [wanted] = first.items
    if (wanted === undefined) return Option.isNone(first.cursor.next) ? { _tag: "nothing" } as const : unclear
    // A service that ignores the filter proves nothing.
    if (!wanted.deleted) return unclear
    const clockedIn = {
      gte: DateTime.subtract(wanted.clockedIn, { seconds: 1 }),
      lte: DateTime.add(wanted.clockedIn, { seconds: 1 })
    }
    const isWanted = ({ deleted, id }: TimePunch) => deleted && id === wanted.id
    const find = (deleted: "include" | "only", asked: Spelling) =>
      service.page(company, { deleted, clockedIn }, patience).pipe(
        Effect.provideService(RunSpelling, { spelling: asked, isOnly: true }),
        Effect.map(({ cursor, items }) =>
          items.some(isWanted)
            ? "shown"
            : Option.isSome(cursor.next) || items.some(({ id }) => id === wanted.id)
            ? "unclear"
            : "hidden"
        )
      )
    const seen = yield* find("include", spelling)
    if (seen !== "hidden") return { _tag: seen } as const
    if ((yield* find("only", spelling)) !== "shown") return unclear
    const other = otherSpelling(spelling)
    const inOther = yield* Effect.orElseSucceed(find("include", other), () => "unclear" as const)
    return { _tag: "hidden", proven: inOther === "shown" ? other : twoListings } as const
  }).pipe(
    Effect.catch((error: ListError) => failed(company, error.message)),
    // Also of a client without `page`, as a test may have one: the sync does not need the look.
    Effect.catchDefect((defect) => failed(company, String(defect)))
  )

const failed = (company: Company, why: string): Effect.Effect<Look> =>
  Effect.as(Effect.logDebug(`company ${company.id}: whether deleted punches show is unclear: ${why}`), unclear)

const dayOf = (millis: number): number => Math.floor(millis / dayMillis)

/** Whether the end of a pass is due a look: of a first load, of a sweep, of a change of the spelling, of the first pass of a day. */
export const isLookDue = (
  kind: RunningPass["kind"],
  { looked }: Checkpoint,
  now: number
): boolean => kind !== "increment" || looked === undefined || dayOf(looked.epochMilliseconds) !== dayOf(now)

/** The checkpoint whose spelling is the one that gave a page. A change of it is proven by no look yet. */
export const withSpelling = (checkpoint: Checkpoint, spelling: Asking = askingOf(checkpoint)): Checkpoint => {
  if (spelling === askingOf(checkpoint)) return checkpoint
  const { deletions, looked: _, spelling: __, ...known } = checkpoint
  return {
    ...known,
    ...(spelling === usualSpelling ? undefined : { spelling }),
    ...(deletions === undefined ? undefined : { deletions: "hidden" })
  }
}

/** How a sync asks first. */
export const askingOf = ({ spelling = usualSpelling }: Checkpoint): Asking => spelling

/**
 * The checkpoint of a complete pass after its look. What was hidden stays missed until every row was read in a spelling that is known
 * to show deleted punches: `isWhole`, a sweep without a window.
 */
export const afterLook = (checkpoint: Checkpoint, look: Look, isWhole: boolean, now: number): Checkpoint => {
  const { deletions } = checkpoint
  if (look._tag === "hidden") {
    const moved = withSpelling(checkpoint, look.proven)
    return { ...moved, looked: instant(now), deletions: "unswept" }
  }
  const { deletions: _, ...known } = checkpoint
  const after = deletions === "unswept"
    ? isWhole ? undefined : deletions
    : look._tag === "shown" && deletions === "hidden"
    ? "unswept"
    : deletions
  return { ...known, looked: instant(now), ...(after === undefined ? undefined : { deletions: after }) }
}

/** What a person must know of a look. */
export const warningOf = (company: Company, look: Look, spelling: Spelling): string | undefined =>
  look._tag === "hidden"
    ? `company ${company.id}: the service leaves deleted punches out of its answers to ${spelling}. From now on ${look.proven} ` +
      "is sent. Run a sweep without a window: the copy may have punches that were deleted"
    : undefined
