/** Settings that are an address, of the service or of a database: what each may be, and what is shown of it. */
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { isLoopback } from "../../internal/setting/setting.ts"
import { type CommandFailure, refused } from "../failure.ts"

/** What is shown of a setting whose text may hold a secret. */
const notPlain = "set, not a plain URL"

/** A URL without user, query and fragment. A raw `/` in a password makes a path of its end, with the `@` in it. */
export const plainUrl = (text: string): Option.Option<string> => {
  const url = URL.parse(text)
  return url === null || !/^https?:$/.test(url.protocol) || /[@?#]/.test(url.href)
    ? Option.none()
    : Option.some(`${url.origin}${url.pathname}`)
}

/** What is shown of a setting that is a URL. */
export const shownUrl = (text: string): string => Option.getOrElse(plainUrl(text), () => notPlain)

/** What is shown of any other setting: a text that may be a URL with a secret was meant for another one. */
export const shownText = (text: string): string => /:[^]*@|:\/\/[^]*[?#]/.test(text) ? notPlain : text

/** How the connection is encrypted, by the words of PostgreSQL. */
type SslMode = "disable" | "require" | "verify-ca" | "verify-full"

/** A database of PostgreSQL. */
export interface PostgresTarget {
  readonly _tag: "Postgres"
  readonly host: string
  readonly port: number
  readonly database: string
  /** `None`: the name of the user of this system. */
  readonly username: Option.Option<string>
  readonly password: Option.Option<Redacted.Redacted>
  readonly sslmode: SslMode
  /** The URL itself says that nothing is encrypted. */
  readonly isPlain: boolean
  /** A file of certificates to trust. */
  readonly rootCertificate: Option.Option<string>
  /** As it is shown: the URL without user information. */
  readonly address: string
}

/** A file of SQLite. */
export interface SqliteTarget {
  readonly _tag: "Sqlite"
  readonly filename: string
  readonly address: string
}

export type DatabaseTarget = PostgresTarget | SqliteTarget

/** The variable that names a database: the only place whose URL may hold a password. */
export const databaseVariable = "TIME_PUNCHES_DATABASE_URL"

const modes: ReadonlyArray<string> = ["disable", "require", "verify-ca", "verify-full"]
const isMode = (text: string): text is SslMode => modes.includes(text)

const parameters: ReadonlyArray<string> = ["sslmode", "sslrootcert"]

/** What a text has that was meant as the address of a database, well written or not: each may stand beside a password. */
const marks: ReadonlyArray<RegExp> = [
  /:\/\//,
  /^[\s\p{C}"'`]*(?:jdbc:|postgres(?:ql)?(?::|\/\/))/iu,
  /(?:password|passwd|pwd)\s*=/i,
  /(?:^|[\s;"'])(?:host|hostaddr|dbname|user|server)\s*=/i,
  // Not the drive of Windows.
  /^(?![a-z]:\\)[^]*:[^]*@/i
]

/** Whether a text may be the address of a database, which must not become the name of a file. */
export const isAddress = (text: string): boolean => {
  const unescaped = text.replaceAll(/%[\da-f]{2}/gi, decode)
  return marks.some((mark) => mark.test(text) || mark.test(unescaped))
}

/** Reads the name of a file or a URL from the flag, variable or key that `source` names. A refusal quotes no part of the text. */
export const readTarget = (given: string, source: string): Result.Result<DatabaseTarget, CommandFailure> => {
  const text = given.trim()
  if (/^postgres(?:ql)?:\/\//i.test(text)) return readUrl(text, source)
  return text === "" || text === "-" || text === ":memory:" || isAddress(text)
    ? refused(`${source} must be the name of a file, or a URL of PostgreSQL: postgres://host/database`, ...encoded)
    : Result.succeed({ _tag: "Sqlite", filename: text, address: text })
}

const encoded = ["A URL has no quotes around it, and its password has %2F, %3F, %23, %40 and %25 for / ? # @ and %."]

const readUrl = (text: string, source: string): Result.Result<PostgresTarget, CommandFailure> =>
  Result.gen(function*() {
    const refuse = (why: string, ...advice: ReadonlyArray<string>) => refused(`${source} ${why}`, ...advice)
    const url = URL.parse(text)
    if (url === null) return yield* refuse("is not a valid URL", ...encoded)
    const { hash, hostname, password, pathname, port, search, searchParams, username } = url
    if (source !== databaseVariable && password !== "") {
      return yield* refuse(
        source === "--database"
          ? "has a password, which other users of this machine can read in the list of processes"
          : "has a password",
        `Set PGPASSWORD, or put the whole URL into ${databaseVariable}.`
      )
    }
    // The end of a password with a raw / ? or #, which ends the host.
    if (`${pathname}${search}${hash}`.includes("@")) return yield* refuse("has an @ after its host", ...encoded)
    if (hash !== "") return yield* refuse("has a #", ...encoded)
    const database = decode(pathname.slice(1))
    if (hostname === "") return yield* refuse("names no host")
    if (database === "") return yield* refuse("names no database: postgres://host/database")
    if ([...searchParams.keys()].some((name) => !parameters.includes(name))) {
      return yield* refuse(`has an unknown parameter; the known ones are ${parameters.join(" and ")}`)
    }
    const twice = parameters.find((name) => searchParams.getAll(name).length > 1)
    if (twice !== undefined) return yield* refuse(`has ${twice} twice`, "Keep one of them.")
    const host = hostname.replace(/^\[(.*)\]$/, "$1")
    const sslmode = searchParams.get("sslmode") ?? (isLoopback(host) ? "disable" : "verify-full")
    if (!isMode(sslmode)) return yield* refuse(`has an unknown sslmode; the known ones are ${modes.join(", ")}`)
    return {
      _tag: "Postgres",
      host,
      port: port === "" ? 5432 : Number(port),
      database,
      username: nonEmpty(decode(username)),
      password: Option.map(nonEmpty(decode(password)), Redacted.make),
      sslmode,
      isPlain: searchParams.get("sslmode") === "disable",
      rootCertificate: Option.fromNullOr(searchParams.get("sslrootcert")),
      address: `postgres://${url.host}${pathname}`
    }
  })

const nonEmpty = (text: string): Option.Option<string> => text === "" ? Option.none() : Option.some(text)

/** A part of a URL. An invalid escape stands for itself. */
const decode = (part: string): string => Result.getOrElse(Result.try(() => decodeURIComponent(part)), () => part)
