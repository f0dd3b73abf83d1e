/** The interface as data agrees with its specification, with what the client sends and accepts, and with the fake service. */
import { assert, describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Stream } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, OpenApi } from "effect/http-api"
import {
  BusinessDate,
  DepartmentId,
  LocationId,
  type PunchCriteria,
  type PunchFilter,
  RoleId,
  TimePunches,
  UserId
} from "../../../src/index.ts"
import {
  defaultCompany,
  type FakeRequest,
  type FakeResponse,
  FakeService,
  Fault,
  generatePunches
} from "../../../src/testing/index.ts"
import { accessToken, client, company, inject, oauth, sessionCookie } from "../../support/client.ts"
import { isRecord, violations } from "../../support/jsonSchema.ts"
import { bearer, textOf } from "../support.ts"
import { TimePunchesApi } from "./TimePunchesApi.ts"

type Json = Readonly<Record<string, unknown>>

const document: Json = JSON.parse(JSON.stringify(OpenApi.fromApi(TimePunchesApi)))

/** A member of the document by its keys. */
const at = (...keys: ReadonlyArray<string | number>): Json =>
  keys.reduce((from: Json, key) => {
    const found = from[key]
    if (!isRecord(found)) throw new Error(`the document has no ${keys.join(" › ")}`)
    return found
  }, document)

const listing = "/v2/company/{company_id}/time_punches"
const operation = at("paths", listing, "get")

interface Parameter extends Json {
  readonly name: string
  readonly in: string
  readonly schema: Json
}

const isParameter = (value: unknown): value is Parameter => isRecord(value) && isRecord(value["schema"])

const parametersOf = (of: Json): ReadonlyArray<Parameter> =>
  Array.isArray(of["parameters"]) ? of["parameters"].filter(isParameter) : []

const parameters = parametersOf(operation)

/** A schema in a word, as the tables of the specification write it. */
const wordOf = (schema: Json): string => {
  const { anyOf, enum: words, format, items, pattern, type } = schema
  if (Array.isArray(anyOf)) return anyOf.map((arm) => isRecord(arm) ? wordOf(arm) : "").join(" or ")
  if (Array.isArray(words)) return words.join("|")
  if (typeof schema["$ref"] === "string") return schema["$ref"].split("/").at(-1) ?? ""
  if (isRecord(items)) return `list of ${wordOf(items)}`
  const bounds = [schema["minimum"], schema["maximum"]].filter((bound) => bound !== undefined).join("…")
  return [type === "string" && format !== undefined ? "" : type, format, pattern, bounds].filter((part) =>
    part !== undefined && part !== ""
  ).join(" ")
}

/** The members of a schema: `name` and `name?`, each with its word. */
const membersOf = ({ properties, required }: Json): Json =>
  Object.fromEntries(
    Object.entries(isRecord(properties) ? properties : {}).map(([name, schema]) => [
      Array.isArray(required) && required.includes(name) ? name : `${name}?`,
      isRecord(schema) ? wordOf(schema) : ""
    ])
  )

const schemaOf = (name: string) => at("components", "schemas", name)

describe("the document of the interface", () => {
  it("has the operations, parameters and statuses of the specification", () => {
    assert.deepStrictEqual(
      Object.entries(at("paths")).map(([path, of]) => [path, Object.keys(isRecord(of) ? of : {})]),
      [[listing, ["get"]], ["/oauth2/token", ["post"]]]
    )
    assert.deepStrictEqual(
      Object.fromEntries(parameters.map(({ in: place, name, schema }) => [`${place} ${name}`, wordOf(schema)])),
      {
        "path company_id": "integer int64",
        "header x-api-version": String.raw`string ^\d{4}-\d{2}-\d{2}$`,
        "header x-company-guid": "uuid",
        "query location_id": "integer",
        "query department_id": "integer",
        "query role_id": "integer",
        "query user_id": "integer",
        "query approved": "boolean or null",
        "query limit": "integer 1…200",
        "query cursor": "string",
        "query modified_since": "date-time",
        "query clocked_in[lte]": "date-time",
        "query clocked_in[gte]": "date-time",
        "query clocked_out[lte]": "date-time",
        "query clocked_out[gte]": "date-time",
        "query include_deleted": "boolean",
        "query deleted": "boolean or null",
        "query localize_search_time": "boolean",
        "query flags": "list of late|auto_clocked_out|missed_break or null",
        "query employee_approval_statuses": "list of pending|approved|disputed or null",
        "query sort_by": String.raw`string ^(,?[a-zA-Z_]*(\.(asc|desc))?){1,}$`,
        "query business_date_start": "date",
        "query business_date_end": "date"
      }
    )
    assert.deepStrictEqual(parameters.filter((of) => of["required"] === true).map(({ name }) => name), ["company_id"])
    assert.deepStrictEqual(parameters.filter((of) => of["deprecated"]).map(({ name }) => name), ["include_deleted"])
    assert.deepStrictEqual(
      parameters.filter((of) => of["style"] === "form" && of["explode"] === false).map(({ name }) => name),
      ["flags", "employee_approval_statuses"]
    )
    assert.deepStrictEqual(
      Object.entries(at("paths", listing, "get", "responses")).map(([status, of]) => [
        status,
        Object.keys(isRecord(of) && isRecord(of["content"]) ? of["content"] : {})
      ]),
      [
        ["200", ["application/json"]],
        ...["401", "403", "422", "500"].map((status) => [status, ["application/problem+json"]])
      ]
    )
  })

  it("has the fields of the specification, required and nullable as there", () => {
    assert.deepStrictEqual(membersOf(schemaOf("TimePunch")), {
      id: "integer int32",
      shift_id: "integer",
      user_id: "integer",
      editable_punch: "boolean",
      role_id: "integer",
      company_id: "integer",
      location_id: "integer",
      "department_id?": "integer or null",
      hourly_wage: "integer 0",
      approved: "boolean",
      clocked_in: "date-time",
      clocked_out: "date-time or null",
      notes: "string",
      auto_clocked_out: "boolean",
      clocked_in_offline: "boolean",
      clocked_out_offline: "boolean",
      tips: "integer",
      "pos_type?": "string or null",
      "breaks?": "list of Break",
      created: "date-time or null",
      modified: "date-time or null",
      "deleted?": "boolean"
    })
    assert.deepStrictEqual(membersOf(schemaOf("Break")), {
      id: "integer int32",
      user_id: "integer",
      custom_break_id: "integer",
      paid: "boolean",
      in: "date-time",
      out: "date-time or null",
      "deleted?": "boolean or null"
    })
    assert.deepStrictEqual(membersOf(schemaOf("TimePunchPage")), {
      object: "time_punches",
      data: "list of TimePunch",
      meta: "object"
    })
    assert.deepStrictEqual(
      membersOf(at("components", "schemas", "TimePunchPage", "properties", "meta", "properties", "cursor")),
      { current: "string or null", prev: "string or null", next: "string or null", count: "integer or null" }
    )
    assert.deepStrictEqual(membersOf(schemaOf("Problem")), {
      type: "uri-reference",
      title: "string",
      status: "integer",
      detail: "string",
      "code?": "integer",
      "param?": "string"
    })
    assert.deepStrictEqual(membersOf(schemaOf("TokenRequest")), {
      grant_type: "client_credentials",
      client_id: "string",
      client_secret: "string",
      "scope?": "string"
    })
    assert.deepStrictEqual(membersOf(schemaOf("Token")), {
      token_type: "Bearer",
      expires_in: "integer",
      access_token: "string"
    })
  })

  it("has the kinds of credential, and every scope", () => {
    const { accessToken, oauth, session } = at("components", "securitySchemes")

    assert.deepInclude(accessToken, { type: "http", scheme: "Bearer" })
    assert.deepInclude(session, { type: "apiKey", in: "cookie", name: "svcsession" })
    assert.deepStrictEqual(operation["security"], [
      { accessToken: [] },
      { session: [] },
      { oauth: ["time_punches:read"] }
    ])
    assert.deepStrictEqual(Object.keys(isRecord(oauth) && isRecord(oauth["flows"]) ? oauth["flows"] : {}), [
      "clientCredentials",
      "password",
      "authorizationCode"
    ])
    assert.deepStrictEqual(
      Object.keys(at("components", "securitySchemes", "oauth", "flows", "clientCredentials", "scopes")).length,
      19
    )
    assert.deepStrictEqual(at("paths", "/oauth2/token", "post")["security"], [])
  })

  it("allows keys that a later version adds", () => {
    assert.notInclude(JSON.stringify(document), "additionalProperties")
  })

  it("is openapi.json of the package", async () => {
    await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot("../../../openapi.json")
  })
})

/** The value that a text of a query stands for, by its schema. */
const parsed = (text: string, schema: Json): unknown => {
  const { anyOf, items, type } = schema
  const arms = (Array.isArray(anyOf) ? anyOf : [schema]).filter(isRecord)
  if (arms.some((arm) => arm["type"] === "null") && text === "null") return null
  if (isRecord(items) || arms.some((arm) => arm["type"] === "array")) return text.split(",")
  if (arms.some((arm) => arm["type"] === "boolean")) return text === "true" || (text === "false" ? false : text)
  return type === "integer" && /^-?\d+$/.test(text) ? Number(text) : text
}

/** What the document has against a request for a page; every parameter must be one of it. */
const requestViolations = ({ headers, method, url }: FakeRequest): ReadonlyArray<string> => {
  const { pathname, searchParams } = new URL(url, "http://localhost")
  const id = /^\/v2\/company\/([^/]+)\/time_punches$/.exec(pathname)?.[1]
  if (id === undefined || method !== "GET") return [`${method} ${pathname} is not in the document`]
  const check = (place: string, name: string, text: string) => {
    const parameter = parameters.find((of) => of.in === place && of.name === name)
    return parameter === undefined
      ? [`${place} ${name} is not in the document`]
      : violations(document, parameter.schema, parsed(text, parameter.schema), `${place} ${name}`)
  }
  return [
    ...check("path", "company_id", id),
    ...[...searchParams].flatMap(([name, text]) => check("query", name, text)),
    ...Object.entries(headers).flatMap(([name, text]) => name.startsWith("x-") ? check("header", name, text) : []),
    ...headers["authorization"] === undefined && headers["cookie"] === undefined ? ["no credential"] : []
  ]
}

/** What the document has against a response: its status, its content type, its body. */
const responseViolations = (of: Json, response: FakeResponse): ReadonlyArray<string> => {
  const { responses } = of
  const described = isRecord(responses) ? responses[String(response.status)] : undefined
  if (!isRecord(described) || !isRecord(described["content"])) return [`status ${response.status}`]
  const media = described["content"][response.headers["content-type"] ?? ""]
  if (!isRecord(media) || !isRecord(media["schema"])) return [`content type ${response.headers["content-type"]}`]
  return violations(document, media["schema"], JSON.parse(textOf(response)))
}

const post = at("paths", "/oauth2/token", "post")

/** What the document has against an exchange. */
const exchangeViolations = (request: FakeRequest, response: FakeResponse): ReadonlyArray<string> => {
  if (new URL(request.url, "http://localhost").pathname !== "/oauth2/token") {
    return [...requestViolations(request), ...responseViolations(operation, response)]
  }
  const form = Object.fromEntries(new URLSearchParams(request.body))
  return [
    ...request.headers["content-type"] === "application/x-www-form-urlencoded" ? [] : ["the form's content type"],
    ...violations(document, schemaOf("TokenRequest"), form),
    ...responseViolations(post, response)
  ]
}

interface Exchange {
  readonly request: FakeRequest
  readonly response: FakeResponse
}

/** The fake service, which adds each exchange to a list. */
const recorded = (into: Array<Exchange>) =>
  Layer.effect(
    FakeService,
    Effect.map(FakeService, (service) =>
      FakeService.of({
        ...service,
        respond: (request) =>
          Effect.tap(service.respond(request), (response) => Effect.sync(() => into.push({ request, response })))
      }))
  ).pipe(Layer.provide(FakeService.layer({ punches: generatePunches({ count: 900, companyId: company.id }) })))

const from = DateTime.makeUnsafe("2020-01-01T00:00:00.250Z")
const until = DateTime.makeUnsafe("2030-01-01T00:00:00Z")

const base: PunchCriteria = {
  locationId: LocationId.make(1),
  departmentId: DepartmentId.make(0),
  roleId: RoleId.make(1),
  userId: UserId.make(1),
  approved: true,
  modifiedSince: from,
  localizeSearchTime: true,
  flags: ["late", "auto_clocked_out", "missed_break"],
  employeeApprovalStatuses: ["pending", "approved", "disputed"],
  sortBy: [["clockedIn", "asc"], ["hourlyWage", "desc"]]
}

const filters: ReadonlyArray<PunchFilter> = [
  {},
  { ...base, deleted: "include", clockedIn: { gte: from, lte: until }, clockedOut: { gte: from, lte: until } },
  { clockedIn: { gte: from, lt: until } },
  { ...base, deleted: "only", approved: false },
  { businessDate: { first: BusinessDate.make("2020-01-01"), last: BusinessDate.make("2030-12-31") } }
]

describe("the client", () => {
  it.effect.each([["an access token", accessToken], ["OAuth", oauth], ["a session cookie", sessionCookie]] as const)(
    "sends what the document describes, with every filter and %s",
    ([, credentials]) => {
      const exchanges: Array<Exchange> = []
      return Effect.gen(function*() {
        for (const filter of filters) yield* Stream.runDrain(TimePunches.list(company, filter, { pageSize: 150 }))

        const names = new Set(
          exchanges.flatMap(({ request }) => [...new URL(request.url, "http://localhost").searchParams.keys()])
        )
        assert.deepStrictEqual(
          exchanges.flatMap(({ request, response }) => exchangeViolations(request, response)),
          []
        )
        assert.deepStrictEqual(
          parameters.filter(({ in: place, name }) => place === "query" && !names.has(name)).map(({ name }) => name),
          ["include_deleted"]
        )
        assert.isAbove(exchanges.length, 9)
      }).pipe(
        Effect.provide(
          client(credentials).pipe(Layer.provide(FakeService.layerClient), Layer.provide(recorded(exchanges)))
        )
      )
    }
  )

  const bodies: ReadonlyArray<readonly [name: string, edit: (name: string, schema: Json) => unknown]> = [
    [
      "only the required keys, null where it may be",
      (_, schema) => schema["anyOf"] === undefined ? sample(schema) : null
    ],
    ["every key", (_, schema) => sample(schema)]
  ]

  /** A value of a schema. */
  const sample = (schema: Json): unknown => {
    const { anyOf, enum: words, format, items, type } = schema
    if (Array.isArray(anyOf)) return isRecord(anyOf[0]) ? sample(anyOf[0]) : undefined
    if (Array.isArray(words)) return words[0]
    if (typeof schema["$ref"] === "string") return build(schemaOf(wordOf(schema)), (_, schema) => sample(schema), true)
    if (isRecord(items)) return [sample(items)]
    if (format === "date-time") return "2026-03-01T08:00:00+00:00"
    return type === "integer" ? company.id : type === "boolean" ? true : "text"
  }

  const build = (schema: Json, edit: (name: string, schema: Json) => unknown, whole: boolean) =>
    Object.fromEntries(
      Object.entries(isRecord(schema["properties"]) ? schema["properties"] : {}).flatMap(([name, of]) =>
        isRecord(of) && (whole || (Array.isArray(schema["required"]) && schema["required"].includes(name)))
          ? [[name, edit(name, of)]]
          : []
      )
    )

  it.effect.each(bodies)("accepts a punch of the document with %s", ([name, edit]) => {
    const row = build(schemaOf("TimePunch"), edit, name === "every key")
    const cursor = { current: null, prev: null, next: null, count: null }
    const text = JSON.stringify({ object: "time_punches", data: [row], meta: { cursor } })
    return Effect.gen(function*() {
      yield* inject(Fault.status(200, { body: { contentType: "application/json", text } }))
      const punches = yield* Stream.runCollect(TimePunches.list(company))

      assert.deepStrictEqual(violations(document, schemaOf("TimePunchPage"), JSON.parse(text)), [])
      assert.strictEqual(punches[0]?.companyId, company.id)
    }).pipe(
      Effect.provide(client().pipe(Layer.provide(FakeService.layerClient), Layer.provideMerge(FakeService.layer())))
    )
  })
})

const request = (
  query: string,
  headers: Readonly<Record<string, string>> = bearer(defaultCompany.accessToken)
) => ({
  method: "GET",
  url: `/v2/company/${company.id}/time_punches?${query}`,
  headers,
  body: ""
})

const respond = (request: FakeRequest) => FakeService.use((service) => service.respond(request))

const valid: Readonly<Record<string, ReadonlyArray<string>>> = {
  integer: ["7"],
  "boolean or null": ["true", "false", "null"],
  "integer 1…200": ["1", "200"],
  "date-time": ["2026-03-01T08:00:00Z", "2026-03-01T08:00:00%2B01:00"],
  date: ["2026-03-01"],
  boolean: ["true", "false"],
  "list of late|auto_clocked_out|missed_break or null": ["late,missed_break", "null"],
  "list of pending|approved|disputed or null": ["disputed", "null"]
}

const invalid: Readonly<Record<string, ReadonlyArray<string>>> = {
  integer: ["", "1.5", "x"],
  "boolean or null": ["1", "yes", ""],
  "integer 1…200": ["0", "201", "x"],
  "date-time": ["2026-03-01", "2026-03-01T08:00:00", "2026-02-30T08:00:00Z"],
  date: ["2026-13-01", "2026-03-01T08:00:00Z"],
  boolean: ["null", "1"],
  "list of late|auto_clocked_out|missed_break or null": ["early", "late,,missed_break"],
  "list of pending|approved|disputed or null": ["open"]
}

describe("the fake service", () => {
  it.effect.each(parameters.filter(({ in: place, schema }) => place === "query" && wordOf(schema) in valid))(
    "accepts and refuses values of $name as the document does",
    ({ name, schema }) =>
      Effect.gen(function*() {
        const word = wordOf(schema)
        for (const text of valid[word] ?? []) {
          const asked = request(`${encodeURIComponent(name)}=${text}`)
          assert.deepStrictEqual(exchangeViolations(asked, yield* respond(asked)), [], text)
        }
        for (const text of invalid[word] ?? []) {
          const asked = request(`${encodeURIComponent(name)}=${text}`)
          const answer = yield* respond(asked)
          assert.strictEqual(answer.status, 422, text)
          assert.deepStrictEqual(responseViolations(operation, answer), [])
          assert.isNotEmpty(requestViolations(asked), `${name}=${text}`)
        }
      }).pipe(Effect.provide(FakeService.layer()))
  )

  it.effect.each(
    [
      [401, request("", {}), undefined],
      [403, { ...request(""), url: "/v2/company/4022/time_punches" }, undefined],
      [422, request("limit=0"), undefined],
      [500, request(""), Fault.status(500)]
    ] as const
  )("answers %d with a problem of the document", ([status, asked, fault]) =>
    Effect.gen(function*() {
      if (fault !== undefined) yield* inject(fault)
      const answer = yield* respond(asked)

      assert.strictEqual(answer.status, status)
      assert.deepStrictEqual(responseViolations(operation, answer), [])
    }).pipe(Effect.provide(FakeService.layer())))

  it.effect("is read whole by a client that core derives from the interface", () =>
    Effect.gen(function*() {
      const derived = yield* HttpApiClient.make(TimePunchesApi, {
        baseUrl: "http://localhost",
        transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken(defaultCompany.accessToken))
      })
      const found: Array<number> = []
      let cursor: string | null | undefined
      while (cursor !== null) {
        const page = yield* derived.list({
          params: { company_id: company.id },
          headers: {},
          query: { limit: 200, deleted: null, flags: "late,missed_break", ...(cursor !== undefined && { cursor }) }
        })
        found.push(...page.data.map(({ id }) => id))
        cursor = page.meta.cursor.next
      }
      const all = generatePunches({ count: 900, companyId: company.id })
        .filter(({ flags }) => flags.includes("late") || flags.includes("missed_break"))
        .map(({ id }) => id)

      assert.isAbove(all.length, 20)
      assert.deepStrictEqual(found, all.toSorted((a, b) => a - b))
    }).pipe(Effect.provide(FakeService.layerClient.pipe(Layer.provide(recorded([]))))))
})
