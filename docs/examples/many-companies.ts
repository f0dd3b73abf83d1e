/** Lists many companies at once. A failure of one does not stop the others, and can be resumed later. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Config, Console, Effect, Redacted, Result, Schema, Stream } from "effect"
import { type Company, CompanyGuid, CompanyId, Credentials, TimePunches } from "effect-time-punches"
import { app } from "./app.ts"

/** Four companies at a time, over one client: one token, one pool of sockets, one retry budget. */
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

/** Prints the count of each company, or what to do about its error. */
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

/** Access tokens cover one company each: the layer looks one up for every request. */
export const tokenOfEach = Credentials.layerAccessTokens((company) =>
  Config.Redacted(`TOKEN_OF_COMPANY_${company}`).pipe(Effect.orElseSucceed(() => Redacted.make("no-such-token")))
)

const companies = Config.schema(
  Schema.fromJsonString(Schema.Array(Schema.Struct({ id: CompanyId, guid: CompanyGuid }))),
  "COMPANIES"
)

export const main = Effect.gen(function*() {
  const list = yield* Effect.tapError(
    companies,
    () =>
      Console.error(
        `set COMPANIES to a JSON array, such as [{"id":4021,"guid":"3b2f7c1e-5a94-4d0b-8e6f-9c1a7d2e4021"}]`
      )
  )
  yield* report(list)
})

if (import.meta.main) NodeRuntime.runMain(Effect.provide(main, app))
