/** `time-punches list`: prints punches page by page, as a table, JSON, NDJSON or CSV. */
import type * as Command from "effect/cli/Command"
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { printable } from "../../internal/text/printable.ts"
import { maxPageSize } from "../../listing/parameters.ts"
import * as WorkedTime from "../../payroll/WorkedTime.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { open } from "../database/open.ts"
import { openSource, sourceFlags } from "../database/source.ts"
import { mapToCommandFailure } from "../describe.ts"
import { filterFlags, toFilter } from "../flags/filter.ts"
import { csvFlags, fileFormats, formatFlags } from "../flags/form.ts"
import { idColumns, nameColumns, type Names, namesFlag } from "../flags/names.ts"
import { fileOf, intoOutput, outputFlags } from "../flags/output.ts"
import { jsonText, pageText } from "../flags/pageText.ts"
import { cursorFlag, resumeHint } from "../flags/paging.ts"
import { fixedWindowHint, keptOf, type LocalPeriod, periodFlags, resolvePeriod } from "../flags/period.ts"
import { onFlag, whole } from "../flags/values.ts"
import { counted, countedPunches, formatHours, formatShortTime, formatTime } from "../print/format.ts"
import { jsonEnd } from "../print/machine.ts"
import { printError, printWarning } from "../print/messages.ts"
import { printCells, printText, screen } from "../print/output.ts"
import { makeProgress } from "../print/progress.ts"
import { type Column, makeTable } from "../print/table.ts"
import { makeVerb } from "../verb.ts"

/** The forms of its result. */
const forms = ["table", "json", ...fileFormats] as const

const listFlags = {
  ...sourceFlags,
  ...filterFlags,
  ...periodFlags,
  ...formatFlags(forms, "table for people; json (an array), ndjson and csv have every field"),
  ...csvFlags,
  ...outputFlags,
  names: namesFlag,
  open: onFlag("open", "Only punches without a clock-out: who is clocked in"),
  limit: whole("limit", "N", "Stop after this many punches", 1),
  cursor: cursorFlag
}

type ListInput = Command.Command.Config.Infer<typeof listFlags>

export const verb = makeVerb("list", listFlags, (input) => listPunches(input), {
  text: `Print the punches of a company, in the service's order.

  If the listing fails or is interrupted, a line on standard error has the
  --cursor to resume it with. From a copy it needs no credential: by clock-in,
  as they all were at one time.`,
  examples: [
    ["list --limit 20", "A first look"],
    ["list --location-id 301 --week 2026-03-02 --zone America/New_York", "A week of one location, in its local time"],
    ["list --last 7d --zone-file zones.csv", "Each location by its own clock"],
    ["list --open --last 2d --zone America/New_York", "Who is clocked in now"],
    ["list --approved false --format ndjson", "Unapproved punches, for jq"],
    ["list --user-id 501 --last 7d --zone America/New_York --database punches.db", "From a copy, without a request"],
    ["list --flags late,missed_break --format csv", "Flagged punches, for a spreadsheet"]
  ]
})

/** How many punches are passed over first: an assistant asks for a part of them at a time. */
export const PassedOver = Context.Reference<number>("effect-time-punches/cli/PassedOver", { defaultValue: () => 0 })

const listPunches = Effect.fnUntraced(
  function*(input: ListInput) {
    const flags = yield* resolvePeriod(input)
    const filter = yield* toFilter(flags)
    const { format, names, pages, service, style } = yield* open(flags, forms, openSource(flags))
    const extra = names && nameColumns(names)
    const most = Option.getOrElse(flags.limit, () => Infinity)
    // With several zones, not every punch of a page is in the period of its location.
    const usualSize = flags.open || Option.isSome(flags.locations) ? maxPageSize : Math.min(most, maxPageSize)
    const { add, totals } = yield* makeProgress({
      printsResults: true,
      window: { clockedIn: filter.clockedIn, zone: flags.zone }
    })
    let passedOver = yield* PassedOver
    const table = makeTable(columnsOf(flags, names), yield* screen)
    let next = flags.cursor
    let isPrinting = false
    const file = fileOf(flags.output)
    const hintAt = (cursor: typeof next) =>
      Option.isSome(file)
        ? [
          `${printable(file.value)} was not written${
            Option.isSome(service) ? "; time-punches export resumes where it stopped" : ""
          }.`
        ]
        : Option.isSome(cursor)
        ? [...resumeHint(cursor), ...fixedWindowHint(flags)]
        : []

    yield* pages(filter, { usualSize, cursor: flags.cursor }).pipe(
      Stream.mapEffect((page) =>
        Effect.map(Effect.fromResult(keptOf(page.items, flags)), (all) => {
          const wanted = flags.open ? all.filter(({ clockedOut }) => Option.isNone(clockedOut)) : all
          const kept = wanted.slice(passedOver)
          passedOver -= wanted.length - kept.length
          return { ...page, kept }
        })
      ),
      // The page that reaches --limit is the last request.
      Stream.takeUntil(({ kept }) => totals().punches + kept.length >= most),
      Stream.tap(Effect.fnUntraced(function*({ items, kept, next: after }) {
        const { pages, punches } = totals()
        const taken = kept.slice(0, most - punches)
        // Titles have the width of the first rows, so they wait for one.
        const isTitled = taken.length > 0 || items.length === 0
        const text = format === "table"
          ? (isTitled ? table.lines(taken) : []).map((line) => `${line}\n`).join("")
          : yield* format === "json"
            ? jsonText(taken, punches, extra)
            : pageText(taken, format, pages === 0, style, extra)
        isPrinting = true
        yield* (format === "csv" ? printCells(Stream.make(text)) : printText(text))
        isPrinting = false
        next = after
        yield* add(taken.length, items)
      })),
      Stream.runDrain,
      mapToCommandFailure((error) =>
        Effect.succeed(
          // Nothing is printed of the page with that location.
          error._tag === "MissingDayRule" ? hintAt(next) : "resumeFrom" in error ? hintAt(error.resumeFrom) : []
        )
      ),
      Effect.onInterrupt(() => {
        const { pages, punches } = totals()
        const count = countedPunches(punches)
        return printWarning(
          `interrupted after ${Option.isSome(service) ? `${counted(pages, "page")}, ` : ""}${count}`,
          // A slow reader has an unknown part of the page that was just printed.
          ...(isPrinting && Option.isNone(file) && Option.isSome(service)
            ? [`A part of the next page may be printed too: keep the first ${count} before you append.`]
            : []),
          ...hintAt(next)
        )
      })
    )
    if (format === "json") yield* printText(`${jsonEnd(totals().punches)}\n`)
    if (totals().punches === 0) yield* printError("no punch matches")
  },
  Effect.scoped,
  intoOutput
)

/** What a person must know of a punch before its hours are believed. */
const marksOf = (punch: TimePunch): string =>
  (punch.deleted ? "(deleted) " : "") +
  (punch.autoClockedOut ? "(auto clock-out) " : "") +
  (WorkedTime.measure(punch).anomalies.includes("NothingPaid") ? "(nothing paid) " : "")

const columnsOf = (
  { zoneOf }: LocalPeriod,
  names: Names | undefined
): ReadonlyArray<Column<TimePunch>> => {
  const hasNames = names !== undefined
  const outOf = ({ clockedOut }: TimePunch, format: (at: DateTime.Utc) => string) =>
    Option.match(clockedOut, { onNone: () => "open", onSome: format })
  return [
    { title: "id", align: "right", cell: (punch) => `${punch.id}` },
    ...idColumns<TimePunch>("user", names, ({ userId }) => Option.some(userId), { id: hasNames ? 3 : undefined }),
    ...idColumns<TimePunch>("location", names, ({ locationId }) => Option.some(locationId), { id: 2, name: 5 }),
    ...idColumns<TimePunch>("role", names, ({ roleId }) => Option.some(roleId), { id: 1, name: 4 }),
    {
      title: "clocked_in",
      cell: (punch) => formatTime(punch.clockedIn, zoneOf(punch)),
      short: (punch) => formatShortTime(punch.clockedIn, zoneOf(punch))
    },
    {
      title: "clocked_out",
      cell: (punch) => outOf(punch, (at) => formatTime(at, zoneOf(punch))),
      short: (punch) => outOf(punch, (at) => formatShortTime(at, zoneOf(punch)))
    },
    {
      title: "net",
      align: "right",
      cell: (punch) =>
        Option.match(WorkedTime.measure(punch).durations, { onNone: () => "?", onSome: ({ net }) => formatHours(net) }),
      warns: (punch) => Option.isNone(WorkedTime.measure(punch).durations)
    },
    { title: "approved", cell: (punch) => punch.approved ? "yes" : "no", dropOrder: hasNames ? 6 : undefined },
    { title: "notes", maxWidth: 40, minWidth: 10, cell: (punch) => marksOf(punch) + punch.notes }
  ]
}
