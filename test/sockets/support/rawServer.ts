/** A server on loopback that sends exactly these bytes: with pauses, half-closes and resets, over TCP or TLS. */
import { Effect } from "effect"
import type { Scope } from "effect"
import { Buffer } from "node:buffer"
import * as Net from "node:net"
import * as Tls from "node:tls"

/** One action of a server on a connection. After the last one it sends nothing, and the connection stays open. */
export type Step =
  | string
  | Uint8Array
  | { readonly pause: number }
  | { readonly drip: Uint8Array | string; readonly every: number; readonly bytes?: number }
  | { readonly endless: Uint8Array }
  | "RESET"
  | "FINISH"

/** The answer to one request. */
export type Answer = Step | ReadonlyArray<Step>

export interface RawServerOptions {
  /** The answers in order of requests, the last one for all that follow; or one for each request. */
  readonly answers: ReadonlyArray<Answer> | ((request: RawRequest) => Answer)
  /** When to answer: at any bytes, as a server that does not understand them, or at a whole request. Default: request. */
  readonly at?: "request" | "byte" | undefined
  readonly tls?: Tls.TlsOptions | undefined
  /** Default: any free port. */
  readonly port?: number | undefined
}

/** A request as it arrived. */
export interface RawRequest {
  /** From 1, in order of arrival. */
  readonly connection: number
  readonly line: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A connection, and when the client closed it, by `performance.now()`. */
export interface RawConnection {
  closedAt: number | undefined
}

export interface RawServer {
  readonly url: string
  readonly port: number
  readonly requests: ReadonlyArray<RawRequest>
  readonly connections: ReadonlyArray<RawConnection>
  /** The number of open connections. */
  readonly open: () => number
  /** Bytes received on all connections. */
  readonly received: () => number
  /** Bytes written to all connections; what a client did not take stays in the buffers of its socket. */
  readonly sent: () => number
}

const latin1 = (text: string) => Buffer.from(text, "latin1")

/** The first request in `text` and the rest; `undefined` while it is incomplete. */
const takeRequest = (text: string, connection: number): readonly [RawRequest, string] | undefined => {
  const end = text.indexOf("\r\n\r\n")
  if (end < 0) return undefined
  const [line = "", ...fields] = text.slice(0, end).split("\r\n")
  const headers = Object.fromEntries(fields.map((field) => {
    const colon = field.indexOf(":")
    return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()]
  }))
  const size = Number(headers["content-length"] ?? 0)
  const body = text.slice(end + 4, end + 4 + size)
  return body.length < size ? undefined : [{ connection, line, headers, body }, text.slice(end + 4 + size)]
}

const sleep = (millis: number) =>
  new Promise((resolve) => millis === 0 ? setImmediate(resolve) : setTimeout(resolve, millis))

/** Waits until the other side has read, so that a body of any size costs no memory. */
const write = (socket: Net.Socket, bytes: Uint8Array) =>
  new Promise<void>((resolve) => {
    if (socket.destroyed || socket.write(bytes)) return resolve()
    socket.once("drain", resolve)
    socket.once("close", () => resolve())
  })

const bytesOf = (content: Uint8Array | string) => typeof content === "string" ? Buffer.from(content) : content

const play = async (socket: Net.Socket, tcp: Net.Socket, answer: Answer) => {
  for (const step of [answer].flat()) {
    if (socket.destroyed) return
    if (step === "RESET") tcp.resetAndDestroy()
    else if (step === "FINISH") socket.end()
    else if (typeof step === "string" || step instanceof Uint8Array) await write(socket, bytesOf(step))
    else if ("pause" in step) await sleep(step.pause)
    else if ("endless" in step) { while (!socket.destroyed) await write(socket, step.endless) }
    else {
      const content = bytesOf(step.drip)
      const size = step.bytes ?? 1
      for (let at = 0; at < content.length && !socket.destroyed; at += size) {
        await write(socket, content.subarray(at, at + size))
        await sleep(step.every)
      }
    }
  }
}

const listen = (server: Net.Server, port: number) =>
  Effect.callback<number>((resume) => {
    server.listen(port, "127.0.0.1", () => {
      const address = server.address()
      resume(Effect.succeed(address !== null && typeof address === "object" ? address.port : 0))
    })
  })

/** Listens until the scope closes, then closes every connection, also within an answer. */
export const rawServer = (options: RawServerOptions): Effect.Effect<RawServer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const requests: Array<RawRequest> = []
    const connections: Array<RawConnection> = []
    const sockets = new Set<Net.Socket>()
    const accepted: Array<Net.Socket> = []
    let received = 0
    let answered = 0
    const answerTo = (request: RawRequest): Answer =>
      typeof options.answers === "function"
        ? options.answers(request)
        : options.answers[Math.min(answered++, options.answers.length - 1)] ?? []

    const serve = (socket: Net.Socket, tcp: Net.Socket, connection: number) => {
      let text = ""
      let turn = Promise.resolve()
      const answer = (request: RawRequest) => {
        turn = turn.then(() => play(socket, tcp, answerTo(request)))
      }
      socket.on("error", () => {})
      socket.on("data", (chunk: Uint8Array) => {
        text += Buffer.from(chunk).toString("latin1")
        if (options.at === "byte") return answer({ connection, line: "", headers: {}, body: text })
        for (let taken = takeRequest(text, connection); taken !== undefined; taken = takeRequest(text, connection)) {
          requests.push(taken[0])
          text = taken[1]
          answer(taken[0])
        }
      })
    }

    const accept = (tcp: Net.Socket) => {
      const state: RawConnection = { closedAt: undefined }
      connections.push(state)
      const connection = connections.length
      sockets.add(tcp)
      accepted.push(tcp)
      tcp.on("error", () => {})
      tcp.on("close", () => {
        sockets.delete(tcp)
        state.closedAt ??= performance.now()
      })
      tcp.on("end", () => {
        state.closedAt ??= performance.now()
      })
      tcp.setNoDelay(true)
      if (options.tls === undefined) {
        tcp.on("data", (chunk: Uint8Array) => {
          received += chunk.length
        })
        return serve(tcp, tcp, connection)
      }
      const secure = new Tls.TLSSocket(tcp, {
        ...options.tls,
        isServer: true,
        secureContext: Tls.createSecureContext(options.tls)
      })
      secure.on("data", (chunk: Uint8Array) => {
        received += chunk.length
      })
      serve(secure, tcp, connection)
    }

    const server = yield* Effect.acquireRelease(
      Effect.sync(() => Net.createServer(accept)),
      (server) =>
        Effect.callback<void>((resume) => {
          for (const socket of sockets) socket.destroy()
          server.close(() => resume(Effect.void))
        })
    )
    const port = yield* listen(server, options.port ?? 0)
    return {
      url: `${options.tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
      port,
      requests,
      connections,
      open: () => sockets.size,
      received: () => received,
      sent: () => accepted.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0)
    }
  })

/** Status line and headers. */
export const head = (status: number | string, headers: Readonly<Record<string, string>> = {}): string =>
  `HTTP/1.1 ${typeof status === "number" ? `${status} Status` : status}\r\n${
    Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("")
  }\r\n`

/** A whole response with its length. */
export const whole = (
  status: number | string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = { "content-type": "application/json" }
): Uint8Array => {
  const content = bytesOf(body)
  return Buffer.concat([latin1(head(status, { ...headers, "content-length": String(content.length) })), content])
}

/** One chunk of a chunked body; an empty one ends it. */
export const chunk = (body: string | Uint8Array): Uint8Array => {
  const content = bytesOf(body)
  return Buffer.concat([latin1(`${content.length.toString(16)}\r\n`), content, latin1("\r\n")])
}
