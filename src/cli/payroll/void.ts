/** `time-punches payroll void`: records that a revision was not paid. */
import * as Argument from "effect/cli/Argument"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Close from "../../close/Close.ts"
import * as RevisionName from "../../close/RevisionName.ts"
import { onFlag } from "../flags/values.ts"
import { printWarning } from "../print/messages.ts"
import { printLines } from "../print/output.ts"
import { makeVerb } from "../verb.ts"
import { printRecorded, printRevisions, writtenLine } from "./print.ts"
import { authorship, nextPeriod, openRecord, recordFlags, warnOfHoles } from "./record.ts"

export const verb = makeVerb(
  "void",
  {
    ...recordFlags,
    mistake: onFlag("mistake", "The whole close was a mistake, such as a wrong year: leave no hole for it"),
    revision: Argument.String("REVISION").pipe(Argument.withDescription("The newest revision of a close, such as 7.2")),
    note: Flag.String("note").pipe(
      Flag.withMetavar("TEXT"),
      Flag.withDescription("Why the revision was not paid: it is kept with the void"),
      Flag.filter((text) => text.trim() !== "", () => "a text that is not blank")
    )
  },
  Effect.fnUntraced(function*(input) {
    const record = yield* openRecord(input, "void", true)
    const { company, json } = record
    yield* Effect.gen(function*() {
      const revision = yield* Close.voidRevision(company, {
        revision: input.revision,
        mistake: input.mistake,
        ...authorship(Option.some(input.note))
      })
      const { close, first, id, last } = revision
      const written = input.mistake ? (yield* Close.get(company, close)).revisions : []
      const voided = `${id}: ${Option.getOrElse(revision.voids, () => "")} was ${
        input.mistake ? "a mistake" : "not paid"
      }`
      // The newest active one was voided: if that is the first, none is active.
      const isOver = Option.contains(revision.voids, RevisionName.print({ close, number: 1 }))
      const line = isOver ? `${voided}, and close ${close} is over` : `${voided}; its amounts are due again`
      yield* printRecorded(json ? printRevisions([revision]) : printLines([line]), [revision], record)
      const lines = input.mistake
        ? written.flatMap(({ files, id }) =>
          files.map((file) => `${writtenLine(id, file)}: if it was sent, that was paid, and no close has it`)
        )
        : revision.voidedFiles.slice(-1).map((file) =>
          `${writtenLine(Option.getOrElse(revision.voids, () => ""), file)}: if it was paid, its amounts are paid again`
        )
      yield* printWarning(...lines)
      if (isOver && !input.mistake) {
        const isNext = Option.exists(
          yield* nextPeriod(company),
          ({ isHole, options }) => isHole && options.first === first && options.last === last
        )
        const how = isNext ? " with payroll close --next, by the same terms, or by its dates and other terms" : ""
        yield* printWarning(`close ${first} to ${last} again${how}: no close has its amounts now`)
      }
      yield* warnOfHoles(company)
    }).pipe(Effect.provide(record.layer))
  }),
  {
    text: `Record that the newest revision of a close was not paid.

  Its amounts are due again with the next revision. REVISION is given in full,
  such as 7.2. A revision in the middle that was not paid needs no void: print
  its file again. If 7.1 is voided, close 7 is over: close its period again.

  --mistake lets go of a close that should not be, such as one of a wrong year:
  its period leaves no hole, and what it accepted is not accepted any more. So
  can a close be let go of that a void without it ended.`,
    examples: [
      ["payroll void 7.2 --note 'the file was not sent' --database punches.db", "The second revision of close 7"],
      [
        "payroll void 7.1 --note 'by a wrong zone' --database punches.db --json",
        "Its first and only revision: the close is over"
      ],
      ["payroll void 8.1 --mistake --note 'a wrong year' --database punches.db", "A close that should not be"]
    ]
  }
)
