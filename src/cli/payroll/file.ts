/** `time-punches payroll file`: the file that a payroll program takes, of a revision or as a preview. */
import * as Arr from "effect/Array"
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Struct from "effect/Struct"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import type * as Close from "../../close/Close.ts"
import * as CloseSums from "../../close/CloseSums.ts"
import * as CloseTerms from "../../close/CloseTerms.ts"
import { detailOf } from "../../close/files.ts"
import { prepareFile } from "../../close/payrollFile.ts"
import type { FormChange } from "../../close/WrittenFile.ts"
import { printable } from "../../internal/text/printable.ts"
import type * as PayrollFile from "../../payroll/PayrollFile.ts"
import { layerCopy } from "../database/copy.ts"
import { personOf } from "../database/database.ts"
import { openSource, sourceFlags } from "../database/source.ts"
import { usage } from "../failure.ts"
import { parseJson, readText, warnOfPlanted } from "../flags/file.ts"
import { firstGiven } from "../flags/filter.ts"
import { refuseForeign, unlikeText } from "../flags/form.ts"
import { namesFlag, readCodes, readNames } from "../flags/names.ts"
import { fileOf, intoOutput, outputFlags } from "../flags/output.ts"
import { textOfDates } from "../flags/period.ts"
import { orDefault } from "../flags/settings.ts"
import { date, fileFlag, onFlag } from "../flags/values.ts"
import { counted, countedPunches, formatHours, formatMoney, formatSignedHours, minuteOf } from "../print/format.ts"
import { printHint, printWarning } from "../print/messages.ts"
import { printCells, printText } from "../print/output.ts"
import { makeVerb } from "../verb.ts"
import { writtenLine } from "./print.ts"
import { openClosed, readTerms, revisionName, termFlags } from "./record.ts"

const fileFlags = {
  revisions: revisionName.pipe(Argument.variadic()),
  preview: onFlag("preview", "Print the file that a close of the period would have now, and record nothing"),
  example: Flag.Literals("example", ["codes", "person", "sections", "names", "widths", "days"]).pipe(
    Flag.withDescription("Print a mapping of this form to start from, and nothing else"),
    Flag.optional
  ),
  mapping: fileFlag("mapping", "How the file of the payroll program is written, in JSON"),
  codes: fileFlag(
    "codes",
    "The employee numbers and other codes of ids, from a CSV file with the columns kind,id,code"
  ),
  payDate: date("pay-date", "The date for columns with payDate"),
  set: Flag.KeyValuePair("set").pipe(
    Flag.withMetavar("NAME=TEXT"),
    Flag.withDescription("A text of this file alone, for columns with \"set\": \"NAME\"; may be repeated"),
    Flag.optional
  ),
  ...outputFlags,
  names: namesFlag,
  ...sourceFlags,
  ...termFlags
}

type FileInput = Command.Command.Config.Infer<typeof fileFlags>

export const verb = makeVerb("file", fileFlags, (flags) =>
  // The file has its name before it is noted.
  Effect.flatMap(intoOutput(writeFile(flags), flags), ({ note }) => note), {
  text: `Print the file of a revision, or of several, for a payroll program.

  Of the first revision it has the sums, of a later one the difference to the
  file of the revision before. It is the same file each time. The files of all
  active revisions add up, cell by cell, to a file of the newest one. In a file
  of several revisions, rows of equal texts are added.

  With --output, the close notes the time, the user, the mapping and the codes.
  Standard output is not noted. A later file of the close by another mapping or
  with other codes is warned about, and so is what was written out before.

  --preview prints the file that a close of the period would have now. It
  checks and records nothing.

  --example prints a mapping to start from: pay codes (a row each), a person (a
  row each), sections before the rows, names without numbers, widths with a line
  of totals, or days (a row each).`,
  examples: [
    ["payroll file --example person --output payroll.json", "A mapping to start from"],
    [
      "payroll file 7.2 --mapping payroll.json --codes codes.csv --output pay.csv " +
      "--database punches.db",
      "What revision 7.2 pays"
    ],
    [
      "payroll file 8.1 7.2 --mapping payroll.json --output pay.csv --database punches.db",
      "A week, and the correction of the week before"
    ],
    [
      "payroll file --preview --week 2026-03-02 --zone America/New_York " +
      "--mapping payroll.json --database punches.db",
      "What a close of the week would pay"
    ]
  ]
})

/** Prints a mapping of the documentation, which the package has beside the command. */
const printExample = Effect.fnUntraced(function*(name: string, input: FileInput) {
  const other = input.preview
    ? "--preview"
    : firstGiven(input, ["mapping", "codes", "payDate", "set", "names", ...Struct.keys(termFlags)]) ??
      input.revisions[0]?.name
  if (other !== undefined) return yield* usage(`--example prints a mapping alone: ${other} is for a file`)
  const folder = dirname(createRequire(import.meta.url).resolve("effect-time-punches/package.json"))
  yield* printText(yield* readText(join(folder, "docs/examples/payroll-files", `${name}.json`)))
})

const unnoted = { note: Effect.void }

const writeFile = Effect.fnUntraced(function*(input: FileInput) {
  if (Option.isSome(input.example)) return yield* Effect.as(printExample(input.example.value, input), unnoted)
  const form = yield* readForm(input)
  // The mapping lays out its text, maybe as XML, so any ending of a text is right.
  const isTabbed = form.mapping.separator === "\t" && Option.exists(input.output, (file) => /\.tsv$/i.test(file))
  if (!isTabbed) yield* refuseForeign(input.output, "the text of its mapping", undefined, unlikeText)
  if (input.preview) return yield* Effect.as(printPreview(input, form), unnoted)
  const recorded = firstGiven(input, Struct.keys(termFlags))
  if (recorded !== undefined) return yield* usage(`${recorded} goes with --preview: a revision has it in its record`)
  const unread = Option.contains(input.source, "service") ? "--source" : firstGiven(input, ["pageSize", "maxAge"])
  if (unread !== undefined) return yield* usage(`${unread} goes with --preview: a revision is printed from its record`)
  if (input.revisions.length === 0) {
    return yield* usage("payroll file prints revisions: name one, such as payroll file 7.2", "Or give --preview.")
  }
  const { company, layer, target } = yield* openClosed(input, "file")
  const { codes, mapping, payDate, set } = form
  const revisions = input.revisions.map(({ name }) => name)
  const { file, note } = yield* prepareFile(company, { revisions, mapping, codes, payDate, set, user: personOf() })
    .pipe(Effect.mapError((error) => failureOf(form, error)), Effect.provide(layer))
  const shown = file.revisions.map(({ previous, revision }) =>
    Option.match(previous, { onNone: () => revision.id, onSome: ({ id }) => `${revision.id} less ${id}` })
  )
  yield* printFile(form, shown.join(", "), file)
  if (file.changes.length > 0) yield* printWarning(...file.changes.map(changeLine), addsUp)
  // Standard output may be a look, so it is not noted, and a revision without a note may be paid by it.
  const isNoted = Option.isSome(fileOf(input.output))
  yield* printWarning(...file.remarks.filter(({ kind }) => isNoted || kind !== "unwritten").map(remarkLine))
  if (!isNoted) return { note: Effect.void }
  const closes = [...new Set(file.revisions.map(({ revision }) => revision.close))]
  return {
    note: note.pipe(
      Effect.provide(layerCopy(company, target, false)),
      Effect.asVoid,
      // The file is there: it is as good as without a note, unless its revision was voided or erased meanwhile.
      Effect.catch((error) =>
        error._tag === "UnknownClose"
          ? usage(error.message, "The file was written before that: do not pay it.")
          : printWarning(
            `the file was written, and close ${closes.join(" and ")} has no note of it: ${printable(error.message)}`
          )
      )
    )
  }
}, Effect.scoped)

const addsUp = "The files of all active revisions add up only with one mapping and one code of each id."

const changeLine = ({ codes, file, mapping, texts }: FormChange): string => {
  const otherCodes = codes.map(({ before, code, id, kind }) =>
    `${kind} ${id}: ${printable(before)}, now ${printable(code)}`
  )
  const otherTexts = texts.map(({ field, id, kind }) => `${field} of ${kind} ${id}`)
  const parts = [
    ["another mapping", listed(mapping, ", ")],
    ["other codes", listed(otherCodes, "; ")],
    ["other texts", listed(otherTexts, ", ")]
  ].flatMap(([what, items]) => items === "" ? [] : [`${what} (${items})`])
  return `the file of ${file.revision}, written out ${minuteOf(file.at)}, has ${parts.join(" and ")}`
}

const remarkLine = (remark: Close.FileRemark): string => {
  switch (remark.kind) {
    case "written":
      return `${writtenLine(remark.revision, remark.file)}: pay only one`
    case "voided":
      return `${writtenLine(remark.revision, remark.file)}, and was voided: if it was paid, this file pays it again`
    case "unwritten":
      return `no file of ${remark.revision} was written out, and this one has only what is due after it`
  }
}

/** At most ten of them. */
const listed = (items: ReadonlyArray<string>, mark: string): string => {
  const more = items.length - 10
  return [...items.slice(0, 10), ...(more > 0 ? [`${more} more`] : [])].join(mark)
}

const printPreview = Effect.fnUntraced(function*(input: FileInput, form: FileForm) {
  const [revision] = input.revisions
  if (revision !== undefined) {
    return yield* usage(`--preview is of a period, and ${revision.name} of the record`, "Give one of them.")
  }
  const { flags: { zone }, terms: given } = yield* readTerms(input)
  if (Option.isNone(given)) {
    return yield* usage(
      "--preview needs a period of dates",
      "Add one, such as --week DATE, with --zone or --zone-file."
    )
  }
  const { company, list } = yield* openSource({ ...input, zone })
  const terms = yield* Effect.fromResult(CloseTerms.make({ ...given.value, companyId: company.id }))
  const punches = list({ clockedIn: CloseTerms.queryWindow(terms) })
  const sums = yield* Stream.run(punches, CloseSums.detailedSink(terms, { detail: detailOf(form.mapping) }))
  const { codes, mapping, payDate, set } = form
  const state = { first: terms.first, last: terms.last, payDate, ...sums }
  const { encode } = yield* lazily
  const file = yield* Effect.mapError(
    Effect.fromResult(encode(mapping, { codes, state, set, previous: Option.none() })),
    (error) => failureOf(form, error)
  )
  yield* printFile(form, `preview of ${textOfDates(terms)}`, file)
  const unknown = sums.rows.reduce((sum, { incomplete }) => sum + incomplete, 0)
  if (unknown > 0) {
    yield* printWarning(
      `the time of ${countedPunches(unknown)} is unknown, so not paid: payroll close asks for --accept open or anomaly`
    )
  }
})

/** Its schemas would slow each start. */
const lazily = Effect.promise(() => import("../../payroll/PayrollFile.ts"))

/** How a file is printed: read before anything else happens, so that a mistake in it costs nothing. */
const readForm = Effect.fnUntraced(function*(input: FileInput) {
  const names = yield* readNames(input.names)
  const mappingFile = Option.getOrUndefined(yield* orDefault(input.mapping, "mapping"))
  if (mappingFile === undefined) {
    return yield* usage("payroll file needs --mapping FILE: how the file of the payroll program is written")
  }
  const codes = yield* orDefault(input.codes, "codes")
  const text = yield* Effect.tap(readText(mappingFile), warnOfPlanted(mappingFile))
  const json = yield* Effect.fromResult(
    Result.mapError(
      parseJson(text),
      (why) => usage(`${printable(mappingFile)} ${why}`, "It is the mapping: payroll file --example NAME prints one.")
    )
  )
  const { decodeMapping } = yield* lazily
  const mapping = yield* Effect.mapError(
    Effect.fromResult(decodeMapping(json)),
    ({ message }) => usage(`${printable(mappingFile)}: ${printable(message)}`)
  )
  const given = yield* readCodes(codes, mapping.formulas === "keep")
  return {
    mapping,
    codes: { getCode: () => undefined, getName: names, ...given },
    payDate: Option.getOrUndefined(input.payDate),
    set: Option.getOrElse(input.set, () => ({})),
    /** The file of the mapping and the file of the codes, as errors name them. */
    mappingFile,
    codesFile: Option.getOrElse(codes, () => "--codes"),
    namesFile: Option.getOrElse(yield* orDefault(input.names, "names"), () => "--names")
  }
})

type FileForm = Effect.Success<ReturnType<typeof readForm>>

/** Why a file cannot be printed, with the file of the user that is to be changed. */
const failureOf = ({ codesFile, mapping, mappingFile, namesFile, payDate }: FileForm, error: Close.FileError) => {
  const message = printable(error.message)
  switch (error._tag) {
    case "MappingError":
      return usage(
        `${printable(mappingFile)}: ${message}`,
        ...(payDate === undefined && error.detail.includes("pay date") ? ["Add --pay-date DATE."] : []),
        ...(error.path.endsWith(".set") ? ["Add --set NAME=TEXT."] : [])
      )
    case "MissingCodes": {
      const sourceOf = ({ field, kind }: typeof error.missing[number]) =>
        field === "name" && mapping.columns.some(({ value }) => value === `${kind}Name`) ? namesFile : codesFile
      const files = [...new Set(error.missing.map(sourceOf))].map((file) => printable(file)).join(", ")
      return usage(`${files}: ${message}`, "Add them. Nothing was printed; a record is as it was.")
    }
    case "UnfitCell":
      return usage(`${printable(mappingFile)}: ${message}`, "Nothing was printed.")
    case "FormulaText":
      return usage(message, `Change it, or add "formulas": "keep" to ${printable(mappingFile)}.`)
    default:
      return error
  }
}

/** Prints a file; `shown` names it on standard error. */
const printFile = Effect.fnUntraced(function*({ mapping }: FileForm, shown: string, file: PayrollFile.PayrollFile) {
  yield* printCells(Stream.make(file.text), mapping.separator, () => file.bytes)
  yield* printHint(`${shown}: ${counted(file.rows, "row")}`)
  yield* printWarning(
    ...file.remainders.map(({ header, remainder }) => {
      const time = formatHours(Duration.abs(remainder))
      return `${printable(header)}: the rows add up to ${
        Duration.isZero(remainder) ? "" : `${time} ${Duration.isPositive(remainder) ? "less than " : "more than "}`
      }the exact sum`
    }),
    ...Object.entries(Arr.groupBy(file.lacking, ({ field }) => field)).map(([field, ids]) =>
      `no ${printable(field)} for ${listed(ids.map(({ id, kind }) => `${kind} ${id}`), ", ")}: their cells are empty`
    ),
    ...file.sharedCodes.map(({ code, rows, userIds }) =>
      `users ${userIds.join(", ")} have the same code, ${printable(code)}: the file pays them as one person` +
      `${rows.length === 0 ? "" : ` in row ${rows.join(", ")}`}; hours over a threshold are counted for each alone`
    ),
    // A cost is an estimate: a file of hours pays by them.
    ...file.omitted.filter(({ amount }) => amount !== "cost" || file.remainders.length === 0).map((omitted) =>
      `${omitted.amount} ${omitted.amount === "hours" ? formatSignedHours(omitted.sum) : formatMoney(omitted.sum)} of ${
        counted(omitted.people, "person", "people")
      }: in no column of this file`
    )
  )
})
