/** The page of a fake service: `/`, `/docs`, and below `/sandbox` what they need. Start here. Loaded on request. */
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { foreignMachine, foreignPage, pageHeaders } from "../../internal/page/guard.ts"
import { hiddenCharacters, type Html, html, page, stylesheet } from "../../internal/page/html.ts"
import type { Fault, FaultWhen } from "../faults/Fault.ts"
import type { ActiveFault } from "../faults/queue.ts"
import type { FakeAccess } from "../service/options.ts"
import type { PunchPatch } from "../service/table.ts"
import type { Exchange } from "../transports/serverResponse.ts"
import { editPath, editPunch } from "./edits.ts"
import { environmentLines } from "./environment.ts"
import { decodePress, faultButtons, faultGroups, faultRequest, faultTargets, faultTimes } from "./faults.ts"
import { makeLog } from "./log.ts"
import { referencePage } from "./reference.ts"
import { scriptText, type ShownCompany } from "./script.ts"

/** What the page needs of the fake service. */
interface PageService extends Exchange {
  readonly access: FakeAccess
  readonly inject: (fault: Fault, when?: FaultWhen) => Effect.Effect<void>
  readonly faults: Effect.Effect<ReadonlyArray<ActiveFault>>
  readonly clearFaults: Effect.Effect<void>
  readonly edit: (ids: ReadonlyArray<number>, patch: PunchPatch) => Effect.Effect<number>
}

/** The handling of a request of the page; `undefined` for one of the service. */
type PageRoute = (
  request: HttpServerRequest.HttpServerRequest
) => Effect.Effect<HttpServerResponse.HttpServerResponse> | undefined

/** The page of a service: its routes, and the service itself, which from now on writes a log. */
export const makePage = Effect.fnUntraced(function*(service: PageService) {
  const { access } = service
  const log = yield* makeLog(service.respond, service.faults)
  const companies = new Map(access.companies.map((company) => [`${company.id}`, company]))
  const script = scriptText(hiddenCharacters)

  const company = (id: string, origin: string) => {
    const found = companies.get(id)
    if (found === undefined) return answer(404, `There is no company ${id}.`)
    const environment = environmentLines(`${origin}${access.basePath}`, access, found).join("\n")
    const shown: ShownCompany = { id: found.id, accessToken: found.accessToken, environment: `${environment}\n` }
    return HttpServerResponse.jsonUnsafe(shown)
  }

  const press = Effect.fnUntraced(function*(body: string) {
    const found = Option.getOrUndefined(Option.map(decodePress(body), faultRequest))
    if (found === undefined) return answer(422, "There is no such fault.")
    yield* service.inject(found.fault, found.when)
    yield* log.tellFaults
    return answer(204)
  })

  const edit = Effect.fnUntraced(function*(id: string, body: string) {
    const { reason, status } = yield* editPunch(service.edit, id, body)
    return answer(status, reason)
  })

  /** The handlers of a path by their methods. */
  const routesOf = (path: string, origin: string): Readonly<Record<string, Handler>> | undefined => {
    switch (path) {
      case "/":
        return {
          GET: () => Effect.sync(() => HttpServerResponse.text(document(access, origin), { contentType: htmlType }))
        }
      case "/docs":
        return {
          GET: () =>
            Effect.sync(() =>
              HttpServerResponse.text(referencePage(`${origin}${access.basePath}`, access), { contentType: htmlType })
            )
        }
      case "/sandbox/page.css":
        return { GET: () => Effect.succeed(HttpServerResponse.text(stylesheet + style, { contentType: "text/css" })) }
      case "/sandbox/page.js":
        return { GET: () => Effect.succeed(HttpServerResponse.text(script, { contentType: "text/javascript" })) }
      case "/sandbox/log":
        return {
          GET: () =>
            Effect.succeed(
              HttpServerResponse.stream(Stream.encodeText(log.events), { contentType: "text/event-stream" })
            )
        }
      case "/sandbox/faults":
        return {
          POST: press,
          DELETE: () => Effect.as(Effect.andThen(service.clearFaults, log.tellFaults), answer(204))
        }
      default:
        return path.startsWith(editPath)
          ? { PATCH: (body) => edit(path.slice(editPath.length), body) }
          : path.startsWith(companyPath)
          ? { GET: () => Effect.sync(() => company(decode(path.slice(companyPath.length)), origin)) }
          : undefined
    }
  }

  const route: PageRoute = (request) => {
    const [path = "/"] = request.url.split("?")
    const { headers, method } = request
    const routes = routesOf(path, `http://${headers["host"] ?? ""}`)
    if (routes === undefined) return undefined
    const refusal = foreignPage(headers) ?? foreignMachine(request.peerAddress)
    if (refusal !== undefined) return Effect.succeed(answer(403, refusal))
    const handler = routes[method]
    if (handler === undefined) {
      const allow = Object.keys(routes).join(", ")
      return Effect.succeed(HttpServerResponse.setHeader(answer(405, `The method must be ${allow}.`), "allow", allow))
    }
    return request.text.pipe(
      Effect.orElseSucceed(() => ""),
      Effect.flatMap(handler),
      Effect.map((response) => HttpServerResponse.setHeaders(response, { ...pageHeaders, ...response.headers }))
    )
  }

  return { exchange: { respond: log.respond, track: service.track } satisfies Exchange, route }
})

type Handler = (body: string) => Effect.Effect<HttpServerResponse.HttpServerResponse>

const htmlType = "text/html; charset=utf-8"

const companyPath = "/sandbox/companies/"

/** The rest of a path; one that is not text names nothing. */
const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A line of text for a person, or nothing. */
const answer = (status: number, text?: string): HttpServerResponse.HttpServerResponse =>
  text === undefined
    ? HttpServerResponse.empty({ status })
    : HttpServerResponse.text(`${text}\n`, { status, headers: { "x-content-type-options": "nosniff" } })

const options = (entries: Readonly<Record<string, readonly [string, FaultWhen]>>): ReadonlyArray<Html> =>
  Object.entries(entries).map(([value, [label]]) => html`<option value="${value}">${label}</option>`)

const faultButton = (name: string, label: string, choice: number): Html =>
  label === ""
    ? html`<button data-fault="${name}" data-choice="${choice}">${name}</button> `
    : html`<button data-fault="${name}" data-choice="${choice}" aria-label="${name} ${label}">${label}</button> `

const faultList = (group: string): Html =>
  html`<section class="faults"><h3>${group}</h3>
${
    Object.entries(faultButtons).filter(([, buttons]) => buttons.group === group).map(([name, buttons]) =>
      html`<p>${buttons.description}${buttons.lasts === true ? ", until cleared" : ""}</p>
<div>${buttons.choices[0]?.[0] === "" ? undefined : html`<code>${name}</code> `}${
        buttons.choices.map(([label], choice) => faultButton(name, label, choice))
      }</div>
`
    )
  }</section>
`

const field = (name: string, label: string, type: string): Html =>
  html`<label for="new-${name}">${label}</label><input id="new-${name}" type="${type}" autocomplete="off">
`

/** How many companies the field proposes. */
const proposed = 50

/** The page. All that changes is filled in by its script. */
const document = ({ basePath, companies }: FakeAccess, origin: string): string =>
  page({
    title: "Time punches: sandbox",
    head: html`<link rel="stylesheet" href="/sandbox/page.css">
<link rel="icon" href="data:,">
<script src="/sandbox/page.js" defer></script>`,
    body: html`<header>
<h1>Sandbox</h1>
<p>${origin}${basePath} answers as the time-punch service does, with made-up punches.
The <a href="/docs">reference of the interface</a> has an example of each request.</p>
</header>
<main>
<h2>Connect a client</h2>
<form id="choose" class="bar">
<label for="company">Company</label>
<input id="company" list="companies" inputmode="numeric" autocomplete="off" value="${companies[0]?.id}">
<datalist id="companies">${
      companies.slice(0, proposed).map(({ id }) => html`<option value="${id}"></option>`)
    }</datalist>
<button>Show</button>
<button id="copy" type="button">Copy the lines</button>
<span id="copied" role="status" class="muted"></span>
</form>
<pre id="environment" tabindex="0" aria-label="Lines for a shell"></pre>
<h2>Requests</h2>
<p id="requests" class="muted">Loading …</p>
<div class="scroll log" role="region" aria-label="Requests, the latest first" tabindex="0">
<table>
<thead><tr><th scope="col">Time (UTC)</th><th scope="col">Request</th><th scope="col">Answer</th><th scope="col" class="number">ms</th></tr></thead>
<tbody id="log"></tbody>
</table>
</div>
<h2>Faults</h2>
<div class="bar">
<label for="times">Strike</label> <select id="times">${options(faultTimes)}</select>
<select id="target" aria-label="Kind of request">${options(faultTargets)}</select>
<button id="clear" disabled>Clear all</button>
<span id="pressed" role="status" class="muted"></span>
</div>
<ul id="active" class="mono" aria-label="Faults that wait"></ul>
<div class="groups">
${faultGroups.map(faultList)}</div>
<section id="punches" data-base="${basePath}">
<h2>Punches</h2>
<p>The page lists them as a client does: faults strike it too.</p>
<div class="bar">
<button id="first">First page</button>
<button id="previous" disabled>Previous</button>
<button id="next" disabled>Next</button>
<label><input id="deleted" type="checkbox"> with deleted ones</label>
<span id="page" role="status" class="muted"></span>
</div>
<div class="scroll" role="region" aria-label="Punches" tabindex="0">
<table>
<thead><tr><td></td><th scope="col" class="number">Punch</th><th scope="col" class="number">User</th>
<th scope="col" class="number">Location</th><th scope="col">Clock-in</th><th scope="col">Clock-out</th>
<th scope="col" class="number">Wage</th><th scope="col" class="number">Tips</th><th scope="col">State</th>
<th scope="col">Notes</th><th scope="col">Modified</th></tr></thead>
<tbody id="rows"></tbody>
</table>
</div>
</section>
<dialog id="dialog" aria-labelledby="title">
<form id="correction">
<h2 id="title">Correct a punch</h2>
<div class="fields">
${field("clocked_in", "Clock-in", "text")}${field("clocked_out", "Clock-out, empty while open", "text")}${
      field("hourly_wage", "Hourly wage in cents", "text")
    }${
      field("tips", "Tips in cents", "text")
    }<label for="new-notes">Notes</label><textarea id="new-notes" rows="2"></textarea>
<label for="new-status">Approval by the employee</label>
<select id="new-status"><option value="">as it is</option><option>pending</option><option>approved</option>
<option>disputed</option></select>
${field("approved", "Approved", "checkbox")}${field("deleted", "Deleted", "checkbox")}</div>
<p id="refused" role="alert"></p>
<div class="bar"><button>Save</button> <button id="cancel" type="button">Cancel</button></div>
</form>
</dialog>
</main>`
  })

const style = `body { max-width: 1340px; }
h3 { font-size: 1rem; margin: .75rem 0 .25rem; }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; margin: 8px 0; }
.bar span { min-width: 0; overflow-wrap: anywhere; }
#company { width: 9em; }
.log { max-height: 320px; overflow-y: auto; border: 1px solid var(--line); }
.log table { width: 100%; }
.log td:first-child, .when { white-space: nowrap; }
.when { font-size: 13px; }
#rows td { vertical-align: middle; }
.notes { min-width: 8em; overflow-wrap: anywhere; white-space: pre-wrap; }
.groups { columns: 3 340px; column-gap: 24px; }
.faults { break-inside: avoid; }
.faults:first-child h3 { margin-top: 0; }
.faults p { margin: 8px 0 4px; }
.faults div { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; }
#active:empty { display: none; }
button:disabled { opacity: .5; cursor: default; }
textarea { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--line); border-radius: 4px; padding: 4px 10px; }
dialog { width: min(560px, 100%); color: inherit; background: var(--ground); border: 1px solid var(--line); border-radius: 6px; }
dialog::backdrop { background: rgb(0 0 0 / .4); }
dialog h2 { margin-top: 0; }
.fields { display: grid; grid-template-columns: minmax(8em, auto) minmax(0, 1fr); gap: 8px; align-items: center; }
.fields input[type="checkbox"] { justify-self: start; }
@media (max-width: 480px) {
  .fields { grid-template-columns: minmax(0, 1fr); }
  .log th, .log td { padding: 4px 5px; }
  .log .mono { font-size: 11px; }
}
`
