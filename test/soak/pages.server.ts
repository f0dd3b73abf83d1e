/** A process that serves any number of punches in pages of 200, generated on request; prints its address. */
import * as Http from "node:http"
import { defaultCompany, generatePunches, toWire } from "../../src/testing/index.ts"

const total = Number(process.argv[2])
const pageSize = 200

/** Rows as text without their id, which is the only difference between pages. */
const rows = generatePunches({ seed: 9, count: pageSize, companyId: defaultCompany.id, deletedShare: 0 }).map((punch) =>
  JSON.stringify(toWire(punch)).replace(/^\{"id":\d+/, "")
)

const page = (first: number) => {
  const count = Math.min(pageSize, total - first + 1)
  const next = first + count > total ? null : String(first + count)
  const data = rows.slice(0, count).map((row, index) => `{"id":${first + index}${row}`).join(",")
  const cursor = JSON.stringify({ current: String(first), prev: null, next, count })
  return `{"object":"time_punches","data":[${data}],"meta":{"cursor":${cursor}}}`
}

const server = Http.createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? "/", "http://localhost")
  const body = page(Number(searchParams.get("cursor") ?? "1"))
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) }).end(body)
})

server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  if (typeof address === "object" && address !== null) process.stdout.write(`http://127.0.0.1:${address.port}\n`)
})
