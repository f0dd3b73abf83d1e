/** How the verbs of a record print it: what was written, what is due, and revisions as a table and as JSON. */
import * as Arr from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Close from "../../close/Close.ts"
import { foundText } from "../../close/CloseError.ts"
import * as CloseSums from "../../close/CloseSums.ts"
import { activeRevisions, ClosedPeriod, getPrevious, Revision } from "../../close/Revision.ts"
import type { FileNote } from "../../close/WrittenFile.ts"
import { printable } from "../../internal/text/printable.ts"
import { markText } from "../../internal/wire/mark.ts"
import * as Amounts from "../../payroll/Amounts.ts"
import type { CopyStatus } from "../../sql/CopyStatus.ts"
import type { Checkpoint } from "../../sync/Checkpoint.ts"
import { knownKeys } from "../flags/connection.ts"
import { disputesUnknown } from "../flags/filter.ts"
import type { Names } from "../flags/names.ts"
import { countedPunches, formatMoney, formatSignedHours, minuteOf } from "../print/format.ts"
import { jsonArray } from "../print/machine.ts"
import { printError, printHint, printLoss, printWarning } from "../print/messages.ts"
import { printLines, screen } from "../print/output.ts"
import { type Column, makeTable, nameColumn, type Screen } from "../print/table.ts"
import type { OpenedRecord } from "./record.ts"

const encodeRevision = Schema.encodeSync(Revision)

const encodeRow = Schema.encodeSync(CloseSums.RowDifference)

const encodeDue = ({ after, difference: { rows } }: Close.AmountDue) => ({
  after,
  rows: rows.map((row) => encodeRow(row))
})

/** Revisions with their sums, and whether each is active, as JSON. */
export const printRowsAsJson = (rows: ReadonlyArray<Pick<RevisionRow<Revision>, "revision" | "isActive">>) =>
  printLines([jsonArray(rows.map(({ isActive, revision }) => ({ ...encodeRevision(revision), active: isActive })))])

/** Revisions that were just written, as JSON. */
export const printRevisions = (revisions: ReadonlyArray<Revision>) =>
  printRowsAsJson(revisions.map((revision) => ({ revision, isActive: Option.isNone(revision.voids) })))

/** A whole close, and whether each of its revisions is active, as JSON. */
export const printRecord = (close: ClosedPeriod) => {
  const active = new Set<string>(activeRevisions(close.revisions).map(({ id }) => id))
  const { revisions, ...record } = Schema.encodeSync(ClosedPeriod)(close)
  return printLines([
    JSON.stringify({
      ...record,
      revisions: revisions.map((each) => Object.assign(each, { active: active.has(each.revision) }))
    })
  ])
}

/** What is due of closes now, by person. */
export const printDue = Effect.fnUntraced(function*(
  due: ReadonlyArray<Close.AmountDue>,
  { json, names }: OpenedRecord
) {
  if (json) return yield* printLines([jsonArray(due.map((each) => encodeDue(each)))])
  for (const { after, difference } of due) {
    yield* printLines([`due after ${after}`, ...peopleLines(difference, names, yield* screen)])
  }
  if (due.length === 0) yield* printError("nothing is due")
})

/**
 * What the sums of the copy may lack: how far back it was compared with the service, since an increment sees no change that leaves
 * `modified` as it was, and the fields that may take punches away.
 */
export const printLimits = Effect.fnUntraced(function*({ checkpoint }: CopyStatus) {
  const { marks = [], swept } = Option.getOrElse(checkpoint, (): Partial<Checkpoint> => ({}))
  const range = swept === undefined
    ? "not swept since the first load"
    : `swept ${swept.gte === undefined ? "whole" : `back to ${dateOf(swept.gte)}`} on ${dateOf(swept.at)}`
  yield* printError(`${range}: a wage or a break that changed without "modified" is found by a sweep alone`)
  const known = yield* knownKeys
  yield* printWarning(...marks.filter(({ path }) => !known.includes(path)).map(markText))
})

const dateOf = (at: DateTime.Utc): string => DateTime.formatIsoDateUtc(at)

/** What a person should know of a correction beside its sums. */
export const printRemarks = Effect.fnUntraced(function*(remarks: Close.CorrectionRemarks, names: Names | undefined) {
  const { otherCloses, peopleWithoutHours, unchangedLocations, unverified } = remarks
  yield* printWarning(
    ...(unverified.length === 0
      ? []
      : [`the history does not reach ${unverified.join(", ")}: only the rules of their sums were compared`]),
    ...(otherCloses.length === 0
      ? []
      : [`the sums of close ${otherCloses.join(", ")} differ too: payroll correct without an ID writes all`]),
    ...(unchangedLocations.length === 0
      ? []
      : [`location ${unchangedLocations.join(", ")} keeps the clock of the record`])
  )
  yield* printLoss(...peopleWithoutHours.map((each) => lossLine(each, names)))
  if (peopleWithoutHours.some(({ causes }) => causes.missing !== undefined)) {
    yield* printWarning(
      "A permission that was withdrawn looks like missing punches: check it before you take hours from anyone."
    )
  }
})

/** Why a person has no hours left. */
const lossLine = ({ causes, close, userId }: Close.LostHours, names: Names | undefined): string => {
  const name = names?.("user", userId)
  const counts = Object.entries(causes).map(([cause, count]) => `${countedPunches(count)} ${cause}`)
  const why = counts.length === 0 ? "the history does not reach the revision before" : counts.join(", ")
  return `close ${close}: user ${userId}${name === undefined ? "" : ` ${printable(name)}`} lost all hours: ${why}`
}

/**
 * Prints revisions that were just written. If that fails, standard error names them: the record has them, and the same command
 * may write others.
 */
export const printRecorded = <A, E, R>(
  print: Effect.Effect<A, E, R>,
  revisions: ReadonlyArray<Revision>,
  { words }: OpenedRecord
) =>
  Effect.onError(
    print,
    () =>
      printWarning(
        ...revisions.map(({ id }) =>
          `${id} was recorded; its output may be incomplete. To see it: time-punches payroll show ${id}${words}`
        )
      )
  )

/** What was written: each revision, and what is due with it by person. */
export const printWritten = (
  revisions: ReadonlyArray<Revision>,
  due: ReadonlyArray<CloseSums.CloseSums>,
  record: OpenedRecord
) => printRecorded(printDueOf(revisions, due, record), revisions, record)

const printDueOf = Effect.fnUntraced(function*(
  revisions: ReadonlyArray<Revision>,
  due: ReadonlyArray<CloseSums.CloseSums>,
  { json, names, words }: OpenedRecord
) {
  if (json) return yield* printRevisions(revisions)
  const shownOn = yield* screen
  for (const [at, revision] of revisions.entries()) {
    const accepted = foundText(revision.accepted)
    yield* printLines([
      `${revision.id}: ${revision.first} to ${revision.last}, as of ${DateTime.formatIso(revision.at)}`,
      ...peopleLines(due[at] ?? CloseSums.empty, names, shownOn)
    ])
    yield* printWarning(
      ...(accepted === "" ? [] : [`accepted: ${accepted}`]),
      ...(revision.kind === "close" ? [disputesUnknown] : [])
    )
    yield* printHint(`The record: time-punches payroll show ${revision.close} --json${words}`)
  }
})

/** A line for each person, with what is due. */
const peopleLines = (sums: CloseSums.CloseSums, names: Names | undefined, screen: Screen): ReadonlyArray<string> => {
  const people = CloseSums.byPerson(sums)
  const over = (title: string, field: "over" | "double"): ReadonlyArray<Column<CloseSums.PersonSums>> => {
    const cell = (person: CloseSums.PersonSums) =>
      Option.match(Option.filter(person[field], (time) => !Duration.isZero(time)), {
        onNone: () => "",
        onSome: formatSignedHours
      })
    return people.some((person) => cell(person) !== "") ? [{ title, align: "right", cell }] : []
  }
  const columns: ReadonlyArray<Column<CloseSums.PersonSums>> = [
    { title: "user_id", align: "right", cell: ({ userId }) => `${userId}` },
    ...names === undefined
      ? []
      : [
        nameColumn<CloseSums.PersonSums>("user", ({ userId }) => names("user", userId), ({ userId }) => `${userId}`)
      ],
    { title: "punches", align: "right", cell: ({ punches }) => `${punches}`, dropOrder: 2 },
    { title: "net", align: "right", cell: ({ net }) => formatSignedHours(net) },
    ...over("over", "over"),
    ...over("double", "double"),
    { title: "cost", align: "right", cell: ({ cost }) => formatMoney(cost) },
    { title: "tips", align: "right", cell: ({ tips }) => formatMoney(tips) }
  ]
  return people.length === 0 ? [] : makeTable(columns, screen).lines(people)
}

/** The sums of each person of a revision. */
export const printPeople = Effect.fnUntraced(function*(sums: CloseSums.CloseSums, names: Names | undefined) {
  yield* printLines(peopleLines(sums, names, yield* screen))
})

interface RevisionRow<out R = Omit<Revision, "rows">> {
  readonly revision: R
  /** Whether it was paid, as far as the record says: only then its amounts count. */
  readonly isActive: boolean
  /** Its sums. */
  readonly sum: Close.Totals
  /** What they have more than those of the revision that it follows. */
  readonly due: Amount
  /** Whether a person has tips in it, or had some in the revision that it follows. */
  readonly hasTips: boolean
}

type Amount = Pick<Close.Totals, "net" | "cost" | "tips">

/** The totals of a revision that was read with its rows. */
export const totalOf = ({ rows }: CloseSums.CloseSums): Close.Totals => {
  const { cost, net, tips } = Amounts.total(rows)
  const people = new Set(rows.map(({ userId }) => userId)).size
  return { net: Duration.millis(net), cost, tips, people, hasTips: rows.some(({ tips }) => tips !== 0) }
}

/** The revisions of closes with their totals, and what is due with each. */
export const rowsOf = <R extends Omit<Revision, "rows">>(
  closes: ReadonlyArray<{ readonly revisions: ReadonlyArray<R> }>,
  totalOf: (revision: R) => Close.Totals
): ReadonlyArray<RevisionRow<R>> =>
  closes.flatMap(({ revisions }) => {
    const active = new Set<string>(activeRevisions(revisions).map(({ id }) => id))
    return revisions.map((revision) => {
      const sum = totalOf(revision)
      const before = Option.getOrUndefined(Option.map(getPrevious(revisions, revision), totalOf))
      return {
        revision,
        isActive: active.has(revision.id),
        sum,
        due: before === undefined ? sum : {
          net: Duration.millis(Duration.toMillis(sum.net) - Duration.toMillis(before.net)),
          cost: sum.cost - before.cost,
          tips: sum.tips - before.tips
        },
        hasTips: sum.hasTips || before?.hasTips === true
      }
    })
  })

/** A line for each revision. */
export const printRows = Effect.fnUntraced(function*(rows: ReadonlyArray<RevisionRow>) {
  const hasFiles = rows.some(({ revision }) => revision.files.length > 0)
  const hasTips = rows.some((row) => row.hasTips)
  const columns = revisionColumns.filter((column) =>
    column === fileColumn ? hasFiles : hasTips || !tipColumns.includes(column)
  )
  yield* printLines(makeTable(columns, yield* screen).lines(rows))
})

/** When the last file of a revision was written out. */
const fileColumn: Column<RevisionRow> = {
  title: "file",
  cell: ({ revision }) =>
    Option.match(Arr.last(revision.files), { onNone: () => "", onSome: ({ at }) => minuteOf(at) }),
  dropOrder: 2
}

/** A column of amounts; empty for a void, which has none. */
const amountColumn = (title: string, cell: (row: RevisionRow) => string, dropOrder?: number): Column<RevisionRow> => ({
  title,
  align: "right",
  cell: (row) => Option.isSome(row.revision.voids) ? "" : cell(row),
  dropOrder
})

/** What is due with a revision. Empty unless it is active, so that the column adds up to what was paid. */
const dueColumn = (title: string, cell: (due: Amount) => string, dropOrder?: number) =>
  amountColumn(title, ({ due, isActive }) => isActive ? cell(due) : "", dropOrder)

const tipColumns: ReadonlyArray<Column<RevisionRow>> = [
  amountColumn("tips", ({ sum }) => formatMoney(sum.tips), 6),
  dueColumn("tips due", ({ tips }) => formatMoney(tips))
]

const revisionColumns: ReadonlyArray<Column<RevisionRow>> = [
  { title: "revision", cell: ({ revision }) => revision.id },
  { title: "kind", cell: ({ revision }) => revision.kind, dropOrder: 9 },
  {
    title: "of",
    cell: ({ revision }) => Option.getOrElse(Option.orElse(revision.previous, () => revision.voids), () => ""),
    dropOrder: 4
  },
  { title: "active", cell: ({ isActive }) => isActive ? "yes" : "no", dropOrder: 10 },
  { title: "first", cell: ({ revision }) => revision.first },
  { title: "last", cell: ({ revision }) => revision.last },
  { title: "written", cell: ({ revision }) => minuteOf(revision.closedAt), dropOrder: 2 },
  fileColumn,
  amountColumn("people", ({ sum }) => `${sum.people}`, 3),
  amountColumn("net", ({ sum }) => formatSignedHours(sum.net), 5),
  dueColumn("net due", ({ net }) => formatSignedHours(net), 7),
  amountColumn("cost", ({ sum }) => formatMoney(sum.cost), 6),
  dueColumn("cost due", ({ cost }) => formatMoney(cost)),
  ...tipColumns,
  { title: "user", cell: ({ revision }) => revision.user, dropOrder: 1, maxWidth: 16 },
  { title: "note", cell: ({ revision }) => revision.note, minWidth: 12, dropOrder: 8 }
]

/** What was written out of a revision: when, and by whom. */
export const writtenLine = (revision: string, { at, user }: FileNote): string =>
  `a file of ${revision} was written out ${minuteOf(at)} by ${printable(user)}`
