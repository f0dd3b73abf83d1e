/** `time-punches payroll check`: what a person must look at before a period is closed. */
import type * as Command from "effect/cli/Command"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { markText } from "../../internal/wire/mark.ts"
import * as Period from "../../payroll/Period.ts"
import * as PeriodCheck from "../../payroll/PeriodCheck.ts"
import type { Doubt } from "../database/copy.ts"
import { open } from "../database/open.ts"
import { openSource, sourceFlags } from "../database/source.ts"
import { Findings } from "../failure.ts"
import { knownKeys } from "../flags/connection.ts"
import { disputedIn, disputesUnknown, selectedOf, selectionFlags, selects, widerFilter } from "../flags/filter.ts"
import { csvFlags, formatFlags } from "../flags/form.ts"
import { namesFlag } from "../flags/names.ts"
import { intoOutput, outputFlags } from "../flags/output.ts"
import { periodFlags, requirePeriod, resolvePeriod } from "../flags/period.ts"
import { defaultMaxShift, maxShift, maxWage, refuseBeyondCalendar } from "../flags/thresholds.ts"
import { instantOrNow, words } from "../flags/values.ts"
import { countedPunches } from "../print/format.ts"
import { printError, printWarning } from "../print/messages.ts"
import { print, printCells, screen } from "../print/output.ts"
import { makeVerb } from "../verb.ts"
import { textsOf, verdictOf } from "./findings.ts"

/** The forms of its result. */
const forms = ["table", "csv", "json"] as const

/** What is found of the source as a whole. */
const accepted = ["empty", "deletionsUnseen", "version", "unknownMark"] as const

const checkFlags = {
  ...sourceFlags,
  ...selectionFlags,
  ...periodFlags,
  maxShift,
  maxWage,
  accept: words(
    "accept",
    accepted,
    "Exit with 0 all the same: empty, if no punch matches; deletionsUnseen, if the copy may have punches that were deleted; " +
      "version, if money may be in whole units; unknownMark, if a field that is not read may take punches away",
    "KINDS"
  ),
  asOf: instantOrNow(
    "as-of",
    "Treat open punches as clocked out at this instant; without it only their clock-in counts"
  ),
  ...formatFlags(forms, "table for people; csv and json for programs"),
  ...csvFlags,
  ...outputFlags,
  names: namesFlag
}

type CheckInput = Command.Command.Config.Infer<typeof checkFlags>

export const verb = makeVerb("check", checkFlags, (input) => checkPeriod(input), {
  text: `Find the issues that a person must solve before a period is closed.

  It lists punches that are open, unapproved, disputed, too long, without a
  wage or with one that is far above the others, that overlap another punch of
  the same person (at any location, also across an edge of the period), that the
  service clocked out by itself, or that are unusual in another way (an
  anomaly). Each line shows the person, the local time and the reason. It exits
  with 0 if there is no issue, and with 9 if there is one, or if no punch was
  checked. Of a service it also notes which punches are late or miss a break.`,
  examples: [
    ["payroll check --week 2026-03-02 --week-starts sunday --zone America/New_York", "A payroll week"],
    [
      "payroll check --week 2026-03-02 --zone America/New_York --location-id 301 --max-shift 12h",
      "One location, and report punches over 12 hours"
    ],
    [
      "payroll check --month 2026-03 --zone America/New_York --names names.csv --json",
      "A month for a program, with names"
    ],
    [
      "payroll check --week 2026-03-02 --zone-file zones.csv --database punches.db",
      "Each location by its own clock, from a copy and without a request"
    ]
  ]
})

/** Kinds that are neither reported nor counted: an assistant that may not see wages must not learn which are 0. */
export const HiddenKinds = Context.Reference<ReadonlyArray<PeriodCheck.IssueKind>>(
  "effect-time-punches/cli/HiddenKinds",
  {
    defaultValue: () => []
  }
)

const checkPeriod = Effect.fnUntraced(
  function*(flags: CheckInput) {
    const resolved = yield* resolvePeriod(flags)
    const local = yield* requirePeriod(resolved, "payroll check")
    const { doubts, format, list, marks, names, service, style } = yield* open(resolved, forms, openSource(resolved))
    const maxDuration = Option.getOrElse(flags.maxShift, () => defaultMaxShift)
    yield* refuseBeyondCalendar(resolved, maxDuration)
    const selected = selectedOf(flags)
    const select = selects(selected)
    const periods = Period.byLocation(local.dayRule, local.period)
    const knowsDisputes = Option.isSome(service)
    const options = {
      ...local,
      asOf: Option.getOrUndefined(flags.asOf),
      maxDuration,
      maxWage: Option.getOrUndefined(flags.maxWage),
      select,
      disputed: knowsDisputes ? yield* disputedIn(periods.queryWindow, selected, list) : undefined,
      // A copy lists by clock-in, and knows no disputes; a service may list in another order.
      sorted: !knowsDisputes
    }
    let checked = 0
    // Some time around the period is read too, for overlaps.
    const all = yield* list(widerFilter(PeriodCheck.queryWindow(options), selected, resolved.clockedIn)).pipe(
      Stream.mapArray((punches) => {
        // A punch of a location without a zone is not counted: it fails the check.
        const belong = punches.filter((punch) => Result.getOrElse(periods.contains(punch), () => false))
        checked += belong.filter((punch) => !punch.deleted && select(punch)).length
        return punches
      }),
      Stream.run(PeriodCheck.findings(options))
    )

    /** What the service alone knows of the checked punches. It is not an issue: it fails nothing, and decides no exit code. */
    const noteFlags = Effect.forEach(
      ["late", "missed_break"] as const,
      (flag) =>
        list({ ...selected, clockedIn: periods.queryWindow, flags: [flag] }).pipe(
          Stream.filter((punch) =>
            !punch.deleted && select(punch) && Result.getOrElse(periods.contains(punch), () => false)
          ),
          Stream.map(({ id }) => id),
          Stream.runCollect,
          Effect.map((ids) => ids.length === 0 ? undefined : `note: ${flag}: ${idsText(ids)}`),
          Effect.catch(({ message }) => Effect.succeed(`note: ${flag} is not known: ${message}`)),
          Effect.andThen((note) => note === undefined ? Effect.void : printError(note))
        ),
      { discard: true }
    )

    const accepts = (kind: typeof accepted[number]) => Option.exists(flags.accept, (kinds) => kinds.includes(kind))
    const acceptsEmpty = accepts("empty")
    const doubted = (yield* doubts).filter((kind) => !accepts(kind))
    const known = yield* knownKeys
    const unread = accepts("unknownMark") ? [] : (yield* marks).filter(({ path }) => !known.includes(path))
    const hidden = yield* HiddenKinds
    const found = hidden.length === 0 ? all : all.filter(({ kind }) => !hidden.includes(kind))
    const printVerdict = found.length === 0 && checked > 0 ? printError : printWarning
    const write = format === "csv" ? printCells : print
    yield* write(textsOf(format, found, names, yield* screen, style)).pipe(
      Effect.andThen(printVerdict(verdictOf(found, checked, acceptsEmpty))),
      Effect.andThen(printWarning(...doubted.map((kind) => doubtTexts[kind]))),
      Effect.andThen(printWarning(...unread.map((mark) => `${markText(mark)}; --accept unknownMark lets it pass`))),
      Effect.andThen(knowsDisputes ? noteFlags : printWarning(disputesUnknown)),
      // What was found decides the exit code, also if its reader has read enough.
      Effect.catchTag("OutputClosed", () => Effect.void)
    )
    // A gate that looked at nothing must not open.
    if (found.length > 0 || doubted.length > 0 || unread.length > 0 || (checked === 0 && !acceptsEmpty))
      return yield* new Findings()
  },
  Effect.scoped,
  intoOutput
)

/** Some ids of punches, and the number of the others. */
const idsText = (ids: ReadonlyArray<number>): string =>
  `${countedPunches(ids.length)} (${ids.slice(0, 10).join(", ")}${ids.length > 10 ? ", …" : ""})`

const doubtTexts = {
  deletionsUnseen:
    "deletionsUnseen: the copy may have punches that were deleted, and they count here; --accept deletionsUnseen lets it pass",
  version:
    "version: an old version of the interface answered, so money may be in whole units; --accept version lets it pass"
} as const satisfies Readonly<Record<Doubt, string>>
