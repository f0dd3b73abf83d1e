/** The punches that the flags of a command select: from the service, or from the copy of `--database`. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import type { FileSystem } from "effect/FileSystem"
import type { HttpClient } from "effect/http/HttpClient"
import * as Option from "effect/Option"
import type { Stdio } from "effect/Stdio"
import * as Stream from "effect/Stream"
import type { Company } from "../../Company.ts"
import type { PunchFilter } from "../../PunchFilter.ts"
import type { TimePunch } from "../../TimePunch.ts"
import { TimePunches } from "../../TimePunches.ts"
import { type CommandFailure, type ExpectedError, usage } from "../failure.ts"
import { companyFlags, companyOf, layerClient } from "../flags/connection.ts"
import { makePageSizeFlag } from "../flags/paging.ts"
import { makeProgress } from "../terminal/progress.ts"

/**
 * Where the punches come from. The variable of the database is not read: one that is set for `sync` must not change where a
 * sum comes from.
 */
export const sourceFlags = {
  ...companyFlags,
  database: Flag.String("database").pipe(
    Flag.withMetavar("FILE|URL"),
    Flag.withDescription("Read the copy in this database and send nothing; TIME_PUNCHES_DATABASE_URL is not read here"),
    Flag.optional
  ),
  pageSize: makePageSizeFlag()
}

/** The parsed flags. */
export type SourceInput = Command.Command.Config.Infer<typeof sourceFlags>

/**
 * `any`: as it comes. `clockedIn`: by clock-in, then by id, as a copy always is. The service receives it as `sort_by`, which
 * some ignore.
 */
export type Order = "any" | "clockedIn"

type Failure = ExpectedError | CommandFailure

type Needs = HttpClient | FileSystem | Stdio

/**
 * The punches of a filter. A copy says on standard error how old it is; one that was never complete is refused, and so is a
 * filter that only the service knows.
 */
export const punchesOf = (
  flags: SourceInput,
  filter: PunchFilter,
  order?: Order
): Stream.Stream<TimePunch, Failure, Needs> =>
  Stream.flatMap(pagesOf(flags, filter, order), (punches) => Stream.fromArray(punches))

/**
 * The same, page by page, with a line of progress on a terminal. Where the stream ends, so does the line, before anything is
 * printed where it stands.
 */
export const pagesOf = (
  flags: SourceInput,
  filter: PunchFilter,
  order: Order = "any"
): Stream.Stream<ReadonlyArray<TimePunch>, Failure, Needs> =>
  Stream.unwrap(Effect.gen(function*() {
    const pages = yield* sourceOf(flags, filter, order)
    const progress = yield* makeProgress({ printsResults: false })
    return Stream.tap(pages, (punches) => progress.add(punches.length))
  }))

const sourceOf = Effect.fnUntraced(function*(
  flags: SourceInput,
  filter: PunchFilter,
  order: Order
): Effect.fn.Return<Stream.Stream<ReadonlyArray<TimePunch>, Failure, Needs>, Failure> {
  const company = yield* companyOf(flags)
  const { database, pageSize } = flags
  if (Option.isNone(database)) return fromService(company, filter, order, Option.getOrUndefined(pageSize))
  if (Option.isSome(pageSize)) {
    return yield* usage(
      "--page-size is of requests to the service, and --database sends none",
      "Leave one of them out."
    )
  }
  // The drivers of the databases are large; to read the service needs none.
  const { fromCopy } = yield* Effect.promise(() => import("./copy.ts"))
  return Stream.chunks(fromCopy(company, database.value, filter))
})

const fromService = (company: Company, filter: PunchFilter, order: Order, pageSize: number | undefined) => {
  const ordered: PunchFilter = order === "any" ? filter : { ...filter, sortBy: [["clockedIn", "asc"]] }
  return TimePunches.pages(company, ordered, { pageSize, prefetchPages: 1 }).pipe(
    Stream.map(({ items }) => items),
    Stream.provide(layerClient)
  )
}
