/** The encryption of a connection to PostgreSQL, through the command: what a certificate must have, and who gets a password without one. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Net from "node:net"
import * as Tls from "node:tls"
import { ended, environmentOf, started } from "../cli/child.ts"
import { temporaryFolder } from "../cli/support.ts"
import { makeAuthority } from "../sockets/support/certificate.ts"
import { needs } from "../support/needs.ts"

const authority = makeAuthority()

/** What PostgreSQL does until the login: it agrees to encrypt, and then receives who wants to log in. */
const server = (name: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly logins: () => number; readonly server: Net.Server }>((resume) => {
      let logins = 0
      const server = Net.createServer((socket) => {
        socket.on("error", () => {}).once("data", () => {
          socket.write("S")
          const secure = new Tls.TLSSocket(socket, { isServer: true, ...authority.issue({ names: [name] }) })
          secure.on("error", () => {}).once("data", () => {
            logins++
            socket.destroy()
          })
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({ port, logins: () => logins, server }))
      })
    }),
    ({ server }) => Effect.sync(() => server.close())
  )

describe("sslmode=verify-full", () => {
  it.live.each<readonly [name: string, isTrusted: boolean]>([["127.0.0.1", true], ["127.0.0.2", false]])(
    "to an IP address trusts the certificate of that address only, and causes no warning: %s",
    ([name, isTrusted]) =>
      Effect.gen(function*() {
        const { logins, port } = yield* server(name)
        const file = `${yield* temporaryFolder}/ca.pem`
        Fs.writeFileSync(file, authority.cert)
        const { code, stderr } = yield* Effect.flatMap(
          started(["copy", "status"], {
            ...environmentOf("http://127.0.0.1:1"),
            TIME_PUNCHES_DATABASE_URL: `postgres://u:p@127.0.0.1:${port}/db?sslmode=verify-full&sslrootcert=${file}`
          }),
          ended
        )

        assert.strictEqual(code, 8, stderr)
        assert.strictEqual(logins() > 0, isTrusted, stderr)
        assert.notInclude(stderr, "DEP0123")
      }).pipe(Effect.scoped)
  )
})

/** A server without TLS that asks for the password by a number of the protocol: what it was sent after that. */
const asking = (requests: ReadonlyArray<ReadonlyArray<number>>) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly received: () => string; readonly server: Net.Server }>(
      (resume) => {
        let received = ""
        const server = Net.createServer((socket) => {
          socket.on("error", () => {}).once("data", () => {
            socket.on("data", (bytes) => void (received += bytes.toString("latin1")))
            // One byte at a time: the request of a server need not come whole.
            void (async () => {
              for (const byte of requests.flat()) {
                if (socket.destroyed) return
                socket.write(Buffer.from([byte]))
                await new Promise((next) => setTimeout(next, 2))
              }
              setTimeout(() => socket.destroy(), 100)
            })()
          })
        })
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          const port = typeof address === "object" && address !== null ? address.port : 0
          resume(Effect.succeed({ port, received: () => received, server }))
        })
      }
    ),
    ({ server }) => Effect.sync(() => server.close())
  )

const plain = [0x52, 0, 0, 0, 8, 0, 0, 0, 3]
const md5 = [0x52, 0, 0, 0, 12, 0, 0, 0, 5, 1, 2, 3, 4]
const scram = [0x52, 0, 0, 0, 23, 0, 0, 0, 10, ...Buffer.from("SCRAM-SHA-256\0\0", "latin1")]

describe("a server without TLS", () => {
  const refused = "the server asks for the password in plain text, over a connection without TLS: it was not sent"
  const sent = "the database asked for the password in plain text, and got it: the connection has no TLS"

  it.live.each<
    readonly [what: string, requests: ReadonlyArray<ReadonlyArray<number>>, mode: string, gets: boolean, says: string]
  >([
    ["plain text", [plain], "", false, refused],
    ["plain text behind SCRAM", [scram, plain], "", false, refused],
    ["plain text", [plain], "?sslmode=disable", true, sent],
    ["MD5", [md5], "", false, ""],
    ["SCRAM", [scram], "", false, ""]
  ])(
    "that asks for %s (%j, URL with %j) gets the password: %s",
    ([, requests, mode, gets, says]) =>
      Effect.gen(function*() {
        for (const call of [["copy", "status"], ["fleet", "run"]]) {
          const { port, received } = yield* asking(requests)
          const { code, stderr } = yield* Effect.flatMap(
            started(call, {
              ...environmentOf("http://127.0.0.1:1"),
              PGPASSWORD: "hunter2",
              TIME_PUNCHES_DATABASE_URL: `postgres://u@127.0.0.1:${port}/db${mode}`
            }),
            ended
          )

          assert.strictEqual(code, 8, stderr)
          assert.strictEqual(received().includes("hunter2"), gets)
          if (says === "") assert.notInclude(stderr, "plain text")
          else assert.include(stderr, says)
          assert.notInclude(stderr, "hunter2")
        }
      }).pipe(Effect.scoped)
  )
})

describe("a URL without a user", () => {
  it.live("means the user of the system, whose name need not be in the environment", () =>
    Effect.gen(function*() {
      const { port, received } = yield* asking([scram])
      const env = { ...environmentOf("http://127.0.0.1:1"), PGPASSWORD: "x" }
      const TIME_PUNCHES_DATABASE_URL = `postgres://127.0.0.1:${port}/db`
      const { code, stderr } = yield* Effect.flatMap(
        started(["copy", "status"], { ...env, TIME_PUNCHES_DATABASE_URL }),
        ended
      )

      assert.strictEqual(code, 8, stderr)
      assert.notInclude(stderr, "username")
      assert.include(received(), "SCRAM-SHA-256")
    }).pipe(Effect.scoped))

  it.live("is refused for a user without a name, and says what to set", (context) => {
    needs(context, process.getuid?.() === 0, "only root can become another user")
    return Effect.gen(function*() {
      const { code, stderr } = yield* Effect.flatMap(
        started(
          ["copy", "status"],
          { ...environmentOf("http://127.0.0.1:1"), TIME_PUNCHES_DATABASE_URL: "postgres://127.0.0.1:1/db" },
          undefined,
          "/",
          { uid: 54_321, gid: 54_321 }
        ),
        ended
      )

      assert.deepStrictEqual([code, stderr.split("\n").slice(0, 2)], [2, [
        "time-punches: the address of the database names no user, and the user of this process has no name",
        "  Put the user of PostgreSQL into it: postgres://USER@host/database."
      ]])
    }).pipe(Effect.scoped)
  })
})
