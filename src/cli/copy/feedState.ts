/** The file of `copy feed --state`: the position behind the last event that was printed. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Crypto from "node:crypto"
import { CompanyId } from "../../Ids.ts"
import { printable } from "../../internal/text/printable.ts"
import { FeedPosition } from "../../sql/feedPosition.ts"
import { issueText } from "../describe.ts"
import { failure, usage } from "../failure.ts"
import { asOutput } from "../flags/file.ts"
import { clear, readMine, replaceWhole, resolveTarget } from "../flags/output.ts"

const State = Schema.fromJsonString(Schema.Struct({
  about: Schema.String,
  form: Schema.Literal(1),
  /** The run that wrote the file last. Any other run that still writes must stop. */
  run: Schema.String,
  company: CompanyId,
  database: Schema.String,
  /** Null until the first event of a run that begins with the state of the copy. */
  position: Schema.NullOr(FeedPosition),
  /** The size of the file that was standard output then. What is longer may end in the line of a run that was killed. */
  size: Schema.optionalKey(Schema.Int)
}))

const about = "How far time-punches copy feed has printed. The same command continues there."

/**
 * Opens the file, and takes it over from an earlier run. Rejects one of another company or database. `save` replaces it as a
 * whole, once it is on disk.
 */
export const openState = Effect.fnUntraced(function*(file: string, company: CompanyId, database: string) {
  const target = yield* resolveTarget(file, "--state")
  yield* asOutput(target, `--state ${file}`)
  const run = Crypto.randomUUID()
  const read = Effect.gen(function*() {
    const bytes = yield* readMine(target, "Name another file. If that user is trusted, make it yours: cp OLD NEW.")
    if (bytes === undefined) return undefined
    return yield* Schema.decodeEffect(State)(new TextDecoder().decode(bytes)).pipe(
      Effect.catchTag("SchemaError", (error) =>
        usage(
          `${printable(file)} is not the state of a feed: ${issueText(error)}`,
          "Name another file, or remove it."
        ))
    )
  })
  const found = yield* read
  if (found !== undefined && (found.company !== company || found.database !== database)) {
    return yield* usage(
      `${printable(file)} is the state of company ${found.company} in ${printable(found.database)}`,
      "Name another file. If the same database has another name now, give its position with --after and a new file."
    )
  }
  yield* clear(target)
  let isOurs = false
  const save = Effect.fnUntraced(
    function*(position: FeedPosition | undefined, size: number | undefined) {
      if (isOurs && (yield* read)?.run !== run) return yield* takenOver(file)
      const text = yield* Effect.orDie(
        Schema.encodeEffect(State)({
          about,
          form: 1,
          run,
          company,
          database,
          position: position ?? null,
          ...(size === undefined ? {} : { size })
        })
      )
      yield* replaceWhole(target, `${text}\n`, file)
      isOurs = true
    },
    Effect.uninterruptible
  )
  return { start: found?.position ?? undefined, size: found?.size ?? 0, save }
})

const takenOver = (file: string) =>
  failure(
    "system",
    `another run has taken over ${printable(file)}, or has removed it`,
    "This run has stopped. Each consumer of a feed needs a file for itself."
  )
