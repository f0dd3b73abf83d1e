/** Values as untyped code would pass them. */

const key: string = "value"

/** The same value, of which the compiler knows nothing any more. */
export const untyped = (value: unknown) => Reflect.get({ value }, key)
