/** Alternative clients, each used as its documentation shows. */
import { createSerializer, type OperationSpec, ServiceClient } from "@azure/core-client"
import { getPagedAsyncIterator } from "@azure/core-paging"
import OpenAI from "openai"
import { AbstractPage, type PageRequestOptions } from "openai/core/pagination"
import createClient from "openapi-fetch"
import type { Client } from "../sample.ts"
import { companyId, type WirePage } from "./raw.ts"
import { parseZod } from "./validators.ts"

const path = `/v2/company/${companyId}/time_punches`

/** `openapi-fetch`, a thin typed client; with zod to validate the response. */
const openapiFetch = (parse: (body: unknown) => WirePage): Client => (url) => {
  const client = createClient<{
    "/v2/company/{company_id}/time_punches": {
      get: {
        parameters: { path: { company_id: number }; query: { limit: number; cursor?: string } }
        responses: { 200: { content: { "application/json": unknown } } }
      }
    }
  }>({ baseUrl: url, headers: { authorization: "Bearer token" } })
  return async () => {
    let seen = 0
    for (let cursor: string | null | undefined = undefined; cursor !== null;) {
      const { data }: { data?: unknown } = await client.GET("/v2/company/{company_id}/time_punches", {
        params: {
          path: { company_id: companyId },
          query: cursor === undefined ? { limit: 200 } : { limit: 200, cursor }
        }
      })
      const page = parse(data)
      for (const punch of page.data) if (punch.id >= 0) seen++
      cursor = page.meta.cursor.next
    }
    return seen
  }
}

class PunchPage extends AbstractPage<{ id: number }> {
  getPaginatedItems() {
    return [...(this.body as WirePage).data]
  }
  nextPageRequestOptions(): PageRequestOptions | null {
    const next = (this.body as WirePage).meta.cursor.next
    return next === null ? null : { path, method: "get", query: { limit: 200, cursor: next } }
  }
}

/** The generic core of a generated client: automatic pagination, no validation. */
export const generatedCore: Client = (url) => {
  const client = new OpenAI({ apiKey: "token", baseURL: url })
  return async () => {
    let seen = 0
    for await (const punch of client.getAPIList<{ id: number }>(path, PunchPage, { query: { limit: 200 } }))
      if (punch.id >= 0) seen++
    return seen
  }
}

const field = (serializedName: string, name: string, required = true, nullable = false) => ({
  serializedName,
  required,
  nullable,
  type: { name }
})

const mappers = {
  Break: {
    type: {
      name: "Composite",
      className: "Break",
      modelProperties: {
        id: field("id", "Number"),
        userId: field("user_id", "Number"),
        customBreakId: field("custom_break_id", "Number"),
        paid: field("paid", "Boolean"),
        in: field("in", "DateTime"),
        out: field("out", "DateTime", true, true)
      }
    }
  },
  Punch: {
    type: {
      name: "Composite",
      className: "Punch",
      modelProperties: {
        id: field("id", "Number"),
        shiftId: field("shift_id", "Number"),
        userId: field("user_id", "Number"),
        editablePunch: field("editable_punch", "Boolean"),
        roleId: field("role_id", "Number"),
        companyId: field("company_id", "Number"),
        locationId: field("location_id", "Number"),
        departmentId: field("department_id", "Number", false, true),
        hourlyWage: field("hourly_wage", "Number"),
        approved: field("approved", "Boolean"),
        clockedIn: field("clocked_in", "DateTime"),
        clockedOut: field("clocked_out", "DateTime", true, true),
        notes: field("notes", "String"),
        autoClockedOut: field("auto_clocked_out", "Boolean"),
        clockedInOffline: field("clocked_in_offline", "Boolean"),
        clockedOutOffline: field("clocked_out_offline", "Boolean"),
        tips: field("tips", "Number"),
        posType: field("pos_type", "String", false, true),
        breaks: {
          serializedName: "breaks",
          type: { name: "Sequence", element: { type: { name: "Composite", className: "Break" } } }
        },
        created: field("created", "DateTime", true, true),
        modified: field("modified", "DateTime", true, true),
        deleted: field("deleted", "Boolean", false)
      }
    }
  },
  Page: {
    type: {
      name: "Composite",
      className: "Page",
      modelProperties: {
        data: {
          serializedName: "data",
          required: true,
          type: { name: "Sequence", element: { type: { name: "Composite", className: "Punch" } } }
        },
        next: { serializedName: "meta.cursor.next", nullable: true, type: { name: "String" } }
      }
    }
  }
}

/** A generated client in Azure's style: a mapper for each type, and its paging helper. */
export const azure: Client = (url) => {
  const client = new ServiceClient({
    endpoint: url,
    requestContentType: "application/json",
    allowInsecureConnection: true
  })
  const serializer = createSerializer(mappers)
  const operation = (cursor: string | undefined): OperationSpec => ({
    path: `${path}?limit=200${cursor === undefined ? "" : `&cursor=${cursor}`}`,
    httpMethod: "GET",
    responses: { 200: { bodyMapper: mappers.Page } },
    serializer
  } as unknown as OperationSpec)
  const fetchPage = async (cursor: string) => {
    const page = await client.sendOperationRequest<{ data: Array<{ id: number }>; next?: string }>(
      {},
      operation(cursor === "" ? undefined : cursor)
    )
    return page.next === undefined || page.next === null
      ? { page: page.data }
      : { page: page.data, nextPageLink: page.next }
  }
  return async () => {
    let seen = 0
    const punches = getPagedAsyncIterator<{ id: number }, Array<{ id: number }>>({
      firstPageLink: "",
      getPage: fetchPage
    })
    for await (const punch of punches) if (punch.id >= 0) seen++
    return seen
  }
}

export const thin = openapiFetch((body) => body as WirePage)

export const thinWithZod = openapiFetch((body) => parseZod(body))
