/** The checks of `doctor` on cursors: forward, backward, with a filter, and whether the listing ends where it says. */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import type { PunchFilter } from "../../PunchFilter.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { TimePunches } from "../../TimePunches.ts"
import { maxPageSize } from "../flags/paging.ts"
import { counted, countedPunches } from "../terminal/format.ts"
import { confirm, idsOf, isAmong, isSame, type Listing, readKnown, readPages, type Survey } from "./answers.ts"
import { changed, type CheckResult, fail, ok, warn } from "./checkResult.ts"
import { failed } from "./explain.ts"
import { mismatches, mustMatch } from "./matching.ts"

const report = "Do not rely on listings of this service until it is fixed: report it."

const pagesToWalk = 4

/** So that a walk has no more punches than the page that it is compared with. */
const largestWalkPage = 50

/** A listing that fits one page makes three pages, so that its end is seen too. */
const walkSize = ({ known, pageSize }: Survey): number =>
  known.isWhole ? Math.max(1, Math.ceil(known.punches.length / 3)) : Math.min(pageSize, largestWalkPage)

/** What two answers to one query say of each other that cannot be, and the punches that show it. */
interface Contradiction {
  readonly kind: "repeated" | "omitted" | "extra"
  readonly detail: string
  readonly punches: ReadonlyArray<TimePunch>
}

const contradiction = (walk: Listing, known: Listing): Contradiction | undefined => {
  const pages = counted(walk.pages.length, "page")
  const [all, inKnown] = [walk.punches.length, countedPunches(known.punches.length)]
  const firsts = new Map(walk.punches.toReversed().map((punch) => [punch.id, punch]))
  const repeated = walk.punches.filter((punch) => firsts.get(punch.id) !== punch)
  if (repeated.length > 0) {
    const detail = `${countedPunches(repeated.length)} of ${all} are repeated within ${pages}`
    return { kind: "repeated", punches: repeated, detail }
  }
  const extra = without(walk.punches, known.punches)
  if (known.isWhole && extra.length > 0) {
    const detail = `a page of ${maxPageSize} says that ${inKnown} are all, and ${pages} have ${extra.length} more`
    return { kind: "extra", punches: extra, detail }
  }
  // The walk has passed every punch that stands before one of its punches.
  const last = walk.isWhole
    ? known.punches.length
    : known.punches.findLastIndex((punch) => isAmong(punch, walk.punches))
  const omitted = without(known.punches.slice(0, Math.max(0, last)), walk.punches)
  const [first] = omitted
  if (first === undefined) return undefined
  const detail = walk.isWhole
    ? `the listing ends after ${pages} with ${countedPunches(all)}, and a page of ${maxPageSize} has ${inKnown}`
    : `${pages} omit punch ${first.id}, which a page of ${maxPageSize} has`
  return { kind: "omitted", punches: omitted, detail }
}

const without = (punches: ReadonlyArray<TimePunch>, others: ReadonlyArray<TimePunch>): ReadonlyArray<TimePunch> => {
  const ids = new Set(idsOf(others))
  return punches.filter(({ id }) => !ids.has(id))
}

const readWalk = (survey: Survey) => readPages(survey.company, survey.filter, walkSize(survey), pagesToWalk)

/** Whether a contradiction remains if punches may have changed: what appears or disappears in between shows none. */
const isConfirmed = Effect.fnUntraced(
  function*(survey: Survey, { kind, punches }: Contradiction, known: Listing, again: Listing) {
    switch (kind) {
      case "repeated":
        return isSame(known, again)
      case "omitted":
        return punches.some((punch) => isAmong(punch, again.punches))
      case "extra": {
        const absent = again.isWhole ? without(punches, again.punches) : []
        if (absent.length === 0) return false
        const walk = yield* readWalk(survey)
        return absent.some((punch) => isAmong(punch, walk.punches))
      }
    }
  }
)

/** How often a contradiction is looked for while punches change. */
const rounds = 2

/** Walks some pages forward, and compares them with one large page. */
export const checkCursors = Effect.fnUntraced(
  function*(survey: Survey) {
    let { known } = survey
    for (let round = 1;; round++) {
      const walk = yield* readWalk(survey)
      const found = contradiction(walk, known)
      const end = (result: CheckResult) => ({ result, walk: Option.some(walk) })
      if (found === undefined) {
        const detail = `${counted(walk.pages.length, "page")} forward, ${
          countedPunches(walk.punches.length)
        }, none twice`
        return end(ok("cursors", detail))
      }
      const again = yield* readKnown(survey.company, survey.filter)
      if (yield* isConfirmed(survey, found, known, again)) return end(fail("cursors", found.detail, "cursors", report))
      if (round === rounds) return end(changed("cursors", "cursors"))
      known = again
    }
  },
  Effect.catch((error) => Effect.succeed({ result: failed("cursors", error, "cursors"), walk: Option.none<Listing>() }))
)

const forwardOnly = "Do not page backward on this service; paging forward is not affected."

/** Going back from the second page must give the first one again. */
export const checkBackward = Effect.fnUntraced(
  function*(survey: Survey, walk: Listing) {
    const { company, filter } = survey
    const [first, second] = walk.pages
    if (first === undefined || second === undefined) return ok("back", "there is only one page")
    if (Option.isNone(second.cursor.prev)) {
      return warn("back", "the second page has no cursor back", "cursors", forwardOnly)
    }
    const pageSize = walkSize(survey)
    const readBack = TimePunches.page(company, filter, { pageSize, cursor: second.cursor.prev })
    const back = yield* readBack
    const [wanted, got] = [idsOf(first.items), idsOf(back.items)]
    if (wanted.join() === got.join()) {
      return ok("back", `from page 2 back to page 1: the same ${countedPunches(got.length)}`)
    }
    if (wanted.toSorted().join() === got.toSorted().join()) {
      return warn("back", "going back from page 2 gives page 1 in another order", "cursors", forwardOnly)
    }
    const again = yield* readPages(company, filter, pageSize, 2)
    const stays = Equal.equals([...first.items, ...second.items], again.punches) &&
      Equal.equals(back.items, (yield* readBack).items)
    return stays
      ? fail("back", "going back from page 2 does not give page 1", "cursors", forwardOnly)
      : changed("back", "cursors")
  },
  Effect.catch((error) => Effect.succeed(failed("back", error, "cursors")))
)

/** The filters that a later page is checked with, those first that divide the punches best. */
const candidates = (punch: TimePunch): ReadonlyArray<PunchFilter> => [
  { approved: punch.approved },
  { locationId: punch.locationId },
  { roleId: punch.roleId },
  { userId: punch.userId }
]

/** A filter that some known punches match and others do not, and how many match. */
const dividing = (punches: ReadonlyArray<TimePunch>) =>
  punches.flatMap((punch) => candidates(punch)).map((filter) => {
    const within: PunchFilter = { ...filter, deleted: "include" }
    return { filter, count: punches.filter((punch) => mustMatch(within, punch)).length }
  }).find(({ count }) => count > 1 && count < punches.length)

/** Later pages must match the filter of the first one: a cursor carries it, or the service repeats it. */
export const checkFilteredCursors = Effect.fnUntraced(
  function*({ company, filter, known, pageSize }: Survey) {
    const check = "cursors with a filter"
    const found = dividing(known.punches)
    if (found === undefined) return ok(check, "no filter divides the punches")
    const sent: PunchFilter = { ...found.filter, deleted: filter.deleted }
    const { pages } = yield* readPages(company, sent, Math.max(1, Math.min(pageSize, Math.floor(found.count / 2))), 3)
    const wrong = pages.map(({ items }) => items.filter((punch) => mismatches(sent, punch).length > 0).length)
    const [onFirst = 0] = wrong
    const at = wrong.findIndex((count) => count > 0)
    if (onFirst > 0) return ok(check, "not checked: the first page does not match its filter")
    return at === -1
      ? ok(check, `${counted(pages.length, "page")}, all match`)
      : fail(check, `${countedPunches(wrong[at] ?? 0)} of page ${at + 1} do not match its filter`, "cursors", report)
  },
  Effect.catch((error) => Effect.succeed(failed("cursors with a filter", error, "cursors")))
)

/** Where the service says that a page is the last one, no other answer may have a punch that belongs to the listing. */
export const checkEnd = Effect.fnUntraced(
  function*({ company, filter, known, sightings }: Survey) {
    if (!known.isWhole) return ok("end", `not checked: more than ${known.punches.length} punches`)
    const ids = new Set(idsOf(known.punches))
    const extra = sightings.find(({ punch }) => !ids.has(punch.id) && mustMatch(filter, punch))
    if (extra === undefined) return ok("end", `${countedPunches(known.punches.length)}, and no other answer has more`)
    const again = yield* readKnown(company, filter)
    const stays = again.isWhole && !idsOf(again.punches).includes(extra.punch.id)
    if (!stays) return changed("end", "cursors")
    const [confirmed] = yield* confirm([extra.punch], company, extra.filter, maxPageSize)
    return confirmed !== undefined
      ? fail(
        "end",
        `the listing ends after ${
          countedPunches(known.punches.length)
        } without punch ${extra.punch.id}, which another filter gives`,
        "cursors",
        report
      )
      : changed("end", "cursors")
  },
  Effect.catch((error) => Effect.succeed(failed("end", error, "cursors")))
)
