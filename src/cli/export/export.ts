/** `time-punches export`: writes every matching punch to a file, and resumes an interrupted run. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { ApiVersion } from "../../ApiVersion.ts"
import { Endpoints } from "../../Endpoints.ts"
import type { CompanyId } from "../../Ids.ts"
import { open } from "../database/open.ts"
import { openSource, sourceFlags } from "../database/source.ts"
import { mapToCommandFailure } from "../describe.ts"
import { type ExpectedError, usage } from "../failure.ts"
import { describeFilter, filterFlags, toFilter } from "../flags/filter.ts"
import { csvFlags, type FileFormat, fileFormats, formatFlag } from "../flags/form.ts"
import { fileOf, forceNeedsFile, intoOutput, outputFlags, requiredOutput } from "../flags/output.ts"
import { pageText } from "../flags/pageText.ts"
import { cursorFlag } from "../flags/paging.ts"
import { isPeriodGiven, keptOf, type LocalPeriod, periodFlags, resolvePeriod } from "../flags/period.ts"
import { describeZones } from "../flags/zones.ts"
import { counted, countedPunches, formatNumber } from "../print/format.ts"
import { printHint, printWarning } from "../print/messages.ts"
import { print, printCells } from "../print/output.ts"
import { makeProgress } from "../print/progress.ts"
import { layerTelemetry } from "../telemetry/telemetry.ts"
import { makeVerb } from "../verb.ts"
import {
  type ExportProgress,
  type ExportSpec,
  openCheckpoint,
  replaceUnfinished,
  standardOutput
} from "./checkpoint.ts"

const exportFlags = {
  ...sourceFlags,
  ...filterFlags,
  ...periodFlags,
  format: Flag.optional(formatFlag(fileFormats, "One JSON object a line, or columns for a spreadsheet")),
  ...csvFlags,
  output: requiredOutput,
  force: Flag.withDescription(
    outputFlags.force,
    "Replace the file if it exists, and discard an unfinished export to it"
  ),
  cursor: cursorFlag
}

type ExportInput = Command.Command.Config.Infer<typeof exportFlags>

export const verb = makeVerb("export", exportFlags, (input) => exportPunches(input), {
  text: `Write the punches of a company to a file.

  Rows are collected in FILE.part, and FILE.resume.json records the progress
  about every second. To resume an interrupted export, run the same command
  again: it writes the same file as an uninterrupted run. FILE appears at the
  end. One that exists is replaced only with --force, and keeps its rights;
  only you may read a new FILE. --output - prints the rows, and saves nothing.

  An export of a copy has the rows of one time, by clock-in. It is whole or not
  at all: it saves no progress, and starts from the beginning each time.`,
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
    ],
    ["export --output punches.csv --database punches.db", "A copy, without a request"]
  ]
})

const exportPunches = Effect.fnUntraced(
  function*(input: ExportInput) {
    const flags = yield* resolvePeriod(input)
    const output = fileOf(Option.some(input.output))
    if (input.force && Option.isNone(output)) return yield* forceNeedsFile
    if (Option.isSome(flags.dayRule) && !isPeriodGiven(flags)) {
      const flag = Option.isSome(flags.zone) ? "--zone" : "--zone-file"
      return yield* usage(`${flag} goes with a period, such as --week; the times in the file are in UTC`)
    }
    const filter = yield* toFilter(flags)
    const { company, format, pages, service, style } = yield* open({ ...flags, output }, fileFormats, openSource(flags))
    const shown = Option.getOrElse(output, () => "standard output")
    /** The file that an interrupted run may resume: with the rows of another time, a copy would be of none. */
    const resumed = Option.isSome(service) ? output : Option.none()
    const unfinished = Option.isNone(service) && Option.isSome(output)
      ? yield* replaceUnfinished(output.value, input.force)
      : { remove: Effect.void }
    const listed = Effect.gen(function*() {
      const checkpoint = yield* Option.match(Option.all([resumed, service]), {
        onNone: () => standardOutput(format === "csv" ? printCells : print),
        onSome: ([file, service]) =>
          Effect.flatMap(
            Effect.provideContext(specOf(flags, format, company.id), service),
            (spec) => openCheckpoint(file, spec, flags.force)
          )
      })
      yield* Effect.addFinalizer(() => checkpoint.abandon)
      const { saved, start } = checkpoint
      const progress = yield* makeProgress({
        printsResults: Option.isNone(output),
        resumed: start,
        window: { clockedIn: filter.clockedIn, zone: flags.zone }
      })

      if (start.complete) {
        yield* checkpoint.finish
        return `${sizeOf(start)}; all were saved by an earlier run`
      }
      const isResumed = start.pages > 0
      if (isResumed) yield* printHint(`resuming after ${sizeOf(start)}`)
      const cursor = isResumed ? start.cursor : flags.cursor

      const listing = pages(filter, { cursor, prefetchPages: 1 }).pipe(
        Stream.runForEach(Effect.fnUntraced(function*({ items, next }) {
          const kept = yield* Effect.fromResult(keptOf(items, flags))
          const text = yield* pageText(kept, format, progress.totals().pages === 0, style)
          yield* checkpoint.append({ text, punches: kept.length, next })
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
                printWarning(
                  ...(Option.isNone(output)
                    ? ["interrupted"]
                    : interrupted(problem, Option.isSome(service) ? progress : start))
                ))
            )
          )
        ),
        Effect.andThen(checkpoint.finish),
        mapToCommandFailure((error) =>
          Effect.map(saved, (progress) => Option.isNone(resumed) ? [] : resumeHint(error, progress))
        )
      )
      yield* unfinished.remove
      const size = yield* saved
      return Option.isSome(service)
        ? sizeOf(size)
        : `${countedPunches(size.punches)}, ${formatNumber(size.bytes)} bytes`
    })
    const into = { output: Option.some(input.output), force: input.force }
    const said = yield* Option.isSome(service) ? listed : intoOutput(listed, into)
    yield* printHint(`${shown}: ${said}`)
  },
  Effect.scoped,
  Effect.provide(layerTelemetry())
)

/**
 * Everything that decides the bytes of the file. The page size and the kind of credential do not. A period is in it as the
 * window that it was resolved to, so that `--last 7d` and `--week last` of another day are another export; by several zones
 * also as the period by each clock.
 */
const specOf = Effect.fnUntraced(function*(flags: ExportInput & LocalPeriod, format: FileFormat, company: CompanyId) {
  const { baseUrl } = yield* Endpoints
  const version = yield* ApiVersion
  return {
    "base URL": baseUrl,
    "API version": Option.getOrElse(version, () => "token default"),
    "--company": `${company}`,
    "--format": format,
    ...(flags.excel ? { "--excel": "given" } : {}),
    // A default is not written: a comma that is given makes the same file.
    ...(Option.contains(flags.separator, ";") ? { "--separator": "semicolon" } : {}),
    ...(Option.contains(flags.formulas, "keep") ? { "--formulas": "keep" } : {}),
    ...Option.match(flags.cursor, { onNone: () => ({}), onSome: (cursor) => ({ "--cursor": cursor }) }),
    ...describeFilter(flags),
    ...Option.match(Option.all([flags.locations, flags.period]), {
      onNone: () => ({}),
      onSome: ([locations, period]) => describeZones(locations, period)
    })
  } satisfies ExportSpec
})

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
  if (error._tag === "MissingDayRule") return progress.bytes === 0 ? [] : ["Then start over, with --force."]
  const repeats = error._tag === "UnprocessableEntity" || error._tag === "PaginationError" ||
    error._tag === "DecodeError"
  return repeats && progress.bytes > 0
    ? [...savedHint(progress), "If it fails there again, --force starts over."]
    : savedHint(progress)
}
