/** Verbs over a copy in PostgreSQL whose connection is lost at a message: how they end, what is written and what is named. */
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { FakeService } from "../../src/testing/index.ts"
import { type Cut, isAnswered, lossyProxy } from "./lossyProxy.ts"
import { clientOf, cluster } from "./postgres.ts"
import { servicePunch } from "./wire.ts"

/** What a run of the command leaves. */
export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command over the database of this address. */
export type Run<R> = (args: ReadonlyArray<string>, url: string) => Effect.Effect<Ran, never, R>

/** Six punches of three people in the week from 2 March. */
export const punches = Array.from({ length: 6 }, (_, at) =>
  servicePunch({
    id: 1 + at,
    user_id: 501 + (at % 3),
    hourly_wage: 1500,
    tips: 0,
    breaks: [],
    approved: true,
    clocked_in: `2026-03-0${2 + Math.floor(at / 2)}T14:00:00Z`,
    clocked_out: `2026-03-0${2 + Math.floor(at / 2)}T22:00:00Z`
  }))

const period = ["--week", "2026-03-02", "--zone", "America/New_York"]

/** The verbs that write a revision, in the order in which each finds something to write. */
export const writers = {
  close: ["payroll", "close", ...period, "--weekly-threshold", "7h"],
  correct: ["payroll", "correct"],
  void: ["payroll", "void", "1.2", "--note", "not sent"]
} as const

/** Those that write none. */
export const readers = {
  list: ["payroll", "list"],
  show: ["payroll", "show", "1"],
  due: ["payroll", "due"],
  verify: ["payroll", "verify"],
  diff: ["payroll", "diff", "--close", "1"],
  sync: ["sync"]
} as const

export const checkOf = (url: string) => ["payroll", "check", ...period, "--database", url]

/** Every cut of a run with these messages, or `most` of them over the whole run and all that are about the COMMIT. */
const cutsOf = (messages: ReadonlyArray<string>, most = Infinity): ReadonlyArray<Cut> => {
  const all = messages.flatMap((message, at): ReadonlyArray<Cut> => [
    { message: at, loses: "unsent" },
    ...isAnswered(message) ? [{ message: at, loses: "unanswered" } as const] : []
  ])
  const commit = messages.indexOf("P COMMIT")
  const step = Math.ceil(all.length / most)
  return all.filter(({ message }, at) => at % step === 0 || (commit >= 0 && message > commit))
}

/** A copy behind a proxy. */
export const openLossy = <R>(run: Run<R>) =>
  Effect.gen(function*() {
    const { url } = yield* Effect.map(cluster(), (made) => ({ url: made.url() }))
    const proxy = yield* lossyProxy(url)
    const ask = (text: string) =>
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<{ readonly id: string }>(text).unprepared).pipe(
        Effect.provide(Layer.fresh(clientOf(url))),
        Effect.orDie
      )
    const revisions = Effect.map(
      ask("SELECT close_id || '.' || number AS id FROM time_punches_close_state ORDER BY close_id, number"),
      (rows) => rows.map(({ id }) => id)
    )
    /** Removes the revisions after these. */
    const restore = (known: ReadonlyArray<string>) =>
      Effect.forEach(
        ["close_state", "close_row", "close_file", ...(known.length === 0 ? ["close"] : [])],
        (table) =>
          ask(`DELETE FROM time_punches_${table} ${known.length === 0 ? "" : `WHERE number > ${known.length}`}`),
        {
          discard: true
        }
      )
    const undisturbed = (args: ReadonlyArray<string>) =>
      Effect.suspend(() => {
        proxy.cut()
        return run(args, proxy.url)
      })
    const passes = Effect.fnUntraced(function*(args: ReadonlyArray<string>) {
      const { code, stderr } = yield* undisturbed(args)
      assert.strictEqual(code, 0, stderr)
    })
    yield* passes(["sync", "--history"])

    /** Runs a verb once for each cut. The closes are as before at the end. */
    const survives = Effect.fnUntraced(function*(args: ReadonlyArray<string>, most?: number) {
      const known = yield* revisions
      yield* passes(args)
      const cuts = cutsOf(proxy.messages(), most)
      const writes = (yield* revisions).length > known.length
      yield* restore(known)
      for (const cut of cuts) {
        proxy.cut(cut)
        const ran = yield* run(args, proxy.url)
        const shown = `${args[0]} ${JSON.stringify(cut)}: exit ${ran.code}\n${ran.stdout}\n${ran.stderr}`
        assert.isAbove(proxy.messages().length, cut.message, shown)
        assert.include([0, 8], ran.code, shown)
        assert.notMatch(ran.stderr, /^ +at /m, shown)
        const written = (yield* revisions).slice(known.length)
        assert.isAtMost(written.length, 1, shown)
        if (writes && ran.code === 0)
          assert.lengthOf(written, 1, shown)
        for (const id of written)
          assert.include(`${ran.stdout}\n${ran.stderr}`, `${id}`, shown)
        if (ran.code === 8 && written.length === 0)
          yield* passes(args)
        yield* restore(known)
      }
    })

    /** Runs a verb that writes, and loses the database for good at the last message of its COMMIT. */
    const losesForGood = Effect.fnUntraced(function*(args: ReadonlyArray<string>) {
      const known = yield* revisions
      yield* passes(args)
      const messages = proxy.messages()
      const [named = ""] = (yield* revisions).slice(known.length)
      yield* restore(known)
      const commit = messages.findIndex((message, at) => isAnswered(message) && at >= messages.indexOf("P COMMIT"))
      assert.include(messages, "P COMMIT")
      for (const loses of ["unsent", "unanswered"] as const) {
        proxy.cut({ message: commit, loses, forGood: true })
        const { code, stderr, stdout } = yield* run(args, proxy.url)
        assert.deepStrictEqual([code, stdout], [8, ""], stderr)
        assert.include(stderr, `${named} may have been written: the database did not answer`)
        // The server has executed the COMMIT by then, since only its answer waits for the last message.
        assert.deepStrictEqual(yield* revisions, [...known, named])
        yield* restore(known)
      }
    })

    const service = yield* FakeService
    /** An edit that the next correction pays. */
    const edit = Effect.andThen(
      service.edit([3], { clocked_out: "2026-03-03T23:00:00Z" }),
      passes(["sync"])
    )
    return { url: proxy.url, passes, survives, losesForGood, edit }
  })
