/** `time-punches list`: prints punches page by page, as a table, NDJSON or CSV. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { formatInstant } from "../../internal/wire/instant.ts"
import { maxPageSize } from "../../listing/request.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { TimePunches } from "../../TimePunches.ts"
import * as WorkedTime from "../../WorkedTime.ts"
import { mapToCommandFailure } from "../failure.ts"
import { companyFlags, companyOf, layerClient } from "../flags/connection.ts"
import { filterFlags, toFilter } from "../flags/filter.ts"
import { fromFlag, makePageSizeFlag, resumeHint, takeFlag } from "../flags/paging.ts"
import { counted, countedPunches, formatHours } from "../terminal/format.ts"
import { print, printError } from "../terminal/output.ts"
import { makeProgress } from "../terminal/progress.ts"
import { type Column, makeTable } from "../terminal/table.ts"
import { pageText } from "./pageText.ts"

const format = Flag.Literals("format", ["table", "ndjson", "csv"]).pipe(
  Flag.withDescription("table for people; ndjson and csv are complete (default: table)"),
  Flag.withDefault("table")
)

export const list = Command.make(
  "list",
  { ...companyFlags, ...filterFlags, format, take: takeFlag, pageSize: makePageSizeFlag(), from: fromFlag },
  Effect.fnUntraced(
    function*(flags) {
      const company = yield* companyOf(flags)
      const filter = yield* Effect.fromResult(toFilter(flags))
      const most = Option.getOrElse(flags.take, () => Infinity)
      const pageSize = Option.getOrElse(flags.pageSize, () => Math.min(most, maxPageSize))
      const { add, totals } = yield* makeProgress({ printsResults: true })
      const client = yield* TimePunches
      const table = makeTable(columns)
      let next = flags.from

      yield* client.pages(company, filter, { pageSize, from: flags.from }).pipe(
        // The page that reaches --take is the last request.
        Stream.takeUntil(({ items }) => totals().punches + items.length >= most),
        Stream.tap(Effect.fnUntraced(function*({ cursor, items }) {
          const { pages, punches } = totals()
          const taken = items.slice(0, most - punches)
          const text = flags.format === "table"
            ? table.lines(taken).map((line) => `${line}\n`).join("")
            : yield* pageText(taken, flags.format, pages === 0)
          if (text !== "") yield* print(Stream.make(text))
          next = cursor.next
          yield* add(taken.length)
        })),
        Stream.runDrain,
        mapToCommandFailure((error) => Effect.succeed("resumeFrom" in error ? resumeHint(error.resumeFrom) : [])),
        Effect.onInterrupt(() => {
          const { pages, punches } = totals()
          return printError(
            `interrupted after ${counted(pages, "page")}, ${countedPunches(punches)}`,
            ...resumeHint(next)
          )
        })
      )
      if (totals().punches === 0) yield* printError("no punch matches")
    },
    Effect.scoped
  )
).pipe(
  Command.provide(layerClient),
  Command.withDescription("Print the punches of a company, in the service's order."),
  Command.withShortDescription("Print punches"),
  Command.withExamples([
    { command: "time-punches list --take 20", description: "A first look" },
    {
      command:
        "time-punches list --location-id 301 --clocked-in-gte 2026-03-02T00:00:00Z --clocked-in-lt 2026-03-09T00:00:00Z",
      description: "A week of one location"
    },
    { command: "time-punches list --approved false --format ndjson", description: "Unapproved punches, for jq" },
    {
      command: "time-punches list --flags late,missed_break --format csv",
      description: "Flagged punches, for a spreadsheet"
    }
  ])
)

const instant = (at: DateTime.Utc): string => formatInstant(at.epochMilliseconds)

const columns: ReadonlyArray<Column<TimePunch>> = [
  { title: "id", align: "right", cell: (punch) => `${punch.id}` },
  { title: "user_id", align: "right", cell: (punch) => `${punch.userId}` },
  { title: "location_id", align: "right", cell: (punch) => `${punch.locationId}` },
  { title: "role_id", align: "right", cell: (punch) => `${punch.roleId}` },
  { title: "clocked_in", cell: (punch) => instant(punch.clockedIn) },
  { title: "clocked_out", cell: (punch) => Option.match(punch.clockedOut, { onNone: () => "open", onSome: instant }) },
  {
    title: "net",
    align: "right",
    cell: (punch) =>
      Option.match(WorkedTime.of(punch).durations, { onNone: () => "?", onSome: ({ net }) => formatHours(net) })
  },
  { title: "approved", cell: (punch) => punch.approved ? "yes" : "no" },
  { title: "notes", maxWidth: 40, cell: (punch) => (punch.deleted ? "(deleted) " : "") + punch.notes }
]
