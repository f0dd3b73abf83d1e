/** `time-punches fleet add`: companies of the arguments, or of CSV on standard input. */
import * as Argument from "effect/cli/Argument"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { databaseFlag } from "../database/database.ts"
import { readCompany } from "../flags/connection.ts"
import { isJson, jsonFlags } from "../flags/form.ts"
import { interval } from "../flags/values.ts"
import { counted, formatNumber } from "../print/format.ts"
import { printWarning } from "../print/messages.ts"
import { printDone } from "../print/output.ts"
import { makeVerb } from "../verb.ts"
import { companiesOfInput, withNewFleet } from "./operate.ts"

export const verb = makeVerb(
  "add",
  {
    database: databaseFlag,
    every: interval(
      "every",
      "How often they are synced, such as 30s, 15m or 2h (default: 15m, or what a known company has)",
      "15m"
    ),
    companies: Argument.String("id").pipe(
      Argument.withMetavar("ID[=GUID]"),
      Argument.withDescription("Companies; without any, CSV on standard input: company_id,guid"),
      Argument.filterMap(readCompany, () => "the id of a company, or ID=GUID"),
      Argument.variadic()
    ),
    ...jsonFlags
  },
  Effect.fnUntraced(function*(input) {
    const json = yield* isJson(input)
    const given = input.companies.length > 0 ? input.companies : yield* companiesOfInput
    const every = Option.getOrUndefined(input.every)
    const companies = given.map(({ guid, id }) => ({ id, guid, every }))
    const { added, changed } = yield* withNewFleet(input, (fleet) => fleet.add(companies))
    // A company that was known keeps its guid.
    const bare = companies.find(({ guid, id }) => guid === undefined && added.includes(id))
    if (bare !== undefined) {
      yield* printWarning(`fleet run blocks a company without a guid: time-punches fleet add ${bare.id}=GUID`)
    }
    yield* printDone(
      `${counted(added.length, "company", "companies")} added, ${formatNumber(changed.length)} changed`,
      json ? JSON.stringify({ added, changed }) : undefined
    )
  }),
  {
    text: `Add companies, due at once. A company that is known gets the interval and the
  guid that are given, and keeps the rest. fleet run blocks a company without a
  guid, since its OAuth client must send one.`,
    examples: [
      [
        "fleet add --database punches.db --every 5m 4021=3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4f60",
        "One company and its guid"
      ],
      ["fleet add --database punches.db < companies.csv", "Many, with their guids"]
    ]
  }
)
