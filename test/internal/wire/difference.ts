/** Where two outcomes of a schema differ, or nothing. */
import { Equal, Result, type Schema, SchemaIssue } from "effect"

/** The issues of an error, each with its path. */
export const findings = SchemaIssue.makeFormatterStandardSchemaV1()

/** Where two values differ in anything that a program can see without looking for it, or nothing. */
export const difference = (left: unknown, right: unknown, at = "value"): string | undefined => {
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) {
    return Object.is(left, right) ? undefined : `${at}: ${String(left)} and ${String(right)}`
  }
  if (Object.getPrototypeOf(left) !== Object.getPrototypeOf(right)) return `${at}: prototypes`
  const keys = Object.keys(left)
  if (keys.join() !== Object.keys(right).join()) return `${at}: keys ${keys.join()} and ${Object.keys(right).join()}`
  for (const key of keys) {
    const found = difference(Reflect.get(left, key), Reflect.get(right, key), `${at}.${key}`)
    if (found !== undefined) return found
  }
  return undefined
}

/** Where two outcomes differ, in value or in the words of their issues. */
export const disagreement = (
  left: Result.Result<unknown, Schema.SchemaError>,
  right: Result.Result<unknown, Schema.SchemaError>
): string | undefined => {
  if (Result.isSuccess(left) && Result.isSuccess(right)) {
    return difference(left.success, right.success) ??
      (Equal.equals(left.success, right.success) ? undefined : "not equal")
  }
  if (Result.isSuccess(left) || Result.isSuccess(right)) return "verdicts"
  const words = ({ failure }: typeof left) => `${failure.message}\n${JSON.stringify(findings(failure.issue))}`
  return words(left) === words(right) ? undefined : `${words(left)}\n---\n${words(right)}`
}

/** The value, with a note of each key that is tested with `in` before it is read: only the schema as it is written does so. */
export const watched = (value: object, lookedFor: Array<PropertyKey>) =>
  new Proxy(value, {
    has: (target, key) => {
      lookedFor.push(key)
      return Reflect.has(target, key)
    }
  })
