/** The punches that the flags of a command select: from the service, or from a copy. */
import type * as Command from "effect/cli/Command"
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { FileSystem } from "effect/FileSystem"
import type { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Scope } from "effect/Scope"
import type { Stdio } from "effect/Stdio"
import * as Stream from "effect/Stream"
import { ApiVersion } from "../../ApiVersion.ts"
import type { Company } from "../../Company.ts"
import { Endpoints } from "../../Endpoints.ts"
import type { Cursor } from "../../Ids.ts"
import { addMarks, type Mark } from "../../internal/wire/mark.ts"
import { mayBeWholeUnits } from "../../internal/wire/version.ts"
import { RunVersions, type Versions } from "../../listing/version.ts"
import { PageSize } from "../../ListOptions.ts"
import type { PunchFilter } from "../../PunchFilter.ts"
import { RateLimit } from "../../RateLimit.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { TimePunches } from "../../TimePunches.ts"
import { type CommandFailure, type ExpectedError, usage } from "../failure.ts"
import type { DatabaseTarget } from "../flags/address.ts"
import {
  companyFlags,
  companyOf,
  layerCompanyHidden,
  limitFlags,
  type LimitInput,
  limitOf
} from "../flags/connection.ts"
import { makePageSizeFlag, pageSizeOf } from "../flags/paging.ts"
import { choice } from "../flags/values.ts"
import { makeProgress } from "../print/progress.ts"
import type { Doubt } from "./copy.ts"
import { databaseFlag, databaseOrDefault, maxAgeFlag, optionalTargetOf, targetOfCopy } from "./database.ts"

/** The client with its endpoints and API version, from the environment, without a limit. Needs an `HttpClient`. */
export const layerUnlimited = TimePunches.layerFromConfig.pipe(
  Layer.provide(layerCompanyHidden),
  Layer.merge(Endpoints.layerFromConfig),
  Layer.merge(ApiVersion.layerFromConfig),
  Layer.merge(Layer.sync(RunVersions, (): Versions => new Map()))
)

/** The same within the limit of the flags and the environment. */
export const layerClient = (flags: LimitInput & { readonly pageSize?: Option.Option<number> }) =>
  Layer.unwrap(
    Effect.map(limitOf(flags), (perSecond) =>
      perSecond === undefined ? layerUnlimited : Layer.provide(layerUnlimited, RateLimit.layer({ perSecond })))
  ).pipe(Layer.provide(Layer.effect(PageSize, pageSizeOf(flags.pageSize ?? Option.none()))))

/** Which source the punches come from. `openSource` decides. */
export const sourceFlags = {
  ...companyFlags,
  source: choice(
    "source",
    ["service", "copy"],
    "Where the punches come from (default: the copy if a database is set, else the service)"
  ),
  database: databaseFlag,
  maxAge: maxAgeFlag,
  ...limitFlags,
  pageSize: makePageSizeFlag()
}

export type SourceInput = Command.Command.Config.Infer<typeof sourceFlags>

type Failure = ExpectedError | CommandFailure

/**
 * The copy that the flags mean; none if they mean the service. A database that is set means its copy, unless `--source`
 * says service.
 */
const copyOf = Effect.fnUntraced(function*({ database, source }: Pick<SourceInput, "database" | "source">) {
  if (!Option.contains(source, "service")) {
    return Option.isNone(source)
      ? yield* optionalTargetOf(yield* databaseOrDefault(database))
      : Option.some(yield* targetOfCopy(database, "--source copy"))
  }
  if (Option.isNone(database)) return Option.none()
  return yield* usage("--database names a copy, and --source service reads none", "Give one or the other.")
})

/** Punches that were read at once. */
interface Page {
  readonly items: ReadonlyArray<TimePunch>
  /** The page after it; none on the last one, and on every page of a copy. */
  readonly next: Option.Option<Cursor>
}

/** How the pages of the service are requested; a copy has none. */
interface PageOptions {
  /** The size of a page without `--page-size`. */
  readonly usualSize?: number
  readonly cursor?: Option.Option<Cursor>
  readonly prefetchPages?: number
}

/** What a run reads. All its listings share one client of the service, and so one token. */
interface Source {
  /** What the client of the service was built from; none for a copy. */
  readonly service: Option.Option<Context.Context<ClientServices>>
  /** The punches of a filter. Each listing has a page, also if no punch matches. */
  readonly pages: (filter: PunchFilter, options?: PageOptions) => Stream.Stream<Page, Failure, FileSystem | Stdio>
  /** What keeps sums of it from being trusted: of the service, in what was read so far. */
  readonly doubts: Effect.Effect<ReadonlyArray<Doubt>, Failure, FileSystem | Stdio>
  /** Fields that take away by their name and are not read: of the service, in what was read so far. */
  readonly marks: Effect.Effect<ReadonlyArray<Mark>, Failure, FileSystem | Stdio>
}

interface OpenInput extends SourceInput {
  readonly cursor?: Option.Option<Cursor>
  /** The clock of the dates that the progress shows. */
  readonly zone?: Option.Option<DateTime.TimeZone>
}

type ClientServices = Layer.Success<ReturnType<typeof layerClient>>

/**
 * Opens what the flags of a run mean: the service, or a copy, each listing of which is one snapshot. A copy says on standard
 * error how old it is. A copy that was never complete is refused, and so are a filter that only the service knows and the flags
 * of requests.
 */
export const openSource = Effect.fnUntraced(function*(
  flags: OpenInput
) {
  const company = yield* companyOf(flags)
  const copy = yield* copyOf(flags)
  const source = yield* Option.isSome(copy) ? ofCopy(flags, company, copy.value) : ofService(flags, company)
  /** The punches of a filter, with a line of progress on a terminal, which is erased before a result is printed. */
  const read = (filter: PunchFilter) =>
    Stream.unwrap(Effect.map(
      makeProgress({
        printsResults: false,
        window: { clockedIn: filter.clockedIn, zone: flags.zone ?? Option.none() }
      }),
      ({ add }) =>
        source.pages(filter, { prefetchPages: 1 }).pipe(
          Stream.map(({ items }) => items),
          Stream.tap((punches) => add(punches.length, punches))
        )
    ))
  /** The same, one by one. */
  const list = (filter: PunchFilter) => Stream.flatMap(read(filter), (punches) => Stream.fromArray(punches))
  return { company, ...source, read, list }
})

const ofCopy = Effect.fnUntraced(function*(
  { cursor = Option.none(), maxAge, pageSize, requestsPerSecond }: OpenInput,
  company: Company,
  target: DatabaseTarget
): Effect.fn.Return<Source, CommandFailure> {
  const ofRequests = Option.isSome(pageSize)
    ? "--page-size sets the size of requests"
    : Option.isSome(requestsPerSecond)
    ? "--requests-per-second limits requests"
    : Option.isSome(cursor)
    ? "--cursor resumes at a page of the service"
    : undefined
  if (ofRequests !== undefined) {
    return yield* usage(`${ofRequests}, and a copy needs none`, "Leave it out, or read the service: --source service.")
  }
  // The drivers of the databases are large, so they are loaded only here.
  const { doubtsOf, fromCopy, marksOf } = yield* Effect.promise(() => import("./copy.ts"))
  return {
    service: Option.none(),
    pages: (filter) =>
      Stream.chunks(fromCopy(company, target, filter, maxAge)).pipe(
        Stream.orElseIfEmpty(() => Stream.make<[ReadonlyArray<TimePunch>]>([])),
        Stream.map((items) => ({ items, next: Option.none() }))
      ),
    doubts: doubtsOf(company, target),
    marks: marksOf(company, target)
  }
})

const ofService = Effect.fnUntraced(function*(
  flags: SourceInput,
  company: Company
): Effect.fn.Return<Source, Failure, HttpClient | Scope> {
  if (Option.isSome(flags.maxAge)) return yield* usage("--max-age goes with --database: only a copy has an age")
  const services = yield* Layer.build(layerClient(flags))
  const client = Context.get(services, TimePunches)
  const versions = Context.get(services, RunVersions)
  const size = yield* pageSizeOf(flags.pageSize)
  let marks: ReadonlyArray<Mark> = []
  return {
    service: Option.some(services),
    pages: (filter, { usualSize, ...options } = {}) =>
      Stream.map(
        client.pages(company, filter, {
          ...options,
          pageSize: Option.isSome(flags.pageSize) ? size : Math.min(usualSize ?? size, size)
        }).pipe(Stream.provideService(RunVersions, versions)),
        ({ cursor, items, marks: found = [] }) => {
          marks = addMarks(marks, found)
          return { items, next: cursor.next }
        }
      ),
    marks: Effect.sync(() => marks),
    doubts: Effect.sync(() => [...versions?.values() ?? []].some(mayBeWholeUnits) ? ["version"] : [])
  }
})
