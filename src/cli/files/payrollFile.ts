/** The file that a payroll program takes: its flags, the mapping and the codes, and where it is written. */
import type * as Command from "effect/cli/Command"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { printable } from "../../internal/wire/issue.ts"
import type * as PayrollFile from "../../payroll/PayrollFile.ts"
import { usage } from "../failure.ts"
import { readUserFile } from "../flags/file.ts"
import { type Names, readCodes } from "../flags/names.ts"
import { date, nonBlank } from "../flags/values.ts"
import { counted, formatExactHours } from "../print/format.ts"
import { printHint, printWarning } from "../print/messages.ts"
import { printText } from "../print/output.ts"

/** Its schemas would slow each start, so they are loaded only for `--map`. */
const lazily = Effect.promise(() => import("../../payroll/PayrollFile.ts"))

const aFile = "the name of a file"

export const fileFlags = {
  map: nonBlank("map", "FILE", "Print the file of a payroll program, by this mapping in JSON", aFile),
  codes: nonBlank(
    "codes",
    "FILE",
    "With --map: the employee numbers and other codes of ids, from a CSV file with the columns kind,id,code",
    aFile
  ),
  payDate: date("pay-date", "With --map: the date for columns with payDate")
}

type FileInput = Command.Command.Config.Infer<typeof fileFlags>

/** How a file is printed: read before anything else happens, so that a mistake in it costs nothing. */
export interface FileForm {
  readonly mapping: PayrollFile.Mapping
  readonly codes: PayrollFile.PayrollCodes
  readonly payDate: PayrollFile.PayrollState["payDate"]
  /** The file of the mapping and the file of the codes, as errors name them. */
  readonly map: string
  readonly codesFile: string
}

/** The form of the file, if `--map` is given. `others`: flags that were given and do not go with it. */
export const readForm = Effect.fnUntraced(function*(
  input: FileInput,
  names: Names | undefined,
  others: ReadonlyArray<string | false>
) {
  if (Option.isNone(input.map)) {
    const extra = [
      Option.isSome(input.codes) && "--codes",
      Option.isSome(input.payDate) && "--pay-date"
    ].find((flag) => flag !== false)
    return extra === undefined
      ? Option.none()
      : yield* usage(`${extra} goes with --map`, "Add --map FILE: how the file of the payroll program is written.")
  }
  const other = others.find((flag) => flag !== false)
  if (other !== undefined) return yield* usage(`--map and ${other} do not go together`, "Give one of them.")
  const map = input.map.value
  const text = new TextDecoder().decode(yield* readUserFile(map))
  const json = yield* Effect.fromResult(Result.try({
    try: (): unknown => JSON.parse(text),
    catch: () => usage(`${printable(map)} is not JSON`, "It is the mapping: docs/14-payroll-files.md has examples.")
  }))
  const { decodeMapping } = yield* lazily
  const mapping = yield* Effect.mapError(
    Effect.fromResult(decodeMapping(json)),
    ({ message }) => usage(`${printable(map)}: ${printable(message)}`)
  )
  const codeOf = yield* readCodes(input.codes, mapping.formulas === "keep")
  return Option.some<FileForm>({
    mapping,
    codes: { getCode: codeOf ?? (() => undefined), getName: names },
    payDate: Option.getOrUndefined(input.payDate),
    map,
    codesFile: Option.getOrElse(input.codes, () => "--codes")
  })
})

/** Prints the file of a state, or the difference to the state before; `shown` names it on standard error. */
export const printFile = Effect.fnUntraced(function*(
  { codes, codesFile, map, mapping, payDate }: FileForm,
  shown: string,
  state: PayrollFile.PayrollState,
  before?: PayrollFile.PayrollState
) {
  const dated = { ...state, payDate }
  const { encode } = yield* lazily
  const file = yield* Effect.mapError(
    Effect.fromResult(encode(mapping, codes, dated, before)),
    (error) => {
      const message = printable(error.message)
      switch (error._tag) {
        case "MappingError":
          return usage(
            `${printable(map)}: ${message}`,
            ...(payDate === undefined && error.detail.includes("pay date") ? ["Add --pay-date DATE."] : [])
          )
        case "MissingCodes":
          return usage(`${printable(codesFile)}: ${message}`, "Add them. Nothing was printed; a record stands.")
        case "FormulaText":
          return usage(message, `Change it, or add "formulas": "keep" to ${printable(map)}.`)
      }
    }
  )
  yield* printText(file.text)
  yield* printHint(`${shown}: ${counted(file.rows, "row")}`)
  yield* printWarning(
    ...file.remainders.map(({ header, remainder }) => {
      const time = formatExactHours(Duration.abs(remainder))
      return `${printable(header)}: the rows add up to ${
        Duration.isZero(remainder) ? "" : `${time} ${Duration.isPositive(remainder) ? "less than " : "more than "}`
      }the exact sum`
    }),
    ...file.sharedCodes.map(({ code, rows, userIds }) =>
      `users ${userIds.join(", ")} have the same code, ${printable(code)}: the file pays them as one person` +
      `${rows.length === 0 ? "" : ` in row ${rows.join(", ")}`}; hours over a threshold are counted for each alone`
    )
  )
})
