/** The output of each example program, against the fake service behind a socket. */
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Layer } from "effect"
import { KeyValueStore } from "effect/persistence"
import { TestClock } from "effect/testing"
import { app } from "../../../docs/examples/app.ts"
import { main as closeWeek } from "../../../docs/examples/close-week.ts"
import { app as copyOfWeek, main as closes } from "../../../docs/examples/closes.ts"
import { roundTrip } from "../../../docs/examples/export.ts"
import { main as feed } from "../../../docs/examples/feed.ts"
import { app as inProcess, printQueries } from "../../../docs/examples/filters.ts"
import { companies as companiesOfFleet } from "../../../docs/examples/fleet.ts"
import { main as labourCost } from "../../../docs/examples/labour-cost.ts"
import { main as manyCompanies } from "../../../docs/examples/many-companies.ts"
import { main as payPeriods } from "../../../docs/examples/pay-periods.ts"
import { main as payrollFile } from "../../../docs/examples/payroll-file.ts"
import { main as payroll } from "../../../docs/examples/payroll.ts"
import { lastWeek, main as sync, nightly, storeIn } from "../../../docs/examples/sqlite-sync.ts"
import { CompanyId, Endpoints } from "../../../src/index.ts"
import { defaultCompany, defaultOAuthClient, generatePunches, generateWeeks } from "../../../src/testing/index.ts"
import { otherCompany } from "../../../src/testing/service/options.ts"
import { cli, inFakeOf } from "../../cli/support.ts"
import { environment, linesOf, punches, served, spawn } from "./examples.ts"

const printed = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.map(linesOf(program), (lines) => lines.map((line) => `${line}\n`).join(""))

/** What `npm run sandbox -- --punches 1000` serves. */
const ofSandbox = generateWeeks({ count: 1000, people: 11, companyId: defaultCompany.id })

/** In the middle of the data, after twenty days of March. */
const onTheTwentieth = TestClock.setTime(Date.UTC(2026, 2, 20, 12))

/** Two companies, one of which has withdrawn its grant. */
const oneWithdrawn = served(
  { punches, oauthClients: [{ ...defaultOAuthClient, grantedGuids: [defaultCompany.guid] }] },
  { COMPANIES: JSON.stringify([defaultCompany, otherCompany].map(({ guid, id }) => ({ id, guid }))) }
)

const exported = Effect.gen(function*() {
  const directory = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
  yield* roundTrip(CompanyId.make(defaultCompany.id), directory)
})

/** Three companies behind a socket, whose punches go into a file of a temporary folder. */
const fleet = Effect.gen(function*() {
  const { baseUrl } = yield* Endpoints
  const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
  const { code, stderr, stdout } = yield* spawn("fleet.ts", environment(baseUrl), folder)
  return code === 0 ? stdout : yield* Effect.die(new Error(stderr))
}).pipe(
  Effect.scoped,
  Effect.provide(NodeServices.layer),
  Effect.provide(served({
    companies: companiesOfFleet.map(({ guid, id }) => ({ id, guid, accessToken: `token-${id}` })),
    punches: companiesOfFleet.flatMap(({ id }, at) =>
      generatePunches({ seed: at, count: 100 * (at + 1), companyId: id, firstId: at * 1000 + 1 })
    )
  }))
)

/** The call of the README, with all that a terminal shows of it. */
const summary = inFakeOf(ofSandbox)(
  Effect.map(
    cli(["summary", "--week", "2026-03-16", "--zone", "America/New_York"]),
    ({ stderr, stdout }) => stdout + stderr
  )
)

type Name =
  | "summary"
  | "start"
  | "filters"
  | "payroll"
  | "payPeriods"
  | "payrollFile"
  | "labourCost"
  | "closeWeek"
  | "closes"
  | "feed"
  | "manyCompanies"
  | "export"
  | "sync"
  | "fleet"
  | "demo"

export const outputs: Record<Name, Effect.Effect<string, unknown>> = {
  summary,
  start: Effect.flatMap(Endpoints, ({ baseUrl }) => spawn("start.ts", environment(baseUrl))).pipe(
    Effect.map(({ stdout }) => stdout),
    Effect.provide(served({ punches: ofSandbox }))
  ),
  filters: printed(printQueries).pipe(Effect.provide(inProcess)),
  payroll: printed(Effect.provide(payroll, app)).pipe(Effect.provide(served())),
  payPeriods: printed(payPeriods),
  payrollFile: printed(payrollFile),
  labourCost: Effect.andThen(onTheTwentieth, printed(Effect.provide(labourCost, app))).pipe(Effect.provide(served())),
  closeWeek: printed(Effect.provide(closeWeek, app)).pipe(Effect.provide(served())),
  closes: Effect.andThen(onTheTwentieth, printed(Effect.provide(closes, copyOfWeek))),
  feed: printed(feed.pipe(Effect.provide(copyOfWeek), Effect.provide(KeyValueStore.layerMemory))),
  manyCompanies: printed(Effect.provide(manyCompanies, app)).pipe(Effect.provide(oneWithdrawn)),
  export: printed(Effect.provide(Effect.scoped(exported), Layer.merge(app, NodeServices.layer))).pipe(
    Effect.provide(served())
  ),
  sync: Effect.andThen(
    onTheTwentieth,
    printed(
      Effect.provide(Effect.andThen(Effect.andThen(sync, nightly), lastWeek), Layer.merge(app, storeIn(":memory:")))
    )
  ).pipe(Effect.provide(served())),
  fleet,
  demo: Effect.map(spawn("demo.ts", {}), ({ stdout }) => stdout)
}
