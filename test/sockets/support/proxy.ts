/** A service with TLS under a name without an address, and a proxy that connects to it. */
import { Effect } from "effect"
import type { Scope } from "effect"
import * as Net from "node:net"
import * as Tls from "node:tls"
import { wirePage, wirePunch } from "../../support/wire.ts"
import { makeAuthority } from "./certificate.ts"

export const authority = makeAuthority()

const listening = <S extends Net.Server>(server: S): Effect.Effect<{ readonly port: number }, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number }>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed({ port: typeof address === "object" && address !== null ? address.port : 0 }))
      })
    }),
    () => Effect.sync(() => server.close())
  )

const page = JSON.stringify(wirePage([wirePunch()]))

const answer =
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${page.length}\r\nconnection: close\r\n\r\n${page}`

/** A service with TLS under the name `service.test`. Every response is a page of one punch. */
export const service = Effect.suspend(() => {
  const server = Tls.createServer(authority.issue({ names: ["service.test", "127.0.0.1"] }), (socket) => {
    socket.on("error", () => {}).once("data", () => socket.end(answer))
  })
  return listening(server)
})

/** A proxy that connects every name to a port of this machine, and notes what it was asked. */
export const proxyTo = Effect.fnUntraced(function*(port: number, refuse = false) {
  const asked: Array<{ readonly target: string; readonly authorization: string | undefined }> = []
  const sockets = new Set<Net.Socket>()
  const { port: own } = yield* listening(Net.createServer((socket) => {
    sockets.add(socket)
    socket.on("error", () => {}).once("data", (data) => {
      const text = data.toString()
      asked.push({
        target: /^CONNECT (\S+) /.exec(text)?.[1] ?? text,
        authorization: /^proxy-authorization: (.*)$/im.exec(text)?.[1]?.trim()
      })
      if (refuse) {
        socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
        return
      }
      const through = Net.connect(port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 Connection Established\r\n\r\n")
        socket.pipe(through).pipe(socket)
      })
      sockets.add(through)
      through.on("error", () => {})
    })
  }))
  yield* Effect.addFinalizer(() => Effect.sync(() => sockets.forEach((socket) => socket.destroy())))
  return { asked, port: own }
})
