/** Plain undici with the decoder of this library: the floor of every validating client on `request()`. */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { CompanyId } from "../../dist/index.js"
import { decodePunches } from "../../dist/listing/rows.js"
import type { Client } from "../sample.ts"
import { companyId, requesting } from "./raw.ts"

const utf8 = new TextDecoder("utf-8", { fatal: true })

const id = CompanyId.make(companyId)

export const undici: Client = (url) =>
  requesting(url, async (body) => {
    const { cursor, rows } = Result.getOrThrow(decodePunches(JSON.parse(utf8.decode(await body.arrayBuffer())), id))
    return [rows.length, Option.getOrNull(cursor.next)]
  })
