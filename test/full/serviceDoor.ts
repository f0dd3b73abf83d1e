/** The doors of one process to the service, and to its database: what stands between them and can fail. */
import { Effect, type Scope } from "effect"
import { once } from "node:events"
import * as Http from "node:http"
import * as Net from "node:net"

export interface Door {
  /** The address of the service through the door. */
  readonly url: string
  /** `refused`: no connection is accepted. `reset`: each request ends its connection. `hangs`: none is answered. */
  readonly set: (state: "open" | "refused" | "reset" | "hangs") => Effect.Effect<void>
  /** Answers every listing of these companies with 429. */
  readonly throttle: (companies: ReadonlyArray<number>) => Effect.Effect<void>
  /** How many requests it has had. */
  readonly requests: () => number
}

export const doorTo = (service: string): Effect.Effect<Door, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        let state: Parameters<Door["set"]>[0] = "open"
        let throttled: ReadonlyArray<number> = []
        let requests = 0
        const server = Http.createServer((request, response) => {
          requests += 1
          if (state === "hangs") return
          if (state === "reset") return void request.socket.resetAndDestroy()
          const path = request.url ?? "/"
          if (throttled.some((company) => path.includes(`/company/${company}/`))) {
            return void response.writeHead(429, { "content-type": "application/problem+json" }).end("{}")
          }
          const { headers, method } = request
          const asked = Http.request(new URL(path, service), { headers, method }, (answer) => {
            response.writeHead(answer.statusCode ?? 502, answer.headers)
            answer.pipe(response)
          })
          asked.on("error", () => response.destroy())
          request.pipe(asked)
        })
        const listen = async (port: number) => {
          server.listen(port, "127.0.0.1")
          await once(server, "listening")
        }
        const close = async () => {
          const closed = once(server, "close")
          server.close()
          server.closeAllConnections()
          await closed
        }
        await listen(0)
        const address = server.address()
        if (address === null || typeof address === "string") throw new Error("the port of the door is not known")
        const { port } = address
        const door: Door = {
          url: `http://127.0.0.1:${port}`,
          set: (next) =>
            Effect.promise(async () => {
              const before = state
              state = next
              if (next === "refused") await close()
              else if (before === "refused") await listen(port)
            }),
          throttle: (companies) =>
            Effect.sync(() => {
              throttled = companies
            }),
          requests: () => requests
        }
        return { door, end: () => server.listening ? close() : Promise.resolve() }
      }),
      ({ end }) => Effect.promise(end)
    ),
    ({ door }) => door
  )

export interface DatabaseDoor {
  /** The address of the database through the door. */
  readonly url: string
  /** Forgets the connections that there are, as a load balancer does: nothing is sent on, and none is closed. New ones work. */
  readonly forget: () => void
  /** Whether new connections are forgotten too: the name of the database leads to a place that drops all packets. */
  readonly setAway: (isAway: boolean) => void
}

export const doorToDatabase = (url: string): Effect.Effect<DatabaseDoor, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const { hostname, port } = new URL(url)
        const open = new Set<readonly [Net.Socket, Net.Socket]>()
        const forgotten = new Set<Net.Socket>()
        const unanswered = new Set<Net.Socket>()
        let isAway = false
        const server = Net.createServer((client) => {
          if (isAway) {
            unanswered.add(client.on("error", () => client.destroy()))
            return
          }
          const pair = [client, Net.connect(Number(port), hostname)] as const
          open.add(pair)
          for (const [at, socket] of pair.entries()) {
            const other = pair[1 - at]
            socket.setNoDelay(true).on("data", (bytes) => {
              if (!forgotten.has(socket)) other?.write(bytes)
            })
            socket.on("error", () => socket.destroy()).on("close", () => {
              if (!forgotten.has(socket)) other?.destroy()
            })
          }
        })
        server.listen(0, "127.0.0.1")
        await once(server, "listening")
        const address = server.address()
        if (address === null || typeof address === "string") throw new Error("the port of the door is not known")
        const through = new URL(url)
        through.port = `${address.port}`
        const door: DatabaseDoor = {
          url: through.href,
          forget: () => {
            for (const pair of open) for (const socket of pair) forgotten.add(socket)
          },
          setAway: (value) => {
            isAway = value
          }
        }
        const end = async () => {
          for (const socket of [...open].flat().concat(...unanswered)) socket.destroy()
          server.close()
          await once(server, "close")
        }
        return { door, end }
      }),
      ({ end }) => Effect.promise(end)
    ),
    ({ door }) => door
  )
