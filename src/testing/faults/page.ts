/** Faults of a page: wrong cursors, wrong counts, wrong rows. */
import type { Envelope, EnvelopeEdit } from "../base/envelope.ts"
import type { Fault } from "./Fault.ts"
import type { RowPatch } from "./shapes.ts"

type Tagged<Tag extends Fault["_tag"]> = Extract<Fault, { readonly _tag: Tag }>

/** A row with a patch, as JSON text. Written member by member, because a patch may hold text that no value produces. */
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

/** Leads every walk of a query back to its first cursor after `length` cursors. */
const cursorCycle = (length: number): EnvelopeEdit => {
  const cursorsOf = new Map<number, Array<string>>()
  return (envelope, { query, sent }) => {
    const next = envelope.cursor["next"]
    const cursors = cursorsOf.get(query) ?? []
    cursorsOf.set(query, cursors)
    const index = sent === undefined ? -1 : cursors.indexOf(sent)
    // A listing with fewer pages turns back at its last one.
    const full = index + 1 >= length || typeof next !== "string"
    const [first] = cursors
    if (full && first !== undefined) return withCursor(envelope, { next: first })
    if (typeof next === "string" && !cursors.includes(next)) cursors.push(next)
    return envelope
  }
}

const emptyPage = (): EnvelopeEdit => {
  let nonce = 0
  return (envelope, { cursorAtSamePosition }) => {
    nonce += 1
    return { ...withCursor(envelope, { next: cursorAtSamePosition(nonce), count: 0 }), data: [] }
  }
}

const badRow = ({ index, patch }: Tagged<"BadRow">): EnvelopeEdit => (envelope, { rows }) => {
  const at = Math.min(index, rows.length - 1)
  const row = rows[at]
  return row === undefined ? envelope : { ...envelope, data: envelope.data.with(at, patchRow(row, patch)) }
}

const wrongCompany = (companyId: number | undefined): EnvelopeEdit => (envelope, origin) => ({
  ...envelope,
  data: origin.rows.map((row) => patchRow(row, { company_id: companyId ?? origin.companyId + 1 }))
})

const missingKey = (key: string): EnvelopeEdit => (envelope) => {
  const { [key]: _gone, ...cursor } = envelope.cursor
  return { ...envelope, cursor }
}

/** The change that a fault makes to pages, or `undefined`. Some keep state, so call it once per injection. */
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
