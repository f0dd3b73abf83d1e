/**
 * Serves prepared pages from memory, in a separate process, and prints its port. The path begins with the shape of the
 * text, `/ascii` or `/scripts`, or with `/two` for two pages only, or `/small` for two of 20 punches; then `/chunked`, or
 * `/compressed` for what the request accepts of br and gzip. `node server.ts PAGES`.
 */
import { createServer } from "node:http"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { bodies } from "./data.ts"

const pages = Number(process.argv[2] ?? 500)

interface Listing {
  readonly plain: ReadonlyArray<Buffer>
  readonly packed: Map<string, Buffer>
}

const listing = (texts: ReadonlyArray<string>): Listing => ({
  plain: texts.map((text) => Buffer.from(text)),
  packed: new Map()
})

const listings = new Map([
  ["ascii", listing(bodies(pages, "ascii"))],
  ["scripts", listing(bodies(pages, "scripts"))],
  ["two", listing(bodies(2, "scripts"))],
  ["small", listing(bodies(2, "scripts", 20))]
])

const codings: ReadonlyArray<readonly [name: string, pack: (body: Buffer) => Buffer]> = [
  ["br", (body) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })],
  ["gzip", (body) => gzipSync(body)]
]

/** The body in a coding that the request accepts, packed once. */
const packed = ({ packed, plain }: Listing, page: number, accepted: string) => {
  const body = plain[page] ?? Buffer.from("{}")
  const coding = codings.find(([name]) => accepted.includes(name))
  if (coding === undefined) return [undefined, body] as const
  const [name, pack] = coding
  const bytes = packed.get(`${name}${page}`) ?? pack(body)
  packed.set(`${name}${page}`, bytes)
  return [name, bytes] as const
}

const server = createServer((request, response) => {
  const [, shape = "", form = ""] = (request.url ?? "").split("/")
  const listing = listings.get(shape)
  if (listing === undefined) return void response.writeHead(404).end()
  const page = Number(/[?&]cursor=p(\d+)/.exec(request.url ?? "")?.[1] ?? 0)
  const accepted = form === "compressed" ? String(request.headers["accept-encoding"]) : ""
  const [coding, body] = packed(listing, page, accepted)
  const type = { "content-type": "application/json", ...(coding === undefined ? {} : { "content-encoding": coding }) }
  if (form !== "chunked") return void response.writeHead(200, { ...type, "content-length": body.length }).end(body)
  response.writeHead(200, type).write(body.subarray(0, body.length >> 1))
  response.end(body.subarray(body.length >> 1))
})
server.keepAliveTimeout = 60_000
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.stdout.write(`${typeof address === "object" ? address?.port : ""}\n`)
})
process.once("disconnect", () => process.exit(0))
setTimeout(() => process.exit(0), 60 * 60_000).unref()
