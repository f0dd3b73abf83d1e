/** The form of a result: `--format`, `--json` and the ending of `--output`; `--excel`, `--separator`, `--formulas` of CSV. */
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { printable } from "../../internal/text/printable.ts"
import { type CommandFailure, usage } from "../failure.ts"
import type { CsvStyle } from "../print/machine.ts"
import { choice, onFlag } from "./values.ts"

/** The form of a result: a table or a page for people, the others for programs. */
export type Format = "table" | "html" | "json" | FileFormat

/** The forms by the endings of files. */
const endings: Readonly<Partial<Record<string, Format>>> = {
  csv: "csv",
  html: "html",
  json: "json",
  jsonl: "ndjson",
  ndjson: "ndjson",
  txt: "table"
}

/** The endings of forms that no mapping of a text can have. */
export const unlikeText =
  /\.(?:7z|avro|bz2|docx?|gz|numbers|odt|ods|parquet|pdf|rtf|tar|tgz|tsv|xls[bmx]?|xz|zip|zst)$/i

/** The endings of forms that no command writes: a program that opens such a file would refuse it. */
const foreign = new RegExp(`${unlikeText.source}|\\.(?:htm|md|xml|ya?ml)$`, "i")

/** Refuses a file whose ending is that of a form that no command writes. */
export const refuseForeign = (
  output: Option.Option<string>,
  writes: string,
  advice = "Choose another ending.",
  endings = foreign
): Effect.Effect<void, CommandFailure> => {
  const file = Option.getOrElse(output, () => "")
  return endings.test(file)
    ? usage(`--output ${printable(file)} ends like another form: this command writes ${writes}`, advice)
    : Effect.void
}

/** The forms of a file of punches, which `list` and `export` share. `pageText` writes them. */
export const fileFormats = ["ndjson", "csv"] as const

/** A form of a file of punches. */
export type FileFormat = typeof fileFormats[number]

/**
 * What a user chose: `--format`, `--json` for every command that prints, the ending of the file of `--output`, and how CSV is
 * written. A command may have only some of these flags.
 */
export interface FormInput<F extends Format> {
  readonly format?: Option.Option<F>
  readonly json?: boolean
  readonly output?: Option.Option<string>
  readonly excel?: boolean
  readonly separator?: Option.Option<CsvStyle["separator"]>
  readonly formulas?: Option.Option<CsvStyle["formulas"]>
}

/** `--format` with these forms, the first one as default. */
export const formatFlag = <const F extends Format>(forms: readonly [F, ...ReadonlyArray<F>], description: string) =>
  Flag.Literals("format", forms).pipe(Flag.withDescription(`${description} (default: ${forms[0]})`))

/** `--format` and `--json`. `formOf` makes one form of the two. */
export const formatFlags = <const F extends Format>(
  forms: readonly [F, ...ReadonlyArray<F>],
  description: string,
  json = "Print one JSON value"
) => ({
  format: Flag.optional(formatFlag(forms, description)),
  json: onFlag("json", json)
})

/**
 * The form that `--format`, `--json` and the ending of `--output` choose together, else the first of `forms`, and how its CSV is
 * written. Two that name different forms contradict each other, and so does a flag of CSV in another form.
 */
export const formOf = Effect.fnUntraced(function*<F extends Format>(
  {
    excel = false,
    format: named = Option.none(),
    formulas = Option.none(),
    json = false,
    output = Option.none(),
    separator = Option.none()
  }: FormInput<F>,
  forms: readonly [F, ...ReadonlyArray<F>]
): Effect.fn.Return<{ readonly format: F; readonly style: CsvStyle }, CommandFailure> {
  if (json && Option.isSome(named) && named.value !== "json") {
    return yield* usage(`--json and --format ${named.value} are two forms`, "Give one or the other.")
  }
  const file = Option.getOrElse(output, () => "")
  const ending = endings[/\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase() ?? ""]
  const given = Option.getOrElse(named, () => json ? "json" : undefined)
  const own = Object.entries(endings).flatMap(([ending, form]) =>
    forms.some((each) => each === form) ? [`.${ending}`] : []
  )
  const advice = `Choose another ending: ${own.join(", ")}.`
  yield* refuseForeign(output, forms.join(" or "), advice)
  // A text may have any form.
  if (given !== undefined && ending !== undefined && ending !== "table" && ending !== given) {
    return yield* usage(
      `--output ${printable(file)} ends like ${ending}, and the form is ${given}`,
      "Choose one of them."
    )
  }
  const wanted = given ?? ending
  const format = wanted === undefined ? forms[0] : forms.find((each) => each === wanted)
  if (format === undefined) {
    return yield* usage(
      `--output ${printable(file)} ends like ${wanted}, and this command writes ${forms.join(" or ")}`,
      advice
    )
  }
  const ofCsv = excel
    ? "--excel"
    : Option.isSome(separator)
    ? "--separator"
    : Option.isSome(formulas)
    ? "--formulas"
    : undefined
  if (ofCsv !== undefined && format !== "csv") {
    return yield* usage(`${ofCsv} goes with --format csv, and this output is ${format}`, "Add --format csv.")
  }
  return {
    format,
    style: {
      start: excel ? "\uFEFF" : "",
      separator: Option.getOrElse(separator, () => ","),
      formulas: Option.getOrElse(formulas, () => "guard")
    }
  }
})

/** The forms of a command that prints for people, or one JSON value. */
export const tableOrJson = ["table", "json"] as const

/** `--format` and `--json` of such a command; `json` says what it prints then. `isJson` reads them. */
export const makeJsonFlags = (json?: string) => formatFlags(tableOrJson, "table for people, json for programs", json)

export const jsonFlags = makeJsonFlags()

export type JsonInput = FormInput<typeof tableOrJson[number]>

export const isJson = (flags: JsonInput) => Effect.map(formOf(flags, tableOrJson), ({ format }) => format === "json")

/** `--excel`, `--separator` and `--formulas`, for every command that writes CSV. `formOf` reads them. */
export const csvFlags = {
  excel: onFlag(
    "excel",
    "With --format csv: begin with a byte order mark, so that Excel reads Jürgen and Zoë correctly"
  ),
  separator: Flag.ChoiceWithValue("separator", [["comma", ","], ["semicolon", ";"]]).pipe(
    Flag.withDescription("With --format csv: what stands between two cells (default: comma)"),
    Flag.optional
  ),
  formulas: choice(
    "formulas",
    ["guard", "keep"],
    "With --format csv: keep writes each text as it is, for a program; guard puts a ' where a spreadsheet could run it " +
      "(default: guard)"
  )
}
