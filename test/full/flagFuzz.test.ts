/**
 * Random calls of every command, with values that are legal, nearly legal and hostile, in real processes: each ends in time with
 * an exit code of the table, and says in one line what is wrong. `FUZZ_SEED` draws other calls.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Fs from "node:fs"
import { type Prng, prng } from "../../src/testing/base/prng.ts"
import { FakeServer } from "../../src/testing/FakeServer.ts"
import { defaultCompany, FakeService } from "../../src/testing/index.ts"
import { bundle } from "../cli/bundle.ts"
import { type Ended, ended, environmentOf, started } from "../cli/child.ts"
import { helpOf, printers, subcommands, temporaryFolder } from "../cli/support.ts"
import { servicePunch } from "../support/wire.ts"

const seed = Number(process.env["FUZZ_SEED"] ?? 1)

/** How long calls are started, and how long one may take. */
const [window, deadline] = [40_000, 60_000]

const punches = [1, 2, 3].map((id) =>
  servicePunch({ id, user_id: 500 + id, clocked_in: "2026-03-03T14:00:00Z", clocked_out: "2026-03-03T22:00:00Z" })
)

const served = FakeServer.layer().pipe(Layer.provideMerge(FakeService.layer({ punches })))

/** A legal value, by the placeholder of the flag. */
const legal: Readonly<Record<string, ReadonlyArray<string>>> = {
  ID: ["4021", "1", "301"],
  "ID[=GUID]": ["4021", `4021=${defaultCompany.guid}`],
  "ID[=GUID],…": ["4021", `4021=${defaultCompany.guid},4022`],
  N: ["1", "20"],
  PORT: ["0"],
  SHARE: ["0.5", "0"],
  TIME: ["5s", "1d", "15m"],
  "TIME|all": ["35d", "all"],
  "TIME|never": ["1d", "never"],
  DAYS: ["30d"],
  HOURS: ["40h", "37.5h", "450m"],
  INSTANT: ["2026-03-02T00:00:00Z", "2026-03-09T15:00:00+01:00"],
  DATE: ["2026-03-02"],
  "DATE|last|current": ["2026-03-02", "last", "current"],
  "YYYY-MM|last|current": ["2026-03", "last"],
  "YYYY-MM": ["2026-03"],
  CALENDAR: ["14d:2026-01-05", "1,16", "26"],
  "HH:MM": ["04:00", "-02:00"],
  ZONE: ["UTC", "America/New_York", "+01:00"],
  FILE: ["some.csv", "folder/new.json", "punches.db", "mapping.json", "-"],
  "FILE|URL": ["punches.db", "none.db", "postgres://u@127.0.0.1:1/db"],
  UUID: [defaultCompany.guid],
  TEXT: ["a note"],
  NAME: ["north"],
  "auto|always|never": ["auto", "never"]
}

/** Values that no flag expects: text of other directions, controls, lengths, numbers, paths, shells, halves of characters. */
const hostile: readonly [string, ...ReadonlyArray<string>] = [
  "",
  " ",
  "-",
  "--",
  "-1",
  "--format",
  "0",
  "1e3",
  "0x10",
  "-0",
  "NaN",
  "Infinity",
  "9007199254740993",
  "٣",
  "\u001b[31mred\u001b[0m",
  "\u202eright to left\u202c",
  "a\u0007b\rc",
  "two\nlines",
  "x".repeat(5000),
  "é".normalize("NFD").repeat(300),
  "💥",
  "\ud800",
  "%s%n%x",
  "$(id)",
  "`id`",
  "'; DROP TABLE time_punches; --",
  "../../x",
  ".",
  "..",
  "/",
  "folder",
  "folder/",
  "no/such/folder/file",
  `${"n".repeat(300)}.csv`,
  "{\"v\":1}",
  "[]",
  "null",
  "__proto__",
  "constructor",
  "2026-02-30",
  "2026-13-01",
  "0000-00-00",
  "2026-03-02T25:00:00Z",
  "14d:2026-02-30",
  "99:99",
  "Europe/Nowhere",
  "+99:99",
  "1,2,3",
  ",",
  "=",
  "a=b",
  "4021=",
  "4021,4021",
  "last",
  "file:punches.db?mode=ro",
  ":memory:",
  "postgres://",
  "postgres://[::1",
  "http://127.0.0.1:1/",
  "7.2",
  "1.99999999999999999999",
  "default",
  "json",
  "csv"
]

const pickOf = <A>(random: Prng, items: ReadonlyArray<A>): A | undefined => items[random.between(0, items.length - 1)]

interface FlagDoc {
  readonly name: string
  readonly type: string
  readonly description: unknown
}

/** The words that a flag takes: those of its placeholder, or those that its help lists. */
const wordsOf = ({ description, type }: FlagDoc): ReadonlyArray<string> => {
  const [, choices] = /\(choices: ([^)]*)\)/.exec(String(description)) ?? []
  const words = choices?.split(", ") ?? (/^[a-z]/.test(type) ? type.split(/[|,]/) : [])
  return words.filter((word) => /^[a-zA-Z]+$/.test(word))
}

/** What a command takes before its flags. */
const leading: Readonly<Record<string, readonly [string, ...ReadonlyArray<string>]>> = {
  payroll: ["1", "1.1"],
  fleet: ["4021", "4022"],
  help: ["list", "filters"]
}

/** A call that a person could type: a command, some of its flags in every form, and arguments. */
const makeCall = (random: Prng, path: string, flags: ReadonlyArray<FlagDoc>): ReadonlyArray<string> => {
  // Where all is hostile, the first mistake hides the others.
  const share = random.pick([0, 0.1, 0.4])
  const [first = "", verb = ""] = path.split(" ")
  const usual = leading[first]
  const given = Array.from({ length: random.between(0, 5) }).flatMap((): ReadonlyArray<string> => {
    const flag = pickOf(random, flags)
    if (flag === undefined) return []
    const name = `--${flag.name}${random.chance(share / 10) ? "x" : ""}`
    if (flag.type === "boolean") return [random.chance(share / 5) ? `${name}=${random.pick(hostile)}` : name]
    const known = [...legal[flag.type.replace(/^\[=|\]$/g, "")] ?? [], ...wordsOf(flag)]
    const value = random.chance(share) ? random.pick(hostile) : pickOf(random, known) ?? random.pick(hostile)
    return random.chance(share / 5) ? [name] : random.chance(0.5) ? [`${name}=${value}`] : [name, value]
  })
  const period = flags.some(({ name }) => name === "week") && random.chance(0.6)
    ? ["--week", "2026-03-02", "--zone", "America/New_York"]
    : []
  const takesWord = usual !== undefined && !/^(check|close|list|migrate|run|add)?$/.test(verb) || first === "help"
  return [
    ...[first, verb].filter((word) => word !== ""),
    ...(takesWord && usual !== undefined && random.chance(0.8) ? [random.pick(usual)] : []),
    ...period,
    ...given,
    ...(random.chance(0.1) ? [random.pick(printingCalls)] : []),
    ...(random.chance(share / 2) ? [random.pick(hostile)] : [])
  ]
}

/** Flags of every command that print something else in place of running it: rare, or they would hide the others. */
const printing = ["help", "version", "completions"]

const printingCalls = ["--help", "-h", "--version", "--completions", "--completions=bash", "--completions=x"] as const

/** A trace, a module of Node, or the text of an object. */
const traces = /\n\s+at |node:internal|\[object |\bundefined\b|TypeError|RangeError/

/** Controls except tab and line feed, and characters that turn the direction of text. */
const raw = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/

/** The colours of help, which `--color always` asks for. */
const colors = /\u001b\[\d+m/g

/** Standard output without what a call asks for: the ends of CSV records, and the colours of `--color always`. */
const withoutAsked = (args: ReadonlyArray<string>, stdout: string): string => {
  const lines = args.some((arg) => /csv/.test(arg)) ? stdout.replaceAll("\r\n", "\n") : stdout
  return args.some((arg) => arg.endsWith("always")) ? lines.replaceAll(colors, "") : lines
}

/** What is wrong with the end of a call. */
const wrongWith = (args: ReadonlyArray<string>, { code, signal, stderr, stdout }: Ended): ReadonlyArray<string> => [
  ...(code === null || ![0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 130].includes(code)
    ? [`exit code ${code}, signal ${signal}`]
    : []),
  ...(traces.test(stderr) ? ["a trace"] : []),
  ...(raw.test(stderr) || raw.test(withoutAsked(args, stdout)) ? ["a raw control"] : []),
  ...(code !== 0 && code !== 130 && stderr.trim() === "" ? ["no message"] : []),
  ...(code === 2 && !/^time-punches|^\{"message":.*"code":2\}$/m.test(stderr)
    ? ["no line that names the command"]
    : []),
  ...(stderr.length > 8000 ? ["a message of more than 8000 characters"] : [])
]

describe("random calls of every command", () => {
  it.live(
    `end in time, by an exit code of the table, with one clear line (FUZZ_SEED=${seed})`,
    () =>
      Effect.gen(function*() {
        const random = prng(seed)
        const { url } = yield* FakeServer
        const folder = yield* temporaryFolder
        const groups = subcommands.flatMap((path) => path.split(" ").slice(0, -1))
        const paths = [...new Set([...groups, ...subcommands, ...printers])]
        const flags = new Map(
          yield* Effect.forEach(
            paths,
            (path) =>
              Effect.map(
                helpOf(path.split(" ")),
                ({ flags, globalFlags = [] }) =>
                  [path, [...flags, ...globalFlags.filter(({ name }) => !printing.includes(name))]] as const
              )
          )
        )
        process.stdout.write(`FUZZ_SEED=${seed}\n`)
        const copy = yield* Effect.scoped(Effect.flatMap(
          started(["sync", "--history", "--database", `${folder}/seed.db`], environmentOf(url)),
          ended
        ))
        assert.strictEqual(copy.code, 0, copy.stderr)

        /** Runs a call in its own folder. What serves until it is stopped gets the signal of Ctrl-C after eight seconds. */
        const run = Effect.fnUntraced(
          function*(args: ReadonlyArray<string>, name: string, env: Record<string, string>) {
            const cwd = `${folder}/${name}`
            Fs.mkdirSync(`${cwd}/folder`, { recursive: true })
            Fs.copyFileSync(`${folder}/seed.db`, `${cwd}/punches.db`)
            Fs.writeFileSync(`${cwd}/mapping.json`, "{\"v\":2}")
            const began = performance.now()
            const running = yield* started(args, { ...env, HOME: cwd }, bundle, cwd)
            for (const [signal, after] of [["SIGINT", 8000], ["SIGKILL", deadline]] as const) {
              yield* Effect.forkScoped(
                Effect.andThen(Effect.sleep(after), Effect.sync(() => running.child.kill(signal)))
              )
            }
            const done = yield* ended(running)
            Fs.rmSync(cwd, { recursive: true, force: true })
            return { ...done, millis: performance.now() - began }
          },
          Effect.scoped
        )

        const failed: Array<unknown> = []
        const codes = new Map<number | null, number>()
        const until = performance.now() + window
        let calls = 0
        const worker = Effect.gen(function*() {
          // A busy machine takes longer, and still calls each command once.
          while (performance.now() < until || calls < paths.length) {
            const number = calls++
            const path = paths[number % paths.length] ?? "list"
            const args = makeCall(random, path, flags.get(path) ?? [])
            const env = {
              ...environmentOf(url),
              ...(random.chance(0.5) ? { TIME_PUNCHES_DATABASE_URL: "punches.db" } : {})
            }
            const done = yield* run(args, `${number}`, env)
            codes.set(done.code, (codes.get(done.code) ?? 0) + 1)
            const wrong = wrongWith(args, done)
            if (wrong.length > 0)
              failed.push({ args, wrong, stderr: done.stderr.slice(0, 600), millis: Math.round(done.millis) })
          }
        })
        yield* Effect.all([worker, worker], { concurrency: "unbounded", discard: true })
        process.stdout.write(`${calls} calls; by exit code: ${JSON.stringify(Object.fromEntries(codes))}\n`)

        assert.deepStrictEqual(failed, [])
      }).pipe(Effect.scoped, Effect.provide(served)),
    deadline + 4 * window + 60_000
  )
})
