/** The source of a command: the punches of its flags, from the service and from a copy. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Stdio, Stream } from "effect"
import { Command } from "effect/cli"
import { openSource, sourceFlags, type SourceInput } from "../../../src/cli/database/source.ts"
import { defaultCompany, FakeService, generatePunches } from "../../../src/testing/index.ts"
import { capture, cli, environment, queries, temporaryFolder } from "../support.ts"

// Ids grow as the clock-ins go back, so that the two orders differ everywhere.
const punches = generatePunches({ seed: 4, count: 250, companyId: defaultCompany.id, deletedShare: 0 })
  .toSorted((one, other) => Date.parse(other.clocked_in) - Date.parse(one.clocked_in))
  .map((punch, at) => Object.assign(punch, { id: 1000 + at }))

/** The ids that a command reads with these flags. */
const idsOf = (args: ReadonlyArray<string>) => {
  const ids: Array<number> = []
  const probe = Command.make(
    "probe",
    sourceFlags,
    (flags: SourceInput) =>
      Effect.flatMap(
        openSource(flags),
        (source) => Stream.runForEach(source({}), (page) => Effect.sync(() => ids.push(...page.map(({ id }) => id))))
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
  it.effect("has the order of the service", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* idsOf(["--page-size", "40"]), byId)
      assert.deepStrictEqual([...new Set((yield* queries).map((query) => query["limit"]))], ["40"])
    }).pipe(Effect.provide(FakeService.layer({ punches }))))

  it.effect("has the order of the clock-in from a copy", () =>
    Effect.gen(function*() {
      const file = `${yield* temporaryFolder}/punches.db`
      yield* cli(["sync", "--database", file])

      assert.deepStrictEqual(yield* idsOf(["--database", file]), byClockIn)
    }).pipe(Effect.scoped, Effect.provide(FakeService.layer({ punches }))))
})
