/**
 * The rare branches of `src/sync`. A mark is planted into each of them, as a defect would be: a run of the simulation fails
 * unless it has met the branches that it is there for.
 */
import type { Planting } from "./subject.ts"

const name = "syncMarks"

/** The marks that were met since the last call. */
export const collectMarks = (): Set<string> => {
  const met = new Set<string>()
  Reflect.set(globalThis, name, met)
  return met
}

const mark = (branch: string) => `Reflect.get(globalThis, "${name}")?.add("${branch}")`

/** Marks a branch that begins with this text. */
const at = (file: string, branch: string, find: string, before = "") => ({
  branch,
  edit: { file, find, replace: `${before === "" ? `${mark(branch)}; ` : `${before} ${mark(branch)};\n`}${find}` }
})

/** Marks a value. */
const value = (file: string, branch: string, find: string) => ({
  branch,
  edit: { file, find, replace: `(${mark(branch)}, ${find})` }
})

const marks = [
  value("pass.ts", "cycle-guard", `{ _tag: "Cycle" }`),
  at(
    "pass.ts",
    "date-implausible",
    "  const earlier = Option.flatMap(\n",
    "if (Option.isSome(asOf) && Option.isNone(horizon))"
  ),
  at(
    "pass.ts",
    "clock-set-back",
    "      return isSetBack ? Option.some(sinceOf(then, overlap))",
    "if (isSetBack && !isAgain && expected < watermark - minute)"
  ),
  at(
    "pass.ts",
    "kept-after-discard",
    "      const isSetBack =",
    "if (Option.isSome(running.at) && since.epochMilliseconds <= expected - overlap + minute)"
  ),
  at(
    "pass.ts",
    "clock-slower-than-monotonic",
    "  const known = Option.match(latest",
    "if (Option.isSome(monotonic) && monotonic.value > local + second)"
  ),
  value("pass.ts", "later-call-without-monotonic", "Math.max(0, local + day)"),
  at("pass.ts", "no-watermark-without-rows", "  if (known.length === 0) return", "if (known.length === 0)"),
  at(
    "pass.ts",
    "watermark-behind-the-last",
    "  const requestedAt =",
    "if (Option.exists(watermark, (mark) => Option.exists(at, (first) => first.epochMilliseconds < mark.epochMilliseconds)))"
  ),
  value("pass.ts", "restart-unsorted", "unsorted(running)"),
  value("pass.ts", "next-listing", "listingAfter(read)"),
  at(
    "pass.ts",
    "third-listing-of-a-confirm",
    "  const following =",
    "if (running.deleted === \"again\")"
  ),
  value("passes.ts", "two-listings", "otherListings(state.running, call)"),
  at(
    "passes.ts",
    "restart-in-a-later-listing",
    "  const running = restart(",
    "if (state.running.deleted === \"only\" || state.running.deleted === \"again\")"
  ),
  value("passes.ts", "order-refused", "unsorted(state.running)"),
  value("passes.ts", "empty-run", "state.emptyRuns + 1"),
  at("passes.ts", "cursor-lost", "  const error = new SyncError({ companyId: call.company.id, reason: new CursorLost("),
  at("passes.ts", "stored-at-a-stop", "  const { pass } = state.checkpoint"),
  value("passes.ts", "contains-the-window", "contains(window, goal.window)"),
  at("Sync.ts", "claim-without-checkpoint", "    if (claim) {\n", "if (claim && Option.isNone(loaded))"),
  value("Sync.ts", "too-many-missing", "Effect.andThen(put({ ...batch, missing: Option.none() }), Effect.fail(error))"),
  at("memoryStore.ts", "stale-stamp-lowered", "    if (row.pass >= pass) rows.set", "if (row.pass >= pass)"),
  at(
    "memoryStore.ts",
    "missing-row-brought-back",
    "    return row === undefined || row.isMissing",
    "if (kind === \"increment\" && row?.isMissing === true && Equal.equals(row.punch, punch))"
  )
]

/** The source with a mark in each rare branch. */
export const marked: Planting = { name: "marks", edits: marks.map(({ edit }) => edit) }

/** The rare branches that a run has not met. */
export const unmet = (met: ReadonlySet<string>): ReadonlyArray<string> =>
  marks.flatMap(({ branch }) => met.has(branch) ? [] : branch)
