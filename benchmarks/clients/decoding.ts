/** Decodes the text of one page: the floor, `JSON.parse`, and the library, with its decoder and with the schema alone. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { CompanyId, TimePunch } from "../../dist/index.js"
import { decodePunches } from "../../dist/listing/rows.js"
import type { Client } from "../sample.ts"
import { decoding } from "./page.ts"
import { companyId } from "./raw.ts"

export const parse: Client = (shape) => decoding(shape, JSON.parse)

const id = CompanyId.make(companyId)

export const ours: Client = (shape) =>
  decoding(shape, (text) => Result.getOrThrow(decodePunches(JSON.parse(text), id)).rows)

/** The same schema without its compiled decoder: the cost of the authority alone. */
const schema = Schema.decodeUnknownSync(Schema.Struct({ data: Schema.Array(TimePunch.Wire.annotate({})) }))

export const interpreted: Client = (shape) => decoding(shape, (text) => schema(JSON.parse(text)))
