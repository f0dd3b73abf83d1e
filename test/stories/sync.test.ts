/** The stories of a sync, by the library in both databases, and by the command into a file. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { DatabaseSync } from "node:sqlite"
import { RetryPolicy } from "../../src/index.ts"
import { Sync, SyncStore } from "../../src/sync/index.ts"
import { FakeService } from "../../src/testing/index.ts"
import { cli, copyStart, inCopyOf, linesOf } from "../cli/support.ts"
import { client, company } from "../support/client.ts"
import { databases } from "../support/databases.ts"
import { needs } from "../support/needs.ts"
import { noPostgres } from "../support/postgres.ts"
import { openSql, type OpenStore } from "../support/stores.ts"
import { hurryTime } from "../support/time.ts"
import { Refused } from "./story.ts"
import { type Copier, playSync, type Summary } from "./sync.ts"
import { storiesIn } from "./tell.ts"

const stories = storiesIn("sync.txt")

/** What failed: as the exit code of the command says it, and by the tag of an error. */
const words: Readonly<Record<string, string>> = {
  5: "forbidden",
  6: "later",
  7: "data",
  Forbidden: "forbidden",
  ServiceUnavailable: "later",
  TransportError: "later",
  DecodeError: "data",
  UnprocessableEntity: "data",
  CursorLost: "data",
  TooManyMissing: "data"
}

const refused = (what: string) => new Refused({ lines: [`fails: ${words[what] ?? what}`] })

const libraryCopier = ({ rows, store }: OpenStore): Copier => {
  const ran = (call: ReturnType<typeof Sync.run>) =>
    call.pipe(
      Effect.flatMap((pass) =>
        pass.resumed ? Effect.map(Sync.run(company), (next) => [pass, next]) : Effect.succeed([pass])
      ),
      Effect.provideService(SyncStore, store),
      Effect.provide(client().pipe(Layer.provide(RetryPolicy.layerNone), Layer.provide(FakeService.layerClient))),
      Effect.mapError((error) => refused(error._tag === "SyncError" ? error.reason._tag : error._tag))
    )
  return {
    sync: () => ran(Sync.run(company)),
    sweep: (_, allowMissing) => ran(Sync.sweep(company, { allowMissing })),
    rows: Effect.map(
      rows(company.id),
      (all) => all.map(({ isMissing, punch: { deleted, id, notes } }) => ({ id, notes, isDeleted: deleted, isMissing }))
    )
  }
}

const commandCopier = (file: string): Copier => {
  const ran = (isTroubled: boolean, ...args: ReadonlyArray<string>) => {
    const call = Effect.suspend(() => cli(["sync", "--database", file, "--json", ...args]))
    // It tries again what fails, within the time that an increment looks back.
    return Effect.flatMap(isTroubled ? hurryTime(call) : call, ({ code, stdout }) => {
      if (code !== 0) return Effect.fail(refused(`${code}`))
      return Effect.succeed(linesOf(stdout).map((line): Summary => JSON.parse(line)))
    })
  }
  return {
    sync: ran,
    sweep: (isTroubled, allowMissing) => ran(isTroubled, "--sweep", "all", ...allowMissing ? ["--allow-missing"] : []),
    rows: Effect.sync(() => {
      const database = new DatabaseSync(file, { readOnly: true })
      const rows = database.prepare("SELECT id, notes, deleted, missing_at FROM time_punches ORDER BY id").all()
      database.close()
      return rows.map((row) => ({
        id: Number(row["id"]),
        notes: String(row["notes"]),
        isDeleted: row["deleted"] === 1,
        isMissing: row["missing_at"] !== null
      }))
    })
  }
}

for (const { client, isHere, name } of databases()) {
  describe(`A sync into ${name}`, () => {
    for (const [title, story] of stories) {
      it.effect(title, (context) => {
        needs(context, isHere, noPostgres)
        return Effect.gen(function*() {
          yield* TestClock.setTime(copyStart)
          assert.strictEqual(yield* playSync(story, libraryCopier(yield* openSql(client))), story)
        }).pipe(Effect.scoped, Effect.provide(FakeService.layer()))
      })
    }
  })
}

describe("A sync by the command", () => {
  for (const [title, story] of stories) {
    it.effect(
      title,
      () =>
        inCopyOf([])((file) =>
          Effect.map(playSync(story, commandCopier(file)), (told) => assert.strictEqual(told, story))
        )
    )
  }
})
