/** The fields that every listing error has, which say at which page of a run it happened, and the texts that messages share. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { CompanyId, Cursor } from "../../Ids.ts"
import { printable } from "../text/printable.ts"

/** Where in a run an error happened. */
export interface Where {
  readonly companyId: CompanyId
  readonly resumeFrom: Option.Option<Cursor>
  readonly pagesCompleted: number
  readonly attempts: number
  readonly requestId: Option.Option<string>
}

/** A field that may be left out when an error is made. */
export const withDefault = <S extends Schema.Constraint & Schema.WithoutConstructorDefault>(
  schema: S,
  value: S["~type.make.in"]
) => Schema.withConstructorDefault<S>(Effect.succeed(value))(schema)

/** The company of an error that was made without one: a mock, or a call whose company cannot be read. */
export const unnamedCompany = CompanyId.make(1)

const unansweredWhere = {
  /** The company of the listing. Default for a mock: 1. */
  companyId: withDefault(CompanyId, unnamedCompany),
  /**
   * The cursor of the page that failed: `list(…, { cursor: error.resumeFrom })` continues without loss or repeat. `None`
   * (the default): the first page failed.
   */
  resumeFrom: withDefault(Schema.OptionFromNullOr(Cursor), Option.none()),
  /** Pages that this run read whole before the error. Default: 0. */
  pagesCompleted: withDefault(Schema.Int, 0),
  /** Requests that were sent for the page that failed, retries included. Default: 1. */
  attempts: withDefault(Schema.Int, 1)
}

/** The schema fields of `Where`. */
export const where = {
  ...unansweredWhere,
  /**
   * The service's name for the request that failed, from `x-request-id` or `request-id` of its response, for its support.
   * `None` (the default): the response named none, or none arrived.
   */
  requestId: withDefault(Schema.OptionFromNullOr(Schema.String), Option.none())
}

/** `where` for an error that is found before any request. */
export const whereUnsent = {
  ...unansweredWhere,
  /** Requests that were sent for the page that failed, retries included. Default: 0. */
  attempts: withDefault(Schema.Int, 0)
}

/** The end of a message: where in a run, after how many requests of this kind. */
export const place = (at: Where, kind: "" | "token " = ""): string =>
  `company ${at.companyId}, page ${at.pagesCompleted + 1}, ${at.attempts} ${kind}${
    at.attempts === 1 ? "request" : "requests"
  }`

/** The code of a platform in a message; empty without one. */
export const inParentheses = (code: Option.Option<string>): string =>
  Option.match(code, { onNone: () => "", onSome: (text) => ` (${printable(text)})` })

/** What `Retry-After` says, in a message; empty if it says nothing. */
export const waitText = (retryAfter: Option.Option<Duration.Duration>): string =>
  Option.match(retryAfter, { onNone: () => "", onSome: (wait) => `, retry after ${formatWait(wait)}` })

/** A service may ask for a wait of any length. */
const formatWait = (wait: Duration.Duration): string =>
  Duration.isGreaterThan(wait, Duration.days(365)) ? "more than a year" : Duration.format(wait)

/** Why there is no token: in the message of a `TokenError`, and in the log of a renewal. */
export const tokenFailureText = (
  { code, reason, retryAfter, status, transport }: {
    readonly reason: string
    readonly status: Option.Option<number>
    readonly code: Option.Option<string>
    readonly retryAfter: Option.Option<Duration.Duration>
    readonly transport: Option.Option<{
      readonly reason: string
      readonly code: Option.Option<string>
      readonly origin: string
    }>
  }
): string => {
  const response = [...Option.toArray(status), ...Option.toArray(Option.map(code, printable))].join(" ")
  const unreached = Option.match(transport, {
    onNone: () => "",
    onSome: ({ code, origin, reason }) => `: ${reason}${inParentheses(code)} at ${printable(origin)}`
  })
  return `${reason}${response === "" ? "" : ` (${response})`}${waitText(retryAfter)}${unreached}`
}
