/** Who operates the fleet of a story: a program over the library, or a person by the command. */
import { assert } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import { hostname, userInfo } from "node:os"
import { CompanyStatus, Fleet, FleetOperator, type FleetProcess, type Pause } from "../../src/fleet/index.ts"
import { CompanyGuid, CompanyId } from "../../src/index.ts"
import { FakeService } from "../../src/testing/index.ts"
import type { Called } from "./command.ts"
import { type Changed, type Operator, type Process, spanOf, type Status, type Turn } from "./fleet.ts"
import { Refused } from "./story.ts"

const encodeStatus = Schema.encodeSync(CompanyStatus)

const processOf = ({ error, holds, runner, state }: FleetProcess): Process => ({
  runner,
  state,
  error: Option.getOrNull(error),
  holds
})

const pauseOf = ({ by, reason, until }: Pause): string =>
  `${reason}${Option.match(by, { onNone: () => "", onSome: (by) => ` (${by})` })}${
    Option.isSome(until) ? " for a time" : ""
  }`

const refused = (text: string) => new Refused({ lines: [text] })

/** The operator's side of the library. */
export const libraryOperator = (fleet: Fleet["Service"]): Operator => {
  const asked = <A, E extends { readonly message: string }>(self: Effect.Effect<A, E>) =>
    self.pipe(
      Effect.provideService(FleetOperator, "me"),
      Effect.mapError(({ message }) => refused(`refused: ${message}`))
    )
  const idsOf = (ids: ReadonlyArray<number>) => ids.map((id) => CompanyId.make(id))
  const changes = {
    pause: fleet.pause,
    resume: fleet.resume,
    remove: fleet.remove,
    sync: fleet.trigger,
    sweep: fleet.sweep
  }
  const stateOf = (text: string) =>
    text === "paused" || text === "blocked" || text === "quarantined" ? text : assert.fail(`no state: ${text}`)
  return {
    name: "me",
    add: (ids, every) =>
      asked(fleet.add(ids.map((word) => {
        const [id, guid] = word.split("=")
        return {
          id: CompanyId.make(Number(id)),
          guid: guid === undefined ? undefined : CompanyGuid.make(guid),
          every: every === undefined ? undefined : spanOf(every)
        }
      }))),
    change: (what, ids) => asked(changes[what](idsOf(ids))),
    changeAll: (what) => asked(what === "pause" ? fleet.pauseAll : fleet.resumeAll),
    resumeWhere: (state, reason) => asked(fleet.resumeWhere({ state: stateOf(state), reason })),
    list: (which) =>
      Effect.map(
        asked(fleet.list({
          late: which === "late",
          states: which === undefined || which === "late" ? undefined : [stateOf(which)]
        })),
        (all) => all.map((status) => encodeStatus(status))
      ),
    pauses: Effect.map(asked(fleet.pauses), (pauses) => pauses.map(pauseOf)),
    status: (number) =>
      Effect.gen(function*() {
        const id = CompanyId.make(number)
        const found = yield* asked(fleet.status(id))
        if (Option.isSome(found)) return { status: encodeStatus(found.value), turns: yield* asked(fleet.turns(id)) }
        const removal = yield* asked(fleet.removal(id))
        const who = Option.match(Option.flatMap(removal, ({ by }) => by), {
          onNone: () => "",
          onSome: (by) => `, which ${by} removed`
        })
        return yield* refused(`not in the fleet: ${id}${who}`)
      }),
    runners: Effect.map(asked(fleet.processes), (all) => all.map(processOf))
  }
}

/** As the command names the operator. */
const person = `${userInfo().username}@${hostname()}`

/** A person who calls the command. */
export const commandOperator = (
  call: (...args: ReadonlyArray<string>) => Effect.Effect<Called, never, FakeService>
): Effect.Effect<Operator, never, FakeService> =>
  Effect.map(FakeService, (service): Operator => {
    const ran = (...args: ReadonlyArray<string>) =>
      Effect.map(
        Effect.suspend(() => Effect.provideService(call("fleet", ...args), FakeService, service)),
        ({ code, stderr, stdout }) => ({
          code,
          stderr: stderr.replaceAll(person, "me"),
          stdout: stdout.replaceAll(person, "me")
        })
      )
    const refusedOf = ({ stderr }: Called) => {
      const [, message = assert.fail(stderr)] = /^time-punches: (.*)$/m.exec(stderr) ?? []
      return refused(message.startsWith("not in the fleet") ? message.replace(/ at \S+Z$/, "") : `refused: ${message}`)
    }
    const printed = <A>(...args: ReadonlyArray<string>) =>
      Effect.flatMap(
        ran(...args, "--json"),
        (ended) => {
          if (ended.code !== 0) return Effect.fail(refusedOf(ended))
          const json: A = JSON.parse(ended.stdout)
          return Effect.succeed(json)
        }
      )
    /** Its exit code says that an id is not in the fleet; the others are done. */
    const change = (...args: ReadonlyArray<string>) =>
      Effect.map(ran(...args, "--json"), ({ code, stderr, stdout }) => {
        const changed: Changed = JSON.parse(stdout)
        assert.strictEqual(code, changed.unknown.length === 0 ? 0 : 2, stderr)
        const named = /not in the fleet: (.*)/.exec(stderr)?.[1] ?? ""
        assert.strictEqual(named, changed.unknown.join(", "))
        return changed
      })
    const texts = (ids: ReadonlyArray<number>) => ids.map(String)
    return {
      name: person,
      add: (ids, every) => printed("add", ...ids, ...every === undefined ? [] : ["--every", every]),
      change: (what, ids) => what === "sweep" ? change("sync", ...texts(ids), "--full") : change(what, ...texts(ids)),
      changeAll: (what) => Effect.asVoid(printed(what, "--all")),
      resumeWhere: (state, reason) =>
        Effect.map(
          change(
            "resume",
            "--state",
            state,
            ...reason === undefined ? [] : ["--reason", reason === "me" ? person : reason]
          ),
          ({ changed }) => changed
        ),
      list: (which) =>
        printed<ReadonlyArray<Status>>(
          "list",
          ...which === undefined ? [] : which === "late" ? ["--late"] : ["--state", which]
        ),
      pauses: Effect.map(
        ran("list"),
        ({ stdout }) =>
          [...stdout.matchAll(/^PAUSED: (.*), until (\d)?.*$/gm)].map(([, pause, time]) =>
            `${pause}${time === undefined ? "" : " for a time"}`
          )
      ),
      status: (id) =>
        Effect.map(
          printed<Status & { readonly turns: ReadonlyArray<Turn> }>("status", `${id}`),
          ({ turns, ...status }) => ({ status, turns })
        ),
      runners: printed<ReadonlyArray<Process>>("runners")
    }
  })
