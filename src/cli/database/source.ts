/** The punches that the flags of a command select: from the service, or from a copy. */
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
import type { PunchFilter } from "../../PunchFilter.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { TimePunches } from "../../TimePunches.ts"
import { type CommandFailure, type ExpectedError, usage } from "../failure.ts"
import { layerClient } from "../flags/client.ts"
import { companyOf } from "../flags/connection.ts"
import { makeProgress } from "../print/progress.ts"
import { databaseOrDefault, optionalTargetOf, targetOfCopy } from "./database.ts"
import type { SourceInput } from "./sourceFlags.ts"

type Failure = ExpectedError | CommandFailure

/**
 * The copy that the flags mean; none if they mean the service. A database that is set means its copy, unless `--source`
 * says service.
 */
export const copyOf = Effect.fnUntraced(function*({ database, source }: Pick<SourceInput, "database" | "source">) {
  if (!Option.contains(source, "service")) {
    return Option.isNone(source)
      ? yield* optionalTargetOf(yield* databaseOrDefault(database))
      : Option.some(yield* targetOfCopy(database, "--source copy"))
  }
  if (Option.isNone(database)) return Option.none()
  return yield* usage("--database names a copy, and --source service reads none", "Give one or the other.")
})

/** Whether the source is a copy that may have punches that were deleted. */
export const mayHaveDeleted = Effect.fnUntraced(function*(flags: SourceInput) {
  const copy = yield* copyOf(flags)
  if (Option.isNone(copy)) return false
  const { missesDeletions } = yield* Effect.promise(() => import("./fromCopy.ts"))
  return yield* missesDeletions(yield* companyOf(flags), copy.value)
})

/**
 * The punches of a filter, page by page, with a line of progress on a terminal. The line is erased when the stream ends,
 * before a result is printed.
 */
type Source = (filter: PunchFilter) => Pages

type Pages = Stream.Stream<ReadonlyArray<TimePunch>, Failure, FileSystem | Stdio>

/** The punches of a filter, one by one. */
export const punchesOf = (source: Source) => (filter: PunchFilter) =>
  Stream.flatMap(source(filter), (punches) => Stream.fromArray(punches))

/**
 * Opens the source of the punches of a run. All its listings share one client of the service, and so one token. A copy says
 * on standard error how old it is. A copy that was never complete is refused, and so is a filter that only the service knows.
 */
export const openSource = Effect.fnUntraced(
  function*(
    flags: SourceInput & { readonly zone?: Option.Option<DateTime.TimeZone> }
  ): Effect.fn.Return<Source, Failure, HttpClient | Scope | Stdio> {
    const list = yield* listingOf(flags)
    return (filter) =>
      Stream.unwrap(Effect.map(
        makeProgress({
          printsResults: false,
          window: { clockedIn: filter.clockedIn, zone: flags.zone ?? Option.none() }
        }),
        ({ add }) => Stream.tap(list(filter), (punches) => add(punches.length, punches))
      ))
  }
)

const listingOf = Effect.fnUntraced(function*(
  flags: SourceInput
): Effect.fn.Return<Source, Failure, HttpClient | Scope | Stdio> {
  const company = yield* companyOf(flags)
  const { maxAge } = flags
  const copy = yield* copyOf(flags)
  if (Option.isSome(copy)) {
    const ofRequests = Option.isSome(flags.pageSize)
      ? "--page-size sets the size of requests"
      : Option.isSome(flags.requestsPerSecond)
      ? "--requests-per-second limits requests"
      : undefined
    if (ofRequests !== undefined) {
      return yield* usage(
        `${ofRequests}, and a copy needs none`,
        "Leave it out, or read the service: --source service."
      )
    }
    // The drivers of the databases are large, so they are loaded only here.
    const { fromCopy } = yield* Effect.promise(() => import("./fromCopy.ts"))
    return (filter) => Stream.chunks(fromCopy(company, copy.value, filter, maxAge))
  }
  if (Option.isSome(maxAge)) return yield* usage("--max-age goes with --database: only a copy has an age")
  const client = Context.get(yield* Layer.build(layerClient(flags)), TimePunches)
  const options = { pageSize: Option.getOrUndefined(flags.pageSize), prefetchPages: 1 }
  return (filter) => Stream.map(client.pages(company, filter, options), ({ items }) => items)
})
