/** A validator for the part of JSON Schema that the document of the interface uses; any other keyword is a failure. */
import { parseInstant } from "../../src/testing/base/wireDate.ts"

type Schema = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isRecord,
  array: Array.isArray,
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  integer: Number.isInteger,
  null: (value) => value === null
}

const formats: Readonly<Record<string, (value: unknown) => boolean>> = {
  int32: (value) => Number(value) === (Number(value) | 0),
  int64: () => true,
  date: (value) => !Number.isNaN(Date.parse(`${String(value)}T00:00:00Z`)),
  "date-time": (value) => parseInstant(String(value)) !== undefined,
  "uri-reference": (value) => URL.canParse(String(value), "https://example.com/"),
  uuid: (value) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(String(value))
}

const list = (value: unknown): ReadonlyArray<unknown> => {
  if (!Array.isArray(value)) throw new Error(`not a list: ${JSON.stringify(value)}`)
  return value
}

const record = (value: unknown): Schema => {
  if (!isRecord(value)) throw new Error(`not a schema: ${JSON.stringify(value)}`)
  return value
}

/** Looks a reference such as `#/components/schemas/Problem` up. */
const resolve = (document: Schema, reference: unknown): Schema =>
  String(reference).split("/").slice(1).reduce((at: Schema, key) => record(at[key]), document)

/** What is wrong with a value, each with its path. A key that the schema does not name is wrong too. */
export const violations = (
  document: Schema,
  schema: Schema,
  value: unknown,
  path = "$"
): ReadonlyArray<string> =>
  Object.entries(schema).flatMap(([keyword, rule]): ReadonlyArray<string> => {
    const wrong = (isRight: boolean, what = JSON.stringify(rule)) =>
      isRight ? [] : [`${path} ${JSON.stringify(value)}: ${keyword} ${what}`]
    switch (keyword) {
      case "description":
      case "required":
        return []
      case "$ref":
        return violations(document, resolve(document, rule), value, path)
      case "type":
        return wrong(types[String(rule)]?.(value) ?? false)
      case "format":
        return wrong(formats[String(rule)]?.(value) ?? false)
      case "enum":
        return wrong(list(rule).includes(value))
      case "pattern":
        return wrong(new RegExp(String(rule), "u").test(String(value)))
      case "minLength":
        return wrong(String(value).length >= Number(rule))
      case "minimum":
        return wrong(Number(value) >= Number(rule))
      case "maximum":
        return wrong(Number(value) <= Number(rule))
      case "anyOf":
        return wrong(list(rule).some((arm) => violations(document, record(arm), value, path).length === 0))
      case "items":
        return !Array.isArray(value)
          ? []
          : value.flatMap((item, at) => violations(document, record(rule), item, `${path}[${at}]`))
      case "properties": {
        if (!isRecord(value)) return []
        const required = list(schema["required"] ?? [])
        const missing = required.filter((key) => !(String(key) in value))
        return missing.map((key) => `${path}.${String(key)} is missing`).concat(
          Object.entries(value).flatMap(([key, member]) => {
            const property = record(rule)[key]
            return property === undefined
              ? [`${path}.${key} is not in the schema`]
              : violations(document, record(property), member, `${path}.${key}`)
          })
        )
      }
      default:
        throw new Error(`the validator does not know ${keyword}`)
    }
  })
