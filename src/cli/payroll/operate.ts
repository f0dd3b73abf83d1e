/** What the verbs of a record share when they run: its copy, who writes, and how a failure to close is printed. */
import * as Arr from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Os from "node:os"
import * as Close from "../../close/Close.ts"
import { foundText, type NotReady } from "../../close/CloseError.ts"
import type { CompanyId } from "../../Ids.ts"
import { version } from "../../internal/wire/userAgent.ts"
import { layerCopy, requireCopy } from "../database/copy.ts"
import { targetOfCopy } from "../database/database.ts"
import { Findings } from "../failure.ts"
import type { DatabaseTarget } from "../flags/address.ts"
import { type CompanyInput, companyOf } from "../flags/connection.ts"
import type { Names } from "../flags/names.ts"
import { counted } from "../print/format.ts"
import { printWarning } from "../print/messages.ts"
import { printText, screen } from "../print/output.ts"
import { disputesUnknown } from "../select/selection.ts"
import { tableOf } from "./findings.ts"

export * as Close from "../../close/Close.ts"
export { notFound, refusal } from "../../close/CloseError.ts"
export * as CloseSums from "../../close/CloseSums.ts"
export * as CloseTerms from "../../close/CloseTerms.ts"
export { requireCopy }
export { readNames } from "../flags/names.ts"
export * from "./next.ts"
export * from "./print.ts"
export { readSumFlags } from "./terms.ts"

/** The company of the flags, and the copy that has its record: a file is opened to read it alone unless the verb writes. */
export const recordOf = Effect.fnUntraced(function*(
  input: Pick<CompanyInput, "company"> & { readonly database: Option.Option<string> },
  verb: string,
  writes = false
) {
  const { id: company } = yield* companyOf(input)
  const target = yield* targetOfCopy(
    input.database,
    `payroll ${verb}`,
    "Closes are recorded in a copy that is synced with --history."
  )
  return { company, target, shown: target.shown, layer: layerCopy(company, target, !writes) }
})

/** The same copy, to write to it. */
export const writable = (company: CompanyId, target: DatabaseTarget) => layerCopy(company, target, false)

/** Who writes a revision, and with which note. */
export const authorship = (note: Option.Option<string>) => ({
  note: Option.getOrElse(note, () => ""),
  user: userName(),
  release: version
})

/** The user of the machine; `unknown` if it has no name for it. */
export const userName = (): string => {
  try {
    return Os.userInfo().username
  } catch {
    return "unknown"
  }
}

/** Prints why a period is not ready to be closed, or a close to be corrected, and ends the command with findings. */
export const printNotReady = (names: Names | undefined, verb: "close" | "correct", shown: string) =>
  Effect.fnUntraced(function*({ companyId, details, found, issues }: NotReady) {
    // A correction has printed the age before.
    if (verb === "close") yield* requireCopy(companyId, shown, Option.none())
    yield* printText(tableOf(issues, names, yield* screen))
    const done = verb === "close" ? "closed" : "corrected"
    yield* printWarning(
      `not ${done}: ${foundText(found)}`,
      ...details,
      `--accept ${Object.keys(found).join(",")} ${verb}s all the same.`,
      // A correction looks for gaps alone.
      ...(verb === "close" ? [disputesUnknown] : [])
    )
    return yield* new Findings()
  })

/** The period that `--next` closes; `None` if the record does not say which. */
export const nextPeriod = (company: CompanyId) =>
  Effect.catchTag(Effect.asSome(Close.next(company)), "UnknownClose", () => Effect.succeedNone)

/** Warns of time that fell out of every close. The verb has done its work: if the record cannot be read, that is a warning too. */
export const warnOfHoles = (company: CompanyId) =>
  Effect.gen(function*() {
    const byNeighbours = Object.values(
      Arr.groupBy(yield* Close.holes(company), ({ earlier, later }) => `${earlier} ${later}`)
    )
    if (byNeighbours.length === 0) return
    const next = Option.filter(yield* nextPeriod(company), ({ before }) => Option.isSome(before))
    yield* printWarning(...byNeighbours.map((holes) => holeLine(holes, next)))
  }).pipe(
    Effect.catchTag("SyncError", ({ message }) => printWarning(`holes between closes are not known: ${message}`))
  )

const holeLine = (
  holes: Arr.NonEmptyReadonlyArray<Close.Hole>,
  next: Option.Option<Pick<Close.NextPeriod, "first" | "before">>
): string => {
  const [{ dates, earlier, interval, later }] = holes
  const locations = holes.flatMap(({ locationId }) => Option.toArray(locationId))
  const at = locations.length === 0 ? "" : ` at ${counted(locations.length, "location")}`
  return Option.match(dates, {
    onNone: () =>
      `no close has ${DateTime.formatIso(interval.gte)} to ${
        DateTime.formatIso(interval.lt)
      }${at}, between close ${earlier} and close ${later}`,
    onSome: ({ first, last }) => {
      // The other holes are next when the ones before are closed, or only some locations have them.
      const isNext = Option.exists(next, (next) => next.first === first && Option.contains(next.before, later))
      const how = isNext ? "payroll close --next" : `--from ${first} --to ${last} and the terms of close ${earlier}`
      return `no close has ${first} to ${last}${at}: close it with ${how}, ` +
        "or let it through with --accept gap at the next close"
    }
  })
}
