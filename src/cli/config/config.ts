/** `time-punches config show`: what is set, and where it comes from. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Struct from "effect/Struct"
import { CompanyGuid } from "../../Ids.ts"
import { printable } from "../../internal/text/printable.ts"
import { firstOf } from "../args/profile.ts"
import { shownText, shownUrl } from "../flags/address.ts"
import { isJson, jsonFlags } from "../flags/form.ts"
import { defaults, keyed, noFolder, Profile, settings } from "../flags/settings.ts"
import { jsonArray } from "../print/machine.ts"
import { printHint } from "../print/messages.ts"
import { printLines, screen } from "../print/output.ts"
import { makeTable } from "../print/table.ts"
import { type Group, makeVerb } from "../verb.ts"

const secrets = settings.filter((each) => "isSecret" in each)

/** What is shown of a setting: of a secret only that it is set, of a guid enough to recognize it. */
const shownValue = (setting: typeof settings[number], value: string): string => {
  if ("isSecret" in setting) return "set"
  if ("isUrl" in setting) return shownUrl(value)
  if (setting.variable !== "TIME_PUNCHES_COMPANY_GUID") return shownText(value)
  return Option.isSome(CompanyGuid.makeOption(value)) ? `${value.slice(0, 4)}…${value.slice(-4)}` : "set, not a uuid"
}

const show = makeVerb(
  "show",
  jsonFlags,
  Effect.fnUntraced(function*(input) {
    const json = yield* isJson(input)
    const profile = yield* Profile
    const found = yield* Effect.forEach(
      [...keyed, ...secrets],
      (setting) =>
        Effect.map(firstOf(profile.sources, setting.variable), (first) => ({
          name: setting.variable,
          value: first === undefined ? null : shownValue(setting, first.value),
          from: first?.from ?? null
        }))
    )
    const flags = Struct.keys(defaults).flatMap((key) => {
      const value = profile.defaults[key]
      return value === undefined
        ? []
        : [{ name: `--${defaults[key].flag}`, value: shownText(value), from: profile.name }]
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
    yield* printHint(
      Option.match(profile.file, {
        onNone: () => `there is ${noFolder}`,
        onSome: (file) => `profiles: ${printable(file)}`
      })
    )
  }),
  {
    text: `Show what is set, and where it comes from.

  A flag comes first, then the environment, the file of --variables, and the
  profile. The value of a secret is not shown: it is only "set". Of a URL of
  the service nothing is shown if it has a user or a query, and of a guid its
  first and last four characters.`,
    examples: [
      ["config show", "The variables of this shell"],
      ["config show --profile north", "With the profile north"]
    ]
  }
)

export const group: Group = {
  text: `Settings, and profiles that keep them.

  A profile is a table of config.json in the folder for settings of this user,
  which config show prints. It may have:
  ${keyed.slice(0, 7).map(({ key }) => key).join(", ")},
  ${keyed.slice(7).map(({ key }) => key).join(", ")}, and as defaults for flags:
  ${Object.keys(defaults).slice(0, 6).join(", ")},
  ${Object.keys(defaults).slice(6).join(", ")}.
  The names of files are relative to that folder. Secrets are refused.`,
  examples: [["config show", "What is set, and from where"], ["config show --json", "The same for a program"]],
  entries: { show: ["Show what is set, and where it comes from", () => Promise.resolve({ verb: show })] }
}
