/** `time-punches payroll void`: records that a revision was not paid. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as RevisionId from "../../close/RevisionId.ts"
import { isJson } from "../flags/values.ts"
import { printWarning } from "../print/messages.ts"
import { printLines } from "../print/output.ts"
import { recordFlags } from "./arguments.ts"
import { operating } from "./operating.ts"

const flags = {
  ...recordFlags,
  revision: Argument.String("REVISION").pipe(Argument.withDescription("The newest revision of a close, such as 7.2")),
  note: Flag.String("note").pipe(
    Flag.withMetavar("TEXT"),
    Flag.withDescription("Why the revision was not paid: it is kept with the void"),
    Flag.filter((text) => text.trim() !== "", () => "a text that is not blank")
  )
}

export const voidCommand = Command.make("void", flags, (input) => voidRevision(input)).pipe(
  Command.withDescription(
    `Record that the newest revision of a close was not paid.

  Its amounts are due again with the next revision. REVISION is given in full,
  such as 7.2. A revision in the middle that was not paid needs no void: print
  its file again. If 7.1 is voided, close 7 is over: close its period again.`
  ),
  Command.withShortDescription("Record that a revision was not paid"),
  Command.withExamples([
    {
      command: "time-punches payroll void 7.2 --note 'the file was not sent' --database punches.db",
      description: "The second revision of close 7"
    },
    {
      command: "time-punches payroll void 7.1 --note 'closed by mistake' --database punches.db --json",
      description: "Its first and only revision: the close is over"
    }
  ])
)

const voidRevision = Effect.fnUntraced(function*(input: Command.Command.Config.Infer<typeof flags>) {
  const { authorship, Close, nextPeriod, recordOf, printRecorded, printRevisions, warnOfHoles } = yield* operating
  const { company, layer, shown } = yield* recordOf(input, "void", true)
  const json = yield* Effect.fromResult(isJson(input))
  yield* Effect.gen(function*() {
    const revision = yield* Close.voidRevision(company, {
      revision: input.revision,
      ...authorship(Option.some(input.note))
    })
    const { close, first, id, last } = revision
    const voided = `${id}: ${Option.getOrElse(revision.voids, () => "")} was not paid`
    // The newest active one was voided: if that is the first, none is active.
    const isOver = Option.contains(revision.voids, RevisionId.print({ close, number: 1 }))
    const line = isOver ? `${voided}, and close ${close} is over` : `${voided}; its amounts are due again`
    yield* printRecorded(
      json ? printRevisions([revision]) : printLines([line]),
      [revision],
      input.company,
      shown
    )
    if (isOver) {
      const isNext = Option.exists(yield* nextPeriod(company), (next) => next.first === first && next.last === last)
      const how = isNext ? " with payroll close --next" : ""
      yield* printWarning(`close ${first} to ${last} again${how}: no close has its amounts now`)
    }
    yield* warnOfHoles(company)
  }).pipe(Effect.provide(layer))
})
