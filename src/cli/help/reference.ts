/**
 * The tables of `help`: codes, variables, columns and messages. `docs/commands.md` is made of the same. Loaded when one of them is
 * read. Words in backticks are code on the page, and plain in a terminal.
 */
import { columnNames } from "../../internal/wire/columnOrder.ts"
import { codeOf, codeOfError, type ExitCode, exitCode, kindOf } from "../failure.ts"
import { settings } from "../flags/settings.ts"
import { wrap } from "../print/table.ts"

/** A part of a topic. */
export interface Table {
  /** What stands before it. */
  readonly lead: string
  readonly titles: readonly [term: string, meaning: string, note?: string]
  readonly rows: ReadonlyArray<readonly [term: string, meaning: string, note?: string]>
}

const meanings: Readonly<Record<ExitCode, string>> = {
  [exitCode.ok]: "success; also if the reader closed standard output",
  [exitCode.bug]: "a bug: report it with the trace",
  [exitCode.usage]: "invalid usage",
  [exitCode.configuration]: "an invalid or missing setting, or a Node that is too old",
  [exitCode.credential]: "the credential is rejected",
  [exitCode.forbidden]: "the credential may not do this. Ask the company: plan, scope, grant",
  [exitCode.later]: "the service fails, or its token endpoint, or what answers in front of them. Try again later",
  [exitCode.data]:
    "data that cannot be right, too large a sum, an incomplete copy, or a time before its history. Run `doctor`",
  [exitCode.system]: "a local error: a file, a port, the database, another run that took over",
  [exitCode.findings]: "`payroll check` or `payroll close` found an issue, or no punch; not a failure",
  [exitCode.age]:
    "the copy is older than `--max-age`: run `sync`. If its last run ended ahead of this clock, set the clock",
  [exitCode.interrupted]:
    "interrupted by Ctrl-C, SIGTERM, SIGHUP or SIGQUIT: resume as the message says. `fleet run` exits with 0 then"
}

const tagsOf = (code: ExitCode): string =>
  [
    ...Object.entries(kindOf).map(([tag, kind]) => [tag, codeOfError(tag, kind)] as const),
    ...Object.entries(codeOf)
  ].filter(([, each]) => each === code).map(([tag]) => `\`${tag}\``).join(", ")

const exitCodes: Table = {
  lead: "Every command exits with one of these codes.",
  titles: ["code", "meaning", "errors"],
  rows: Object.values(exitCode).map((code) => [`${code}`, meanings[code], tagsOf(code)])
}

const variables: Table = {
  lead:
    `A flag comes first, then the environment, the file of \`--variables\`, and the profile. Secrets come from variables alone:
    other users of the machine may see a flag. The library reads the environment, except what is for the command only.`,
  titles: ["variable", "meaning", "note"],
  rows: [
    ...settings.map(({ readBy, variable, what, ...each }) =>
      [
        variable,
        what,
        [...(readBy === "command" ? ["command only"] : []), ...("isSecret" in each ? ["secret"] : [])].join(", ")
      ] as const
    ),
    ["NO_COLOR, FORCE_COLOR, TERM", "see `--color`", "command only"]
  ]
}

/** With those of `variables` all that the exporter reads. */
const telemetry: Table = {
  lead:
    `With a collector, the command also reads these. SIGNAL is TRACES, METRICS or LOGS: such a variable comes before the
    general one. Of two words the first is the default, as is a value in parentheses. Times are milliseconds.`,
  titles: ["variable", "meaning"],
  rows: [
    ["OTEL_EXPORTER_OTLP_SIGNAL_ENDPOINT", "the whole address for a signal; to the general one `/v1/traces` is added"],
    ["OTEL_EXPORTER_OTLP_SIGNAL_HEADERS", "headers for a signal, secret too"],
    ["OTEL_EXPORTER_OTLP_COMPRESSION, OTEL_EXPORTER_OTLP_SIGNAL_COMPRESSION", "`none` or `gzip`"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "`http/json` or `http/protobuf`"],
    [
      `OTEL_EXPORTER_OTLP_TIMEOUT, OTEL_EXPORTER_OTLP_SIGNAL_TIMEOUT, OTEL_BSP_EXPORT_TIMEOUT, OTEL_METRIC_EXPORT_TIMEOUT,
        OTEL_BLRP_EXPORT_TIMEOUT`,
      "how long the end of a run waits (2000); the last three count if the first are absent"
    ],
    ["OTEL_SIGNAL_EXPORTER, OTEL_SDK_DISABLED", "`none` sends nothing of a signal, `true` nothing at all"],
    [
      "OTEL_SERVICE_NAME, OTEL_SERVICE_VERSION, OTEL_RESOURCE_ATTRIBUTES",
      "the service (`time-punches`) and more attributes; `service.instance.id` is the host, or `--name`"
    ],
    [
      "OTEL_BSP_SCHEDULE_DELAY, OTEL_BLRP_SCHEDULE_DELAY, OTEL_METRIC_EXPORT_INTERVAL",
      "how often traces, logs and metrics are sent (5000, 1000, 10000)"
    ],
    ["OTEL_BSP_MAX_EXPORT_BATCH_SIZE, OTEL_BLRP_MAX_EXPORT_BATCH_SIZE", "how many are sent at once (1000)"],
    ["OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "`cumulative` or `delta`"]
  ]
}

const { breaks: _, ...fields } = columnNames

const quoted = (names: ReadonlyArray<string>): string => names.map((name) => `\`${name}\``).join(", ")

/** In backticks stands each key, in the order of the result, and nothing else. */
const columns: Table = {
  lead:
    `Times are in UTC, amounts in cents, durations in seconds with up to three decimals. An unknown value is empty, or null. \`export\` writes what
    \`list\` does. If a listing fails, its JSON array stays open, so that no program takes a part for the whole.`,
  titles: ["result", "columns or keys"],
  rows: [
    [
      "list --format csv",
      `${
        quoted(Object.values(fields))
      }, \`break_count\`, \`gross_seconds\`, \`paid_break_seconds\`, \`unpaid_break_seconds\`,
        \`net_seconds\`, \`anomalies\``
    ],
    ["list --format json", "one array; every field under its wire name, the breaks too"],
    [
      "summary --format csv",
      `no total; the keys of --by, such as \`user_id\` or day; with a threshold \`regular_seconds\`, \`over_seconds\` and
        \`double_seconds\`; then \`punches\`, \`incomplete\`, \`anomalous\`, \`gross_seconds\`, \`paid_break_seconds\`,
        \`unpaid_break_seconds\`, \`net_seconds\`, \`cost_cents\`, \`tips_cents\``
    ],
    ["summary --format json", "the same in camelCase"],
    [
      "payroll check --format csv",
      "`punch_id`, `user_id`, `location_id`, `kind`, `at`, `at_local` (on the clock of the location), `text`"
    ],
    ["payroll check --format json", "the same in camelCase, without the local time"],
    [
      "payroll diff --format csv",
      "`user_id`, `net_seconds`, `cost_cents`, `tips_cents`: the differences of each person"
    ],
    [
      "payroll diff --format csv --rows punches",
      `\`id\`, \`user_id\`, \`kind\`, then twice each further column of a list except company_id, such as
        \`before_user_id\`, \`after_user_id\``
    ],
    [
      "payroll diff --json",
      `\`punches\`, each with \`punchId\`, \`userId\`, \`kind\`, \`before\` and \`after\` (in wire form, or null if the copy did not have
        the punch or marks it as missing), and \`people\`, each with \`userId\`, \`netSeconds\`, \`costCents\`, \`tipsCents\``
    ],
    [
      "payroll list --json",
      `an array of revisions, as of close, correct and void: \`close\`, \`revision\`, \`previous\`, \`voids\`, \`kind\`,
        \`first\`, \`last\`, \`at\`, \`closedAt\`, \`user\`, \`note\`, \`accepted\` (counts, such as \`unapproved\`), \`files\` (that were
        written out), \`rows\`, each with \`userId\`, \`locationId\`, \`departmentId\`, \`roleId\`, \`punches\`, \`incomplete\`,
        \`netSeconds\`, \`costCents\`, \`tipsCents\`, \`hourlyWageCents\`, \`overSeconds\`, \`doubleSeconds\`;
        \`active\``
    ],
    [
      "payroll show --json",
      "of a revision the same; of a close `close`, `terms` and `revisions`, which have those keys and more"
    ],
    [
      "payroll due --json",
      `an array: \`after\` (the revision to which the amounts are the difference), \`rows\`, with the keys of a revision`
    ],
    [
      "payroll verify --json",
      "`revisions` and `unverifiable`: how many the history gives, and how many it does not reach"
    ],
    [
      "copy sync --json",
      `\`company\`, \`kind\` (first, increment or sweep), \`resumed\`, \`complete\`, \`punches\`, \`pages\`, \`written\`,
        \`unchanged\`, \`missing\`, \`restarts\`, \`latenessSeconds\`, \`watermark\`, \`removed\` (from the history)`
    ],
    [
      "copy status --json",
      `\`company\`, \`watermark\`, \`completedAt\`, \`ageSeconds\` (below 0: ahead of this clock), \`rows\`, \`deleted\`, \`missing\`, \`running\` (the kind of
        the run), \`history\` (\`since\`, from when the copy is known, and \`last\`, its last commit), \`lastError\` (\`at\`,
        \`tag\`, \`text\`), \`deletions\` (\`requestedWith\`, \`lookedAt\`, and \`missed\`: why deletions may be missing, or null),
        \`version\` (\`oldest\` that answered, and \`asked\` for last), \`unknown\` (paths of fields)`
    ],
    [
      "copy feed",
      `one object a line: \`position\`, \`at\`, \`kind\`, \`companyId\`, \`punchId\`, \`userId\`, \`changed\` (the fields that differ),
        \`before\` and \`after\` (in wire form, or null)`
    ],
    [
      "fleet list --json",
      `\`companyId\`, \`state\`, \`phase\`, \`reason\`, \`everySeconds\`, \`nextAt\`, \`lastOkAt\`, \`lateSeconds\`, \`failures\`,
        \`lastError\`, \`rows\``
    ],
    [
      "fleet status --json",
      "the same, and `turns`, its last ten turns, and `requests` a second of the fleet: `needed`, `limit`"
    ],
    ["doctor --json", "`checks`, each with `check`, `status`, `detail`, `cause` and `advice`, then one `advice`"]
  ]
}

/** In backticks stands each key that an event has behind the common ones, in its order, and nothing else. */
const messages: Table = {
  lead:
    `With \`--log-format json\`, each line of standard error is an object with \`message\`, \`level\` (INFO, WARN or ERROR),
    \`timestamp\` and, except in lines of the log, \`event\`. Further keys:`,
  titles: ["event", "keys"],
  rows: [
    ["retry", "`what` (page or token), `reason`, `attempt`, `attempts`, `waitSeconds`"],
    [
      "progress",
      `every ten seconds: \`pages\`, \`punches\`, \`reached\` and \`share\` (of a window), \`elapsedSeconds\`, \`perSecond\`; of a
        sync \`company\`, \`pages\`, \`punches\`, \`written\`, \`unchanged\`, \`elapsedSeconds\`, \`perSecond\`; of a feed
        \`events\`, \`position\``
    ],
    ["warning", "`details`, further lines"],
    ["remark", "about the result, such as no punch matches: `details`"],
    ["hint", "such as the dates of --week last: `details`"],
    ["error", "the end of a run that failed: `advice`, and `code`, the exit code"]
  ]
}

export const reference = {
  columns: [columns],
  messages: [messages],
  environment: [variables, telemetry],
  "exit-codes": [exitCodes]
} as const satisfies Readonly<Record<string, ReadonlyArray<Table>>>

const plain = (text: string): string => text.replaceAll("`", "").replaceAll(/\s+/g, " ")

/** Terms that are longer stand above their meanings. */
const longestTerm = 28

/** A topic in lines of at most `width`, as a description: its first line is indented by core. */
export const textOf = (tables: ReadonlyArray<Table>, width: number): string =>
  tables.map(({ lead, rows }) => {
    const terms = rows.map(([term]) => plain(term))
    const longest = Math.max(...terms.map((term) => term.length))
    const isBeside = longest <= longestTerm && width > 2 * longestTerm
    const indent = isBeside ? longest + 4 : 8
    const lines = rows.flatMap(([term, meaning, note = ""], at) => {
      const text = wrap(plain(note === "" ? meaning : `${meaning} [${note}]`), width - indent)
        .map((line) => " ".repeat(indent) + line)
      const [first = "", ...others] = text
      return isBeside
        ? [`  ${terms[at]}`.padEnd(indent) + first.slice(indent), ...others]
        : [...wrap(plain(term), width - 2).map((line) => `  ${line}`), ...text]
    })
    return [...wrap(plain(lead), width - 2).map((line) => `  ${line}`), "", ...lines].join("\n")
  }).join("\n\n").trimStart()
