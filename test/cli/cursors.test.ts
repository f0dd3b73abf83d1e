/** A cursor is text of foreign origin: whatever it contains, no subcommand prints a character that controls a terminal. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Deferred, Effect, Fiber, Layer, Stdio } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { run } from "../../src/cli/command.ts"
import { defaultCompany, FakeService } from "../../src/testing/index.ts"
import { says } from "../support/scripted.ts"
import { wirePage, wirePunch } from "../support/wire.ts"
import { capture, cli, type Environment, temporaryFolder } from "./support.ts"

const codes = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => String.fromCharCode(from + index)).join("")

/** Every control character but NUL, what changes the direction of text, what ends a line, and words of a shell. */
const hostile =
  `x\u001b]0;pwned\u0007\u001b[2J'; touch p \n$(touch p)\`touch p\`!!${codes(1, 0x1f)}${codes(0x7f, 0x9f)}` +
  "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"

const env: Environment = {
  TIME_PUNCHES_BASE_URL: "https://api.test",
  TIME_PUNCHES_ACCESS_TOKEN: "some-token",
  TIME_PUNCHES_COMPANY_ID: `${defaultCompany.id}`,
  TIME_PUNCHES_REQUESTS_PER_SECOND: "none"
}

const problem = (status: number) =>
  new Response(JSON.stringify({ title: hostile, detail: `no cursor ${hostile}`, param: "cursor" }), {
    status,
    headers: { "content-type": "application/problem+json", "retry-after": "9999" }
  })

/** What the second page is; the first one always leads to the hostile cursor. */
const answers: Readonly<Record<string, (cursor: string) => Response>> = {
  "is refused": () => problem(422),
  "is not available": () => problem(503),
  "is not found": () => problem(404),
  "leads to itself": (cursor) => says(page(2, { current: cursor, next: cursor })),
  "has a bad row": () => says(wirePage([{ ...wirePunch(), clocked_in: hostile }])),
  "is another object": () => says({ ...wirePage([]), object: hostile }),
  "is the last one": (cursor) => says(page(2, { current: cursor, prev: cursor, next: null }))
}

const page = (id: number, cursor: { readonly [key: string]: string | null }) =>
  wirePage([wirePunch({ id, company_id: defaultCompany.id })], cursor)

const layerOf = (answer: (cursor: string) => Response, cursor = hostile) =>
  Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request, url) =>
      Effect.sync(() => {
        const sent = url.searchParams.get("cursor")
        return HttpClientResponse.fromWeb(request, sent === null ? says(page(1, { next: cursor })) : answer(sent))
      })
    )
  )

/** The erase sequence of the progress line, and the line ends of CSV, are the command's own. */
const isHarmless = (text: string): boolean =>
  !/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/
    .test(text.replaceAll("\r\u001b[2K", "").replaceAll("\r\n", "\n"))

const calls = [
  ["list"],
  ["list", "--format", "ndjson"],
  ["list", "--format", "csv", "--page-size", "1"],
  ["summary"],
  ["doctor"],
  ["export", "--output", "FILE"]
]

const cases = calls.flatMap((call) =>
  Object.keys(answers).flatMap((what) => [false, true].map((terminal) => ({ call, what, terminal })))
)

const provided = <A, E>(effect: Effect.Effect<A, E, FakeService | import("effect").Scope.Scope>) =>
  effect.pipe(Effect.scoped, Effect.provide(FakeService.layer()))

describe("a cursor full of control characters", () => {
  it.live.each(cases)(
    "reaches no output of $call where the second page $what (terminal: $terminal)",
    ({ call, what, terminal }) =>
      provided(Effect.gen(function*() {
        const folder = yield* temporaryFolder
        const args = call.map((word) => word === "FILE" ? `${folder}/punches` : word)
        const options = { env, terminal, colour: true, http: layerOf(answers[what] ?? (() => problem(500))) }
        const first = yield* cli(args, options)
        // A second export meets the files of the first; with other flags it names the difference.
        const again = yield* cli(args, options)
        const other = yield* cli([...args, "--user-id", "7"], options)
        // The command's own styles; a text of foreign origin has no code within them.
        const styled = /\u001b\[(?:1|3[123])m([^\u001b]+)\u001b\[0m/g

        for (const { stderr, stdout } of [first, again, other]) {
          assert.isTrue(isHarmless(stderr.replace(styled, "$1")), JSON.stringify(stderr))
          assert.isTrue(isHarmless(stdout.replace(styled, "$1")), JSON.stringify(stdout))
        }
      }))
  )

  it.live("is in the hint of a listing, and resumes it when that is pasted into bash", () =>
    provided(Effect.gen(function*() {
      const failed = yield* cli(["list"], { env, http: layerOf(() => problem(503)) })
      const [, hint = ""] = /add (--cursor=.*)$/m.exec(failed.stderr) ?? []
      const folder = yield* temporaryFolder
      const word = ChildProcess.execFileSync("bash", ["--norc", "-c", `printf %s ${hint}`], { cwd: folder }).toString(
        "utf8"
      )
      let asked: string | undefined
      const resumed = yield* cli(["list", word], {
        env,
        http: layerOf((cursor) => {
          asked = cursor
          return says(page(2, { current: cursor }))
        })
      })

      assert.strictEqual(failed.code, 6)
      assert.deepStrictEqual(Fs.readdirSync(folder), [])
      assert.strictEqual(asked, hostile)
      assert.strictEqual(resumed.code, 0)
    })))

  it.live("is in the hint of an interrupted listing", () =>
    Effect.gen(function*() {
      const second = yield* Deferred.make<void>()
      const http = Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make((request, url) =>
          url.searchParams.has("cursor")
            ? Effect.andThen(Deferred.succeed(second, undefined), Effect.never)
            : Effect.succeed(HttpClientResponse.fromWeb(request, says(page(1, { next: hostile }))))
        )
      )
      const stderr: Array<string> = []
      const fiber = yield* Effect.forkChild(
        run(["list"]).pipe(
          Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))),
          Effect.provide(http),
          Effect.provide(Stdio.layerTest({ stdout: capture([]), stderr: capture(stderr) })),
          Effect.provide(NodeServices.layer)
        )
      )
      yield* Deferred.await(second)
      yield* Fiber.interrupt(fiber)

      assert.match(
        stderr.join(""),
        /^interrupted after 1 page, 1 punch\nTo resume from there, add --cursor=\$'x\\x1b\]0;/
      )
      assert.isTrue(isHarmless(stderr.join("")), JSON.stringify(stderr))
    }))
})

describe("the note of another export", () => {
  it.live("is named without its control characters", () =>
    provided(Effect.gen(function*() {
      const folder = yield* temporaryFolder
      const args = ["export", "--output", `${folder}/punches`]
      yield* cli(args, { env, http: layerOf(() => problem(503)) })
      const note = `${folder}/punches.resume.json`
      const state: Record<string, unknown> = JSON.parse(Fs.readFileSync(note, "utf8"))
      Fs.writeFileSync(
        note,
        JSON.stringify({ ...state, spec: { [hostile]: "1", "--company": hostile } })
      )
      const { code, stderr } = yield* cli(args, { env, http: layerOf(() => problem(503)) })

      assert.strictEqual(code, 2)
      assert.include(stderr, "belongs to an export with other flags")
      assert.isTrue(isHarmless(stderr), JSON.stringify(stderr))
    })))
})
