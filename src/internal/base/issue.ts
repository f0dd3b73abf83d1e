/** Why a schema rejects a value, as a path and an expectation; never the value. */
import type * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

/** The first issue: `path` as in `data[3].clocked_in`, `at` the same path as keys, `detail` the expectation. */
export interface IssueSummary {
  readonly path: string
  readonly at: ReadonlyArray<PropertyKey>
  readonly detail: string
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const render = (at: ReadonlyArray<PropertyKey>): string =>
  at.reduce<string>(
    (path, key) => typeof key === "number" ? `${path}[${key}]` : path === "" ? String(key) : `${path}.${String(key)}`,
    ""
  )

const keyOf = (segment: PropertyKey | { readonly key: PropertyKey }): PropertyKey =>
  typeof segment === "object" ? segment.key : segment

/** Summarizes the first issue of a schema error. */
export const firstIssue = (error: Schema.SchemaError): IssueSummary => {
  const issue = format(error.issue).issues[0]
  const at = (issue?.path ?? []).map(keyOf)
  return { path: render(at), at, detail: issue?.message ?? "" }
}
