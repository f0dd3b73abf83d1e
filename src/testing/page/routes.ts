/** START HERE. The page of a fake service: `/`, and below `/sandbox` what the page asks for. Loaded on request. */
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import { foreignMachine, foreignPage } from "../../internal/page/guard.ts"
import { hiddenCharacters } from "../../internal/page/html.ts"
import {
  answerText,
  eventsResponse,
  guarded,
  htmlResponse,
  lineResponse,
  scriptResponse,
  styleResponse
} from "../../internal/page/serve.ts"
import type { Fault, FaultWhen } from "../faults/Fault.ts"
import type { ActiveFault } from "../faults/queue.ts"
import type { FakeAccess } from "../service/options.ts"
import type { PunchPatch } from "../service/table.ts"
import type { Exchange } from "../transports/serverResponse.ts"
import type { ShownCompany } from "./browser/client.ts"
import { scriptText } from "./browser/script.ts"
import { editPath, editPunch } from "./edits.ts"
import { environmentLines } from "./environment.ts"
import { faultOf } from "./faults.ts"
import { folder, sandboxPage, style } from "./html.ts"
import { makeLog } from "./log.ts"

/** What the page needs of the fake service. */
interface PageService extends Exchange {
  readonly access: FakeAccess
  readonly inject: (fault: Fault, when?: FaultWhen) => Effect.Effect<void>
  readonly faults: Effect.Effect<ReadonlyArray<ActiveFault>>
  readonly clearFaults: Effect.Effect<void>
  readonly edit: (ids: ReadonlyArray<number>, patch: PunchPatch) => Effect.Effect<number>
}

/** The handlers of a path by their methods. */
type Handlers = Readonly<
  Record<string, Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpRouter.Provided>>
>

/** The page of a service: its routes, and the service itself, which from now on writes a log. */
export const makePage = Effect.fnUntraced(function*(service: PageService) {
  const { access } = service
  const log = yield* makeLog(service.respond, service.faults)
  const router = yield* Effect.provideService(HttpRouter.make, HttpRouter.RouterConfig, exactPaths)
  const add = (path: HttpRouter.PathInput, handlers: Handlers) => router.add("*", path, handle(handlers))

  yield* add("/", { GET: Effect.map(origin, (origin) => htmlResponse(sandboxPage(access, origin))) })
  yield* add(`${folder}/page.css`, { GET: Effect.succeed(styleResponse(style)) })
  yield* add(`${folder}/page.js`, { GET: Effect.succeed(scriptResponse(scriptText(hiddenCharacters))) })
  yield* add(`${folder}/log`, { GET: Effect.succeed(eventsResponse(log.events)) })
  yield* add(`${folder}/companies/:id`, { GET: company(access) })
  yield* add(`${folder}/faults`, {
    POST: Effect.tap(press(service), log.tellFaults),
    DELETE: Effect.andThen(service.clearFaults, log.tellFaults).pipe(Effect.as(done))
  })
  yield* add(`${editPath}:id`, { PATCH: edit(service) })

  return {
    exchange: { respond: log.respond, track: service.track } satisfies Exchange,
    /** Answers the requests of the page. No handler fails: what is left is a path of the service. */
    withPage: <E, R>(others: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
      Effect.catch(router.asHttpEffect(), () => others)
  }
})

/** Any other path is one of the service, which the page must not answer for. */
const exactPaths = { ignoreTrailingSlash: false, ignoreDuplicateSlashes: false, caseSensitive: true }

const handle = (handlers: Handlers) => {
  const allow = Object.keys(handlers).join(", ")
  const others = Effect.succeed(
    HttpServerResponse.setHeader(lineResponse(405, `The method must be ${allow}.`), "allow", allow)
  )
  return Effect.flatMap(
    HttpServerRequest.HttpServerRequest,
    ({ headers, method, peerAddress }) =>
      guarded(foreignPage(headers) ?? foreignMachine(peerAddress), handlers[method] ?? others)
  )
}

const done = HttpServerResponse.empty({ status: 204 })

const origin = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ headers }) => `http://${headers["host"] ?? ""}`
)

const idOf = Effect.map(HttpRouter.params, ({ id = "" }) => id)

const company = (access: FakeAccess) => {
  const companies = new Map(access.companies.map((company) => [`${company.id}`, company]))
  return Effect.gen(function*() {
    const id = yield* idOf
    const found = companies.get(id)
    if (found === undefined) return lineResponse(404, `There is no company ${id}.`)
    const environment = environmentLines(`${yield* origin}${access.basePath}`, access, found).join("\n")
    const shown: ShownCompany = { id: found.id, accessToken: found.accessToken, environment: `${environment}\n` }
    return HttpServerResponse.jsonUnsafe(shown)
  })
}

const press = (service: PageService) =>
  answerText(Effect.fnUntraced(function*(text) {
    const found = faultOf(text)
    if (Option.isNone(found)) return lineResponse(422, "There is no such fault.")
    yield* service.inject(found.value.fault, found.value.when)
    return done
  }))

const edit = (service: PageService) =>
  answerText(Effect.fnUntraced(function*(text) {
    const { reason, status } = yield* editPunch(service.edit, yield* idOf, text)
    return reason === undefined ? done : lineResponse(status, reason)
  }))
