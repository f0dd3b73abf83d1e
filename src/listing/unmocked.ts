/** The members of a mock that are not given: each dies with its name when it is run. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

const die = (member: string) => Effect.die(new Error(`TimePunches.${member} was called, but the mock does not have it`))

const stream = (member: string): Stream.Stream<never> => Stream.unwrap(die(member))

export const unmocked = {
  list: () => stream("list"),
  pages: () => stream("pages"),
  listResults: () => stream("listResults"),
  page: () => die("page"),
  backfill: () => stream("backfill")
} as const
