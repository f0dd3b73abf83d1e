/** A local port that never completes a handshake: its queue of connections is full and stays so. */
import { Effect, type Scope } from "effect"
import * as Net from "node:net"
import { Worker } from "node:worker_threads"

/** Listens with the shortest queue, then blocks and never accepts. */
const listener = `
const { parentPort } = require("node:worker_threads")
const server = require("node:net").createServer()
server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
  parentPort.postMessage(server.address().port)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
})
`

const start = Effect.callback<{ readonly worker: Worker; readonly port: number }>((resume) => {
  const worker = new Worker(listener, { eval: true })
  worker.once("message", (port: number) => resume(Effect.succeed({ worker, port })))
})

const fill = (port: number) =>
  Effect.acquireRelease(
    Effect.sync(() => Array.from({ length: 6 }, () => Net.connect(port, "127.0.0.1").on("error", () => {}))),
    (sockets) => Effect.sync(() => sockets.forEach((socket) => socket.destroy()))
  )

/** The URL of such a port. */
export const blackHole: Effect.Effect<string, never, Scope.Scope> = Effect.gen(function*() {
  const { port } = yield* Effect.acquireRelease(start, ({ worker }) => Effect.promise(() => worker.terminate()))
  yield* fill(port)
  yield* Effect.sleep("50 millis")
  return `http://127.0.0.1:${port}`
})
