/** What an error says of a value that a schema does not accept. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const render = (at: ReadonlyArray<PropertyKey>): string =>
  at.reduce<string>(
    (path, key) => typeof key === "number" ? `${path}[${key}]` : path === "" ? String(key) : `${path}.${String(key)}`,
    ""
  )

const keyOf = (segment: PropertyKey | { readonly key: PropertyKey }): PropertyKey =>
  typeof segment === "object" ? segment.key : segment

/** The first issue of an error: `path` as in `data[3].clocked_in`, `at` the same path as keys, `detail` the expectation. */
export const firstIssue = (error: Schema.SchemaError) => {
  const issue = format(error.issue).issues[0]
  const at = (issue?.path ?? []).map(keyOf)
  return { path: render(at), at, detail: issue?.message ?? "" }
}

/** A schema whose `make` says what is wrong and where: what it throws in core says only that something is. */
export const withClearMake = <S extends Schema.Constraint>(schema: S, name: string): S => {
  const coreMake = SchemaParser.make(schema)
  const make = (input: S["~type.make.in"], options?: Schema.MakeOptions): S["Type"] => {
    try {
      return coreMake(input, options)
    } catch (error) {
      const issue = error instanceof Error ? error.cause : undefined
      if (!SchemaIssue.isIssue(issue)) throw error
      // Of another type, core's message is the name of the brand alone.
      const found = issue._tag === "InvalidType" && !SchemaAST.isUnion(issue.ast)
        ? [`Expected a ${issue.ast._tag.toLowerCase()}`]
        : format(issue).issues.map(({ message, path = [] }) =>
          path.length === 0 ? message : `${message} at ${render(path.map(keyOf))}`
        )
      const clear = new Error(`${name}.make: ${[...new Set(found)].join("; ")}`)
      // For a program, as core has it. Printed, its fifty lines would end an uncaught error.
      Object.defineProperty(clear, "cause", { get: () => issue })
      // The trace begins at the call, but not in older engines.
      if (Predicate.hasProperty(Error, "captureStackTrace")) Error.captureStackTrace(clear, make)
      throw clear
    }
  }
  return Object.defineProperty(schema, "make", { value: make })
}

/** A brand that names itself: as the identifier of its schema, and in what `make` throws. */
export const named = <S extends Schema.Constraint & Named<S>>(brand: S): S =>
  withClearMake(brand.annotate({ identifier: brand.identifier }), brand.identifier)

interface Named<S> {
  readonly identifier: string
  readonly annotate: (annotations: { readonly identifier: string }) => S
}
