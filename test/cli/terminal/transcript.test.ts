/** What each command shows in a real terminal of 80 and of 140 columns, over sockets. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { displayWidth } from "effect/cli/CliOutput"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { FakeServer } from "../../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService, generatePunches } from "../../../src/testing/index.ts"
import { needs } from "../../support/needs.ts"
import { commandOf, environmentOf } from "../child.ts"
import { temporaryFolder } from "../support.ts"

const punches = generatePunches({ seed: 5, count: 900, companyId: defaultCompany.id, openShare: 0.02 })

const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ punches })))

const hasScript = ChildProcess.spawnSync("script", ["--version"]).status === 0

/** The lines that a terminal shows at the end: a carriage return goes to the start of a line, `ESC [2K` erases it. */
const screenOf = (output: string): ReadonlyArray<string> => {
  const lines: Array<string> = [""]
  let column = 0
  // oxlint-disable-next-line no-control-regex
  for (const part of output.match(/\u001b\[[\d;?]*[A-Za-z]|\r|\n|[^\u001b\r\n]+|\u001b/g) ?? []) {
    if (part === "\n") lines.push("")
    if (part === "\n" || part === "\r") column = 0
    else if (part === "\u001b[2K") lines[lines.length - 1] = ""
    else if (!part.startsWith("\u001b")) {
      const line = lines.at(-1) ?? ""
      lines[lines.length - 1] = line.slice(0, column).padEnd(column) + part + line.slice(column + part.length)
      column += part.length
    }
  }
  return lines
}

const quoted = (args: ReadonlyArray<string>) => args.map((arg) => `'${arg}'`).join(" ")

/** Runs calls one after the other in one terminal, and returns the lines that each of them shows. */
const shownBy = Effect.fnUntraced(function*(columns: number, folder: string, calls: ReadonlyArray<string>) {
  const { url } = yield* FakeServer
  const script = [
    `stty cols ${columns} rows 50`,
    ...calls.flatMap((call) => [`echo '@@ ${call}'`, `${quoted([process.execPath, ...commandOf(call.split(" "))])}`])
  ].join("\n")
  Fs.writeFileSync(`${folder}/calls.sh`, script)
  const output = yield* Effect.promise(() =>
    new Promise<string>((resolve) => {
      const child = ChildProcess.spawn("script", ["-qec", `sh ${folder}/calls.sh`, "/dev/null"], {
        cwd: folder,
        env: { ...environmentOf(url), TERM: "xterm", TIME_PUNCHES_DATABASE_URL: "punches.db" },
        stdio: ["ignore", "pipe", "ignore"]
      })
      let text = ""
      child.stdout.setEncoding("utf8").on("data", (part: string) => (text += part))
      child.on("close", () => resolve(text))
    })
  )
  const shown = new Map<string, Array<string>>()
  let current: Array<string> = []
  for (const line of screenOf(output)) {
    if (line.startsWith("@@ ")) shown.set(line.slice(3), current = [])
    else current.push(line)
  }
  return shown
})

const period = "--start 2026-03-01 --end 2026-04-30 --zone America/New_York --names names.csv"

const readCalls = [
  `list ${period} --take 60`,
  `summary --by user ${period}`,
  `check ${period}`,
  "sync",
  "sync --status",
  `changes ${period} --since INSTANT`,
  `summary --by user ${period} --database punches.db --above 40h --above-day 8h`,
  "export --output out.ndjson",
  "doctor --database punches.db"
]

describe("a terminal", () => {
  it.live.each([80, 140])(
    "of %d columns shows every command without a broken line",
    (columns, context) => {
      needs(context, hasScript, "script of util-linux, which opens a terminal")
      return Effect.gen(function*() {
        const folder = yield* temporaryFolder
        const service = yield* FakeService
        const users = [...new Set(punches.map(({ user_id }) => user_id))]
        Fs.writeFileSync(
          `${folder}/names.csv`,
          ["kind,id,name", ...users.map((id) => `user,${id},Alexandra Featherstonehaugh ${id}`)].join("\n")
        )
        const first = yield* shownBy(columns, folder, ["sync --history", "sync --status --json"])
        const status: { readonly history: { readonly last: string } } = JSON.parse(
          first.get("sync --status --json")?.[0] ?? ""
        )
        const ids = punches.filter(({ deleted }) => !deleted).map(({ id }) => id)
        const notes = `${"The same beginning of a note that is long enough ".repeat(2)}`
        yield* service.edit(ids.slice(0, 3), { notes: `${notes}one`, clocked_out: "2026-03-20T17:59:00Z" })
        yield* shownBy(columns, folder, ["sync"])
        const { history: { last } } = JSON.parse(
          (yield* shownBy(columns, folder, ["sync --status --json"])).get("sync --status --json")?.[0] ?? ""
        )
        yield* service.edit(ids.slice(0, 3), { notes: `${notes}two`, clocked_out: "2026-03-20T18:05:00Z" })
        const calls = readCalls.map((call) => call.replace("INSTANT", last))
        const shown = yield* shownBy(columns, folder, calls)

        assert.isNotEmpty(status.history.last)
        for (const [call, lines] of [...first, ...shown]) {
          assert.isAbove(lines.join("").length, 20, call)
          // JSON, messages, and the sentences of doctor behind its marks are not laid out as a table.
          const isTable = !call.includes("--json") && !call.startsWith("doctor")
          const laidOut = isTable ? lines.filter((line) => / {2}/.test(line)) : []
          for (const line of laidOut) assert.isAtMost(displayWidth(line), columns, `${call}\n${line}`)
        }
        const text = (call: string) => (shown.get(calls.find((each) => each.startsWith(call)) ?? "") ?? []).join("\n")
        const named = [text("list"), text("summary"), text("check"), text("changes")]
        for (const each of named) assert.include(each, "Alexandra")
        assert.match(first.get("sync --history")?.[0] ?? "", /^first load: /)
        assert.match(text("sync"), /^increment: /)
        assert.include(text("changes"), "two")
        // An instant is never broken: its offset does not begin a line.
        assert.notMatch(text("changes"), /^ *[-+]\d\d:\d\d\b/m)
      }).pipe(Effect.scoped, Effect.provide(served))
    },
    180_000
  )
})
