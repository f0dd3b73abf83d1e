/**
 * The lines of an assistant, checked before the server of core reads them: of a line that is not a message it answers none, loses
 * what came with it, and prints a trace.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Sink from "effect/Sink"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { printable } from "../../internal/text/printable.ts"

/** The most bytes of a line. */
const longest = 2 ** 20

/** The most levels of a message: core writes it again, with a frame of the stack for each. */
const deepest = 64

const Id = Schema.Union([Schema.String, Schema.Int])

const Call = Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  id: Schema.optionalKey(Id),
  method: Schema.String,
  params: Schema.optionalKey(Schema.Union([Schema.Record(Schema.String, Schema.Unknown), Schema.Array(Schema.Unknown)]))
})

/** The answer of an assistant to a request of the server. */
const reply = { jsonrpc: Schema.Literal("2.0"), id: Id, method: Schema.optionalKey(Schema.Never) }
const Reply = Schema.Union([
  Schema.Struct({ ...reply, result: Schema.Record(Schema.String, Schema.Unknown) }),
  Schema.Struct({ ...reply, error: Schema.Record(Schema.String, Schema.Unknown) })
])

const Cancelled = Schema.Struct({
  method: Schema.Literal("notifications/cancelled"),
  params: Schema.Struct({ requestId: Id })
})

const Failure = Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  id: Schema.NullOr(Id),
  error: Schema.Struct({ code: Schema.Int, message: Schema.String, data: Schema.optionalKey(Schema.Unknown) })
})

/** Keys that are not of the protocol are left out: core would obey some of them. */
const readMessage = Schema.decodeUnknownResult(Schema.Union([Call, Reply]))
const readId = Schema.decodeUnknownOption(Schema.Struct({ id: Id }))
const readCancelled = Schema.decodeUnknownOption(Cancelled)
const readFailure = Schema.decodeUnknownOption(Failure)
const readJson = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))

/** The answer to what is not a message. `id`: of the request, if it is known and no other answer has it. */
interface Refusal {
  readonly id: typeof Id.Type | null
  readonly error: { readonly code: -32_700 | -32_600; readonly message: string }
}

const unreadable = (message: string) => Result.fail<Refusal>({ id: null, error: { code: -32_700, message } })

const invalid = (message: string, id: Refusal["id"] = null) =>
  Result.fail<Refusal>({ id, error: { code: -32_600, message } })

/** An input and an output of which core sees only messages: any other line is answered here. */
export const checkedLines = (stdio: Stdio.Stdio): Stdio.Stdio => {
  const inFlight = new Set<typeof Id.Type>()

  const refuse = (refusal: Refusal) =>
    Effect.andThen(
      Effect.logDebug(`a line of the assistant was refused: ${refusal.error.message}`),
      Stream.run(Stream.make(`${JSON.stringify({ jsonrpc: "2.0", ...refusal })}\n`), stdio.stdout())
    )

  const read = (value: unknown, taken: Set<typeof Id.Type>) => {
    const id = Option.getOrNull(Option.map(readId(value), ({ id }) => id))
    if (isDeeper(value, deepest)) return invalid(`a message has at most ${deepest} levels`, id)
    return readMessage(value).pipe(
      Result.orElse(() => invalid("this is not a request of JSON-RPC 2.0", id)),
      Result.flatMap((message) => {
        if (!("method" in message) || message.id === undefined) {
          Option.map(readCancelled(message), ({ params }) => taken.delete(params.requestId))
          return Result.succeed(message)
        }
        // With its id, the answer would pass for the one to the other request.
        if (taken.has(message.id)) return invalid("the id is of another request in flight")
        taken.add(message.id)
        return Result.succeed(message)
      })
    )
  }

  /** The line that core reads; an empty one if there is nothing to read. */
  const check = Effect.fnUntraced(function*(line: Result.Result<unknown, Refusal>) {
    if (Result.isFailure(line)) return yield* Effect.as(refuse(line.failure), "")
    const value = line.success
    const isBatch = Array.isArray(value) && value.length > 0
    // Core may refuse a batch as a whole: its ids would be in flight for ever.
    const taken = isBatch ? new Set(inFlight) : inFlight
    const found = (isBatch ? value : [value]).map((each) => read(each, taken))
    yield* Effect.forEach(found, (each) => Result.isFailure(each) ? refuse(each.failure) : Effect.void)
    const messages = found.flatMap((each) => Option.toArray(Result.getSuccess(each)))
    const [first] = messages
    return first === undefined ? "" : `${JSON.stringify(isBatch ? messages : first)}\n`
  })

  /** An answer ends the flight of its id. What core says of a wrong request repeats parts of it, of any length. */
  const note = (written: string | Uint8Array) => {
    const answer = typeof written === "string" ? readJson(written) : Result.fail(undefined)
    if (Result.isFailure(answer)) return written
    Option.map(readId(answer.success), ({ id }) => inFlight.delete(id))
    return Option.match(readFailure(answer.success), {
      onNone: () => written,
      onSome: ({ error, ...response }) => {
        const message = error.message.split("\n").map(printable).join("\n")
        return `${JSON.stringify({ ...response, error: { ...error, message } })}\n`
      }
    })
  }

  return Stdio.make({
    ...stdio,
    stdin: stdio.stdin.pipe(
      Stream.mapAccum(() => ({ parts: new Array<Uint8Array>(), size: 0 }), split),
      Stream.filter((line) => Result.isFailure(line) || line.success !== undefined),
      Stream.mapEffect(check),
      Stream.filter((line) => line !== ""),
      Stream.encodeText
    ),
    stdout: (options) => Sink.mapInput(stdio.stdout(options), note)
  })
}

/** What was read of a line whose end did not come yet. Of a line that is too long, only its size is kept. */
interface Begun {
  readonly parts: Array<Uint8Array>
  size: number
}

/** The lines that end in a chunk. */
const split = (begun: Begun, chunk: Uint8Array) => {
  const lines: Array<Result.Result<unknown, Refusal>> = []
  const keep = (bytes: Uint8Array) => {
    begun.size += bytes.length
    if (begun.size > longest) begun.parts.length = 0
    else begun.parts.push(bytes)
  }
  let from = 0
  for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
    keep(chunk.subarray(from, at))
    lines.push(
      begun.size > longest ? unreadable(`a line has at most ${longest} bytes`) : parse(Buffer.concat(begun.parts))
    )
    begun.parts.length = 0
    begun.size = 0
    from = at + 1
  }
  keep(chunk.subarray(from))
  return [begun, lines] as const
}

/** It drops a byte order mark, and throws at what is not UTF-8. */
const decoder = new TextDecoder("utf-8", { fatal: true })

/** The value of a line; `undefined` of an empty one. */
const parse = (bytes: Uint8Array): Result.Result<unknown, Refusal> =>
  Result.try({ try: () => decoder.decode(bytes), catch: () => "this is not UTF-8" }).pipe(
    Result.flatMap((text) =>
      text.trim() === "" ? Result.succeed(undefined) : Result.mapError(readJson(text), () => "this is not JSON")
    ),
    Result.orElse(unreadable)
  )

/** The deepest value that is read has `most` levels, so this ends there. */
const isDeeper = (value: unknown, most: number): boolean =>
  typeof value === "object" && value !== null &&
  (most === 0 || Object.values(value).some((each) => isDeeper(each, most - 1)))
