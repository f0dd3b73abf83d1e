/** What a driver returns, whatever its types: a whole number is a number, a BigInt or a text. */

/** A whole number of a result. The store writes none that a number cannot hold. */
export const numberOf = (value: unknown): number => Number(value)

/** The same, where the column may be NULL. */
export const orUndefined = (value: unknown): number | undefined =>
  value === null || value === undefined ? undefined : Number(value)

/** A text of a result, where the column may be NULL. */
export const textOrUndefined = (value: unknown): string | undefined => typeof value === "string" ? value : undefined
