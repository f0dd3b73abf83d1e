/** `PATCH /sandbox/time_punches/ID`: edits a punch as a manager does. No real service has it. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { parseInstant } from "../base/wireDate.ts"
import { approvalStatuses } from "../base/WirePunch.ts"
import type { PunchPatch } from "../service/table.ts"

/** The path without the id. */
export const editPath = "/sandbox/time_punches/"

const Instant = Schema.String.check(
  Schema.makeFilter((text: string) => parseInstant(text) !== undefined || "an RFC 3339 instant with a zone")
)

/** The new values of a punch, under their names on the wire; a value that is absent keeps the old one. */
const Edit = Schema.Struct({
  clocked_in: Schema.optionalKey(Instant),
  clocked_out: Schema.optionalKey(Schema.NullOr(Instant)),
  approved: Schema.optionalKey(Schema.Boolean),
  auto_clocked_out: Schema.optionalKey(Schema.Boolean),
  employee_approval_status: Schema.optionalKey(Schema.Literals(approvalStatuses)),
  hourly_wage: Schema.optionalKey(Schema.Natural),
  tips: Schema.optionalKey(Schema.Int),
  notes: Schema.optionalKey(Schema.String),
  deleted: Schema.optionalKey(Schema.Boolean)
})

const decodeBody = Schema.decodeEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)))

const decodeEdit = Schema.decodeEffect(Edit)

const fields = Object.keys(Edit.fields)

/** The status of an edit, and why it is refused. */
interface Edited {
  readonly status: number
  readonly reason?: string
}

/** Edits the punches with this id, in the text of the path, by the JSON text of the new values. */
export const editPunch = Effect.fnUntraced(
  function*(
    edit: (ids: ReadonlyArray<number>, patch: PunchPatch) => Effect.Effect<number>,
    id: string,
    body: string
  ): Effect.fn.Return<Edited, Schema.SchemaError> {
    const given = yield* decodeBody(body)
    const unknown = Object.keys(given).find((name) => !fields.includes(name))
    if (unknown !== undefined) {
      const reason = `${JSON.stringify(unknown.slice(0, 100))} cannot be edited: the fields are ${fields.join(", ")}.`
      return { status: 422, reason }
    }
    const { employee_approval_status: employeeApprovalStatus, ...wire } = yield* decodeEdit(given)
    const found = /^\d{1,16}$/.test(id)
      ? yield* edit([Number(id)], { ...wire, ...(employeeApprovalStatus && { employeeApprovalStatus }) })
      : 0
    return found === 0 ? { status: 404, reason: `There is no punch ${id}.` } : { status: 204 }
  },
  Effect.catchTag("SchemaError", ({ message }) => Effect.succeed<Edited>({ status: 422, reason: message }))
)
