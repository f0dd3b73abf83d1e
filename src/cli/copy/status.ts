/** `time-punches copy status`: how old and how complete a copy is. Sends nothing. */
import * as Arr from "effect/Array"
import type * as Command from "effect/cli/Command"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { CompanyId } from "../../Ids.ts"
import { escaped } from "../../internal/text/printable.ts"
import { usualSpelling } from "../../internal/wire/spelling.ts"
import type { CopyStatus } from "../../sql/CopyStatus.ts"
import * as PunchCopy from "../../sql/PunchCopy.ts"
import { blankCheckpoint, missedDeletions, versionsOf } from "../../sync/Checkpoint.ts"
import { layerCopy, requireAge } from "../database/copy.ts"
import { databaseFlag, maxAgeFlag, targetOfCopy } from "../database/database.ts"
import { isJson, makeJsonFlags } from "../flags/form.ts"
import { formatNumber, formatPast } from "../print/format.ts"
import { isoOf } from "../print/machine.ts"
import { printLines, screen } from "../print/output.ts"
import { makeTable, type Screen } from "../print/table.ts"
import { makeVerb } from "../verb.ts"
import { companiesFlags, companiesOf, nameOf, withName } from "./companies.ts"

const statusFlags = {
  ...companiesFlags,
  database: databaseFlag,
  maxAge: maxAgeFlag,
  ...makeJsonFlags("One JSON object for each company, a line each")
}

type StatusInput = Command.Command.Config.Infer<typeof statusFlags>

export const verb = makeVerb("status", statusFlags, (input) => printStatus(input), {
  text: `Print how old and how complete a copy is, and send nothing.

  With --max-age the exit code is 10 if the last complete sync run ended
  longer ago: for a monitor.`,
  examples: [
    ["copy status --database punches.db", "For people"],
    ["copy status --database punches.db --max-age 30m --json", "For a monitor"]
  ]
})

const printStatus = Effect.fnUntraced(function*(input: StatusInput) {
  const json = yield* isJson(input)
  const companies = yield* companiesOf(input)
  const { maxAge } = input
  const target = yield* targetOfCopy(input.database, "copy status")
  yield* Effect.gen(function*() {
    const statuses = yield* Effect.forEach(companies, ({ id }) => PunchCopy.status(id))
    const now = DateTime.toUtc(yield* DateTime.now)
    const fields = Arr.zipWith(companies, statuses, ({ id }, status) => statusFields(id, status, now))
    yield* printLines(json ? fields.map((each) => JSON.stringify(each)) : statusLines(fields, yield* screen))
    for (const [at, company] of companies.entries()) {
      const checkpoint = Option.flatMap(Option.fromUndefinedOr(statuses[at]), ({ checkpoint }) => checkpoint)
      const completedAt = Option.flatMap(checkpoint, ({ completedAt }) => completedAt)
      yield* requireAge(company.id, target.address, completedAt, maxAge).pipe(
        Effect.mapError((failure) => withName(nameOf(company.id, companies), failure))
      )
    }
  }).pipe(Effect.provide(layerCopy(companies[0].id, target)))
})

/** The copy of a company, as the columns of a table and the members of its JSON. */
const statusFields = (company: CompanyId, status: CopyStatus, now: DateTime.Utc) => {
  const { checkpoint, deleted, history, lastError, missing, rows, unknown } = status
  const { askedVersion, completedAt, deletions, looked, oldestVersion, running, spelling, watermark } = Option
    .getOrElse(
      checkpoint,
      () => blankCheckpoint(company, "")
    )
  return {
    company,
    watermark: isoOf(watermark),
    completedAt: isoOf(completedAt),
    ageSeconds: Option.getOrNull(
      Option.map(completedAt, (at) => Math.round(Duration.toSeconds(DateTime.distance(at, now))))
    ),
    rows,
    deleted,
    missing,
    running: Option.getOrNull(Option.map(running, ({ kind }) => kind)),
    history: Option.getOrNull(
      Option.map(history, ({ last, since }) => ({ since: DateTime.formatIso(since), last: DateTime.formatIso(last) }))
    ),
    lastError: Option.getOrNull(
      Option.map(lastError, ({ at, tag, text }) => ({ at: DateTime.formatIso(at), tag, text }))
    ),
    deletions: {
      requestedWith: spelling ?? usualSpelling,
      lookedAt: isoOf(Option.fromUndefinedOr(looked)),
      missed: deletions ?? null
    },
    version: { oldest: oldestVersion ?? null, asked: askedVersion ?? null },
    unknown
  }
}

type StatusFields = ReturnType<typeof statusFields>

/** An instant of the status to the minute, for a narrow terminal. */
const toMinute = (instant: string): string => instant.replace(/T(\d\d:\d\d).*$/, " $1Z")

/** The status of each company as a row of a table; below it the last errors, and fields that are not known. */
const statusLines = (statuses: ReadonlyArray<StatusFields>, screen: Screen): ReadonlyArray<string> => {
  const table = makeTable<StatusFields>([
    { title: "company", cell: ({ company }) => `${company}` },
    {
      title: "watermark",
      cell: ({ watermark }) => watermark ?? "none",
      short: ({ watermark }) => toMinute(watermark ?? "none")
    },
    {
      title: "age",
      cell: ({ ageSeconds }) => ageSeconds === null ? "never" : formatPast(Duration.seconds(ageSeconds)),
      align: "right",
      warns: ({ ageSeconds }) => ageSeconds === null || ageSeconds < 0
    },
    { title: "rows", cell: ({ rows }) => formatNumber(rows), align: "right" },
    { title: "deleted", cell: ({ deleted }) => formatNumber(deleted), align: "right", dropOrder: 1 },
    { title: "missing", cell: ({ missing }) => formatNumber(missing), align: "right" },
    { title: "running", cell: ({ running }) => running ?? "-" },
    {
      title: "history since",
      cell: ({ history }) => history?.since ?? "none",
      short: ({ history }) => toMinute(history?.since ?? "none")
    }
  ], screen)
  const { yellow } = screen.styles
  return [
    ...table.lines(statuses),
    ...statuses.flatMap(({ company, deletions: { missed, requestedWith }, lastError, unknown, version }) => {
      const named = nameOf(company, statuses)
      const missing = missedDeletions({ deletions: missed ?? undefined })
      const { warning: answered } = version.oldest === null ? { warning: undefined } : versionsOf({
        oldestVersion: version.oldest,
        ...(version.asked === null ? undefined : { askedVersion: version.asked })
      })
      return [
        ...(requestedWith === usualSpelling ? [] : [`${named}deleted punches are requested with ${requestedWith}`]),
        ...(missing === undefined ? [] : [yellow(`${named}${missing}`)]),
        ...(answered === undefined ? [] : [yellow(`${named}${answered}`)]),
        ...(lastError === null
          ? []
          : [yellow(`${named}last error, ${lastError.at}: ${lastError.tag}: ${escaped(lastError.text)}`)]),
        ...(unknown.length === 0
          ? []
          : [yellow(`${named}fields that this release does not know: ${escaped(unknown.join(", "))}`)])
      ]
    })
  ]
}
