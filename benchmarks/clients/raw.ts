/** Clients on plain undici, in a loop over cursors: what a page costs without this library. */
import { promisify } from "node:util"
import { gunzip } from "node:zlib"
import { Agent, request } from "undici"
import type { Client } from "../sample.ts"

export const companyId = 4021

export interface WirePage {
  readonly data: ReadonlyArray<{ readonly id: number }>
  readonly meta: { readonly cursor: { readonly next: string | null } }
}

const headers = { authorization: "Bearer token", accept: "application/json" }

/** The path of a page, below the base URL. */
const pathOf = (cursor: string) =>
  `/v2/company/${companyId}/time_punches?limit=200${cursor === "" ? "" : `&cursor=${cursor}`}`

/** Follows the cursors from page to page. A page that was read says how many punches it has, and its next cursor. */
const walk = async (read: (cursor: string) => Promise<readonly [punches: number, next: string | null]>) => {
  let seen = 0
  for (let cursor: string | null = ""; cursor !== null;) {
    const [punches, next]: readonly [number, string | null] = await read(cursor)
    seen += punches
    cursor = next
  }
  return seen
}

/** Looks at every punch, as a program that lists them would. */
export const looked = ({ data, meta }: WirePage): readonly [punches: number, next: string | null] => {
  let seen = 0
  for (const punch of data) if (punch.id >= 0) seen++
  return [seen, meta.cursor.next]
}

type Body = Awaited<ReturnType<typeof request>>["body"]

/** Requests page after page, and reads each body as `read` does. */
export const requesting = (
  url: string,
  read: (body: Body) => Promise<readonly [punches: number, next: string | null]>,
  more: Readonly<Record<string, string>> = {}
) => {
  const options = { dispatcher: new Agent({ connections: 16 }), headers: { ...headers, ...more } }
  return () => walk(async (cursor) => read((await request(url + pathOf(cursor), options)).body))
}

/** A page of the service, which is trusted. */
export const pageOf = async (body: Body): Promise<WirePage> => await body.json() as WirePage

/** The floor that others are compared with: `request()` and `json()`, nothing validated. */
export const json: Client = (url) => requesting(url, async (body) => looked(await pageOf(body)))

const inflate = promisify(gunzip)

/** The same over gzip, inflated by zlib on its threads. */
export const gzip: Client = (url) =>
  requesting(
    url,
    async (body) => looked(JSON.parse((await inflate(await body.arrayBuffer())).toString())),
    { "accept-encoding": "gzip" }
  )

/** Dispatches page after page, and reads the bytes of each body as `read` does: no Readable for each body, no status judged. */
export const dispatching = (
  url: string,
  read: (bytes: Buffer) => readonly [punches: number, next: string | null]
) => {
  const agent = new Agent({ connections: 16 })
  const { origin, pathname } = new URL(url)
  const bytesOf = (cursor: string) =>
    new Promise<Buffer>((resolve, reject) => {
      const chunks: Array<Buffer> = []
      agent.dispatch({ origin, path: pathname + pathOf(cursor), method: "GET", headers }, {
        onRequestStart: () => {},
        onResponseStart: () => {},
        onResponseData: (_, chunk) => {
          chunks.push(chunk)
        },
        onResponseEnd: () => resolve(Buffer.concat(chunks)),
        onResponseError: (_, error) => reject(error)
      })
    })
  return () => walk(async (cursor) => read(await bytesOf(cursor)))
}

/** `dispatch()` and `JSON.parse`, no validation. */
export const dispatch: Client = (url) => dispatching(url, (bytes) => looked(JSON.parse(bytes.toString())))
