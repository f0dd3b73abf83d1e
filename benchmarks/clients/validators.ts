/** Validators that do what the library's decoder does: every field checked, dates as dates. */
import { Ajv } from "ajv"
import { fullFormats } from "ajv-formats/dist/formats.js"
import { type } from "arktype"
import * as Type from "typebox"
import { Compile } from "typebox/compile"
import * as v from "valibot"
import * as z from "zod"
import type { Client } from "../sample.ts"
import { decoding } from "./page.ts"

const zodDate = z.iso.datetime({ offset: true }).transform((text) => new Date(text))
const zodId = z.int().min(0)
const zodPage = z.object({
  data: z.array(z.object({
    id: zodId,
    shift_id: zodId,
    user_id: zodId,
    editable_punch: z.boolean(),
    role_id: zodId,
    company_id: zodId,
    location_id: zodId,
    department_id: zodId.nullish(),
    hourly_wage: z.int().min(0),
    approved: z.boolean(),
    clocked_in: zodDate,
    clocked_out: zodDate.nullable(),
    notes: z.string(),
    auto_clocked_out: z.boolean(),
    clocked_in_offline: z.boolean(),
    clocked_out_offline: z.boolean(),
    tips: z.int(),
    pos_type: z.string().nullish(),
    breaks: z.array(z.object({
      id: zodId,
      user_id: zodId,
      custom_break_id: zodId,
      paid: z.boolean(),
      in: zodDate,
      out: zodDate.nullable()
    })).optional(),
    created: zodDate.nullable(),
    modified: zodDate.nullable(),
    deleted: z.boolean().optional()
  })),
  meta: z.object({
    cursor: z.object({
      current: z.string().nullable(),
      prev: z.string().nullable(),
      next: z.string().nullable(),
      count: z.int().nullable()
    })
  }),
  object: z.literal("time_punches")
})

export const parseZod = (input: unknown) => zodPage.parse(input)

const valibotDate = v.pipe(v.string(), v.isoTimestamp(), v.transform((text) => new Date(text)))
const valibotId = v.pipe(v.number(), v.integer(), v.minValue(0))
const valibotPage = v.object({
  data: v.array(v.object({
    id: valibotId,
    shift_id: valibotId,
    user_id: valibotId,
    editable_punch: v.boolean(),
    role_id: valibotId,
    company_id: valibotId,
    location_id: valibotId,
    department_id: v.nullish(valibotId),
    hourly_wage: valibotId,
    approved: v.boolean(),
    clocked_in: valibotDate,
    clocked_out: v.nullable(valibotDate),
    notes: v.string(),
    auto_clocked_out: v.boolean(),
    clocked_in_offline: v.boolean(),
    clocked_out_offline: v.boolean(),
    tips: v.pipe(v.number(), v.integer()),
    pos_type: v.nullish(v.string()),
    breaks: v.optional(v.array(v.object({
      id: valibotId,
      user_id: valibotId,
      custom_break_id: valibotId,
      paid: v.boolean(),
      in: valibotDate,
      out: v.nullable(valibotDate)
    }))),
    created: v.nullable(valibotDate),
    modified: v.nullable(valibotDate),
    deleted: v.optional(v.boolean())
  })),
  object: v.literal("time_punches")
})

const arkBreak = {
  id: "number.integer >= 0",
  user_id: "number.integer >= 0",
  custom_break_id: "number.integer >= 0",
  paid: "boolean",
  in: "string.date.iso.parse",
  out: "string.date.iso.parse | null"
} as const
const arkPage = type({
  data: type({
    id: "number.integer >= 0",
    shift_id: "number.integer >= 0",
    user_id: "number.integer >= 0",
    editable_punch: "boolean",
    role_id: "number.integer >= 0",
    company_id: "number.integer >= 0",
    location_id: "number.integer >= 0",
    "department_id?": "number.integer >= 0 | null",
    hourly_wage: "number.integer >= 0",
    approved: "boolean",
    clocked_in: "string.date.iso.parse",
    clocked_out: "string.date.iso.parse | null",
    notes: "string",
    auto_clocked_out: "boolean",
    clocked_in_offline: "boolean",
    clocked_out_offline: "boolean",
    tips: "number.integer",
    "pos_type?": "string | null",
    "breaks?": type(arkBreak).array(),
    created: "string.date.iso.parse | null",
    modified: "string.date.iso.parse | null",
    "deleted?": "boolean"
  }).array(),
  object: "'time_punches'"
})

const id = Type.Integer({ minimum: 0 })
const date = Type.String({ format: "date-time" })
const nullable = (schema: Type.TSchema) => Type.Union([schema, Type.Null()])
const jsonSchema = Type.Object({
  data: Type.Array(Type.Object({
    id,
    shift_id: id,
    user_id: id,
    editable_punch: Type.Boolean(),
    role_id: id,
    company_id: id,
    location_id: id,
    department_id: Type.Optional(nullable(id)),
    hourly_wage: id,
    approved: Type.Boolean(),
    clocked_in: date,
    clocked_out: nullable(date),
    notes: Type.String(),
    auto_clocked_out: Type.Boolean(),
    clocked_in_offline: Type.Boolean(),
    clocked_out_offline: Type.Boolean(),
    tips: Type.Integer(),
    pos_type: Type.Optional(nullable(Type.String())),
    breaks: Type.Optional(Type.Array(Type.Object({
      id,
      user_id: id,
      custom_break_id: id,
      paid: Type.Boolean(),
      in: date,
      out: nullable(date)
    }))),
    created: nullable(date),
    modified: nullable(date),
    deleted: Type.Optional(Type.Boolean())
  })),
  object: Type.Literal("time_punches")
})

const typeboxPage = Compile(jsonSchema)
const ajvPage = new Ajv({ formats: { "date-time": fullFormats["date-time"] } }).compile(
  JSON.parse(JSON.stringify(jsonSchema))
)

type Dated = {
  [key: string]: unknown
  breaks?: Array<{ in: unknown; out: unknown }>
}

/** Converts the dates of a page, which a checker leaves as text. */
const withDates = (page: { data: Array<Dated> }) => {
  const toDate = (value: unknown) => value === null ? null : new Date(String(value))
  for (const punch of page.data) {
    punch["clocked_in"] = toDate(punch["clocked_in"])
    punch["clocked_out"] = toDate(punch["clocked_out"])
    punch["created"] = toDate(punch["created"])
    punch["modified"] = toDate(punch["modified"])
    for (const rest of punch.breaks ?? []) {
      rest.in = toDate(rest.in)
      rest.out = toDate(rest.out)
    }
  }
  return page
}

const accepted = (ok: boolean, page: { data: Array<Dated> }) => {
  if (!ok) throw new Error("the page is not valid")
  return withDates(page)
}

const decoder = (decode: (page: ReturnType<typeof JSON.parse>) => unknown): Client => (shape) =>
  decoding(shape, (text) => decode(JSON.parse(text)))

export const zod = decoder((page) => zodPage.parse(page))

export const valibot = decoder((page) => v.parse(valibotPage, page))

export const arktype = decoder((page) => arkPage.assert(page))

export const typebox = decoder((page) => accepted(typeboxPage.Check(page), page))

export const ajv = decoder((page) => accepted(ajvPage(page), page))
