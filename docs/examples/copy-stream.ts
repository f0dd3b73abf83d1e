/** Streams a copy as a response. Each reader has its own connection: a slow one holds up neither a sync nor another reader. */
import { Effect, Stream } from "effect"
import type { CompanyId } from "effect-time-punches"
import { Ndjson } from "effect-time-punches/export"
import { PunchCopy } from "effect-time-punches/sql"
import { NodeSqlite } from "effect-time-punches/sql/node"

/** A line for each punch. A page of the copy is read when the reader has taken the one before; a reader that leaves ends it. */
export const streamCopy = (company: CompanyId, filename: string): Response => {
  const lines = Ndjson.encode(PunchCopy.list(company)).pipe(
    Stream.tapError((error) => Effect.logError(error.message)),
    Stream.provide(NodeSqlite.layer({ filename, readonly: true }))
  )
  return new Response(Stream.toReadableStream(Stream.encodeText(lines)), {
    headers: { "content-type": "application/x-ndjson" }
  })
}
