/** The companies of standard input, as CSV. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stdio from "effect/Stdio"
import type { Company } from "../../Company.ts"
import { CompanyGuid } from "../../Ids.ts"
import { usage } from "../failure.ts"
import { readCompanyId } from "../flags/connection.ts"
import { parseCsvFile } from "../flags/csvFile.ts"
import { collectBounded } from "../flags/file.ts"
import { wholeNumber } from "../flags/values.ts"

/** CSV with the header `company_id,guid`; the guid may be empty. A wrong line adds nothing. */
export const companiesOfInput = Effect.gen(function*() {
  const stdio = yield* Stdio.Stdio
  if (yield* stdio.stdinIsTerminal) {
    return yield* usage("no company: give ids, or CSV with the header company_id,guid on standard input")
  }
  const bytes = yield* collectBounded(stdio.stdin, "standard input")
  const companies: Array<Company> = []
  yield* parseCsvFile(bytes, "standard input", ["company_id,guid"], ([first = "", second = ""]) => {
    const id = readCompanyId(first.trim())
    if (Option.isNone(id)) return `company_id must be ${wholeNumber(1)}`
    const guid = second.trim() === "" ? Option.some(undefined) : CompanyGuid.makeOption(second.trim())
    if (Option.isNone(guid)) return "guid must be a uuid, or empty"
    companies.push({ id: id.value, guid: guid.value })
    return undefined
  })
  return companies
})
