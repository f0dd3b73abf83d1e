/** The floor: plain undici in a loop over cursors, without validation. It imports little, so that it can be measured alone. */
import { Agent, request } from "undici"

export const companyId = 4021

export const floorName = "raw undici, json() without validation"

type Body = Awaited<ReturnType<typeof request>>["body"]

/** Reads a page: its number of punches, and the next cursor. */
export type ReadPage = (body: Body) => Promise<readonly [punches: number, next: string | null]>

const readUnchecked: ReadPage = async (body) => {
  const page = await body.json() as { data: Array<{ id: number }>; meta: { cursor: { next: string | null } } }
  let seen = 0
  for (const punch of page.data) if (punch.id >= 0) seen++
  return [seen, page.meta.cursor.next]
}

/** Lists everything once and returns the number of punches. */
export const raw = (url: string, read: ReadPage = readUnchecked) => {
  const dispatcher = new Agent({ connections: 1 })
  return async () => {
    let seen = 0
    for (let cursor: string | null = ""; cursor !== null;) {
      const { body } = await request(
        `${url}/v2/company/${companyId}/time_punches?limit=200${cursor === "" ? "" : `&cursor=${cursor}`}`,
        { dispatcher, headers: { authorization: "Bearer token", accept: "application/json" } }
      )
      const [punches, next]: readonly [number, string | null] = await read(body)
      seen += punches
      cursor = next
    }
    return seen
  }
}
