/** `GET /v2/company/{company_id}/time_punches` (spec 4.1) for an authorized request: query, page, envelope. */
import { type Envelope, type EnvelopeEdit, writeEnvelope } from "../base/envelope.ts"
import { type FakeResponse, respondJson } from "../base/message.ts"
import { problem } from "../base/problem.ts"
import type { CursorAges } from "./cursor.ts"
import { decodeQuery, isRefusal, parseListQuery, type Refusal } from "./listQuery.ts"
import type { Settings } from "./options.ts"
import { cursorAtSamePosition, cutPage, readCursor } from "./paging.ts"
import type { Table } from "./table.ts"

const refuse = ({ detail, param }: Refusal) => problem(422, { detail, param, code: 2100 })

/** What a listing reads. */
export interface ListingSource {
  readonly settings: Settings
  readonly table: Table
  readonly cursorAges: CursorAges
}

/** A listing request whose sender may list the company; `now` is the time of the `Clock`. */
export interface ListingRequest {
  readonly companyId: number
  readonly rawQuery: string
  readonly now: number
}

/** Responds with a page, or with 422 for an invalid query or cursor. */
export const respondWithPage = (
  { cursorAges, settings, table }: ListingSource,
  { companyId, now, rawQuery }: ListingRequest,
  edit: EnvelopeEdit
): FakeResponse => {
  const pairs = decodeQuery(rawQuery)
  if (isRefusal(pairs)) return refuse(pairs)
  const query = parseListQuery(pairs, settings.maxLimit)
  if (isRefusal(query)) return refuse(query)
  const listing = table.list(companyId, pairs, query)
  const sent = query.cursor
  const content = sent === undefined ? undefined : readCursor(sent, listing, settings.cursors)
  if (sent !== undefined && content === undefined) {
    return refuse({ param: "cursor", detail: "The cursor is not one of this query." })
  }
  if (sent !== undefined && cursorAges.isExpired(sent, now)) {
    return refuse({ param: "cursor", detail: "The cursor has expired." })
  }
  const page = cutPage(listing, settings.cursors, sent, content, query.limit ?? settings.defaultLimit)
  const { count, current, next, prev } = page.cursor
  const envelope: Envelope = {
    object: "time_punches",
    data: page.rows.map((row) => row.text),
    cursor: { current, prev, next, count }
  }
  const edited = edit(envelope, {
    companyId,
    query: listing.fingerprint,
    rows: page.rows.map((row) => row.wire),
    sent,
    cursorAtSamePosition: (nonce) => cursorAtSamePosition(listing, content, nonce)
  })
  cursorAges.issue([edited.cursor["next"], edited.cursor["prev"]], now)
  return respondJson(200, writeEnvelope(edited))
}
