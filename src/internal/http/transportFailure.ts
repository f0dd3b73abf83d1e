/** From an error of the transport to its meaning: which phase, which code, whether a retry may help. */
import type * as HttpClientError from "effect/http/HttpClientError"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { type Retry, transientRetry } from "../resilience/retry.ts"

/** The reasons of `TransportError`. */
export type TransportReason = "Connect" | "Tls" | "Headers" | "Body" | "Timeout" | "TooLarge" | "Unknown"

/** The fields of a `TransportError`, and how it may be retried; `undefined` is never. */
export interface TransportFailure {
  readonly reason: TransportReason
  readonly code: Option.Option<string>
  readonly retry: Retry | undefined
}

/** No whole response within the attempt's limit. */
export const timedOut: TransportFailure = { reason: "Timeout", code: Option.none(), retry: transientRetry("Timeout") }

/** A body above its cap: a retry would get the same body. */
export const overflowed: TransportFailure = { reason: "TooLarge", code: Option.none(), retry: undefined }

/** Platform codes by meaning. A code that matches no rule is a failure of its phase and is retried. */
const rules: ReadonlyArray<readonly [codes: RegExp, reason: TransportReason | undefined, limit: number]> = [
  [/^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|EPROTO$|.*HOSTNAME_MISMATCH$)/, "Tls", 0],
  [/^(INVALID_(CA|PURPOSE)|PATH_LENGTH_EXCEEDED|ERR_OSSL_)/, "Tls", 0],
  [/^ENOTFOUND$/, "Connect", 1],
  [
    /^(ECONNREFUSED|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/,
    "Connect",
    Infinity
  ],
  [/^UND_ERR_(HEADERS|BODY)_TIMEOUT$/, "Timeout", Infinity],
  [/^UND_ERR_RES_EXCEEDED_MAX_SIZE$/, "TooLarge", 0],
  [/^(HPE_|ERR_HTTP2_|UND_ERR_(HTTP_PARSER|HEADERS_OVERFLOW|RES_CONTENT_LENGTH_MISMATCH)$)/, undefined, 1],
  [/^(Z_|ERR_(BROTLI|ZSTD|_ERROR_FORMAT))/, undefined, 2],
  [/^(ERR_INVALID_|UND_ERR_INVALID_ARG$|UND_ERR_NOT_SUPPORTED$|UND_ERR_DESTROYED$|UND_ERR_CLOSED$)/, undefined, 0]
]

interface Code {
  readonly code: string
  /** What the system refused came before the first byte: the address of the host, or the connection to it. */
  readonly isUnsent: boolean
}

/** The platform's code, which the transports bury in causes of causes. Only a code is taken, never the cause. */
const codeOf = (cause: unknown, depth = 0): Code | undefined => {
  if (depth > 5 || !Predicate.isObject(cause)) return undefined
  if ("code" in cause && typeof cause.code === "string" && /^[A-Z][A-Z0-9_]{1,63}$/.test(cause.code)) {
    const isUnsent = "syscall" in cause && (cause.syscall === "connect" || cause.syscall === "getaddrinfo")
    return { code: cause.code, isUnsent }
  }
  // The parser of fetch and undici gives no code if the response is not HTTP.
  if ("name" in cause && cause.name === "HTTPParserError") return { code: "UND_ERR_HTTP_PARSER", isUnsent: false }
  const inner = "cause" in cause ? codeOf(cause.cause, depth + 1) : undefined
  return inner ?? ("errors" in cause && Array.isArray(cause.errors) ? codeOf(cause.errors[0], depth + 1) : undefined)
}

/** Translates an error where it enters. The request that the error holds, with its headers, is dropped here. */
export const transportFailureOf = (
  error: HttpClientError.HttpClientError,
  phase: "Headers" | "Body"
): TransportFailure => {
  switch (error.reason._tag) {
    case "InvalidUrlError":
    case "EncodeError":
      return { reason: "Unknown", code: Option.none(), retry: undefined }
    case "TransportError":
    case "DecodeError":
    case "EmptyBodyError":
    case "StatusCodeError": {
      const found = codeOf(error.reason.cause)
      if (found === undefined) {
        const reason = phase === "Body" ? "Body" : "Unknown"
        return { reason, code: Option.none(), retry: transientRetry(reason) }
      }
      const { code, isUnsent } = found
      const usual = isUnsent ? "Connect" : phase
      const [, reason = usual, limit] = rules.find(([codes]) => codes.test(code)) ?? [undefined, usual, Infinity]
      return { reason, code: Option.some(code), retry: limit === 0 ? undefined : transientRetry(code, { limit }) }
    }
  }
}
