/** The name of a revision, such as `7.2`: the second revision of close 7. */
import * as Option from "effect/Option"
import { CloseNumber, RevisionId } from "./ids.ts"

/** A close, and which of its revisions, counted from 1. */
export interface RevisionName {
  /** The number of the close. */
  readonly close: CloseNumber
  /** The number of the revision. */
  readonly number: number
}

const pattern = /^([1-9]\d{0,8})(?:\.([1-9]\d{0,8}))?$/

/** Reads `7.2`, or `7` for a whole close, whose `number` is `None`. */
export const parse = (
  text: string
): Option.Option<{ readonly close: CloseNumber; readonly number: Option.Option<number> }> => {
  const [, close, number] = pattern.exec(text) ?? []
  return close === undefined
    ? Option.none()
    : Option.some({
      close: CloseNumber.make(Number(close)),
      number: Option.map(Option.fromUndefinedOr(number), Number)
    })
}

/** Writes it as `7.2`. */
export const print = ({ close, number }: RevisionName): RevisionId => RevisionId.make(`${close}.${number}`)

/** The revision that follows the last one of a close with this many. @internal */
export const next = (close: CloseNumber, count: number): RevisionName => ({ close, number: count + 1 })
