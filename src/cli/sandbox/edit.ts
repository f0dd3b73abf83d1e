/** `PATCH /sandbox/time_punches/ID`: edits a punch of the sandbox, as a manager does. No other service has this path. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { approvalStatuses, type FakeResponse, FakeService } from "../../testing/index.ts"
import { readInstant } from "../flags/values.ts"

/** Where a punch is edited, but for its id. */
export const editPath = "/sandbox/time_punches/"

const Instant = Schema.String.check(
  Schema.makeFilter((text: string) => Option.isSome(readInstant(text)) || "an RFC 3339 instant with a zone")
)

const Cents = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** The new values of a punch, under their names on the wire; a value that is absent keeps the old one. */
const Edit = Schema.Struct({
  clocked_in: Schema.optionalKey(Instant),
  clocked_out: Schema.optionalKey(Schema.NullOr(Instant)),
  approved: Schema.optionalKey(Schema.Boolean),
  employee_approval_status: Schema.optionalKey(Schema.Literals(approvalStatuses)),
  hourly_wage: Schema.optionalKey(Cents),
  tips: Schema.optionalKey(Schema.Int),
  notes: Schema.optionalKey(Schema.String),
  deleted: Schema.optionalKey(Schema.Boolean)
})

const decodeEdit = Schema.decodeUnknownEffect(Schema.fromJsonString(Edit), { onExcessProperty: "error" })

/** The service that also answers to edits of the punches that it has been given. */
export const withEdits = (service: FakeService["Service"]): FakeService["Service"] => {
  const ids = new Set<number>()
  const noted = (punches: ReadonlyArray<{ readonly id: number }>) => {
    for (const { id } of punches) ids.add(id)
  }

  const edit = Effect.fnUntraced(function*(path: string, body: string) {
    const id = Number(path)
    if (!ids.has(id)) return answer(404, `There is no punch ${path}.`)
    const { employee_approval_status: employeeApprovalStatus, ...wire } = yield* decodeEdit(body)
    yield* service.edit([id], { ...wire, ...(employeeApprovalStatus && { employeeApprovalStatus }) })
    return answer(204)
  }, Effect.catchTag("SchemaError", ({ message }) => Effect.succeed(answer(422, message))))

  return FakeService.of({
    ...service,
    seed: (punches) => Effect.tap(service.seed(punches), () => Effect.sync(() => noted(punches))),
    add: (punches) => Effect.tap(service.add(punches), () => Effect.sync(() => noted(punches))),
    respond: (request) => {
      const { body, method, url } = request
      if (!url.startsWith(editPath)) return service.respond(request)
      if (method !== "PATCH") return Effect.succeed(answer(405, "The method must be PATCH."))
      return edit(url.slice(editPath.length), body)
    }
  })
}

/** A line of text for a person, or nothing. */
const answer = (status: number, text = ""): FakeResponse => ({
  status,
  headers: text === "" ? {} : { "content-type": "text/plain; charset=utf-8" },
  body: text === "" ? "" : `${text}\n`,
  delivery: { _tag: "Whole" }
})
