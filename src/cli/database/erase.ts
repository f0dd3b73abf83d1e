/** Erases the copies of companies: what goes is shown first, a person is asked, and a payroll record goes only by name. */
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as SqlClient from "effect/sql/SqlClient"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Terminal from "effect/Terminal"
import { type HeldClose, type Holdings, holdingsOf } from "../../close/holdings.ts"
import type { CompanyId } from "../../Ids.ts"
import { retried } from "../../internal/sql/transaction.ts"
import { printable } from "../../internal/text/printable.ts"
import * as PunchCopy from "../../sql/PunchCopy.ts"
import { failure, usage } from "../failure.ts"
import { Colours, plain } from "../print/colour.ts"
import { counted, countedPunches, formatMoney } from "../print/format.ts"
import { printError } from "../print/messages.ts"
import { databaseWords } from "./database.ts"

/** What a person has allowed. */
interface Erasure {
  /** The database that the flag names: a printed call must mean the same one. */
  readonly database: Option.Option<string>
  readonly ids: ReadonlyArray<CompanyId>
  /** Companies that have closes are erased too. */
  readonly closesToo: boolean
  /** The person has agreed already: no question. */
  readonly yes: boolean
  /** What asks, as errors name it. */
  readonly asked: string
  /** The call that is printed for a script, without the database and the flags that agree. */
  readonly call: string
}

/** Runs `remove` and erases what the copy has of these companies, in one transaction, if that is allowed. */
export const erase = Effect.fnUntraced(function*<A, E, R>(input: Erasure, remove: Effect.Effect<A, E, R>) {
  const { closesToo, ids, yes } = input
  const holdings = yield* Effect.forEach([...new Set(ids)], holdingsOf)
  if (!closesToo) yield* refuseCloses(input, holdings)
  if (!yes) yield* ask(input, holdings)
  const sql = yield* SqlClient.SqlClient
  // As one: a turn in flight would write again what was erased before its company is removed.
  return yield* retried(sql.withTransaction(Effect.gen(function*() {
    const removed = yield* remove
    for (const shown of holdings) {
      const now = yield* holdingsOf(shown.company)
      if (!closesToo) yield* refuseCloses(input, [now])
      // The question may have stood for hours.
      if (!yes && revisionsOf(now) !== revisionsOf(shown)) {
        return yield* failure(
          "system",
          `the closes of company ${shown.company} have changed meanwhile`,
          "Nothing was erased. Run the same command again."
        )
      }
      yield* PunchCopy.purge(shown.company)
    }
    return removed
  })))
})

const ask = Effect.fnUntraced(
  function*({ asked, call, closesToo, database }: Erasure, holdings: ReadonlyArray<Holdings>) {
    const lines = holdings.flatMap(linesOf)
    if (!(yield* canAsk)) {
      return yield* usage(
        `${asked} asks before it erases, and standard input and standard error are not both a terminal`,
        ...lines,
        `To erase this: ${call}${closesToo ? " --closes-too" : ""} --yes${databaseWords(database)}`
      )
    }
    yield* printError("This is erased, and cannot be brought back:", ...lines.map((line) => `  ${line}`))
    if (yield* confirm("Erase it?")) return
    return yield* failure("interrupted", "nothing was erased")
  }
)

const refuseCloses = ({ database }: Erasure, holdings: ReadonlyArray<Holdings>) => {
  const found = holdings.filter(({ closes }) => closes.length > 0)
  return found.length === 0 ? Effect.void : Effect.fail(usage(
    found
      .map(({ closes, company }) => `company ${company} has closes: ${closes.map(({ close }) => close).join(", ")}`)
      .join("; "),
    ...found.flatMap(linesOf),
    "Nothing was erased. Closes are the records of what was paid. Keep each of them, then add --closes-too to erase them too:",
    ...found.flatMap(({ closes, company }) =>
      closes.map(({ close }) =>
        `time-punches payroll show ${close} --json --company ${company}${databaseWords(database)}`
      )
    )
  ))
}

const linesOf = ({ closes, company, punches, versions }: Holdings): ReadonlyArray<string> => [
  `company ${company}: ${countedPunches(punches)}, ${counted(versions, "older version")}, ${
    counted(closes.length, "close")
  }`,
  ...closes.map((close) => `  ${closeLine(close)}`)
]

const closeLine = ({ close, period, revisions }: HeldClose): string => {
  const dates = Option.match(period, {
    onNone: () => "",
    onSome: ({ first, last }) => `, ${printable(first)} to ${printable(last)}`
  })
  const sums = revisions.map(({ cost, isVoid, revision, tips }) =>
    isVoid ? `${revision} void` : `${revision} cost ${formatMoney(cost)}, tips ${formatMoney(tips)}`
  )
  return `close ${close}${dates}: ${sums.join("; ")}`
}

const revisionsOf = ({ closes }: Holdings): string =>
  closes.flatMap(({ revisions }) => revisions.map(({ revision }) => revision)).join(" ")

/** Whether someone can answer: standard input and standard error are terminals. */
export const canAsk = Stdio.Stdio.use(({ stderrIsTerminal, stdinIsTerminal }) =>
  Effect.map(Effect.all([stdinIsTerminal, stderrIsTerminal]), ([reads, shows]) => reads && shows)
)

/** Asks on standard error, since standard output is for results. Enter, Escape and Ctrl-C are a no. */
export const confirm = Effect.fnUntraced(function*(message: string) {
  const stdio = yield* Stdio.Stdio
  const terminal = yield* Terminal.Terminal
  const { stderr } = yield* Colours
  const onStderr = Terminal.make({
    ...terminal,
    display: (text) => Stream.run(Stream.make(text), stdio.stderr())
  })
  return yield* Prompt.run(Prompt.Confirm({ message, theme: { colors: stderr !== plain } })).pipe(
    Effect.provideService(Terminal.Terminal, onStderr),
    Effect.catchTag("QuitError", () => Effect.succeed(false))
  )
})
