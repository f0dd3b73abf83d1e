/** `time-punches export`: every matching punch into a file, which a run that was broken off can go on with. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { ApiVersion } from "../../ApiVersion.ts"
import { Endpoints } from "../../Endpoints.ts"
import { TimePunches } from "../../TimePunches.ts"
import { explainedWith, type Foreseen } from "../failure.ts"
import { companyFlags, companyOf, layerClient } from "../flags/connection.ts"
import { describeFilter, filterFlags, toFilter } from "../flags/filter.ts"
import { fromFlag, pageSizeFlag } from "../flags/paging.ts"
import { tell } from "../terminal/output.ts"
import { counted, countedPunches, makeProgress, number } from "../terminal/progress.ts"
import { openCheckpoint, type Place } from "./checkpoint.ts"
import { toText } from "./pageText.ts"

const format = Flag.Literals("format", ["ndjson", "csv"]).pipe(
  Flag.withDescription("One JSON object a line, or columns for a spreadsheet (default: ndjson)"),
  Flag.withDefault("ndjson")
)

const output = Flag.String("output").pipe(
  Flag.withAlias("o"),
  Flag.withMetavar("FILE"),
  Flag.withDescription("The file; it appears, or is replaced, when the export is complete"),
  Flag.filter((file) => file.trim() !== "", () => "the name of a file")
)

const force = Flag.Boolean("force").pipe(
  Flag.withDescription("Throw an unfinished export to this file away and start anew"),
  Flag.withoutNegation,
  Flag.withDefault(false)
)

export const exportCommand = Command.make(
  "export",
  { ...companyFlags, ...filterFlags, format, output, force, pageSize: pageSizeFlag, from: fromFlag },
  Effect.fnUntraced(
    function*(flags) {
      const company = yield* companyOf(flags)
      const filter = yield* Effect.fromResult(toFilter(flags))
      const checkpoint = yield* openCheckpoint(flags.output, yield* questionOf(flags, company.id), flags.force)
      const { begin } = checkpoint
      yield* Effect.addFinalizer(() => checkpoint.abandon)
      const progress = yield* makeProgress(true, begin.punches)
      const client = yield* TimePunches

      if (begin.complete) {
        yield* checkpoint.finish
        return yield* tell(`${flags.output}: ${summary(begin)}; they were complete already`)
      }
      if (begin.pages > 0) yield* tell(`going on after ${summary(begin)}`)
      const from = begin.pages > 0 ? begin.cursor : flags.from
      const pageSize = Option.getOrUndefined(flags.pageSize)
      let { pages, punches } = begin

      yield* client.pages(company, filter, { pageSize, from, prefetchPages: 1 }).pipe(
        Stream.runForEach(Effect.fnUntraced(function*({ cursor, items }) {
          const text = yield* toText(items, flags.format, pages === 0)
          pages += 1
          punches += items.length
          yield* checkpoint.append(text, { pages, punches, cursor: cursor.next, complete: Option.isNone(cursor.next) })
          yield* progress.at(pages, punches)
        })),
        Effect.andThen(checkpoint.finish),
        explainedWith((error) => Effect.map(checkpoint.place, (place) => goOn(error, place))),
        Effect.onInterrupt(() => Effect.flatMap(checkpoint.place, (place) => tell("interrupted", ...kept(place))))
      )
      yield* tell(`${flags.output}: ${summary(yield* checkpoint.place)}`)
    },
    Effect.scoped
  )
).pipe(
  Command.provide(layerClient),
  Command.withDescription(
    `Write the punches of a company to a file.

  The rows gather in FILE.part; FILE.resume.json notes after every page how far they are. Broken off at any moment, the
  same command goes on from there, and the file is the same as that of an undisturbed run. FILE is touched last.`
  ),
  Command.withShortDescription("Write punches to a file, resumably"),
  Command.withExamples([
    { command: "time-punches export --output punches.ndjson", description: "Everything" },
    {
      command:
        "time-punches export --format csv --output march.csv --business-date-start 2026-03-01 --business-date-end 2026-03-31",
      description: "A month for a spreadsheet"
    },
    {
      command: "time-punches export --deleted include --modified-since 2026-03-20T00:00:00Z --output changes.ndjson",
      description: "What changed, deletions with it"
    }
  ])
)

/** What decides the bytes of the file. The size of a page and the kind of credential do not. */
const questionOf = Effect.fnUntraced(function*(
  flags: Parameters<typeof describeFilter>[0] & {
    readonly format: string
    readonly from: Option.Option<string>
  },
  companyId: number
) {
  const { baseUrl } = yield* Endpoints
  const version = yield* ApiVersion
  return {
    "base URL": baseUrl,
    "API version": Option.getOrElse(version, () => "token default"),
    "--company": `${companyId}`,
    "--format": flags.format,
    ...Option.match(flags.from, { onNone: () => ({}), onSome: (from) => ({ "--from": from }) }),
    ...describeFilter(flags)
  }
})

const summary = ({ bytes, pages, punches }: Place): string =>
  `${countedPunches(punches)}, ${counted(pages, "page")}, ${number.format(bytes)} bytes`

const kept = (place: Place): ReadonlyArray<string> =>
  place.pages === 0 ? [] : [`${summary(place)} are kept. To go on, run the same command again.`]

/** What may fail again at the same place needs another way out. */
const goOn = (error: Foreseen, place: Place): ReadonlyArray<string> => {
  const stuck = error._tag === "UnprocessableEntity" || error._tag === "PaginationError" || error._tag === "DecodeError"
  return stuck && place.pages > 0
    ? [...kept(place), "If it fails there again, --force starts anew."]
    : kept(place)
}
