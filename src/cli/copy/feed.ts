/** `time-punches copy feed`: tells what changes in a copy with a history. Sends nothing. */
import * as Arr from "effect/Array"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { toVersion } from "../../export/rows.ts"
import { escaped, printable } from "../../internal/text/printable.ts"
import { columnNames } from "../../internal/wire/columnOrder.ts"
import { differingColumns } from "../../sql/columns.ts"
import type { FeedEvent } from "../../sql/feedEvent.ts"
import { FeedKind, FeedPosition } from "../../sql/feedPosition.ts"
import type { HistoryUnavailable } from "../../sql/known.ts"
import * as PunchCopy from "../../sql/PunchCopy.ts"
import { openCopy, refuseFuture } from "../database/copy.ts"
import { databaseFlag, databaseWords } from "../database/database.ts"
import { open } from "../database/open.ts"
import { differencesOf, type PunchDisplay, shortened } from "../database/punchFields.ts"
import { failure, usage } from "../failure.ts"
import { companyFlags, companyWords } from "../flags/connection.ts"
import { formatFlag } from "../flags/form.ts"
import { fileFlag, intervalForm, readInstant, readInterval, text, words } from "../flags/values.ts"
import { counted, formatTime } from "../print/format.ts"
import { printHint, printWarning, startReport } from "../print/messages.ts"
import { outputWidth, printText, StdoutFile } from "../print/output.ts"
import { wrap } from "../print/table.ts"
import { makeVerb } from "../verb.ts"
import { openState } from "./feedState.ts"

/** The fields that an event can show as different. */
const { companyId: _company, id: _id, ...fields } = columnNames

const readPosition = Schema.decodeUnknownOption(FeedPosition)

/** A JSON object an event, or a line for people. */
const forms = ["ndjson", "table"] as const

const feedFlags = {
  ...companyFlags,
  database: databaseFlag,
  after: text(
    "after",
    "POSITION|now",
    "Begin after the event at this position, or with what changes from now on (default: with the state of the copy)",
    "the position of an event, such as 4021/2026-03-09T15:00:00.123Z/451, or now",
    (value): Option.Option<FeedPosition | "now"> => value === "now" ? Option.some(value) : readPosition(value)
  ),
  since: text(
    "since",
    "INSTANT|now",
    "Begin with what changed after this instant, without the state of the copy",
    "an RFC 3339 instant with a zone, such as 2026-03-09T15:00:00Z, or now",
    (value): Option.Option<DateTime.Utc | "now"> => value === "now" ? Option.some(value) : readInstant(value)
  ),
  follow: text(
    "follow",
    "TIME",
    "Wait for further changes, and end only when interrupted: look for them each second, or with =5s less often",
    intervalForm("5s"),
    readInterval,
    "1s"
  ),
  state: fileFlag(
    "state",
    "Keep the position of the last printed event in this file; a run begins there if the file exists"
  ),
  kind: words("kind", FeedKind.literals, "Print only events of these kinds, such as edited,deleted", "KINDS"),
  changed: words(
    "changed",
    Object.values(fields),
    "Print only events whose two versions differ in one of these fields, such as approved,clocked_out",
    "FIELDS"
  ),
  format: Flag.optional(formatFlag(forms, "One JSON object an event, or a line for people"))
}

type FeedInput = Command.Command.Config.Infer<typeof feedFlags>

export const verb = makeVerb("feed", feedFlags, (input) => printFeed(input), {
  text: `Tell what changes in a copy, one line for each punch that a commit changed.

  It reads a copy that time-punches copy sync --history keeps, and sends
  nothing. It begins with the state of the copy, each punch as present, and
  continues with what was added, edited, touched (only modified differs),
  deleted, undeleted, missing (the service no longer shows it) or back. With
  --follow it waits for more. --since TIME leaves the state out, and begins with
  what changed after that time.

  Each line has a position. A run with --after POSITION begins with the next
  event. --state FILE keeps the position of the last line that is on disk, for
  output that is appended to a file: after a kill or a power cut, the next run
  repeats lines and omits none. A program behind a pipe keeps the position of
  the last line that it has handled, and begins with --after.`,
  examples: [
    ["copy feed --database punches.db --after now --follow --format table", "Watch what changes"],
    [
      "copy feed --database punches.db --since 2026-03-09T15:00:00Z --kind edited --changed approved",
      "Whose approval changed since then"
    ],
    [
      "copy feed --database punches.db --follow --state feed.json >> changes.ndjson",
      "Everything into a file, also after a restart"
    ],
    [
      "copy feed --database punches.db --after now --follow --kind edited --changed approved",
      "Only punches whose approval changed"
    ]
  ]
})

const printFeed = Effect.fnUntraced(function*(input: FeedInput) {
  const { address, company, format, layer } = yield* open(
    input,
    forms,
    openCopy(input, {
      command: "copy feed",
      why: ["The service does not tell what changes; a copy that is synced with --history does."]
    })
  )
  if (Option.isSome(input.after) && Option.isSome(input.since)) {
    return yield* usage("--since goes without --after", "Give one of them.")
  }
  const lineOf = format === "ndjson" ? jsonLine : tableLine(yield* outputWidth)
  const follow = Option.getOrUndefined(input.follow)
  yield* Effect.gen(function*() {
    const state = Option.isNone(input.state)
      ? undefined
      : yield* openState(input.state.value, company, address)
    const given = Option.getOrUndefined(Option.orElse(input.after, () => input.since))
    if (state?.start === undefined && DateTime.isDateTime(given)) yield* refuseFuture(company, given)
    const after = state?.start ?? (given === "now"
      ? yield* PunchCopy.feedPosition(company, { follow })
      : DateTime.isDateTime(given)
      ? yield* PunchCopy.feedPosition(company, { since: given, follow })
      : given)
    // An answer without lines would say that nothing was edited.
    const isWarned = after === undefined && !selectsState(input)
    if (isWarned) {
      yield* printWarning(
        `the run begins with the state of the copy, whose events are all present: ${
          selectionWords(input).join(" ")
        } selects none of them; --since TIME begins with what changed`
      )
    }
    const stdoutFile = yield* StdoutFile
    if (state !== undefined) {
      const file = yield* stdoutFile
      // A run that was killed has left a line without its end: the first event would become a part of it.
      if (file !== undefined && ((yield* file.isCut) ?? file.size > state.size)) yield* printText("\n")
    }
    const save = Effect.fnUntraced(function*(position: FeedPosition | undefined) {
      if (state === undefined) return
      const file = yield* stdoutFile
      // What the position vouches for is on disk first.
      if (file !== undefined) yield* file.sync
      yield* state.save(position, file?.size)
    })
    yield* save(after)
    let last = after
    let printed = 0
    const { clear, show } = yield* startReport({ printsResults: true })
    yield* PunchCopy.feed(company, { after, follow }).pipe(
      Stream.chunks,
      Stream.runForEach(Effect.fnUntraced(function*(events) {
        const asked = events.filter((event) => isAsked(event, input))
        yield* printText((yield* Effect.fromResult(Result.all(asked.map(lineOf)))).join(""))
        last = Arr.lastNonEmpty(events).position
        printed += asked.length
        yield* save(last)
        yield* show(() => ({ text: counted(printed, "event"), fields: feedFields(printed, last) }))
      })),
      Effect.ensuring(clear),
      Effect.onInterrupt(() => printWarning("interrupted", ...resumeHint(input, last)))
    )
    if (printed === 0 && state === undefined && !isWarned) yield* printHint("no event matches")
  }).pipe(
    Effect.catchTag("HistoryUnavailable", (error) => Effect.fail(describe(error, input))),
    Effect.provide(layer)
  )
})

/** The progress of a feed, in a message as JSON. */
export const feedFields = (events: number, position: FeedPosition | undefined) => ({ events, position })

const selectionWords = ({ changed, kind }: FeedInput): ReadonlyArray<string> => [
  ...Option.toArray(Option.map(kind, (kinds) => `--kind ${kinds.join(",")}`)),
  ...Option.toArray(Option.map(changed, (fields) => `--changed ${fields.join(",")}`))
]

/** Whether the flags select the events of a state, which are all present. */
const selectsState = ({ changed, kind }: FeedInput): boolean =>
  Option.isNone(changed) && Option.getOrElse(kind, () => FeedKind.literals).includes("present")

const isAsked = (event: FeedEvent, { changed, kind }: FeedInput): boolean =>
  Option.match(kind, { onNone: () => true, onSome: (kinds) => kinds.some((each) => each === event.kind) }) &&
  Option.match(changed, {
    onNone: () => true,
    onSome: (fields) => changedFields(event).some((name) => fields.some((field) => field === name))
  })

const changedFields = ({ after, before }: FeedEvent): ReadonlyArray<string> =>
  Option.match(Option.all([before, after]), {
    onNone: () => [],
    onSome: ([one, other]) => differingColumns(one, other)
  })

/** Instants in UTC, as in the JSON. */
const display: PunchDisplay = { zoneOf: () => Option.none(), names: undefined, asOf: undefined }

const jsonLine = (event: FeedEvent) => {
  const { after, at, before, companyId, kind, position, punchId, userId } = event
  return Result.map(
    Result.all([toVersion(before, undefined), toVersion(after, undefined)]),
    ([before, after]) =>
      `${
        JSON.stringify({
          position,
          at: DateTime.formatIso(at),
          kind,
          companyId,
          punchId,
          userId,
          changed: changedFields(event),
          before,
          after
        })
      }\n`
  )
}

const tableLine = (width: number) => ({ after, at, before, kind, punchId, userId }: FeedEvent) => {
  const change = { before, after, kind: kind === "present" ? "added" : kind === "touched" ? "edited" : kind } as const
  const differences = differencesOf(change, display).map(shortened).map(({ after, before, field }) =>
    `${field} ${[before, after].filter((text) => text !== "").join(" -> ") || "empty"}`
  )
  const what = differences.length === 0 || kind === "missing" ? "" : `: ${differences.join(", ")}`
  const line = `${formatTime(at, Option.none())} ${kind.padEnd(9)} punch ${punchId}, user ${userId}${what}`
  return Result.succeed(`${wrap(escaped(line), width - indent.length).join(`\n${indent}`)}\n`)
}

const indent = " ".repeat(4)

const resumeHint = (input: FeedInput, last: FeedPosition | undefined): ReadonlyArray<string> => {
  const { company, database, follow, format, state } = input
  if (Option.isSome(state)) return ["The same command continues after the last printed event."]
  return last === undefined
    ? []
    : [[
      `To continue: time-punches copy feed${companyWords(company)}${databaseWords(database)} --after ${last}`,
      ...Option.toArray(Option.map(follow, (interval) => `--follow=${Duration.toSeconds(interval)}s`)),
      ...selectionWords(input),
      ...Option.toArray(Option.map(format, (form) => `--format ${form}`))
    ].join(" ")]
}

/** The copy of a position is not known: no later run of the same command can do better. */
const describe = (error: HistoryUnavailable, { after, since, state }: FeedInput) => {
  const flag = Option.isSome(since) ? "--since" : "--after"
  const again = Option.match(state, {
    onNone: () =>
      `${Option.isSome(since) ? "Give a later time. " : ""}Without ${flag} it begins with the state of the copy.`,
    onSome: (file) =>
      Option.isSome(after) || Option.isSome(since)
        ? `Remove ${printable(file)}, and run without ${flag}: the run begins with the state of the copy.`
        : `Remove ${printable(file)}: the next run begins with the state of the copy.`
  })
  return Option.isSome(error.since) ? failure("data", printable(error.message), again) : failure(
    "data",
    `the copy has no history of company ${error.companyId}`,
    "Run time-punches copy sync --history: from the end of its first load on, the copy keeps what it replaces."
  )
}
