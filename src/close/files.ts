/** The files of closes that were written out, in the tables of a copy. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Row } from "effect/sql/SqlConnection"
import { isSqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import { orUndefined, raw } from "../internal/sql/dialect.ts"
import { durably, transact } from "../internal/sql/transaction.ts"
import { Mapping } from "../payroll/PayrollFile.ts"
import { storable } from "../sql/columns.ts"
import { failedWith } from "../sql/connection.ts"
import { notFound, refusal, voidedBy } from "./CloseError.ts"
import type { CloseNumber } from "./ids.ts"
import * as RevisionName from "./RevisionName.ts"
import {
  type CloseTables,
  columnsOf,
  decodeStored,
  fileNoteColumns,
  fileNoteOf,
  keyColumns,
  nameOf,
  selected
} from "./rows.ts"
import { CodesText, type FileForm, MappingText, readTexts, textsOf, type WrittenFile } from "./WrittenFile.ts"

const FileTexts = Schema.Struct({ mapping: MappingText, codes: CodesText })

/** The files of a company that were written out, the oldest of each revision first. */
export const readFiles = Effect.fnUntraced(function*({ company, database }: CloseTables) {
  const { dialect: { bigint, tables }, sql } = database
  const query = sql<Row>
  const rows = yield* query`SELECT close_id, number, mapping, codes, token, ${selected(database, fileNoteColumns)}
    FROM ${tables.closeFile}
    WHERE company_id = ${bigint(company)}
    ORDER BY close_id, number, place`
  return yield* Effect.forEach(
    rows,
    Effect.fnUntraced(function*(row) {
      const token = row["token"]
      const { codes, mapping } = yield* decodeStored(company, FileTexts, row)
      const file = {
        revision: RevisionName.print(nameOf(row)),
        revisions: rows.filter((each) => each["token"] === token).map((each) => RevisionName.print(nameOf(each))),
        ...yield* fileNoteOf(company, row),
        mapping,
        ...readTexts(codes)
      }
      return { token, file: file satisfies WrittenFile }
    })
  )
})

/** What a file by this mapping needs that no record has: the history gives it. */
export const detailOf = ({ by, hoursOf }: Pick<Mapping, "by" | "hoursOf">): "day" | "punch" | undefined =>
  hoursOf === "punch" ? hoursOf : by.includes("day") ? "day" : undefined

const DetailForm = Schema.Struct({ by: Mapping.fields.by, hoursOf: Mapping.fields.hoursOf })

/** Whether a file of a close was written out that can be continued only from the history. */
export const hasDetailedFile = (tables: CloseTables, close: CloseNumber) =>
  Effect.map(
    readFiles(tables),
    (files) =>
      files.some(({ file }) =>
        RevisionName.parse(file.revision).pipe(Option.exists((name) => name.close === close)) &&
        Option.exists(Schema.decodeUnknownOption(DetailForm)(file.mapping), (form) => detailOf(form) !== undefined)
      )
  )

/**
 * Notes a file for each of its revisions in one transaction, which holds up every commit of the company, so that no erasure leaves it
 * behind. A COMMIT without an answer is looked up by a random token, which the notes of one file share.
 */
export const insertFile = Effect.fnUntraced(function*(
  { company, database }: CloseTables,
  revisions: ReadonlyArray<RevisionName.RevisionName>,
  form: FileForm,
  user: string
) {
  const { dialect, sql } = database
  const { bigint, clock, tables } = dialect
  const query = sql<Row>
  const { codes, codesHash, mapping, mappingHash } = yield* textsOf(form)
  const token = globalThis.crypto.randomUUID()
  const noted = Effect.map(
    readFiles({ company, database }),
    (files) => files.filter((each) => each.token === token).map(({ file }) => file)
  )
  /** Whether the last attempt came to its COMMIT. */
  let isOpen = false
  const note = Effect.fnUntraced(function*({ close, number }: RevisionName.RevisionName) {
    const isOurs = sql`company_id = ${bigint(company)} AND close_id = ${bigint(close)}`
    const found = yield* query`SELECT close_id, number
      FROM ${tables.closeState}
      WHERE ${isOurs} AND (number = ${bigint(number)} OR (kind IN ('void', 'mistake') AND before = ${bigint(number)}))
      ORDER BY number`
    const refuse = refusal(company, RevisionName.print({ close, number }))
    // The revision stands before its void, which may be written since the file was made.
    const [own, ended] = found.map(nameOf)
    if (own?.number !== number) return yield* refuse(notFound.revision)
    if (ended !== undefined) return yield* refuse(voidedBy(RevisionName.print(ended)))
    const [last] = yield* query`SELECT max(place) AS place
      FROM ${tables.closeFile}
      WHERE ${isOurs} AND number = ${bigint(number)}`
    const values = [
      bigint(company),
      bigint(close),
      bigint(number),
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
  })
  const body = Effect.gen(function*() {
    yield* query`SELECT company_id
      FROM ${tables.sync}
      WHERE company_id = ${bigint(company)}
      ${dialect.forUpdate}`
    const earlier = yield* noted
    if (earlier.length > 0) return earlier
    isOpen = false
    yield* Effect.forEach(revisions, note)
    const files = yield* noted
    isOpen = true
    return files
  })
  return yield* transact(database, durably(database, body), () => isOpen).pipe(
    Effect.catchIf(isSqlError, (error) =>
      Effect.fail(
        failedWith(company, isOpen ? "the file may have been noted" : "the file cannot be noted")(error)
      ))
  )
})
