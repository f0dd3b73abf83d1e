/** The companies of a call: one, or several one after the other. */
import * as Arr from "effect/Array"
import type * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Company } from "../../Company.ts"
import type { CompanyId } from "../../Ids.ts"
import { CommandFailure, usage } from "../failure.ts"
import { companyOf, readCompany } from "../flags/connection.ts"
import { text, wholeNumber } from "../flags/values.ts"

export const companiesFlags = {
  company: text(
    "company",
    "ID[=GUID],…",
    "The company (default: TIME_PUNCHES_COMPANY_ID), or several, one after the other: 4021,4022=GUID",
    `the id of a company, ${wholeNumber(1)}, or several of ID or ID=GUID joined by commas`,
    (value) => Option.all(value.split(",").map(readCompany))
  )
}

/** The most companies of a call; the fleet takes any number. */
const mostCompanies = 20

/** The companies of the flags, or the one of the environment. Fails before anything is sent. */
export const companiesOf = Effect.fnUntraced(function*(
  { company }: Command.Command.Config.Infer<typeof companiesFlags>
) {
  const [first, ...others] = Option.getOrElse(company, () => [])
  if (first === undefined) return Arr.of(yield* companyOf({ company: Option.none() }))
  const given = [first, ...others]
  if (given.length > mostCompanies) {
    return yield* usage(
      `--company names ${given.length} companies, and a call takes up to ${mostCompanies}`,
      "A fleet keeps many in sync: see time-punches fleet --help."
    )
  }
  const twice = given.find(({ id }, at) => given.findIndex((other) => other.id === id) !== at)
  if (twice !== undefined) return yield* usage(`--company names ${twice.id} twice`)
  const complete = (each: Company) => companyOf({ company: Option.some(each) })
  return Arr.prepend(yield* Effect.forEach(others, complete), yield* complete(first))
})

/** What stands before the lines of a company: nothing if the run has one. */
export const nameOf = (id: CompanyId, { length }: ReadonlyArray<unknown>) => length === 1 ? "" : `company ${id}: `

/** A failure of one company of several. */
export const withName = (named: string, { advice, code, message }: CommandFailure) =>
  new CommandFailure({ message: named + message, advice, code })
