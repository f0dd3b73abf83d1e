/** From a failure of the transport to what it means: which phase, which code, whether another try may help. */
import type * as HttpClientError from "effect/http/HttpClientError"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { TransportError } from "../../ApiError.ts"
import type { Retry } from "../resilience/retry.ts"

export interface Fault {
  readonly reason: TransportError["reason"]
  readonly code: Option.Option<string>
  readonly retry: Retry | undefined
}

const retry = (kind: string, limit: number): Retry => ({ kind, limit, throttled: false, retryAfter: Option.none() })

const again = (reason: TransportError["reason"]) => retry(reason, Infinity)

/** A transport that never answered in time. */
export const timedOut: Fault = { reason: "timeout", code: Option.none(), retry: again("timeout") }

/** A body that went past its cap: asking again would only bring it again. */
export const overflowed: Fault = { reason: "tooLarge", code: Option.none(), retry: undefined }

/** Platform codes by what they mean; a code that is not here is a failure of its phase and is tried again. */
const rules: ReadonlyArray<readonly [codes: RegExp, reason: TransportError["reason"] | undefined, limit: number]> = [
  [/^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|EPROTO$|.*HOSTNAME_MISMATCH$)/, "tls", 0],
  [/^(INVALID_(CA|PURPOSE)|PATH_LENGTH_EXCEEDED|ERR_OSSL_)/, "tls", 0],
  [/^ENOTFOUND$/, "connect", 1],
  [
    /^(ECONNREFUSED|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/,
    "connect",
    Infinity
  ],
  [/^UND_ERR_(HEADERS|BODY)_TIMEOUT$/, "timeout", Infinity],
  [/^UND_ERR_RES_EXCEEDED_MAX_SIZE$/, "tooLarge", 0],
  [/^(HPE_|ERR_HTTP2_|UND_ERR_(HTTP_PARSER|HEADERS_OVERFLOW|RES_CONTENT_LENGTH_MISMATCH)$)/, undefined, 1],
  [/^(Z_|ERR_(BROTLI|ZSTD|_ERROR_FORMAT))/, undefined, 2],
  [/^(ERR_INVALID_|UND_ERR_INVALID_ARG$|UND_ERR_NOT_SUPPORTED$|UND_ERR_DESTROYED$|UND_ERR_CLOSED$)/, undefined, 0]
]

/** The platform's code, which the transports bury in causes of causes; only a code leaves, never the cause. */
const codeOf = (cause: unknown, depth = 0): string | undefined => {
  if (depth > 5 || !Predicate.isObject(cause)) return undefined
  if ("code" in cause && typeof cause.code === "string" && /^[A-Z][A-Z0-9_]{1,63}$/.test(cause.code)) return cause.code
  // The parser behind fetch and undici leaves the code of what is not HTTP empty.
  if ("name" in cause && cause.name === "HTTPParserError") return "UND_ERR_HTTP_PARSER"
  const inner = "cause" in cause ? codeOf(cause.cause, depth + 1) : undefined
  return inner ?? ("errors" in cause && Array.isArray(cause.errors) ? codeOf(cause.errors[0], depth + 1) : undefined)
}

/** Translates an error where it enters: the request that it holds, with its headers, stays outside. */
export const transportFailureOf = (error: HttpClientError.HttpClientError, phase: "headers" | "body"): Fault => {
  switch (error.reason._tag) {
    case "InvalidUrlError":
    case "EncodeError":
      return { reason: "unknown", code: Option.none(), retry: undefined }
    case "TransportError":
    case "DecodeError":
    case "EmptyBodyError":
    case "StatusCodeError": {
      const code = codeOf(error.reason.cause)
      if (code === undefined) {
        const reason = phase === "body" ? "body" : "unknown"
        return { reason, code: Option.none(), retry: again(reason) }
      }
      const [, reason = phase, limit] = rules.find(([codes]) => codes.test(code)) ?? [undefined, phase, Infinity]
      return { reason, code: Option.some(code), retry: limit === 0 ? undefined : retry(code, limit) }
    }
  }
}
