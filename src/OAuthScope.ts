/** The names of OAuth scopes (spec 5.3). */
import * as Schema from "effect/Schema"

/**
 * A scope that a token can be limited to. The listing needs `time_punches:read`.
 *
 * @since 0.1.0
 */
export const OAuthScope = Schema.Literals([
  "v1_access",
  "companies:read",
  "companies:write",
  "departments:read",
  "departments:write",
  "locations:read",
  "locations:write",
  "roles:read",
  "roles:write",
  "users:read",
  "users:write",
  "sales:read",
  "sales:write",
  "shifts:read",
  "shifts:write",
  "time_punches:read",
  "time_punches:write",
  "events:read",
  "events:write"
])
export type OAuthScope = typeof OAuthScope.Type
