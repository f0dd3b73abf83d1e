/** Stories of a fleet: what its operator runs and reads, and what its processes do to the tables meanwhile. */
import { assert } from "@effect/vitest"
import { Effect, Random } from "effect"
import type { Outcome } from "../../src/fleet/CompanyState.ts"
import type { Claim } from "../../src/fleet/store/claims.ts"
import type { Ended } from "../../src/fleet/store/ends.ts"
import { claiming, ending, failing, settings, takeover, type TestStore, throttled } from "../fleet/support.ts"
import type { Refused } from "./story.ts"
import { tell } from "./tell.ts"

/** A company as JSON has it. */
export interface Status {
  readonly companyId: number
  readonly state: string
  readonly phase: string
  readonly reason: string | null
  readonly everySeconds: number
  readonly nextAt: string
  readonly lateSeconds: number
  readonly failures: number
  readonly lastError: { readonly tag: string } | null
  readonly rows: number
}

export interface Turn {
  readonly runner: string
  readonly pages: number
  readonly rows: number
  readonly outcome: string
}

export interface Process {
  readonly runner: string
  readonly state: string
  readonly error: string | null
  readonly holds: ReadonlyArray<{ readonly companyId: number }>
}

export interface Changed {
  readonly changed: ReadonlyArray<number>
  readonly unknown: ReadonlyArray<number>
  readonly inactive: ReadonlyArray<number>
}

type Read<A> = Effect.Effect<A, Refused>

export type Change = "pause" | "resume" | "remove" | "sync" | "sweep"

/** Who operates the fleet: by the library, or by the command. In what they give the operator is called `me`. */
export interface Operator {
  /** As the tables name the operator. */
  readonly name: string
  readonly add: (
    ids: ReadonlyArray<string>,
    every: string | undefined
  ) => Read<{ readonly added: ReadonlyArray<number>; readonly changed: ReadonlyArray<number> }>
  readonly change: (what: Change, ids: ReadonlyArray<number>) => Read<Changed>
  readonly changeAll: (what: "pause" | "resume") => Read<void>
  readonly resumeWhere: (state: string, reason: string | undefined) => Read<ReadonlyArray<number>>
  /** Of those in a state, or those that are `late`. */
  readonly list: (which: string | undefined) => Read<ReadonlyArray<Status>>
  readonly pauses: Read<ReadonlyArray<string>>
  /** Refused for a company that is not in the fleet. */
  readonly status: (id: number) => Read<{ readonly status: Status; readonly turns: ReadonlyArray<Turn> }>
  readonly runners: Read<ReadonlyArray<Process>>
}

/** `15m` in milliseconds. */
export const spanOf = (text: string): number => {
  const [, size = "", unit = ""] = /^(\d+)([smh])$/.exec(text) ?? assert.fail(`no time: ${text}`)
  return Number(size) * 1000 * 60 ** "smh".indexOf(unit)
}

const spanText = (seconds: number): string =>
  seconds % 3600 === 0 ? `${seconds / 3600}h` : seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`

/** Lateness in whole minutes: a machine under load is seconds behind. */
const lateText = (seconds: number): ReadonlyArray<string> =>
  Math.round(seconds / 60) === 0 ? [] : [`late ${spanText(Math.round(seconds / 60) * 60)}`]

const statusLine = (status: Status): string => {
  const { companyId, everySeconds, failures, lastError, phase, reason, rows, state } = status
  return [
    `${companyId} ${state}${reason === null ? "" : ` (${reason})`} ${phase}`,
    `every ${spanText(everySeconds)}`,
    // A millisecond ahead: the clock of a database may be rounded.
    ...state !== "active" ? [] : Date.parse(status.nextAt) <= Date.now() + 1 ? ["due"] : ["waits"],
    ...lateText(status.lateSeconds),
    ...failures === 0 ? [] : [`${failures} failed`],
    ...lastError === null ? [] : [`last error ${lastError.tag}`],
    ...rows === 0 ? [] : [`${rows} rows`]
  ].join(", ")
}

const idsText = (ids: ReadonlyArray<number>): string => ids.length === 0 ? "nothing" : ids.join(" ")

const changedLines = (done: string, { changed, inactive, unknown }: Changed, why: string): ReadonlyArray<string> => [
  `${done} ${idsText(changed)}`,
  ...inactive.length === 0 ? [] : [`${why}: ${idsText(inactive)}`],
  ...unknown.length === 0 ? [] : [`not in the fleet: ${idsText(unknown)}`]
]

const failure = (tag: string) => ({ tag, text: tag })

/** What a turn may end with, by the word of a story. */
const outcomes: Readonly<Record<string, Outcome>> = {
  failed: { _tag: "Transient", failure: failure("ServerError") },
  throttled: throttled,
  unauthorized: { _tag: "Refused", failure: failure("Unauthorized") },
  forbidden: { _tag: "Refused", failure: failure("Forbidden") },
  unreadable: { _tag: "Unreadable", failure: failure("DecodeError") },
  invalid: { _tag: "Invalid", failure: failure("InvalidRequest") },
  defect: { _tag: "Defect", failure: failure("Defect") },
  tokenless: { _tag: "NoCredential", failure: failure("TokenError.InvalidClient"), reason: "InvalidClient" }
}

const endLine = (id: number, ended: Ended | undefined): string => {
  if (ended === undefined) return `${id} is lost`
  const { isLifted, isPauseNew, next, pause, reason, state } = ended
  return [
    state === "active"
      ? `${id} ${{ Slot: "takes its next slot", Now: "is due at once", In: "waits" }[next._tag]}`
      : `${id} is ${state}${reason === undefined ? "" : ` (${reason})`}`,
    ...pause === undefined ? [] : [isPauseNew ? `the fleet is paused: ${pause.reason}` : "the pause continues"],
    ...isLifted ? ["the pauses are lifted"] : []
  ].join(", ")
}

/** A failed turn waits for half of what it may wait. */
const evenly = { nextDoubleUnsafe: () => 0.5, nextIntUnsafe: () => 0 }

/** The columns with instants, in milliseconds, by table. */
const instants: Readonly<Record<string, string>> = {
  fleet_company: "added_at next_at sweep_at full_sweep_at heartbeat_at claimed_at tag_since probed_at last_ok_at",
  fleet_run: "began_at ended_at",
  fleet_pause: "until probed_at",
  fleet_solo: "until",
  fleet_trouble: "since noted_at",
  fleet_runner: "started_at seen_at",
  fleet_removal: "removed_at"
}

/** Plays a story of a fleet in the tables of a store. */
export const playFleet = (story: string, operator: Operator, { sql, store }: TestStore): Effect.Effect<string> => {
  const claims = new Map<string, Claim>()
  const probes = new Set<string>()

  /** Time passes, as if all that is written and known had been so much before. */
  const wait = (millis: number) => {
    for (const [key, claim] of claims) {
      claims.set(key, { ...claim, claimed: claim.claimed - millis, began: claim.began - millis })
    }
    return Effect.forEach(
      Object.entries(instants),
      ([table, columns]) =>
        sql.unsafe(
          `UPDATE ${table} SET ${columns.split(" ").map((name) => `${name} = ${name} - ${millis}`).join(", ")}`
        ),
      { discard: true }
      // A company that is added later has a later epoch.
    ).pipe(Effect.andThen(Effect.sleep(2)))
  }

  const taken = (runner: string, some: ReadonlyArray<Claim>): ReadonlyArray<string> => {
    for (const claim of some) claims.set(`${runner} ${claim.company}`, claim)
    return [
      some.length === 0
        ? "nothing"
        : some.map(({ company, starts }) => starts === 1 ? `${company}` : `${company} (start ${starts})`).join(" ")
    ]
  }

  const ended = (runner: string, verb: string, words: ReadonlyArray<string>) => {
    const [ids, [count = "0"] = []] = words.includes("with")
      ? [words.slice(0, words.indexOf("with")), words.slice(words.indexOf("with") + 1)]
      : [words]
    return Effect.forEach(ids, (id) =>
      Effect.gen(function*() {
        const claim = claims.get(`${runner} ${id}`) ?? assert.fail(`${runner} has not claimed ${id}`)
        const isProbe = probes.has(`${runner} ${id}`)
        if (verb === "interrupted") {
          yield* store.release(claim)
          return `${id} is given back`
        }
        const outcome = outcomes[verb]
        const over = {
          outcome: { _tag: "TurnOver", isEmpty: false },
          phase: { phase: claim.phase, isSwept: false },
          isFullSweep: false,
          proven: undefined
        } as const
        const rows = Number(count)
        const end = verb === "completes"
          ? ending(claim, { isProbe, rows })
          : verb === "over"
          ? ending(claim, { ...over, rows, pages: rows === 0 ? 0 : 1 })
          : failing(claim, outcome ?? assert.fail(`no such end: ${verb}`), { isProbe })
        return endLine(
          Number(id),
          yield* Effect.provideService(store.end(runner, end, settings), Random.Random, evenly)
        ).replace(operator.name, "me")
      }))
  }

  /** What a process does. */
  const processVerbs: Readonly<
    Record<string, (runner: string, words: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, unknown>>
  > = {
    starts: (runner) =>
      Effect.andThen(
        store.begin(runner, false),
        store.notePresence(runner, { isStart: true, release: "1.0.0", settings: "{}" })
      ).pipe(Effect.as([])),
    lives: (runner) => Effect.as(store.notePresence(runner, { isStart: false, release: "1.0.0", settings: "{}" }), []),
    stops: (runner) => Effect.as(store.noteEnd(runner), []),
    claims: (runner, [room = "100"]) =>
      Effect.map(
        store.claim(claiming(runner, { room: Number(room) })),
        (some) => taken(runner, some.toSorted((one, other) => one.company - other.company))
      ),
    probes: (runner) =>
      Effect.map(store.probe(runner, takeover), (claim) => {
        if (claim !== undefined) probes.add(`${runner} ${claim.company}`)
        return taken(runner, claim === undefined ? [] : [claim])
      }),
    drains: (runner) =>
      Effect.map(store.drain(runner, takeover), ({ isDraining, quarantined }) => [
        isDraining ? "it may try a suspect" : "no",
        ...quarantined.map((id) => `${id} is quarantined`)
      ]),
    tries: (runner) =>
      Effect.map(store.claimSuspect(runner, takeover), (claim) => taken(runner, claim === undefined ? [] : [claim])),
    extends: (runner) => Effect.as(store.extendSolo(runner, takeover), []),
    yields: (runner) => Effect.as(store.giveSoloBack(runner), []),
    holds: (runner) =>
      Effect.map(
        store.heartbeat(
          [...claims].flatMap(([key, { company, epoch }]) =>
            key.startsWith(`${runner} `) ? [{ company, epoch, isPaged: false }] : []
          )
        ),
        (held) => [idsText([...held].toSorted((one, other) => one - other))]
      ),
    is: (runner, [kind = "", ...text]) =>
      Effect.as(
        store.noteTrouble(
          runner,
          kind === "well" ? undefined : { kind: kind === "sick:" ? "sick" : "refused", text: text.join(" ") }
        ),
        []
      )
  }

  const numbersOf = (words: ReadonlyArray<string>) => words.map(Number)

  const verbs: Readonly<Record<string, (words: ReadonlyArray<string>) => Read<ReadonlyArray<string>>>> = {
    add: (words) => {
      const at = words.indexOf("every")
      const ids = at === -1 ? words : words.slice(0, at)
      return Effect.map(
        operator.add(ids, at === -1 ? undefined : words[at + 1]),
        (
          { added, changed }
        ) => [`added ${idsText(added)}`, ...changed.length === 0 ? [] : [`changed ${idsText(changed)}`]]
      )
    },
    pause: (words) =>
      words[0] === "all"
        ? Effect.as(operator.changeAll("pause"), [])
        : Effect.map(operator.change("pause", numbersOf(words)), (done) => changedLines("paused", done, "not active")),
    resume: ([first = "", ...more]) =>
      first === "all"
        ? Effect.as(operator.changeAll("resume"), [])
        : /^\d/.test(first)
        ? Effect.map(
          operator.change("resume", numbersOf([first, ...more])),
          (done) => changedLines("resumed", done, "active already")
        )
        : Effect.map(operator.resumeWhere(first, more[0]), (ids) => [`resumed ${idsText(ids)}`]),
    remove: (words) =>
      Effect.map(operator.change("remove", numbersOf(words)), (done) => changedLines("removed", done, "not active")),
    sync: (words) =>
      Effect.map(
        operator.change(words.at(-1) === "full" ? "sweep" : "sync", numbersOf(words.filter((word) => word !== "full"))),
        (done) => changedLines("due", done, "not active")
      ),
    list: ([which]) =>
      Effect.map(Effect.all([operator.pauses, operator.list(which)]), ([pauses, all]) => {
        const lines = [...pauses.map((pause) => `PAUSED: ${pause}`), ...all.map(statusLine)]
        return lines.length === 0 ? ["nothing"] : lines
      }),
    status: ([id]) =>
      Effect.map(operator.status(Number(id)), ({ status, turns }) => [
        statusLine(status),
        ...turns.map(({ outcome, pages, rows, runner }) => `by ${runner}: ${outcome}, ${pages} pages, ${rows} rows`)
      ]),
    runners: () =>
      Effect.map(
        operator.runners,
        (all) =>
          all.length === 0 ?
            ["none"] :
            all.map(({ error, holds, runner, state }) =>
              `${runner} ${state}, has ${idsText(holds.map(({ companyId }) => companyId))}${
                error === null ? "" : `: ${error}`
              }`
            )
      )
  }

  return tell(story, ([verb = "", ...words]) => {
    const known = verbs[verb]
    if (known !== undefined) return known(words)
    if (verb === "wait") return Effect.as(Effect.orDie(wait(spanOf(words[0] ?? ""))), [])
    const [what = "", ...more] = words
    return Effect.orDie((processVerbs[what]?.(verb, more)) ?? ended(verb, what, more))
  })
}
