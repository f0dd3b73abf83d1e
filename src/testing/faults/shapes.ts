/** What faults are made of: JSON, row patches, status bodies, defects of a token response. */

/**
 * Any JSON value.
 *
 * @since 0.1.0
 */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

/**
 * JSON text that `JSON.stringify` cannot produce, such as `1e400` or a number of twenty digits.
 *
 * @since 0.1.0
 */
export interface RawJson {
  /** The text, written as it is. */
  readonly rawJson: string
}

/**
 * A change to a row: a value replaces or adds a member, `undefined` removes it.
 *
 * @since 0.1.0
 */
export type RowPatch = Readonly<Record<string, Json | RawJson | undefined>>

/**
 * The body of an injected status: a problem (`error` for the token endpoint), a page of HTML, nothing, or a given text.
 *
 * @since 0.1.0
 */
export type FaultBody = "problem" | "html" | "empty" | {
  /** The `content-type` header. */
  readonly contentType: string
  /** The body. */
  readonly text: string
}

/**
 * Body and headers of an injected status.
 *
 * @since 0.1.0
 */
export interface StatusOptions {
  /** The body. Default `problem`; statuses 204, 205 and 304 never have one. */
  readonly body?: FaultBody | undefined
  /** Members that replace those of the usual problem; `undefined` removes one. Default: none. */
  readonly problem?: Readonly<Record<string, Json | undefined>> | undefined
  /** Additional headers, with lower-case names. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * A defect of a token response with status 200: another body, or a wrong `access_token` or `token_type`.
 *
 * @since 0.1.0
 */
export type TokenDefect =
  | "html"
  | "empty"
  | "notJson"
  | "noAccessToken"
  | "emptyAccessToken"
  | "numberAccessToken"
  | "crlfAccessToken"
  | "spaceAccessToken"
  | "hugeAccessToken"
  | "noTokenType"
  | "macTokenType"
