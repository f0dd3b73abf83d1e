/** How options of payroll are refused: a key that does not exist, a word that is none of its words, a time that is a slip of unit. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Sink from "effect/Sink"
import * as Struct from "effect/Struct"
import { InvalidRequest } from "../ApiError.ts"
import { BusinessDate, type CompanyId } from "../Ids.ts"
import { meantWord, unknownKey } from "../internal/text/meant.ts"
import { durationOf } from "../internal/wire/retryOptions.ts"

/** What is wrong with an option: at which place within it, and what it must be. */
export interface Wrong {
  readonly at: string
  readonly detail: string
}

type Check<A> = (value: A) => Wrong | undefined

/** What each option must be. A key without a check is refused as unknown. */
export type Checks<A> = { readonly [Key in keyof A]-?: Check<A[Key]> }

export const wrong = (detail: string, at = ""): Wrong => ({ at, detail })

/** `what` completes "must be". */
export const must = <A>(isRight: (value: A) => boolean, what: string): Check<A> => (value) =>
  isRight(value) ? undefined : wrong(`must be ${what}`)

export const optional = <A>(check: Check<A>): Check<A | undefined> => (value) =>
  value === undefined ? undefined : check(value)

export const isBoolean = optional<boolean>(must(Predicate.isBoolean, "true or false"))
export const isText = optional<string>(must(Predicate.isString, "a text"))
export const isFunction = <A>(): Check<A> => must(Predicate.isFunction, "a function")
export const isDate = must<BusinessDate>(Schema.is(BusinessDate), "a date of the calendar, such as 2026-03-02")

/** One of these words. */
export const word = <Word extends string>(words: ReadonlyArray<Word>): Check<Word> => (value) => {
  if (words.includes(value)) return undefined
  const all = words.map((each) => `"${each}"`).join(", ")
  const meant = Predicate.isString(value) ? meantWord(value, all) : ""
  return wrong(`must be ${words.length > 1 ? "one of " : ""}${all}${meant}`)
}

/** A list, of which each element passes. */
export const each = <A>(check: Check<A>): Check<ReadonlyArray<A>> => (values) => {
  if (!Array.isArray(values)) return wrong("must be a list")
  for (const [at, value] of values.entries()) {
    const found = check(value)
    if (found !== undefined) return wrong(found.detail, `[${at}]${found.at}`)
  }
  return undefined
}

const minute = Duration.minutes(1)

/** A time that people work. A number alone is milliseconds, and 40 of them are not meant. */
const workTime = (isRight: (duration: Duration.Duration) => boolean, what: string): Check<Duration.Input> =>
  must(
    (input) => Option.exists(durationOf(input), isRight),
    `${what}, such as "8 hours"; a number alone is milliseconds`
  )

const isLong = (duration: Duration.Duration) => !Duration.isLessThan(duration, minute)

/** A threshold of zero is not a slip: all time is over it. */
export const isThreshold = workTime(
  (duration) => isLong(duration) || Duration.isZero(duration),
  "at least a minute, or zero"
)

/** A threshold that is recorded. */
export const isFiniteThreshold = workTime(
  (duration) => Duration.isFinite(duration) && (isLong(duration) || Duration.isZero(duration)),
  "at least a minute, or zero, and finite"
)

export const isFiniteTime = workTime(
  (duration) => Duration.isFinite(duration) && isLong(duration),
  "at least a minute, and finite"
)

const invalid = (field: string, detail: string, companyId?: CompanyId) =>
  new InvalidRequest(companyId === undefined ? { field, detail, hasCompany: false } : { companyId, field, detail })

/** The first option that is refused. */
export const refusalOf = <A extends object>(
  options: A,
  checks: Checks<A>,
  companyId?: CompanyId
): InvalidRequest | undefined => {
  const refuse = (field: string, detail: string) => invalid(field, detail, companyId)
  if (!Predicate.isObject(options)) return refuse("options", "must be an object")
  const unknown = Object.keys(options).find((key) => !Object.hasOwn(checks, key))
  if (unknown !== undefined) return refuse(unknown, unknownKey(unknown, Object.keys(checks)))
  const wrongAt = <Key extends keyof A>(key: Key): Wrong | undefined => checks[key](options[key])
  for (const key of Struct.keys(checks)) {
    const found = wrongAt(key)
    if (found !== undefined) return refuse(`${String(key)}${found.at}`, found.detail)
  }
  return undefined
}

/** For a function that returns a plain value. */
export const orThrow = (refusal: InvalidRequest | undefined): void => {
  if (refusal !== undefined) throw refusal
}

/** The same, for a function of one punch. Other options have its own too, so it reads no other key. */
export const makeOrThrow = <A extends object>(checks: Checks<A>) => {
  const keys = Struct.keys(checks)
  return (options: A): void => {
    for (const key of keys) {
      const found = checks[key](options[key])
      if (found !== undefined) throw invalid(`${String(key)}${found.at}`, found.detail)
    }
  }
}

/** The sink, unless an option is refused: then nothing is read. */
export const orFailing = <A, In, E>(
  refusal: InvalidRequest | undefined,
  sink: () => Sink.Sink<A, In, never, E>
): Sink.Sink<A, In, never, E | InvalidRequest> => refusal === undefined ? sink() : Sink.fail(refusal)

/** The effect, unless an option is refused: then nothing is done. */
export const orFail = (refusal: InvalidRequest | undefined): Effect.Effect<void, InvalidRequest> =>
  refusal === undefined ? Effect.void : Effect.fail(refusal)
