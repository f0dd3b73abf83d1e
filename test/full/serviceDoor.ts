/** A door of one process to the service: it can be shut, and some companies can be throttled at it. */
import { Effect, type Scope } from "effect"
import { once } from "node:events"
import * as Http from "node:http"

export interface Door {
  /** The address of the service through the door. */
  readonly url: string
  /** `refused`: no connection is accepted. `reset`: each request ends its connection. `hangs`: none is answered. */
  readonly set: (state: "open" | "refused" | "reset" | "hangs") => Effect.Effect<void>
  /** Answers every listing of these companies with 429. */
  readonly throttle: (companies: ReadonlyArray<number>) => Effect.Effect<void>
}

export const doorTo = (service: string): Effect.Effect<Door, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        let state: Parameters<Door["set"]>[0] = "open"
        let throttled: ReadonlyArray<number> = []
        const server = Http.createServer((request, response) => {
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
            })
        }
        return { door, end: () => server.listening ? close() : Promise.resolve() }
      }),
      ({ end }) => Effect.promise(end)
    ),
    ({ door }) => door
  )
