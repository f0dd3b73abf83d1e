/** The version of the interface that answered, from the header of a page, and what follows from it. */
import * as Option from "effect/Option"
import { isCalendarDate } from "./instant.ts"

/** The form of a date, or of a version such as `v2.2026.0201`. */
const form = /^(?:v\d{1,3}\.(?=\d{4}\.\d{4}$)|(?=\d{4}-\d\d-\d\d$))(\d{4})[-.](\d\d)-?(\d\d)$/

/** The version as a date. Equal values of several headers are one; anything that is not a date is none. */
export const readVersion = (header: string | undefined): Option.Option<string> => {
  if (header === undefined) return Option.none()
  const [text, ...others] = new Set(header.split(",").map((each) => each.trim()))
  const [, year, month, day] = text === undefined || others.length > 0 ? [] : form.exec(text) ?? []
  return Option.liftPredicate(`${year}-${month}-${day}`, isCalendarDate)
}

/** The version of an answer, and the one that its request named; without a name, the one of the access token was meant. */
export interface Answered {
  readonly answered: string
  readonly asked: Option.Option<string>
}

/** Before this version, amounts of money may be in whole units. */
const centsSince = "2023-01-01"

/** Whether the amounts of an answer may be in whole units although the request did not mean that. */
export const mayBeWholeUnits = ({ answered, asked }: Answered): boolean =>
  answered < centsSince && Option.getOrElse(asked, () => centsSince) > answered

/** What a person must know of an answer; `undefined` if it has the version that was requested. */
export const versionWarning = (version: Answered): string | undefined => {
  const { answered, asked } = version
  const isOld = mayBeWholeUnits(version)
  if (Option.isNone(asked) ? !isOld : asked.value === answered) return undefined
  const named = Option.match(asked, {
    onNone: () => "none was requested",
    onSome: (asked) => `${asked} was requested`
  })
  return `version ${answered} of the interface answered, and ${named}` +
    (isOld ? ": its tips and wages may be in whole units" : "")
}
