/** `time-punches export`: writes every matching punch to a file, and resumes an interrupted run. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { ApiVersion } from "../../ApiVersion.ts"
import { Endpoints } from "../../Endpoints.ts"
import type { CompanyId } from "../../Ids.ts"
import { TimePunches } from "../../TimePunches.ts"
import { mapToCommandFailure } from "../describe.ts"
import { type ExpectedError, usage } from "../failure.ts"
import { fileOf, forceNeedsFile, outputFlags, requiredOutput } from "../files/output.ts"
import { pageText } from "../files/pageText.ts"
import { layerClient } from "../flags/client.ts"
import { companyFlags, companyOf, limitFlags } from "../flags/connection.ts"
import { describeFilter, filterFlags, toFilter } from "../flags/filter.ts"
import { cursorFlag, makePageSizeFlag } from "../flags/paging.ts"
import { csvFlags, csvStyleOf, type FileFormat, fileFormats, formatFlag, formatOf } from "../flags/values.ts"
import { describeZones } from "../flags/zones.ts"
import { counted, countedPunches, formatNumber } from "../print/format.ts"
import { printHint, printWarning } from "../print/messages.ts"
import { print, printCells } from "../print/output.ts"
import { makeProgress } from "../print/progress.ts"
import { isPeriodGiven, keptOf, type LocalPeriod, resolvePeriod } from "../select/period.ts"
import { periodFlags } from "../select/periodFlags.ts"
import { layerTelemetry } from "../telemetry/telemetry.ts"
import { makeVerb } from "../verb.ts"
import { type ExportProgress, type ExportSpec, openCheckpoint, standardOutput } from "./checkpoint.ts"

const exportFlags = {
  ...companyFlags,
  ...limitFlags,
  ...filterFlags,
  ...periodFlags,
  format: Flag.optional(formatFlag(fileFormats, "One JSON object a line, or columns for a spreadsheet")),
  ...csvFlags,
  output: requiredOutput,
  force: Flag.withDescription(
    outputFlags.force,
    "Replace the file if it exists, and discard an unfinished export to it"
  ),
  pageSize: makePageSizeFlag(),
  cursor: cursorFlag
}

type ExportInput = Command.Command.Config.Infer<typeof exportFlags>

export const verb = makeVerb("export", exportFlags, (input) => run(input), {
  text: `Write the punches of a company to a file.

  Rows are collected in FILE.part, and FILE.resume.json records the progress
  about every second. To resume an interrupted export, run the same command
  again: it writes the same file as an uninterrupted run. FILE appears at the
  end. One that exists is replaced only with --force, and keeps its rights;
  only you may read a new FILE. --output - prints the rows, and saves nothing.`,
  examples: [
    ["export --output punches.ndjson", "Everything"],
    ["export --output march.csv --month 2026-03 --zone America/New_York", "A month for a spreadsheet"],
    [
      "export --output week.ndjson --week 2026-03-02 --zone-file zones.csv",
      "The week of each location, by its own clock"
    ],
    [
      "export --deleted include --modified-since 2026-03-20T00:00:00Z --output changes.ndjson",
      "What changed, with deletions"
    ]
  ]
})

const run = Effect.fnUntraced(
  function*(input: ExportInput) {
    const resolved = yield* resolvePeriod(input)
    const output = fileOf(Option.some(input.output))
    if (input.force && Option.isNone(output)) return yield* forceNeedsFile
    const format = yield* Effect.fromResult(formatOf({ ...input, output }, fileFormats))
    const flags = { ...resolved, format }
    if (Option.isSome(flags.dayRule) && !isPeriodGiven(flags)) {
      const flag = Option.isSome(flags.zone) ? "--zone" : "--zone-file"
      return yield* usage(`${flag} goes with a period, such as --week; the times in the file are in UTC`)
    }
    const style = yield* Effect.fromResult(csvStyleOf(flags, format))
    const company = yield* companyOf(flags)
    const filter = yield* Effect.fromResult(toFilter(flags))
    const checkpoint = Option.isNone(output)
      ? yield* standardOutput(format === "csv" ? printCells : print)
      : yield* openCheckpoint(output.value, yield* specOf(flags, company.id), flags.force)
    const shown = Option.getOrElse(output, () => "standard output")
    yield* Effect.addFinalizer(() => checkpoint.abandon)
    const { saved, start } = checkpoint
    const progress = yield* makeProgress({
      printsResults: Option.isNone(output),
      resumed: start,
      window: { clockedIn: filter.clockedIn, zone: flags.zone }
    })
    const client = yield* TimePunches

    if (start.complete) {
      yield* checkpoint.finish
      return yield* printHint(`${shown}: ${sizeOf(start)}; all were saved by an earlier run`)
    }
    const isResumed = start.pages > 0
    if (isResumed) yield* printHint(`resuming after ${sizeOf(start)}`)
    const cursor = isResumed ? start.cursor : flags.cursor
    const pageSize = Option.getOrUndefined(flags.pageSize)

    const listing = client.pages(company, filter, { pageSize, cursor, prefetchPages: 1 }).pipe(
      Stream.runForEach(Effect.fnUntraced(function*({ cursor, items }) {
        const kept = yield* Effect.fromResult(keptOf(items, flags))
        const text = yield* pageText(kept, format, progress.totals().pages === 0, style)
        yield* checkpoint.append({ text, punches: kept.length, next: cursor.next })
        yield* progress.add(kept.length, items)
      }))
    )
    // A kill loses about a second of pages.
    const saving = Effect.forever(Effect.andThen(Effect.sleep("1 second"), checkpoint.save))
    yield* Effect.raceFirst(listing, saving).pipe(
      // Pages that were received are saved before the process ends. An interrupt after the last one stops nothing.
      Effect.catch((error) =>
        Effect.matchEffect(checkpoint.save, {
          // A disk that refuses rows refuses the note too: the first refusal names the cause.
          onFailure: (unsaved) => Effect.fail(error._tag === "PlatformError" ? error : unsaved),
          onSuccess: () => Effect.fail(error)
        })
      ),
      Effect.onInterrupt(() =>
        checkpoint.save.pipe(
          mapToCommandFailure(() => Effect.succeed([])),
          Effect.match({ onFailure: ({ message }) => [message], onSuccess: () => [] }),
          Effect.flatMap((problem) =>
            Effect.flatMap(saved, (progress) =>
              printWarning(...(Option.isNone(output) ? ["interrupted"] : interrupted(problem, progress))))
          )
        )
      ),
      Effect.andThen(checkpoint.finish),
      mapToCommandFailure((error) =>
        Effect.map(saved, (progress) => Option.isNone(output) ? [] : resumeHint(error, progress))
      )
    )
    yield* printHint(`${shown}: ${sizeOf(yield* saved)}`)
  },
  Effect.scoped,
  (run, input) => Effect.provide(run, Layer.provideMerge(layerClient(input), layerTelemetry()))
)

/**
 * Everything that decides the bytes of the file. The page size and the kind of credential do not. A period is in it as the
 * window that it was resolved to, so that `--last 7d` and `--week last` of another day are another export; by several zones
 * also as the period by each clock.
 */
const specOf = Effect.fnUntraced(function*(flags: Input & LocalPeriod, company: CompanyId) {
  const { baseUrl } = yield* Endpoints
  const version = yield* ApiVersion
  return {
    "base URL": baseUrl,
    "API version": Option.getOrElse(version, () => "token default"),
    "--company": `${company}`,
    "--format": flags.format,
    ...(flags.excel ? { "--excel": "given" } : {}),
    // The default is not written: a comma that is given makes the same file.
    ...(Option.contains(flags.separator, ";") ? { "--separator": "semicolon" } : {}),
    ...Option.match(flags.cursor, { onNone: () => ({}), onSome: (cursor) => ({ "--cursor": cursor }) }),
    ...describeFilter(flags),
    ...Option.match(Option.all([flags.locations, flags.period]), {
      onNone: () => ({}),
      onSome: ([locations, period]) => describeZones(locations, period)
    })
  } satisfies ExportSpec
})

type Input = Omit<ExportInput, "format"> & { readonly format: FileFormat }

const sizeOf = ({ bytes, pages, punches }: ExportProgress): string =>
  `${countedPunches(punches)}, ${counted(pages, "page")}, ${formatNumber(bytes)} bytes`

const savedHint = (progress: ExportProgress): ReadonlyArray<string> =>
  progress.bytes === 0 ? [] : [`${sizeOf(progress)} are saved. To resume the export, run the same command again.`]

const interrupted = (problem: ReadonlyArray<string>, progress: ExportProgress): ReadonlyArray<string> =>
  progress.bytes === 0
    ? [...problem, "interrupted: nothing was written; the same command starts from the beginning."]
    : ["interrupted", ...problem, ...savedHint(progress)]

/** An error that may repeat at the same page needs another way out. */
const resumeHint = (error: ExpectedError, progress: ExportProgress): ReadonlyArray<string> => {
  // Other zones are another export.
  if (error._tag === "MissingZone") return progress.bytes === 0 ? [] : ["Then start over, with --force."]
  const repeats = error._tag === "UnprocessableEntity" || error._tag === "PaginationError" ||
    error._tag === "DecodeError"
  return repeats && progress.bytes > 0
    ? [...savedHint(progress), "If it fails there again, --force starts over."]
    : savedHint(progress)
}
