/** The envelope of a page (spec 2.3) before it becomes JSON, and the shape of a change to it. */
import type { WirePunch } from "./WirePunch.ts"

/** The list envelope, with its rows as JSON text. */
export interface Envelope {
  readonly object: string
  readonly data: ReadonlyArray<string>
  readonly cursor: Readonly<Record<string, string | number | null>>
}

/** The page that an envelope describes. */
export interface PageOrigin {
  readonly companyId: number
  /** Fingerprint of company and query, the same for all pages of a walk. */
  readonly query: number
  readonly rows: ReadonlyArray<WirePunch>
  /** The cursor of the request; `undefined` for the first page. */
  readonly sent: string | undefined
  /** A cursor with another text that leads to the rows of this page; each `nonce` gives another text. */
  readonly cursorAtSamePosition: (nonce: number) => string
}

/** A change to an envelope before it is written. */
export type EnvelopeEdit = (envelope: Envelope, origin: PageOrigin) => Envelope

/** The JSON text of an envelope. */
export const writeEnvelope = ({ cursor, data, object }: Envelope): string =>
  `{"object":${JSON.stringify(object)},"data":[${data.join(",")}],"meta":{"cursor":${JSON.stringify(cursor)}}}`
