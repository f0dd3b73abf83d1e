import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stdio, Terminal } from "effect"
import { TestClock } from "effect/testing"
import { readGlobals, withMessages } from "../../../src/cli/args/globals.ts"
import { eraseLine, printError, printWarning } from "../../../src/cli/print/messages.ts"
import { makeProgress } from "../../../src/cli/print/progress.ts"
import { OnRetry } from "../../../src/internal/telemetry/metrics.ts"
import { capture } from "../support.ts"

/** Runs `body` and returns what it writes to standard error, text by text. */
const written = <A, E, R>(
  body: Effect.Effect<A, E, R>,
  terminal: { readonly stdout?: boolean; readonly stderr?: boolean } = { stdout: true, stderr: true }
) => {
  const texts: Array<string> = []
  return Effect.scoped(body).pipe(
    Effect.as(texts),
    Effect.provide(Stdio.layerTest({
      stderr: capture(texts),
      stdoutIsTerminal: Effect.succeed(terminal.stdout === true),
      stderrIsTerminal: Effect.succeed(terminal.stderr === true)
    }))
  )
}

describe("progress", () => {
  it.effect("writes the totals over one line of a terminal, and erases it at the end", () =>
    Effect.gen(function*() {
      const texts = yield* written(Effect.gen(function*() {
        const progress = yield* makeProgress({ printsResults: false })
        yield* progress.add(200)
        yield* TestClock.adjust("2 seconds")
        yield* progress.add(1000)
      }))

      assert.deepStrictEqual(texts, [
        `${eraseLine}200 punches`,
        `${eraseLine}1,200 punches, 2 s, 600/s`,
        eraseLine
      ])
    }))

  it.effect("updates the line ten times a second at most, and counts every page", () =>
    Effect.gen(function*() {
      const texts = yield* written(Effect.gen(function*() {
        const progress = yield* makeProgress({ printsResults: false })
        for (let page = 0; page < 30; page += 1) {
          yield* progress.add(1)
          yield* TestClock.adjust("10 millis")
        }

        assert.deepStrictEqual(progress.totals(), { pages: 30, punches: 30 })
      }))

      assert.deepStrictEqual(texts, [
        `${eraseLine}1 punch`,
        `${eraseLine}11 punches`,
        `${eraseLine}21 punches`,
        eraseLine
      ])
    }))

  it.effect("starts at the totals of a resumed run, which are not in the rate", () =>
    Effect.gen(function*() {
      const texts = yield* written(Effect.gen(function*() {
        const progress = yield* makeProgress({ printsResults: false, resumed: { pages: 8, punches: 800 } })
        yield* TestClock.adjust("1 second")
        yield* progress.add(100)
      }))

      assert.deepStrictEqual(texts, [`${eraseLine}900 punches, 1 s, 100/s`, eraseLine])
    }))

  it.effect("is erased by a message, which starts its own line", () =>
    Effect.gen(function*() {
      const texts = yield* written(Effect.gen(function*() {
        const progress = yield* makeProgress({ printsResults: false })
        yield* progress.add(1)
        yield* printError("interrupted")
      }))

      assert.deepStrictEqual(texts, [`${eraseLine}1 punch`, `${eraseLine}interrupted\n`, eraseLine])
    }))

  it.effect.each(
    [
      ["hidden", "without a terminal", { printsResults: false }, { stdout: true }],
      ["hidden", "on the terminal that rows are printed to", { printsResults: true }, { stdout: true, stderr: true }],
      ["shown", "if rows are printed elsewhere", { printsResults: true }, { stderr: true }],
      ["shown", "if nothing is printed during the run", { printsResults: false }, { stdout: true, stderr: true }]
    ] as const
  )("is %s %s", ([expected, , options, terminal]) =>
    Effect.gen(function*() {
      const texts = yield* written(
        Effect.gen(function*() {
          const progress = yield* makeProgress(options)
          yield* progress.add(3)

          assert.deepStrictEqual(progress.totals(), { pages: 1, punches: 3 })
        }),
        terminal
      )

      assert.deepStrictEqual(texts, expected === "shown" ? [`${eraseLine}3 punches`, eraseLine] : [])
    }))

  const layerTerminal = Layer.effect(
    Terminal.Terminal,
    Terminal.Terminal.use((terminal) => Effect.succeed(Terminal.make({ ...terminal, columns: Effect.succeed(47) })))
  ).pipe(Layer.provide(NodeServices.layer))

  /** What a run with these flags writes. */
  const ofRun = <A, E, R>(flags: ReadonlyArray<string>, body: Effect.Effect<A, E, R>) =>
    Effect.provide(written(withMessages(readGlobals(flags), Effect.scoped(body))), layerTerminal)

  const failed = Effect.flatMap(
    OnRetry,
    (onRetry) => onRetry?.({ what: "page", reason: "503", delay: 1000, attempt: 2, attempts: 4 }) ?? Effect.void
  )

  it.effect("shares its line with a retry until the wait is over, in the width of the terminal", () =>
    Effect.gen(function*() {
      const texts = yield* ofRun(
        [],
        Effect.gen(function*() {
          const progress = yield* makeProgress({ printsResults: false })
          yield* progress.add(1)
          yield* failed
          yield* TestClock.adjust("500 millis")
          yield* progress.add(12_399)
          yield* TestClock.adjust("500 millis")
          yield* progress.add(0)
        })
      )

      assert.deepStrictEqual(texts, [
        `${eraseLine}1 punch`,
        `${eraseLine}503, retrying in 1 s (2nd of 4); 1 punch`,
        `${eraseLine}503, retrying in 1 s (2nd of 4); 12,400 punch…`,
        `${eraseLine}12,400 punches, 1 s, 12,400/s`,
        eraseLine
      ])
    }))

  it.effect("is an event every ten seconds with --log-format json, without a code of the terminal", () =>
    Effect.gen(function*() {
      const texts = yield* ofRun(
        ["--log-format", "json"],
        Effect.gen(function*() {
          const progress = yield* makeProgress({ printsResults: false })
          yield* failed
          yield* printWarning("a", "b")
          for (let second = 0; second < 25; second += 1) {
            yield* TestClock.adjust("1 second")
            yield* progress.add(100)
          }
        })
      )
      const events: ReadonlyArray<Record<string, unknown>> = texts.map((text) => JSON.parse(text))

      assert.deepStrictEqual(events.map(({ event }) => event), ["retry", "warning", "progress", "progress"])
      assert.deepInclude(events[1], { level: "WARN", message: "a", details: ["b"] })
      assert.deepStrictEqual(events[2], {
        message: "1,000 punches, 10 s, 100/s",
        level: "INFO",
        timestamp: "1970-01-01T00:00:10.000Z",
        event: "progress",
        pages: 10,
        punches: 1000,
        elapsedSeconds: 10,
        perSecond: 100
      })
    }))

  it.effect("is not shown with --quiet, and neither is a retry", () =>
    Effect.gen(function*() {
      const texts = yield* ofRun(
        ["-q"],
        Effect.gen(function*() {
          const progress = yield* makeProgress({ printsResults: false })
          yield* progress.add(1)
          yield* failed
        })
      )

      assert.deepStrictEqual(texts, [])
    }))
})
