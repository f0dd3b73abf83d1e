/** The source of a command: the punches of its flags, in the order that it needs, from the service and from a copy. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Stdio, Stream } from "effect"
import { Command } from "effect/cli"
import { openSource, type Order, sourceFlags, type SourceInput } from "../../../src/cli/copy/source.ts"
import { defaultCompany, FakeService, generatePunches } from "../../../src/testing/index.ts"
import { capture, cli, environment, queries, temporaryFolder } from "../support.ts"

// Ids grow as the clock-ins go back, so that the two orders differ everywhere.
const punches = generatePunches({ seed: 4, count: 250, companyId: defaultCompany.id, deletedShare: 0 })
  .toSorted((one, other) => Date.parse(other.clocked_in) - Date.parse(one.clocked_in))
  .map((punch, at) => Object.assign(punch, { id: 1000 + at }))

/** The ids that a command reads with these flags. */
const idsOf = (args: ReadonlyArray<string>, order: Order) => {
  const ids: Array<number> = []
  const probe = Command.make(
    "probe",
    sourceFlags,
    (flags: SourceInput) =>
      Effect.flatMap(
        openSource(flags),
        (source) =>
          Stream.runForEach(source({}, order), (page) => Effect.sync(() => ids.push(...page.map(({ id }) => id))))
      ).pipe(
        Effect.scoped
      )
  )
  return Command.runWith(probe, { version: "0" })(args).pipe(
    Effect.as(ids),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: environment }))),
    Effect.provide(FakeService.layerClient),
    Effect.provide(Stdio.layerTest({ stdout: capture([]), stderr: capture([]) })),
    Effect.provide(NodeServices.layer)
  )
}

const byId = punches.map(({ id }) => id)
const byClockIn = punches.toSorted((one, other) =>
  Date.parse(one.clocked_in) - Date.parse(other.clocked_in) || one.id - other.id
).map(({ id }) => id)

describe("openSource", () => {
  it.effect("has the order of the service, or that of the clock-in where a command needs it", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* idsOf(["--page-size", "40"], "any"), byId)
      assert.deepStrictEqual(yield* idsOf(["--page-size", "40"], "clockedIn"), byClockIn)
      assert.deepStrictEqual([...new Set((yield* queries).map((query) => query["limit"]))], ["40"])
    }).pipe(Effect.provide(FakeService.layer({ punches }))))

  it.effect("has the order of the clock-in from a copy, whatever the command needs", () =>
    Effect.gen(function*() {
      const file = `${yield* temporaryFolder}/punches.db`
      yield* cli(["sync", "--database", file])

      for (const order of ["any", "clockedIn"] as const) {
        assert.deepStrictEqual(yield* idsOf(["--database", file], order), byClockIn)
      }
    }).pipe(Effect.scoped, Effect.provide(FakeService.layer({ punches }))))
})
