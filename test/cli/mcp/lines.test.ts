/** `time-punches mcp` as a process: a line that is no message is answered, and loses nothing that came with it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as ChildProcess from "node:child_process"
import { defaultCompany } from "../../../src/testing/index.ts"
import { servicePunch } from "../../support/wire.ts"
import { commandOf } from "../child.ts"
import { cli, inFakeOf, temporaryFolder } from "../support.ts"

const inFake = inFakeOf([servicePunch({ id: 1 })])

const Answer = Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  id: Schema.NullOr(Schema.Union([Schema.Int, Schema.String])),
  result: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.Int, message: Schema.String }))
})

const readAnswer = Schema.decodeUnknownSync(Schema.fromJsonString(Answer))

const call = (id: number | string, method: string, params?: object) =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`

const initialize = call(0, "initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "test", version: "1" }
})

/** What a server says to these bytes, which come at once, until it has answered the last request; `last` is its id. */
const said = Effect.fnUntraced(function*(bytes: string | Uint8Array, last: number | string) {
  const database = `${yield* temporaryFolder}/punches.db`
  const { code, stderr } = yield* cli(["sync", "--database", database])
  assert.strictEqual(code, 0, stderr)
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      ChildProcess.spawn(process.execPath, commandOf(["mcp", "--database", database]), {
        env: { PATH: process.env["PATH"] ?? "", TIME_PUNCHES_COMPANY_ID: `${defaultCompany.id}` }
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  let errors = ""
  let text = ""
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (errors += chunk))
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve))
  const answered = new Promise<void>((resolve) => {
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk
      if (text.split("\n").slice(0, -1).some((line) => readAnswer(line).id === last)) resolve()
    })
    child.on("close", () => resolve())
  })
  child.stdin.write(Buffer.concat([Buffer.from(initialize), Buffer.from(bytes)]))
  yield* Effect.promise(() => answered)
  child.stdin.end()
  const exit = yield* Effect.promise(() => ended)

  assert.deepStrictEqual([exit, errors], [0, ""])
  const answers = text.trimEnd().split("\n").map((line) => readAnswer(line))
  assert.lengthOf(answers.filter(({ id, result }) => id === 0 && result !== undefined), 1)
  return answers.filter(({ id }) => id !== 0)
}, Effect.scoped)

const ping = call(9, "ping")

const codes = (answers: ReadonlyArray<typeof Answer.Type>) => answers.map(({ error, id }) => [id, error?.code])

describe("time-punches mcp", () => {
  it.live("answers a client that writes its own lines", () =>
    inFake(Effect.gen(function*() {
      const answers = yield* said(
        [
          `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\r\n\n`,
          call("a", "tools/list"),
          call(2, "tools/call", { name: "status", arguments: {} }),
          call(3, "tools/call", { name: "nosuch", arguments: {} }),
          call(4, "nosuch"),
          ping
        ].join(""),
        2
      )
      const of = (id: number | string) => answers.find((answer) => answer.id === id)

      assert.include(JSON.stringify(of("a")?.result), `"name":"payroll_check"`)
      assert.include(JSON.stringify(of(2)?.result), `\\"rows\\":1,`)
      assert.deepStrictEqual([of(3)?.error?.code, of(4)?.error?.code], [-32_602, -32_601])
      assert.deepStrictEqual(of(9)?.result, {})
    })))

  it.live("repeats a part of a wrong request only, and nothing that turns a text around", () =>
    inFake(Effect.gen(function*() {
      const long = `\u202e${"x".repeat(100_000)}`
      const wrong = [
        call(2, long),
        call(3, "tools/call", { name: long, arguments: {} }),
        call(4, "tools/call", { name: "list", arguments: { [long]: 1 } }),
        call(5, "tools/call", { name: "list", arguments: { week: long } }),
        call(6, "resources/read", { uri: long })
      ]
      const answers = yield* said(wrong.join("") + ping, 5)

      for (const answer of answers) {
        assert.notInclude(JSON.stringify(answer), "\u202e")
        assert.isBelow(JSON.stringify(answer).length, 1500)
      }
      assert.include(JSON.stringify(answers.find(({ id }) => id === 5)), "YYYY-MM-DD")
    })))

  const parse = [[null, -32_700], [9, undefined]]
  const request = [[null, -32_600], [9, undefined]]

  const lines: ReadonlyArray<readonly [string, string | Uint8Array, ReadonlyArray<unknown>]> = [
    ["text", "hello\n", parse],
    ["bad UTF-8", Buffer.from([0x22, 0xff, 0x22, 0x0a]), parse],
    ["a line of more than 1 MiB", `"${"x".repeat(2 ** 20)}"\n`, parse],
    ["a line of 16 MiB that is JSON", `${"[".repeat(2 ** 23)}${"]".repeat(2 ** 23)}\n`, parse],
    ["deep nesting", `${"[".repeat(2 ** 18)}${"]".repeat(2 ** 18)}\n`, request],
    ["a number", "5\n", request],
    ["an empty batch", "[]\n", request],
    ["another version", `{"jsonrpc":"1.0","id":4,"method":"ping"}\n`, [[4, -32_600], [9, undefined]]],
    ["neither a method nor a result", `{"jsonrpc":"2.0","id":4}\n`, [[4, -32_600], [9, undefined]]],
    ["an argument that is no structure", `{"jsonrpc":"2.0","id":4,"method":"ping","params":3}\n`, [
      [4, -32_600],
      [9, undefined]
    ]],
    ["an id of null", `{"jsonrpc":"2.0","id":null,"method":"ping"}\n`, request],
    ["an answer to no request", `{"jsonrpc":"2.0","id":4,"result":{}}\n`, [[9, undefined]]],
    ["a byte order mark", "\ufeff", [[9, undefined]]],
    ["keys of the transport", `{"jsonrpc":"2.0","id":4,"method":"ping","headers":5,"spanId":"x"}\n`, [
      [4, undefined],
      [9, undefined]
    ]]
  ]

  it.live.each(lines)(
    "answers %s, and then the request that came with it",
    ([, line, expected]) =>
      inFake(Effect.gen(function*() {
        const answers = yield* said(Buffer.concat([Buffer.from(line), Buffer.from(ping)]), 9)

        assert.deepStrictEqual(codes(answers), expected)
        assert.notMatch(JSON.stringify(answers), /hello|xx|\[\[/)
      }))
  )

  it.live(
    "answers a request whose id is in flight, and that in flight; an id that was answered is free",
    () =>
      inFake(Effect.gen(function*() {
        const status = call(2, "tools/call", { name: "status", arguments: {} })
        const answers = yield* said(status + status + ping, 2)

        assert.deepStrictEqual(codes(answers), [[null, -32_600], [9, undefined], [2, undefined]])
        const again = yield* said(ping + ping.replace("9", "8") + call("last", "ping"), "last")
        assert.deepStrictEqual(codes(again), [[9, undefined], [8, undefined], ["last", undefined]])
      }))
  )
})
