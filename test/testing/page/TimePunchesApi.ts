/**
 * The interface as data: a third reading of its specification, beside the client and the fake service, with which it shares no
 * code. The tests hold both to it. `openapi.json` of the package is made of it.
 */
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"

const integer = (description: string) => Schema.Int.annotate({ description })

const int32 = (description: string) => Schema.Int.annotate({ description, format: "int32" })

const truth = (description: string) => Schema.Boolean.annotate({ description })

const instant = (description: string) => Schema.String.annotate({ description, format: "date-time" })

/** The annotation of a union stands on the union, so that it covers null too. */
const nullable = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.NullOr(schema).annotate({ description })

const plainInstant = Schema.String.annotate({ format: "date-time" })

const Break = Schema.Struct({
  id: int32("Id of the break."),
  user_id: integer("Id of the user who took the break."),
  custom_break_id: integer("Id of the type of break."),
  paid: truth("Whether the break is paid."),
  in: instant("Start of the break, ISO 8601."),
  out: nullable(plainInstant, "End of the break, ISO 8601; null while it is open."),
  deleted: Schema.optionalKey(nullable(Schema.Boolean, "Whether the break is deleted: it did not happen."))
}).annotate({ identifier: "Break", description: "A break that was taken during a punch." })

const TimePunch = Schema.Struct({
  id: int32("Id of the punch."),
  shift_id: integer("Id of the shift; a punch can be without one."),
  user_id: integer("Id of the user who clocked in."),
  editable_punch: truth("Whether a manager can edit the punch; false for those of a point of sale."),
  role_id: integer("Id of the role."),
  company_id: integer("Id of the company."),
  location_id: integer("Id of the location."),
  department_id: Schema.optionalKey(nullable(Schema.Int, "Id of the department; 0 if none is set.")),
  hourly_wage: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
    description: "Calculated hourly wage. The unit is not documented; samples are in the smallest unit of the currency."
  }),
  approved: truth("Whether the punch is approved."),
  clocked_in: instant("Clock-in, ISO 8601, UTC."),
  clocked_out: nullable(plainInstant, "Clock-out, ISO 8601, UTC; null while the user is clocked in."),
  notes: Schema.String.annotate({ description: "Free text; may be empty." }),
  auto_clocked_out: truth("Whether the service clocked the user out."),
  clocked_in_offline: truth("Whether the clock-in happened offline."),
  clocked_out_offline: truth("Whether the clock-out happened offline."),
  tips: integer("Tips declared for the shift, in cents."),
  pos_type: Schema.optionalKey(nullable(Schema.String, "Source of the punch; `web` for the apps of the service.")),
  breaks: Schema.optionalKey(Schema.Array(Break).annotate({ description: "Breaks taken; may be empty." })),
  created: nullable(plainInstant, "When the punch was created, ISO 8601, UTC."),
  modified: nullable(plainInstant, "When the punch was last modified, ISO 8601, UTC."),
  deleted: Schema.optionalKey(truth("Whether the punch is deleted."))
}).annotate({ identifier: "TimePunch", description: "When a user clocked in and out, and what they worked as." })

const TimePunchPage = Schema.Struct({
  object: Schema.Literal("time_punches"),
  data: Schema.Array(TimePunch),
  meta: Schema.Struct({
    cursor: Schema.Struct({
      current: nullable(Schema.String, "Cursor of this page."),
      prev: nullable(Schema.String, "Cursor of the previous page; null on the first one."),
      next: nullable(Schema.String, "Cursor of the next page; null on the last one."),
      count: nullable(Schema.Int, "Number of punches on this page.")
    })
  })
}).annotate({ identifier: "TimePunchPage", description: "One page of a listing." })

const Problem = Schema.Struct({
  type: Schema.String.annotate({ description: "URI reference of the type of problem.", format: "uri-reference" }),
  title: Schema.String.annotate({ description: "Summary, the same at each occurrence." }),
  status: integer("HTTP status."),
  detail: Schema.String.annotate({ description: "What happened this time." }),
  code: Schema.optionalKey(integer("Code of the reason.")),
  param: Schema.optionalKey(Schema.String.annotate({ description: "Parameter of the request that is at fault." }))
}).annotate({ identifier: "Problem" })

/** Each description makes another component of the document; `describeApi` writes one for all. */
const problem = (status: number, description: string) =>
  Problem.annotate({ description }).pipe(
    HttpApiSchema.asJson({ contentType: "application/problem+json" }),
    HttpApiSchema.status(status)
  )

const scopes = [
  "v1_access",
  ...["companies", "departments", "locations", "roles", "users", "sales", "shifts", "time_punches", "events"].flatMap(
    (name) => [`${name}:read`, `${name}:write`]
  )
]

/** The parameters of the query of a listing, as the values that their texts stand for. */
const query = {
  location_id: Schema.optionalKey(integer("Punches of this location.")),
  department_id: Schema.optionalKey(integer("Punches of this department.")),
  role_id: Schema.optionalKey(integer("Punches of this role.")),
  user_id: Schema.optionalKey(integer("Punches of this user.")),
  approved: Schema.optionalKey(
    nullable(Schema.Boolean, "true: approved punches; false: unapproved ones; null, the default: both.")
  ),
  limit: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 200 })).annotate({
      description: "Punches of a page. The default is 20."
    })
  ),
  cursor: Schema.optionalKey(
    Schema.NonEmptyString.annotate({ description: "`meta.cursor.next` or `meta.cursor.prev` of another page." })
  ),
  modified_since: Schema.optionalKey(instant("Punches modified after this instant, ISO 8601, UTC.")),
  "clocked_in[lte]": Schema.optionalKey(instant("Punches clocked in at this instant or before.")),
  "clocked_in[gte]": Schema.optionalKey(instant("Punches clocked in at this instant or later.")),
  "clocked_out[lte]": Schema.optionalKey(instant("Punches clocked out at this instant or before.")),
  "clocked_out[gte]": Schema.optionalKey(instant("Punches clocked out at this instant or later.")),
  include_deleted: Schema.optionalKey(truth("Replaced by `deleted`. The default is false.")),
  deleted: Schema.optionalKey(
    nullable(Schema.Boolean, "false, the default: punches that are not deleted; true: deleted ones; null: both.")
  ),
  localize_search_time: Schema.optionalKey(
    truth("Whether ranges of dates are in the local time of the punches, not in UTC. The default is false.")
  ),
  flags: Schema.optionalKey(
    nullable(
      Schema.Array(Schema.Literals(["late", "auto_clocked_out", "missed_break"])),
      "Punches with one of these flags, joined by commas."
    )
  ),
  employee_approval_statuses: Schema.optionalKey(
    nullable(
      Schema.Array(Schema.Literals(["pending", "approved", "disputed"])),
      "Punches that the employee has put into one of these states, joined by commas."
    )
  ),
  sort_by: Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^(,?[a-zA-Z_]*(\.(asc|desc))?){1,}$/u)).annotate({
      description: "Names of fields, each with `.asc` or `.desc`, joined by commas."
    })
  ),
  business_date_start: Schema.optionalKey(
    Schema.String.annotate({
      description:
        "Punches of this business date or later. Business dates switch off the filters of clock-in and clock-out.",
      format: "date"
    })
  ),
  business_date_end: Schema.optionalKey(
    Schema.String.annotate({ description: "Punches of this business date or before.", format: "date" })
  )
}

/** A list is one text on the wire: its items, joined by commas. */
const listsOf = {
  flags: Schema.optionalKey(Schema.String),
  employee_approval_statuses: Schema.optionalKey(Schema.String)
}

const params = { company_id: Schema.Int.annotate({ description: "Id of the company.", format: "int64" }) }

const headers = {
  "x-api-version": Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^\d{4}-\d{2}-\d{2}$/u)).annotate({
      description: "Version of the interface, a date. The default is the version of the access token."
    })
  ),
  "x-company-guid": Schema.optionalKey(
    Schema.String.annotate({
      description: "Guid of the company. OAuth tokens require it, access tokens ignore it.",
      format: "uuid"
    })
  )
}

type Json = Record<string, unknown>

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** JSON Schema as a reader wants it: bounds of one place, none that only say what a safe integer is, and room for new keys. */
const tidy = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(tidy)
  if (!isJson(value)) return value
  const { allOf, ...rest } = value
  const merged = Array.isArray(allOf) && !("$ref" in rest) ? Object.assign({}, rest, ...allOf) : value
  return Object.fromEntries(
    Object.entries(merged)
      .filter(([key, value]) => {
        const isBound = key === "minimum" || key === "maximum"
        return !(key === "additionalProperties" && value === false) &&
          !(isBound && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER)
      })
      .map(([key, value]) => [key, tidy(value)])
  )
}

/** The JSON Schema of the values of each parameter: the generator knows their texts only. */
const values = new Map(
  Object.entries({ ...params, ...headers, ...query }).map(([name, schema]) => [
    name,
    Schema.toJsonSchemaDocument(schema).schema
  ])
)

const describeParameter = (parameter: Json): Json => {
  const name = String(parameter["name"])
  const schema = tidy(values.get(name))
  const { description, ...type } = isJson(schema) ? schema : {}
  return {
    ...parameter,
    description,
    schema: type,
    ...(name in listsOf && { style: "form", explode: false }),
    ...(name === "include_deleted" && { deprecated: true })
  }
}

const flow = { tokenUrl: "/oauth2/token", refreshUrl: "/oauth2/token" }

const firstGeneration = { v1_access: "First-generation endpoints" }

/** What the generator has no word for: the flows of OAuth, which it only knows as a bearer token. */
const oauth = {
  type: "oauth2",
  description: "A token of a partner's client. It is valid for an hour; no refresh token exists.",
  flows: {
    clientCredentials: { ...flow, scopes: Object.fromEntries(scopes.map((name) => [name, name])) },
    password: { ...flow, scopes: firstGeneration },
    authorizationCode: { ...flow, authorizationUrl: "/oauth2/authorize", scopes: firstGeneration }
  }
}

const describeApi = (document: Json): Json => {
  const { components, paths, ...rest } = document
  const { schemas, securitySchemes } = isJson(components) ? components : {}
  const { Problem, ...others } = isJson(schemas) ? schemas : {}
  const kept = Object.entries(others).filter(([name]) => !/^Problem_\d$/.test(name))
  const body = { ...isJson(Problem) && Problem, description: "The body of an error." }
  const sorted = [...kept, ["Problem", body] as const].toSorted(([a], [b]) => a < b ? -1 : 1)
  return {
    ...rest,
    paths: JSON.parse(JSON.stringify(tidy(paths)).replaceAll(/(schemas\/Problem)_\d/g, "$1")),
    components: {
      schemas: tidy(Object.fromEntries(sorted)),
      securitySchemes: { ...isJson(securitySchemes) && securitySchemes, oauth }
    }
  }
}

/** How a request of a listing is signed: with one of them. */
class Authorization extends HttpApiMiddleware.Service<Authorization>()("effect-time-punches/testing/Authorization", {
  security: {
    accessToken: HttpApiSecurity.bearer.pipe(
      HttpApiSecurity.annotate(OpenApi.Description, "The long-lived token of one company, made by a user of it.")
    ),
    session: HttpApiSecurity.apiKey({ key: "svcsession", in: "cookie" }).pipe(
      HttpApiSecurity.annotate(OpenApi.Description, "The session of a user of the web application.")
    )
  }
}) {}

const list = HttpApiEndpoint.get("list", "/v2/company/:company_id/time_punches", {
  params,
  headers,
  query: { ...query, ...listsOf },
  success: TimePunchPage,
  error: [
    problem(401, "The credentials are missing, wrong or expired."),
    problem(403, "The credentials do not cover the company."),
    problem(422, "A parameter is not valid."),
    problem(500, "The service has failed.")
  ]
}).middleware(Authorization).annotateMerge(OpenApi.annotations({
  identifier: "listTimePunches",
  summary: "List time punches",
  description: "Punches of a company, a page at a time. Follow `meta.cursor.next` until it is null.",
  transform: ({ parameters, security, ...operation }) => ({
    ...operation,
    parameters: Array.isArray(parameters) ? parameters.map(describeParameter) : [],
    security: [...Array.isArray(security) ? security : [], { oauth: ["time_punches:read"] }]
  })
}))

const token = HttpApiEndpoint.post("token", "/oauth2/token", {
  payload: Schema.Struct({
    grant_type: Schema.Literal("client_credentials"),
    client_id: Schema.String,
    client_secret: Schema.String,
    scope: Schema.optionalKey(Schema.String.annotate({ description: "Names of scopes, separated by spaces." }))
  }).annotate({ identifier: "TokenRequest" }).pipe(HttpApiSchema.asFormUrlEncoded()),
  success: Schema.Struct({
    token_type: Schema.Literal("Bearer"),
    expires_in: integer("Lifetime in seconds: 3600."),
    access_token: Schema.String.annotate({ description: "The token, in the style of a JWT." })
  }).annotate({ identifier: "Token", description: "A token for an hour." })
}).annotateMerge(OpenApi.annotations({
  identifier: "createToken",
  summary: "Create an OAuth token",
  description: "A new token is requested with the same call. Its errors are not documented."
}))

/** The interface. `OpenApi.fromApi` makes its document. */
export const TimePunchesApi = HttpApi.make("timePunches")
  .add(HttpApiGroup.make("punches", { topLevel: true }).add(list).annotate(OpenApi.Title, "Time punches"))
  .add(HttpApiGroup.make("credentials", { topLevel: true }).add(token).annotate(OpenApi.Title, "Credentials"))
  .annotateMerge(OpenApi.annotations({
    title: "Time punches",
    version: "2026-06-01",
    description: "Lists when the users of a company clocked in and out.",
    transform: describeApi
  }))
