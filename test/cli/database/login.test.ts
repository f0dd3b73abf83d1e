/** A password that PostgreSQL really refuses, through the command: what is to be set, and never the credential. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Fs from "node:fs"
import { join } from "node:path"
import { FakeService } from "../../../src/testing/index.ts"
import { needs } from "../../support/needs.ts"
import { clientOf, cluster, hasPrograms, noPostgres } from "../../support/postgres.ts"
import { cli, environment } from "../support.ts"

const secret = "wr0ng-p4ssw0rd"

describe("a password that PostgreSQL refuses", () => {
  it.live("is not in the message, which names where a password is set", (context) => {
    needs(context, hasPrograms, noPostgres)
    return Effect.gen(function*() {
      const server = yield* cluster()
      Fs.writeFileSync(
        join(server.folder, "data", "pg_hba.conf"),
        "host all postgres 127.0.0.1/32 trust\nhost all payroll 127.0.0.1/32 scram-sha-256\n"
      )
      yield* Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql.unsafe("CREATE ROLE payroll LOGIN PASSWORD 'the right one'")
      }).pipe(Effect.provide(clientOf(server.url())))
      // It reads who may log in when it starts. A reload takes effect some time later.
      yield* Effect.promise(() => server.stop("SIGINT"))
      yield* Effect.promise(() => server.start())
      const address = new URL(server.url())
      address.username = "payroll"
      const withPassword = new URL(address)
      withPassword.password = secret
      const commands = [
        ["sync"],
        ["copy", "status"],
        ["payroll", "diff", "--week", "2026-03-02", "--zone", "UTC", "--since", "2026-03-09T00:00:00Z"]
      ]
      for (const command of commands) {
        const ran = [
          yield* cli(command, { env: { ...environment, TIME_PUNCHES_DATABASE_URL: withPassword.href } }),
          yield* cli([...command, "--database", address.href], { env: { ...environment, PGPASSWORD: secret } })
        ]
        for (const { code, stderr, stdout } of ran) {
          assert.deepStrictEqual([code, stdout], [8, ""], stderr)
          assert.match(stderr, /the login was refused \(SQLSTATE 28P01\)/)
          assert.match(stderr, /set PGPASSWORD/)
          assert.notInclude(stderr, secret)
        }
      }
    }).pipe(Effect.scoped, Effect.provide(FakeService.layer()))
  }, 60_000)
})
