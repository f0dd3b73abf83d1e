/** Faults of the envelope: wrong cursors, wrong counts, wrong rows. */
import type { Envelope, EnvelopeEdit, PageOrigin } from "../service/listing.ts"
import { sameplace } from "../service/paging.ts"
import type { Fault, RowPatch } from "./Fault.ts"

type Tagged<Tag extends Fault["_tag"]> = Extract<Fault, { readonly _tag: Tag }>

/** A row as JSON text with a patch over it, member by member, since a patch may hold text that no value writes. */
const patchRow = (row: object, patch: RowPatch): string => {
  const members = Object.entries<unknown>({ ...row, ...patch }).flatMap(([key, value]) => {
    if (value === undefined) return []
    const raw = typeof value === "object" && value !== null && "rawJson" in value ? value.rawJson : undefined
    return [`${JSON.stringify(key)}:${typeof raw === "string" ? raw : JSON.stringify(value)}`]
  })
  return `{${members.join(",")}}`
}

const withCursor = (envelope: Envelope, change: Envelope["cursor"]): Envelope => ({
  ...envelope,
  cursor: { ...envelope.cursor, ...change }
})

/** Leads every walk of a query back to its first cursor once `length` of them were given. */
const cursorCycle = (length: number): EnvelopeEdit => {
  const given = new Map<number, Array<string>>()
  return (envelope, { listing, sent }) => {
    const next = envelope.cursor["next"]
    const cursors = given.get(listing.fingerprint) ?? []
    given.set(listing.fingerprint, cursors)
    const index = sent === undefined ? -1 : cursors.indexOf(sent)
    // Where the rows end before the cycle is full, the last cursor turns back already.
    const full = index + 1 >= length || typeof next !== "string"
    const [first] = cursors
    if (full && first !== undefined) return withCursor(envelope, { next: first })
    if (typeof next === "string" && !cursors.includes(next)) cursors.push(next)
    return envelope
  }
}

const emptyPage = (): EnvelopeEdit => {
  let nonce = 0
  return (envelope, { content, listing }) => {
    nonce += 1
    return { ...withCursor(envelope, { next: sameplace(listing, content, nonce), count: 0 }), data: [] }
  }
}

const badRow = ({ index, patch }: Tagged<"BadRow">): EnvelopeEdit => (envelope, { page }) => {
  const at = Math.min(index, page.rows.length - 1)
  const row = page.rows[at]
  return row === undefined ? envelope : { ...envelope, data: envelope.data.with(at, patchRow(row.wire, patch)) }
}

const wrongCompany = (companyId: number | undefined): EnvelopeEdit => (envelope, origin: PageOrigin) => ({
  ...envelope,
  data: origin.page.rows.map((row) => patchRow(row.wire, { company_id: companyId ?? origin.companyId + 1 }))
})

const missingKey = (key: string): EnvelopeEdit => (envelope) => {
  const { [key]: _gone, ...cursor } = envelope.cursor
  return { ...envelope, cursor }
}

/** The change that a fault makes to pages; nothing for faults that make none. One call an injection: some remember. */
export const pageEdit = (fault: Fault): EnvelopeEdit | undefined => {
  switch (fault._tag) {
    case "RepeatedCursor":
      return (envelope, { sent }) => sent === undefined ? envelope : withCursor(envelope, { next: sent })
    case "CursorCycle":
      return cursorCycle(fault.length)
    case "EmptyPage":
      return emptyPage()
    case "WrongObject":
      return (envelope) => ({ ...envelope, object: fault.object })
    case "WrongCompany":
      return wrongCompany(fault.companyId)
    case "MissingCursorKey":
      return missingKey(fault.key)
    case "EmptyCursor":
      return (envelope) => withCursor(envelope, { next: "" })
    case "CountMismatch":
      return (envelope) => withCursor(envelope, { count: envelope.data.length + fault.delta })
    case "BadRow":
      return badRow(fault)
    default:
      return undefined
  }
}
