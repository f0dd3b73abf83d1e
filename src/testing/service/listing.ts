/** `GET /v2/company/{company_id}/time_punches` (spec 4.1) for a request that may be answered: query, page, envelope. */
import { type FakeResponse, respondJson } from "../base/message.ts"
import { problem } from "../base/problem.ts"
import type { CursorContent } from "./cursor.ts"
import { decodeQuery, isRefusal, parseListQuery, type Refusal } from "./listQuery.ts"
import type { Settings } from "./options.ts"
import { cutPage, type Page, readCursor } from "./paging.ts"
import type { Listing, Table } from "./table.ts"

/** The list envelope (spec 2.3) with its rows as JSON text. */
export interface Envelope {
  readonly object: string
  readonly data: ReadonlyArray<string>
  readonly cursor: Readonly<Record<string, string | number | null>>
}

/** What a page came from. */
export interface PageOrigin {
  readonly companyId: number
  readonly listing: Listing
  readonly page: Page
  /** The cursor as it was sent, and what it says. */
  readonly sent: string | undefined
  readonly content: CursorContent | undefined
}

/** A last change to an envelope before it is written; the service itself makes none. */
export type EnvelopeEdit = (envelope: Envelope, origin: PageOrigin) => Envelope

const refuse = ({ detail, param }: Refusal) => problem(422, { detail, param, code: 2100 })

/** The JSON text of an envelope. */
export const writeEnvelope = ({ cursor, data, object }: Envelope): string =>
  `{"object":${JSON.stringify(object)},"data":[${data.join(",")}],"meta":{"cursor":${JSON.stringify(cursor)}}}`

/** Answers with a page, or with 422 when the query or its cursor cannot be read. */
export const answerListing = (
  settings: Settings,
  table: Table,
  companyId: number,
  rawQuery: string,
  edit: EnvelopeEdit
): FakeResponse => {
  const pairs = decodeQuery(rawQuery)
  if (isRefusal(pairs)) return refuse(pairs)
  const query = parseListQuery(pairs, settings.maxLimit)
  if (isRefusal(query)) return refuse(query)
  const listing = table.list(companyId, pairs, query)
  const sent = query.cursor
  const content = sent === undefined ? undefined : readCursor(sent, listing)
  if (sent !== undefined && content === undefined) {
    return refuse({ param: "cursor", detail: "The cursor is not one of this query." })
  }
  const page = cutPage(listing, sent, content, query.limit ?? settings.defaultLimit)
  const { count, current, next, prev } = page.cursor
  const envelope: Envelope = {
    object: "time_punches",
    data: page.rows.map((row) => row.text),
    cursor: { current, prev, next, count }
  }
  return respondJson(200, writeEnvelope(edit(envelope, { companyId, listing, page, sent, content })))
}
