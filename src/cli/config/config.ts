/** `time-punches config show`: what is set, and where it comes from. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Struct from "effect/Struct"
import { printable } from "../../internal/wire/issue.ts"
import { firstOf } from "../args/profile.ts"
import { defaults, keyed, Profile, settings } from "../flags/settings.ts"
import { jsonFlag } from "../flags/values.ts"
import { jsonArray } from "../print/machine.ts"
import { printHint } from "../print/messages.ts"
import { printLines, screen } from "../print/output.ts"
import { makeTable } from "../print/table.ts"

/** A URL without its name and password, which no setting should have. */
const withoutUser = (value: string): string => value.replace(/^(\s*[a-z][a-z0-9+.-]*:\/*)[^/?#]*@/i, "$1…@")

const secrets = settings.filter((each) => "isSecret" in each)

const isSecret = (name: string): boolean => secrets.some(({ variable }) => variable === name)

const show = Command.make(
  "show",
  { json: jsonFlag },
  Effect.fnUntraced(function*({ json }) {
    const profile = yield* Profile
    const found = yield* Effect.forEach(
      [...keyed, ...secrets],
      ({ variable }) =>
        Effect.map(firstOf(profile.sources, variable), (first) => ({
          name: variable,
          value: first === undefined ? null : isSecret(variable) ? "set" : withoutUser(first.value),
          from: first?.from ?? null
        }))
    )
    const flags = Struct.keys(defaults).flatMap((key) => {
      const value = profile.defaults[key]
      return value === undefined
        ? []
        : [{ name: `--${defaults[key].flag}`, value, from: profile.name }]
    })
    const rows = [...found, ...flags]
    if (json) return yield* printLines([jsonArray(rows)])
    yield* printLines(
      makeTable<typeof rows[number]>([
        { title: "setting", cell: ({ name }) => name },
        { title: "value", cell: ({ value }) => value === null ? "" : printable(value), minWidth: 24 },
        { title: "from", cell: ({ from }) => from === null ? "" : printable(from), minWidth: 12 }
      ], yield* screen).lines(rows)
    )
    yield* printHint(`profiles: ${printable(yield* profile.file)}`)
  })
).pipe(
  Command.withDescription(
    `Show what is set, and where it comes from.

  A flag comes first, then the environment, the file of --variables, and the
  profile. The value of a secret is not shown: it is only "set".`
  ),
  Command.withShortDescription("Show what is set, and where it comes from"),
  Command.withExamples([
    { command: "time-punches config show", description: "The variables of this shell" },
    { command: "time-punches config show --profile north", description: "With the profile north" }
  ])
)

export const config = Command.make("config").pipe(
  Command.withDescription(
    `Settings, and profiles that keep them.

  A profile is a table of config.json in the folder for settings of this user,
  which config show prints. It may have:
  ${keyed.map(({ key }) => key).join(", ")},
  and as defaults for flags:
  ${Object.keys(defaults).slice(0, 6).join(", ")},
  ${Object.keys(defaults).slice(6).join(", ")}.
  The names of files are relative to that folder. Secrets are refused.`
  ),
  Command.withExamples([
    { command: "time-punches config show", description: "What is set, and from where" },
    { command: "time-punches config show --json", description: "The same for a program" }
  ]),
  Command.withShortDescription("Show the settings and where they come from"),
  Command.withSubcommands([show])
)
