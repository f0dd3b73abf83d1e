/** Many companies at once, one of which fails: the others are not held up, and the failed one can go on later. */
import { NodeRuntime } from "@effect/platform-node"
import { Config, Console, Effect, Redacted, Result, Schema, Stream } from "effect"
import { type Company, CompanyGuid, CompanyId, Credentials, TimePunches } from "effect-time-punches"
import { app } from "./app.ts"

/** Four companies at a time share one client: one token, one pool of sockets, one retry budget. */
export const countAll = (companies: ReadonlyArray<Company>) =>
  Effect.forEach(
    companies,
    (company) =>
      TimePunches.list(company).pipe(
        Stream.runCount,
        Effect.result,
        Effect.map((result) => ({ company: company.id, result }))
      ),
    { concurrency: 4 }
  )

/** What each company had, or what to do about it. */
export const report = Effect.fn("report")(function*(companies: ReadonlyArray<Company>) {
  for (const { company, result } of yield* countAll(companies)) {
    yield* Console.log(Result.match(result, {
      onSuccess: (punches) => `company ${company}: ${punches} punches`,
      onFailure: (error) =>
        error._tag === "Forbidden"
          ? `company ${company}: access was withdrawn, ask the customer (${error.problem.detail ?? "no detail"})`
          : `company ${company}: ${error._tag} after ${error.pagesCompleted} pages, to be resumed`
    }))
  }
})

/** The other kind of credential covers one company each: a token is looked up for every request. */
export const tokenOfEach = Credentials.layerAccessTokens((company) =>
  Config.Redacted(`TOKEN_OF_COMPANY_${company}`).pipe(Effect.orElseSucceed(() => Redacted.make("no-such-token")))
)

const companies = Config.schema(
  Schema.fromJsonString(Schema.Array(Schema.Struct({ id: CompanyId, guid: CompanyGuid }))),
  "COMPANIES"
)

export const main = Effect.flatMap(companies, report)

if (import.meta.main) NodeRuntime.runMain(Effect.provide(main, app))
