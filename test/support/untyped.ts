/** Values as untyped code passes them. */

const key: string = "value"

/** The same value with type `any`. */
export const untyped = (value: unknown) => Reflect.get({ value }, key)
