/** The punches that the flags of a command select: from the service, or from the copy of `--database`. */
import type * as Command from "effect/cli/Command"
import * as Config from "effect/Config"
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
import { companyFlags, companyOf, layerClient } from "../flags/connection.ts"
import { makePageSizeFlag } from "../flags/paging.ts"
import { printHint } from "../print/messages.ts"
import { makeProgress } from "../print/progress.ts"
import { makeDatabaseFlag, maxAgeFlag } from "./database.ts"

/**
 * Which source the punches come from. `TIME_PUNCHES_DATABASE_URL` is not read: a variable that is set for `sync` must not
 * change the source of a sum.
 */
export const sourceFlags = {
  ...companyFlags,
  database: makeDatabaseFlag(
    "Read the copy in this database and send nothing; TIME_PUNCHES_DATABASE_URL is not read here"
  ),
  maxAge: maxAgeFlag,
  pageSize: makePageSizeFlag()
}

/** The parsed flags. */
export type SourceInput = Command.Command.Config.Infer<typeof sourceFlags>

type Failure = ExpectedError | CommandFailure

/**
 * The punches of a filter, page by page, with a line of progress on a terminal. The line is erased when the stream ends,
 * before a result is printed.
 */
export type Source = (filter: PunchFilter) => Pages

type Pages = Stream.Stream<ReadonlyArray<TimePunch>, Failure, FileSystem | Stdio>

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
  const { database, maxAge } = flags
  if (Option.isSome(database)) {
    if (Option.isSome(flags.pageSize)) {
      return yield* usage(
        "--page-size sets the size of requests, and --database sends none",
        "Give one or the other."
      )
    }
    // The drivers of the databases are large, so they are loaded only here.
    const { fromCopy } = yield* Effect.promise(() => import("./fromCopy.ts"))
    return (filter) => Stream.chunks(fromCopy(company, database.value, filter, maxAge))
  }
  if (Option.isSome(maxAge)) return yield* usage("--max-age goes with --database: only a copy has an age")
  if (Option.isSome(yield* Config.option(Config.NonEmptyString("TIME_PUNCHES_DATABASE_URL")))) {
    yield* printHint(
      "TIME_PUNCHES_DATABASE_URL is not read here: the punches come from the service; --database reads a copy"
    )
  }
  const client = Context.get(yield* Layer.build(layerClient), TimePunches)
  const options = { pageSize: Option.getOrUndefined(flags.pageSize), prefetchPages: 1 }
  return (filter) => Stream.map(client.pages(company, filter, options), ({ items }) => items)
})
