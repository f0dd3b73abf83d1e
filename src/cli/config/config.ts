/** `time-punches config show`: what is set, and where it comes from. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Struct from "effect/Struct"
import { printable } from "../../internal/wire/issue.ts"
import { defaults, firstOf, Profile, settings } from "../args/profile.ts"
import { jsonFlag } from "../flags/values.ts"
import { jsonArray } from "../print/machine.ts"
import { printHint } from "../print/messages.ts"
import { printLines, screen } from "../print/output.ts"
import { makeTable } from "../print/table.ts"

/** Variables whose value is never shown. The URL of a database may have a password. */
const secrets = [
  "TIME_PUNCHES_ACCESS_TOKEN",
  "TIME_PUNCHES_CLIENT_SECRET",
  "TIME_PUNCHES_SESSION_COOKIE",
  "TIME_PUNCHES_DATABASE_URL",
  "PGPASSWORD"
]

/** A URL without its name and password, which no setting should have. */
const withoutUser = (value: string): string => value.replace(/^(\s*[a-z][a-z0-9+.-]*:\/*)[^/?#]*@/i, "$1…@")

const show = Command.make(
  "show",
  { json: jsonFlag },
  Effect.fnUntraced(function*({ json }) {
    const profile = yield* Profile
    const variables = [...Object.values(settings), ...secrets]
    const found = yield* Effect.forEach(variables, (name) =>
      Effect.map(firstOf(profile.sources, name), (first) => ({
        name,
        value: first === undefined ? null : secrets.includes(name) ? "set" : withoutUser(first.value),
        from: first?.from ?? null
      })))
    const flags = Struct.keys(defaults).flatMap((key) => {
      const value = profile.defaults[key]
      return value === undefined
        ? []
        : [{ name: `--${defaults[key].flag}`, value, from: Option.getOrElse(profile.name, () => "") }]
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

  A flag comes first, then the environment, the file of --env-file, and the
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
  ${Object.keys(settings).join(", ")},
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
