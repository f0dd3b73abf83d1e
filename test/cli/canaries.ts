/** Settings with a canary in place of a secret, calls of the real command with them, and a search for the canary in all that it leaves. */
import { Effect } from "effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { unescape } from "node:querystring"
import { commandOf, environmentOf } from "./child.ts"

/** What stands for each secret. */
export const canary = "Canary7Sesame9Open"

/** The rows of the table in SECURITY.md whose kind is a secret: the variables that each names. */
export const secretVariables: ReadonlyArray<string> = Fs
  .readFileSync(Path.join(import.meta.dirname, "../../SECURITY.md"), "utf8")
  .split("\n")
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .filter(([, , , kind]) => kind === "secret")
  .flatMap(([, , set = ""]) => [...set.matchAll(/`([A-Z_]+)`/g)].map(([, name = ""]) => name))

/** Texts that were meant as the address of a database. */
const databases = [
  "host=h password=C dbname=x",
  "host=h password = C",
  "Server=h;Database=x;Uid=u;Pwd=C",
  " postgres://u:C@127.0.0.1:1/db",
  "\"postgres://u:C@127.0.0.1:1/db\"",
  "'postgres://u:C@127.0.0.1:1/db'",
  "\"jdbc:postgresql://h/db?user=u&password=C\"",
  "jdbc:postgresql:C",
  "postgres:/u:C@h/db",
  "postgres//u:C@h/db",
  "postgres:u:C@h",
  "postgres:C",
  "\tpostgres:\\\\u:C@h",
  "psql postgres://u:C@h/db",
  "TIME_PUNCHES_DATABASE_URL=postgres://u:C@h/db",
  "postgres+psycopg2://u:C@h/db",
  "C://h/db",
  "u:C@h/db",
  "//u:C@h/db",
  "postgres%3A%2F%2Fu%3Ap-C%40h%2Fdb",
  "postgres://u:C/C@h/db",
  "postgres://u:12/C@h/db",
  "postgres://u:12/x?C@h/db",
  "postgres://u:12/x#C@h/db",
  "postgres://u:12/x#C",
  "postgres://h/db?C=1",
  "postgres://h/db?password=C",
  "postgres://h/db?sslmode=C",
  "postgres://h/db?sslmode=require&sslmode=C",
  "postgres://u:C@127.0.0.1:1/db"
]

/** Texts that were meant as an address of the service. */
const addresses = [
  "C",
  "u:C@h",
  "//u:C@h/",
  "https://u:C@h/",
  "https:u:C@h/",
  " https://u:C@h/",
  "\"https://u:C@h/\"",
  "https://C@h/",
  "https://u:C+/C@h/",
  "https://u:12/C@h/",
  "https://u:12?C@h/",
  "https://u:12#C@h/",
  "https://h/?token=C",
  "https://h/x#C",
  "javascript:C"
]

const proxies = ["http://u:C@127.0.0.1:1", "u:C@h", "socks5://u:C@h:1", "http://u:12/C@127.0.0.1"]

/** Texts that were meant as the address of a collector, which is read as those of the service are. */
const collectors = ["C", "http://u:C@127.0.0.1:1", "https://h/?token=C", "https://u:12/C@h/"]

const valuesOf = (variable: string): ReadonlyArray<string> =>
  variable.endsWith("_ENDPOINT")
    ? collectors
    : variable.endsWith("_HEADERS")
    ? ["C", "x-key=C", "x-key=C\n"]
    : variable.endsWith("DATABASE_URL")
    ? databases
    : variable.endsWith("_PROXY")
    ? proxies
    : variable.endsWith("_URL")
    ? addresses
    : ["C", " C\n"]

/** What is set, and where. */
export interface Planted {
  readonly where: "environment" | "profile" | "flag"
  readonly name: string
  readonly value: string
}

const plant = (where: Planted["where"], name: string, values: ReadonlyArray<string>): ReadonlyArray<Planted> =>
  values.map((value) => ({ where, name, value: value.replaceAll(/\bC\b/g, canary) }))

/** Every secret of the table in every form, and what a profile or a flag may have of them. */
export const planted: ReadonlyArray<Planted> = [
  ...secretVariables.flatMap((name) => plant("environment", name, valuesOf(name))),
  ...plant("profile", "baseUrl", addresses),
  ...plant("profile", "authUrl", addresses),
  ...plant("profile", "database", databases),
  ...plant("profile", "names", ["https://h/x?token=C", "https://u:C@h/names.csv"]),
  ...plant("flag", "--database", databases)
]

/** The commands that read settings. */
export const calls: ReadonlyArray<string> = [
  "config show",
  "doctor",
  "sync",
  "copy status",
  "payroll list",
  "summary --by user",
  "fleet status",
  "mcp"
]

/** Whether a text has the canary, as it is or encoded. */
export const findCanary = (text: string): boolean => findHidden(text, canary)

/** Whether a text has another one, as it is or encoded. */
export const findHidden = (text: string, hidden: string): boolean => {
  const texts = [text, unescape(text), text.replaceAll(/\\u00([\da-f]{2})/gi, "%$1")].flatMap((each) => [
    each,
    unescape(each)
  ])
  return texts.some((each) => each.toLowerCase().includes(hidden.toLowerCase())) ||
    inBase64(hidden).some((part) => text.includes(part))
}

/** What a text is in base64 at each offset, without the ends that the bytes beside it change. */
const inBase64 = (hidden: string) =>
  [0, 1, 2].map((offset) =>
    Buffer.from(" ".repeat(offset) + hidden).toString("base64").replace(/=+$/, "").slice(
      offset === 0 ? 0 : offset + 1,
      -1
    )
  )

const filesOf = (folder: string): ReadonlyArray<string> =>
  Fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).flatMap((name) => {
    const path = Path.join(folder, name)
    return Fs.statSync(path).isFile() ? [name, Fs.readFileSync(path, "latin1")] : [name]
  })

/** What a call has said, and whether the canary is in its outputs, or in the names or contents of the files that it made. */
export interface Caught {
  readonly call: string
  readonly code: number | string
  readonly leaks: ReadonlyArray<string>
}

/**
 * Runs a call in an empty folder, with what is planted and a service at `url`. `config show` gets no flag: it has none.
 * `database`: where a password in its own variable is sent.
 */
export const caught = (
  { name, value, where }: Planted,
  command: string,
  url: string,
  database = "postgres://u@127.0.0.1:1/db"
): Effect.Effect<Caught> =>
  Effect.promise((signal) =>
    new Promise((resolve) => {
      const root = Fs.mkdtempSync(Path.join(tmpdir(), "time-punches-canary-"))
      const folder = Path.join(root, "work")
      const settings = Path.join(root, "settings/time-punches")
      for (const each of [folder, settings]) Fs.mkdirSync(each, { recursive: true })
      Fs.writeFileSync(
        Path.join(settings, "config.json"),
        JSON.stringify({ p: where === "profile" ? { [name]: value } : {} })
      )
      const { TIME_PUNCHES_BASE_URL: base = "", ...environment } = environmentOf(url)
      const kinds = /ACCESS_TOKEN|SESSION_COOKIE/.test(name)
        ? { TIME_PUNCHES_CLIENT_ID: "", TIME_PUNCHES_CLIENT_SECRET: "" }
        : {}
      const env = {
        ...environment,
        ...kinds,
        ...(where === "profile" && name === "baseUrl" ? {} : { TIME_PUNCHES_BASE_URL: base }),
        ...(name === "PGPASSWORD" ? { TIME_PUNCHES_DATABASE_URL: database } : {}),
        // A collector that is away.
        ...(name.endsWith("_HEADERS") ? { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" } : {}),
        ...(where === "environment" ? { [name]: value } : {}),
        XDG_CONFIG_HOME: Path.join(root, "settings"),
        TIME_PUNCHES_PROFILE: "p"
      }
      const args = [
        ...command.split(" "),
        ...(where === "flag" && command !== "config show" ? [`${name}=${value}`] : [])
      ]
      const child = ChildProcess.execFile(
        process.execPath,
        [...commandOf(args)],
        { cwd: folder, env, signal, timeout: 60_000 },
        (error, stdout, stderr) => {
          const texts = { stdout, stderr, files: filesOf(folder).join("\n") }
          Fs.rmSync(root, { recursive: true })
          resolve({
            call: `${where} ${name}=${JSON.stringify(value)} time-punches ${command}`,
            code: error === null ? 0 : error.code ?? `${error.signal}`,
            leaks: Object.entries(texts).flatMap(([at, text]) =>
              findCanary(text) ? [`${at}: ${text.slice(0, 500)}`] : []
            )
          })
        }
      )
      child.stdin?.end()
    })
  )
