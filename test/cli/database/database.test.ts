import { assert, describe, it } from "@effect/vitest"
import { Option, Redacted, Result } from "effect"
import { readTarget } from "../../../src/cli/flags/address.ts"
import { findCanary, planted } from "../canaries.ts"

const read = (text: string) => Result.getOrThrow(readTarget(text, "TIME_PUNCHES_DATABASE_URL"))
const refusal = (text: string, source: "--database" | "TIME_PUNCHES_DATABASE_URL" = "--database") => {
  const target = readTarget(text, source)
  assert.isTrue(Result.isFailure(target), text)
  return Result.isFailure(target) ? target.failure : undefined
}

describe("the database of a copy", () => {
  it.each([
    "punches.db",
    "./a b/punches.sqlite3",
    "C:\\me@home\\punches.db",
    "/srv/punches",
    "me@work/2026:1.db",
    "postgres/a.db"
  ])("is the file %j", (name) => {
    assert.deepStrictEqual(read(name), { _tag: "Sqlite", filename: name, address: name })
  })

  it("is a database of PostgreSQL by its URL", () => {
    const target = read(
      "postgresql://pay%40roll:p%3Ass@db.example:6543/punches%20copy?sslmode=verify-ca&sslrootcert=/ca.pem"
    )

    assert.deepInclude(target, {
      _tag: "Postgres",
      host: "db.example",
      port: 6543,
      database: "punches copy",
      username: Option.some("pay@roll"),
      sslmode: "verify-ca",
      rootCertificate: Option.some("/ca.pem"),
      address: "postgres://db.example:6543/punches%20copy"
    })
    assert.strictEqual(
      target._tag === "Postgres" ? Option.getOrUndefined(Option.map(target.password, Redacted.value)) : undefined,
      "p:ss"
    )
    assert.notInclude(JSON.stringify(target), "p:ss")
  })

  it.each([
    ["postgres://localhost/a", "disable"],
    ["postgres://127.0.0.1:5433/a", "disable"],
    ["postgres://[::1]/a", "disable"],
    ["postgres://db.example/a", "verify-full"],
    ["postgres://127.0.0.1.example/a", "verify-full"],
    ["postgres://localhost/a?sslmode=require", "require"]
  ])("of %s is connected with sslmode %s", (url, sslmode) => {
    const target = read(url)

    assert.strictEqual(target._tag === "Postgres" ? target.sslmode : target.address, sslmode)
  })

  it.each([
    ["", "must be the name of a file, or a URL of PostgreSQL"],
    [":memory:", "must be the name of a file, or a URL of PostgreSQL"],
    ["-", "must be the name of a file, or a URL of PostgreSQL"],
    ["mysql://localhost/punches", "must be the name of a file, or a URL of PostgreSQL"],
    ["https://localhost/punches", "must be the name of a file, or a URL of PostgreSQL"],
    ["postgres://localhost", "names no database"],
    ["postgres:///punches", "names no host"],
    ["postgres://localhost:99999/punches", "is not a valid URL"],
    ["postgres://localhost/punches?sslmode=prefer", "has an unknown sslmode; the known ones are disable, require"],
    ["postgres://localhost/punches?options=-c", "has an unknown parameter; the known ones are sslmode and sslrootcert"],
    ["postgres://localhost/punches?sslmode=disable&sslmode=require", "has sslmode twice"],
    ["postgres://localhost/punches?sslrootcert=a&sslrootcert=b", "has sslrootcert twice"],
    ["postgres://me:12/34@localhost/punches", "has an @ after its host"],
    ["postgres://localhost/punches#x", "has a #"]
  ])("is refused as %j, by name", (text, why) => {
    const failure = refusal(text)

    assert.include(failure?.message, `--database ${why}`)
    assert.strictEqual(failure?.code, 2)
  })

  it("is the file between blanks", () => {
    assert.deepStrictEqual(read(" punches.db\n"), { _tag: "Sqlite", filename: "punches.db", address: "punches.db" })
  })

  it.each(planted.filter(({ name }) => /database/i.test(name)).map(({ value }) => value))(
    "is never a file for a text with a secret, and shows none of it: %j",
    (text) => {
      for (const source of ["TIME_PUNCHES_DATABASE_URL", "--database"]) {
        const target = readTarget(text, source)
        const { message, address, tag } = Result.match(target, {
          onFailure: ({ advice, message }) => ({
            message: [message, ...advice].join("\n"),
            address: "",
            tag: "refused"
          }),
          onSuccess: ({ _tag, address }) => ({ message: "", address, tag: _tag })
        })

        assert.notStrictEqual(tag, "Sqlite")
        assert.isFalse(findCanary(message + address), message + address)
        assert.isTrue(message === "" || message.startsWith(source), message)
      }
    }
  )

  it("has no password in a flag, and no message shows one", () => {
    const texts = ["postgres://me:hunter2@localhost/a", "postgres://me:hunter2@localhost:99999/a"].map((text) => {
      const failure = refusal(text)
      return [failure?.message, ...failure?.advice ?? []].join("\n")
    })

    assert.include(texts[0], "has a password")
    assert.include(texts[0], "PGPASSWORD")
    for (const text of texts) assert.notInclude(text, "hunter2")
  })
})
