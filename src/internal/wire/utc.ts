/** Instants for the price of a constructor call. Beyond its JSON, a page costs mostly its instants. */
import * as DateTime from "effect/DateTime"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"

type MakeUtc = (epochMilliseconds: number) => DateTime.Utc

/**
 * A seam on an internal shape. The core builds an instant with `Object.create` and `Object.defineProperty`, which takes
 * ten times as long as a constructor that shares its prototype. The one difference is `partsUtc`, the cache of the core:
 * there it is a hidden key from the start, here a key from its first use.
 */
const makeClass = (): unknown => {
  function Utc(this: { epochMilliseconds: number }, epochMilliseconds: number) {
    this.epochMilliseconds = epochMilliseconds
  }
  return Object.assign(Utc, { prototype: Object.getPrototypeOf(DateTime.makeUnsafe(0)) })
}

/** Whether the core still builds what `makeClass` builds. Where it does not, its own constructor is used. */
const isUtcClass = (make: unknown): make is new(epochMilliseconds: number) => DateTime.Utc => {
  if (typeof make !== "function") return false
  const real = DateTime.makeUnsafe(1)
  const { epochMilliseconds, partsUtc, ...others } = Object.getOwnPropertyDescriptors(real)
  if (Reflect.ownKeys(others).length !== 0 || epochMilliseconds?.enumerable !== true) return false
  if (partsUtc === undefined || partsUtc.value !== undefined || !partsUtc.writable || partsUtc.enumerable) return false
  const agrees = Result.try(() => {
    const ours: unknown = Reflect.construct(make, [1])
    return DateTime.isDateTime(ours) && DateTime.isUtc(ours) && Equal.equals(ours, real)
  })
  return Result.getOrElse(agrees, () => false)
}

/** Makes instants with the class, or with the core where the class is not one of instants. */
export const utcOf = (make: unknown): MakeUtc =>
  isUtcClass(make) ? (epochMilliseconds) => new make(epochMilliseconds) : DateTime.makeUnsafe

/** An instant. The caller ensures a whole number of milliseconds within the range of a `Date`. */
export const utc: MakeUtc = utcOf(makeClass())
