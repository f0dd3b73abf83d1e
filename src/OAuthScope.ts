/** The names of OAuth scopes. */
import * as Schema from "effect/Schema"

/**
 * What the token of an OAuth client may do. The listing needs `time_punches:read`, the default. `v1_access` is for the
 * first-generation endpoints; the others are `read` or `write` of one resource.
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
