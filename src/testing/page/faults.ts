/** The buttons that inject faults: for each constructor of `Fault` what it does in a line, and the faults to choose from. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { Fault, type FaultWhen } from "../faults/Fault.ts"
import { malformedTokens } from "../faults/hooks.ts"

/** Where a fault strikes, as a heading. */
export const faultGroups = ["Statuses", "Connection", "Bodies", "Pages", "Rows", "Tokens"] as const

/** The buttons of a constructor. */
interface FaultButtons {
  readonly group: typeof faultGroups[number]
  readonly description: string
  /** A fault for each button, with what tells it from the others. */
  readonly choices: ReadonlyArray<readonly [label: string, fault: Fault]>
  /** Whether it must last: over one request it would have no effect. */
  readonly lasts?: boolean
}

const mebibyte = 1_048_576

/** A constructor without a row does not compile. */
export const faultButtons: { readonly [Name in keyof typeof Fault]: FaultButtons } = {
  status: {
    group: "Statuses",
    description: "Answers with this status",
    choices: [
      ...[403, 422, 500, 502, 503].map((status) => [`${status}`, Fault.status(status)] as const),
      // Of a content network in front of the service.
      ...[403, 522].map((status) => [`${status}, HTML`, Fault.status(status, { body: "html" })] as const)
    ]
  },
  retryAfter: {
    group: "Statuses",
    description: "Answers that the client must wait",
    choices: [
      ["429, 2 s", Fault.retryAfter("2")],
      ["503, 10 s", Fault.retryAfter("10", 503)],
      ["429, a day", Fault.retryAfter("86400")]
    ]
  },
  rateLimit: {
    group: "Statuses",
    description: "Takes this many requests a second, and answers one more with 429, for a minute",
    choices: [["10", Fault.rateLimit(10)], ["2", Fault.rateLimit(2)]],
    lasts: true
  },
  unauthorizedOnce: {
    group: "Statuses",
    description: "Answers 401; the credentials stay valid",
    choices: [["", Fault.unauthorizedOnce]]
  },
  redirect: {
    group: "Statuses",
    description: "Redirects to another address",
    choices: [["302", Fault.redirect(302, "/elsewhere")], ["307", Fault.redirect(307, "/elsewhere")]]
  },
  echo: {
    group: "Statuses",
    description: "Answers with the secrets of the request in the body",
    choices: [["500", Fault.echo(500)], ["403", Fault.echo(403)]]
  },
  reset: { group: "Connection", description: "Resets the connection", choices: [["", Fault.reset]] },
  stallBeforeHeaders: {
    group: "Connection",
    description: "Never answers",
    choices: [["", Fault.stallBeforeHeaders]]
  },
  stallBody: {
    group: "Connection",
    description: "Stops in the middle of the body",
    choices: [["", Fault.stallBody()]]
  },
  cutBody: { group: "Connection", description: "Ends in the middle of the body", choices: [["", Fault.cutBody()]] },
  slow: {
    group: "Connection",
    description: "Answers late",
    choices: [["1 s", Fault.slow("1 second")], ["10 s", Fault.slow("10 seconds")]]
  },
  html200: { group: "Bodies", description: "Sends a page of HTML with 200", choices: [["", Fault.html200]] },
  emptyBody: { group: "Bodies", description: "Sends nothing with 200", choices: [["", Fault.emptyBody]] },
  invalidJson: { group: "Bodies", description: "Leaves out the end of the JSON", choices: [["", Fault.invalidJson()]] },
  invalidUtf8: { group: "Bodies", description: "Breaks the UTF-8", choices: [["", Fault.invalidUtf8]] },
  oversizedBody: {
    group: "Bodies",
    description: "Pads the body with white space",
    choices: [["9 MiB", Fault.oversizedBody(9 * mebibyte)], ["64 MiB", Fault.oversizedBody(64 * mebibyte)]]
  },
  contentEncoding: {
    group: "Bodies",
    description: "Encodes the body",
    choices: [["gzip", Fault.contentEncoding()], ["zstd", Fault.contentEncoding("zstd")]]
  },
  repeatedCursor: {
    group: "Pages",
    description: "Repeats the cursor of the request as the next one",
    choices: [["", Fault.repeatedCursor]],
    lasts: true
  },
  cursorCycle: {
    group: "Pages",
    description: "Leads back to the first of some cursors",
    choices: [["of 3", Fault.cursorCycle(3)]],
    lasts: true
  },
  emptyPage: {
    group: "Pages",
    description: "Sends a page without rows, and a next one",
    choices: [["", Fault.emptyPage]]
  },
  endlessEmptyPages: {
    group: "Pages",
    description: "Sends only pages without rows",
    choices: [["", Fault.endlessEmptyPages]],
    lasts: true
  },
  apiVersion: {
    group: "Pages",
    description: "Names another version of the interface in its answer",
    choices: [["2022-05-01", Fault.apiVersion()], ["none", Fault.apiVersion(null)]]
  },
  wrongObject: {
    group: "Pages",
    description: "Sends shifts in place of punches",
    choices: [["", Fault.wrongObject()]]
  },
  missingCursorKey: {
    group: "Pages",
    description: "Leaves out a key of the cursor",
    choices: (["current", "prev", "next", "count"] as const).map((key) => [key, Fault.missingCursorKey(key)] as const)
  },
  emptyCursor: {
    group: "Pages",
    description: "Sends an empty text as the next cursor",
    choices: [["", Fault.emptyCursor]]
  },
  countMismatch: { group: "Pages", description: "Counts one row too many", choices: [["", Fault.countMismatch()]] },
  wrongCompany: { group: "Rows", description: "Sends rows of another company", choices: [["", Fault.wrongCompany()]] },
  duplicateRow: { group: "Rows", description: "Sends the first row twice", choices: [["", Fault.duplicateRow()]] },
  badRow: {
    group: "Rows",
    description: "Breaks the first row",
    choices: [
      ["id as text", Fault.badRow(0, { id: "1" })],
      ["no zone", Fault.badRow(0, { clocked_in: "2026-03-02T14:00:00" })],
      ["wage 15.5", Fault.badRow(0, { hourly_wage: 15.5 })]
    ]
  },
  tokenRevoked: { group: "Tokens", description: "Revokes all tokens", choices: [["", Fault.tokenRevoked]] },
  tokenMalformed: {
    group: "Tokens",
    description: "Sends a defective token",
    choices: Struct.keys(malformedTokens).map((defect) => [defect, Fault.tokenMalformed(defect)] as const)
  },
  expiresIn: {
    group: "Tokens",
    description: "Says another lifetime of the token",
    choices: [["1 s", Fault.expiresIn(1)], ["text", Fault.expiresIn("3600")], ["none", Fault.expiresIn(undefined)]]
  }
}

/** How often a fault happens, and to which requests; the first of each is the default. */
export const faultTimes = {
  once: ["the next request", { times: 1 }],
  thrice: ["the next three requests", { times: 3 }],
  always: ["every request", {}],
  tenth: ["one request in ten", { probability: { chance: 0.1, seed: 1 } }]
} as const satisfies Record<string, readonly [string, FaultWhen]>

export const faultTargets = {
  usual: ["of the endpoint that it is made for", {}],
  first: ["for a first page", { target: "page", cursor: null }],
  page: ["for a page", { target: "page" }],
  token: ["for a token", { target: "token" }]
} as const satisfies Record<string, readonly [string, FaultWhen]>

/** What a button sends. */
const decodePress = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({
  name: Schema.String,
  choice: Schema.Int,
  times: Schema.Literals(Struct.keys(faultTimes)),
  target: Schema.Literals(Struct.keys(faultTargets))
})))

/** The fault of the button that was pressed, and the requests that it affects; `None` if no such button exists. */
export const faultOf = (press: string): Option.Option<{ readonly fault: Fault; readonly when: FaultWhen }> =>
  Option.flatMap(decodePress(press), ({ choice, name, target, times }) => {
    const buttons = new Map<string, FaultButtons>(Object.entries(faultButtons)).get(name)
    const often: FaultWhen = buttons?.lasts === true ? {} : faultTimes[times][1]
    return Option.map(
      Option.fromNullishOr(buttons?.choices[choice]?.[1]),
      (fault) => ({ fault, when: { ...often, ...faultTargets[target][1] } })
    )
  })
