/** Plain undici with the decoder of this library: the floor of every validating client, on `request()` and on `dispatch()`. */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { CompanyId } from "../../dist/index.js"
import { decodePunches } from "../../dist/listing/rows.js"
import type { Client } from "../sample.ts"
import { companyId, dispatching, requesting } from "./raw.ts"

const utf8 = new TextDecoder("utf-8", { fatal: true })

const id = CompanyId.make(companyId)

/** Strict text, decoded and looked at. */
const read = (bytes: ArrayBuffer | Uint8Array): readonly [punches: number, next: string | null] => {
  const { cursor, rows } = Result.getOrThrow(decodePunches(JSON.parse(utf8.decode(bytes)), id))
  return [rows.length, Option.getOrNull(cursor.next)]
}

export const undici: Client = (url) => requesting(url, async (body) => read(await body.arrayBuffer()))

export const dispatch: Client = (url) => dispatching(url, read)
