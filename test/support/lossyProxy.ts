/** A proxy before PostgreSQL that loses a connection at a message of the client: before it is sent, or with its answer. */
import { Effect, type Scope } from "effect"
import { once } from "node:events"
import * as Net from "node:net"

/** Where a connection is lost. */
export interface Cut {
  /** The number of the message of the client, over all connections since `cut`, counted from 0. */
  readonly message: number
  /** `unsent`: the server never receives it. `unanswered`: the server has it, and its answer is lost. */
  readonly loses: "unsent" | "unanswered"
  /** Whether no connection is accepted after it. */
  readonly forGood?: boolean
}

export interface LossyProxy {
  /** The address of the same database, through the proxy. */
  readonly url: string
  /** Counts messages from now on, and loses one connection; `undefined` loses none. */
  readonly cut: (cut?: Cut) => void
  /** The messages of the client since then: their type, and the text of a statement. */
  readonly messages: () => ReadonlyArray<string>
}

/** Whether the server answers at once: it holds back the answers of other messages. */
export const isAnswered = (message: string): boolean => /^(?:start|p|S|Q)\b/.test(message)

/** The type of a message, and the beginning of the statement that it has. */
const nameOf = (message: Buffer): string => {
  const type = String.fromCharCode(message[0] ?? 0)
  const body = type === "P" ? message.subarray(message.indexOf(0, 5) + 1) : message.subarray(5)
  return type === "P" || type === "Q" ? `${type} ${body.subarray(0, body.indexOf(0)).toString()}` : type
}

export const lossyProxy = (url: string): Effect.Effect<LossyProxy, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const { hostname, port } = new URL(url)
        const open = new Set<Net.Socket>()
        let planned: Cut | undefined
        let isDown = false
        let seen: Array<string> = []
        const server = Net.createServer((client) => {
          if (isDown) return void client.destroy()
          const upstream = Net.connect(Number(port), hostname)
          const close = () => {
            client.destroy()
            upstream.destroy()
          }
          let isStarted = false
          let isSwallowing = false
          let rest = Buffer.alloc(0)
          for (const socket of [client, upstream]) {
            open.add(socket)
            // Messages are sent one by one: without this, each round would wait for an acknowledgement.
            socket.setNoDelay(true)
            socket.on("error", close).on("close", () => {
              open.delete(socket)
              close()
            })
          }
          /** The next whole message of the client; the first of a connection has no type. */
          const next = (): Buffer | undefined => {
            const start = isStarted ? 1 : 0
            if (client.destroyed || isSwallowing || rest.length < start + 4) return undefined
            const length = start + rest.readInt32BE(start)
            if (rest.length < length) return undefined
            const message = rest.subarray(0, length)
            rest = rest.subarray(length)
            return message
          }
          const pass = (message: Buffer) => {
            const name = isStarted ? nameOf(message) : "start"
            isStarted = true
            if (isDown) return close()
            const number = seen.push(name) - 1
            if (planned?.message !== number) return upstream.write(message)
            isDown = planned.forGood ?? false
            if (planned.loses === "unsent") return close()
            isSwallowing = true
            return upstream.write(message)
          }
          client.on("data", (data) => {
            rest = Buffer.concat([rest, data])
            for (let message = next(); message !== undefined; message = next()) pass(message)
          })
          upstream.on("data", (data) => isSwallowing ? close() : client.write(data))
        }).listen(0, "127.0.0.1")
        await once(server, "listening")
        const address = server.address()
        if (address === null || typeof address === "string") throw new Error("the port of the proxy is not known")
        const shown = new URL(url)
        shown.port = `${address.port}`
        return {
          end: async () => {
            for (const socket of open) socket.destroy()
            server.close()
            await once(server, "close")
          },
          proxy: {
            url: shown.href,
            cut: (cut) => {
              planned = cut
              isDown = false
              seen = []
            },
            messages: () => seen
          } satisfies LossyProxy
        }
      }),
      ({ end }) => Effect.promise(end)
    ),
    ({ proxy }) => proxy
  )
