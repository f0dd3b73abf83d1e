/** Instants at the price of a constructor call. Most of what decoding a page costs beyond its JSON is its instants. */
import * as DateTime from "effect/DateTime"
import * as Equal from "effect/Equal"

type MakeUtc = (epochMilliseconds: number) => DateTime.Utc

/** Whether `make` builds what the core builds: the same prototype and, but for the hidden cache of parts, the same keys. */
const isUtcClass = (make: unknown): make is new(epochMilliseconds: number) => DateTime.Utc => {
  if (typeof make !== "function") return false
  const real = DateTime.makeUnsafe(1)
  const ours: unknown = Reflect.construct(make, [1])
  const { epochMilliseconds, partsUtc, ...others } = Object.getOwnPropertyDescriptors(real)
  return DateTime.isDateTime(ours) && DateTime.isUtc(ours) && Equal.equals(ours, real) &&
    Object.getPrototypeOf(ours) === Object.getPrototypeOf(real) && Reflect.ownKeys(others).length === 0 &&
    epochMilliseconds.enumerable === true && partsUtc?.enumerable === false && partsUtc.value === undefined &&
    DateTime.getPartUtc(ours, "year") === 1970
}

/**
 * A seam on an internal shape: what the core makes with `Object.create` and `Object.defineProperty`, which cost ten
 * times as much, this makes with a constructor that shares the prototype. The cache that the core hides in `partsUtc`
 * appears with its first use. A core that builds its instants in another way is noticed here, and used as it is.
 */
const makeConstructor = (): MakeUtc => {
  function Utc(this: { epochMilliseconds: number }, epochMilliseconds: number) {
    this.epochMilliseconds = epochMilliseconds
  }
  const plain: unknown = Object.assign(Utc, { prototype: Object.getPrototypeOf(DateTime.makeUnsafe(0)) })
  return isUtcClass(plain) ? (epochMilliseconds) => new plain(epochMilliseconds) : DateTime.makeUnsafe
}

/** An instant of a whole number of milliseconds in the range of a `Date`, which is not checked. */
export const utc: MakeUtc = makeConstructor()
