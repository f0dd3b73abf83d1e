/** A backup of a fleet that is restored while its processes run: what the copy has, and what operators did since. */
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect } from "effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "../cli/support.ts"
import { needs } from "../support/needs.ts"
import { hasPrograms, noPostgres } from "../support/postgres.ts"
import {
  assertEqual,
  inFleet,
  loaded,
  nobodyLate,
  queried,
  running,
  serviceOf,
  sourceOf,
  within,
  worldOf
} from "./fleetWorld.ts"

const source = sourceOf(12, 60)

const programs = Fs.globSync("/usr/lib/postgresql/*/bin").toSorted().at(-1) ?? ""

describe("a backup of a fleet", () => {
  it.live("restored beside two processes loses no row, and what operators did since", (context) => {
    needs(context, hasPrograms, noPostgres)
    return Effect.gen(function*() {
      const world = yield* worldOf(source)
      yield* running(world, "a")
      yield* running(world, "b")
      yield* loaded(world)
      const backup = `${yield* temporaryFolder}/backup`
      const program = (name: string, ...args: ReadonlyArray<string>) =>
        Effect.sync(() =>
          ChildProcess.execFileSync(join(programs, name), [...args, "-d", world.url], { stdio: "pipe" })
        )
      yield* program("pg_dump", "-Fc", "-f", backup)
      const [first, second] = source.companies
      if (first === undefined || second === undefined) return assert.fail("no companies")
      yield* inFleet(world, (fleet) => Effect.all([fleet.pause([first.id]), fleet.remove([second.id])]))
      // Punches change meanwhile, and are stored.
      const before = Date.now()
      yield* Effect.sleep("5 seconds")
      yield* program("pg_restore", "--clean", "--if-exists", "--single-transaction", backup)
      const restored = Date.now()
      const isActive = queried(world, "SELECT 1 FROM fleet_company WHERE state = 'active'")
      yield* within("every company is active", Effect.map(isActive, ({ length }) => length === source.companies.length))
      yield* assertEqual(world)
      yield* nobodyLate(world)
      yield* Console.log(
        `restored ${restored - before} ms after the backup; every table equals the source ${
          Date.now() - restored
        } ms later`
      )
    }).pipe(Effect.scoped, Effect.provide(serviceOf(source)))
  })
})
