/** What `close`, `correct`, `void` and `closes` do, and what they print of the record. Sends nothing. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Os from "node:os"
import * as Close from "../../close/Close.ts"
import * as CloseRecord from "../../close/CloseRecord.ts"
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
import { shellWord } from "../flags/values.ts"
import { readZones } from "../flags/zones.ts"
import { Colours } from "../print/colour.ts"
import { counted, countedPunches, formatMoney, formatSignedHours } from "../print/format.ts"
import { jsonArray } from "../print/machine.ts"
import { printError, printHint, printWarning } from "../print/messages.ts"
import { printLines, printText, screen } from "../print/output.ts"
import { type Column, makeTable, nameColumn, type Screen } from "../print/table.ts"
import { requirePeriod, resolvePeriod } from "../select/period.ts"
import { disputesUnknown } from "../select/selection.ts"
import { textOf } from "./findings.ts"
import type { CloseInput, ClosesInput, CorrectInput, VoidInput } from "./flags.ts"

export const runClose = Effect.fnUntraced(function*(input: CloseInput) {
  const { company, layer, shown } = yield* copyOf(input, "close")
  const flags = yield* resolvePeriod({ ...noFilter, ...input }, { countsWeeks: true })
  const { clock } = yield* Effect.fromResult(requirePeriod(flags, "close"))
  if (Option.isNone(flags.dates)) {
    return yield* usage(
      "close takes no --last: its dates depend on the day",
      "Give --pay-period, --week, --month or --from."
    )
  }
  const names = yield* readNames(flags.names)
  const closing = Close.make(company, {
    ...flags.dates.value,
    clock: isZones(clock) ? Option.getOrElse(flags.locations, () => new Map()) : clock,
    firstDay: Option.getOrUndefined(flags.weekStarts),
    rounding: flags.rounding,
    weeklyThreshold: Option.getOrUndefined(flags.weeklyThreshold),
    dailyThreshold: Option.getOrUndefined(flags.dailyThreshold),
    maxDuration: Option.getOrUndefined(flags.maxShift),
    accept: Option.getOrUndefined(flags.accept),
    ...written(flags.note)
  })
  const state = yield* closing.pipe(
    Effect.provide(layer),
    Effect.catchTag("NotReady", (error) => Effect.andThen(printNotReady(error, names), new Findings()))
  )
  yield* printWritten([state], [CloseRecord.nothing], input, names, shown)
})

export const runCorrect = Effect.fnUntraced(function*(input: CorrectInput) {
  const { company, layer, shown } = yield* copyOf(input, "correct")
  const clocks = Option.getOrUndefined(yield* readZones(input.zoneFile, input.dayStarts))
  const names = yield* readNames(input.names)
  const { before, corrected } = yield* Effect.gen(function*() {
    const corrected = yield* Close.correct(company, {
      closes: input.closes.length === 0 ? undefined : input.closes,
      clocks,
      accept: Option.getOrUndefined(input.accept),
      ...written(input.note)
    })
    return { corrected, before: yield* sumsBefore(company, corrected.states) }
  }).pipe(
    Effect.provide(layer),
    Effect.catchTag("NotReady", (error) => Effect.andThen(printNotReady(error, names), new Findings()))
  )
  const { kept, lost, others, states, unverified } = corrected
  yield* printWritten(states, before, input, names, shown)
  const { stderr } = yield* Colours
  if (states.length === 0) yield* printError("nothing to correct")
  yield* printWarning(
    ...(unverified.length === 0
      ? []
      : [`the history does not reach ${unverified.join(", ")}: only the rules of their sums were compared`]),
    ...(others.length === 0
      ? []
      : [`the sums of close ${others.join(", ")} differ too: correct without an ID writes all`]),
    ...(kept.length === 0 ? [] : [`location ${kept.join(", ")} keeps the clock of the record`])
  )
  yield* printError(...lost.map((each) => stderr.red(lossLine(each, names))))
  if (lost.some(({ causes }) => causes.gone !== undefined)) {
    yield* printWarning(
      "A permission that was withdrawn looks like gone punches: check it before you take hours from anyone."
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
  if (Option.isNone(input.note)) return yield* usage("void needs --note WHY: why the state was not paid")
  const { isOver, state } = yield* Effect.gen(function*() {
    const state = yield* Close.voidState(company, { state: input.state, ...written(input.note) })
    const states = (yield* Close.list(company, state.close)).flatMap(({ states }) => states)
    return { state, isOver: Option.isNone(CloseRecord.newestOf(states)) }
  }).pipe(Effect.provide(layer))
  if (input.json) return yield* printJson([state])
  yield* printLines([
    `${state.state}: ${Option.getOrElse(state.before, () => "")} was not paid; its amounts are due again`
  ])
  if (isOver) yield* printWarning("no state of this close stands: it is over")
})

export const runCloses = Effect.fnUntraced(function*(input: ClosesInput) {
  const { company, layer } = yield* copyOf(input, "closes")
  const { changed, json, verify } = input
  const names = yield* readNames(input.names)
  if (changed && verify) return yield* usage("--changed and --verify are two questions", "Ask one of them.")
  const form = yield* readForm(input, names, [json && "--json", changed && "--changed", verify && "--verify"])
  const name = Option.getOrUndefined(input.name)
  if (Option.isSome(form)) {
    if (name === undefined) return yield* usage("--map prints one state: name it, such as closes 7.2 --map FILE")
    const { before, state } = yield* Effect.provide(Close.find(company, name), layer)
    const shown = before === undefined ? state.state : `${state.state} less ${before.state}`
    return yield* printFile(form.value, shown, state, before)
  }
  const [close, number] = name?.split(".").map(Number) ?? []
  if (number !== undefined && (changed || verify)) {
    return yield* usage(`--${changed ? "changed" : "verify"} takes a close and not a state`, `Give ${close} alone.`)
  }
  if (verify) {
    const verified = yield* Effect.provide(Close.verify(company, close), layer)
    if (json) return yield* printLines([JSON.stringify(verified)])
    yield* printLines([`${counted(verified.states, "state")} verified`])
    if (verified.outOfReach > 0) {
      yield* printWarning(`${counted(verified.outOfReach, "state")} out of reach of the history`)
    }
    return
  }
  if (changed) {
    const due = yield* Effect.provide(Close.changed(company, close), layer)
    if (json) return yield* printLines([jsonArray(due.map((each) => encodeDue(each)))])
    for (const { difference, state } of due) {
      yield* printLines([`due after ${state}`, ...peopleLines(difference, names, yield* screen)])
    }
    if (due.length === 0) yield* printError("nothing is due")
    return
  }
  const found = yield* Effect.provide(Close.list(company, close), layer)
  const rows = found.flatMap(({ states }) =>
    states
      .filter(({ state }) => number === undefined || state === name)
      .map((state) => ({ state, before: beforeIn(states, state) }))
  )
  if (name !== undefined && rows.length === 0) {
    const detail = `there is no such ${number === undefined ? "close" : "state"}`
    return yield* new Close.UnknownClose({ companyId: company, name, detail })
  }
  if (json) {
    const [whole] = found
    return yield* name === undefined || number !== undefined || whole === undefined
      ? printJson(rows.map(({ state }) => state))
      : printLines([JSON.stringify(Schema.encodeSync(Close.Close)(whole))])
  }
  if (rows.length === 0) return yield* printError("no period was closed yet")
  yield* printLines(makeTable(stateColumns, yield* screen).lines(rows))
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

/** The sums of the state that each of these follows. */
const sumsBefore = Effect.fnUntraced(function*(company: CompanyId, states: ReadonlyArray<Close.CloseState>) {
  const closes = yield* Effect.forEach(
    [...new Set(states.map(({ close }) => close))],
    (close) => Close.list(company, close)
  )
  const all = closes.flatMap((found) => found.flatMap(({ states }) => states))
  return states.map((state) => beforeIn(all, state))
})

const beforeIn = (states: ReadonlyArray<Close.CloseState>, state: Close.CloseState): CloseRecord.CloseSums =>
  states.find((each) => Option.contains(state.before, each.state)) ?? CloseRecord.nothing

const encodeState = Schema.encodeSync(Close.CloseState)

const encodeRow = Schema.encodeSync(CloseRecord.RowDifference)
const encodePerson = Schema.encodeSync(CloseRecord.ClosePerson)

const encodeDue = ({ difference: { people, rows }, state }: Close.Due) => ({
  state,
  rows: rows.map((row) => encodeRow(row)),
  people: people.map((person) => encodePerson(person))
})

const printJson = (states: ReadonlyArray<Close.CloseState>) =>
  printLines([jsonArray(states.map((state) => encodeState(state)))])

const printNotReady = Effect.fnUntraced(function*(
  { details, found, issues }: Close.NotReady,
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

/** What was written: each state, and what is due with it by person. */
const printWritten = Effect.fnUntraced(function*(
  states: ReadonlyArray<Close.CloseState>,
  before: ReadonlyArray<CloseRecord.CloseSums>,
  { company, json }: Pick<CloseInput, "company" | "json">,
  names: Names | undefined,
  shown: string
) {
  if (json) return yield* printJson(states)
  const shownOn = yield* screen
  for (const [at, state] of states.entries()) {
    const difference = CloseRecord.difference(state, before[at] ?? CloseRecord.nothing)
    const accepted = Object.entries(state.accepted).map(([kind, count]) => `${kind} ${count}`)
    yield* printLines([
      `${state.state}: ${state.first} to ${state.last}, as of ${DateTime.formatIso(state.at)}`,
      ...peopleLines(difference, names, shownOn)
    ])
    yield* printWarning(
      ...(accepted.length === 0 ? [] : [`accepted: ${accepted.join(", ")}`]),
      ...(state.kind === "close" ? [disputesUnknown] : [])
    )
    // The environment may name another company than the flag.
    const flag = Option.match(company, { onNone: () => "", onSome: (company) => ` --company ${company}` })
    yield* printHint(`The record: time-punches closes ${state.close} --json${flag} --database ${shellWord(shown)}`)
  }
})

/** A line for each person, with what is due. */
const peopleLines = (sums: CloseRecord.CloseSums, names: Names | undefined, screen: Screen): ReadonlyArray<string> => {
  const people = CloseRecord.byPerson(sums)
  const over = (title: string, field: "above" | "aboveDay"): ReadonlyArray<Column<CloseRecord.PersonSums>> => {
    const cell = (person: CloseRecord.PersonSums) =>
      Option.match(person[field], { onNone: () => "", onSome: formatSignedHours })
    return people.some((person) => Option.isSome(person[field])) ? [{ title, align: "right", cell }] : []
  }
  const columns: ReadonlyArray<Column<CloseRecord.PersonSums>> = [
    { title: "user_id", align: "right", cell: ({ userId }) => `${userId}` },
    ...names === undefined
      ? []
      : [
        nameColumn<CloseRecord.PersonSums>("user", ({ userId }) => names("user", userId), ({ userId }) => `${userId}`)
      ],
    { title: "punches", align: "right", cell: ({ punches }) => `${punches}`, leaves: 2 },
    { title: "net", align: "right", cell: ({ net }) => formatSignedHours(net) },
    ...over("above", "above"),
    ...over("above_day", "aboveDay"),
    { title: "cost", align: "right", cell: ({ cost }) => formatMoney(cost) },
    { title: "tips", align: "right", cell: ({ tips }) => formatMoney(tips) }
  ]
  return people.length === 0 ? [] : makeTable(columns, screen).lines(people)
}

interface StateRow {
  readonly state: Close.CloseState
  readonly before: CloseRecord.CloseSums
}

const sumOf = ({ rows }: CloseRecord.CloseSums) => ({
  net: Duration.millis(rows.reduce((sum, { net }) => sum + Duration.toMillis(net), 0)),
  cost: rows.reduce((sum, { cost }) => sum + cost, 0),
  people: new Set(rows.map(({ userId }) => userId)).size
})

const stateColumns: ReadonlyArray<Column<StateRow>> = [
  { title: "state", cell: ({ state }) => state.state },
  { title: "kind", cell: ({ state }) => state.kind },
  { title: "of", cell: ({ state }) => Option.getOrElse(state.before, () => ""), leaves: 4 },
  { title: "first", cell: ({ state }) => state.first },
  { title: "last", cell: ({ state }) => state.last },
  { title: "written", cell: ({ state }) => `${DateTime.formatIso(state.closedAt).slice(0, 16)}Z`, leaves: 2 },
  {
    title: "people",
    align: "right",
    cell: ({ state }) => state.kind === "void" ? "" : `${sumOf(state).people}`,
    leaves: 3
  },
  {
    title: "net",
    align: "right",
    cell: ({ state }) => state.kind === "void" ? "" : formatSignedHours(sumOf(state).net)
  },
  { title: "cost", align: "right", cell: ({ state }) => state.kind === "void" ? "" : formatMoney(sumOf(state).cost) },
  {
    title: "due",
    align: "right",
    cell: ({ before, state }) =>
      state.kind === "void" ? "" : formatMoney(sumOf(CloseRecord.difference(state, before)).cost)
  },
  { title: "user", cell: ({ state }) => state.user, leaves: 1, maxWidth: 16 },
  { title: "note", cell: ({ state }) => state.note, least: 12 }
]
