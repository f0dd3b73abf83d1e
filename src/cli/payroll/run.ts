/** What `close`, `correct`, `void` and `closes` do, and what they print of the record. Sends nothing. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Os from "node:os"
import * as Close from "../../close/Close.ts"
import { type NotReady, UnknownClose } from "../../close/CloseError.ts"
import * as CloseSums from "../../close/CloseSums.ts"
import type * as CloseTerms from "../../close/CloseTerms.ts"
import { ClosedPeriod, getPrevious, newestRevision, Revision } from "../../close/Revision.ts"
import type { CompanyId } from "../../Ids.ts"
import { printable } from "../../internal/wire/issue.ts"
import { version } from "../../internal/wire/userAgent.ts"
import { isZones } from "../../payroll/Zones.ts"
import { layerCopy } from "../database/copy.ts"
import { targetOf } from "../database/database.ts"
import { Findings, usage } from "../failure.ts"
import { printFile, readForm } from "../files/payrollFile.ts"
import { companyOf } from "../flags/connection.ts"
import { noFilter } from "../flags/filter.ts"
import { type Names, readNames } from "../flags/names.ts"
import { isJson, shellWord } from "../flags/values.ts"
import { readZones } from "../flags/zones.ts"
import { Colours } from "../print/colour.ts"
import { counted, countedPunches, formatExactHours, formatMoney, formatSignedHours } from "../print/format.ts"
import { jsonArray } from "../print/machine.ts"
import { printError, printHint, printWarning } from "../print/messages.ts"
import { printLines, printText, screen } from "../print/output.ts"
import { type Column, makeTable, nameColumn, type Screen } from "../print/table.ts"
import { requirePeriod, resolvePeriod } from "../select/period.ts"
import { disputesUnknown } from "../select/selection.ts"
import { givenThresholds } from "../select/thresholds.ts"
import { textOf } from "./findings.ts"
import type { CloseInput, ClosesInput, CorrectInput, VoidInput } from "./flags.ts"

export const runClose = Effect.fnUntraced(function*(input: CloseInput) {
  const { company, layer, shown } = yield* copyOf(input, "close")
  const json = yield* Effect.fromResult(isJson(input))
  const flags = yield* resolvePeriod({ ...noFilter, ...input }, { countsWeeks: true })
  const { dayRule } = yield* Effect.fromResult(requirePeriod(flags, "close"))
  if (Option.isNone(flags.dates)) {
    return yield* usage(
      "close takes no --last: its dates depend on the day",
      "Give --pay-period, --week, --month or --from."
    )
  }
  const names = yield* readNames(flags.names)
  const closing = Close.create(company, {
    ...flags.dates.value,
    dayRule: isZones(dayRule) ? Option.getOrElse(flags.locations, () => new Map()) : dayRule,
    firstDay: Option.getOrUndefined(flags.weekStarts),
    rounding: flags.rounding,
    ...givenThresholds(flags),
    maxDuration: Option.getOrUndefined(flags.maxShift),
    accept: Option.getOrUndefined(flags.accept),
    ...written(flags.note)
  })
  const revision = yield* closing.pipe(
    Effect.provide(layer),
    Effect.catchTag("NotReady", (error) => Effect.andThen(printNotReady(error, names), new Findings()))
  )
  yield* printWritten([revision], [CloseSums.empty], { ...input, json }, names, shown)
  yield* printWarning(
    ...revision.changedTerms.map(({ before, now, term }) =>
      `${termNames[term]} ${termText(now)}, and close ${Option.getOrElse(revision.before, () => "")} has ${
        termText(before)
      }: in a week that both have, hours may be over a threshold twice or never`
    )
  )
})

const termNames = {
  weeklyThreshold: "the weekly threshold is",
  dailyThreshold: "the daily threshold is",
  doubleThreshold: "the second daily threshold is",
  thresholds: "the thresholds count",
  rounding: "the rounding is",
  firstDay: "the first day of the week is"
} as const satisfies Readonly<Record<CloseTerms.TermChange["term"], string>>

const termText = (value: CloseTerms.TermChange["now"]): string =>
  value === null ? "none" : typeof value === "number" ? formatExactHours(Duration.seconds(value)) : value

export const runCorrect = Effect.fnUntraced(function*(input: CorrectInput) {
  const { company, layer, shown } = yield* copyOf(input, "correct")
  const json = yield* Effect.fromResult(isJson(input))
  const dayRules = Option.getOrUndefined(yield* readZones(input.zoneFile, input.dayStarts))
  const names = yield* readNames(input.names)
  const { corrected, previous } = yield* Effect.gen(function*() {
    const corrected = yield* Close.correct(company, {
      closes: input.closes.length === 0 ? undefined : input.closes,
      dayRules,
      accept: Option.getOrUndefined(input.accept),
      ...written(input.note)
    })
    return { corrected, previous: yield* previousSums(company, corrected.revisions) }
  }).pipe(
    Effect.provide(layer),
    Effect.catchTag("NotReady", (error) => Effect.andThen(printNotReady(error, names), new Findings()))
  )
  const { otherCloses, peopleWithoutHours, revisions, unchangedLocations, unverified } = corrected
  yield* printWritten(revisions, previous, { ...input, json }, names, shown)
  const { stderr } = yield* Colours
  if (revisions.length === 0) yield* printError("nothing to correct")
  yield* printWarning(
    ...(unverified.length === 0
      ? []
      : [`the history does not reach ${unverified.join(", ")}: only the rules of their sums were compared`]),
    ...(otherCloses.length === 0
      ? []
      : [`the sums of close ${otherCloses.join(", ")} differ too: correct without an ID writes all`]),
    ...(unchangedLocations.length === 0
      ? []
      : [`location ${unchangedLocations.join(", ")} keeps the dayRule of the record`])
  )
  yield* printError(...peopleWithoutHours.map((each) => stderr.red(lossLine(each, names))))
  if (peopleWithoutHours.some(({ causes }) => causes.missing !== undefined)) {
    yield* printWarning(
      "A permission that was withdrawn looks like missing punches: check it before you take hours from anyone."
    )
  }
})

/** Why a person has no hours left. */
const lossLine = ({ causes, close, userId }: Close.LostHours, names: Names | undefined): string => {
  const name = names?.("user", userId)
  const counts = Close.LossCause.literals.flatMap((cause) => {
    const count = causes[cause]
    return count === undefined ? [] : [`${countedPunches(count)} ${cause}`]
  })
  const why = counts.length === 0 ? "the history does not reach the state before" : counts.join(", ")
  return `close ${close}: user ${userId}${name === undefined ? "" : ` ${printable(name)}`} lost all hours: ${why}`
}

export const runVoid = Effect.fnUntraced(function*(input: VoidInput) {
  const { company, layer } = yield* copyOf(input, "void")
  const json = yield* Effect.fromResult(isJson(input))
  if (Option.isNone(input.note)) return yield* usage("void needs --note WHY: why the state was not paid")
  const { isOver, revision } = yield* Effect.gen(function*() {
    const revision = yield* Close.voidRevision(company, { revision: input.state, ...written(input.note) })
    const revisions = (yield* Close.list(company, revision.close)).flatMap(({ revisions }) => revisions)
    return { revision, isOver: Option.isNone(newestRevision(revisions)) }
  }).pipe(Effect.provide(layer))
  if (json) return yield* printJson([revision])
  yield* printLines([
    `${revision.id}: ${Option.getOrElse(revision.voids, () => "")} was not paid; its amounts are due again`
  ])
  if (isOver) yield* printWarning("no state of this close stands: it is over")
})

export const runCloses = Effect.fnUntraced(function*(input: ClosesInput) {
  const { company, layer } = yield* copyOf(input, "closes")
  const { changed, verify } = input
  const names = yield* readNames(input.names)
  if (changed && verify) return yield* usage("--changed and --verify are two questions", "Ask one of them.")
  const form = yield* readForm(input, names, [
    input.json && "--json",
    Option.isSome(input.format) && "--format",
    changed && "--changed",
    verify && "--verify"
  ])
  const name = Option.getOrUndefined(input.name)
  if (Option.isSome(form)) {
    if (name === undefined) return yield* usage("--map prints one state: name it, such as closes 7.2 --map FILE")
    const { previous, revision } = yield* Effect.provide(Close.find(company, name), layer)
    const shown = previous === undefined ? revision.id : `${revision.id} less ${previous.id}`
    return yield* printFile(form.value, shown, revision, previous)
  }
  const json = yield* Effect.fromResult(isJson(input))
  const [close, number] = name?.split(".").map(Number) ?? []
  if (number !== undefined && (changed || verify)) {
    return yield* usage(`--${changed ? "changed" : "verify"} takes a close and not a state`, `Give ${close} alone.`)
  }
  if (verify) {
    const { revisions: states, unverifiable: outOfReach } = yield* Effect.provide(Close.verify(company, close), layer)
    if (json) return yield* printLines([JSON.stringify({ states, outOfReach })])
    yield* printLines([`${counted(states, "state")} verified`])
    if (outOfReach > 0) {
      yield* printWarning(`${counted(outOfReach, "state")} out of reach of the history`)
    }
    return
  }
  if (changed) {
    const due = yield* Effect.provide(Close.due(company, { closes: close === undefined ? undefined : [close] }), layer)
    if (json) return yield* printLines([jsonArray(due.map((each) => encodeDue(each)))])
    for (const { after, difference } of due) {
      yield* printLines([`due after ${after}`, ...peopleLines(difference, names, yield* screen)])
    }
    if (due.length === 0) yield* printError("nothing is due")
    return
  }
  const found = yield* Effect.provide(Close.list(company, close), layer)
  const rows = found.flatMap(({ revisions }) =>
    revisions
      .filter(({ id }) => number === undefined || id === name)
      .map((revision) => ({ revision, previous: getPrevious(revisions, revision) ?? CloseSums.empty }))
  )
  if (name !== undefined && rows.length === 0) {
    const detail = `there is no such ${number === undefined ? "close" : "state"}`
    return yield* new UnknownClose({ companyId: company, name, detail })
  }
  if (json) {
    const [whole] = found
    return yield* name === undefined || number !== undefined || whole === undefined
      ? printJson(rows.map(({ revision }) => revision))
      : printLines([JSON.stringify(Schema.encodeSync(ClosedPeriod)(whole))])
  }
  if (rows.length === 0) return yield* printError("no period was closed yet")
  yield* printLines(makeTable(revisionColumns, yield* screen).lines(rows))
})

const copyOf = Effect.fnUntraced(function*(
  input: Pick<CloseInput, "company" | "database">,
  command: string
) {
  const { id: company } = yield* companyOf(input)
  const target = yield* targetOf(
    input.database,
    command,
    "Closes are recorded in a copy that time-punches sync --history keeps."
  )
  return { company, shown: target.shown, layer: layerCopy(company, target, false) }
})

/** Who writes a state, and with which note. */
const written = (note: Option.Option<string>) => ({
  note: Option.getOrElse(note, () => ""),
  user: userName(),
  release: version
})

/** The user of the machine; `unknown` if it has no name for it. */
const userName = (): string => {
  try {
    return Os.userInfo().username
  } catch {
    return "unknown"
  }
}

/** The sums of the revision that each of these follows. */
const previousSums = Effect.fnUntraced(function*(company: CompanyId, revisions: ReadonlyArray<Revision>) {
  const closes = yield* Effect.forEach(
    [...new Set(revisions.map(({ close }) => close))],
    (close) => Close.list(company, close)
  )
  const all = closes.flatMap((found) => found.flatMap(({ revisions }) => revisions))
  return revisions.map((revision) => getPrevious(all, revision) ?? CloseSums.empty)
})

const encodeRevision = Schema.encodeSync(Revision)

const encodeRow = Schema.encodeSync(CloseSums.RowDifference)
const encodePerson = Schema.encodeSync(CloseSums.ClosePerson)

const encodeDue = ({ after, difference: { people, rows } }: Close.AmountDue) => ({
  state: after,
  rows: rows.map((row) => encodeRow(row)),
  people: people.map((person) => encodePerson(person))
})

const printJson = (revisions: ReadonlyArray<Revision>) =>
  printLines([jsonArray(revisions.map((revision) => encodeRevision(revision)))])

const printNotReady = Effect.fnUntraced(function*(
  { details, found, issues }: NotReady,
  names: Names | undefined
) {
  yield* printText(textOf("table", issues, names, yield* screen))
  yield* printWarning(
    `not closed: ${Object.entries(found).map(([kind, count]) => `${kind} ${count}`).join(", ")}`,
    ...details,
    `--accept ${Object.keys(found).join(",")} closes all the same.`,
    disputesUnknown
  )
})

/** What was written: each revision, and what is due with it by person. */
const printWritten = Effect.fnUntraced(function*(
  revisions: ReadonlyArray<Revision>,
  previous: ReadonlyArray<CloseSums.CloseSums>,
  { company, json }: Pick<CloseInput, "company"> & { readonly json: boolean },
  names: Names | undefined,
  shown: string
) {
  if (json) return yield* printJson(revisions)
  const shownOn = yield* screen
  for (const [at, revision] of revisions.entries()) {
    const difference = CloseSums.difference(revision, previous[at] ?? CloseSums.empty)
    const accepted = Object.entries(revision.accepted).map(([kind, count]) => `${kind} ${count}`)
    yield* printLines([
      `${revision.id}: ${revision.first} to ${revision.last}, as of ${DateTime.formatIso(revision.at)}`,
      ...peopleLines(difference, names, shownOn)
    ])
    yield* printWarning(
      ...(accepted.length === 0 ? [] : [`accepted: ${accepted.join(", ")}`]),
      ...(revision.kind === "close" ? [disputesUnknown] : [])
    )
    // The environment may name another company than the flag.
    const flag = Option.match(company, { onNone: () => "", onSome: ({ id }) => ` --company ${id}` })
    yield* printHint(`The record: time-punches closes ${revision.close} --json${flag} --database ${shellWord(shown)}`)
  }
})

/** A line for each person, with what is due. */
const peopleLines = (sums: CloseSums.CloseSums, names: Names | undefined, screen: Screen): ReadonlyArray<string> => {
  const people = CloseSums.byPerson(sums)
  const over = (title: string, field: "over" | "double" | "overDaily"): ReadonlyArray<Column<CloseSums.PersonSums>> => {
    const cell = (person: CloseSums.PersonSums) =>
      Option.match(person[field], { onNone: () => "", onSome: formatSignedHours })
    return people.some((person) => Option.isSome(person[field])) ? [{ title, align: "right", cell }] : []
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
    ...over("over_daily", "overDaily"),
    { title: "cost", align: "right", cell: ({ cost }) => formatMoney(cost) },
    { title: "tips", align: "right", cell: ({ tips }) => formatMoney(tips) }
  ]
  return people.length === 0 ? [] : makeTable(columns, screen).lines(people)
}

interface RevisionRow {
  readonly revision: Revision
  readonly previous: CloseSums.CloseSums
}

const sumOf = ({ rows }: CloseSums.CloseSums) => ({
  net: Duration.millis(rows.reduce((sum, { net }) => sum + Duration.toMillis(net), 0)),
  cost: rows.reduce((sum, { cost }) => sum + cost, 0),
  people: new Set(rows.map(({ userId }) => userId)).size
})

const revisionColumns: ReadonlyArray<Column<RevisionRow>> = [
  { title: "state", cell: ({ revision }) => revision.id },
  { title: "kind", cell: ({ revision }) => revision.kind },
  {
    title: "of",
    cell: ({ revision }) => Option.getOrElse(Option.orElse(revision.previous, () => revision.voids), () => ""),
    dropOrder: 4
  },
  { title: "first", cell: ({ revision }) => revision.first },
  { title: "last", cell: ({ revision }) => revision.last },
  { title: "written", cell: ({ revision }) => `${DateTime.formatIso(revision.closedAt).slice(0, 16)}Z`, dropOrder: 2 },
  {
    title: "people",
    align: "right",
    cell: ({ revision }) => revision.kind === "void" ? "" : `${sumOf(revision).people}`,
    dropOrder: 3
  },
  {
    title: "net",
    align: "right",
    cell: ({ revision }) => revision.kind === "void" ? "" : formatSignedHours(sumOf(revision).net)
  },
  {
    title: "cost",
    align: "right",
    cell: ({ revision }) => revision.kind === "void" ? "" : formatMoney(sumOf(revision).cost)
  },
  {
    title: "due",
    align: "right",
    cell: ({ previous, revision }) =>
      revision.kind === "void" ? "" : formatMoney(sumOf(CloseSums.difference(revision, previous)).cost)
  },
  { title: "user", cell: ({ revision }) => revision.user, dropOrder: 1, maxWidth: 16 },
  { title: "note", cell: ({ revision }) => revision.note, minWidth: 12 }
]
