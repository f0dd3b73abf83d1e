/** How long the companies of a fleet wait when one thing is wrong. `fleetKilled.test.ts` has the faults that cost seconds. */
import { assert, describe } from "@effect/vitest"
import { type Duration, Effect } from "effect"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { companies, type Fleet, now, row } from "./fleetAges.ts"
import { queried, within, type World } from "./fleetWorld.ts"

/** What lets a test set the clock that the server of the database reads, where it is installed. */
const faketime = Fs.globSync("/usr/lib/*/faketime/libfaketime.so.1")[0]

/** A process says what is wrong with it once a minute: not once a turn. A row is over after two minutes. */
const saysOnceAMinute = (log: string, line: string) => {
  const times = log.split(line).length - 1
  assert.isTrue(times >= 1 && times <= 5, log)
}

const refused = "the service refuses this process"

/** "b" completes turns that began after now. */
const worksAgain = (fleet: Fleet, limit?: Duration.Input) =>
  Effect.gen(function*() {
    const [at] = yield* queried(fleet, `SELECT ${now} AS now`)
    const turns = queried(
      fleet,
      `SELECT 1 FROM fleet_run WHERE runner = 'b' AND outcome = 'Complete' AND began_at > ${Number(at?.["now"])}`
    )
    yield* within("it works again", Effect.map(turns, ({ length }) => length >= 3), Effect.sync(fleet.b.log), limit)
  })

const hasHealth = ({ health, log }: Fleet["a"], wanted: number) =>
  within(
    `health says ${wanted}`,
    Effect.map(health, (status) => status === wanted),
    Effect.map(health, (status) => `${status} ${log()}`)
  )

/** All times of the fleet, as if the clock had been ahead by so much until now. */
const setBack = (fleet: World, hours: number) =>
  Effect.forEach([
    "UPDATE fleet_company SET next_at = next_at + $, added_at = added_at + $, last_ok_at = last_ok_at + $, " +
    "heartbeat_at = heartbeat_at + $, sweep_at = sweep_at + $, full_sweep_at = full_sweep_at + $",
    "UPDATE fleet_run SET began_at = began_at + $, ended_at = ended_at + $"
  ], (text) =>
    queried(fleet, text.replaceAll("$", `${hours * 3_600_000}`)), { discard: true })

describe.concurrent("the worst age of a fleet of two processes", () => {
  const clock = Fs.mkdtempSync(join(tmpdir(), "time-punches-clock-"))
  const timestamp = join(clock, "offset")
  Fs.writeFileSync(timestamp, "+0")
  Fs.chmodSync(clock, 0o755)

  row(
    "a clock of the database that is set back by 23 hours",
    { most: 360, seconds: 100 },
    (fleet) => setBack(fleet, 23)
  )

  row(
    "a clock of the database that is set back by an hour",
    {
      most: 360,
      seconds: 100,
      env: () =>
        faketime === undefined ? {} : {
          LD_PRELOAD: faketime,
          FAKETIME_TIMESTAMP_FILE: timestamp,
          FAKETIME_NO_CACHE: "1",
          FAKETIME_DONT_FAKE_MONOTONIC: "1"
        }
    },
    (fleet) =>
      faketime === undefined ? setBack(fleet, 1) : Effect.gen(function*() {
        const clockOf = Effect.map(queried(fleet, `SELECT ${now} AS at`), ([row]) => Number(row?.["at"]))
        const before = yield* clockOf
        Fs.writeFileSync(timestamp, "-3600")
        assert.isBelow(yield* clockOf, before - 3_500_000, "the clock is set back")
      })
  )

  row(
    "a database that forgets every connection of all processes",
    { most: 135, seconds: 80 },
    (fleet) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* fleet.a.health, 200)
        for (const { database } of [fleet.a, fleet.b]) database.forget()
        // While nothing is claimed.
        yield* hasHealth(fleet.a, 503)
        const after = Effect.gen(function*() {
          yield* Effect.all([hasHealth(fleet.a, 200), hasHealth(fleet.b, 200)])
          assert.include(fleet.a.log(), "the database sent nothing for 30 seconds")
        })
        return { after }
      })
  )

  row(
    "a database whose name leads to another address after 20 seconds, while the old one drops all",
    { most: 135, seconds: 100 },
    (fleet) =>
      Effect.gen(function*() {
        const doors = [fleet.a.database, fleet.b.database]
        for (const door of doors) door.forget()
        for (const door of doors) door.setAway(true)
        yield* Effect.sleep("20 seconds")
        for (const door of doors) door.setAway(false)
      })
  )

  row(
    "a database that forgets every connection of one process",
    { most: 135, seconds: 80 },
    (fleet) =>
      Effect.sync(() => {
        fleet.b.database.forget()
        // 135 seconds after the fault, as the others.
        return { after: worksAgain(fleet, "55 seconds") }
      })
  )

  row(
    "a database that refuses every change for 20 seconds",
    { most: 135, seconds: 60 },
    (fleet) =>
      Effect.gen(function*() {
        const readOnly = (value: string) =>
          Effect.andThen(
            queried(fleet, `ALTER SYSTEM SET default_transaction_read_only = ${value}`),
            queried(fleet, "SELECT pg_reload_conf()")
          )
        yield* readOnly("on")
        yield* Effect.all([hasHealth(fleet.a, 503), Effect.sleep("20 seconds")], { concurrency: 2 })
        yield* readOnly("off")
      })
  )

  row("a process with a wrong secret", { most: 120, seconds: 70 }, (fleet) =>
    Effect.gen(function*() {
      fleet.b.child.kill("SIGTERM")
      yield* Effect.promise(() => fleet.b.ended)
      const wrong = yield* fleet.start("b", { TIME_PUNCHES_CLIENT_SECRET: "wrong" })
      yield* within("it says so", Effect.sync(() => wrong.log().includes(refused)), Effect.sync(wrong.log))
      const [said] = yield* queried(fleet, `SELECT ${now} AS at`)
      const after = Effect.gen(function*() {
        saysOnceAMinute(wrong.log(), refused)
        assert.strictEqual(fleet.a.log().includes("paused"), false, fleet.a.log())
        const claims = yield* queried(
          fleet,
          `SELECT 1 FROM fleet_run WHERE runner = 'b' AND began_at > ${Number(said?.["at"])}`
        )
        assert.lengthOf(claims, 0, "it claims nothing")
      })
      return { after }
    }))

  for (const state of ["refused", "reset", "hangs"] as const) {
    row(
      `a process that does not reach the service (${state})`,
      { most: 120, seconds: 70 },
      (fleet) =>
        Effect.gen(function*() {
          yield* fleet.b.door.set(state)
          const after = Effect.gen(function*() {
            saysOnceAMinute(fleet.b.log(), "this process does not reach the service")
            yield* fleet.b.door.set("open")
            yield* worksAgain(fleet)
          })
          return { after }
        })
    )
  }

  row("a suspect that is throttled", { most: 120, seconds: 70 }, (fleet) =>
    Effect.gen(function*() {
      const [suspect] = companies
      if (suspect === undefined) return assert.fail("no company")
      for (const { door } of [fleet.a, fleet.b]) yield* door.throttle([suspect.id])
      yield* queried(
        fleet,
        `UPDATE fleet_company SET starts = 2, heartbeat_at = NULL, epoch = epoch + 1, next_at = 0 WHERE company_id = ${suspect.id}`
      )
      return { named: [suspect.id] }
    }))

  row("three companies that are always throttled", { most: 120, seconds: 100 }, (fleet) =>
    Effect.gen(function*() {
      const three = companies.slice(0, 3).map(({ id }) => Number(id))
      for (const { door } of [fleet.a, fleet.b]) yield* door.throttle(three)
      return { named: three }
    }))
})
