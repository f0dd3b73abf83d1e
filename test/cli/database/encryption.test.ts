/** `sslmode=verify-full` to an IP address, through the command: the certificate must have the address, and Node warns of nothing. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Net from "node:net"
import * as Tls from "node:tls"
import { makeAuthority } from "../../sockets/support/certificate.ts"
import { ended, environmentOf, started } from "../child.ts"
import { temporaryFolder } from "../support.ts"

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
      }).pipe(Effect.scoped),
    30_000
  )
})
