/** The fields that every listing error has, which say at which page of a run it happened, and their text in a message. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { CompanyId, Cursor } from "../../Ids.ts"

/** Where in a run an error happened. */
export interface Where {
  readonly companyId: CompanyId
  readonly resumeFrom: Option.Option<Cursor>
  readonly pagesCompleted: number
  readonly attempts: number
}

/** A field that may be left out when an error is made. */
export const withDefault = <S extends Schema.Constraint & Schema.WithoutConstructorDefault>(
  schema: S,
  value: S["~type.make.in"]
) => Schema.withConstructorDefault<S>(Effect.succeed(value))(schema)

/** The schema fields of `Where`. */
export const where = {
  /** The company of the listing. Default for a mock: 0. */
  companyId: withDefault(CompanyId, CompanyId.make(0)),
  /**
   * The cursor of the page that failed: `list(…, { from: error.resumeFrom })` continues without loss or repeat. `None`
   * (the default): the first page failed.
   */
  resumeFrom: withDefault(Schema.OptionFromNullOr(Cursor), Option.none()),
  /** Pages that this run read whole before the error. Default: 0. */
  pagesCompleted: withDefault(Schema.Int, 0),
  /** Requests that were sent for the page that failed, retries included. Default: 1. */
  attempts: withDefault(Schema.Int, 1)
}

/** `where` for an error that is mostly found before any request. */
export const whereUnsent = {
  ...where,
  /** Requests that were sent for the page that failed, retries included. Default: 0. */
  attempts: withDefault(Schema.Int, 0)
}

/** The end of a message: where in a run, after how many requests of this kind. */
export const place = (at: Where, kind: "" | "token " = ""): string =>
  `company ${at.companyId}, page ${at.pagesCompleted + 1}, ${at.attempts} ${kind}${
    at.attempts === 1 ? "request" : "requests"
  }`
