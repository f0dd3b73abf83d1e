/** The flags of `time-punches copy feed`. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { timePunchNames } from "../../internal/wire/names.ts"
import { FeedKind, FeedPosition } from "../../sql/feedPosition.ts"
import { databaseFlag } from "../database/database.ts"
import { companyFlags } from "../flags/connection.ts"
import { fileFlag, formatFlag, intervalForm, readInterval, text, words } from "../flags/values.ts"

/** The fields that an event can show as different. */
const { companyId: _company, id: _id, ...fields } = timePunchNames

const readPosition = Schema.decodeUnknownOption(FeedPosition)

/** A JSON object an event, or a line for people. */
export const forms = ["ndjson", "table"] as const

export const feedFlags = {
  ...companyFlags,
  database: databaseFlag,
  since: text(
    "since",
    "POSITION|now",
    "Begin after the event at this position, or with what changes from now on (default: with the state of the copy)",
    "the position of an event, such as 4021/2026-03-09T15:00:00.123Z/451, or now",
    (value): Option.Option<FeedPosition | "now"> => value === "now" ? Option.some(value) : readPosition(value)
  ),
  follow: Flag.String("follow").pipe(
    Flag.withMetavar("TIME"),
    Flag.withDescription(
      "Wait for further changes, and end only when interrupted: look for them each second, or with =5s less often"
    ),
    Flag.filterMap(readInterval, () => intervalForm("5s")),
    Flag.withOptionalValue("1s"),
    Flag.optional
  ),
  state: fileFlag(
    "state",
    "Keep the position of the last printed event in this file; a run begins there if the file exists"
  ),
  kind: words("kind", FeedKind.literals, "Print only events of these kinds, such as edited,deleted", "KINDS"),
  changed: words(
    "changed",
    Object.values(fields),
    "Print only events whose two versions differ in one of these fields, such as approved,clocked_out",
    "FIELDS"
  ),
  format: Flag.optional(formatFlag(forms, "One JSON object an event, or a line for people"))
}

export type FeedInput = Command.Command.Config.Infer<typeof feedFlags>
