/** The names of OAuth scopes (spec 5.3). */
import * as Schema from "effect/Schema"

const resources = [
  "companies",
  "departments",
  "locations",
  "roles",
  "users",
  "sales",
  "shifts",
  "time_punches",
  "events"
] as const

/**
 * A scope that a token can be limited to. The listing needs `time_punches:read`.
 *
 * @since 0.1.0
 */
export const Scope = Schema.Union([
  Schema.Literal("v1_access"),
  Schema.TemplateLiteral([Schema.Literals(resources), Schema.Literals([":read", ":write"])])
])
export type Scope = typeof Scope.Type
