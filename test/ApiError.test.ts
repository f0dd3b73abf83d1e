import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Duration, Effect, Option, Predicate, Schema } from "effect"
import { ConnectionError, ConstraintError, SqlError, UnknownError } from "effect/sql/SqlError"
import * as Fs from "node:fs"
import manifest from "../package.json" with { type: "json" }
import { commandFailureOf } from "../src/cli/describe.ts"
import {
  CloseChanged,
  CloseError,
  isCloseError,
  NotReady,
  PeriodClosed,
  UnknownClose,
  VerificationFailed
} from "../src/close/CloseError.ts"
import { CloseNumber, RevisionId } from "../src/close/ids.ts"
import { FleetError, isFleetError } from "../src/fleet/FleetError.ts"
import * as FleetReason from "../src/fleet/FleetReason.ts"
import {
  BackfillError,
  CompanyId,
  Cursor,
  DecodeError,
  Forbidden,
  getAdvice,
  InvalidPunch,
  InvalidRequest,
  isListError,
  LimitReached,
  ListError,
  PaginationError,
  RateLimited,
  ServerError,
  ServiceUnavailable,
  TokenError,
  TransportError,
  Unauthorized,
  UnexpectedStatus,
  UnprocessableEntity
} from "../src/index.ts"
import { isSyncError, SyncError } from "../src/sync/SyncError.ts"
import * as SyncReason from "../src/sync/SyncReason.ts"

/** One of each, made as a mock makes it: with the required fields only. */
const plain: ReadonlyArray<readonly [ListError["_tag"], string, ListError]> = [
  ["Unauthorized", "401 the credential was not accepted", new Unauthorized({})],
  ["Forbidden", "403 the credential may not do this", new Forbidden({})],
  ["UnprocessableEntity", "422 the service refused a parameter", new UnprocessableEntity({})],
  ["ServerError", "500 the service failed", new ServerError({})],
  ["RateLimited", "429 too many requests", new RateLimited({})],
  ["ServiceUnavailable", "503 the service cannot be reached for now", new ServiceUnavailable({})],
  ["UnexpectedStatus", "302 is not a status of this interface", new UnexpectedStatus({ status: 302 })],
  ["TransportError", "no whole response: Connect", new TransportError({ reason: "Connect" })],
  ["DecodeError", "the response cannot be read (NotJson)", new DecodeError({ reason: "NotJson" })],
  ["LimitReached", "the listing stopped (MaxPages): ", new LimitReached({ reason: "MaxPages" })],
  ["PaginationError", "the listing stopped (CursorCycle): ", new PaginationError({ reason: "CursorCycle" })],
  ["InvalidRequest", "invalid pageSize: too small", new InvalidRequest({ field: "pageSize", detail: "too small" })],
  ["TokenError", "no token: InvalidClient", new TokenError({ reason: "InvalidClient" })]
]

describe.each(plain)("%s", (tag, message, error) => {
  it("needs only the fields that distinguish it, and has a default for the others", () => {
    assert.deepInclude(error, {
      _tag: tag,
      companyId: CompanyId.make(1),
      resumeFrom: Option.none(),
      pagesCompleted: 0,
      attempts: tag === "InvalidRequest" || tag === "TokenError" ? 0 : 1,
      ...(tag === "InvalidRequest" ? {} : { requestId: Option.none() })
    })
    assert.isTrue(error.message.startsWith(message), error.message)
    assert.include(error.message, "company 1")
  })

  it("is an Error, a value of its schema, and caught by its tag", () => {
    assert.instanceOf(error, Error)
    assert.isTrue(Schema.is(ListError)(error))
    assert.include(String(error), error.message)
    assert.strictEqual(
      Effect.runSync(
        Effect.fail(error).pipe(
          Effect.catchTag(tag, (caught) => Effect.succeed(caught._tag)),
          Effect.orDie
        )
      ),
      tag
    )
  })
})

const Fields = Schema.Struct({
  company: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  cursor: Schema.NullOr(Cursor),
  pages: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1e6 })),
  attempts: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })),
  status: Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 999 })),
  wait: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1e9 }))),
  text: Schema.NullOr(Schema.Union([Schema.String, Schema.Literals(["\u001b[2J\nlog line", "\u2028", "\u202e"])])),
  code: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1e6 })))
})

/** JSON has no -0. */
const number = (value: number) => value === 0 ? 0 : value

/** Every error with fields of every kind. */
const AnyError = Arbitrary.map(Arbitrary.schema(Fields), (fields): ReadonlyArray<ListError> => {
  const { attempts, code, cursor, pages, status, text, wait } = fields
  const where = {
    companyId: CompanyId.make(number(fields.company)),
    resumeFrom: Option.fromNullOr(cursor),
    pagesCompleted: number(pages),
    attempts: number(attempts)
  }
  const problem = {
    ...(text === null ? {} : { title: text, detail: text, type: text, param: text }),
    ...(code === null ? {} : { code, status: code })
  }
  const ofStatus = { ...where, problem, status }
  const words = text ?? ""
  return [
    new Unauthorized(ofStatus),
    new Forbidden(ofStatus),
    new UnprocessableEntity(ofStatus),
    new ServerError(ofStatus),
    new RateLimited({
      ...ofStatus,
      retryAfter: Option.map(Option.fromNullOr(wait), (millis) => Duration.millis(number(millis)))
    }),
    new ServiceUnavailable(ofStatus),
    new UnexpectedStatus(ofStatus),
    new TransportError({
      ...where,
      reason: "Tls",
      code: Option.as(Option.fromNullOr(text), "EPROTO"),
      origin: Option.fromNullOr(text)
    }),
    new DecodeError({ ...where, reason: "Schema", path: words, detail: words, punchId: Option.fromNullOr(code) }),
    ...PaginationError.fields.reason.literals.map((reason) => new PaginationError({ ...where, reason })),
    ...LimitReached.fields.reason.literals.map((reason) => new LimitReached({ ...where, reason })),
    new InvalidRequest({ ...where, field: words, detail: words }),
    new TokenError({ ...where, reason: "Throttled", status: Option.fromNullOr(code) }),
    new TokenError({
      ...where,
      reason: "Transport",
      transport: Option.some({ reason: "Connect", code: Option.some(words), origin: words })
    })
  ]
})

describe("the kind of an error", () => {
  const tokens = TokenError.fields.reason.literals.map((reason) => new TokenError({ reason }))
  const page = Fs.readFileSync(new URL("../docs/05-errors-and-retries.md", import.meta.url), "utf8")
  /** The tags and reasons that a row of the page names, and its exit code. */
  const rows = new Map(
    [...page.matchAll(/^\| `(\w+)` +\| ([^|]*) \| (\d) /gm)].map(([, kind = "", errors = "", code = ""]) =>
      [kind, { names: [...errors.matchAll(/`(\w+)`/g)].flatMap(([, name = ""]) => name), code: Number(code) }] as const
    )
  )

  it("is the one under which the page lists it, with the exit code of the command", () => {
    const found = [
      ...plain.map(([name, , error]) => ({ name, error })),
      ...tokens.map((error) => ({ name: error.reason, error }))
    ]
    for (const { error, name } of found) {
      const row = rows.get(error.kind)
      assert.strictEqual(row?.names.find((each) => each === name), name)
      // A limit of the call ends good rows: neither a wrong call nor a bad answer.
      assert.strictEqual(name === "LimitReached" ? 7 : row?.code, commandFailureOf(error).code)
    }
    assert.lengthOf([...rows], 6)
  })

  it("of a token is the reason's", () => {
    assert.deepStrictEqual(Object.fromEntries(tokens.map(({ kind, reason }) => [reason, kind])), {
      InvalidClient: "credential",
      Rejected: "credential",
      Transport: "service",
      Malformed: "service",
      Throttled: "throttled",
      Lookup: "service"
    })
  })
})

describe("an error that may be retried", () => {
  const transports = TransportError.fields.reason.literals.map((reason) => new TransportError({ reason }))
  const decodes = DecodeError.fields.reason.literals.map((reason) => new DecodeError({ reason }))
  const tokens = TokenError.fields.reason.literals.map((reason) => new TokenError({ reason }))
  const retryable = (errors: ReadonlyArray<ListError & { readonly reason: string }>) =>
    errors.filter(({ isRetryable }) => isRetryable).map(({ reason }) => reason)

  it("is one that time alone may cure", () => {
    assert.deepStrictEqual(plain.filter(([, , error]) => error.isRetryable).map(([tag]) => tag), [
      "ServerError",
      "RateLimited",
      "ServiceUnavailable",
      "TransportError",
      "DecodeError"
    ])
    assert.deepStrictEqual(retryable(transports), ["Connect", "Headers", "Body", "Timeout", "Unknown"])
    assert.deepStrictEqual(retryable(decodes), ["NotJson", "Empty", "ContentType"])
    assert.deepStrictEqual(retryable(tokens), ["Transport", "Throttled"])
  })

  it("is not a token whose endpoint has a bad certificate", () => {
    const of = (reason: "Tls" | "Connect") =>
      new TokenError({
        reason: "Transport",
        transport: Option.some({ reason, code: Option.none(), origin: "https://a.test" })
      })

    assert.deepStrictEqual([of("Tls").isRetryable, of("Connect").isRetryable], [false, true])
  })

  it("is a backfill whose cause is one", () => {
    assert.isTrue(new BackfillError({ cause: new ServerError({}), unfinished: [] }).isRetryable)
    assert.isFalse(new BackfillError({ cause: new Forbidden({}), unfinished: [] }).isRetryable)
  })

  it("is a sync or a fleet that something else stopped, or whose database may recover", () => {
    const connection = new SqlError({ reason: new ConnectionError({ cause: new Error("ECONNRESET") }) })
    const companyId = CompanyId.make(1)
    const constraint = new SqlError({ reason: new ConstraintError({ cause: new Error("duplicate key") }) })
    const shutdown = Object.assign(new Error("terminating connection"), { code: "57P01" })
    const isRetryable = (errors: ReadonlyArray<SyncError | FleetError>) => errors.map((error) => error.isRetryable)
    const sync = (cause: unknown) => new SyncError({ companyId, reason: new SyncReason.Store({ cause }) })
    const fleet = (cause: unknown) => new FleetError({ reason: new FleetReason.Store({ cause }) })

    const reasons = [
      new SyncReason.Checkpoint({}),
      new SyncReason.NewerCheckpoint({}),
      new SyncReason.CursorLost({}),
      new SyncReason.Superseded({}),
      new SyncReason.TooManyMissing({ missing: 101, rows: 200 }),
      new SyncReason.Store({})
    ]
    assert.deepStrictEqual(
      reasons.map((reason) => [reason._tag, new SyncError({ companyId, reason }).isRetryable]),
      [["Checkpoint", false], ["NewerCheckpoint", false], ["CursorLost", true], ["Superseded", true], [
        "TooManyMissing",
        false
      ], ["Store", false]]
    )
    assert.deepStrictEqual(
      reasons.map(({ _tag }) => _tag),
      SyncReason.Reason.members.map((each) => each.fields._tag.schema.literal)
    )
    assert.deepStrictEqual(
      [new FleetReason.NotMigrated({}), new FleetReason.AlreadyRunning({}), new FleetReason.Store({})].map((reason) => [
        reason._tag,
        new FleetError({ reason }).isRetryable
      ]),
      [["NotMigrated", false], ["AlreadyRunning", false], ["Store", false]]
    )
    assert.deepStrictEqual(
      isRetryable([sync(connection), sync(constraint), sync(new Error("disk")), sync("isRetryable")]),
      [true, false, false, false]
    )
    assert.deepStrictEqual(
      isRetryable([
        fleet(connection),
        fleet(constraint),
        fleet(new SqlError({ reason: new UnknownError({ cause: shutdown }) })),
        fleet(shutdown)
      ]),
      [true, false, true, false]
    )
  })

  it("has advice, and advice to wait exactly if nothing else helps", () => {
    for (const error of [...plain.map(([, , error]) => error), ...transports, ...tokens]) {
      assert.match(getAdvice(error), /^[A-Z].+\.$/)
      if (error._tag !== "DecodeError") {
        assert.strictEqual(getAdvice(error).includes("try again later"), error.isRetryable, `${error.message}`)
      }
    }
  })

  it("is advised about by what it says of itself", () => {
    const cursor = new UnprocessableEntity({ problem: { param: "cursor" } })

    assert.include(getAdvice(cursor), "without a cursor")
    assert.include(getAdvice(new TransportError({ reason: "Tls" })), "NODE_EXTRA_CA_CERTS")
    assert.include(getAdvice(new TransportError({ reason: "Connect" })), "Nothing answers there: check the base URL (")
    assert.include(
      getAdvice(new TransportError({ reason: "Connect", origin: Option.some("https://api.example.com") })),
      "Nothing answers at https://api.example.com: check the base URL ("
    )
    const transport = Option.some({
      reason: "Connect" as const,
      code: Option.none(),
      origin: "https://auth.example.com"
    })
    assert.include(
      getAdvice(new TokenError({ reason: "Transport", transport })),
      "Nothing answers at https://auth.example.com: check the auth URL ("
    )
    assert.include(getAdvice(new LimitReached({ reason: "MaxPages" })), "maxPages")
    assert.include(getAdvice(new LimitReached({ reason: "Deadline" })), "deadline")
    assert.include(getAdvice(new TokenError({ reason: "Lookup" })), "lookup")
  })

  it("names a setting by its option and by its variable: a program may use either", () => {
    const advised = [...plain.map(([, , error]) => error), ...tokens].map(getAdvice)
    const options = {
      BASE_URL: "baseUrl",
      AUTH_URL: "authUrl",
      CLIENT_ID: "clientId",
      CLIENT_SECRET: "clientSecret",
      SCOPES: "scopes"
    }

    for (const [variable, option] of Object.entries(options)) {
      const naming = advised.filter((advice) => advice.includes(`TIME_PUNCHES_${variable}`))
      assert.isNotEmpty(naming, variable)
      for (const advice of naming) assert.match(advice, new RegExp(`\\(.*\\b${option}\\b.*TIME_PUNCHES_${variable}`))
    }
  })
})

describe("TransportError", () => {
  it("names what failed, and the origin that did not answer", () => {
    const error = new TransportError({
      reason: "Connect",
      code: Option.some("ECONNREFUSED"),
      origin: Option.some("https://api.test:8443")
    })

    assert.strictEqual(
      error.message,
      "no whole response from https://api.test:8443: Connect (ECONNREFUSED) [company 1, page 1, 1 request]"
    )
  })
})

describe("TokenError", () => {
  it("names the status and the error code of the token response", () => {
    const error = new TokenError({ reason: "Rejected", status: Option.some(400), code: Option.some("invalid_scope") })

    assert.strictEqual(error.message, "no token: Rejected (400 invalid_scope) [company 1, page 1, 0 token requests]")
    assert.deepStrictEqual(new TokenError({ reason: "Malformed" }).code, Option.none())
  })

  it("[row 19] says how long the endpoint asks to wait", () => {
    const error = new TokenError({
      reason: "Throttled",
      status: Option.some(429),
      retryAfter: Option.some(Duration.seconds(90))
    })

    assert.strictEqual(
      error.message,
      "no token: Throttled (429), retry after 1m 30s [company 1, page 1, 0 token requests]"
    )
  })

  it.each(
    [
      ["Tls", "CERT_HAS_EXPIRED", "Tls (CERT_HAS_EXPIRED) at https://auth.test"],
      ["Timeout", undefined, "Timeout at https://auth.test"]
    ] as const
  )("[row 19] names why no whole response arrived, and from where: %s %s", (reason, code, text) => {
    const transport = Option.some({ reason, code: Option.fromUndefinedOr(code), origin: "https://auth.test" })
    const error = new TokenError({ reason: "Transport", transport, attempts: 1 })

    assert.strictEqual(error.message, `no token: Transport: ${text} [company 1, page 1, 1 token request]`)
  })
})

describe("isListError", () => {
  it.each(plain)("is true of %s", (_tag, _message, error) => {
    assert.isTrue(isListError(error))
  })

  it.each([
    ["an InvalidPunch", new InvalidPunch({ index: 0, path: "id" })],
    ["a SyncError", new SyncError({ companyId: CompanyId.make(1), reason: new SyncReason.Store({}) })],
    ["a record with its fields", { ...new Forbidden({}) }],
    ["an Error", new Error("Forbidden")],
    ["nothing", undefined]
  ])("is false of %s", (_name, value) => {
    assert.isFalse(isListError(value))
  })
})

describe("the guards of the other unions", () => {
  const companyId = CompanyId.make(1)
  const revisions = [{ id: RevisionId.make("1.1"), people: [], cause: "edited" }]
  const closes = [
    [new NotReady({ companyId, found: { open: 1 }, issues: [], details: [] }), false],
    [new PeriodClosed({ companyId, close: CloseNumber.make(2), detail: "2026-03-02" }), false],
    [new UnknownClose({ companyId, given: "9", detail: "no such close" }), false],
    [new CloseChanged({ companyId, detail: "another process wrote" }), true],
    [new VerificationFailed({ companyId, revisions }), false]
  ] as const

  it("know each error of their union, and no other", () => {
    const [sync, fleet] = [
      new SyncError({ companyId, reason: new SyncReason.Superseded({}) }),
      new FleetError({ reason: new FleetReason.Store({}) })
    ]

    assert.deepStrictEqual([sync, fleet, {}].map(isSyncError), [true, false, false])
    assert.deepStrictEqual([sync, fleet, {}].map(isFleetError), [false, true, false])
    assert.deepStrictEqual(closes.map(([error]) => isCloseError(error)), closes.map(() => true))
    assert.deepStrictEqual([sync, fleet, {}].map(isCloseError), [false, false, false])
  })

  it.each(closes)("say of a close whether the same call may succeed later: $0._tag", (error, isRetryable) => {
    assert.strictEqual(error.isRetryable, isRetryable)
  })
})

describe("ListError", () => {
  it("has a member for each tag", () => {
    assert.sameMembers(ListError.members.map(({ fields }) => fields._tag.schema.literal), plain.map(([tag]) => tag))
  })

  it.prop("survives JSON as the same error of the same class", [AnyError], ([errors]) => {
    const codec = Schema.toCodecJson(ListError)
    for (const error of errors) {
      for (const schema of [ListError, codec]) {
        const sent: unknown = JSON.parse(JSON.stringify(Schema.encodeSync(schema)(error)))
        const read = Schema.decodeUnknownSync(schema)(sent)

        assert.strictEqual(read.constructor, error.constructor)
        assert.deepStrictEqual({ ...read }, { ...error })
        assert.strictEqual(read.message, error.message)
      }
    }
  }, { arbitrary: { runs: 100, seed: 1 } })

  it.prop("has messages of one printable line, whatever text the service sends", [AnyError], ([errors]) => {
    for (const { message } of errors)
      assert.notMatch(message, /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/u)
  }, { arbitrary: { runs: 100, seed: 2 } })

  it.prop("has no cursor in its messages, because a cursor holds a record's id", [AnyError], ([errors]) => {
    for (const error of errors) {
      const cursor = Option.getOrUndefined(error.resumeFrom)
      if (cursor !== undefined && cursor.length > 12) assert.notInclude(error.message, cursor)
    }
  }, { arbitrary: { runs: 100, seed: 3, size: 30 } })

  it("decodes an error only with all its fields, of its types", () => {
    const decode = Schema.decodeUnknownOption(ListError)

    assert.isTrue(Option.isNone(decode({ _tag: "Forbidden" })))
    assert.isTrue(Option.isNone(decode({ ...Schema.encodeSync(ListError)(new Forbidden({})), resumeFrom: "" })))
    assert.isTrue(Option.isNone(decode({ ...Schema.encodeSync(ListError)(new Forbidden({})), _tag: "Other" })))
  })
})

describe("the message of an error", () => {
  const where = { companyId: CompanyId.make(7), pagesCompleted: 2, attempts: 4 }

  it("has the problem and the place in the run", () => {
    const problem = {
      type: "/problems/422",
      title: "Unprocessable",
      detail: "no such flag",
      code: 2100,
      param: "flags"
    }

    assert.strictEqual(
      new UnprocessableEntity({ ...where, problem }).message,
      "422 the service refused a parameter: Unprocessable: no such flag (code 2100, param flags) [company 7, page 3, 4 requests]"
    )
    assert.strictEqual(
      new ServerError({ problem: { detail: "later" } }).message,
      "500 the service failed: later [company 1, page 1, 1 request]"
    )
  })

  it("has a sentence for each reason to stop", () => {
    const stops = [
      ...PaginationError.fields.reason.literals.map((reason) => new PaginationError({ ...where, reason })),
      ...LimitReached.fields.reason.literals.map((reason) => new LimitReached({ ...where, reason }))
    ]

    assert.deepStrictEqual(stops.map(({ message }) => message), [
      "the listing stopped (CursorCycle): the page leads to a cursor that this run has already requested [company 7, page 3, 4 requests]",
      "the listing stopped (WrongObject): the page lists another kind of object than time punches [company 7, page 3, 4 requests]",
      "the listing stopped (CountMismatch): the page does not have as many rows as it counts [company 7, page 3, 4 requests]",
      "the listing stopped (EmptyPages): too many pages in a row were empty [company 7, page 3, 4 requests]",
      "the listing stopped (MaxPages): the listing has more pages than maxPages allows [company 7, page 3, 4 requests]",
      "the listing stopped (Deadline): the time that deadline allows is over [company 7, page 3, 4 requests]"
    ])
  })

  it("has the wait of a RateLimited", () => {
    const { message } = new RateLimited({ retryAfter: Option.some(Duration.seconds(90)) })

    assert.match(message, /retry after 1m 30s/)
    for (const wait of [Duration.days(366), Duration.seconds(1e20), Duration.infinity]) {
      assert.match(new RateLimited({ retryAfter: Option.some(wait) }).message, /retry after more than a year \[/)
    }
  })

  it("has the status itself, where it is not the usual one of the error", () => {
    assert.match(new ServiceUnavailable({ status: 408 }).message, /^408 /)
  })

  it("has the path in the body and the id of the punch", () => {
    const error = new DecodeError({
      ...where,
      reason: "Schema",
      path: "data[3].clocked_in",
      detail: "Expected an instant",
      punchId: Option.some(31)
    })

    assert.strictEqual(
      error.message,
      "the response cannot be read (Schema) at data[3].clocked_in of punch 31: Expected an instant [company 7, page 3, 4 requests]"
    )
  })

  it("keeps text of any language", () => {
    const detail = "naïve “café” 🧑‍🍳 בדיקה 日本語"

    assert.include(new Forbidden({ problem: { detail } }).message, detail)
  })

  it("cuts a problem of many kilobytes", () => {
    const { message } = new Forbidden({ problem: { detail: "x".repeat(60_000), title: "y".repeat(60_000) } })

    assert.isBelow(message.length, 1500)
  })
})

describe("InvalidPunch", () => {
  it("needs an index and a path, and names its punch where the id is known", () => {
    const bare = new InvalidPunch({ index: 3, path: "clocked_in" })
    const known = new InvalidPunch({
      index: 3,
      path: "clocked_in",
      punchId: Option.some(31),
      detail: "Expected\nan instant"
    })

    assert.strictEqual(bare.message, "a punch cannot be read at clocked_in")
    assert.strictEqual(known.message, "punch 31 cannot be read at clocked_in: Expected\\u000aan instant")
  })

  it("survives JSON", () => {
    const sent: unknown = JSON.parse(
      JSON.stringify(Schema.encodeSync(InvalidPunch)(new InvalidPunch({ index: 0, path: "" })))
    )

    assert.deepStrictEqual({ ...Schema.decodeUnknownSync(InvalidPunch)(sent) }, {
      ...new InvalidPunch({ index: 0, path: "" })
    })
  })
})

describe("Every error that an entry exports", () => {
  const files = Object.entries(manifest.exports).flatMap(([entry, file]) =>
    // The constructor of an error without Effect requires the field, by its type.
    entry === "./promise" || entry.includes("*") || !Predicate.hasProperty(file, "effect-time-punches:source")
      ? []
      : [[entry, file["effect-time-punches:source"]] as const]
  )
  const errorsOf = (exported: object) =>
    [exported, ...Object.values(exported).filter(Predicate.isObject)].flatMap((each) => Object.values(each))
      .filter((each) => Predicate.isFunction(each) && each.prototype instanceof Error)

  it.each(files)("says whether the same call may succeed later: %s", async (_entry, file) => {
    for (const error of errorsOf(await import(`../${file}`))) {
      assert.isTrue("isRetryable" in error.prototype, error.name)
      // A field of that name would hide the name of the error in a log.
      assert.notProperty(error.fields, "name", error.name)
    }
  })

  it("is found among the exports", async () => {
    const found = errorsOf(await import("../src/close/index.ts")).map(({ name }) => name)

    assert.sameMembers(found, CloseError.members.map(({ name }) => name))
  })
})

describe("the advice about a problem in the words of the service", () => {
  it.each<readonly [number, UnexpectedStatus["problem"], RegExp]>([
    [400, { param: "company_id", detail: "Unknown." }, /^Check the id of the company, and its guid/],
    [404, { param: "x-company-guid" }, /^Check the id of the company/],
    [400, { param: "x-api-version", title: "Bad Request" }, /^Change the API version .*TIME_PUNCHES_API_VERSION/],
    [400, { param: "user_id", detail: "Not a number." }, /^Change user_id or leave it out/],
    [402, { title: "Payment required", detail: "The plan has ended." }, /^Report what the service says\.$/],
    [400, { detail: "No." }, /^Report what the service says\.$/],
    [404, { detail: "Unknown path." }, /^Check the base URL .* If it is right, report what it says\.$/],
    [400, {}, /^Check the base URL/],
    [302, {}, /^Check the base URL/]
  ])("of %d with %j is %s", (status, problem, advice) => {
    assert.match(getAdvice(new UnexpectedStatus({ status, problem })), advice)
  })

  it("of a 422 names what was refused", () => {
    assert.match(getAdvice(new UnprocessableEntity({ problem: { param: "role_id" } })), /^Change role_id/)
    assert.match(getAdvice(new UnprocessableEntity({})), /^Change the filter, the order or the API version/)
  })

  it("of a 401 names the plan and the technical contact too", () => {
    assert.match(getAdvice(new Unauthorized({})), /^Replace the credential\. .*plan.*technical contact/)
  })
})
