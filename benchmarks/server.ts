/** Serves prepared bodies from memory, in a separate process: `node server.ts PAGES [LATENCY_MS]`; chunked under `/chunked`. Prints its port. */
import { createServer } from "node:http"
import { bodies } from "./data.ts"

const pages = Number(process.argv[2] ?? 500)
const latency = Number(process.argv[3] ?? 0)
const buffers = bodies(pages).map((text) => Buffer.from(text))

const server = createServer((request, response) => {
  const cursor = /[?&]cursor=p(\d+)/.exec(request.url ?? "")?.[1]
  const body = buffers[cursor === undefined ? 0 : Number(cursor)] ?? Buffer.from("{}")
  const isChunked = request.url?.startsWith("/chunked") === true
  const answer = () => {
    const type = { "content-type": "application/json" }
    if (!isChunked) return response.writeHead(200, { ...type, "content-length": body.length }).end(body)
    response.writeHead(200, type).write(body.subarray(0, body.length >> 1))
    return response.end(body.subarray(body.length >> 1))
  }
  if (latency === 0) answer()
  else setTimeout(answer, latency)
})
server.keepAliveTimeout = 60_000
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.stdout.write(`${typeof address === "object" ? address?.port : ""}\n`)
})
process.once("disconnect", () => process.exit(0))
setTimeout(() => process.exit(0), 30 * 60_000).unref()
