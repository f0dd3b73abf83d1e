/** Closes in the tables of a copy: what is read of them, what is written, and whether the history gives a revision again. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Row } from "effect/sql/SqlConnection"
import { isSqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import { Cents, type CompanyId, DepartmentId, LocationId, RoleId, UserId } from "../Ids.ts"
import { type Database, numberOf, orUndefined, raw } from "../internal/sql/dialect.ts"
import { messageOf } from "../internal/sql/failure.ts"
import { retried, transact } from "../internal/sql/transaction.ts"
import { firstIssue } from "../internal/wire/issue.ts"
import type * as Period from "../payroll/Period.ts"
import { storable } from "../sql/columns.ts"
import { failedWith, inOneState, opened } from "../sql/connection.ts"
import type { Dialect } from "../sql/Dialect.ts"
import { readKnown, unavailable } from "../sql/known.ts"
import { type CopyListOptions, listWithin } from "../sql/read.ts"
import { storeFailed, type SyncError } from "../sync/SyncError.ts"
import { CloseChanged, notFound, OutcomeUnknown, refusal, type VerificationFailed } from "./CloseError.ts"
import { type CloseRow, type CloseSums, difference, sum } from "./CloseSums.ts"
import { CloseTerms, queryWindow } from "./CloseTerms.ts"
import { newestRevision, RecordedRevision, Revision, termsAt } from "./Revision.ts"
import * as RevisionId from "./RevisionId.ts"
import { CodesText, type FileForm, FileNote, MappingText, textsOf, type WrittenFile } from "./WrittenFile.ts"

/** The number of the rules by which a revision is summed. It changes with a release that sums in another way. */
export const sumRules = 1

export type Db = Database<Dialect>

/** The tables of this release: a later one may record what this one would sum in another way. */
export const openedForCloses = (company: CompanyId) => opened(company, "none")

/**
 * Runs an effect whose statements all see one snapshot of the database, and again if the connection is lost: it only reads.
 * Readers leave the errors of their statements to it, and to `write`.
 */
export const inCopy = <A, E, R>(
  company: CompanyId,
  use: (database: Db) => Effect.Effect<A, E, R>
) =>
  retried(Stream.runHead(
    inOneState(
      Stream.fromEffect(Effect.flatMap(openedForCloses(company), use)),
      "none"
    )
  )).pipe(
    Effect.map(Option.getOrThrow),
    Effect.catchIf(isSqlError, (error) => Effect.fail(failedWith(company, "the copy cannot be read")(error)))
  )

/** What is read of the copy. */
export interface Copy {
  /** Since when its history is known. */
  readonly since: DateTime.Utc
  /** The instant of its last commit. */
  readonly at: DateTime.Utc
  /** When the last complete pass began, by the service's clock. */
  readonly passBegan: DateTime.Utc | undefined
}

export const readCopy = Effect.fnUntraced(function*(database: Db, company: CompanyId) {
  const known = yield* readKnown(database, company)
  const { last, passBegan, since } = known
  if (since === undefined) return yield* unavailable(company, known)
  return {
    since: DateTime.makeUnsafe(since),
    at: DateTime.makeUnsafe(last),
    passBegan: passBegan === undefined ? undefined : DateTime.makeUnsafe(passBegan)
  } satisfies Copy
})

/** A revision as it is stored, without its sums. */
export interface StoredRevision extends Omit<RecordedRevision, "first" | "last" | "rows"> {
  readonly number: number
  /** Random, one for each write. */
  readonly token: string
}

export interface StoredClose {
  readonly close: number
  readonly terms: CloseTerms
  readonly revisions: ReadonlyArray<StoredRevision>
}

/** A close with an active revision. */
export interface ActiveClose {
  readonly close: number
  readonly newest: StoredRevision
  /** How many revisions it has. */
  readonly count: number
  /** The terms of the newest revision, with the locations that were added. */
  readonly terms: CloseTerms
}

export const activeOf = (closes: ReadonlyArray<StoredClose>): ReadonlyArray<ActiveClose> =>
  closes.flatMap((close) =>
    Option.toArray(newestRevision(close.revisions)).map((newest) => ({
      close: close.close,
      newest,
      count: close.revisions.length,
      terms: termsAt(close, newest)
    }))
  )

/** The columns behind the key of each table, in the order of its statements. */
const columnsOf = {
  revision: [
    "before",
    "kind",
    "at",
    "closed_at",
    "user_name",
    "note",
    "accepted",
    "added",
    "release",
    "rules",
    "token"
  ],
  row: [
    "place",
    "user_id",
    "location_id",
    "department_id",
    "role_id",
    "punches",
    "incomplete",
    "net_ms",
    "cost_cents",
    "tips_cents",
    "hourly_wage",
    "over_ms",
    "double_ms"
  ],
  file: ["place", "noted_at", "user_name", "mapping", "mapping_hash", "codes", "codes_hash", "token"]
} as const

const keyColumns = "company_id, close_id, number"

const instants: ReadonlySet<string> = new Set(["at", "closed_at", "noted_at"])

const optional = (value: unknown): Option.Option<number> => Option.fromUndefinedOr(orUndefined(value))

const TermsText = Schema.fromJsonString(CloseTerms)
const AddedText = Schema.fromJsonString(RecordedRevision.to.fields.added)
const AcceptedText = Schema.fromJsonString(Revision.to.fields.accepted)

/** The row of a revision, as a driver returns it. */
const RevisionRow = Schema.Struct({
  kind: Revision.to.fields.kind,
  user_name: Schema.String,
  note: Schema.String,
  release: Schema.String,
  accepted: AcceptedText,
  added: AddedText,
  token: Schema.String
})

/** The columns of a table as a reader takes them. */
const selected = ({ dialect: { millisOf }, sql }: Db, names: ReadonlyArray<string>) =>
  Statement.csv(names.map((name) => instants.has(name) ? sql`${millisOf(name)} AS ${raw(name)}` : raw(name)))

const fileNoteColumns = ["noted_at", "user_name", "mapping_hash", "codes_hash"] as const

const FileNoteRow = Schema.Struct({
  user_name: Schema.String,
  mapping_hash: FileNote.fields.mappingHash,
  codes_hash: FileNote.fields.codesHash
})

const fileNoteOf = (company: CompanyId, row: Row): Effect.Effect<FileNote, SyncError> =>
  Effect.map(decodeStored(company, FileNoteRow, row), (texts) => ({
    at: DateTime.makeUnsafe(numberOf(row["noted_at"])),
    user: texts.user_name,
    mappingHash: texts.mapping_hash,
    codesHash: texts.codes_hash
  }))

const FileTexts = Schema.Struct({ mapping: MappingText, codes: CodesText })

/** The files of a company that were written out, the oldest of each revision first. */
export const readFiles = Effect.fnUntraced(function*(database: Db, company: CompanyId) {
  const { dialect: { bigint, tables }, sql } = database
  const query = sql<Row>
  const rows = yield* query`SELECT close_id, number, mapping, codes, token, ${selected(database, fileNoteColumns)}
    FROM ${tables.closeFile}
    WHERE company_id = ${bigint(company)}
    ORDER BY close_id, number, place`
  return yield* Effect.forEach(
    rows,
    Effect.fnUntraced(function*(row) {
      const id = { close: numberOf(row["close_id"]), number: numberOf(row["number"]) }
      const { codes, mapping } = yield* decodeStored(company, FileTexts, row)
      const file = { revision: RevisionId.print(id), ...yield* fileNoteOf(company, row), mapping, codes }
      return { ...id, token: row["token"], file: file satisfies WrittenFile }
    })
  )
})

/** The closes of a company, in turn, with their revisions but without sums. */
export const readCloses = Effect.fnUntraced(function*(database: Db, company: CompanyId) {
  const { dialect: { bigint, tables }, sql } = database
  const query = sql<Row>
  const closes = yield* query`SELECT close_id, terms
    FROM ${tables.close}
    WHERE company_id = ${bigint(company)}
    ORDER BY close_id`
  const revisions = yield* query`SELECT close_id, number, ${selected(database, columnsOf.revision)}
    FROM ${tables.closeState}
    WHERE company_id = ${bigint(company)}
    ORDER BY close_id, number`
  const files = yield* query`SELECT close_id, number, ${selected(database, fileNoteColumns)}
    FROM ${tables.closeFile}
    WHERE company_id = ${bigint(company)}
    ORDER BY close_id, number, place`
  const decoded = yield* Effect.forEach(
    revisions,
    Effect.fnUntraced(function*(row) {
      const { user_name: user, ...texts } = yield* decodeStored(company, RevisionRow, row)
      const [close, number] = [numberOf(row["close_id"]), numberOf(row["number"])]
      const before = Option.map(optional(row["before"]), (before) => RevisionId.print({ close, number: before }))
      const isVoid = texts.kind === "void"
      return {
        ...texts,
        user,
        close,
        number,
        id: RevisionId.print({ close, number }),
        previous: isVoid ? Option.none() : before,
        voids: isVoid ? before : Option.none(),
        at: DateTime.makeUnsafe(numberOf(row["at"])),
        closedAt: DateTime.makeUnsafe(numberOf(row["closed_at"])),
        rules: numberOf(row["rules"]),
        files: yield* Effect.forEach(
          files.filter((file) => numberOf(file["close_id"]) === close && numberOf(file["number"]) === number),
          (file) => fileNoteOf(company, file)
        )
      } satisfies StoredRevision
    })
  )
  return yield* Effect.forEach(
    closes,
    Effect.fnUntraced(function*(row) {
      const close = numberOf(row["close_id"])
      const terms = yield* decodeStored(company, TermsText, row["terms"])
      return { close, terms, revisions: decoded.filter((each) => each.close === close) } satisfies StoredClose
    })
  )
})

const decodeStored = <S extends Schema.Constraint & { readonly DecodingServices: never }>(
  company: CompanyId,
  schema: S,
  value: unknown
): Effect.Effect<S["Type"], SyncError> =>
  Effect.mapError(
    Schema.decodeUnknownEffect(schema)(value),
    (error) => storeFailed(company, `a close cannot be read at ${firstIssue(error).path}`, error)
  )

/** The cell of a column of a row of sums. */
const cellOf = (cells: ReadonlyArray<unknown>) => (name: (typeof columnsOf.row)[number]): unknown =>
  cells[columnsOf.row.indexOf(name)]

/** The sums of a revision. */
export const readSums = Effect.fnUntraced(function*(
  { dialect, sql }: Db,
  company: CompanyId,
  { close, number }: RevisionId.RevisionId
) {
  const { bigint, tables } = dialect
  const query = sql<Row>
  const isOurs = sql`company_id = ${bigint(company)} AND close_id = ${bigint(close)} AND number = ${bigint(number)}`
  // By place: an object with names takes five times the memory.
  const rows = yield* query`SELECT ${Statement.csv(columnsOf.row)}
    FROM ${tables.closeRow}
    WHERE ${isOurs}
    ORDER BY place`.values
  const time = (value: unknown) => Option.map(optional(value), Duration.millis)
  return {
    rows: rows.map((cells): CloseRow => {
      const cell = cellOf(cells)
      return {
        userId: UserId.make(numberOf(cell("user_id"))),
        locationId: LocationId.make(numberOf(cell("location_id"))),
        departmentId: Option.map(optional(cell("department_id")), (id) => DepartmentId.make(id)),
        roleId: RoleId.make(numberOf(cell("role_id"))),
        punches: numberOf(cell("punches")),
        incomplete: numberOf(cell("incomplete")),
        net: Duration.millis(numberOf(cell("net_ms"))),
        cost: Cents.make(numberOf(cell("cost_cents"))),
        tips: Cents.make(numberOf(cell("tips_cents"))),
        hourlyWage: Cents.make(numberOf(cell("hourly_wage"))),
        over: time(cell("over_ms")),
        double: time(cell("double_ms"))
      }
    })
  } satisfies CloseSums
})

/** A revision with its sums, as it is shown. */
export const recorded = (
  database: Db,
  company: CompanyId,
  { terms: { first, last } }: StoredClose,
  stored: StoredRevision
) =>
  Effect.map(readSums(database, company, stored), (sums): RecordedRevision => {
    const { number: _number, token: _token, ...revision } = stored
    return { ...revision, ...sums, first, last }
  })

/** What is kept with a revision when it is written. */
export interface WriteOptions {
  /** A note that is kept with it. */
  readonly note?: string | undefined
  /** Who writes it. Default: `unknown`. */
  readonly user?: string | undefined
  /** The release that writes it, for the record. */
  readonly release?: string | undefined
}

export type Added = RecordedRevision["added"]

export const nothingAdded: Added = { clocks: [], locations: [] }

/** A revision to write. */
export interface Planned extends RevisionId.RevisionId {
  /** The number of the revision that it follows or voids. */
  readonly before: number | undefined
  readonly kind: Revision["kind"]
  readonly terms: CloseTerms
  readonly added: Added
  readonly accepted: Readonly<Record<string, number>>
  readonly sums: CloseSums
  readonly options: WriteOptions
}

/**
 * Writes revisions in one transaction, which holds up every commit of the company: `plan` sees the closes as they are then. The
 * history must still be known at the instant that was summed. A COMMIT without an answer is looked up by a random token. Fails
 * with `OutcomeUnknown` if it cannot be. What was written can be printed without another reading, which could fail.
 */
export const write = <E>(
  database: Db,
  company: CompanyId,
  at: DateTime.Utc | undefined,
  plan: (closes: ReadonlyArray<StoredClose>) => Effect.Effect<ReadonlyArray<Planned>, E>
) =>
  Effect.suspend(() => {
    const token = globalThis.crypto.randomUUID()
    /** What the last attempt wrote, until it is known whether its COMMIT took place. */
    let open: ReadonlyArray<RecordedRevision> = []
    const written = (closes: ReadonlyArray<StoredClose>) =>
      Effect.forEach(
        closes.flatMap((close) =>
          close.revisions.filter((each) => each.token === token).map((revision) => ({ close, revision }))
        ),
        ({ close, revision }) => recorded(database, company, close, revision)
      )
    const body = Effect.gen(function*() {
      const { last, since } = yield* readKnown(database, company, database.dialect.forUpdate)
      const before = yield* readCloses(database, company)
      if (open.length > 0) {
        const done = yield* written(before)
        if (done.length > 0) return done
        open = []
      }
      const changed = (detail: string) => new CloseChanged({ companyId: company, detail })
      if (last === 0) return yield* changed("the copy was erased")
      if (at !== undefined && (since === undefined || since > at.epochMilliseconds)) {
        return yield* changed("the history of the instant that was summed is gone")
      }
      for (const each of yield* plan(before))
        yield* insert(database, company, each, at?.epochMilliseconds ?? last, token)
      open = yield* written(yield* readCloses(database, company))
      return open
    })
    return transact(database, body, () => open.length > 0).pipe(
      Effect.catchIf(isSqlError, (error) =>
        Effect.fail(
          open.length === 0
            ? failedWith(company, "the close cannot be written")(error)
            : new OutcomeUnknown({ companyId: company, revisions: open.map(({ id }) => id), detail: messageOf(error) })
        ))
    )
  })

/**
 * Notes a file of a revision in one transaction, which holds up every commit of the company, so that no erasure leaves it behind.
 * A COMMIT without an answer is looked up by a random token.
 */
export const insertFile = Effect.fnUntraced(function*(
  database: Db,
  company: CompanyId,
  revision: RevisionId.RevisionId,
  form: FileForm,
  user: string
) {
  const { dialect, sql } = database
  const { bigint, clock, tables } = dialect
  const query = sql<Row>
  const { codes, codesHash, mapping, mappingHash } = yield* textsOf(form)
  const token = globalThis.crypto.randomUUID()
  const noted = Effect.map(readFiles(database, company), (files) => files.find((each) => each.token === token)?.file)
  /** Whether the last attempt came to its COMMIT. */
  let isOpen = false
  const body = Effect.gen(function*() {
    yield* query`SELECT company_id
      FROM ${tables.sync}
      WHERE company_id = ${bigint(company)}
      ${dialect.forUpdate}`
    const earlier = yield* noted
    if (earlier !== undefined) return earlier
    isOpen = false
    const isOurs = sql`company_id = ${bigint(company)}
      AND close_id = ${bigint(revision.close)}
      AND number = ${bigint(revision.number)}`
    const [found] = yield* query`SELECT number
      FROM ${tables.closeState}
      WHERE ${isOurs}`
    if (found === undefined) return yield* refusal(company, RevisionId.print(revision))(notFound.revision)
    const [last] = yield* query`SELECT max(place) AS place
      FROM ${tables.closeFile}
      WHERE ${isOurs}`
    const values = [
      bigint(company),
      bigint(revision.close),
      bigint(revision.number),
      bigint((orUndefined(last?.["place"]) ?? 0) + 1),
      clock,
      sql`${storable(user)}`,
      sql`${mapping}`,
      sql`${mappingHash}`,
      sql`${codes}`,
      sql`${codesHash}`,
      sql`${token}`
    ]
    yield* sql`INSERT INTO ${tables.closeFile} (${raw(keyColumns)}, ${Statement.csv(columnsOf.file)})
      VALUES (${Statement.csv(values)})`
    const file = yield* noted
    isOpen = true
    return file === undefined ? yield* Effect.die("a note that is not there") : file
  })
  return yield* transact(database, body, () => isOpen).pipe(
    Effect.catchIf(isSqlError, (error) =>
      Effect.fail(
        failedWith(company, isOpen ? "the file may have been noted" : "the file cannot be noted")(error)
      ))
  )
})

/** Rows of one statement. */
export const chunkSize = 200

const insert = Effect.fnUntraced(function*(
  { dialect, sql }: Db,
  company: CompanyId,
  { accepted, added, before, close, kind, number, options, sums, terms }: Planned,
  at: number,
  token: string
) {
  const { bigint, clock, tables, timestamp } = dialect
  const orNull = (value: Option.Option<number>) => Option.match(value, { onNone: () => raw("NULL"), onSome: bigint })
  const millisOrNull = (time: Option.Option<Duration.Duration>) => orNull(Option.map(time, Duration.toMillis))
  if (kind === "close") {
    const text = yield* Effect.orDie(Schema.encodeEffect(TermsText)(terms))
    yield* sql`INSERT INTO ${tables.close} (company_id, close_id, terms)
      VALUES (${bigint(company)}, ${bigint(close)}, ${text})`
  }
  const key = [bigint(company), bigint(close), bigint(number)]
  const insertInto = (
    table: Statement.Fragment,
    columns: ReadonlyArray<string>,
    tuples: ReadonlyArray<Statement.Fragment>
  ) =>
    sql`INSERT INTO ${table} (${raw(keyColumns)}, ${Statement.csv(columns)})
      VALUES ${Statement.csv(tuples)}`
  const tuple = (values: ReadonlyArray<Statement.Fragment>) => sql`(${Statement.csv([...key, ...values])})`
  const acceptedText = yield* Effect.orDie(Schema.encodeEffect(AcceptedText)(accepted))
  const addedText = yield* Effect.orDie(Schema.encodeEffect(AddedText)(added))
  const { note = "", release = "", user = "unknown" } = options
  yield* insertInto(tables.closeState, columnsOf.revision, [
    tuple([
      orNull(Option.fromUndefinedOr(before)),
      sql`${kind}`,
      timestamp(at),
      clock,
      sql`${storable(user)}`,
      sql`${storable(note)}`,
      sql`${acceptedText}`,
      sql`${addedText}`,
      sql`${release}`,
      bigint(sumRules),
      sql`${token}`
    ])
  ])
  // The fragments of all rows would take more memory than the rows.
  for (let from = 0; from < sums.rows.length; from += chunkSize) {
    const tuples = sums.rows.slice(from, from + chunkSize).map((row, at) =>
      tuple([
        bigint(from + at),
        bigint(row.userId),
        bigint(row.locationId),
        orNull(row.departmentId),
        bigint(row.roleId),
        bigint(row.punches),
        bigint(row.incomplete),
        bigint(Duration.toMillis(row.net)),
        bigint(row.cost),
        bigint(row.tips),
        bigint(row.hourlyWage),
        millisOrNull(row.over),
        millisOrNull(row.double)
      ])
    )
    yield* insertInto(tables.closeRow, columnsOf.row, tuples)
  }
})

/** The sums of the punches of a close beside the others, now or at an instant of the history. */
export const sumsOf = (
  company: CompanyId,
  terms: CloseTerms,
  others: ReadonlyArray<Pick<StoredClose, "terms">>,
  at?: DateTime.Utc
) =>
  Stream.run(
    punchesIn(company, queryWindow(terms), { at }),
    sum(terms, others.map(({ terms }) => terms), { isSorted: true })
  )

export const punchesIn = (company: CompanyId, clockedIn: Period.Interval, options: CopyListOptions = {}) =>
  Stream.catchTag(listWithin(company, { clockedIn }, options), "InvalidRequest", Stream.die)

/** The terms that a close had, with the locations of each revision that added some: any of them may have been the newest. */
const everyTerms = (close: StoredClose): ReadonlyArray<Pick<StoredClose, "terms">> => [
  close,
  ...close.revisions.filter(({ added }) => added.locations.length > 0)
    .map((revision) => ({ terms: termsAt(close, revision) }))
]

export type Differing = VerificationFailed["revisions"][number]

/** Whether the history gives a revision again; if not, the people whose sums differ, and why. */
export const verdictOf = Effect.fnUntraced(function*(
  database: Db,
  company: CompanyId,
  { newest, terms }: Pick<ActiveClose, "newest" | "terms">,
  // With those that are over: they may have been active at the instant.
  all: ReadonlyArray<StoredClose>,
  copy: Copy
) {
  if (newest.at.epochMilliseconds < copy.since.epochMilliseconds) return "outOfReach"
  const again = yield* sumsOf(company, terms, all.flatMap(everyTerms), newest.at)
  // Only now: what was recorded of many people would be in memory beside all that is summed.
  const { rows } = difference(again, yield* readSums(database, company, newest))
  const userIds = new Set(rows.map(({ userId }) => userId))
  if (userIds.size === 0) return "same"
  return {
    id: newest.id,
    people: [...userIds].toSorted((one, other) => one - other),
    cause: newest.rules === sumRules ? "its history was edited" : "the rules of its sums are others"
  } satisfies Differing
})

/** A close to correct: the sums of now, and what they have more than the recorded ones. */
export interface Corrected {
  readonly close: ActiveClose
  readonly due: CloseSums
  readonly terms: CloseTerms
  readonly added: Added
  readonly sums: CloseSums
}
