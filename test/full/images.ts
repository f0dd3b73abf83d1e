/**
 * Takes the pictures of `docs/images/`: `npm run images`, or `npm run images sandbox terminal` for some of them. Each page is a
 * row of the table, shown as a phone and a desktop show it. Look at a picture before you commit it.
 */
import { Effect, Layer, Schedule, type Scope } from "effect"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { CompanyGuid, CompanyId } from "../../src/index.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, generatePunches, generateWeeks } from "../../src/testing/index.ts"
import { environmentOf, start } from "../cli/child.ts"
import { takeTerminal } from "../images/terminal.ts"
import { browser, widths } from "./browser.ts"

interface Picture {
  /** Starts what serves the page, until the scope closes, and returns its address, which may be of a file. */
  readonly served: Effect.Effect<string, unknown, Scope.Scope>
  /** What the page has once it is ready, as a selector. */
  readonly ready: string
  /** Height of the desktop in pixels; that of the phone is 812. */
  readonly height: number
}

const sandbox = Effect.gen(function*() {
  const punches = generateWeeks({ seed: 1, count: 500, people: 8, companyId: defaultCompany.id })
  const built = yield* Layer.build(
    FakeServer.layer({ page: true, port: 4010 }).pipe(Layer.provideMerge(FakeService.layer({ punches })))
  )
  const { url } = yield* Effect.provide(FakeServer, built)
  const requests: ReadonlyArray<readonly [query: string, token: string]> = [
    ["", "expired"],
    ["?limit=200&clocked_in[gte]=2026-03-02T05:00:00Z", defaultCompany.accessToken],
    ["?limit=500", defaultCompany.accessToken],
    ["?limit=200&deleted=null", defaultCompany.accessToken]
  ]
  for (const [query, token] of requests) {
    const address = `${url}/v2/company/${defaultCompany.id}/time_punches${query}`
    yield* Effect.promise(() => fetch(address, { headers: { authorization: `Bearer ${token}` } }))
  }
  return `${url}/`
})

/** The report of a week, made by the command and opened as a file. */
const report = Effect.gen(function*() {
  const punches = generateWeeks({ seed: 1, weeks: 2, people: 40, companyId: defaultCompany.id })
  const built = yield* Layer.build(FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ punches }))))
  const { url } = yield* Effect.provide(FakeServer, built)
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => Fs.mkdtempSync(join(tmpdir(), "time-punches-report-"))),
    (folder) => Effect.sync(() => Fs.rmSync(folder, { recursive: true }))
  )
  const file = join(folder, "week.html")
  const args = ["report", "--week", "2026-03-09", "--zone", "America/New_York", "--output", file]
  const { ended } = start(args, environmentOf(url))
  const { code, stderr } = yield* Effect.promise(() => ended)
  if (code !== 0) return yield* Effect.die(new Error(stderr))
  return pathToFileURL(file).href
})

/** The page of a fleet of twelve companies, one of which the service does not know. */
const fleet = Effect.gen(function*() {
  const companies = Array.from({ length: 12 }, (_, at) => ({
    id: CompanyId.make(5001 + at),
    guid: CompanyGuid.make(`3b2f7c1e-5a94-4d0b-8e6f-${String(5001 + at).padStart(12, "0")}`),
    accessToken: `token-${5001 + at}`
  }))
  const punches = companies.flatMap(({ id }, at) =>
    generatePunches({ seed: at, count: 300, companyId: id, firstId: at * 10_000 + 1 })
  )
  const built = yield* Layer.build(
    FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ companies, punches })))
  )
  const { url } = yield* Effect.provide(FakeServer, built)
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => Fs.mkdtempSync(join(tmpdir(), "time-punches-fleet-"))),
    (folder) => Effect.sync(() => Fs.rmSync(folder, { recursive: true }))
  )
  const database = ["--database", join(folder, "punches.db")]
  const unknown = "5999=3b2f7c1e-5a94-4d0b-8e6f-000000005999"
  const added = start(
    ["fleet", "add", ...database, "--every", "1m", ...companies.map(({ guid, id }) => `${id}=${guid}`), unknown],
    environmentOf(url)
  )
  const { code, stderr } = yield* Effect.promise(() => added.ended)
  if (code !== 0) return yield* Effect.die(new Error(stderr))
  yield* Effect.acquireRelease(
    Effect.sync(() => start(["fleet", "run", ...database, "--http", "4011"], environmentOf(url))),
    ({ child, ended }) =>
      Effect.promise(() => {
        child.kill("SIGTERM")
        return ended
      })
  )
  const address = "http://127.0.0.1:4011/"
  yield* Effect.tryPromise(() => fetch(address)).pipe(
    Effect.retry({ times: 100, schedule: Schedule.spaced("200 millis") })
  )
  // The first loads end, and the page reads the fleet each five seconds.
  yield* Effect.sleep("12 seconds")
  return address
})

/** The pictures by the name of their files. */
const pictures: Readonly<Record<string, Picture>> = {
  sandbox: { served: sandbox, ready: "#rows tr", height: 1300 },
  report: { served: report, ready: "svg", height: 1300 },
  fleet: { served: fleet, ready: "table tr", height: 1000 }
}

const take = Effect.fnUntraced(function*(name: string, { height, ready, served }: Picture) {
  const address = yield* served
  const { open } = yield* browser
  for (const width of widths) {
    const page = yield* open(address, { width })
    yield* Effect.promise(() => page.setViewportSize({ width, height: width < 1000 ? 812 : height }))
    yield* Effect.promise(() => page.locator(ready).first().waitFor())
    // The first drawing of a live page follows its first event.
    yield* Effect.promise(() => page.waitForTimeout(500))
    yield* Effect.promise(() =>
      page.screenshot({ path: new URL(`../../docs/images/${name}-${width}.png`, import.meta.url).pathname })
    )
  }
}, Effect.scoped)

const names = process.argv.slice(2)
Fs.mkdirSync(new URL("../../docs/images/", import.meta.url), { recursive: true })
await Effect.runPromise(
  Effect.forEach(
    Object.entries(pictures).filter(([name]) => names.length === 0 || names.includes(name)),
    ([name, picture]) => take(name, picture)
  )
)
if (names.length === 0 || names.includes("terminal")) await takeTerminal()
