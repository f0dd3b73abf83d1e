/** The databases of a copy for tests, a fixture that gives each test a client, and a client with hooks around its statements. */
import { afterAll, it } from "@effect/vitest"
import { Effect, Layer, ManagedRuntime, type Scope } from "effect"
import { SqlClient, type SqlError, Statement } from "effect/sql"
import { NodeSqlite } from "../../src/sql/node/index.ts"
import { needs } from "./needs.ts"
import { hasPostgres, noPostgres, Schemas } from "./postgres.ts"

export interface TestDatabase {
  readonly name: "SQLite" | "PostgreSQL"
  readonly dialect: "sqlite" | "pg"
  readonly isHere: boolean
  /** An empty database, or an empty schema, for each build of the layer. */
  readonly client: Layer.Layer<SqlClient.SqlClient, SqlError.SqlError>
}

/** SQLite in memory, and schemas of one server of PostgreSQL that ends with the file. */
export const databases = (): readonly [sqlite: TestDatabase, postgres: TestDatabase] => {
  const server = ManagedRuntime.make(Schemas.layer)
  afterAll(() => server.dispose())
  const schema = Layer.unwrap(
    Effect.map(Effect.provide(Schemas, Layer.effectContext(server.contextEffect)), ({ client }) => client)
  )
  return [
    { name: "SQLite", dialect: "sqlite", isHere: true, client: NodeSqlite.layer({ filename: ":memory:" }) },
    { name: "PostgreSQL", dialect: "pg", isHere: hasPostgres, client: schema }
  ]
}

/** Tests of a database, each with what is opened over a new client. */
export const itWithDatabase = <A>(
  { client, isHere }: TestDatabase,
  open: (client: TestDatabase["client"]) => Effect.Effect<A, unknown, Scope.Scope>
) =>
(title: string, body: (opened: A) => Effect.Effect<void, unknown, Scope.Scope>) =>
  it.live(title, (context) => {
    needs(context, isHere, noPostgres)
    return Effect.scoped(Effect.flatMap(open(client), body))
  })

/** What happens around the statements of a client. */
export interface Hooks {
  /** Before a statement. */
  readonly before?: (text: string, parameters: ReadonlyArray<unknown>) => Effect.Effect<unknown, SqlError.SqlError>
  /** Before a transaction. */
  readonly beforeBegin?: Effect.Effect<unknown, SqlError.SqlError>
  /** At the end of a transaction, before its COMMIT. */
  readonly beforeCommit?: Effect.Effect<unknown, SqlError.SqlError>
  /** After its COMMIT. */
  readonly afterCommit?: Effect.Effect<unknown, SqlError.SqlError>
}

/** The client with these hooks, which are read at each statement. */
export const hookedClient = (real: SqlClient.SqlClient, hooks: () => Hooks): SqlClient.SqlClient => {
  const nothing = Effect.void
  const hooked = (statement: Statement.Statement<unknown>) => {
    const before = Effect.suspend(() => hooks().before?.(...statement.compile()) ?? nothing)
    // A statement is also a part of another one.
    return Object.assign(Effect.andThen(before, statement), Statement.fragment(statement.segments), {
      unprepared: statement.unprepared,
      values: Effect.andThen(before, statement.values),
      stream: statement.stream
    })
  }
  const overrides: Readonly<Record<PropertyKey, unknown>> = {
    withoutTransforms: () => client,
    unsafe: (text: string, parameters: ReadonlyArray<unknown>) => hooked(real.unsafe(text, parameters)),
    withTransaction: <A, E, R>(body: Effect.Effect<A, E, R>) =>
      Effect.suspend(() => hooks().beforeBegin ?? nothing).pipe(
        Effect.andThen(real.withTransaction(Effect.tap(body, () => hooks().beforeCommit ?? nothing))),
        Effect.tap(() => hooks().afterCommit ?? nothing)
      )
  }
  const client: SqlClient.SqlClient = new Proxy(real, {
    apply: (target, self, parts) => {
      const made: unknown = Reflect.apply(target, self, parts)
      return isStatement(made) ? hooked(made) : made
    },
    get: (target, key, receiver) => key in overrides ? overrides[key] : Reflect.get(target, key, receiver)
  })
  return client
}

const isStatement = (made: unknown): made is Statement.Statement<unknown> =>
  Statement.isFragment(made) && Effect.isEffect(made)
