/** The reference of the interface: `openapi.json` as a page without a script. For each operation an example and its `curl` line. */
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { fileLinks, type Html, html, page } from "../../internal/page/html.ts"
import { table } from "../../internal/page/parts.ts"
import type { FakeAccess } from "../service/options.ts"
import { folder } from "./html.ts"
import { TimePunchesApi } from "./TimePunchesApi.ts"

const Json = Schema.Record(Schema.String, Schema.Unknown)

const Content = Schema.Record(Schema.String, Schema.Struct({ schema: Json }))

const Operation = Schema.Struct({
  operationId: Schema.String,
  summary: Schema.String,
  description: Schema.String,
  parameters: Schema.Array(Schema.Struct({
    name: Schema.String,
    in: Schema.String,
    required: Schema.Boolean,
    description: Schema.String,
    schema: Json
  })),
  requestBody: Schema.optionalKey(Schema.Struct({ content: Content })),
  responses: Schema.Record(
    Schema.String,
    Schema.Struct({ description: Schema.String, content: Schema.optionalKey(Content) })
  )
})

/** What the page shows of the document. */
const Document = Schema.Struct({
  info: Schema.Struct({ title: Schema.String, version: Schema.String, description: Schema.String }),
  paths: Schema.Record(Schema.String, Schema.Record(Schema.String, Operation)),
  components: Schema.Struct({ schemas: Schema.Record(Schema.String, Json) })
})

const document = Schema.decodeUnknownSync(Document)(OpenApi.fromApi(TimePunchesApi))

const isJson = Schema.is(Json)

/** The name of the schema that another one stands for; `undefined` if it is whole. */
const referenceOf = ({ $ref }: typeof Json.Type): string | undefined =>
  typeof $ref === "string" ? $ref.split("/").at(-1) : undefined

/** A schema in a word or two. */
const typeOf = (schema: typeof Json.Type): string => {
  const { anyOf, enum: values, format, items, maximum, minimum, pattern, type } = schema
  if (Array.isArray(anyOf)) return anyOf.filter(isJson).map(typeOf).join(" or ")
  if (isJson(items)) return `list of ${typeOf(items)}`
  const bounds = minimum === undefined && maximum === undefined ? "" : `${minimum ?? ""}…${maximum ?? ""}`
  const words = [referenceOf(schema) ?? type, format, bounds, Array.isArray(values) ? values.join(", ") : "", pattern]
  return words.filter((word) => typeof word === "string" && word !== "").join(" ")
}

/** A value that a schema allows. */
const exampleOf = (schema: typeof Json.Type): unknown => {
  const { anyOf, enum: values, format, items, minimum, properties, type } = schema
  const name = referenceOf(schema)
  if (name !== undefined) return exampleOf(document.components.schemas[name] ?? {})
  if (Array.isArray(values)) return values[0]
  if (Array.isArray(anyOf)) return anyOf.filter(isJson).map(exampleOf)[0]
  if (isJson(items)) return [exampleOf(items)]
  if (isJson(properties)) {
    return Object.fromEntries(
      Object.entries(properties).map(([key, value]) => [key, isJson(value) ? exampleOf(value) : null])
    )
  }
  if (type === "boolean") return false
  if (type === "integer") return minimum ?? 1
  return format === "date-time" ? "2026-03-02T14:00:00Z" : type === "string" ? "text" : null
}

/** The lines for a shell that send each operation to this service. An operation without one has none on the page. */
const curlLines = (url: string, { companies: [company], oauthClients: [client] }: FakeAccess) =>
  new Map([
    [
      "listTimePunches",
      `curl -H 'authorization: Bearer ${company?.accessToken}' '${url}/v2/company/${company?.id}/time_punches?limit=20'`
    ],
    [
      "createToken",
      `curl -d grant_type=client_credentials -d client_id=${client?.clientId} -d client_secret=${client?.clientSecret} ` +
      `${url}/oauth2/token`
    ]
  ])

/** Text whose parts between backticks are code. */
const prose = (text: string): Html => html`${text.split("`").map((part, at) => at % 2 === 1 ? code(part) : part)}`

const code = (text: string): Html => html`<code>${text}</code>`

const members = (name: string, { properties, required }: typeof Json.Type): Html =>
  table(
    name,
    [
      { title: "Member", cell: ({ key }) => code(key) },
      {
        title: "Type",
        cell: ({ schema }) => typeOf(schema)
      },
      { title: "", cell: ({ key }) => Array.isArray(required) && required.includes(key) ? "" : "optional" },
      {
        title: "Meaning",
        cell: ({ schema: { description } }) => typeof description === "string" ? prose(description) : ""
      }
    ],
    Object.entries(isJson(properties) ? properties : {}).map(([key, value]) => ({
      key,
      schema: isJson(value) ? value : {}
    }))
  )

const parameters = ({ parameters, summary }: typeof Operation.Type): Html | undefined =>
  parameters.length === 0 ? undefined : table(`Parameters: ${summary}`, [
    { title: "Parameter", cell: ({ name }) => code(name) },
    { title: "In", cell: (each) => each.in },
    { title: "Type", cell: ({ schema }) => typeOf(schema) },
    { title: "", cell: ({ required }) => required ? "required" : "" },
    { title: "Meaning", cell: ({ description }) => prose(description) }
  ], parameters)

const statuses = ({ responses, summary }: typeof Operation.Type): Html =>
  table(`Statuses: ${summary}`, [
    { title: "Status", cell: ([status]) => code(status) },
    {
      title: "Body",
      cell: ([, { content = {} }]) => Object.values(content).map(({ schema }) => typeOf(schema)).join(", ")
    },
    { title: "Meaning", cell: ([, { description }]) => prose(description) }
  ], Object.entries(responses))

const example = (label: string, lines: string): Html =>
  html`<pre tabindex="0" aria-label="${label}">${
    // Each line is a separate text: a line end in one would show its code.
    lines.split("\n").map((line) =>
      html`${line}
`
    )}</pre>
`

const operation = (method: string, path: string, of: typeof Operation.Type, curl: string | undefined): Html => {
  const body = Object.values(of.responses["200"]?.content ?? {})[0]?.schema
  const sent = Object.entries(of.requestBody?.content ?? {})
  return html`<section id="${of.operationId}">
<h2>${of.summary}</h2>
<p>${code(`${method.toUpperCase()} ${path}`)}</p>
<p>${prose(of.description)}</p>
${parameters(of)}${
    sent.map(([type, { schema }]) =>
      html`<p>The body is ${typeOf(schema)}, as ${type}.</p>
`
    )
  }${statuses(of)}${
    curl === undefined ? undefined : html`<h3>Example</h3>
${example(`The curl line: ${of.summary}`, curl)}`
  }${
    body === undefined ? undefined : example(`A body: ${of.summary}`, JSON.stringify(exampleOf(body), null, 2))
  }</section>
`
}

/** The page of a service at `url`. */
export const referencePage = (url: string, access: FakeAccess): string => {
  const curl = curlLines(url, access)
  return page({
    title: `${document.info.title}: reference`,
    head: fileLinks(folder, false),
    body: html`<header>
<h1>${document.info.title}</h1>
<p>${document.info.description} Version ${document.info.version}. <a href="/">The sandbox</a></p>
</header>
<main>
${
      Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, of]) => operation(method, path, of, curl.get(of.operationId)))
      )
    }<h2>Bodies</h2>
${
      Object.entries(document.components.schemas).map(([name, schema]) =>
        html`<section id="${name}"><h3>${name}</h3>
${members(name, schema)}</section>
`
      )
    }</main>`
  })
}
