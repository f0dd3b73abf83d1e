/** Every form of every secret of SECURITY.md × every command that reads settings, in real processes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Http from "node:http"
import * as Net from "node:net"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { FakeService } from "../../src/testing/index.ts"
import { calls, canary, caught, planted } from "../cli/canaries.ts"

const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ punches: [] })))

/**
 * A service that answers with all that it receives, in the forms in which a text may come: the path begins with the status,
 * and with `issues` the token endpoint issues the canary as a token first.
 */
const echoing = Effect.acquireRelease(
  Effect.callback<{ readonly server: Http.Server; readonly url: string }>((resume) => {
    const server = Http.createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => {
        const path = request.url ?? ""
        if (path.includes("/issues") && path.endsWith("/oauth2/token")) {
          response.setHeader("content-type", "application/json")
          response.end(JSON.stringify({ token_type: "Bearer", expires_in: 3600, access_token: canary }))
          return
        }
        const received = `${request.rawHeaders.join(" ")} ${Buffer.concat(chunks)}`
        const text = `${received} ${encodeURIComponent(received)} ${Buffer.from(received).toString("base64")}`
        response.writeHead(Number(path.split("/")[1]), {
          "content-type": "application/problem+json",
          location: `http://127.0.0.1:1/?${encodeURIComponent(received)}`,
          "x-request-id": received.replaceAll(/[^ -~]/g, "").slice(0, 2000)
        })
        response.end(
          JSON.stringify({ title: text, detail: text, code: received, param: received, [received]: received })
        )
      })
    })
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ server, url: `http://127.0.0.1:${port}` }))
    })
  }),
  ({ server }) => Effect.sync(() => server.close())
)

/** How a server of PostgreSQL fails, once it has the password or before. */
const failures = ["closes", "noise", "refusesTls", "refusesLogin", "refusesUser", "failsQueries"] as const

/** A field of a message of the protocol, with its length. */
const message = (type: string, body: Buffer): Buffer => {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}

/** An error of the server that quotes what it has received, in the forms in which a text may come. */
const quoting = (code: string, received: string): Buffer => {
  const text = `${received} ${encodeURIComponent(received)} ${Buffer.from(received).toString("base64")}`
  const fields = { S: "FATAL", V: "FATAL", C: code, M: text, D: text, H: text, q: text, W: text, t: text, n: text }
  return message("E", Buffer.from(`${Object.entries(fields).map(([key, value]) => `${key}${value}\0`).join("")}\0`))
}

/** A server of PostgreSQL that asks for the password as it is, fails, and quotes all that it has received. */
const failing = (how: typeof failures[number]) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly server: Net.Server; readonly port: number }>((resume) => {
      const server = Net.createServer((socket) => {
        let received = ""
        socket.on("error", () => socket.destroy())
        socket.on("data", (bytes) => {
          received += bytes.toString("latin1").replaceAll(/[^ -~]/g, " ")
          const isPassword = bytes[0] === "p".charCodeAt(0)
          const isTls = bytes.length === 8
          if (how === "closes") socket.end()
          else if (how === "noise") socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")
          else if (isTls) socket.write("N")
          else if (how === "refusesUser") socket.end(quoting("28000", received))
          else if (bytes[0] === 0) socket.write(message("R", Buffer.from([0, 0, 0, 3])))
          else if (isPassword && how === "failsQueries") {
            socket.write(Buffer.concat([message("R", Buffer.alloc(4)), message("Z", Buffer.from("I"))]))
          } else socket.end(quoting(how === "failsQueries" ? "58030" : "28P01", received))
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed({ server, port: typeof address === "object" && address !== null ? address.port : 0 }))
      })
    }),
    ({ server }) => Effect.sync(() => server.close())
  )

const credentials = planted.filter(({ name, value }) => /TOKEN|SECRET|COOKIE/.test(name) && value === canary)

describe("a secret of the table in SECURITY.md", () => {
  it.live.each(calls)("is in no output and in no file of %s", (call) =>
    Effect.gen(function*() {
      const { url } = yield* FakeServer
      // Profiles and flags are read in one place: a command of each kind is enough.
      const isRead = ["config show", "sync", "mcp"].includes(call)
      const read = planted.filter(({ where }) => where === "environment" || isRead)
      const ended = yield* Effect.forEach(read, (each) => caught(each, call, url), { concurrency: 3 })

      assert.deepStrictEqual(ended.filter(({ leaks }) => leaks.length > 0), [])
      assert.deepStrictEqual(ended.filter(({ code }) => typeof code !== "number" || code === 1), [])
    }).pipe(Effect.scoped, Effect.provide(served)))

  it.live.each(["200", "302", "400", "401", "403", "404", "422", "401/issues", "403/issues", "422/issues"])(
    "is in no output and in no file if the service returns it with %s",
    (path) =>
      Effect.gen(function*() {
        const { url } = yield* echoing
        const runs = ["list", "doctor", "sync --database a.db", "export --output a.csv"]
          .flatMap((call) => credentials.map((each) => [each, call] as const))
        const ended = yield* Effect.forEach(runs, ([each, call]) => caught(each, call, `${url}/${path}`), {
          concurrency: 3
        })

        assert.deepStrictEqual(ended.filter(({ leaks }) => leaks.length > 0), [])
        assert.deepStrictEqual(ended.filter(({ code }) => typeof code !== "number" || code <= 1), [])
      }).pipe(Effect.scoped)
  )

  it.live.each(failures)(
    "is in no output and in no file if a database fails: %s",
    (how) =>
      Effect.gen(function*() {
        const { url } = yield* FakeServer
        const { port } = yield* failing(how)
        const place = `127.0.0.1:${port}/db?sslmode=${how === "refusesTls" ? "require" : "disable"}`
        const variables = [
          ["TIME_PUNCHES_DATABASE_URL", `postgres://u:${canary}@${place}`],
          ["PGPASSWORD", canary]
        ] as const
        const commands = [
          "sync",
          "copy status",
          "payroll list",
          "summary --by user",
          "fleet status 1",
          "fleet run",
          "doctor"
        ]
        const runs = commands.flatMap((call) => variables.map(([name, value]) => [name, value, call] as const))
        const ended = yield* Effect.forEach(
          runs,
          ([name, value, call]) => caught({ where: "environment", name, value }, call, url, `postgres://u@${place}`),
          // Most of them wait between attempts.
          { concurrency: 7 }
        )

        assert.deepStrictEqual(ended.filter(({ leaks }) => leaks.length > 0), [])
        assert.deepStrictEqual(ended.filter(({ code }) => code !== 8), [])
      }).pipe(Effect.scoped, Effect.provide(served))
  )
})
