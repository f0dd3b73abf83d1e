/** `time-punches fleet resume`: companies, all in one state, or the whole fleet. */
import * as Argument from "effect/cli/Argument"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { databaseFlag } from "../database/database.ts"
import { usage } from "../failure.ts"
import { isJson, jsonFlags } from "../flags/form.ts"
import { choice, nonBlank, onFlag } from "../flags/values.ts"
import { makeVerb } from "../verb.ts"
import { idArgument, printChange, printPauses, withFleet } from "./operate.ts"

export const verb = makeVerb(
  "resume",
  {
    database: databaseFlag,
    ids: Argument.variadic(idArgument("Companies, or --state, or --all")),
    state: choice("state", ["paused", "blocked", "quarantined"], "All companies in this state"),
    reason: nonBlank(
      "reason",
      "TAG",
      "With --state: only those with this reason, such as Forbidden",
      "a reason as list shows it, such as Forbidden"
    ),
    all: onFlag("all", "End all pauses of the whole fleet; companies that are paused or blocked stay so"),
    ...jsonFlags
  },
  Effect.fnUntraced(function*(input) {
    const { all, ids, reason, state } = input
    if ([ids.length > 0, Option.isSome(state), all].filter(Boolean).length !== 1) {
      return yield* usage("resume takes one of: ids, --state, --all")
    }
    if (Option.isSome(reason) && Option.isNone(state)) return yield* usage("--reason goes with --state")
    const json = yield* isJson(input)
    if (all) {
      const pauses = yield* withFleet(input, "changes", (fleet) => Effect.andThen(fleet.resumeAll, fleet.pauses))
      return yield* printPauses(json, pauses, "No pause of the fleet holds any more.")
    }
    const result = yield* withFleet(input, "changes", (fleet) =>
      Option.match(state, {
        onNone: () => fleet.resume(ids),
        onSome: (state) =>
          Effect.map(
            fleet.resumeWhere({ state, reason: Option.getOrUndefined(reason) }),
            (changed) => ({ changed, inactive: [], unknown: [] })
          )
      }))
    yield* printChange(json, result, (companies) => `${companies} resumed`, "active already")
  }),
  {
    text: `Resume companies that are paused, blocked or quarantined. They are due at
  once.

  --all ends the pauses of the whole fleet instead.`,
    examples: [
      ["fleet resume --database punches.db --state blocked --reason Forbidden", "All that had one cause"],
      ["fleet resume --database punches.db --all", "The whole fleet"]
    ]
  }
)
