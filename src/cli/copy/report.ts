/** What a sync says of a pass, and of the copy. Pure. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type { CompanyId } from "../../Ids.ts"
import type { CopyStatus } from "../../sql/SqlStore.ts"
import type { SyncSummary } from "../../sync/SyncOptions.ts"
import { counted, countedPunches, formatNumber } from "../terminal/format.ts"
import { makeTable } from "../terminal/table.ts"

const names = { first: "first load", increment: "increment", sweep: "sweep" } as const

/** One line for a pass. */
export const describePass = (summary: SyncSummary): string => {
  const { complete, gone, kind, lateness, pages, punches, resumed, restarts, unchanged, watermark, written } = summary
  return [
    `${names[kind]}${resumed ? ", resumed" : ""}${complete ? "" : ", not complete"}: ` +
    `${countedPunches(punches)}, ${counted(pages, "page")}`,
    `${formatNumber(written)} written`,
    `${formatNumber(unchanged)} unchanged`,
    ...(gone > 0 ? [`${formatNumber(gone)} gone`] : []),
    ...(restarts > 0 ? [counted(restarts, "restart")] : []),
    ...Option.match(lateness, {
      onNone: () => [],
      onSome: (late) => [`changes showed up to ${formatAge(late)} late`]
    }),
    `watermark ${formatInstant(watermark)}`
  ].join(", ")
}

/** One line for what a history no longer has. */
export const describePruning = (removed: number, days: number): string =>
  `history: ${counted(removed, "version")} removed, replaced more than ${counted(days, "day")} ago`

const formatInstant = (at: Option.Option<DateTime.Utc>) =>
  Option.match(at, { onNone: () => "none", onSome: (at) => DateTime.formatIso(at) })

const units: ReadonlyArray<readonly [name: string, millis: number]> = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000]
]

/** A time in its two largest units, such as `2h 5m`. */
export const formatAge = (age: Duration.Duration): string => {
  let rest = Duration.toMillis(age)
  const parts = units.flatMap(([name, millis]) => {
    const count = Math.floor(rest / millis)
    rest -= count * millis
    return count === 0 ? [] : [`${count}${name}`]
  })
  return parts.length === 0 ? "0s" : parts.slice(0, 2).join(" ")
}

/** The copy of a company, as the columns of a table and the members of its JSON. */
export const statusFields = (company: CompanyId, status: CopyStatus, now: DateTime.Utc) => {
  const { checkpoint, deleted, gone, history, lastError, rows } = status
  const completedAt = Option.flatMap(checkpoint, ({ completedAt }) => completedAt)
  return {
    company,
    watermark: Option.getOrNull(
      Option.map(Option.flatMap(checkpoint, ({ watermark }) => watermark), DateTime.formatIso)
    ),
    completedAt: Option.getOrNull(Option.map(completedAt, DateTime.formatIso)),
    ageSeconds: Option.getOrNull(
      Option.map(completedAt, (at) => Math.max(0, Math.round(Duration.toSeconds(DateTime.distance(at, now)))))
    ),
    rows,
    deleted,
    gone,
    running: Option.getOrNull(
      Option.map(Option.flatMap(checkpoint, ({ running }) => running), ({ kind }) => kind)
    ),
    history: Option.getOrNull(
      Option.map(history, ({ last, since }) => ({ since: DateTime.formatIso(since), last: DateTime.formatIso(last) }))
    ),
    lastError: Option.getOrNull(
      Option.map(lastError, ({ at, tag, text }) => ({ at: DateTime.formatIso(at), tag, text }))
    )
  }
}

type StatusFields = ReturnType<typeof statusFields>

/** The status as a table of one row, and the last error below it. */
export const statusLines = (fields: StatusFields): ReadonlyArray<string> => {
  const table = makeTable<StatusFields>([
    { title: "company", cell: ({ company }) => `${company}` },
    { title: "watermark", cell: ({ watermark }) => watermark ?? "none" },
    {
      title: "age",
      cell: ({ ageSeconds }) => ageSeconds === null ? "never" : formatAge(Duration.seconds(ageSeconds)),
      align: "right"
    },
    { title: "rows", cell: ({ rows }) => formatNumber(rows), align: "right" },
    { title: "deleted", cell: ({ deleted }) => formatNumber(deleted), align: "right" },
    { title: "gone", cell: ({ gone }) => formatNumber(gone), align: "right" },
    { title: "running", cell: ({ running }) => running ?? "-" },
    { title: "history since", cell: ({ history }) => history?.since ?? "none" }
  ])
  return [
    ...table.lines([fields]),
    ...(fields.lastError === null
      ? []
      : [`last error, ${fields.lastError.at}: ${fields.lastError.tag}: ${fields.lastError.text}`])
  ]
}
